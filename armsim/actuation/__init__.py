"""Joint loads: motors, friction, stops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened

if TYPE_CHECKING:
    from armsim.actuation.coupling import coupling_forces
    from armsim.actuation.drive import against_dry_friction, drive_torques, motor_demands
    from armsim.actuation.elastic import coupling_torque
    from armsim.actuation.friction import any_sticks, creeping, dry_bounds, sticks, weakened
    from armsim.actuation.joint_torque import (
        CONTACTS,
        COUNTED,
        COUPLINGS,
        OUTPUTS,
        SPRINGS,
        WORKS,
        JointTorque,
        Output,
        Works,
        driven,
        largest_force,
        motor_limited,
        powers,
        slowed_to,
        stall_force,
        unpowered,
        viscous_friction,
    )
    from armsim.actuation.limit import limit_torque, limit_torques, stop_law
    from armsim.actuation.regressor import DRIVE_PARAMETERS, drive_columns, drive_parameters, drive_regressor
    from armsim.actuation.saturation import LIMITS, acting_limits, limit_kinds, limited_quantities
    from armsim.actuation.winding import warm, warming_rate

_HOMES = {
    "coupling": "coupling_forces",
    "drive": "against_dry_friction drive_torques motor_demands",
    "elastic": "coupling_torque",
    "friction": "any_sticks creeping dry_bounds sticks weakened",
    "joint_torque": "CONTACTS COUNTED COUPLINGS OUTPUTS SPRINGS WORKS JointTorque Output Works driven largest_force "
    "motor_limited powers slowed_to stall_force unpowered viscous_friction",
    "limit": "limit_torque limit_torques stop_law",
    "regressor": "DRIVE_PARAMETERS drive_columns drive_parameters drive_regressor",
    "saturation": "LIMITS acting_limits limit_kinds limited_quantities",
    "winding": "warm warming_rate",
}

__all__ = [
    "LIMITS",
    "COUNTED",
    "CONTACTS",
    "COUPLINGS",
    "SPRINGS",
    "WORKS",
    "JointTorque",
    "OUTPUTS",
    "Output",
    "Works",
    "acting_limits",
    "against_dry_friction",
    "coupling_forces",
    "coupling_torque",
    "any_sticks",
    "creeping",
    "DRIVE_PARAMETERS",
    "drive_columns",
    "drive_parameters",
    "drive_regressor",
    "drive_torques",
    "driven",
    "dry_bounds",
    "largest_force",
    "limit_kinds",
    "limited_quantities",
    "limit_torque",
    "limit_torques",
    "motor_demands",
    "motor_limited",
    "powers",
    "slowed_to",
    "stall_force",
    "sticks",
    "stop_law",
    "unpowered",
    "viscous_friction",
    "warm",
    "warming_rate",
    "weakened",
]
__getattr__ = opened(__name__, _HOMES)
