"""The meshes of a robot file, which pictures and pages draw."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec

from armsim import document
from armsim.arrays import Array
from armsim.errors import FileFaults
from armsim.files.faults import Fault, join
from armsim.files.mesh_file import read_mesh
from armsim.files.nodes import clipped
from armsim.loading.frames import build_frame
from armsim.loading.settle import settle
from armsim.records import record
from armsim.spatial import Pose


@record
class Shape:
    """A mesh of a link.

    Attributes:
        triangles: See `read_mesh` [m].
        pose: In the user's frame of the link.
    """

    triangles: Array
    pose: Pose


def shapes(robot: document.Robot, path: str = "") -> tuple[list[list[Shape]], list[Fault]]:
    """The meshes of each link, none where one of them cannot be read; and warnings.

    Args:
        robot: As `armsim.loading.load_robot_file` reads it.
        path: Of the robot, within another file.
    """
    found: list[list[Shape]] = []
    doubts: list[Fault] = []
    for i, joint in enumerate(settle(robot).joints):
        own: list[Shape] = []
        for visual in joint.visual or ():
            try:
                own.append(Shape(read_mesh(visual.file, visual.scale), build_frame(visual, robot.degrees)))
            except FileFaults as error:
                fault, where = error.faults[0], join(path, f"joints[{i}].visual.mesh")
                told = f"{clipped(visual.mesh)}: {fault.found}; the bodies are drawn"
                doubts.append(replace(fault, where=visual.value_node("mesh").place, path=where, found=told))
        found.append(own if len(own) == len(joint.visual or ()) else [])
    return found, doubts if find_spec("trimesh") else doubts[:1]  # without it all say the same
