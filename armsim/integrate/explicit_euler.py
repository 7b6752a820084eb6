"""Explicit Euler: order 1, one evaluation a step. Everything advances by its rate at the step's start.

Stable for a decaying mode λ while |1 + h λ| <= 1; the energy of an undamped motion grows. It is what DynaMechs does.
"""

from __future__ import annotations

from armsim.expr import Scalar
from armsim.integrate.method import Method
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.system import System


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h. Positions advance with the old velocities."""
    kicked = system.kick(t, y, h)
    return kicked._replace(q=advanced(y.q, h, y.v))


METHOD = Method(order=1, step=step)
