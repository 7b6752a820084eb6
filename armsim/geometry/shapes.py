"""Planes and solids: the signed distance of a point, and its gradient.

A distance is a square root only where its argument is above 0, so that derivatives are finite everywhere: at edges, on axes, in
centres. There, where more than one direction is nearest, one of them is taken for the normal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from armsim.expr import absolute, chosen, maximum, sqrt, where
from armsim.geometry.surface import SoftSurface, Surface
from armsim.records import record
from armsim.spatial import ZERO, Pose, Scalar, Vector, X, Y, Z

Gap = tuple[Scalar, Vector]  # signed distance [m], outward unit normal


class Geometry(Protocol):
    """A plane, a solid or a terrain, in a frame of its own."""

    def gap(self, point: Vector) -> Gap:
        """The signed distance of a point from the surface [m], below 0 inside, and the outward unit normal there."""


@record
class Plane:
    """A half-space.

    Attributes:
        normal: Outward unit normal.
        point: On the surface [m].
    """

    normal: Vector = Z
    point: Vector = ZERO

    def gap(self, point: Vector) -> Gap:
        return self.normal.dot(point - self.point), self.normal


@record
class Sphere:
    """A sphere about the origin, of a radius [m]."""

    radius: Scalar

    def gap(self, point: Vector) -> Gap:
        length, direction = polar(point)
        return length - self.radius, direction

    def support(self, direction: Vector) -> Vector:
        """The farthest point along a direction."""
        return polar(direction)[1] * self.radius


@record
class Box:
    """A box about the origin, its edges along the axes: half their lengths [m]."""

    half: Vector

    def gap(self, point: Vector) -> Gap:
        return _nearest(
            [
                (absolute(p) - h, axis * where(p < 0.0, -1.0, 1.0))
                for p, h, axis in zip(point, self.half, (X, Y, Z), strict=True)
            ]
        )

    def support(self, direction: Vector) -> Vector:
        """The farthest point along a direction."""
        return Vector(*(where(d < 0.0, -h, h) for d, h in zip(direction, self.half, strict=True)))


@record
class Cylinder:
    """A cylinder about the origin, its axis along z: its radius and half its height [m]."""

    radius: Scalar
    half_height: Scalar

    def gap(self, point: Vector) -> Gap:
        distance, radial = polar(Vector(point.x, point.y, 0.0), X)
        return _nearest(
            [
                (distance - self.radius, radial),
                (absolute(point.z) - self.half_height, Z * where(point.z < 0.0, -1.0, 1.0)),
            ]
        )

    def support(self, direction: Vector) -> Vector:
        """The farthest point along a direction."""
        x, y, z = direction
        end = Z * where(z < 0.0, -self.half_height, self.half_height)
        return end.plus(self.radius, polar(Vector(x, y, 0.0), X)[1])


@record
class Obstacle:
    """A shape of a name at its place in the world; without a surface nothing can touch it."""

    name: str
    shape: Geometry
    pose: Pose = Pose()
    surface: Surface | SoftSurface | None = None

    def gap(self, point: Vector) -> Gap:
        """As of the shape, for a point of the world; the normal along the world's axes."""
        distance, normal = self.shape.gap(self.pose.inverse.point(point))
        return distance, self.pose.rotation @ normal

    def clearance(self, point: Vector) -> Scalar:
        """How far a point outside is from the obstacle at least [m]; above 0 only outside."""
        return self.gap(point)[0] * getattr(self.shape, "nearness", 1.0)


def polar(v: Vector, instead: Vector = Z) -> tuple[Scalar, Vector]:
    """Length and direction of a vector; another direction where its length is 0."""
    square = v.dot(v)
    long = square > 0.0
    length = sqrt(where(long, square, 1.0))
    direction = chosen(long, Vector(*(a / length for a in v)), instead)
    return where(long, length, 0.0), direction


def _nearest(faces: Sequence[Gap]) -> Gap:
    """The gap of a solid that is a product of orthogonal parts, from how far a point is beyond each of them, and which way."""
    beyond = ZERO
    depth, inward = faces[0]
    for distance, direction in faces:
        beyond = beyond.plus(maximum(distance, 0.0), direction)
        nearer = distance > depth
        inward = chosen(nearer, direction, inward)
        depth = maximum(distance, depth)
    length, outward = polar(beyond)
    found: Gap = chosen(depth > 0.0, (length, outward), (depth, inward))
    return found
