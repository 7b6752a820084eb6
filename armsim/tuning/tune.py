"""`armsim.tune`: numbers sought by what their runs come to, and tested where they were not sought."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.batches.runs import COMPLETE, INTERRUPTED, Runs
from armsim.document.base import written
from armsim.errors import FileFaults, UsageError
from armsim.files.destination import Destination
from armsim.files.interrupts import interrupts_later
from armsim.files.new_file import write_whole
from armsim.files.nodes import data_of
from armsim.files.study_folder import SUMMARY, TEST, TUNED, StudyFolder, study_folder
from armsim.files.yaml_reader import read_yaml
from armsim.files.yaml_writer import yaml_text
from armsim.loading import Given, Overrides
from armsim.loading.scenario import Scenario, unusual
from armsim.progress import Progress
from armsim.records import record
from armsim.studies.design import Design
from armsim.studies.request import Workers
from armsim.studies.runs import StudyRuns
from armsim.studies.sweep import StudyWatch, run_study
from armsim.tuning.causes import causes_of
from armsim.tuning.margins import Margin, margins_of
from armsim.tuning.objective import met, outcome
from armsim.tuning.request import TuningRequest
from armsim.tuning.result import TuningResult
from armsim.tuning.search import METHODS
from armsim.tuning.task import Task
from armsim.tuning.trials import Stopped, Trials, trial_heading
from armsim.tuning.tuned_file import COMMENT, write_tuned
from armsim.tuning.tuning import Tuning, tuning_of
from armsim.tuning.validation import test_in_words

MOST_MARGIN_CASES = 64


def tune(
    scenario: Given,
    open: Mapping[str, Any] | None = None,
    minimise: str | Mapping[str, float] | None = None,
    overrides: Overrides | None = None,
    folder: str | PathLike[str] | None = None,
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
    threads: int | None = None,
    progress: Progress | None = None,
    force_step: bool = False,
    force: bool = False,
) -> TuningResult:
    """Seek numbers of a scenario for which a measure is least, and test them where they were not sought.

    The same call goes on after a kill, and finds the same numbers to the bit. The user's files are not changed.

    Args:
        scenario: A scenario file, the name of a shipped one, or a file's content; or a study file with `tune`, alone.
        open: What is sought, with bounds: {"control.kp": "0:200", "control.kd[1]": "log:0.1:10"}; a list stands for all its
            numbers. Each starts from the file's value.
        minimise: A measure or a formula of measures, docs/measures.md, or weights of several; "iae" unless given.
        overrides: Values in place of the file's, by path.
        folder: For the results; `studies/<scenario>-001`, or the next free number, if None. One with this tuning is taken up.
        subject_to: Conditions that all runs must meet: "max(abs(current_R2)) <= 12".
        over: "worst" or "mean" of all cases.
        stages: Paths of `open` that are sought one set after the other; all at once unless given.
        cases: Values of cases over which the numbers must do, by path, as `armsim.sweep` varies them; all combinations.
        draw_cases: How many of them are drawn, in place of all combinations.
        method: "nelder_mead", "differential_evolution" or "gradient".
        trials: How many at most in each stage; as many as suit the method unless given.
        seed: Of what is drawn.
        holds: Conditions under which a case holds; those of `subject_to`, and errors like those of the cases it is tuned at,
            unless given; see docs/tuning.md.
        test: Values of cases on which the result is tested, by path; ranges of `cases`, or poses and payloads, unless given.
        draw_test: How many of them are drawn.
        threads: How many; as many as there are processors unless given.
        progress: Called with trials done and trials at most.
        force_step: Run even with a step that is refused.
        force: Replace another study that the folder has.

    Returns:
        The numbers, and where they hold; after Ctrl-C what there is.

    Raises:
        FileFaults: The scenario, its robot or the study file cannot be run; says where and why.
        UsageError: There is no number at a path, a measure is unknown, no trial is complete, or the folder has something else.
    """
    request = TuningRequest(
        open, minimise, subject_to, over, stages, cases, draw_cases, method, trials, seed, holds, test, draw_test,
        force_step, overrides or {},
    )  # fmt: skip
    return run_tuning(tuning_of(scenario, request), folder, threads, Watch(progress), force)


@record
class Watch:
    """Who is told how far a tuning is.

    Attributes:
        trials: Called with trials done and trials at most.
        test: Called with cases done and cases in all.
        margins: Called with margins done and margins in all.
        tell: Called with the best so far, in words.
    """

    trials: Progress | None = None
    test: Progress | None = None
    margins: Progress | None = None
    tell: Callable[[str], object] | None = None


def run_tuning(
    tuning: Tuning,
    folder: str | PathLike[str] | None = None,
    threads: int | None = None,
    watch: Watch | None = None,
    force: bool = False,
) -> TuningResult:
    """Carry out a tuning; see `tune`."""
    watch = watch or Watch()
    task = Task(tuning, threads)
    where = os.fspath(folder) if folder is not None else os.path.join("studies", "any")
    definition = written(tuning.definition(task.runs.files, where))
    _spare_sources(task, where)
    with study_folder(folder, task.name, definition, trial_heading([*task.sought]), "csv", force) as made:
        trials = Trials(task, made, watch.trials, watch.tell)
        ended = COMPLETE
        if not made.rows:  # another tuning was here
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(made.path, SUMMARY))
        try:
            _search(task, trials, made)
        except (Stopped, KeyboardInterrupt):
            ended = INTERRUPTED
            with interrupts_later():
                trials.flush()
        scenario = task.uncased(trials.best)
        found = _result(task, trials, made, scenario, ended)
        if ended != COMPLETE:
            return found
        if not trials.merit.sound:
            raise _nothing(made.path, trials.table)
        try:
            task = task.judged(trials.best)
            found = replace(found, conditions=tuple(one.text for one in task.conditions), why=task.why)
            return _validate(task, found, scenario, watch)
        except KeyboardInterrupt:
            return replace(found, status=INTERRUPTED)


def _spare_sources(task: Task, folder: str) -> None:
    """Refuse a folder whose tuned.yaml is a file that the scenario is read from."""
    tuned = os.path.realpath(os.path.join(folder, TUNED))
    for file in task.runs.files:
        if tuned in (os.path.realpath(source.path) for source in file.sources):
            expected, mend = "a folder whose tuned.yaml is no file that is read", "name another folder with -o"
            raise UsageError.of(folder, expected, "the scenario itself, or its robot", mend)


def _search(task: Task, trials: Trials, made: StudyFolder) -> None:
    """Carry out the stages, the first trial of each of which is the best so far."""
    tuning = task.tuning
    places = [*task.sought]
    for k, stage in enumerate(task.stages, 1):
        shares = trials.begin()[[places.index(place) for place in stage]]
        METHODS[tuning.method](StageCost(task, trials, k, stage), shares, tuning.trials, tuning.seed + k)
    trials.flush()
    if made.status != COMPLETE:
        made.finish()


@record
class StageCost:
    """What is to be small in a stage, by shares of the bounds of its numbers.

    Attributes:
        task: The tuning.
        trials: Its trials.
        stage: Number of the stage, from 1 on.
        places: What is sought in it.
    """

    task: Task
    trials: Trials
    stage: int
    places: tuple[str, ...]

    def __call__(self, shares: Array) -> Array:
        """The merits of trials; see `Trials`."""
        return self.trials(self.stage, self.places, shares)

    def slopes(self, shares: Array) -> tuple[Array, Array]:
        """The objective and the conditions at a trial, with derivatives by shares; see `armsim.tuning.search`."""
        (row,) = self.trials.numbers(self.places, shares[None, :])
        sought = self.task.sought
        by = [1.0, *(of.slope(x) for of, x in zip(sought.values(), row, strict=True))]
        kept = [0, *(1 + [*sought].index(place) for place in self.places)]
        values, excesses = self.task.slopes(row)
        return (values * by)[:, kept], (excesses * by)[:, kept]


def _result(task: Task, trials: Trials, made: StudyFolder, scenario: Scenario, status: str) -> TuningResult:
    """What the search has found."""
    tuning, control = task.tuning, scenario.file.document.control
    return TuningResult(
        folder=made.path,
        name=task.name,
        status=status,
        minimise=tuning.minimise,
        over=tuning.over,
        cases=len(task.cases),
        values=dict(trials.best),
        before=task.start,
        bounds=task.sought,
        merit=trials.merit,
        trials=trials.table,
        control=None if control is None else unusual(control),
        tried=test_in_words(task.test),
        notes=task.runs.notes(),
        simulated=task.runs.loop_s,
    )


def _nothing(folder: str, trials: Runs) -> UsageError:
    """The refusal where no trial is complete, and has a value."""
    if trials.complete.all():
        mend = "minimise something else, such as iae, or make runs longer"
        found = f"none in {trials.done} trials, whose runs are complete"
        return UsageError.of(folder, "a trial with a value of what is minimised", found, mend)
    ended = ", ".join(f"{count} {status}" for status, count in trials.tally.items())
    why = next((f" ({reason})" for reason in trials.reason if reason), "")
    mend = "bring the bounds nearer to what holds, start from such values, or take a shorter step"
    return UsageError.of(folder, "a trial whose runs are complete", f"{trials.done} trials: {ended}{why}", mend)


def _validate(task: Task, found: TuningResult, scenario: Scenario, watch: Watch) -> TuningResult:
    """Write the tuned scenario; test it, find out why cases do not hold, and how far numbers may be off."""
    tuning = task.tuning
    over = f", the {tuning.over} of {found.cases} cases" if found.cases > 1 else ""
    comment = COMMENT.format(name=found.name, minimise=tuning.minimise, objective=found.objective, over=over)
    write_tuned(found.folder, tuning.study.scenario, {**tuning.study.overrides, **found.values}, comment)
    if task.test is not None:
        test = _test(task, found, task.test, watch)
        notes = tuple(dict.fromkeys((*found.notes, *test.notes)))
        found = replace(found, test=test, holds=met(task.conditions, test), notes=notes)
    known = _known(found)
    if known is not None:
        return known
    causes: dict[str, int] = {}
    failing = np.flatnonzero(~found.holds)
    if task.test is not None and len(failing):
        study, rows = task.study(task.test, found.values), task.test.rows()[failing]
        causes = causes_of(study, scenario, rows, task.conditions, task.threads)
    study = task.study(tuning.study.design, found.values)
    right = outcome(StudyRuns(study, task.threads), task.cases, task.conditions)[0]
    kept = task.cases[right][:: max(1, -(-int(right.sum()) // MOST_MARGIN_CASES))]
    margins: list[Margin] = []
    if len(kept):
        margins = margins_of(task, scenario, found.values, kept, watch.margins)
    found = replace(found, causes=causes, held=int(right.sum()), margins=tuple(margins))
    text = yaml_text({**found.summary(), "causes": causes}, "What an armsim tuning came to.")
    with interrupts_later():
        write_whole(os.path.join(found.folder, SUMMARY), text)
    return found


def _test(task: Task, found: TuningResult, cases: Design, watch: Watch) -> Runs:
    """Run the test, a study of the scenario with what was found.

    Raises:
        KeyboardInterrupt: Ctrl-C came.
    """
    study = task.study(cases, found.values)
    measures = tuple(dict.fromkeys((task.tuning.minimise, *study.measure)))
    study = replace(study, measure=measures, name=TEST, expected=())
    folder = Destination(os.path.join(found.folder, TEST), force=True)
    done = run_study(study, folder, Workers(task.threads), StudyWatch(watch.test))
    if not done.whole:
        raise KeyboardInterrupt
    return done


def _known(found: TuningResult) -> TuningResult | None:
    """It with what summary.yaml says of the test's causes, of its own cases and of margins, if that is there, and sound."""
    try:
        data: Any = data_of(read_yaml(os.path.join(found.folder, SUMMARY))[0])
        return replace(
            found,
            causes={str(cause): int(count) for cause, count in data["causes"].items()},
            held=int(data["held"]),
            margins=tuple(Margin(**one) for one in data["margins"]),
        )
    except (FileFaults, LookupError, TypeError, ValueError, AttributeError):
        return None
