"""The scenario with what was found, as a file that runs."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection, Mapping
from typing import Any

from armsim.files.document import Map
from armsim.files.new_file import whole_file
from armsim.files.run_folder import RUN_FORMAT
from armsim.files.shipped import shipped_path
from armsim.files.source import beside, find_file
from armsim.files.study_folder import TUNED
from armsim.files.yaml_reader import read_yaml
from armsim.files.yaml_writer import yaml_text
from armsim.formulas.quantity import Quantity
from armsim.loading.resolved import resolved_robot
from armsim.loading.scenario import Scenario, unusual_control
from armsim.loading.scenario_file import Given
from armsim.spec.paths import parse_path
from armsim.spec.recorded import written_record
from armsim.spec.scenario import FORMAT
from armsim.spec.study import plain as plain_nodes
from armsim.studies.study import plain_data

ROBOT = "robot."
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
    robot, (document, home) = scenario.file.robot, _document(given)
    own = [parse_path(path) for path in changed if path != "robot" and not path.startswith(ROBOT)]
    values = written_data({key: value for key, value in scenario.file.data.items() if key not in ("control", "robot")})
    values |= {"control": control} if (control := written_control(scenario)) else {}
    for steps in own:
        _put(document, values, steps)
    document = _moved(document, home, folder, {os.path.realpath(source.path) for source in scenario.sources})
    if any(path.startswith(ROBOT) for path in changed) or not robot.sources:
        document["robot"] = resolved_robot(robot.data, written_data)
    else:
        path = robot.sources[0].path
        document["robot"] = _shipped_robot(path) or _from(folder, os.path.realpath(path))
    rest = {key: value for key, value in document.items() if key not in ("format", "name")}
    return {"format": FORMAT, "name": scenario.name, **rest}


def written_control(scenario: Scenario) -> dict[str, Any]:
    """The `control` block of a scenario as a file has it; empty if it has none."""
    control: dict[str, Any] = written_data(unusual_control(scenario.file.data["control"] or {}))
    return control


def write_tuned(folder: str, document: Mapping[str, Any], comment: str) -> None:
    """Write tuned.yaml.

    Raises:
        OSError: It cannot be written.
    """
    with whole_file(os.path.join(folder, TUNED)) as file:
        file.write(yaml_text(document, comment).encode())


def _document(given: Given) -> tuple[dict[str, Any], str]:
    """The keys of a scenario, and the folder from which its files are named."""
    if isinstance(given, Mapping):
        return {key: copy.deepcopy(plain_data(value)) for key, value in given.items()}, ""
    path = find_file("configs", os.fspath(given))
    root, _ = read_yaml(path)
    assert isinstance(root, Map)  # or it would have been refused
    found: dict[str, Any] = plain_nodes(root)
    return found["scenario"] if found.get("format") == RUN_FORMAT else found, os.path.dirname(path)


def written_data(data: Any) -> Any:
    """Data as a file has them: numbers, formulas as text, tables by their files; keys without a value are left out."""
    if isinstance(data, Quantity):
        return data.value if data.formula is None else data.text
    if isinstance(data, Map):  # a robot within the file
        return plain_nodes(data)
    if isinstance(data, dict):
        said = written_record(data) if data.get("table") is not None else data
        return {key: written_data(value) for key, value in said.items() if value is not None}
    return [written_data(value) for value in data] if isinstance(data, (list, tuple)) else data


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


def _moved(data: Any, home: str, folder: str, sources: Collection[str]) -> Any:
    """Data whose names of files, relative to one folder, are relative to another."""
    if isinstance(data, dict):
        return {key: _moved(value, home, folder, sources) for key, value in data.items()}
    if isinstance(data, list):
        return [_moved(value, home, folder, sources) for value in data]
    if not isinstance(data, str) or (path := os.path.realpath(beside(home, data))) not in sources:
        return data
    return _from(folder, path)


def _from(folder: str, path: str) -> str:
    """A file as a folder's files name it."""
    try:
        return os.path.relpath(path, os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # another drive
        return path


def _shipped_robot(path: str) -> str:
    """The name of a shipped robot, by its file; empty if it is none."""
    name = os.path.splitext(os.path.basename(path))[0]
    known = shipped_path("robots", name)
    return name if known is not None and os.path.samefile(path, known) else ""
