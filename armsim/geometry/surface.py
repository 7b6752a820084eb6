"""Surfaces of solids: what they do to a body that touches them.

The normal force is that of a spring and a damper, and never pulls: linear (Kelvin and Voigt), or with a damping in proportion to
the penetration: K. H. Hunt and F. R. E. Crossley, *Coefficient of restitution interpreted as damping in vibroimpact*, J. Appl.
Mech. 42 (1975).
"""

from __future__ import annotations

from armsim.expr import Scalar, maximum, where
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
