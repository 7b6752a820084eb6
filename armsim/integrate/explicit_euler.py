"""Explicit Euler: order 1, one evaluation a step. Everything advances by its rate at the step's start."""

from __future__ import annotations

from armsim.expr import Scalar, fma
from armsim.integrate.motion import Motion
from armsim.integrate.system import System


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h. Positions advance with the old velocities."""
    kicked = system.kick(t, y, h)
    return Motion([fma(h, v, q) for q, v in zip(y.q, y.v, strict=True)], kicked.v, kicked.z)
