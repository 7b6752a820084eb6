"""From documents of the world to its shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armsim import document
from armsim.geometry import Box, Cylinder, Geometry, HeightField, Obstacle, Plane, Sphere
from armsim.geometry.shapes import polar
from armsim.loading.frames import build_frame
from armsim.spatial import Vector


def build_world(world: Mapping[str, document.Obstacle], degrees: bool) -> tuple[Obstacle, ...]:
    """What stands in the world.

    Args:
        world: Settled, by name.
        degrees: Whether the file's angles are degrees.
    """
    return tuple(Obstacle(name, _shape(it.shape), build_frame(it, degrees)) for name, it in world.items())


def _shape(shape: Any) -> Geometry:
    match shape:
        case document.PlaneShape():
            return Plane(polar(Vector(*shape.normal))[1], Vector(*shape.point))
        case document.BoxShape():
            return Box(Vector(*shape.size) * 0.5)
        case document.SphereShape():
            return Sphere(shape.radius)
        case document.CylinderShape():
            return Cylinder(shape.radius, shape.height / 2)
    return HeightField.of(*shape.grid)
