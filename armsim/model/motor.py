"""The numbers of a DC motor with its gear."""

from __future__ import annotations

from dataclasses import dataclass

from armsim.spatial import Scalar


@dataclass(frozen=True, slots=True)
class Motor:
    """A permanent-magnet DC motor on a joint, all quantities on the motor's side of the gear.

    Attributes:
        Kp: Torque constant [N·m/A].
        Ke: Back-EMF constant [V·s/rad].
        Ra: Armature resistance [ohm].
        gear: Turns of the motor per turn of the joint; negative where the gear reverses.
        rotor_inertia: [kg m²].
        viscous: Viscous friction [N·m·s/rad].
    """

    Kp: Scalar
    Ke: Scalar
    Ra: Scalar
    gear: Scalar = 1.0
    rotor_inertia: Scalar = 0.0
    viscous: Scalar = 0.0
