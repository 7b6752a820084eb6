"""Semi-implicit (symplectic) Euler: order 1, one evaluation a step. Positions advance with the new velocities.

It keeps the energy of a frictionless motion bounded where explicit Euler lets it grow: Hairer, Lubich and Wanner,
*Geometric Numerical Integration*, section I.1.2.
"""

from __future__ import annotations

from armsim.expr import Scalar, fma
from armsim.integrate.motion import Motion, Rates


def step(rates: Rates, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h."""
    k = rates(t, y)
    v = [fma(h, a, v) for v, a in zip(y.v, k.v, strict=True)]
    return y.plus(h, Motion(v, k.v, k.z))
