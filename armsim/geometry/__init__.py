"""Shapes in space, how far points are from them, and how far they are from each other.

Each shape has `gap(point)`: the signed distance of a point [m], and the outward unit normal there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.door import opened
from armsim.geometry.shapes import Box, Cylinder, Geometry, Obstacle, Plane, Sphere
from armsim.geometry.surface import CoulombFriction, SoftSurface, Surface, damping_ratio

if TYPE_CHECKING:
    from armsim.geometry.height_field import HeightField
    from armsim.geometry.separation import distance

_HOMES = {
    "height_field": "HeightField",
    "separation": "distance",
}

__all__ = [
    "Box",
    "CoulombFriction",
    "Cylinder",
    "Geometry",
    "HeightField",
    "Obstacle",
    "Plane",
    "SoftSurface",
    "Sphere",
    "Surface",
    "damping_ratio",
    "distance",
]
__getattr__ = opened(__name__, _HOMES)
