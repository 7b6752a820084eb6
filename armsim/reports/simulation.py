"""What `armsim simulate` prints about a run."""

from __future__ import annotations

import math

from armsim.clock import seconds
from armsim.model.angles import in_unit
from armsim.notebook import percent
from armsim.records import as_plain
from armsim.reports.merit import figure_lines, figure_table, problem_lines
from armsim.reports.table import Report, ReportTable, Row, fixed, force_unit, joint_unit, measured, number, wrapped
from armsim.simulation.energy_balance import EnergyBalance, joules
from armsim.simulation.joint_summary import JointSummary
from armsim.simulation.known_run import WrittenRun
from armsim.simulation.problems import LongAtLimit
from armsim.simulation.run import Run
from armsim.simulation.solve_times import SolveTimes
from armsim.simulation.summary import ContactSummary, EndState, RunSummary, Summary

STATUS = {"complete": "", "interrupted": " (interrupted)", "diverged": " (diverged)"}


def written_run(
    summary: RunSummary, folder: object, tables: list[str], degrees: bool = False, verbose: bool = False
) -> WrittenRun:
    """A run that was written, as it is told.

    Args:
        summary: Of the run.
        folder: Where it is.
        tables: Names of its tables.
        degrees: Whether angles are shown in degrees.
        verbose: Whether all is told.
    """
    lines = [*map(str, account(summary, summary.duration, degrees, verbose))]
    return WrittenRun(str(folder), as_plain(in_unit(summary, summary.joints, degrees)), lines, tables)


def of_run(run: Run) -> Report:
    """What came of a run."""
    return account(run.facts, run.facts.duration, False, False)


def account(summary: RunSummary, duration: float, degrees: bool, verbose: bool) -> Report:
    """A run of some duration [s] in lines: what was run, and what came of it."""
    title = f"{summary.scenario}: {duration:g} s of {summary.robot}, {steps_by(summary)}{STATUS[summary.status]}"
    return [wrapped(title), *method_notes(summary), *outcome(summary, degrees, verbose)]


def outcome(summary: RunSummary, degrees: bool, verbose: bool) -> Report:
    """What came of a run: problems, joints, figures of merit, energies, error, measures and advice."""
    lines: Report = []
    end = in_unit(summary.end, summary.joints, degrees)
    advised = [wrapped(f"! {warning}") for warning in summary.advice]
    if end is not None:
        wrong = [*problem_lines(end, degrees), *_wrong_at_end(end, degrees), *advised]
        lines += ["", *wrong] if wrong else []
        notes = [*_moment_notes(summary), *_notes(end)]
        lines += ["", _joint_table(end.joints, degrees, 10 if verbose else 5), *notes, ""]
        lines += figure_table(end.joints, end.figures, degrees) if verbose and end.figures else []
        x, y, z = (fixed(value, 6) for value in end.tool.position)
        lines.append(f"tool     x {x}  y {y}  z {z} m")
        lines += figure_lines(end.joints, end.figures, degrees) if end.figures else []
        lines += [wrapped(_contact_line(of)) for of in end.contacts or ()]
        lines += [*_energy_lines(end, 6 if verbose else 3), *step_error_lines(summary)]
    else:
        lines += ["", *advised]
    lines += [wrapped(_plan_line(summary.plans))] if summary.plans else []
    measures = summary.measures or {}
    lines += [f"measure  {name}: {number(m.value, 6)} {m.unit}".rstrip() for name, m in measures.items()]
    if summary.rows == 1 and summary.status == "complete":
        lines.append(wrapped("! one row was written, of the start: `log.every` is longer than the duration"))
    return lines


def _plan_line(of: SolveTimes) -> str:
    """How long plans took, and how many of them too long."""
    times = (
        f"{seconds(of.median)} each (median), 99 % within {seconds(of.percentile_99)}, {seconds(of.greatest)} at most"
    )
    made = f"of {of.samples} on this machine"
    line = f"plans    {times}, {made}; {of.missed} over the budget of {seconds(of.budget)}"
    share = f"{of.missed / of.samples:.2g}"
    return line + (f": `control.misses: {{share: {share}}}` shows what that does" if of.missed else "")


def _contact_line(of: ContactSummary) -> str:
    """When it touched, and its normal force; of rows."""
    if of.touched is None:
        return f"contact  {of.name} touched in no row"
    most = f"{number(of.most, 3)} N at most, at {of.at:g} s"
    return f"contact  {of.name} touched at {of.touched:g} s: {most}; {number(of.end, 3)} N at the end"


def _energy_lines(reached: EndState, digits: int) -> list[str]:
    """The arm's energy, and its balance as in `work_lines`."""
    start, end = (number(energy.total, 6) for energy in (reached.energy.start, reached.energy.end))
    energy = f"energy   {start} J at the start, {end} J at the end: {joules(reached.audit.change, digits)}"
    return [wrapped(energy), *work_lines(reached.audit, digits)]


def work_lines(audit: EnergyBalance, digits: int) -> list[str]:
    """The work of each source and the residual of the energy balance; see `armsim.simulation.energy_balance`."""
    works = ", ".join(f"{of} {joules(work, digits)}" for of, work in audit.works.items() if work) or "none"
    lines = [f"work     {works}", f"residual {audit.unexplained(digits)}"]
    if audit.note:
        lines.append(f"! {audit.note}")
    return [wrapped(line) for line in lines]


def step_error_lines(summary: RunSummary) -> list[str]:
    """The estimated error by the step, and what a large one means; see `armsim.simulation.step_error`."""
    if summary.step_error is None:
        return [wrapped(f"error    not estimated: {summary.no_step_error}")] if summary.no_step_error else []
    found, note = summary.step_error.estimate, summary.step_error.note
    of = "the run" if found.whole else "parts of the run"
    size = f"{'at least ' * found.at_least}{percent(found.share, tiny=found.at_least)} of the motion"
    if math.isinf(found.share):
        size = "without bound"
    lines = [f"error    {size}, by {of} repeated with {found.by}"]
    if note:
        lines.append(f"! {note}")
    return [wrapped(line) for line in lines]


def steps_by(summary: Summary) -> str:
    """Steps and method, in words."""
    taken, adaptive = summary.counts.steps, summary.counts.adaptive
    if adaptive is None:
        return f"{taken} steps of {summary.dt:g} s by {summary.method}"
    refused = f" ({adaptive.refused} refused)" if adaptive.refused else ""
    mean = f" of {summary.duration / taken:.3g} s on average" if taken else ""
    return f"{taken} steps{refused}{mean} by {summary.method}, rtol {adaptive.rtol:g}"


def method_notes(summary: Summary) -> list[str]:
    """Why armsim picked the method, and whether dt keeps an adaptive method from longer steps."""
    notes = []
    if summary.picked:
        notes.append(f"method   {summary.method}, picked because {summary.picked}")
    if summary.counts.adaptive is not None and summary.counts.adaptive.curbed:
        notes.append(
            f"! it lands every {summary.dt:g} s, more often than samples and forces need, and takes no longer steps: leave "
            "`integrator.dt` out"
        )
    return [wrapped(note) for note in notes]


def _joint_table(joints: list[JointSummary], degrees: bool, digits: int) -> ReportTable:
    columns = {"final q": "q"}
    if joints[0].target is not None:
        columns |= {"target": "target", "error": "error"}
    if any(joint.droop is not None for joint in joints):
        columns["droop*"] = "droop"
    powered = any(joint.peak_current is not None for joint in joints)
    rows = []
    for joint in joints:
        unit = joint_unit(joint.type, degrees)
        row: Row = [joint.name]
        for key in columns.values():
            value = getattr(joint, key)
            few = digits if key in ("q", "target") else digits - 2
            row.append(measured(value, unit, few))
        row.append(measured(joint.peak_torque, force_unit(joint.type), digits))
        if powered:
            current = joint.peak_current
            row.append(measured(current, "A", digits))
        rows.append(row)
    return ReportTable(["joint", *columns, "peak torque", *(["peak current"] if powered else [])], rows)


def _moment_notes(summary: RunSummary) -> list[str]:
    if not summary.moments:
        return []
    every = f"one every {summary.duration / summary.moments:g} s"
    return [wrapped(f"* peaks are those of {summary.moments} moments, {every}; true peaks may be higher")]


def _notes(end: EndState) -> list[str]:
    notes = []
    dry = [joint for joint in end.joints if joint.at_rest is not None]
    if dry:
        still = [joint.name for joint in dry if joint.at_rest]
        held = "no joint" if not still else "all joints" if len(still) == len(end.joints) else ", ".join(still)
        notes.append(f"* at the end friction holds {held} exactly at rest")
    if any(joint.droop is not None for joint in end.joints):
        gain = "Kp gear kp / Ra" if any(joint.peak_current is not None for joint in end.joints) else "kp"
        notes.append(
            f"* the steady droop that gravity leaves under pd control: gravity torque / ({gain}); the integral of pi or pid "
            "takes it away"
        )
    return [wrapped(note) for note in notes]


def _wrong_at_end(end: EndState, degrees: bool) -> list[str]:
    """Limits, motions away from targets and beyond ranges that are no `problems`."""
    notes = []
    units = {joint.name: joint_unit(joint.type, degrees) for joint in end.joints}
    if end.ending is not None:
        told = [of.joint for of in end.problems or () if isinstance(of, LongAtLimit)]
        untold = [joint for joint in end.ending.saturated if joint not in told]
        if untold:
            notes.append(f"! {', '.join(untold)} at a limit of the drive at the end")
        for away in end.ending.departing:
            notes.append(
                f"! {away.joint} moves away from its target: from {away.since:g} s on its error grew from "
                f"{number(away.from_, 3)} to {number(away.to, 3)} {units[away.joint]}"
            )
    for outside in end.outside_limits:
        act = "its stop pushed back" if outside.stop else "its limits have no stiffness, so nothing pushed back"
        notes.append(
            f"! {outside.joint} was outside its range, first at {outside.since:g} s, "
            f"by {number(outside.most, 3)} {units[outside.joint]} at most; {act}"
        )
    return [wrapped(note) for note in notes]
