"""The lists with one item per joint that a scenario may leave out."""

from __future__ import annotations

from armsim import document
from armsim.loading.frames import RADIANS
from armsim.model import JOINT_TYPES


def default_lists(robot: document.Robot, degrees: bool) -> dict[str, list[float]]:
    """What a scenario's `initial.q`, `initial.qd` and `control.target` default to, by path.

    Args:
        robot: Its robot.
        degrees: Whether the scenario's angles are degrees.
    """
    pose = [float(joint.initial.value) for joint in robot.free]
    if degrees != robot.degrees:
        turns = [RADIANS if JOINT_TYPES[joint.type].turns else 1.0 for joint in robot.free]
        pose = [x / turn if degrees else x * turn for x, turn in zip(pose, turns, strict=True)]
    return {"initial.q": pose, "control.target": pose, "initial.qd": [0.0] * len(pose)}
