"""A robot file by (modified) Denavit-Hartenberg parameters, made of one by any convention."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from armsim import document
from armsim.dynamics import own_poses
from armsim.errors import UsageError, spelled
from armsim.exporting.links import body_of, said
from armsim.files.yaml_writer import yaml_text
from armsim.model import Arm
from armsim.model.dh_rows import dh_rows
from armsim.spatial import Pose, roll_pitch_yaw

LARGEST = 1e-7  # residual of a row, m and entries of a rotation: beyond, the axes allow none
STILL = 1e-13  # likewise: of a frame that stays
RIGHT_ANGLES = {-2: "-pi", -1: "-pi/2", 1: "pi/2", 2: "pi"}


def dh_file(arm: Arm, robot: document.Robot, convention: str) -> tuple[str, list[str]]:
    """The robot file of an arm by modified or standard parameters, "mdh" or "dh".

    Links get other frames where they need to; their bodies are one inertia then. Tool and frames stay where they are.

    Returns:
        The text, and what is to be known, a line each.

    Raises:
        UsageError: Joints on one link ask for different frames of it.
    """
    free = replace(arm.map_links(lambda link: replace(link, mimic=None)), base=Pose())
    axes = own_poses(free, [0.0] * len(arm.links))
    old = [axis @ link.frame for axis, link in zip(axes, arm.links, strict=True)]
    base, rows = dh_rows(convention == "mdh", arm.parents, axes, old)
    worst = max(rows, key=lambda row: row.residual)
    if worst.residual > LARGEST:
        name = arm.link_names[rows.index(worst)]
        expected, found = "joints for which one frame will do of each link", f"{name}, whose axis asks for another one"
        mend = "keep `convention: origin`, or export to urdf"
        raise UsageError.of(spelled(f"--to {convention}", f"to={convention!r}"), expected, found, mend)
    shifts = [row.frame.inverse @ frame for row, frame in zip(rows, old, strict=True)]
    moved = [name for name, shift in zip(arm.link_names, shifts, strict=True) if shift.distance(Pose()) > STILL]
    data = {key: value for key, value in said(robot).items() if key not in ("parameters", "units")}
    data |= {"convention": convention, "base": _placed(arm.base @ base), "joints": []}
    for told, link, axis, row in zip(said(robot)["joints"], arm.links, axes, rows, strict=True):
        kept = {key: value for key, value in told.items() if key not in ("mdh", "dh", "origin")}
        frame = {"a": _length(row.a), "alpha": _angle(row.alpha), "d": _length(row.d), "theta": _angle(row.theta)}
        if link.name in moved:
            back = row.frame.inverse @ axis
            kept["bodies"] = [body_of(link.inertia.moved(back.rotation, back.position))]
        data["joints"].append({"name": kept.pop("name"), "type": kept.pop("type"), convention: frame, **kept})
    for at in arm.frames:
        i = arm.link_of(at)
        holder = data if at is arm.tool else data["frames"]
        holder[at.name] = {"link": arm.link_names[i], **_placed(shifts[i] @ at.pose)}
    residual = f"residual of the rows: {worst.residual:.1g}"
    notes = [residual, f"frames that have moved: {', '.join(moved) or 'none'}"]
    return yaml_text(data, f"{arm.name}: {convention} parameters from the joints' axes; {residual}"), notes


def _placed(pose: Pose) -> dict[str, Any]:
    return {"xyz": [*map(_length, pose.position)], "rpy": [*map(_angle, roll_pitch_yaw(pose.rotation))]}


def _length(x: float) -> float:
    return round(x, 15) + 0.0


def _angle(x: float) -> float | str:
    """An angle, right ones by pi."""
    quarters = round(2 * x / math.pi)
    return RIGHT_ANGLES[quarters] if quarters and abs(x - quarters * math.pi / 2) < STILL else _length(x)
