"""Reading study files."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from itertools import islice, product
from typing import Any

from armsim import document as documents
from armsim.document.base import Subdocument
from armsim.document.paths import parse_path, source_of
from armsim.document.study import FORMAT
from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.files.faults import Fault, Report, refuse, suggestion
from armsim.files.nodes import Map, Node, Place, Scalar, clipped, data_of, shown
from armsim.files.plain_data import nodes_of
from armsim.files.shipped import looks_like_a_file, shipped_path
from armsim.files.source import beside, find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.quantity import Context
from armsim.formulas.values import Drawn, Interval, Value, first_value, written_value
from armsim.loading import Given, Overrides
from armsim.loading.open_numbers import open_numbers
from armsim.loading.scenario_file import load_scenario_file
from armsim.loading.settle import is_structure, value_at
from armsim.records import record

TRIED = 20  # combinations of words, of which one has to do


@record
class StudyFile:
    """A study file that has been read.

    Attributes:
        path: As the user named it.
        document: What the file says.
        scenario: What its scenario is read from.
        overrides: Its `set`, as plain data.
        places: Where the paths of `vary`, of `tune.open`, and the names of measures are.
    """

    path: str
    document: documents.Study
    scenario: Given
    overrides: Overrides
    places: dict[str, Place]

    @property
    def expected(self) -> tuple[tuple[str, str], ...]:
        """Names and SHA-256 of files that must be as they were."""
        sources = self.document.sources if isinstance(self.document.sources, list) else []
        known = [(x.get("file"), x.get("sha256")) for x in sources if isinstance(x, dict)]
        return tuple((name, sha256) for name, sha256 in known if isinstance(name, str) and isinstance(sha256, str))


def is_study(path_or_name: object) -> bool:
    """Whether a file, what is shipped under a name, or a file's content is a study by its `format`."""
    if isinstance(path_or_name, Mapping):
        return str(path_or_name.get("format")).startswith("armsim/study/")
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


def load_study_file(path_or_name: Given) -> StudyFile:
    """A study file, checked together with its scenario.

    Args:
        path_or_name: A file, the name of a shipped study, or a file's content: a `document.Study` or plain data.

    Raises:
        FileFaults: All that is wrong with it.
    """
    path, report = "", Report()
    root: Node
    if isinstance(path_or_name, Mapping):
        root = nodes_of(path_or_name, Place("<study>"))
    else:
        path = found_study(os.fspath(path_or_name))
        root, _ = read_yaml(path, report)
    if not isinstance(root, Map):
        mend = f"begin the file with `format: {FORMAT}`"
        raise refuse(root.place, "", "a mapping of keys and values", shown(root), mend)
    context = Context(report, folder=os.path.dirname(path))
    study = Subdocument(documents.Study).read(root, context)
    report.raise_if_any()
    assert study is not None  # or there was a fault
    node = study.scenario
    scenario: Given = data_of(node) if isinstance(node, Map) else _scenario_path(node, context.folder)
    overrides = {key: data_of(value) for key, value in study.set.items()}
    found = StudyFile(path, study, scenario, overrides, _measures(root))
    tuned = study.tune is not None
    sound = not tuned or _is_sound(found, {}, root, report)
    if sound:
        for key in ("cases.vary", "tune.test.vary") if tuned else ("vary",):
            _check_paths(found, key, root, report)
    if tuned:
        _check_sought(found, root, report, sound)
    report.raise_if_any()
    return found


def _measures(root: Map) -> dict[str, Place]:
    """Where the names of measures are."""
    found = {f"measure {_text(item)}": item.place for item in getattr(root.get("measure"), "items", ())}
    minimise = _at(root, "tune.minimise")
    if minimise is not None:
        found |= {f"{word} {_text(minimise)}": minimise.place for word in ("measure", "minimise")}
    for key in ("tune.subject_to", "tune.holds"):
        for item in getattr(_at(root, key), "items", ()):
            found[f"condition {_text(item)}"] = item.place
            found |= {f"measure {side.strip()}": item.place for side in re.split("[<>]=?", _text(item))}
    return found


def _text(node: Node) -> str:
    return str(getattr(node, "value", ""))


def _at(root: Node | None, key: str) -> Any:
    """The node at keys that points separate; None if there is none."""
    for step in key.split("."):
        root = root.get(step) if isinstance(root, Map) else None
    return root


def _scenario_path(node: Scalar, folder: str) -> str:
    """The scenario's file: relative to the study's, or shipped under a name."""
    relative = beside(folder, node.text)
    return relative if looks_like_a_file(node.text) or os.path.isfile(relative) else node.text


def _check_paths(study: StudyFile, key: str, root: Map, report: Report) -> None:
    """Report paths at which there is nothing, at the keys that name them, and faults of the scenario."""
    node = _at(root, key)
    if not isinstance(node, Map):
        return
    vary = value_at(study.document, key.split("."))
    study.places.update({path: place for path, (place, _) in node.entries.items()})
    structure = {path: of for path, of in vary.items() if is_structure(parse_path(path)) or getattr(of, "words", False)}
    drawn = [path for path, of in structure.items() if isinstance(of, Drawn)]
    for path in drawn:
        mend = "give its values one by one"
        report.add(study.places[path], f"{key}.{path}", "a number that can be left open", "structure", mend)
    if drawn:
        return
    words = _words_that_do(study, {path: of.values for path, of in structure.items()}, root, report)
    if words is None:
        return
    numbers = {path: first_value(of) for path, of in vary.items() if path not in structure}
    _check_numbers(study, key, report, numbers, words)


def _words_that_do(
    study: StudyFile, listed: Mapping[str, Sequence[Value]], root: Map, report: Report
) -> Overrides | None:
    """Words with which the scenario can be run; None where there are none, which is reported but for faults of words."""
    reports = []
    for values in islice(product(*(of[:TRIED] for of in listed.values())), TRIED):
        words = dict(zip(listed, values, strict=True))
        reports.append(Report())
        if _is_sound(study, words, root, reports[-1]):
            return words
    varied = tuple(f"vary.{path}" for path in listed)
    report.faults += [fault for fault in reports[0].faults if not fault.path.endswith(varied)]  # of words the runs tell
    return None


def _is_sound(study: StudyFile, words: Overrides, root: Map, report: Report) -> bool:
    """Whether the scenario can be run with some words written in; its faults are reported."""
    try:
        if not isinstance(study.scenario, Mapping):
            read_yaml(find_file("configs", os.fspath(study.scenario)), streams=False)
        load_scenario_file(study.scenario, {**study.overrides, **words})
    except FileFaults as error:
        report.faults += [_moved(fault, root) for fault in error.faults]
        return False
    return True


def _check_sought(study: StudyFile, root: Map, report: Report, sound: bool) -> None:
    """Report paths of `tune.open` at which there is no number of a sound scenario, and stages of other paths."""
    tune = study.document.tune
    assert tune is not None  # or nothing is sought
    sought: dict[str, Interval] = tune.open
    study.places.update({path: place for path, (place, _) in _at(root, "tune.open").entries.items()})
    if sound:
        _check_numbers(study, "tune.open", report, {path: interval.at(0.5) for path, interval in sought.items()})
    stages = tune.stages or [list(sought)]
    for path in sought:
        if not any(path in stage for stage in stages):
            mend = "add it to a stage, or do not seek it"
            report.add(study.places[path], f"tune.open.{path}", "a path that a stage has", "one in none", mend)
    for i, stage in enumerate(tune.stages or ()):
        for k, path in enumerate(stage):
            if path not in sought:
                place = _at(root, "tune.stages").items[i].items[k].place
                mend = suggestion(path, sought, "they are")
                report.add(place, f"tune.stages[{i}][{k}]", "a path of `open`", clipped(path), mend)


def _check_numbers(
    study: StudyFile, key: str, report: Report, varied: Mapping[str, Value], words: Overrides | None = None
) -> None:
    """Report paths at which there is nothing that can be varied; each is looked at alone where not all can be open together.

    Args:
        study: The study.
        key: Where the paths stand.
        report: Takes the faults.
        varied: Paths, with a value of each.
        words: With which the scenario can be run; with them a value may also be written in.
    """
    before, writable = {**study.overrides, **(words or {})}, words is not None
    with contextlib.suppress(ArmsimError):
        can_be_open(study.scenario, varied, before)
        return
    for path, value in varied.items():
        try:
            can_be_open(study.scenario, {path: value}, before, writable)
        except ArmsimError as error:
            found = " ".join(str(error).split()) if isinstance(error, UsageError) else error.args[0][0].found
            what = f"a number{', or a key,' if writable else ''} of the scenario or of its robot"
            report.add(study.places[path], f"{key}.{path}", what, found.removeprefix(f"{path}: "), "correct the path")


def can_be_open(scenario: Given, varied: Mapping[str, Value], before: Overrides, writable: bool = False) -> bool:
    """Whether numbers can be left open, with values set before; if not, they can be written in, where that will do.

    Raises:
        ArmsimError: They can neither; says why they cannot be open.
    """
    try:
        open_numbers(scenario, {path: open_value(value) for path, value in varied.items()}, before)
    except ArmsimError:
        if not writable:
            raise
        with contextlib.suppress(ArmsimError):
            load_scenario_file(scenario, {**before, **{path: written_value(value) for path, value in varied.items()}})
            return False
        raise
    return True


def open_value(value: Value) -> Any:
    """The value of one run, as `open_numbers` takes it."""
    return [list(value)] if isinstance(value, tuple) else value


def _moved(fault: Fault, root: Map) -> Fault:
    """A fault without a place in a file at the key that has its value: in `set`, where it is varied, or else `scenario`."""
    if fault.where.line:
        return fault
    for key in ("set", "vary", "cases.vary", "tune.test.vary"):
        for path, (place, _) in getattr(_at(root, key), "entries", {}).items():
            if fault.where.source == source_of(path):
                return Fault(place, f"{key}.{path}", fault.expected, fault.found, fault.mend)
    entry = root.entries.get("scenario")
    if entry is None:
        return fault
    return Fault(entry[1].place, fault.path or "scenario", fault.expected, fault.found, fault.mend)
