"""Files of other programs: what they are, and what armsim can do with them."""

from __future__ import annotations

import os

LEADS = {b"<?xml": ".xml", b"<robot": ".urdf", b"<mujoco": ".mjcf", b"<sdf": ".sdf"}
SECOND = {b"<robot": ".urdf", b"<mujoco": ".mjcf", b"<sdf": ".sdf"}  # after the XML declaration and comments
NAMES = {".urdf": "a URDF file", ".xacro": "a xacro file of ROS", ".sdf": "an SDF file", ".mjcf": "a MuJoCo model"}
NAMES |= {".xml": "an XML file", ".csv": "a CSV file", ".parquet": "a Parquet file"}
MODELS = (".urdf", ".xacro", ".sdf", ".mjcf", ".xml")
FIRST = 4000  # bytes that tell
HOW = (
    "write a robot file with `convention: origin`, whose joints take xyz, rpy and axis as URDF has them, and for each link "
    "`inertia` with mass, center, rpy and tensor (docs/files.md)"
)


def foreign(path: str, raw: bytes = b"") -> tuple[str, str] | None:
    """What a file of another program is, and what to do with it; None of any other file.

    Args:
        path: The file; its ending tells where its text does not.
        raw: Its bytes, if there are any.
    """
    ending = os.path.splitext(path)[1].lower()
    start = raw[:FIRST].lstrip(b"\xef\xbb\xbf \t\r\n")
    for lead, kind in LEADS.items():
        if start.startswith(lead):
            ending = next((of for tag, of in SECOND.items() if tag in start), ending if ending in MODELS else kind)
    if ending not in NAMES:
        return None
    if ending in (".urdf", ".xacro", ".mjcf"):
        return NAMES[ending], f"make a robot file of it: `armsim import {path} -o robot.yaml`"
    return NAMES[ending], HOW if ending in MODELS else "name the robot or scenario file that goes with it"
