"""The textbook algorithms, each over scalars that may be numbers or expressions."""

from armsim.dynamics.aba import aba
from armsim.dynamics.clipped import Law, clipped_solve, leeway
from armsim.dynamics.crba import crba
from armsim.dynamics.energy import kinetic_energy, potential_energy
from armsim.dynamics.external import ExternalWrench, external_power, link_wrenches
from armsim.dynamics.factor import ldl, ldl_solve, locked, solve_held, solve_ldl
from armsim.dynamics.forward import fewest_operations, forward_dynamics
from armsim.dynamics.jacobian import tool_jacobian
from armsim.dynamics.kinematics import link_poses, link_velocities, own_poses, tool_pose
from armsim.dynamics.momentum import momenta, momenta_and_forces
from armsim.dynamics.rnea import bias, gravity_torque, rnea

__all__ = [
    "ExternalWrench",
    "Law",
    "aba",
    "bias",
    "clipped_solve",
    "crba",
    "external_power",
    "fewest_operations",
    "forward_dynamics",
    "gravity_torque",
    "kinetic_energy",
    "ldl",
    "ldl_solve",
    "leeway",
    "link_poses",
    "link_velocities",
    "link_wrenches",
    "locked",
    "momenta",
    "momenta_and_forces",
    "own_poses",
    "potential_energy",
    "rnea",
    "solve_held",
    "solve_ldl",
    "tool_jacobian",
    "tool_pose",
]
