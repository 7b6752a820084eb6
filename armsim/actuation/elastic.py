"""Elastic couplings between rotors and their joints: spring, damper and backlash."""

from __future__ import annotations

from armsim.actuation.limit import limit_torque
from armsim.model import Coupling, Limit
from armsim.spatial import Scalar


def coupling_torque(coupling: Coupling, twist: Scalar, rate: Scalar) -> Scalar:
    """What a coupling passes on to its joint, and takes from the rotor [N·m or N].

    Within the backlash nothing. A flank only pushes: where its damper would pull, it lets go.

    Args:
        coupling: The coupling.
        twist: How far the rotor is ahead of the joint [rad or m].
        rate: Its rate [rad/s or m/s].
    """
    if coupling.backlash is None:
        return coupling.stiffness * twist + coupling.damping * rate
    play = coupling.backlash / 2
    return -limit_torque(Limit(-play, play, coupling.stiffness, coupling.damping), twist, rate)
