"""Triangles of STL and OBJ files, by trimesh, which is installed with `armsim[meshes]`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO

import numpy as np

from armsim.arrays import Array
from armsim.files.faults import refuse
from armsim.files.nodes import Place
from armsim.files.regular_file import read_regular, readable

WHAT = "a mesh, .stl or .obj"
KINDS = {".stl": "stl", ".obj": "obj"}
MOST_BYTES = 2**28
LARGEST = 1e9  # coordinate: volumes of such are finite


def read_mesh(path: str, scale: Sequence[float]) -> Array:
    """The triangles of a file, corners counter-clockwise from outside, shape (n, 3, 3).

    No other file that it may name, of materials, is read.

    Args:
        path: The file.
        scale: By which its coordinates are multiplied; one that mirrors it leaves outside what is.

    Raises:
        FileFaults: It cannot be read, or trimesh is missing; says why.
    """
    try:
        import trimesh
    except ImportError:
        mend = 'pip install "armsim[meshes]"'
        raise refuse(Place(path), "", "trimesh, which reads meshes", "trimesh is not installed", mend) from None
    with readable(path, WHAT):
        raw = read_regular(path, MOST_BYTES, streams=False)
    with suppress(Exception):  # of whatever kind, where a reader meets what is none
        found = trimesh.load_mesh(BytesIO(raw), file_type=KINDS[path[-4:].lower()], process=False, skip_materials=True)
        triangles: Array = found.apply_scale([*scale]).triangles
        if np.abs(triangles).max() < LARGEST:
            return triangles
    raise refuse(Place(path), "", WHAT, "none that trimesh reads", "export it anew, as Blender or MeshLab do")
