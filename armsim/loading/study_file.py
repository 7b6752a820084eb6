"""Reading study files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.files.document import Map, Place, Scalar, shown
from armsim.files.faults import Fault, Report, refuse
from armsim.files.shipped import looks_like_a_file, shipped_path
from armsim.files.source import beside, find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.quantity import Context
from armsim.formulas.values import Drawn, Values, first_value
from armsim.loading.open_numbers import open_numbers
from armsim.loading.scenario_file import Given, load_scenario_file
from armsim.loading.settle import is_structure
from armsim.spec.paths import parse_path, source_of
from armsim.spec.study import FORMAT, StudyKeys, plain

TRIED = 20  # combinations of words, of which one has to do


@dataclass(frozen=True)
class StudyFile:
    """A study file that has been read.

    Attributes:
        path: As the user named it.
        data: By the keys of `armsim.spec.study.StudyKeys`.
        scenario: What its scenario is read from.
        overrides: Its `set`, as plain data.
        places: Where the paths of `vary`, and the names of `measure`, are.
    """

    path: str
    data: dict[str, Any]
    scenario: Given
    overrides: dict[str, Any]
    places: dict[str, Place]


def is_study(path_or_name: object) -> bool:
    """Whether a file, or what is shipped under a name, is a study by its `format`."""
    if not isinstance(path_or_name, (str, os.PathLike)):
        return False
    try:
        root, _ = read_yaml(found_study(os.fspath(path_or_name)))
    except FileFaults:
        return False
    return isinstance(root, Map) and str(getattr(root.get("format"), "value", "")).startswith("armsim/study/")


def found_study(path_or_name: str) -> str:
    """The path of a study file, given by path or by the name of a shipped one."""
    if looks_like_a_file(path_or_name) or os.path.isfile(path_or_name):
        return path_or_name
    return shipped_path("studies", path_or_name) or path_or_name


def load_study_file(path_or_name: str | os.PathLike[str]) -> StudyFile:
    """A study file, checked together with its scenario.

    Args:
        path_or_name: A file, or the name of a shipped study.

    Raises:
        FileFaults: All that is wrong with it.
    """
    path = found_study(os.fspath(path_or_name))
    report = Report()
    root, _ = read_yaml(path, report)
    if not isinstance(root, Map):
        mend = f"begin the file with `format: {FORMAT}`"
        raise refuse(root.place, "", "a mapping of keys and values", shown(root), mend)
    context = Context(report, folder=os.path.dirname(path))
    data = StudyKeys().read(root, "", context)
    report.raise_if_any()
    assert data is not None  # or there was a fault
    node, vary = data["scenario"], root.get("vary")
    scenario: Given = plain(node) if isinstance(node, Map) else _scenario_path(node, context.folder)
    overrides = {key: plain(value) for key, value in data["set"].items()}
    places = {key: place for key, (place, _) in vary.entries.items()} if isinstance(vary, Map) else {}
    measure = root.get("measure")
    for item in getattr(measure, "items", ()):
        places[f"measure {getattr(item, 'value', '')}"] = item.place
    found = StudyFile(path, data, scenario, overrides, places)
    _check_paths(found, root, report)
    report.raise_if_any()
    return found


def _scenario_path(node: Scalar, folder: str) -> str:
    """The scenario's file: relative to the study's, or shipped under a name."""
    relative = beside(folder, node.text)
    return relative if looks_like_a_file(node.text) or os.path.isfile(relative) else node.text


def _check_paths(study: StudyFile, root: Map, report: Report) -> None:
    """Report paths at which there is nothing, at the keys that name them, and faults of the scenario."""
    vary: dict[str, Values] = study.data["vary"]
    structure = {path: of for path, of in vary.items() if is_structure(parse_path(path)) or getattr(of, "words", False)}
    if any(isinstance(of, Drawn) for of in structure.values()):
        for path, of in structure.items():
            if isinstance(of, Drawn):
                mend = "give its values one by one"
                report.add(study.places[path], f"vary.{path}", "a number that can be left open", "structure", mend)
        return
    if not isinstance(study.scenario, Mapping):
        try:
            read_yaml(find_file("configs", os.fspath(study.scenario)))
        except FileFaults as error:
            report.faults += [_moved(fault, root) for fault in error.faults]
            return
    listed = {path: of.values for path, of in structure.items() if not isinstance(of, Drawn)}
    refused: FileFaults | None = None
    for values in islice(product(*listed.values()), TRIED):
        words = dict(zip(listed, values, strict=True))
        try:
            load_scenario_file(study.scenario, {**study.overrides, **words})
            break
        except FileFaults as error:
            refused = refused or error
    else:
        assert refused is not None  # there is at least one combination of words, that of none
        ours = {source_of(path) for path in study.overrides}
        told = [fault for fault in refused.faults if not structure or fault.where.source in ours]
        report.faults += [_moved(fault, root) for fault in told]  # of words the runs tell
        return
    for path in vary:
        if path not in structure:
            _check_path(study, path, words, report)


def _check_path(study: StudyFile, path: str, words: dict[str, Any], report: Report) -> None:
    """Report a path at which there is nothing that can be varied."""
    of = study.data["vary"][path]
    value: Any = first_value(of)
    value = list(value) if isinstance(value, tuple) else value
    before = {**study.overrides, **words}
    try:
        open_numbers(study.scenario, {path: [value] if isinstance(value, list) else value}, before)
    except ArmsimError as error:
        try:
            load_scenario_file(study.scenario, {**before, path: value})
        except ArmsimError:
            found = " ".join(str(error).split()) if isinstance(error, UsageError) else error.args[0][0].found
            what = "a number, or a key, of the scenario or of its robot"
            report.add(study.places[path], f"vary.{path}", what, found.removeprefix(f"{path}: "), "correct the path")


def _moved(fault: Fault, root: Map) -> Fault:
    """A fault without a place in a file at the key that has its value: in `set`, in `vary`, or else `scenario`."""
    if fault.where.line:
        return fault
    for name in ("set", "vary"):
        for path, (place, _) in getattr(root.get(name), "entries", {}).items():
            if fault.where.source == source_of(path):
                return Fault(place, f"{name}.{path}", fault.expected, fault.found, fault.mend)
    entry = root.entries.get("scenario")
    if entry is None:
        return fault
    return Fault(entry[1].place, fault.path or "scenario", fault.expected, fault.found, fault.mend)
