"""A study: a scenario, what is varied, how runs are chosen, and what is measured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

from armsim import document
from armsim.document.study import MOST_SEED, TABLES
from armsim.errors import FileFaults, UsageError, spelled
from armsim.files.faults import refuse
from armsim.files.nodes import Place
from armsim.files.shipped import shipped_path
from armsim.files.source import find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.values import Values, listed, parse_values
from armsim.loading import Given, Overrides
from armsim.loading.checked import ScenarioFile
from armsim.loading.open_paths import unit_at
from armsim.loading.scenario import Scenario
from armsim.loading.scenario_file import scenario_of
from armsim.measures import measures_of
from armsim.plant import make_plant
from armsim.records import record
from armsim.stability.method_choice import with_method
from armsim.studies.design import GRID, Design
from armsim.studies.request import NOTHING, StudyRequest
from armsim.studies.study_file import StudyFile, found_study, is_study, load_study_file
from armsim.version import __version__

MOST_LISTED = 5000  # values of one path, one by one
BESIDE = ("overrides", "table")  # may be given beside a study file


@record
class Study:
    """What a study asks.

    Attributes:
        scenario: A scenario file, the name of a shipped one, or a file's content.
        design: Its runs by index.
        overrides: Values in place of the file's for all runs, by path.
        measure: Names of measures; usual ones if there are none.
        force_step: Whether runs are made even with a step that is refused.
        name: Of the study's folder; the scenario's unless given.
        table: Format of the results, "csv" or "parquet".
        expected: Names and SHA-256 of files that must be as they were.
    """

    scenario: Given
    design: Design = Design()
    overrides: Overrides = field(default_factory=dict)
    measure: tuple[str, ...] = ()
    force_step: bool = False
    name: str = ""
    table: str = "csv"
    expected: tuple[tuple[str, str], ...] = ()

    def over(self, design: Design, values: Overrides | None = None, **changed: Any) -> Study:
        """A study of other runs of the scenario.

        Args:
            design: The runs.
            values: Further values in place of the file's; of what the runs vary there are none.
            changed: Further attributes.
        """
        given = {**self.overrides, **(values or {})}
        overrides = {path: value for path, value in given.items() if path not in design.axes}
        return replace(self, design=design, overrides=overrides, **changed)

    def values(self, index: int) -> Overrides:
        """The values of a run by path.

        Raises:
            UsageError: There is no such run.
        """
        count = self.design.count
        if not 0 <= index < count:
            expected, where = f"the index of a run, from 0 to {count - 1}", spelled(f"--show {index}", "index")
            raise UsageError.of(where, expected, str(index), "take one of results.csv")
        return dict(zip(self.design.axes, self.design.rows(index, index + 1)[0].tolist(), strict=True))

    @cached_property
    def first(self) -> Scenario | None:
        """The scenario of run 0; None where it is refused."""
        try:
            return with_method(scenario_of(self.scenario, {**self.overrides, **self.values(0)}))
        except (FileFaults, UsageError):
            return None

    def units(self, by: str) -> dict[str, str]:
        """The units of what is varied and of a measure, by name; empty where there is none, or run 0 is refused."""
        if self.first is None:
            return {}
        (measure,) = measures_of([by], make_plant(self.first))
        own = measure.units[0] if len(measure.units) == 1 else ""
        return {path: unit_at(self.first.file, path) for path in self.design.axes} | {by: own}

    def sources(self, files: Sequence[ScenarioFile]) -> list[dict[str, str]]:
        """The files that scenarios were read from, as study.yaml has them.

        Raises:
            FileFaults: One is not what it was when the study was made.
        """
        sources = {(os.path.basename(x.path), x.sha256): x.path for file in files for x in file.sources}
        names = {name for name, _ in self.expected}
        for (name, sha256), path in sources.items():
            if name in names and (name, sha256) not in self.expected:
                was, mend = "the file as it was when the study was made", "restore it, or make a new study"
                raise refuse(Place(path), "", was, "another content", mend)
        return [{"file": name, "sha256": sha256} for name, sha256 in sources]

    def definition(self, files: Sequence[ScenarioFile], folder: str, drawn: bool, **asked: Any) -> document.Study:
        """What study.yaml in a folder says of it: a study file, but for its results.

        Args:
            files: Its scenario, in each of its structures.
            folder: The folder.
            drawn: Whether something is drawn.
            **asked: What is varied and measured, or sought.

        Raises:
            FileFaults: See `sources`.
        """
        given = self.scenario
        return document.Study(
            name=self.name or files[0].name,
            scenario=plain_data(given) if isinstance(given, Mapping) else called("configs", os.fspath(given), folder),
            set=plain_data(self.overrides) or None,
            **asked,
            force_step=self.force_step or None,
            versions=_versions(drawn),
            sources=self.sources(files),
        )


def _versions(drawn: bool) -> dict[str, str]:
    """What decides the bits of a study: armsim, and what draws."""
    if not drawn:
        return {"armsim": __version__}
    import numpy
    import scipy

    return {"armsim": __version__, "numpy": numpy.__version__, "scipy": scipy.__version__}


def study_of(scenario: Given, request: StudyRequest = NOTHING) -> Study:
    """The study that is asked for, or the one of a study file, in which overrides add to its `set`.

    Raises:
        FileFaults: The study file cannot be used.
        UsageError: What is asked does not go together.
    """
    if not request.vary and isinstance(scenario, (str, os.PathLike)):
        read_yaml(find_file("configs", found_study(os.fspath(scenario))))  # that it is there, first
    file = file_alone(scenario, request, "varied and measured")
    if file is not None:
        study = of_file(file)
        return replace(study, overrides={**study.overrides, **request.overrides}, table=request.table or study.table)
    counts = {"random": request.random, "latin": request.latin, "sobol": request.sobol}
    drawn = {method: count for method, count in counts.items() if count is not None}
    seed, table = request.seed, request.table
    if len(drawn) > 1:
        expected, mend = "one way to draw runs", "leave one of them out"
        raise UsageError.of("sample", expected, " and ".join(f"--{method}" for method in drawn), mend)
    if seed is not None and not drawn:
        mend = spelled("leave it out, or add --sobol 1024", "leave it out, or add sobol=1024")
        raise UsageError.of("seed", "runs that are drawn", "all combinations", mend)
    if seed is not None and (isinstance(seed, bool) or not 0 <= seed <= MOST_SEED):
        raise UsageError.of("seed", f"a whole number from 0 to {MOST_SEED}", str(seed), "take another")
    if table not in (None, *TABLES):
        raise UsageError.of("table", " or ".join(TABLES), str(table), "take one of them")
    method, count = next(iter(drawn.items()), (GRID, None))
    design = Design(varied(request.vary or {}), method, count, seed or 0)
    return Study(scenario, design, request.overrides, request.measure, request.force_step, table=table or "csv")


def file_alone(scenario: Given, request: object, says: str, tuned: bool = False) -> StudyFile | None:
    """The study file that is named, and nothing beside it that it says itself; None where a scenario is.

    Args:
        scenario: What is named.
        request: What else is asked, a dataclass whose fields are named as options are.
        says: What the file says, in words.
        tuned: Whether it is to have `tune`, in place of `vary`.

    Raises:
        FileFaults: The study file cannot be used.
        UsageError: Something else is said, or it is a study of the other kind.
    """
    if not is_study(scenario):
        return None
    told = (name for name, value in vars(request).items() if value is not None and value is not False and value != ())
    given = next((name for name in told if name not in BESIDE), None)
    if given is not None:
        where = spelled(f"--{given.replace('_', '-')}", given)
        mend = "write it into the file, or name a scenario"
        raise UsageError.of(where, f"a study file alone, which says what is {says}", "both", mend)
    file = load_study_file(scenario)
    if (file.document.tune is not None) != tuned:
        command, keys = ("sweep", ("tune", "vary")) if tuned else ("tune", ("vary", "tune"))
        name = "<study>" if isinstance(scenario, Mapping) else os.fspath(scenario)
        mend = f"run `armsim {command} {name}`{', or add `tune` to it' if tuned else ''}"
        raise UsageError.of(name, f"a study with `{keys[0]}`", f"one with `{keys[1]}`", mend)
    return file


def of_file(file: StudyFile) -> Study:
    """The study that a file asks for; of a tuning its cases."""
    asked = file.document
    return Study(
        file.scenario,
        design_of(asked if asked.tune is None else asked.cases),
        file.overrides,
        asked.measure,
        asked.force_step,
        asked.name or "",
        asked.table,
        file.expected,
    )


def design_of(asked: document.Study | document.Cases | None) -> Design:
    """The runs that `vary` and `sample` of a study file ask for."""
    if asked is None:
        return Design()
    sample = asked.sample
    drawn = () if sample is None else (sample.method, int(sample.runs.value), int(sample.seed.value))
    return Design(asked.vary, *drawn)


def varied(vary: Mapping[str, Any], option: str = "--vary") -> dict[str, Values]:
    """What is varied, from texts as `--vary` has them, numbers, words, or sequences of these; `option` is what asks for it.

    Raises:
        UsageError: There is nothing, or no values.
    """
    if not isinstance(vary, Mapping) or not vary or not all(isinstance(path, str) for path in vary):
        python = 'write for example {"control.kp[0]": "20:400:20", "payload.mass": [0, 0.5, 1]}'
        mend = spelled(f'write for example {option} "control.kp[0]=20:400:20", or name a study file', python)
        raise UsageError.of(spelled(option, option.removeprefix("--")), "paths with their values", "none", mend)
    found: dict[str, Values] = {}
    for path, values in vary.items():
        if isinstance(values, str):
            found[path] = parse_values(values, _source(option, path, values))
        else:
            many = len(values) if isinstance(values, Sequence) or bool(getattr(values, "ndim", 0)) else 1
            if many > MOST_LISTED:  # before they are made
                mend = "write points, such as 20:400:100000, or draw"
                raise UsageError.of(path, f"at most {MOST_LISTED} values one by one", str(many), mend)
            values = values.tolist() if hasattr(values, "tolist") else values
            several = list(values) if isinstance(values, Sequence) else [values]
            found[path] = listed(_source(option, path, several), several)
    return found


def _source(option: str, path: str, values: Any) -> str:
    """What messages call values that are given for a path."""
    return spelled(f"{option} {path}={values}", f"{option.removeprefix('--')} {path}")


def called(kind: str, path: str, folder: str) -> str:
    """What a file in a folder calls another one: its name if it is a shipped one, or else its path from there.

    Args:
        kind: "robots" or "configs".
        path: Of the other one, or its shipped name.
        folder: The folder.
    """
    name = os.path.splitext(os.path.basename(path))[0]
    known = shipped_path(kind, name)
    if known is not None and (not os.path.isfile(path) or os.path.samefile(path, known)):
        return name
    try:
        return os.path.relpath(os.path.realpath(path), os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # another drive
        return os.path.abspath(path)


def plain_data(value: Any) -> Any:
    """Plain data as YAML reads it back."""
    if hasattr(value, "as_data"):
        value = value.as_data()
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain_data(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
