"""The textbook algorithms of rigid-body dynamics, over scalars that may be numbers or expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

# at once: modules with a function of their own name, and what these import
from armsim.dynamics.aba import aba
from armsim.dynamics.crba import crba, mass_matrix
from armsim.dynamics.regressor import RegressorColumn, inertial_columns, inertial_parameters, regressor
from armsim.dynamics.rnea import Wrench, bias, gravity_torque, joint_wrenches, rnea

if TYPE_CHECKING:
    from armsim.dynamics.clipped import Law, clipped_solve, leeway
    from armsim.dynamics.contact import (
        CLOSED,
        Contact,
        Touch,
        contact_wrenches,
        contacts_of,
        effective_mass,
        stick_slopes,
    )
    from armsim.dynamics.energy import kinetic_energy, potential_energy
    from armsim.dynamics.external import (
        OF_FRAME,
        ExternalWrench,
        WrenchLaw,
        external_power,
        joint_forces,
        link_wrenches,
        told_to,
    )
    from armsim.dynamics.factor import held_solver, ldl, pivots, solve_held, solve_ldl
    from armsim.dynamics.forward import Algorithm, fastest_algorithm, forward_dynamics
    from armsim.dynamics.internal import InternalWrenches
    from armsim.dynamics.jacobian import frame_jacobian
    from armsim.dynamics.kinematics import (
        frame_acceleration,
        frame_pose,
        frame_position,
        frame_velocity,
        link_poses,
        link_velocities,
        own_poses,
    )
    from armsim.dynamics.momentum import momenta, momenta_and_forces
    from armsim.dynamics.proximity import distances, farthest_moves, least_distance, watched_pairs
    from armsim.dynamics.recursion import is_large
    from armsim.dynamics.two_mass import TwoMassSystem, two_mass_systems

_HOMES = {
    "clipped": "Law clipped_solve leeway",
    "contact": "CLOSED Contact Touch contact_wrenches contacts_of effective_mass stick_slopes",
    "energy": "kinetic_energy potential_energy",
    "external": "OF_FRAME ExternalWrench WrenchLaw external_power joint_forces link_wrenches told_to",
    "factor": "held_solver ldl pivots solve_held solve_ldl",
    "forward": "Algorithm fastest_algorithm forward_dynamics",
    "internal": "InternalWrenches",
    "jacobian": "frame_jacobian",
    "kinematics": "frame_acceleration frame_pose frame_position frame_velocity link_poses link_velocities own_poses",
    "momentum": "momenta momenta_and_forces",
    "proximity": "distances farthest_moves least_distance watched_pairs",
    "recursion": "is_large",
    "two_mass": "TwoMassSystem two_mass_systems",
}

__all__ = [
    "CLOSED",
    "OF_FRAME",
    "Algorithm",
    "Contact",
    "ExternalWrench",
    "InternalWrenches",
    "Touch",
    "WrenchLaw",
    "Law",
    "Wrench",
    "aba",
    "bias",
    "clipped_solve",
    "contact_wrenches",
    "contacts_of",
    "crba",
    "distances",
    "effective_mass",
    "external_power",
    "farthest_moves",
    "fastest_algorithm",
    "forward_dynamics",
    "frame_acceleration",
    "frame_jacobian",
    "frame_pose",
    "frame_position",
    "frame_velocity",
    "gravity_torque",
    "held_solver",
    "is_large",
    "inertial_parameters",
    "joint_forces",
    "joint_wrenches",
    "kinetic_energy",
    "ldl",
    "least_distance",
    "leeway",
    "link_poses",
    "link_velocities",
    "link_wrenches",
    "mass_matrix",
    "momenta",
    "momenta_and_forces",
    "own_poses",
    "pivots",
    "potential_energy",
    "RegressorColumn",
    "inertial_columns",
    "regressor",
    "rnea",
    "solve_held",
    "solve_ldl",
    "stick_slopes",
    "told_to",
    "TwoMassSystem",
    "two_mass_systems",
    "watched_pairs",
]
__getattr__ = opened(__name__, _HOMES)
