"""The links of an arm as other programs describe them: each in a frame of its own, with a joint, an inertia and solids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, NamedTuple
from xml.etree import ElementTree

from armsim import document
from armsim.arm.solids import Solid, solids, summed
from armsim.document.base import mapped, numbers, written
from armsim.dynamics.kinematics import joint_pose
from armsim.loading.frames import AXES, build_frame, turn_z_onto
from armsim.loading.settle import settle
from armsim.model import Arm, Coulomb, Joint
from armsim.spatial import ZERO, Inertia, Pose, Vector, Z

UNBOUNDED = 1e9  # rad or m, of an end without a limit where the other has one
# a box, a cylinder about z, a sphere or a mesh, with its sizes by URDF's names [m] or its file and scale, and where it is
Shape = tuple[str, dict[str, Any], Pose]


class LinkElement(NamedTuple):
    """A link, or a frame of the arm as a link that is fixed in another.

    Its frame is that of the robot file, if its origin lies on the joint's axis, else the joint's own.

    Attributes:
        name: Of its joint, or of the frame.
        parent: Index of the link that carries it; -1 for the base.
        origin: Its frame in the parent's, at joint position 0.
        inertia: In its frame.
        joint: The joint; None for a frame.
        axis: Of the joint, in its frame.
        shapes: Of its solids.
        meshes: That are drawn in place of them.
    """

    name: str
    parent: int
    origin: Pose
    inertia: Inertia
    joint: Joint | None = None
    axis: Vector = Z
    shapes: Sequence[Shape] = ()
    meshes: Sequence[Shape] = ()


def links_of(arm: Arm, robot: document.Robot) -> list[LinkElement]:
    """The links of an arm, and after them its frames with their payloads, the tool first."""
    links = []
    backs = [Pose()] * (len(arm.links) + 1)  # own frames in the links'; the base's is the last, where -1 finds it
    for i, (joint, of) in enumerate(zip(arm.links, solids(robot).links, strict=True)):
        R, p = joint_pose(joint, 0.0)
        back = backs[i] = joint.frame.inverse if joint.frame.position == ZERO else Pose()
        parent, into = arm.parents[i], back @ joint.frame
        origin, inertia = (
            backs[parent] @ Pose(R.matrix, p) @ back.inverse,
            joint.inertia.moved(back.rotation, back.position),
        )
        meshes: list[Shape] = []
        for it, pose in visuals(robot, i):
            meshes.append(("mesh", {"filename": it.file, "scale": it.scale}, into @ pose))
        shapes = [*shapes_of(of.solids, into)]
        links.append(LinkElement(joint.name, parent, origin, inertia, joint, back.rotation @ Z, shapes, meshes))
    for frame in arm.frames:
        i = arm.link_of(frame)
        links.append(LinkElement(frame.name, i, backs[i] @ arm.placement(frame), arm.carried_by(frame)))
    return links


def shapes_of(bodies: Iterable[Solid], into: Pose) -> Iterator[Shape]:
    """The solids that have a shape; a tube is a cylinder."""
    for body in bodies:
        sizes = dict(body.sizes)
        pose = into @ Pose(turn_z_onto(*AXES[sizes.pop("axis", "z")]), Vector(*body.center))
        if "height" in sizes:
            yield "cylinder", {"radius": sizes.get("radius") or sizes["outer_radius"], "length": sizes["height"]}, pose
        elif body.shape in ("box", "sphere"):
            yield body.shape, sizes, pose


def visuals(robot: document.Robot, i: int) -> list[tuple[document.Visual, Pose]]:
    """The meshes of a link and where they are in its frame."""
    return [(it, build_frame(it, robot.degrees)) for it in settle(robot.joints[i]).visual or ()]


def ends(joint: Joint) -> tuple[float, float]:
    """The ends of a joint's range [rad or m]; one that is missing is far away."""
    lower, upper = joint.bounds
    return -UNBOUNDED if lower is None else lower, UNBOUNDED if upper is None else upper


def mean(friction: Coulomb | None) -> float:
    """Dry friction, the mean of both directions [N·m or N]."""
    return 0.0 if friction is None else (friction.positive + friction.negative) / 2


def body_of(inertia: Inertia) -> dict[str, dict[str, object]]:
    """A body of a robot file with that inertia."""
    own = summed(inertia)
    return {"inertia": {"mass": own.mass, "center": own.com, "about": "com", **asdict(own.about_com)}}


def said(value: Any) -> Any:
    """What a document says, as plain data that any robot file may have: numbers in place of formulas, degrees by their unit."""
    return written(mapped(value, lambda x, path: x and replace(x, formula=None, unit="")))


def lost(robot: document.Robot, keys: re.Pattern[str]) -> list[str]:
    """Numbers of joints at such keys, those of the same joints in a line: "R1, R2: motor.Kp, motor.Ra"."""
    names: dict[str, str] = {}
    for joint in robot.joints:
        for key, number in numbers(joint):
            if number.given and keys.match(key):
                names[key] = f"{names[key]}, {joint.name}" if key in names else joint.name
    return [f"{of}: {', '.join(key for key in names if names[key] == of)}" for of in dict.fromkeys(names.values())]


def surroundings(robot: document.Robot) -> list[str]:
    """The keys of what stands around a robot, which neither URDF nor MJCF has of a file."""
    return [key for key in ("world", "contacts") if getattr(robot, key)]


def text(*values: float) -> str:
    """Numbers, to 16 digits or fewer: sums such as 0.30000000000000004 come out as they were meant."""
    return " ".join(min(repr(x), f"{x:.16g}", key=len) for x in (value + 0.0 for value in values))


def laid_out(xml: str) -> str:
    """A document of XML, an element a line."""
    root = ElementTree.fromstring(xml)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'
