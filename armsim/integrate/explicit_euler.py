"""Explicit Euler: order 1, one evaluation a step. Everything advances by its rate at the step's start."""

from __future__ import annotations

from armsim.expr import Scalar
from armsim.integrate.motion import Motion, Rates


def step(rates: Rates, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h. Positions advance with the old velocities."""
    return y.plus(h, rates(t, y))
