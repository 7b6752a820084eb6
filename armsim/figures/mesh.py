"""Shapes as quadrilaterals, corners counter-clockwise as seen from outside; shape (facets, 4, 3) [m]."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from armsim.arrays import Array
from armsim.figures.drawn_arm import ArmPart

AROUND = 20  # sides of a cylinder
PIECES = 12
MOST_ALONG = 6  # rings of a cylinder: where solids cross, short facets are sorted better than long ones


def mesh(part: ArmPart) -> Array:
    """The surface of a part, in the frame that it is fixed to."""
    facets: Array = SHAPES[part.shape](**part.sizes) @ part.pose[:3, :3].T + part.pose[:3, 3]
    return facets


def cylinder(radius: float, height: float) -> Array:
    """A cylinder about z."""
    return tube(radius, 0.0, height)


def tube(outer_radius: float, inner_radius: float, height: float) -> Array:
    """A hollow cylinder about z."""
    rings = min(MOST_ALONG, max(1, round(height / (2 * outer_radius))))
    z = np.linspace(height / 2, -height / 2, rings + 1)
    radii = np.repeat([outer_radius, inner_radius, outer_radius], [len(z), len(z), 1])
    return revolved(radii, np.concatenate([z, z[::-1], z[:1]]))


def sphere(radius: float) -> Array:
    """A sphere."""
    angle = np.linspace(0.0, math.pi, 9)
    return revolved(radius * np.sin(angle), radius * np.cos(angle))


def revolved(radii: Array, heights: Array) -> Array:
    """A surface of revolution about z; its profile leads down on the outside. Facets without area are no trouble."""
    angle = np.arange(AROUND + 1) * (2 * math.pi / AROUND)
    x, y = np.multiply.outer(radii, np.cos(angle)), np.multiply.outer(radii, np.sin(angle))
    rings = np.stack([x, y, np.broadcast_to(heights[:, None], x.shape)], axis=-1)
    return quads(rings)


def box(size: Array) -> Array:
    """A box."""
    face = np.array([[-1.0, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
    sides = [np.roll(face * sign, k, axis=1)[:: int(sign)] for k in range(3) for sign in (1.0, -1.0)]
    return np.stack(sides) * (np.array(size) / 2)


def plane(step: float, cells: int) -> Array:
    """A grid in the plane of x and y."""
    x, y = np.meshgrid(*[step * (np.arange(cells + 1) - cells / 2)] * 2, indexing="ij")
    return quads(np.stack([x, y, 0 * x], axis=-1))


def divided(facets: Array) -> Array:
    """Parallelograms, each in `PIECES` by `PIECES`: short facets are sorted better than long ones."""
    u = np.linspace(0.0, 1.0, PIECES + 1)[:, None]
    return np.concatenate([quads(a + u[:, None] * (b - a) + u * (d - a)) for a, b, _, d in facets])


def quads(points: Array) -> Array:
    """The cells of a grid of points, shape (m, n, 3), row by row."""
    corners = points[:-1, :-1], points[1:, :-1], points[1:, 1:], points[:-1, 1:]
    return np.stack(corners, axis=2).reshape(-1, 4, 3)


def faces(triangles: Array, of: int) -> Array:
    """Triangles, each with its last corner twice."""
    return triangles[:, [0, 1, 2, 2]]


SHAPES: dict[str, Callable[..., Array]] = {
    "cylinder": cylinder,
    "tube": tube,
    "box": box,
    "sphere": sphere,
    "plane": plane,
    "mesh": faces,
}
