"""The scenario with what was found, as a file that runs."""

from __future__ import annotations

import os
from collections.abc import Collection
from textwrap import indent
from typing import Any

from armsim.document.base import written
from armsim.document.scenario import FORMAT
from armsim.document.writing import rewritten, said
from armsim.files.new_file import write_whole
from armsim.files.source import beside
from armsim.files.study_folder import TUNED
from armsim.files.yaml_writer import yaml_text
from armsim.loading import Given, Overrides, load_scenario_file, resolved_robot
from armsim.studies.study import called

ROBOT = "robot."
SCHEMA = "# yaml-language-server:"
COMMENT = """{name}, tuned: {minimise} {objective:.6g}{over}. `armsim simulate tuned.yaml` runs it.
Found by `armsim tune`; study.yaml beside it says what was sought, and repeats it to the bit."""


def write_tuned(folder: str, given: Given, overrides: Overrides, comment: str) -> None:
    """Write tuned.yaml: a scenario as its file has it, with the comments that are there, but for some values.

    Args:
        folder: Where the file will be.
        given: The scenario.
        overrides: Values in place of its own, by path.
        comment: Above it.

    Raises:
        FileFaults: The scenario cannot be read any more.
        OSError: It cannot be written.
    """
    file = load_scenario_file(given, overrides)
    own, paths = file.document, {os.path.realpath(source.path) for source in file.sources}
    data = {"format": FORMAT, "name": file.name} | _moved(said(own), os.path.dirname(own.place.source), folder, paths)
    if any(path.startswith(ROBOT) for path in overrides):
        text = yaml_text(data | {"robot": written(resolved_robot(file.robot.document))})
    else:
        text = rewritten(own, data)
    if text.startswith(SCHEMA):  # which is beside the scenario
        text = text.partition("\n")[2]
    write_whole(os.path.join(folder, TUNED), indent(comment, "# ") + "\n" + "\n" * text.startswith("#") + text)


def _moved(data: Any, home: str, folder: str, sources: Collection[str]) -> Any:
    """Data whose names of files, relative to one folder, are relative to another."""
    if isinstance(data, dict):
        return {key: _moved(value, home, folder, sources) for key, value in data.items()}
    if isinstance(data, list):
        return [_moved(value, home, folder, sources) for value in data]
    if not isinstance(data, str) or (path := os.path.realpath(beside(home, data))) not in sources:
        return data
    return called("robots", path, folder)
