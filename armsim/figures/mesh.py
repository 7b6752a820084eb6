"""Solids as quadrilaterals, corners counter-clockwise as seen from outside; shape (facets, 4, 3) [m]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
AROUND = 20  # sides of a cylinder
MOST_ALONG = 6  # rings of a cylinder: where solids cross, short facets are sorted better than long ones
STEEL = 7800.0  # kg/m³, of the balls that stand for masses without a shape
AXES = {"x": (1, 2, 0), "y": (2, 0, 1), "z": (0, 1, 2)}  # where x, y and z of a body along z go
NOTHING: Array = np.empty((0, 4, 3))


def solid_mesh(solid: Mapping[str, Any], thin: float) -> Array:
    """A solid of `armsim.arm.solids.solids`, in the frame of its link.

    Args:
        solid: The solid; a ball of steel stands for a mass without a shape.
        thin: Radius of a slender rod [m].
    """
    shape, sizes, center = solid["shape"], solid["sizes"], np.array(solid["center"])
    if shape == "cylinder":
        made = cylinder(sizes["radius"], sizes["height"])
    elif shape == "rod":
        made = cylinder(thin, sizes["length"])
    elif shape == "tube":
        made = tube(sizes["outer_radius"], sizes["inner_radius"], sizes["height"])
    elif shape == "box":
        made = box(*sizes["size"])
    elif shape == "sphere":
        made = sphere(sizes["radius"])
    else:
        made = sphere((3 * solid["mass"] / (4 * math.pi * STEEL)) ** (1 / 3)) if solid["mass"] > 0 else NOTHING
    if "axis" in sizes:
        made = made[..., np.argsort(AXES[sizes["axis"]])]
    return made + center


def cylinder(radius: float, height: float) -> Array:
    """A cylinder about z, its middle at the origin."""
    return np.concatenate([_side(radius, height), _cap(radius, height / 2), _cap(radius, -height / 2)[:, ::-1]])


def tube(outer: float, inner: float, height: float) -> Array:
    """A hollow cylinder about z, its middle at the origin."""
    a, b = _ring(outer), _ring(inner)
    top = np.stack([a, np.roll(a, -1, 0), np.roll(b, -1, 0), b], axis=1) + [0.0, 0.0, height / 2]
    bottom = (top - [0.0, 0.0, height])[:, ::-1]
    return np.concatenate([_side(outer, height), _side(inner, height)[:, ::-1], top, bottom])


def box(x: float, y: float, z: float) -> Array:
    """A box, its middle at the origin."""
    face = np.array([[-1.0, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]])
    sides = [np.roll(face * sign, k, axis=1)[:: int(sign)] for k in range(3) for sign in (1.0, -1.0)]
    return np.stack(sides) * (np.array([x, y, z]) / 2)


def sphere(radius: float) -> Array:
    """A sphere about the origin."""
    rings = 8
    heights = radius * np.cos(np.linspace(0.0, math.pi, rings + 1))
    parts = []
    for upper, lower in pairwise(heights):
        a, b = (_ring(math.sqrt(max(0.0, radius * radius - h * h))) + [0.0, 0.0, h] for h in (upper, lower))
        parts.append(np.stack([b, np.roll(b, -1, 0), np.roll(a, -1, 0), a], axis=1))
    return np.concatenate(parts)


def tube_between(start: Array, end: Array, radius: float) -> Array:
    """A cylinder from one point to another; nothing where they are the same."""
    along = end - start
    length = float(np.linalg.norm(along))
    if length < 1e-9:
        return NOTHING
    z = along / length
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    return cylinder(radius, length) @ np.stack([x, np.cross(z, x), z]) + (start + end) / 2


def _ring(radius: float) -> Array:
    angle = np.arange(AROUND) * (2 * math.pi / AROUND)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.0 * angle], axis=1)


def _side(radius: float, height: float) -> Array:
    rings = min(MOST_ALONG, max(1, round(height / (2 * radius))))
    levels = np.linspace(-height / 2, height / 2, rings + 1)
    ring, following = _ring(radius), np.roll(_ring(radius), -1, 0)
    up = np.array([0.0, 0.0, 1.0])
    return np.concatenate(
        [
            np.stack([ring + a * up, following + a * up, following + b * up, ring + b * up], axis=1)
            for a, b in pairwise(levels)
        ]
    )


def _cap(radius: float, height: float) -> Array:
    """The upper end of a cylinder, as quadrilaterals that share its middle."""
    ring = _ring(radius) + [0.0, 0.0, height]
    middle = np.broadcast_to([0.0, 0.0, height], (AROUND // 2, 3))
    return np.stack([middle, ring[::2], ring[1::2], np.roll(ring, -2, 0)[::2]], axis=1)
