"""What is printed of a tuning."""

from __future__ import annotations

from typing import Any

import numpy as np

from armsim.batches.runs import COMPLETE
from armsim.clock import seconds
from armsim.document.base import written
from armsim.files.study_folder import TUNED
from armsim.files.yaml_writer import block
from armsim.formulas.quantity import plain_number
from armsim.notebook import counted
from armsim.reports.table import Report, ReportTable, number, sections, wrapped
from armsim.tuning.causes import CONTROL, SAMPLING, STEP, UNKNOWN
from armsim.tuning.margins import DELAY, FACTOR, MASS, Margin
from armsim.tuning.result import TuningResult
from armsim.tuning.validation import split_of

WHY = {
    STEP: "the step: they hold with a tenth of it",
    SAMPLING: "sampling: they hold with ten times the samples",
    CONTROL: "control: law, gains, limits of the drives",
    UNKNOWN: "unknown: finer steps or samples are refused",
}


def report(found: TuningResult) -> Report:
    """What was found, and where it holds."""
    over = f", the {found.over} of {found.cases} cases" if found.cases > 1 else ""
    whose = "at the start" if found.outside else "with the file's values"
    first = f"; {number(found.first.objective)} {whose}" if found.first is not None and found.first.sound else ""
    lines = [f"{found.name}: {found.minimise} {number(found.objective)}{over}{first}", *_trials(found)]
    if found.status != COMPLETE:
        lines.append("interrupted: this is the best so far; the same command continues")
        return [*map(wrapped, lines)]
    lines += [f"! {note}" for note in _doubts(found)]
    lines += [f"notes    {note}" for note in found.notes]
    lines += _where(found)
    also = ", test/" if found.test is not None else ""
    written = f"written  {found.folder}: tuned.yaml, results.csv (the trials), study.yaml, summary.yaml{also}"
    return sections(map(wrapped, lines), [_numbers(found)], _others(found), _control(found), [written])


def _trials(found: TuningResult) -> list[str]:
    bad = [f"{count} {status}" for status, count in found.trials.tally.items() if status != COMPLETE]
    bad += [f"{found.unmet} complete, but against conditions"] if found.unmet else []
    valueless = found.trials.complete & ~np.isfinite(found.trials["objective"])
    bad += [f"{valueless.sum()} without a value of {found.minimise}"] if valueless.any() else []
    ended = "; of these " + ", ".join(bad) if bad else ", all complete"
    took = f"; {seconds(found.simulated)} in the loop of their runs" if found.simulated else ""
    return [f"trials   {found.trials.done}{ended}{took}"]


def _doubts(found: TuningResult) -> list[str]:
    """What is to be known before the numbers are used."""
    notes = []
    if found.merit.violation:
        notes.append("no trial meets all conditions; this one misses them least")
    for path in found.outside:
        mend = "is outside its bounds: the search began at the nearest bound"
        notes.append(f"{path} is {number(found.before[path])} in the file, which {mend}")
    for path, end, bound in found.at_bounds:
        notes.append(f"{path} is at its {end} bound, {plain_number(bound)}: a value beyond it may be better")
    return notes


def _where(found: TuningResult) -> list[str]:
    """Where it holds, and why not elsewhere."""
    said = " and ".join(found.conditions) if found.conditions else "the run comes to its end"
    because = f" ({found.why})" if found.why else ""
    lines = [
        f"holds    means: {said}{because}",
        f"         {found.held} of {counted(found.cases, 'case')} it was tuned at",
    ]
    if found.test is None:
        return [*lines, "         no test on other cases: name some with --test"]
    lines.append(
        f"         {int(found.holds.sum())} of {counted(len(found.holds), 'case')} it was not tuned at: {found.tried}"
    )
    ends = {name: found.test.tally.get(name, 0) for name in ("diverged", "refused")}
    failed = ", ".join(f"{count} {name}" for name, count in ends.items() if count)
    lines += [f"         of the others {failed}"] if failed else []
    split = split_of(found.test, found.holds)
    if split is not None:
        (a, below), (b, above) = split.below, split.above
        lines.append(f"where    {split.path} < {number(split.at, 3)}: {a} of {below}; above: {b} of {above}")
    if found.causes:
        tried = sum(found.causes.values())
        lines.append(f"why      of {counted(tried, 'case')} that do not hold:")
        lines += [f"         {count} by {WHY[cause]}" for cause, count in found.causes.items() if count]
    return lines


def _numbers(found: TuningResult) -> ReportTable:
    """The numbers as a table, with their margins."""
    margins = {margin.name: margin for margin in found.margins}
    rows = [
        [path, number(found.before[path]), number(value), _range(margins.get(path))]
        for path, value in found.values.items()
    ]
    return ReportTable(["number", "before", "tuned", "holds with times"], rows)


def _range(margin: Margin | None) -> str:
    if margin is None:
        return "-"
    low = f"{'<' if margin.open_low else ''}{number(margin.low, 3)}"
    return f"{low} to {'>' if margin.open_high else ''}{number(margin.high, 3)}"


def _others(found: TuningResult) -> Report:
    """The margins of what was not sought."""
    if not found.margins:
        return [wrapped("no margins: none of the cases it was tuned at holds")]
    rows = []
    for margin in found.margins:
        if margin.name in found.values:
            continue
        if margin.unit == FACTOR:
            rows.append([margin.name.removeprefix("robot."), f"times {_range(margin)}"])
        else:
            what, unit = ("more payload", "kg") if margin.unit == MASS else ("more delay", "s")
            rows.append([what, f"up to {'>' if margin.open_high else ''}{number(margin.high, 3)} {unit}"])
    asked = any(margin.unit == DELAY for margin in found.margins)
    note = "no margin of delay: `control` has no `period`, or cases have delays of their own"
    return [ReportTable(["it also holds with", ""], rows), *([] if asked else [note])]


def _control(found: TuningResult) -> Report:
    """The `control` block of a scenario, with as many digits of what was found as the table has."""
    sought = {*found.values.values()}

    def shown(data: Any) -> Any:
        if isinstance(data, dict):
            return {key: shown(value) for key, value in data.items()}
        if isinstance(data, list):
            return [shown(value) for value in data]
        return float(number(data)) if data in sought else data

    control = shown(written(found.control or {}))
    return [f"# {TUNED} has all digits", block("control", control)] if control else []
