"""Reading robot files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from armsim.files.document import Map, Node, Place
from armsim.files.faults import Report
from armsim.files.plain_data import document
from armsim.files.source import Source, digest, find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.quantity import Context
from armsim.loading.build import build_robot
from armsim.loading.checked import RobotFile
from armsim.loading.wrong_kind import wrong_kind
from armsim.model import Arm
from armsim.spec.overrides import apply_overrides
from armsim.spec.robot import FORMAT, RobotKeys, read_robot_node


def load_robot_file(
    path_or_name: str | os.PathLike[str] | Mapping[str, Any], overrides: Mapping[str, Any] | None = None
) -> RobotFile:
    """A robot file, checked.

    Args:
        path_or_name: A file, the name of a shipped robot, or a file's content as plain data.
        overrides: Values to set before the check, by path.

    Raises:
        FileFaults: All that is wrong with the file, at once.
    """
    report = Report()
    root, sources = load_root("robots", path_or_name, report)
    context = Context(report)
    data = check_robot(apply_overrides(root, overrides, report, kind=RobotKeys()), context)
    report.raise_if_any()
    assert data is not None  # or there was a fault
    return RobotFile(data, sources)


def load_root(
    kind: str, path_or_name: str | os.PathLike[str] | Mapping[str, Any], report: Report
) -> tuple[Node, tuple[Source, ...]]:
    """The root node of a file, a shipped file or plain data, and its sources.

    Raises:
        FileFaults: It cannot be read, or is of the other kind: a scenario for a robot, or the reverse.
    """
    path, sources = "", tuple[Source, ...]()
    if isinstance(path_or_name, Mapping):
        noun = {"robots": "robot", "configs": "scenario"}[kind]
        root = document(dict(path_or_name), Place(f"<{noun}>"))
    else:
        path = find_file(kind, os.fspath(path_or_name))
        root, raw = read_yaml(path, report)
        sources = (Source(path, digest(raw)),)
    if (refused := wrong_kind(kind, root, path)) is not None:
        raise refused
    return root, sources


def check_robot(root: Node, context: Context, path: str = "") -> dict[str, Any] | None:
    """The data of a robot's root node; None, with faults in the report, if it is none."""
    if not isinstance(root, Map):
        expected, mend = "a mapping of keys and values", f"begin the file with `format: {FORMAT}`"
        from armsim.files.document import shown

        context.report.add(root.place, path, expected, shown(root), mend)
        return None
    return read_robot_node(root, context, path)


def read_robot(
    path_or_name: str | os.PathLike[str] | Mapping[str, Any], overrides: Mapping[str, Any] | None = None
) -> tuple[Arm, dict[str, Any]]:
    """The arm of a robot file, and the file's data.

    Args:
        path_or_name: A file, the name of a shipped robot, or a file's content as plain data.
        overrides: Values to set before the check, by path: `{"joints[R2].motor.Kp": 12}`.

    Raises:
        FileFaults: All that is wrong with the file, at once.
    """
    file = load_robot_file(path_or_name, overrides)
    arm = build_robot(file.data)
    refuse_undetermined(arm, file.data)
    return arm, file.data


def refuse_undetermined(arm: Arm, data: dict[str, Any], path: str = "") -> None:
    """Raise FileFaults for an arm whose accelerations are not determined; see `armsim.loading.definite.undetermined`."""
    from armsim.loading.definite import undetermined

    report = Report()
    report.faults += undetermined(arm, data, path)
    report.raise_if_any()
