"""The world as it is drawn, in pictures and on pages alike: solids and terrain, and planes as grids around the arm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.figures.drawn_arm import ArmPart, DrawnArm, facing, matrix, vector
from armsim.figures.mesh import quads
from armsim.geometry import Box, Cylinder, HeightField, Plane, Sphere

WORLD = -1  # the frame of what is fixed in the world
REACH, CELL = 1.2, 8  # of a plane: half an edge of its grid, in sizes of the arm; cells to the arm's size, about
FINE = 48  # cells of terrain along an edge, at most


def world_parts(drawn: DrawnArm) -> list[ArmPart]:
    """What stands around an arm, in the world's frame."""
    parts: list[ArmPart] = []
    shape: str
    sizes: dict[str, Any]
    for obstacle in drawn.arm.world:
        pose = matrix(obstacle.pose)
        match obstacle.shape:
            case Plane():
                base = drawn.arm.base.position
                distance, normal = obstacle.gap(base)
                pose = facing(vector(normal), vector(base - normal * distance))
                step = 10.0 ** round(math.log10(drawn.size / CELL))
                shape, sizes = "plane", {"step": step, "cells": 2 * math.ceil(REACH * drawn.size / step)}
            case Box(half):
                shape, sizes = "box", {"size": (2 * vector(half)).tolist()}
            case Sphere(radius):
                shape, sizes = "sphere", {"radius": radius}
            case Cylinder(radius, half_height):
                shape, sizes = "cylinder", {"radius": radius, "height": 2 * half_height}
            case HeightField() as field:
                triangles = _terrain(field)
                shape, sizes = "mesh", {"triangles": triangles, "of": len(triangles)}
        parts.append(ArmPart(WORLD, None, shape, sizes, pose))
    return parts


def _terrain(field: HeightField) -> Array:
    """Terrain as triangles, shape (m, 3, 3); of a fine grid some of its points."""
    x, y = np.array(field.across.x), np.array(field.along.x)
    columns, rows = (np.unique(np.linspace(0, len(p) - 1, FINE + 1).round().astype(int)) for p in (x, y))
    heights = np.reshape(field.heights.y, (len(y), len(x)))[np.ix_(rows, columns)]
    points = np.stack([*np.meshgrid(x[columns], y[rows]), heights], axis=-1)
    return quads(points.swapaxes(0, 1))[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3, 3)
