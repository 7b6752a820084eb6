"""How far shapes are from each other.

A sphere is as far as its centre, less its radius; a plane as its nearest point. The distance of other solids is that of the
origin from their Minkowski difference, by the algorithm of Gilbert, Johnson and Keerthi (1988, *IEEE J. Robotics and Automation*
4(2), 193-203): a simplex of its points, to which the farthest point towards the origin is added again and again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from armsim.expr import both, chosen, either, loop, shared, sqrt, where
from armsim.geometry.shapes import Obstacle, Plane, Sphere
from armsim.spatial import ZERO, Pose, Scalar, Vector, cross

AT_MOST = 100  # points that are added; boxes take about 10
SLIVER = (
    1e-13  # squared sine in the corner of a triangle, below which its edges serve: the normal would be lost in rounding
)
FLAT = 1e-14  # volume in terms of the corners' distances, below which it may be rounding alone
PROGRESS = 1.0 - 1e-15  # of the squared distance, from one point to the next


def distance(a: Obstacle, b: Obstacle) -> Scalar:
    """The least distance of two shapes [m]: 0 or less where they touch. Not of terrain, nor of two planes.

    Of a sphere or a plane it is signed: below 0 by how deep they overlap. Of two other solids that overlap it is 0.
    """
    for one, other in ((a, b), (b, a)):
        if isinstance(one.shape, Sphere):
            return other.gap(one.pose.position)[0] - one.shape.radius
        if isinstance(one.shape, Plane):
            down = -(one.pose.rotation @ one.shape.normal)
            return one.gap(farthest((other.shape, other.pose), down))[0]
    return _apart((a.shape, a.pose), (b.shape, b.pose))


def farthest(solid: tuple[Any, Pose], direction: Vector) -> Vector:
    """The point of a solid that is farthest along a direction of the world."""
    shape, pose = solid
    return pose.point(shape.support(pose.rotation.T @ direction))


def _gjk(a: tuple[Any, Pose], b: tuple[Any, Pose]) -> Scalar:
    """The distance of the origin from the difference of two solids [m]."""
    start = a[1].position - b[1].position

    def farther(nearest: Any, _: Any) -> Any:
        v, square, *corners = nearest
        found = _nearest_with(farthest(a, -v) - farthest(b, v), corners)
        nearer = found[1] < square * PROGRESS
        return chosen(nearer, found, nearest), where(nearer, 0.0, 1.0)

    nearest, _ = loop([[start, start.dot(start), start, start, start], 0.0], farther, lambda *x: x[1] > 0.5, AT_MOST)
    return sqrt(nearest[1])


_apart = shared(_gjk, "distance")


def _nearest_with(w: Vector, others: Sequence[Vector]) -> list[Any]:
    """The point nearest to the origin in the simplex of w and three others, whose smallest face has w.

    Returns:
        The point, its square, and the corners of that face, of which some may be the same.
    """
    best = [w, w.dot(w), w, w, w]

    def consider(valid: Any, v: Vector, p: Vector, q: Vector) -> None:
        square = v.dot(v)
        best[:] = chosen(both(valid, square < best[1]), [v, square, w, p, q], [*best])

    p, q, r = others
    for one in others:
        d = one - w
        along, length = -w.dot(d), d.dot(d)
        valid = both(along > 0.0, along < length)
        consider(valid, w.plus(along / where(valid, length, 1.0), d), one, one)
    volumes = [r.dot(cross(q, p))]
    for one, other in ((p, q), (q, r), (r, p)):
        u, v = one - w, other - w
        n, normals = cross(u, v), [cross(one, other), cross(other, w), cross(w, one)]
        square = n.dot(n)
        wide = square > SLIVER * u.dot(u) * v.dot(v)
        valid = reduce(both, (n.dot(normal) > 0.0 for normal in normals), wide)
        consider(valid, n * (w.dot(n) / where(wide, square, 1.0)), one, other)
        volumes.append(w.dot(normals[0]))
    size = sum((corner.dot(corner) for corner in others), start=w.dot(w))
    least = FLAT * size * sqrt(size)
    sides = (reduce(both, (sign * x > least for x in volumes)) for sign in (1.0, -1.0))
    inside = either(*sides)  # of the tetrahedron: on one side of all four faces
    return chosen(inside, [ZERO, 0.0, *best[2:]], best)
