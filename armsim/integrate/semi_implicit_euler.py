"""Semi-implicit (symplectic) Euler: order 1, one evaluation a step. Positions advance with the new velocities.

The energy of a small undamped oscillation stays bounded where explicit Euler lets it grow: Hairer, Lubich and Wanner,
*Geometric Numerical Integration*, section I.1.2. In positions and velocities it is symplectic only as far as the mass matrix is
constant; in large motions of an arm energy grows in proportion to step and time. Damping is explicit: stable for a decaying
mode λ while h |λ| <= 2.
"""

from __future__ import annotations

from armsim.expr import Scalar
from armsim.integrate.method import Method
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.system import System


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h."""
    kicked = system.kick(t, y, h)
    return kicked._replace(q=advanced(y.q, h, kicked.v))


METHOD = Method(order=1, step=step, conserves=True)
