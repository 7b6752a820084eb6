"""Velocity Verlet: order 2, two evaluations a step, with forces that may depend on velocity.

The second half of the kick takes its forces at the new positions and at a velocity predicted for the step's end, so that
order 2 holds under damping and Coriolis forces too; with the velocity at mid-step there it would be of order 1. Without such
forces, and with a constant mass matrix, it is the symplectic method of Verlet (1967, *Physical Review* 159(1)), also known as
leapfrog.
"""

from __future__ import annotations

from armsim.expr import Scalar
from armsim.integrate.method import Method
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.system import System


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h."""
    smooth = system.within(t, y)
    start = smooth.rates(t, y)
    half = y.plus(h / 2, start)  # of this, velocities, further states and quadratures are kept
    q = advanced(y.q, h, half.v)
    end = smooth.rates(t + h, y.plus(h, start)._replace(q=q))
    v, z, w = (advanced(x, h / 2, k) for x, k in zip(half[1:], end[1:], strict=True))
    return smooth.arrest(y, Motion(q, v, z, w), h)


METHOD = Method(order=2, step=step, conserves=True)
