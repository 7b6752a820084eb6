"""A robot file where a scenario was expected, and the reverse."""

from __future__ import annotations

from armsim.document.robot import FORMAT as ROBOT_FORMAT
from armsim.document.scenario import FORMAT as SCENARIO_FORMAT
from armsim.errors import FileFaults
from armsim.files.faults import listed, refuse
from armsim.files.folder_kind import RUN_FORMAT
from armsim.files.neighbours import robot_of, scenarios_of
from armsim.files.nodes import Map, Node, Place


def wrong_kind(kind: str, root: Node, path: str) -> FileFaults | None:
    """The refusal of a file of the other kind, by its `format`; None if it is not.

    Args:
        kind: "robots" or "configs": what was expected.
        root: The file's root.
        path: The file; empty for plain data.
    """
    written = getattr(root.get("format"), "value", None) if isinstance(root, Map) else None
    place = Place(path or "<data>")
    if str(written).startswith("armsim/study/"):
        command = "tune" if isinstance(root, Map) and root.get("tune") is not None else "sweep"
        noun = "a robot file" if kind == "robots" else "a scenario file"
        return refuse(
            place, "", noun, "a study file", f"run it: `armsim {command} {path}`" if path else "give its scenario"
        )
    if kind == "configs" and written == ROBOT_FORMAT:
        expected = "a scenario file, which says what happens to a robot"
        return refuse(
            place, "", expected, "a robot file", to_simulate(path) if path else "give a scenario with this robot"
        )
    if kind == "robots" and written in (SCENARIO_FORMAT, RUN_FORMAT):
        robot = robot_of(path) if path else None
        found = "a scenario file" if written == SCENARIO_FORMAT else "the run.yaml of a run"
        return refuse(
            place, "", "a robot file", found, f"name its robot, {robot}" if robot else "name the file of its robot"
        )
    return None


def to_simulate(robot: str) -> str:
    """How a robot file is used where a scenario is expected."""
    ask = f"`armsim info {robot}` and `armsim inverse {robot}` take a robot"
    known = scenarios_of(robot)
    if known:
        return f"take one of its scenarios: {listed(known)}; {ask}"
    return f"write a scenario file with `robot: {robot}` in it; {ask}"
