"""Terrain: heights on a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property

from armsim.expr import Scalars, Table, fma, lookup
from armsim.geometry.shapes import Gap, polar
from armsim.records import record
from armsim.spatial import Vector


@record
class HeightField:
    """A surface of heights z on a rectangular grid, bilinear in each cell (as the terrain of DynaMechs).

    Beyond the grid a height is that of the nearest point of its edge. The distance of a point is that from the tangent plane of
    the surface below or above it: exact of a plane surface, and everywhere on the surface itself; elsewhere it jumps, as the
    slope does, between cells.

    Attributes:
        across: From x [m] to the column of the grid, a number with a fraction.
        along: From y [m] to the row.
        columns: From a number to the last whole one with a column beyond.
        rows: Likewise.
        heights: From row times the number of columns plus column to the height [m].
    """

    across: Table
    along: Table
    columns: Table
    rows: Table
    heights: Table

    @staticmethod
    def of(x: Sequence[float], y: Sequence[float], heights: Sequence[float]) -> HeightField:
        """The terrain of a grid.

        Args:
            x: Of the columns [m], at least two, increasing.
            y: Of the rows [m], likewise.
            heights: Row by row [m].
        """
        across, along = (Table(places, _numbers(len(places)), "linear") for places in (x, y))
        columns, rows = (Table(_numbers(len(places) - 1), _numbers(len(places) - 1), "zero") for places in (x, y))
        return HeightField(across, along, columns, rows, Table(_numbers(len(heights)), heights, "zero"))

    @cached_property
    def nearness(self) -> float:
        """What share of a gap above 0 the true distance is at least, by the steepest edge of a cell, along x and y at once."""
        x, y, z = self.across.x, self.along.x, self.heights.y
        width = len(x)
        lines = [(x, z[k : k + width]) for k in range(0, len(z), width)] + [(y, z[k::width]) for k in range(width)]
        steepest = max(abs(slope) for at, line in lines for slope in Table(at, line, "linear").slope.y)
        return 1.0 / math.hypot(1.0, steepest, steepest)

    def gap(self, point: Vector) -> Gap:
        """The signed distance of a point from the tangent plane of the surface [m], and the upward unit normal."""
        u, v = lookup(self.across, point.x), lookup(self.along, point.y)
        i, j = lookup(self.columns, u), lookup(self.rows, v)
        u, v = u - i, v - j
        width = float(len(self.across.x))
        corner = fma(j, width, i)
        near, east, north, far = (lookup(self.heights, corner + k) for k in (0.0, 1.0, width, width + 1.0))
        twist = near - east - north + far
        by_u, by_v = fma(v, twist, east - near), fma(u, twist, north - near)
        height = near + u * (east - near) + v * by_v
        slopes = lookup(self.across.slope, point.x), lookup(self.along.slope, point.y)
        _, normal = polar(Vector(-by_u * slopes[0], -by_v * slopes[1], 1.0))
        return (point.z - height) * normal.z, normal


def _numbers(n: int) -> Scalars:
    return [float(k) for k in range(n)]
