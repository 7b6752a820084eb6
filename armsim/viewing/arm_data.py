"""An arm as plain data, from which a page draws it."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from armsim.arm.robot import Robot
from armsim.figures.drawn_arm import ArmPart, DrawnArm, matrix, unit, vector
from armsim.figures.drawn_world import world_parts
from armsim.figures.style import look
from armsim.records import Json
from armsim.spatial import Pose
from armsim.viewing.arrays import Arrays
from armsim.viewing.programs import contacts_program, distances_program, frames_program

STEPS = 2**16 - 1  # along the longest edge of a mesh


def arm_data(drawn: DrawnArm) -> Json:
    """An arm as plain data; lengths in m, angles in rad, poses as rows of 4 by 4 matrices.

    Returns:
        name, up (unit vector against gravity), size (of the stretched arm), base, program (see `frames_program`), parts (see
        `armsim.figures.drawn_arm.ArmPart`) and joints, each with name, unit, turns, slides and offset (see `armsim.model.Joint`),
        fixed (its own frame at x = 0, in that of the link that carries it), frame (the user's, in its own), lower and upper
        (None without a bound), initial and color. Of a tree: parent, the number of the link that carries it (-1 the base), where
        it is not the one before; and followers, joints that mimic others, each with at, its place among all links. world, parts
        that are fixed there, and contacts and pairs, each their names and program (see `contacts_program` and
        `distances_program`), or None.
    """
    arm = drawn.arm
    joints: list[Json] = []
    followers: list[Json] = []
    for i, (joint, parent) in enumerate(zip(arm.links_in_range, arm.parents, strict=True)):
        lower, upper = joint.bounds
        data = {
            "name": joint.name,
            "unit": joint.kind.length,
            "turns": joint.turns,
            "slides": joint.slides,
            "offset": joint.offset,
            "fixed": pose_rows(Pose(joint.tilt, joint.position)),
            "frame": pose_rows(joint.frame),
            "lower": lower,
            "upper": upper,
            "initial": joint.initial,
            "color": look(drawn.looks[i]).color,
        }
        data |= {} if parent == i - 1 else {"parent": parent}
        if joint.mimic is None:
            joints.append(data)
        else:
            followers.append({**data, "at": i})
    g = vector(arm.gravity)
    pairs = Robot(arm).pairs
    return {
        "name": arm.name,
        "up": unit(-g).tolist() if g.any() else [0.0, 0.0, 1.0],
        "size": drawn.size,
        "base": pose_rows(arm.base),
        "program": frames_program(arm),
        "parts": list(map(part_data, drawn.parts)),
        "joints": joints,
        **({"followers": followers} if followers else {}),
        "world": list(map(part_data, world_parts(drawn))),
        "contacts": {"names": [x.name for x in arm.contacts], "program": contacts_program(arm)}
        if arm.contacts
        else None,
        "pairs": {"names": pairs, "program": distances_program(arm, pairs)} if pairs else None,
    }


def part_data(part: ArmPart) -> Json:
    """A part."""
    return {**asdict(part), "sizes": sizes_data(part), "pose": rows(part.pose)}


def sizes_data(part: ArmPart) -> Json:
    """The sizes of a part; of a mesh of, low, step and corners: coordinates are low, of each axis, plus step times numbers."""
    if part.shape != "mesh":
        return part.sizes
    triangles, arrays = part.sizes["triangles"], Arrays()
    low = triangles.min(axis=(0, 1), initial=0.0)
    step = float((triangles - low).max(initial=0.0)) / STEPS or 1.0
    arrays.add(np.round((triangles - low) / step), "u2")
    return {"low": low.tolist(), "step": step, "corners": arrays.packed[0], "of": part.sizes["of"]}


def pose_rows(pose: Pose) -> list[float]:
    """A pose as a 4 by 4 matrix, row by row."""
    return rows(matrix(pose))


def rows(pose: np.ndarray) -> list[float]:
    """A matrix row by row."""
    return [float(x) for x in pose.flat]
