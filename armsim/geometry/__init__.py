"""Shapes in space, how far points are from them, and how far they are from each other.

Each shape has `gap(point)`: the signed distance of a point [m], and the outward unit normal there.
"""

from armsim.geometry.height_field import HeightField
from armsim.geometry.separation import distance
from armsim.geometry.shapes import Box, Cylinder, Geometry, Obstacle, Plane, Sphere
from armsim.geometry.surface import CoulombFriction, SoftSurface, Surface, damping_ratio

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
