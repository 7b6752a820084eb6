"""Meshes with fewer triangles."""

from __future__ import annotations

import numpy as np

from armsim.arrays import Array

FINEST = 256.0  # cells along the longest edge


def reduced(triangles: Array, most: int) -> Array:
    """Triangles, shape (n, 3, 3), or `most` in their place at most.

    Corners that share a cell of a grid become their mean, by the finest grid that leaves so few triangles; Rossignac and
    Borrel, *Multi-resolution 3D approximations for rendering complex scenes* (1993).
    """
    points = triangles.reshape(-1, 3)
    places = points - points.min(axis=0)
    places /= places.max() or 1.0
    cells = FINEST
    while len(triangles) > most:
        cell = (places * cells).astype(np.int64) @ [1, 1_000, 1_000_000]
        _, at, count = np.unique(cell, return_inverse=True, return_counts=True)
        means = np.stack([np.bincount(at, x) / count for x in points.T], axis=1)
        a, b, c = corners = at.reshape(-1, 3).T
        corners = corners[:, (a != b) & (b != c) & (c != a)]
        corners = corners[:, np.lexsort(corners[::-1])]  # several times as quick as np.unique of rows
        triangles = means[corners[:, np.diff(corners, prepend=-1).any(axis=0)].T]
        cells *= 0.9
    return triangles
