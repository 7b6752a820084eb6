"""A robot file by (modified) Denavit-Hartenberg parameters, made of one by any convention."""

from __future__ import annotations

from dataclasses import replace

from armsim import document
from armsim.document.joint import FRAMES
from armsim.dynamics import own_poses
from armsim.errors import UsageError, spelled
from armsim.exporting.links import body_of, said, visuals
from armsim.files.yaml_writer import yaml_text
from armsim.formulas.quantity import plain_number
from armsim.model import Arm
from armsim.model.dh_rows import dh_rows
from armsim.spatial import Pose, in_degrees, roll_pitch_yaw

LARGEST = 1e-7  # residual of a row, m and entries of a rotation: beyond, the axes allow none


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
    worst = max(zip(rows, arm.link_names, strict=True), key=lambda pair: pair[0].residual)
    if worst[0].residual > LARGEST:
        expected, found = "links for each of which one frame will do", f"{worst[1]}, whose axis asks for another one"
        mend = "keep `convention: origin`, or export to urdf"
        raise UsageError.of(spelled(f"--to {convention}", f"to={convention!r}"), expected, found, mend)
    shifts = [row.frame.inverse @ frame for row, frame in zip(rows, old, strict=True)]
    data = said(robot.replaced(convention=convention, parameters=None, units=None)) | {"base": _placed(arm.base @ base)}
    for i, (told, link, row) in enumerate(zip(data["joints"], arm.links, rows, strict=True)):
        frame = {"a": _length(row.a), "alpha": _angle(row.alpha), "d": _length(row.d), "theta": _angle(row.theta)}
        if _placed(shifts[i]) != _placed(Pose()):
            back = row.frame.inverse @ axes[i]
            told["bodies"] = [body_of(link.inertia.moved(back.rotation, back.position))]
            poses = (_placed(shifts[i] @ pose) for _, pose in visuals(robot, i))
            told |= {"visual": [mesh | pose for mesh, pose in zip(told["visual"], poses)]} if "visual" in told else {}
        own = {convention if key in FRAMES else key: frame if key in FRAMES else value for key, value in told.items()}
        data["joints"][i] = own
    frames = ((at, arm.link_of(at)) for at in arm.frames)
    placed = {at.name: {"link": arm.link_names[i], **_placed(shifts[i] @ at.pose)} for at, i in frames}
    data |= {"tool": placed.pop("tool"), "frames": placed}
    return yaml_text(data), [f"residual of the rows: {worst[0].residual:.1g}"]


def _placed(pose: Pose) -> dict[str, list[float] | list[str]]:
    return {"xyz": [*map(_length, pose.position)], "rpy": [*map(_angle, roll_pitch_yaw(pose.rotation))]}


def _length(x: float) -> float:
    return round(x, 15) + 0.0


def _angle(x: float) -> str:
    return f"{plain_number(round(in_degrees(x), 13))} deg"
