"""The scenario with what was found, as a file that runs."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Mapping
from typing import Any

from armsim.files.document import Map
from armsim.files.new_file import whole_file
from armsim.files.shipped import shipped_path
from armsim.files.source import find_file
from armsim.files.yaml_reader import read_yaml
from armsim.files.yaml_writer import yaml_text
from armsim.formulas.quantity import plain
from armsim.loading.resolved import resolved_robot
from armsim.loading.scenario import Scenario
from armsim.loading.scenario_file import Given
from armsim.spec.paths import parse_path
from armsim.spec.scenario import FORMAT
from armsim.spec.study import plain as plain_nodes
from armsim.studies.study import plain_data

TUNED = "tuned.yaml"
ROBOT = "robot."
FORMULAS = ("inputs", "external")  # keys below which formulas of the time may be
COMMENT = """{name}, tuned: {minimise} {objective:.6g}{over}. `armsim simulate tuned.yaml` runs it.
Found by `armsim tune`; study.yaml beside it says what was sought, and repeats it to the bit."""


def tuned_scenario(given: Given, changed: Collection[str], scenario: Scenario, folder: str) -> dict[str, Any]:
    """A scenario as its file has it, but for some values.

    Args:
        given: What it was read from.
        changed: Paths of the values that are other ones.
        scenario: With these values.
        folder: That the file will be in.
    """
    robot, document = scenario.file.robot, _document(given)
    own = [parse_path(path) for path in changed if not path.startswith(ROBOT)]
    named = len(scenario.sources) > len(robot.sources) + (not isinstance(given, Mapping))
    if named or document.get("format") != FORMAT or any(steps[0] in FORMULAS or "reference" in steps for steps in own):
        return (
            scenario.scenario_data
        )  # other files are named in it, relative to the folder of its own, or it is a run's
    values = plain({key: value for key, value in scenario.file.data.items() if key != "robot"})
    for steps in own:
        _put(document, values, steps)
    if len(own) < len(changed) or not robot.sources:
        document["robot"] = resolved_robot(robot.data)
    else:
        document["robot"] = _robot_reference(robot.sources[0].path, folder)
    return {
        "format": FORMAT,
        "name": scenario.name,
        **{k: v for k, v in document.items() if k not in ("format", "name")},
    }


def write_tuned(folder: str, document: Mapping[str, Any], comment: str) -> None:
    """Write tuned.yaml.

    Raises:
        OSError: It cannot be written.
    """
    with whole_file(os.path.join(folder, TUNED)) as file:
        file.write(yaml_text(document, comment).encode())


def _document(given: Given) -> dict[str, Any]:
    """The keys of a scenario's file."""
    if isinstance(given, Mapping):
        return {key: copy.deepcopy(plain_data(value)) for key, value in given.items()}
    root, _ = read_yaml(find_file("configs", os.fspath(given)))
    assert isinstance(root, Map)  # or it would have been refused
    found: dict[str, Any] = plain_nodes(root)
    return found


def _put(document: dict[str, Any], values: Any, steps: list[Any]) -> None:
    """Take over the value at a path, or the list that has it, or the mapping that the file lacks; take out what has none."""
    here: Any = document
    for k, step in enumerate(steps):
        if step not in values:
            here.pop(step, None)
            return
        values = values[step]
        if not isinstance(values, dict) or not isinstance(here.get(step), dict) or k + 1 == len(steps):
            here[step] = values
            return
        here = here[step]


def _robot_reference(path: str, folder: str) -> str:
    """A robot's file as a scenario in a folder names it."""
    name = os.path.splitext(os.path.basename(path))[0]
    known = shipped_path("robots", name)
    if known is not None and os.path.samefile(path, known):
        return name
    try:
        return os.path.relpath(os.path.realpath(path), os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # another drive
        return os.path.abspath(path)
