"""From documents of the world to its shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from armsim import document
from armsim.document.world import HUNT_CROSSLEY
from armsim.dynamics import effective_mass, frame_position
from armsim.errors import UsageError
from armsim.expr import Scalars, sqrt
from armsim.formulas.bounds import BOUNDS
from armsim.geometry import (
    Box,
    CoulombFriction,
    Cylinder,
    Geometry,
    HeightField,
    Obstacle,
    Plane,
    SoftSurface,
    Sphere,
    Surface,
    damping_ratio,
)
from armsim.geometry.shapes import polar
from armsim.loading.frames import AXES, build_frame, turn_z_onto
from armsim.model import Arm, ContactPoint, LinkFrame
from armsim.spatial import Pose, Scalar, Vector


def build_world(world: Mapping[str, document.Obstacle], degrees: bool) -> tuple[Obstacle, ...]:
    """What stands in the world.

    Args:
        world: Settled, by name.
        degrees: Whether the file's angles are degrees.
    """
    return tuple(
        Obstacle(name, _shape(it.shape), build_frame(it, degrees), build_surface(it)) for name, it in world.items()
    )


def build_surface(it: document.Obstacle) -> Surface | SoftSurface | None:
    """The surface of an obstacle; None where nothing can touch it."""
    given, friction, damping = it.friction, None, _or(it.damping, 0.0)
    if it.sag is not None:
        friction = None if given is None else CoulombFriction(given.static, given.kinetic, 0.0, 0.0)
        return SoftSurface(it.sag, 0.0 if it.restitution is None else damping_ratio(it.restitution), friction)
    if it.stiffness is None:
        return None
    if given is not None:
        own = _or(given.stiffness, it.stiffness), _or(given.damping, damping)
        friction = CoulombFriction(given.static, given.kinetic, *own)
    by_depth = it.law == HUNT_CROSSLEY
    return Surface(it.stiffness, _or(it.dissipation, 0.0) if by_depth else damping, by_depth, friction)


def _or(value: Scalar | None, default: Scalar) -> Scalar:
    return default if value is None else value


def build_contacts(contacts: Sequence[document.Contact], arm: Arm) -> tuple[ContactPoint, ...]:
    """The contacts of an arm, from settled ones; of a capsule the spheres at its ends."""
    found = []
    for it in contacts:
        if it.frame is not None:
            found.append(ContactPoint(it.label, arm.frame(it.frame), it.entries["with"]))
            continue
        solid: Any = it.sphere or it.capsule
        centers = (solid.center,) if it.sphere else (solid.entries["from"], solid.to)
        for name, center in zip(it.names, centers, strict=True):
            at = LinkFrame(name, it.link, Pose(position=Vector(*center)))
            found.append(ContactPoint(name, at, it.entries["with"], solid.radius))
    return tuple(found)


def with_surfaces(arm: Arm, q: Scalars) -> Arm:
    """The arm, its contacts with the surfaces that it meets; what `sag` says is of its effective mass at q.

    Raises:
        UsageError: A contact has no such mass, or no weight.
    """
    world = {it.name: it for it in arm.world}
    contacts = []
    for it in arm.contacts:
        obstacle = world[it.obstacle]
        surface = obstacle.surface
        if isinstance(surface, SoftSurface):
            initial = arm.at(0.0)
            _, normal = obstacle.gap(frame_position(initial, q, it.at))
            surface = surface.met_by(effective_mass(initial, q, it.at, normal), sqrt(arm.gravity.dot(arm.gravity)))
            stiffness, bounds = surface.stiffness, BOUNDS["N/m"]
            if isinstance(stiffness, float) and not bounds.least <= stiffness <= bounds.largest:
                expected = f"gravity, and at the start an arm that can move {it.name} along the normal of {it.obstacle}"
                found, mend = f"a stiffness of {stiffness:g} N/m", "give `stiffness` and `damping` for `sag`"
                raise UsageError.of(f"world.{it.obstacle}.sag", expected, found, mend)
        contacts.append(replace(it, surface=surface))
    return replace(arm, contacts=tuple(contacts))


def build_solids(link: str, bodies: Iterable[Any], into: Pose | None) -> Iterator[Obstacle]:
    """The bodies of a link that have a size; a tube is a cylinder.

    Args:
        link: Its name.
        bodies: Settled.
        into: The frame that they are given in, in the link's own; None for the same.
    """
    for body in bodies:
        if not isinstance(body, (document.Point, document.KnownInertia)):
            turn = turn_z_onto(*AXES[body.get("axis", "z")])
            pose = Pose(turn, Vector(*body.center))
            yield Obstacle(link, _shape(body), pose if into is None else into @ pose)


def _shape(shape: Any) -> Geometry:
    match shape:
        case document.PlaneShape():
            return Plane(polar(Vector(*shape.normal))[1], Vector(*shape.point))
        case document.BoxShape() | document.Box():
            return Box(Vector(*shape.size) * 0.5)
        case document.SphereShape() | document.Sphere():
            return Sphere(shape.radius)
        case document.CylinderShape() | document.Cylinder():
            return Cylinder(shape.radius, shape.height / 2)
        case document.Tube():
            return Cylinder(shape.outer_radius, shape.height / 2)
        case document.Rod():
            return Cylinder(0.0, shape.length / 2)
    return HeightField.of(*shape.grid)
