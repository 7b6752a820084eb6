"""Elastic couplings as two masses on a spring: a rotor, and the inertia that its joint moves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armsim.dynamics.crba import crba
from armsim.dynamics.factor import solve_ldl
from armsim.model import Arm
from armsim.records import record


@record
class TwoMassSystem:
    """A rotor and its joint, undamped but for `damping_ratio`, and without backlash.

    Attributes:
        joint: Name of the joint.
        stiffness: Of the coupling [N·m/rad or N/m].
        damping: [N·m·s/rad or N·s/m].
        inertia: Of all that moves with the joint, felt there, the other joints free to move [kg·m² or kg].
        rotor: Of the rotor, likewise.
    """

    joint: str
    stiffness: float
    damping: float
    inertia: float
    rotor: float

    @property
    def ratio(self) -> float:
        """Inertia ratio, joint by rotor."""
        return self.inertia / self.rotor

    @property
    def antiresonance(self) -> float:
        """At which the joint swings on a rotor that is held, a zero from the motor's torque to its own motion [Hz]."""
        return math.sqrt(self.stiffness / self.inertia) / math.tau

    @property
    def resonance(self) -> float:
        """At which rotor and joint swing against each other, a pair of poles [Hz]."""
        return math.sqrt(self.stiffness * (1.0 / self.inertia + 1.0 / self.rotor)) / math.tau

    @property
    def damping_ratio(self) -> float:
        """Of the resonance, by the coupling's damping alone."""
        return math.pi * self.resonance * self.damping / self.stiffness


def two_mass_systems(arm: Arm, q: Sequence[float]) -> list[TwoMassSystem]:
    """Of every elastic coupling of an arm on numbers.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.
    """
    found, moving = [], arm.mechanism
    if moving is arm:
        return []
    M = crba(moving, [*q, *[0.0] * (moving.n - arm.n)])
    for i, joint in enumerate(arm.joints):
        if (coupling := joint.coupling) is not None:
            moved = solve_ldl([[*row] for row in M], [float(j == i) for j in range(moving.n)])
            masses = 1.0 / moved[i], joint.rotor.armature
            found.append(TwoMassSystem(joint.name, coupling.stiffness, coupling.damping, *masses))
    return found
