"""What a tuning asks."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from armsim.errors import ArmsimError, UsageError, spelled
from armsim.files.faults import suggestion
from armsim.files.source import find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.values import UNIFORM, Drawn, Interval, Listed, Spaced, Values, combinations, parse_interval
from armsim.loading.checked import ScenarioFile
from armsim.loading.open_numbers import open_numbers
from armsim.loading.scenario_file import Given, load_scenario_file
from armsim.spec.study import FORMAT, MOST_CASES, MOST_SEED, MOST_TRIALS, OVER, SEARCHES, weighted
from armsim.studies.design import GRID, SOBOL, Rows, design_of
from armsim.studies.study import drawn_of, plain_data, reference, sources_of, varied, versions, written
from armsim.studies.study_file import StudyFile, found_study, is_study, load_study_file
from armsim.tuning.search import FEWEST

IAE = "iae"


@dataclass(frozen=True)
class Cases:
    """Cases over which numbers must do.

    Attributes:
        axes: What is varied, by path.
        method: "grid", or how they are drawn.
        count: How many are drawn.
        seed: Of the draws.
    """

    axes: Mapping[str, Values] = field(default_factory=dict)
    method: str = GRID
    count: int | None = None
    seed: int = 0

    @property
    def rows(self) -> Rows:
        """Their values, shape (cases, paths); a single case if nothing is varied.

        Raises:
            UsageError: There are too many.
        """
        if not self.axes:
            return np.empty((1, 0))
        many, told = combinations(self.axes.values()) if self.count is None else (self.count, str(self.count))
        if many > MOST_CASES:
            mend = spelled("draw some: --draw-cases 100", "draw some: draw_cases=100")
            raise UsageError.of("cases", f"at most {MOST_CASES}", f"{told} of them", mend)
        design = design_of(self.axes, self.method, self.count, self.seed)
        return design.rows(0, design.count)

    def definition(self) -> dict[str, Any]:
        """The cases as a study file has them."""
        drawn = {"sample": {"method": self.method, "runs": self.count, "seed": self.seed}}
        return {"vary": {path: written(of) for path, of in self.axes.items()}, **(drawn if self.drawn else {})}

    @property
    def drawn(self) -> bool:
        """Whether they are drawn."""
        return self.method != GRID


@dataclass(frozen=True)
class Tuning:
    """What a tuning asks.

    Attributes:
        scenario: A scenario file, the name of a shipped one, or a file's content.
        sought: Bounds by path.
        minimise: A measure, or a formula of measures.
        overrides: Values in place of the file's, by path.
        subject_to: Conditions that all runs must meet.
        over: What counts of all cases, "worst" or "mean".
        stages: Paths that are sought one set after the other.
        cases: The cases.
        method: How they are sought.
        trials: How many, at most; None for as many as suit the method.
        seed: Of what is drawn.
        holds: Conditions under which a run holds; None for those that follow from the scenario.
        test: Cases on which the result is tested; None for those that follow.
        force_step: Whether runs are made even with a step that is refused.
        name: Of the folder.
        expected: Names and SHA-256 of files that must be as they were.
    """

    scenario: Given
    sought: Mapping[str, Interval]
    minimise: str = IAE
    overrides: Mapping[str, Any] = field(default_factory=dict)
    subject_to: tuple[str, ...] = ()
    over: str = OVER[0]
    stages: tuple[tuple[str, ...], ...] = ()
    cases: Cases = Cases()
    method: str = SEARCHES[0]
    trials: int | None = None
    seed: int = 0
    holds: tuple[str, ...] | None = None
    test: Cases | None = None
    force_step: bool = False
    name: str = ""
    expected: tuple[tuple[str, str], ...] = ()

    def definition(self, files: Sequence[ScenarioFile], folder: str) -> dict[str, Any]:
        """What study.yaml in a folder says of it: a study file, but for its results.

        Raises:
            FileFaults: A file is not what it was when the study was made.
        """
        tune: dict[str, Any] = {
            "open": {path: str(of) for path, of in self.sought.items()},
            "minimise": self.minimise,
            "subject_to": list(self.subject_to),
            "over": self.over,
            "stages": [list(stage) for stage in self.stages],
            "method": self.method,
            **({} if self.trials is None else {"trials": self.trials}),
            "seed": self.seed,
            **({} if self.holds is None else {"holds": list(self.holds)}),
            **({} if self.test is None else {"test": self.test.definition()}),
        }
        return {
            "format": FORMAT,
            "name": self.name or files[0].name,
            "scenario": reference(self.scenario, folder),
            **({"set": {path: plain_data(value) for path, value in self.overrides.items()}} if self.overrides else {}),
            "tune": tune,
            **({"cases": self.cases.definition()} if self.cases.axes else {}),
            **({"force_step": True} if self.force_step else {}),
            "versions": versions(drawn=True),
            "sources": sources_of(files, self.expected),
        }


def tuning_of(
    scenario: Given,
    open: Mapping[str, Any] | None = None,
    minimise: str | Mapping[str, float] | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    subject_to: Sequence[str] | str = (),
    over: str | None = None,
    stages: Sequence[Sequence[str]] | None = None,
    cases: Mapping[str, Any] | None = None,
    draw_cases: int | None = None,
    method: str | None = None,
    trials: int | None = None,
    seed: int | None = None,
    holds: Sequence[str] | str | None = None,
    test: Mapping[str, Any] | None = None,
    draw_test: int | None = None,
    force_step: bool = False,
) -> Tuning:
    """What the arguments of `armsim.tune` ask, or a study file, in which overrides add to its `set`.

    Raises:
        FileFaults: The study file cannot be used.
        UsageError: Arguments do not go together.
    """
    if is_study(scenario):
        assert not isinstance(scenario, Mapping)  # or it is no study
        told = {
            "--open": open, "--minimise": minimise, "--subject-to": subject_to, "--over": over, "--stage": stages,
            "--case": cases, "--draw-cases": draw_cases, "--method": method, "--trials": trials, "--seed": seed,
            "--holds": holds, "--test": test, "--draw-test": draw_test, "--force-step": force_step,
        }  # fmt: skip
        given = next((option for option, value in told.items() if value not in (None, False) and value != ()), None)
        if given is not None:
            where = spelled(given, given.removeprefix("--").replace("-", "_"))
            mend = "write it into the file, or name a scenario"
            raise UsageError.of(where, "a study file alone, which says what is sought", "both", mend)
        file = load_study_file(scenario)
        if file.data["tune"] is None:
            mend = f"run `armsim sweep {os.fspath(scenario)}`, or add `tune` to it"
            raise UsageError.of(os.fspath(scenario), "a study with `tune`", "one with `vary`", mend)
        tuning = of_file(file)
        return replace(tuning, overrides={**tuning.overrides, **(overrides or {})})
    for option, value, known in (("over", over, OVER), ("method", method, SEARCHES)):
        if value not in (None, *known):
            raise UsageError.of(spelled(f"--{option}", option), " or ".join(known), str(value), "take one of them")
    for option, vary, count in (("case", cases, draw_cases), ("test", test, draw_test)):
        draw = "draw-cases" if option == "case" else "draw-test"
        if count is not None and not vary:
            where = spelled(f"--{draw} {count}", draw.replace("-", "_"))
            mend = spelled(
                f"add --{option} payload.mass=uniform:0:1, or leave it out", "say what they vary, or leave it out"
            )
            raise UsageError.of(where, "something that cases vary", "nothing", mend)
        _check_whole(draw, count, 1, MOST_CASES)
    _check_whole("trials", trials, FEWEST if method == "differential_evolution" else 1, MOST_TRIALS)
    _check_whole("seed", seed, 0, MOST_SEED)
    seed = seed or 0
    if not open:
        _check_readable(scenario, overrides)
    return Tuning(
        scenario,
        sought := _intervals(open),
        weighted(minimise) if isinstance(minimise, Mapping) else minimise or IAE,
        overrides or {},
        _texts(subject_to),
        over or OVER[0],
        _stages(stages, sought),
        Cases() if cases is None else _cases(cases, draw_cases, "--case", seed),
        method or SEARCHES[0],
        trials,
        seed,
        None if holds is None else _texts(holds),
        None if test is None else _cases(test, draw_test, "--test", seed + 1),
        force_step,
    )


def of_file(file: StudyFile) -> Tuning:
    """The tuning that a study file asks for."""
    data, tune = file.data, file.data["tune"]
    trials, test, cases = tune["trials"], tune["test"], data["cases"]
    return Tuning(
        file.scenario,
        tune["open"],
        tune["minimise"],
        file.overrides,
        tuple(tune["subject_to"]),
        tune["over"],
        tuple(map(tuple, tune["stages"])) if tune["stages"] else (tuple(tune["open"]),),
        Cases() if cases is None else Cases(cases["vary"], *drawn_of(cases["sample"])),
        tune["method"],
        None if trials is None else int(trials.value),
        int(tune["seed"].value),
        None if tune["holds"] is None else tuple(tune["holds"]),
        None if test is None else Cases(test["vary"], *drawn_of(test["sample"])),
        data["force_step"],
        data["name"] or "",
        file.expected,
    )


def places_at(scenario: Given, path: str, overrides: Mapping[str, Any]) -> tuple[str, ...]:
    """The numbers that a path stands for, each by a path of its own; none where it is structure."""
    try:
        return open_numbers(scenario, [path], overrides).places
    except ArmsimError:
        return ()


def ranges_of(axes: Mapping[str, Values], structural: Collection[str]) -> dict[str, Values]:
    """The axes of cases as what other cases may be drawn from: numbers as the interval that they span, but for structure."""
    return {path: of if path in structural else _range(of) for path, of in axes.items()}


def _range(of: Values) -> Values:
    if isinstance(of, Listed) and not of.words and not of.lists and len(of.values) > 1:
        if not isinstance(of, Spaced):
            numbers = [x for x in of.values if isinstance(x, float)]
            return uniform(min(numbers), max(numbers))
        if not of.values.log:
            return uniform(*sorted((of.values.first, of.values.last)))
    return of


def uniform(low: float, high: float) -> Values:
    """Numbers drawn between two ends."""
    return Drawn(UNIFORM, low, high)


def _check_readable(scenario: Given, overrides: Mapping[str, Any] | None) -> None:
    """Raise what is wrong with a file in which a study or a scenario was meant."""
    if not isinstance(scenario, Mapping):
        read_yaml(find_file("configs", found_study(os.fspath(scenario))))
    load_scenario_file(scenario, overrides)


def _check_whole(name: str, value: int | None, least: int, most: int) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most):
        where = spelled(f"--{name}", name)
        raise UsageError.of(where, f"a whole number from {least} to {most}", str(value), "take another")


def _texts(given: Sequence[str] | str) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _intervals(given: Mapping[str, Any] | None) -> dict[str, Interval]:
    """Bounds by path, from texts as `--bounds` has them or pairs of numbers."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(path, str) for path in given):
        mend = spelled("add for example --open control.kp --bounds 0:200", 'write for example {"control.kp": "0:200"}')
        raise UsageError.of("open", "what is sought, with bounds", "nothing", mend)
    found = {}
    for path, bounds in given.items():
        pair = not isinstance(bounds, str) and isinstance(bounds, Sequence)
        found[path] = parse_interval(":".join(map(str, bounds)) if pair else str(bounds), f"bounds of {path}")
    return found


def _stages(given: Sequence[Sequence[str]] | str | None, sought: Mapping[str, Interval]) -> tuple[tuple[str, ...], ...]:
    listed = [given] if isinstance(given, str) else given or ()
    parts = [stage.split(",") if isinstance(stage, str) else stage for stage in listed]
    stages = tuple(tuple(path.strip() for path in part) for part in parts) or (tuple(sought),)
    unknown = next((path for stage in stages for path in stage if path not in sought), None)
    if unknown is not None:
        where = spelled(f"--stage {unknown}", "stages")
        raise UsageError.of(where, "a path that is sought", unknown, suggestion(unknown, sought, "they are"))
    left = next((path for path in sought if not any(path in stage for stage in stages)), None)
    if left is not None:
        mend = f"add {spelled(f'--stage {left}', f'a stage with {left}')}, or do not seek it"
        raise UsageError.of(spelled(f"--open {left}", "open"), "a path that a stage has", f"{left}, in none", mend)
    return stages


def _cases(given: Mapping[str, Any], count: int | None, option: str, seed: int) -> Cases:
    axes = varied(given, option)
    drawn = next((path for path, of in axes.items() if isinstance(of, Drawn)), None)
    if drawn is not None and count is None:
        draw = f"--draw-{option.removeprefix('--').replace('case', 'cases')}"
        mend = spelled(f"add {draw} 64, or write points", f"add {draw.removeprefix('--').replace('-', '_')}=64")
        raise UsageError.of(f"{drawn}={axes[drawn]}", "values for all combinations", "a distribution", mend)
    return Cases(axes) if count is None else Cases(axes, SOBOL, count, seed)
