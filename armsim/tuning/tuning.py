"""What a tuning asks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from armsim import document
from armsim.document.kinds import weighted
from armsim.document.study import MOST_CASES, MOST_SEED, MOST_TRIALS, OVER, SEARCHES
from armsim.errors import UsageError, spelled
from armsim.files.faults import suggestion
from armsim.files.source import find_file
from armsim.files.yaml_reader import read_yaml
from armsim.formulas.values import Drawn, Interval, parse_interval
from armsim.loading import Given, Overrides
from armsim.loading.checked import ScenarioFile
from armsim.loading.scenario_file import load_scenario_file
from armsim.records import record
from armsim.studies.design import SOBOL, Design
from armsim.studies.study import Study, design_of, file_alone, varied
from armsim.studies.study import of_file as study_of_file
from armsim.studies.study_file import StudyFile, found_study
from armsim.tuning.request import NOTHING, TuningRequest
from armsim.tuning.search import FEWEST

IAE = "iae"


@record
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

    def definition(self, files: Sequence[ScenarioFile], folder: str) -> document.Study:
        """What study.yaml in a folder says of it; see `Study.definition`."""
        tune = document.Tune(
            open={path: str(of) for path, of in self.sought.items()},
            minimise=self.minimise,
            subject_to=self.subject_to,
            over=self.over,
            stages=self.stages,
            method=self.method,
            trials=self.trials,
            seed=self.seed,
            holds=self.holds,
            test=None if self.test is None else self.test.definition,
        )
        cases = self.study.design.definition
        return self.study.definition(files, folder, True, tune=tune, cases=cases if cases.vary else None)


def tuning_of(scenario: Given, request: TuningRequest = NOTHING) -> Tuning:
    """The tuning that is asked for, or the one of a study file, in which overrides add to its `set`.

    Raises:
        FileFaults: The study file cannot be used.
        UsageError: What is asked does not go together.
    """
    file = file_alone(scenario, request, "sought", tuned=True)
    if file is not None:
        tuning = of_file(file)
        given = {**tuning.study.overrides, **request.overrides}
        return replace(tuning, study=replace(tuning.study, overrides=given))
    for option, value, known in (("over", request.over, OVER), ("method", request.method, SEARCHES)):
        if value not in (None, *known):
            raise UsageError.of(spelled(f"--{option}", option), " or ".join(known), str(value), "take one of them")
    for option, vary, count in (("case", request.case, request.draw_cases), ("test", request.test, request.draw_test)):
        draw = "draw-cases" if option == "case" else "draw-test"
        if count is not None and not vary:
            where = spelled(f"--{draw} {count}", draw.replace("-", "_"))
            mend = spelled(
                f"add --{option} payload.mass=uniform:0:1, or leave it out", "say what they vary, or leave it out"
            )
            raise UsageError.of(where, "something that cases vary", "nothing", mend)
        _check_whole(draw, count, 1, MOST_CASES)
    _check_whole("trials", request.trials, FEWEST if request.method == "differential_evolution" else 1, MOST_TRIALS)
    _check_whole("seed", request.seed, 0, MOST_SEED)
    seed, minimise = request.seed or 0, request.minimise
    if not request.open:
        _check_readable(scenario, request.overrides)
    sought = _intervals(request.open)
    return Tuning(
        sought=sought,
        minimise=weighted(minimise) if isinstance(minimise, Mapping) else minimise or IAE,
        stages=_stages(request.stage, sought),
        study=Study(
            scenario,
            Design() if request.case is None else _cases(request.case, request.draw_cases, "--case", seed),
            request.overrides,
            force_step=request.force_step,
        ),
        subject_to=_texts(request.subject_to),
        over=request.over or OVER[0],
        method=request.method or SEARCHES[0],
        trials=request.trials,
        seed=seed,
        holds=None if request.holds is None else _texts(request.holds),
        test=None if request.test is None else _cases(request.test, request.draw_test, "--test", seed + 1),
    )


def of_file(file: StudyFile) -> Tuning:
    """The tuning that a study file asks for."""
    tune = file.document.tune
    assert tune is not None  # or the file asks for no tuning
    return Tuning(
        study_of_file(file),
        tune.open,
        tune.minimise,
        tune.subject_to,
        tune.over,
        tune.stages if tune.stages else (tuple(tune.open),),
        tune.method,
        None if tune.trials is None else int(tune.trials.value),
        int(tune.seed.value),
        tune.holds,
        None if tune.test is None else design_of(tune.test),
    )


def _check_readable(scenario: Given, overrides: Overrides) -> None:
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
