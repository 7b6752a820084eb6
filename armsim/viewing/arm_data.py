"""An arm with its solids as plain data, from which a page draws it."""

from __future__ import annotations

import math
from typing import Any

from armsim.expr import Scalar
from armsim.figures.drawn_run import DrawnArm
from armsim.figures.scene import Scene
from armsim.figures.style import look
from armsim.model import Joint
from armsim.spatial import Matrix, Pose, Vector


def arm_data(drawn: DrawnArm) -> dict[str, Any]:
    """An arm as plain data; lengths in m, angles in rad, poses as rows of 4 by 4 matrices.

    Returns:
        name, up (unit vector against gravity), size (of the stretched arm), base, tool (in the last link's own frame), payload
        (see `shape_data`, or None) and joints, each with name, unit, turns, slides and offset (see `armsim.model.Joint`), fixed
        (its own frame at x = 0, in that of the link before), frame (the user's, in its own), lower and upper (None without a
        bound), initial, color, mass [kg], moment (first moment of mass in its own frame [kg m], payload included) and solids.
    """
    arm = drawn.arm
    g = [float(x) for x in arm.gravity]
    strength = math.hypot(*g)
    joints = []
    for i, (joint, inertia) in enumerate(zip(arm.joints, arm.inertias, strict=True)):
        joints.append(
            {
                "name": joint.name,
                "unit": joint.kind.length,
                "turns": float(joint.turns),
                "slides": float(joint.slides),
                "offset": float(joint.offset),
                "fixed": _rows(joint.tilt, joint.position),
                "frame": pose_rows(joint.frame),
                **_range(joint),
                "initial": float(joint.initial),
                "color": look(i).color,
                "mass": float(inertia.mass),
                "moment": [float(x) for x in inertia.h],
                "solids": [shape_data(solid) for solid in drawn.solids["links"][i]["solids"]],
            }
        )
    payload = drawn.solids["payload"]
    return {
        "name": arm.name,
        "up": [-x / strength for x in g] if strength else [0.0, 0.0, 1.0],
        "size": Scene(drawn).size,
        "base": pose_rows(arm.base),
        "tool": pose_rows(arm.tool_in_link),
        "payload": None if payload is None else shape_data(payload),
        "joints": joints,
    }


def shape_data(solid: dict[str, Any]) -> dict[str, Any]:
    """What is drawn of a solid of `armsim.arm.solids`: shape, sizes [m], center [m] and mass [kg]."""
    return {key: solid[key] for key in ("shape", "sizes", "center", "mass")}


def pose_rows(pose: Pose) -> list[float]:
    """A pose as a 4 by 4 matrix, row by row."""
    return _rows(pose.rotation, pose.position)


def _rows(rotation: Matrix, position: Vector) -> list[float]:
    rows = [[*map(float, row), float(p)] for row, p in zip(rotation, position, strict=True)]
    return [x for row in (*rows, [0.0, 0.0, 0.0, 1.0]) for x in row]


def _range(joint: Joint) -> dict[str, float | None]:
    limit = joint.limit
    if limit is None:
        return {"lower": None, "upper": None}
    return {"lower": _finite(limit.lower), "upper": _finite(limit.upper)}


def _finite(value: Scalar) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
