"""What a tuning asks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from armsim.errors import UsageError, spelled
from armsim.files.faults import suggestion
from armsim.files.source import find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.values import Drawn, Interval, parse_interval
from armsim.loading.checked import ScenarioFile
from armsim.loading.scenario_file import Given, load_scenario_file
from armsim.spec.study import MOST_CASES, MOST_SEED, MOST_TRIALS, OVER, SEARCHES, weighted
from armsim.studies.design import SOBOL, Design
from armsim.studies.study import Study, design_of, file_alone, varied
from armsim.studies.study import of_file as study_of_file
from armsim.studies.study_file import StudyFile, found_study
from armsim.tuning.search import FEWEST

IAE = "iae"


@dataclass(frozen=True)
class Tuning:
    """What a tuning asks.

    Attributes:
        study: The runs of its cases.
        sought: Bounds by path.
        minimise: A measure, or a formula of measures.
        subject_to: Conditions that all runs must meet.
        over: What counts of all cases, "worst" or "mean".
        stages: Paths that are sought one set after the other.
        method: How they are sought.
        trials: How many, at most; None for as many as suit the method.
        seed: Of what is drawn.
        holds: Conditions under which a run holds; None for those that follow from the scenario.
        test: Cases on which the result is tested; None for those that follow.
    """

    study: Study
    sought: Mapping[str, Interval]
    minimise: str
    subject_to: tuple[str, ...]
    over: str
    stages: tuple[tuple[str, ...], ...]
    method: str
    trials: int | None
    seed: int
    holds: tuple[str, ...] | None
    test: Design | None

    def definition(self, files: Sequence[ScenarioFile], folder: str) -> dict[str, Any]:
        """What study.yaml in a folder says of it; see `Study.definition`."""
        tune: dict[str, Any] = {
            "open": {path: str(of) for path, of in self.sought.items()},
            "minimise": self.minimise,
            "subject_to": list(self.subject_to),
            "over": self.over,
            "stages": [list(stage) for stage in self.stages],
            "method": self.method,
            "trials": self.trials,
            "seed": self.seed,
            "holds": None if self.holds is None else list(self.holds),
            "test": None if self.test is None else self.test.definition(),
        }
        cases = self.study.design
        asked = {"tune": {key: value for key, value in tune.items() if value is not None}}
        asked |= {"cases": cases.definition()} if cases.axes else {}
        return self.study.definition(files, folder, asked, drawn=True)


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
    told = {
        "--open": open, "--minimise": minimise, "--subject-to": subject_to, "--over": over, "--stage": stages,
        "--case": cases, "--draw-cases": draw_cases, "--method": method, "--trials": trials, "--seed": seed,
        "--holds": holds, "--test": test, "--draw-test": draw_test, "--force-step": force_step,
    }  # fmt: skip
    file = file_alone(scenario, told, "sought", tuned=True)
    if file is not None:
        tuning = of_file(file)
        given = {**tuning.study.overrides, **(overrides or {})}
        return replace(tuning, study=replace(tuning.study, overrides=given))
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
    sought = _intervals(open)
    minimise = weighted(minimise) if isinstance(minimise, Mapping) else minimise or IAE
    parts = _stages(stages, sought)
    design = Design() if cases is None else _cases(cases, draw_cases, "--case", seed)
    return Tuning(
        Study(scenario, design, overrides or {}, force_step=force_step),
        sought,
        minimise,
        _texts(subject_to),
        over or OVER[0],
        parts,
        method or SEARCHES[0],
        trials,
        seed,
        None if holds is None else _texts(holds),
        None if test is None else _cases(test, draw_test, "--test", seed + 1),
    )


def of_file(file: StudyFile) -> Tuning:
    """The tuning that a study file asks for."""
    tune = file.data["tune"]
    return Tuning(
        study_of_file(file),
        tune["open"],
        tune["minimise"],
        tuple(tune["subject_to"]),
        tune["over"],
        tuple(map(tuple, tune["stages"])) if tune["stages"] else (tuple(tune["open"]),),
        tune["method"],
        None if tune["trials"] is None else int(tune["trials"].value),
        int(tune["seed"].value),
        None if tune["holds"] is None else tuple(tune["holds"]),
        None if tune["test"] is None else design_of(tune["test"]),
    )


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


def _cases(given: Mapping[str, Any], count: int | None, option: str, seed: int) -> Design:
    axes = varied(given, option)
    drawn = next((path for path, of in axes.items() if isinstance(of, Drawn)), None)
    if drawn is not None and count is None:
        draw = f"--draw-{option.removeprefix('--').replace('case', 'cases')}"
        mend = spelled(f"add {draw} 64, or write points", f"add {draw.removeprefix('--').replace('-', '_')}=64")
        raise UsageError.of(f"{drawn}={axes[drawn]}", "values for all combinations", "a distribution", mend)
    return Design(axes) if count is None else Design(axes, SOBOL, count, seed)
