"""Reading robot files, and robots written out in full."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from armsim import document
from armsim.document.overrides import Overrides, apply_overrides
from armsim.document.robot import FORMAT, ROOT, read_robot_node
from armsim.files.faults import Report
from armsim.files.nodes import Map, Node, Place
from armsim.files.plain_data import nodes_of
from armsim.files.source import Source, digest, find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.quantity import Context
from armsim.importing.imported import Imported
from armsim.loading.build import build_robot
from armsim.loading.checked import RobotFile
from armsim.loading.wrong_kind import wrong_kind
from armsim.model import Arm

Given = str | os.PathLike[str] | Mapping[str, Any]


def load_robot_file(path_or_name: Given | Imported, overrides: Overrides | None = None) -> RobotFile:
    """A robot file, checked.

    Args:
        path_or_name: A file, the name of a shipped robot, or a file's content: a document, plain data, or what was imported.
        overrides: Values to set before the check, by path.

    Raises:
        FileFaults: All that is wrong with the file, at once.
    """
    report = Report()
    root, sources = load_root("robots", path_or_name, report)
    context = Context(report)
    robot = check_robot(apply_overrides(root, overrides, report, kind=ROOT), context)
    report.raise_if_any()
    assert robot is not None  # or there was a fault
    return RobotFile(robot, sources)


def load_root(kind: str, path_or_name: Given | Imported, report: Report) -> tuple[Node, tuple[Source, ...]]:
    """The root node of a file, a shipped file or plain data, and its sources.

    Raises:
        FileFaults: It cannot be read, or is of the other kind: a scenario for a robot, or the reverse.
    """
    path, sources = "", tuple[Source, ...]()
    root: Node
    if isinstance(path_or_name, Imported):
        root, sources = path_or_name.root, path_or_name.sources
    elif isinstance(path_or_name, Mapping):
        noun = {"robots": "robot", "configs": "scenario"}[kind]
        root = nodes_of(path_or_name, Place(f"<{noun}>"))
    else:
        path = find_file(kind, os.fspath(path_or_name))
        root, sources = read_content(path, report)
    if (refused := wrong_kind(kind, root, path)) is not None:
        raise refused
    return root, sources


def read_content(path: str, report: Report, streams: bool = True) -> tuple[Node, tuple[Source, ...]]:
    """The root node of a file in YAML, or of one in URDF, and its source; arguments and errors as for `read_yaml`."""
    if path.lower().endswith(".urdf"):
        from armsim.importing.urdf import read_urdf

        imported = read_urdf(path)
        return imported.root, imported.sources
    root, raw = read_yaml(path, report, streams)
    return root, (Source(path, digest(raw)),)


def check_robot(root: Node, context: Context) -> document.Robot | None:
    """The robot of a root node; None, with faults in the report, if it is none."""
    if not isinstance(root, Map):
        expected, mend = "a mapping of keys and values", f"begin the file with `format: {FORMAT}`"
        from armsim.files.nodes import shown

        context.add(root.place, expected, shown(root), mend)
        return None
    return read_robot_node(root, context)


def read_robot(path_or_name: Given, overrides: Overrides | None = None) -> tuple[Arm, document.Robot]:
    """The arm of a robot file, and what the file says.

    Args:
        path_or_name: A file, the name of a shipped robot, or a file's content: a document or plain data.
        overrides: Values to set before the check, by path: `{"joints[R2].motor.Kp": 12}`.

    Raises:
        FileFaults: All that is wrong with the file, at once.
    """
    file = load_robot_file(path_or_name, overrides)
    return built(file), file.document


def built(file: RobotFile) -> Arm:
    """The arm of a checked file.

    Raises:
        FileFaults: Its accelerations are not determined.
    """
    arm = build_robot(file.document)
    refuse_undetermined(arm, file.document)
    return arm


def refuse_undetermined(arm: Arm, robot: document.Robot, path: str = "") -> None:
    """Raise FileFaults for an arm whose accelerations are not determined; see `armsim.loading.definite.undetermined`."""
    from armsim.loading.definite import undetermined

    report = Report()
    report.faults += undetermined(arm, robot, path)
    report.raise_if_any()


def resolved_robot(robot: document.Robot) -> document.Robot:
    """A robot in full, in the unit of its file: defaults filled in, formulas evaluated; it reads back to the same bits."""
    joints = [joint if joint.motor is None else joint.replaced(motor=_motor(joint.motor)) for joint in robot.joints]
    return robot.replaced(
        joints=tuple(joints),
        parameters=robot.parameters or None,
        world=robot.world or None,
        contacts=robot.contacts or None,
    )


def _motor(motor: document.Motor) -> document.Motor:
    """A motor with its back-EMF constant, and without limits where there are none."""
    unlimited = all(limit is None for limit in motor.limits.values())
    return motor.replaced(Ke=motor.Kp if motor.Ke is None else motor.Ke, limits=None if unlimited else motor.limits)
