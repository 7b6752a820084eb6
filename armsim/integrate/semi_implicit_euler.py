"""Semi-implicit (symplectic) Euler: order 1, one evaluation a step. Positions advance with the new velocities.

It keeps the energy of a frictionless motion bounded where explicit Euler lets it grow: Hairer, Lubich and Wanner,
*Geometric Numerical Integration*, section I.1.2.
"""

from __future__ import annotations

from armsim.expr import Scalar, fma
from armsim.integrate.motion import Motion
from armsim.integrate.system import System


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h."""
    kicked = system.kick(t, y, h)
    return Motion([fma(h, v, q) for q, v in zip(y.q, kicked.v, strict=True)], kicked.v, kicked.z)
