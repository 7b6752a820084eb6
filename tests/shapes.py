"""Files of meshes for tests: boxes of triangles, in STL and OBJ."""

from __future__ import annotations

import struct

import numpy as np

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]  # from outside
TRIANGLES = np.array([[face[0], face[k], face[k + 1]] for face in FACES for k in (1, 2)])


def box(size):
    """The triangles of a box, from outside counter-clockwise, shape (12, 3, 3)."""
    return (CORNERS * size)[TRIANGLES]


def ball(radius, rings):
    """The triangles of a ball, shape (4 rings (rings - 1), 3, 3)."""
    up, around = np.meshgrid(np.linspace(0, np.pi, rings + 1), np.linspace(0, 2 * np.pi, 2 * rings + 1), indexing="ij")
    grid = radius * np.stack([np.sin(up) * np.cos(around), np.sin(up) * np.sin(around), np.cos(up)], axis=-1)
    a, b, c, d = grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]
    upper, lower = np.stack([a, b, c], axis=2)[:-1], np.stack([a, c, d], axis=2)[1:]
    return np.concatenate([upper.reshape(-1, 3, 3), lower.reshape(-1, 3, 3)])


def write(path, triangles, kind="binary"):
    """Write triangles to a file: "binary" or "ascii" STL, or "obj"."""
    if kind == "binary":
        facets = b"".join(struct.pack("<12fH", 0, 0, 0, *one.ravel(), 0) for one in triangles)
        path.write_bytes(b"of a test".ljust(80) + struct.pack("<I", len(triangles)) + facets)
        return
    corners = [" ".join(f"{x:.9g}" for x in corner) for corner in triangles.reshape(-1, 3)]
    if kind == "ascii":
        loops = ["facet normal 0 0 0", "outer loop", "vertex {}", "vertex {}", "vertex {}", "endloop", "endfacet"]
        every = "\n".join(loops * len(triangles)).format(*corners)
        path.write_text(f"solid test\n{every}\nendsolid test\n")
    else:
        faces = [f"f {k + 1} {k + 2} {k + 3}" for k in range(0, len(corners), 3)]
        head = ["mtllib elsewhere.mtl", *(f"v {corner}" for corner in corners), "usemtl red", *faces]
        path.write_text("\n".join(head) + "\n")


def arm(**keys):
    """An arm of one link with a body, and keys of its joint."""
    body = {"box": {"size": [0.1, 0.1, 0.1], "mass": 1, "center": [0.2, 0, 0]}}
    joint = {"name": "R1", "type": "revolute", "mdh": {"d": 0.3}, "bodies": [body], **keys}
    return {"format": "armsim/robot/1", "name": "one", "joints": [joint]}
