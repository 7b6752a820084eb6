"""The columns that drives and friction add to the regressor, and what they stand for."""

from __future__ import annotations

from armsim.actuation import motor as dc
from armsim.actuation.friction import NONE
from armsim.dynamics import RegressorColumn
from armsim.expr import Scalar, Scalars, absolute, where
from armsim.model import Arm

# of every joint that has a coordinate; dry friction and the gear's losses by the direction of its motion
DRIVE_PARAMETERS = (
    "viscous",
    "dry_positive",
    "dry_negative",
    "loss_positive",
    "loss_negative",
    "stiffness",
    "offset",
)


def drive_columns(arm: Arm) -> list[RegressorColumn]:
    """The columns of `drive_regressor`."""
    found = []
    for joint in arm.joints:
        force, length = joint.kind.force, joint.kind.length
        units = (f"{force}·s/{length}", force, force, "", "", f"{force}/{length}", force)
        found += [RegressorColumn(joint.name, *pair) for pair in zip(DRIVE_PARAMETERS, units, strict=True)]
    return found


def drive_parameters(arm: Arm) -> Scalars:
    """`DRIVE_PARAMETERS` of each joint in turn: friction of joint and motor, 1 - efficiency of the gear twice, and the spring.

    A spring of stiffness k that is slack at r gives k and -k r; nothing else in a file is an offset.
    """
    found: list[Scalar] = []
    for joint in arm.joints:
        motor, spring, dry = joint.motor, joint.spring, joint.dry or NONE
        viscous = joint.viscous if motor is None else joint.viscous + dc.viscous(motor)
        loss = 0.0 if motor is None or motor.efficiency is None else 1.0 - motor.efficiency
        pull = (0.0, 0.0) if spring is None else (spring.stiffness, -spring.stiffness * spring.rest)
        found += [viscous, dry.positive, dry.negative, loss, loss, *pull]
    return found


def drive_regressor(arm: Arm, q, qd, tau) -> list[Scalars]:
    """What drive torques have beyond those of `armsim.dynamics.regressor`: n rows, linear in `drive_parameters`.

    A gear's losses are proportional to the torque that it carries, so the torque is an argument. Stops, contacts, and what
    static friction is above Coulomb's, have no columns.

    Args:
        arm: The arm, n joints; its friction does not matter.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        tau: Drive torques [N·m or N], n scalars.
    """
    rows: list[Scalars] = []
    width = len(DRIVE_PARAMETERS)
    for i in range(arm.n):
        forwards, backwards = where(qd[i] > 0.0, 1.0, 0.0), where(qd[i] < 0.0, -1.0, 0.0)
        size = absolute(tau[i])
        own = [qd[i], forwards, backwards, forwards * size, backwards * size, q[i], 1.0]
        rows.append([0.0] * (width * i) + own + [0.0] * (width * (arm.n - 1 - i)))
    return rows
