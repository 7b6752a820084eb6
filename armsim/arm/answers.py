"""An arm's answers for one state, as plain data on Python floats: what the command line prints.

The same physics as `armsim.arm.robot.Robot`, which answers on arrays; numpy and the compiler are not needed here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from armsim.actuation import any_sticks, drive_torques, driven, limit_torque
from armsim.actuation import motor as dc
from armsim.dynamics import crba, fastest_algorithm, link_poses, tool_pose
from armsim.errors import UsageError
from armsim.loading.voltage import voltage_refusal
from armsim.model import Arm
from armsim.plant import accelerations
from armsim.spatial import Pose, quaternion, roll_pitch_yaw


def demand(arm: Arm, q: Sequence[float], qd: Sequence[float], qdd: Sequence[float]) -> dict[str, Any]:
    """Inverse dynamics: torques of the drives for a motion, and the motor voltages and currents for them.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.
        qd: Joint velocities [rad/s or m/s].
        qdd: Joint accelerations [rad/s² or m/s²].

    Returns:
        robot, joints (names), q, torque [N·m or N], voltage [V] and current [A]; None for a joint
        without a motor, or with one that no voltage drives.
    """
    torque = [float(tau) for tau in drive_torques(arm, q, qd, qdd)]
    return {**_named(arm, q=q), "torque": torque, **_electric(arm, torque, qd)}


def slipping(arm: Arm, q: Sequence[float]) -> list[str] | None:
    """The joints of an arm at rest that slip without drive; dry friction holds the others. None without dry friction.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.
    """
    if not any_sticks(arm):
        return None
    zeros = [0.0] * arm.n
    try:
        qdd = accelerations(arm, q, zeros, zeros)
    except ZeroDivisionError:  # a singular mass matrix
        return None
    return [joint.name for joint, a in zip(arm.joints, qdd, strict=True) if a != 0.0]


def motion(
    arm: Arm,
    q: Sequence[float],
    qd: Sequence[float],
    torque: Sequence[float] | None = None,
    voltage: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Forward dynamics: joint accelerations under torques of the drives, or under voltages of the motors.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.
        qd: Joint velocities [rad/s or m/s].
        torque: Of the drives [N·m or N]; zero if neither is given.
        voltage: Of the motors [V].

    Returns:
        robot, joints (names), q, qd, torque [N·m or N], voltage [V], current [A] and qdd [rad/s² or m/s²].

    Raises:
        UsageError: Both are given, a joint has no motor for its voltage, or the mass matrix is singular.
    """
    if torque is not None and voltage is not None:
        raise UsageError.of("torque or voltage", "one of them", "both", "leave one out")
    if voltage is not None:
        refused = voltage_refusal(arm)
        if refused is not None:
            raise UsageError.of(
                "voltage",
                refused.expected,
                refused.found,
                f"give torques instead, or {refused.mend.removeprefix('give ')} in the robot file",
            )
        states = zip(arm.joints, voltage, q, qd, strict=True)
        parts = [driven(joint, "voltage", u, q_i, qd_i) for joint, u, q_i, qd_i in states]
        torque = [float(part.motor) for part in parts]
        electric: dict[str, Any] = {
            "voltage": [part.voltage for part in parts],
            "current": [part.current for part in parts],
        }
    else:
        torque = [0.0] * arm.n if torque is None else [float(tau) for tau in torque]
        electric = _electric(arm, torque, qd)
    try:
        qdd = [float(x) for x in accelerations(arm, q, qd, torque, fastest_algorithm(arm))]
    except ZeroDivisionError:
        qdd = [math.nan]
    if not all(math.isfinite(x) for x in qdd):
        M = crba(arm, q)
        free = [j.name for j, row in zip(arm.joints, M, strict=True) if not row[-1] > 0.0]
        raise UsageError.of(
            arm.name,
            "inertia that resists every joint's acceleration",
            f"none on {', '.join(free) or 'some motion of the joints'}",
            "give the links bodies with mass, or the motors a `rotor_inertia`",
        )
    return {**_named(arm, q=q, qd=qd), "torque": torque, **electric, "qdd": qdd}


def poses(arm: Arm, q: Sequence[float]) -> dict[str, Any]:
    """Forward kinematics: the poses of all link frames and the tool in the world.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.

    Returns:
        robot, joints (names), q, links (one `placed` per joint, with its name) and tool.
    """
    links = [{"name": j.name, **placed(pose)} for j, pose in zip(arm.joints, link_poses(arm, q), strict=True)]
    return {**_named(arm, q=q), "links": links, "tool": placed(tool_pose(arm, q))}


def placed(pose: Pose) -> dict[str, list[float]]:
    """A pose as position [m], quaternion (w, x, y, z) and rpy [rad]."""
    parts: dict[str, Iterable[Any]] = {
        "position": pose.position,
        "quaternion": quaternion(pose.rotation),
        "rpy": roll_pitch_yaw(pose.rotation),
    }
    return {name: [float(x) + 0.0 for x in values] for name, values in parts.items()}  # + 0.0 makes 0 of -0


def outside(arm: Arm, q: Sequence[float], qd: Sequence[float]) -> list[dict[str, Any]]:
    """The joints outside their range: joint, lower and upper [rad or m], limit_torque of the stop [N·m or N], None without one.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.
        qd: Joint velocities [rad/s or m/s].
    """
    found = []
    for joint, q_i, qd_i in zip(arm.joints, q, qd, strict=True):
        limit = joint.limit
        if limit is not None and not limit.lower <= q_i <= limit.upper:
            push = None if limit.stiffness is None else float(limit_torque(limit, q_i, qd_i))
            found.append({"joint": joint.name, "lower": limit.lower, "upper": limit.upper, "limit_torque": push})
    return found


def mass_matrix(arm: Arm, q: Sequence[float]) -> list[list[float]]:
    """The mass matrix with the rotors' reflected inertia, n rows of n [kg m², kg m or kg]."""
    M = crba(arm, q)
    return [[float(M[max(i, j)][min(i, j)]) for j in range(arm.n)] for i in range(arm.n)]


def _named(arm: Arm, **states: Sequence[float]) -> dict[str, Any]:
    named = {key: [float(x) for x in values] for key, values in states.items()}
    return {"robot": arm.name, "joints": [joint.name for joint in arm.joints], **named}


def _electric(arm: Arm, torque: Sequence[float], qd: Sequence[float]) -> dict[str, list[float | None]]:
    """Voltages and currents that go with torques of the drives; None without an electric motor."""
    voltage: list[float | None] = []
    current: list[float | None] = []
    for joint, tau, rate in zip(arm.joints, torque, qd, strict=True):
        motor = joint.electric_motor
        u, i = (None, None) if motor is None else map(float, dc.demand(motor, tau, rate))
        voltage.append(u)
        current.append(i)
    return {"voltage": voltage, "current": current}
