"""URDF: a robot as ROS and most other programs read it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import indent

from armsim import document
from armsim.errors import LF
from armsim.escaping import in_html
from armsim.exporting.links import (
    LinkElement,
    Shape,
    body_of,
    ends,
    laid_out,
    links_of,
    lost,
    mean,
    said,
    surroundings,
    text,
)
from armsim.files.yaml_writer import yaml_text
from armsim.importing.imported import free_name
from armsim.model import BASE, Arm, Joint, Motor
from armsim.records import Json
from armsim.spatial import Inertia, Pose, Vector

NO_WORD = re.compile(r"initial|pitch|spring|motor|limits\.[sd]|friction\.(coulomb\.|st)")  # keys of a joint


def urdf(arm: Arm, robot: document.Robot) -> tuple[str, list[str]]:
    """The URDF of an arm: what URDF has no word for is in an element `<armsim>`, in YAML with the keys of a robot file.

    Payloads are the inertias of the links that stand for frames.

    Returns:
        The text, and what is in `<armsim>` alone, a line each.
    """
    links = links_of(arm, robot)
    frames = [link.name for link in links if link.joint is None]
    names = [free_name(f"{link.name}_link", {*frames}) if link.joint else link.name for link in links] + [BASE]
    parts = [f'<robot name="{in_html(arm.name)}"><link name="{BASE}"/>']
    for link, name in zip(links, names, strict=False):  # the base is the last, where -1 finds it
        shapes, motion = "".join(_body(shape, "visual") for shape in link.meshes or link.shapes), ""
        shapes += "".join(_body(shape, "collision") for shape in link.shapes)
        joint, type = free_name(f"{name}_joint", {*arm.link_names}), "fixed"
        if link.joint is not None:
            joint, type, motion = link.name, _type(link.joint), _motion(link.joint, link.axis)
        parts.append(
            f'<link name="{name}">{_inertial(link.inertia)}{shapes}</link><joint name="{joint}" type="{type}">'
            f'<parent link="{names[link.parent]}"/><child link="{name}"/>{_origin(link.origin)}{motion}</joint>'
        )
    more = _unspoken(robot, links)
    parts.append(f"<armsim>\n{indent(in_html(yaml_text(more), LF), '    ')}  </armsim></robot>")
    alone = [key for key in ("gravity", "base") if key in more] + lost(robot, NO_WORD)
    gone = surroundings(robot)
    notes = [
        "in <armsim> alone, which other readers ignore:",
        *(alone or ["nothing"]),
        *(["lost:", *gone] if gone else []),
    ]
    return laid_out("".join(parts)), notes


def _type(joint: Joint) -> str:
    """The joint's type in URDF, which has no screws."""
    return "prismatic" if not joint.kind.turns else "continuous" if joint.bounds == (None, None) else "revolute"


def _origin(pose: Pose) -> str:
    at = pose.frame()
    return f'<origin xyz="{text(*at.position)}" rpy="{text(*at.rpy)}"/>'


def _inertial(inertia: Inertia) -> str:
    if inertia == Inertia():
        return ""
    J, at = inertia.tensor_about_com(), _origin(Pose(position=inertia.com()))
    tensor = f'ixx="{text(J.xx)}" ixy="{text(J.xy)}" ixz="{text(J.xz)}" iyy="{text(J.yy)}" iyz="{text(J.yz)}" izz="{text(J.zz)}"'
    return f'<inertial>{at}<mass value="{text(inertia.mass)}"/><inertia {tensor}/></inertial>'


def _body(shape: Shape, use: str) -> str:
    name, sizes, pose = shape
    texts = {
        key: x if isinstance(x, str) else text(*(x if isinstance(x, Sequence) else [x])) for key, x in sizes.items()
    }
    attributes = " ".join(f'{key}="{in_html(x)}"' for key, x in texts.items())
    return f"<{use}>{_origin(pose)}<geometry><{name} {attributes}/></geometry></{use}>"


def _motion(joint: Joint, axis: Vector) -> str:
    """Axis, limits, friction and coupling; effort and velocity are 0 where they are not known."""
    motor, mimic = joint.motor or Motor(), joint.mimic
    turns, limits = abs(motor.gear), motor.limits
    lower, upper = ends(joint)
    coupling = ""
    if mimic is not None:
        coupling = f'<mimic joint="{mimic.joint}" multiplier="{text(mimic.ratio)}" offset="{text(mimic.offset)}"/>'
    return (
        f'<axis xyz="{text(*axis)}"/><limit lower="{text(lower)}" upper="{text(upper)}"'
        f' effort="{text(turns * (limits.torque or 0))}" velocity="{text((limits.speed or 0) / turns)}"/>'
        f'<dynamics damping="{text(joint.viscous)}" friction="{text(mean(joint.coulomb))}"/>{coupling}'
    )


def _unspoken(robot: document.Robot, links: Sequence[LinkElement]) -> Json:
    """What URDF has no word for, by the keys of a robot file; of links with payloads their inertia without those, too."""
    whole, joints = said(robot), {}
    for link, data in zip(links, whole["joints"], strict=False):
        joints[link.name] = _without_word(data) | ({"type": "screw"} if "pitch" in data else {})
    for frame in links:
        if frame.joint is None and frame.inertia != Inertia():
            joints[links[frame.parent].name]["bodies"] = [body_of(links[frame.parent].inertia)]
    more = {key: whole[key] for key in ("gravity", "base", "payload") if key in whole}
    return more | {"joints": {name: own for name, own in joints.items() if own}}


def _without_word(data: Json, path: str = "") -> Json:
    """What of a joint's plain data URDF has no word for."""
    found = {}
    for key, value in data.items():
        inner = isinstance(value, dict)
        part = _without_word(value, f"{path}{key}.") if inner else value
        if part if inner else NO_WORD.match(f"{path}{key}"):
            found[key] = part
    return found
