"""A study: a scenario, what is varied, how runs are chosen, and what is measured."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from armsim.errors import FileFaults, UsageError, spelled
from armsim.files.document import Place
from armsim.files.faults import refuse
from armsim.files.shipped import shipped_path
from armsim.files.source import find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.values import Drawn, Listed, Spaced, Values, listed, parse_values, written_value
from armsim.loading.checked import ScenarioFile
from armsim.loading.scenario import Scenario
from armsim.loading.scenario_file import Given, scenario_of
from armsim.measures import measures_of
from armsim.plant import make_plant
from armsim.spec.study import FORMAT, MOST_SEED, TABLES
from armsim.stability.method_choice import with_method
from armsim.studies.design import GRID, Design, design_of
from armsim.studies.runs import StudyRuns
from armsim.studies.study_file import StudyFile, found_study, is_study, load_study_file
from armsim.version import __version__

MOST_LISTED = 5000  # values of one path, one by one


@dataclass(frozen=True)
class Study:
    """What a study asks.

    Attributes:
        scenario: A scenario file, the name of a shipped one, or a file's content.
        axes: What is varied, by path.
        overrides: Values in place of the file's for all runs, by path.
        measure: Names of measures; usual ones if there are none.
        method: How runs are chosen: "grid", "random", "latin", "sobol".
        count: How many runs are drawn; None for a grid.
        seed: Of the draws.
        force_step: Whether runs are made even with a step that is refused.
        name: Of the study's folder; the scenario's unless given.
        table: Format of the results, "csv" or "parquet".
        expected: Names and SHA-256 of files that must be as they were.
    """

    scenario: Given
    axes: Mapping[str, Values]
    overrides: Mapping[str, Any] = field(default_factory=dict)
    measure: tuple[str, ...] = ()
    method: str = GRID
    count: int | None = None
    seed: int = 0
    force_step: bool = False
    name: str = ""
    table: str = "csv"
    expected: tuple[tuple[str, str], ...] = ()

    @cached_property
    def design(self) -> Design:
        """Its runs by index."""
        return design_of(self.axes, self.method, self.count, self.seed)

    def values(self, index: int) -> dict[str, Any]:
        """The values of a run by path.

        Raises:
            UsageError: There is no such run.
        """
        count = self.design.count
        if not 0 <= index < count:
            expected, where = f"the index of a run, from 0 to {count - 1}", spelled(f"--show {index}", "index")
            raise UsageError.of(where, expected, str(index), "take one of results.csv")
        return dict(zip(self.axes, self.design.rows(index, index + 1)[0].tolist(), strict=True))

    @cached_property
    def first(self) -> Scenario | None:
        """The scenario of run 0; None where it is refused."""
        try:
            return with_method(scenario_of(self.scenario, {**self.overrides, **self.values(0)}))
        except (FileFaults, UsageError):
            return None

    def unit(self, by: str) -> str:
        """The unit of a measure; empty where it has none, or run 0 is refused."""
        units = () if self.first is None else measures_of([by], make_plant(self.first))[0].units
        return units[0] if len(units) == 1 else ""

    def runs(self, threads: int | None = None) -> StudyRuns:
        """What carries its runs out."""
        return StudyRuns(self.scenario, self.axes, self.overrides, self.measure, threads, self.force_step)

    def definition(self, runs: StudyRuns, folder: str) -> dict[str, Any]:
        """What study.yaml in a folder says of it: a study file, but for its results.

        Raises:
            FileFaults: A file is not what it was when the study was made.
        """
        files = runs.files
        drawn = {} if self.method == GRID else {
            "sample": {"method": self.method, "runs": self.count, "seed": self.seed},
        }  # fmt: skip
        return {
            "format": FORMAT,
            "name": self.name or files[0].name,
            "scenario": reference(self.scenario, folder),
            **({"set": {path: plain_data(value) for path, value in self.overrides.items()}} if self.overrides else {}),
            "vary": {path: written(values) for path, values in self.axes.items()},
            **drawn,
            "measure": list(runs.asked),
            **({"table": self.table} if self.table != "csv" else {}),
            **({"force_step": True} if self.force_step else {}),
            "versions": versions(bool(drawn)),
            "sources": sources_of(files, self.expected),
        }


def versions(drawn: bool) -> dict[str, str]:
    """What decides the bits of a study: armsim, and what draws."""
    if not drawn:
        return {"armsim": __version__}
    import numpy
    import scipy

    return {"armsim": __version__, "numpy": numpy.__version__, "scipy": scipy.__version__}


def sources_of(files: Sequence[ScenarioFile], expected: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    """The files that scenarios were read from, as study.yaml has them.

    Args:
        files: The scenarios.
        expected: Names and SHA-256 of files that must be as they were.

    Raises:
        FileFaults: One of these is not.
    """
    sources = {(os.path.basename(x.path), x.sha256): x.path for file in files for x in file.sources}
    names = {name for name, _ in expected}
    for (name, sha256), path in sources.items():
        if name in names and (name, sha256) not in expected:
            was, mend = "the file as it was when the study was made", "restore it, or make a new study"
            raise refuse(Place(path), "", was, "another content", mend)
    return [{"file": name, "sha256": sha256} for name, sha256 in sources]


def study_of(
    scenario: Given,
    vary: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
    measure: tuple[str, ...] = (),
    sample: Mapping[str, int | None] | None = None,
    seed: int | None = None,
    table: str | None = None,
    force_step: bool = False,
) -> Study:
    """A study, from the arguments of `sweep`, or from a study file, in which overrides add to its `set`.

    Raises:
        FileFaults: The study file cannot be used.
        UsageError: Arguments do not go together.
    """
    if not vary and isinstance(scenario, (str, os.PathLike)):
        read_yaml(find_file("configs", found_study(os.fspath(scenario))))  # that it is there, first
    drawn = {method: count for method, count in (sample or {}).items() if count is not None}
    if is_study(scenario):
        assert not isinstance(scenario, Mapping)  # or it is no study
        told = {"--vary": vary, "--measure": measure, "--seed": seed is not None, "--force-step": force_step}
        told |= {f"--{method}": True for method in drawn}
        given = next((option for option, value in told.items() if value), None)
        if given is not None:
            where = spelled(given, given.removeprefix("--").replace("-", "_"))
            mend = "write it into the file, or name a scenario"
            raise UsageError.of(where, "a study file alone, which says what is varied and measured", "both", mend)
        file = load_study_file(scenario)
        if file.data["tune"] is not None:
            mend = f"run `armsim tune {os.fspath(scenario)}`"
            raise UsageError.of(os.fspath(scenario), "a study with `vary`", "one with `tune`", mend)
        study = of_file(file)
        return replace(study, overrides={**study.overrides, **(overrides or {})}, table=table or study.table)
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
    axes = varied(vary or {})
    return Study(scenario, axes, overrides or {}, measure, method, count, seed or 0, force_step, table=table or "csv")


def of_file(file: StudyFile) -> Study:
    """The study that a file asks for."""
    data = file.data
    return Study(
        file.scenario,
        data["vary"],
        file.overrides,
        tuple(data["measure"]),
        *drawn_of(data["sample"]),
        force_step=data["force_step"],
        name=data["name"] or "",
        table=data["table"],
        expected=file.expected,
    )


def drawn_of(sample: Mapping[str, Any] | None) -> tuple[str, int | None, int]:
    """How runs are drawn, how many, and the seed, from `sample` of a study file."""
    if sample is None:
        return GRID, None, 0
    return sample["method"], int(sample["runs"].value), int(sample["seed"].value)


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


def written(values: Values) -> Any:
    """Values as a study file has them."""
    if isinstance(values, (Spaced, Drawn)):
        return str(values)
    assert isinstance(values, Listed)
    return [written_value(value) for value in values.values]


def reference(scenario: Given, folder: str) -> Any:
    """A scenario as a study file in a folder names it."""
    if isinstance(scenario, Mapping):
        return plain_data(scenario)
    name = os.fspath(scenario)
    known = shipped_path("configs", os.path.splitext(os.path.basename(name))[0])
    if known is not None and (not os.path.isfile(name) or os.path.samefile(name, known)):
        return os.path.splitext(os.path.basename(name))[0]
    try:
        return os.path.relpath(os.path.realpath(name), os.path.realpath(folder)).replace(os.sep, "/")
    except ValueError:  # another drive
        return os.path.abspath(name)


def plain_data(value: Any) -> Any:
    """Plain data as YAML reads it back."""
    if isinstance(value, Mapping):
        return {str(key): plain_data(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain_data(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
