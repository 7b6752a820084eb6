"""Surfaces of solids: what they do to a body that touches them.

The normal force is that of a spring and a damper, and never pulls: linear (Kelvin and Voigt), or with a damping in proportion to
the penetration: K. H. Hunt and F. R. E. Crossley, *Coefficient of restitution interpreted as damping in vibroimpact*, J. Appl.
Mech. 42 (1975).
"""

from __future__ import annotations

import math
from dataclasses import replace

from armsim.expr import Scalar, cos, log, maximum, sin, sqrt, where
from armsim.records import record


@record
class CoulombFriction:
    """Coulomb friction with an elastic stick.

    Attributes:
        static: Coefficient at which a contact that sticks gives way.
        kinetic: Coefficient while it slips; None for the static one.
        stiffness: Of the tangential spring [N/m].
        damping: Of the tangential damper [N·s/m], positive.
    """

    static: Scalar
    kinetic: Scalar | None
    stiffness: Scalar
    damping: Scalar


@record
class Surface:
    """The law of a contact's forces.

    Attributes:
        stiffness: Normal force by penetration [N/m].
        damping: Normal force by the rate of penetration [N·s/m]; by Hunt and Crossley in proportion to the elastic force [s/m].
        hunt_crossley: Whether it is.
        friction: None for a frictionless one.
    """

    stiffness: Scalar
    damping: Scalar
    hunt_crossley: bool = False
    friction: CoulombFriction | None = None

    def normal_force(self, gap: Scalar, rate: Scalar) -> Scalar:
        """The normal force [N] at a gap [m] and its rate [m/s]."""
        elastic = self.stiffness * gap
        damping = self.damping * elastic if self.hunt_crossley else -self.damping
        return where(gap < 0.0, maximum(damping * rate - elastic, 0.0), 0.0)


@record
class SoftSurface:
    """A surface by what it does to the mass that meets it: linear, its friction as stiff and as damped as itself.

    Attributes:
        sag: Depth to which the mass sinks in at rest under its weight [m].
        damping_ratio: Of its bounce.
        friction: Its stiffness and damping do not matter; None for a frictionless one.
    """

    sag: Scalar
    damping_ratio: Scalar
    friction: CoulombFriction | None = None

    def met_by(self, mass: Scalar, gravity: Scalar) -> Surface:
        """The surface for a mass [kg] and a gravity [m/s²]."""
        stiffness = mass * gravity / self.sag
        damping = 2.0 * self.damping_ratio * sqrt(stiffness * mass)
        friction = self.friction and replace(self.friction, stiffness=stiffness, damping=damping)
        return Surface(stiffness, damping, friction=friction)


def damping_ratio(restitution: Scalar) -> Scalar:
    """The damping ratio of a linear spring and damper that never pulls, by the restitution e, from 0.15 to 1.

    It is sin θ where (π - 2 θ) tan θ = -ln e, see docs/contact.md; Newton's method from a first guess below.
    """
    loss = -log(restitution)
    angle = loss / math.pi
    for _ in range(10):  # to rounding: the residual is concave and increasing, so that no iterate is beyond the root
        s, c, rest = sin(angle), cos(angle), math.pi - 2.0 * angle
        angle = angle - (rest * s - loss * c) / (rest * c - 2.0 * s + loss * s)
    return sin(angle)
