"""The solids of a robot file, and the inertia of each link as their sum."""

from __future__ import annotations

from typing import Any

from armsim import document
from armsim.document.base import plain
from armsim.document.bodies import payload_bodies
from armsim.loading.build import build_body
from armsim.loading.settle import settle
from armsim.model import Joint
from armsim.records import record
from armsim.spatial import Inertia, Symmetric

COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
ZERO = Symmetric()  # whose sum with another makes 0 of -0
NOT_SIZES = ("mass", "density", "center", "about", "rpy", *COMPONENTS)


@record
class Solid:
    """A solid with its inertia.

    Attributes:
        path: Where it stands in the file.
        shape: Its name there.
        sizes: By their keys there [m], and "axis" where it has one.
        mass: [kg].
        center: Of mass [m].
        about_center: Tensor about it, axes parallel to the frame's [kg m²].
        about_origin: Tensor about the frame's origin [kg m²].
    """

    path: str
    shape: str
    sizes: dict[str, Any]
    mass: float
    center: list[float]
    about_center: Symmetric
    about_origin: Symmetric


@record
class PayloadSolid(Solid):
    """A payload, or one of several.

    Attributes:
        frame: Name of the frame that carries it, in which it is given.
    """

    frame: str


@record
class BodyInertia:
    """The inertia of a rigid body.

    Attributes:
        mass: [kg].
        com: Centre of mass [m].
        about_com: Tensor about it, axes parallel to the frame's [kg m²].
        about_origin: Tensor about the frame's origin [kg m²].
    """

    mass: float
    com: list[float]
    about_com: Symmetric
    about_origin: Symmetric


@record
class Link:
    """A link, by the name of its joint."""

    name: str


@record
class LinkInertia(BodyInertia, Link):
    """The inertia of a link; its name comes first."""


@record
class PayloadInertia(LinkInertia):
    """The inertia of a payload, in the frame of this name."""

    frame: str


@record
class Solids(Link):
    """The solids of a link."""

    solids: list[Solid]


@record
class LinkSolids(BodyInertia, Solids):
    """A link, its solids, and the sum of their inertias."""


@record
class RobotSolids:
    """All solids of a robot.

    Attributes:
        robot: Its name.
        links: From base to tip, in the users' frames.
        payloads: What frames carry.
    """

    robot: str
    links: list[LinkSolids]
    payloads: list[PayloadSolid]


def solids(robot: document.Robot) -> RobotSolids:
    """Every solid of a robot with its inertia, and the sum of each link's; payloads apart.

    Args:
        robot: As `armsim.loading.load_robot_file` reads it.
    """
    settled = settle(robot)
    degrees = settled.degrees
    links = []
    for joint in settled.joints:
        found = [solid(body, f"joints[{joint.name}].bodies[{i}]", degrees) for i, body in enumerate(joint.bodies)]
        total = sum((build_body(body, degrees) for body in joint.bodies), Inertia())
        links.append(LinkSolids(name=joint.name, solids=found, **vars(summed(total))))
    payloads = [
        PayloadSolid(**vars(solid(body, path, degrees)), frame=frame)
        for path, frame, body in payload_bodies(settled.payload)
    ]
    return RobotSolids(settled.name, links, payloads)


def solid(body: document.Document, path: str, degrees: bool = False) -> Solid:
    """One solid.

    Args:
        body: A body, settled.
        path: Where it stands in the file.
        degrees: Whether the file's angles are degrees.
    """
    inertia = build_body(body, degrees)
    own = inertia.tensor_about_com()
    if body.get("about") != "origin":  # built about its centre, without the rounding of the way there and back
        own = build_body(body.replaced(center=(0.0, 0.0, 0.0)), degrees).J
    return Solid(
        path,
        shape=type(body).tag,
        sizes={key: plain(value) for key, value in body.items() if key not in NOT_SIZES},
        mass=inertia.mass,
        center=list(body["center"]),
        about_center=own + ZERO,
        about_origin=inertia.J + ZERO,
    )


def link_inertia(joint: Joint) -> BodyInertia:
    """The inertia of a link, in the user's frame."""
    back = joint.frame.inverse
    return summed(joint.inertia.moved(back.rotation, back.position))


def summed(inertia: Inertia) -> BodyInertia:
    """An inertia in numbers."""
    com = [x + 0.0 for x in inertia.com()]
    return BodyInertia(inertia.mass, com, inertia.tensor_about_com() + ZERO, inertia.J + ZERO)
