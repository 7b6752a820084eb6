"""What `armsim record` prints."""

from __future__ import annotations

from armsim.clock import seconds
from armsim.notebook import counted
from armsim.recording.recording import Recording
from armsim.reports.simulation import STATUS, method_notes, steps_by, work_lines
from armsim.reports.table import Report, wrapped
from armsim.reports.written_run import uncached


def report(recording: Recording, verbose: bool = False) -> Report:
    """A recording in lines."""
    summary, inputs = recording.facts, recording.inputs.shape[1]
    what = counted(inputs, summary.output) if inputs else "no inputs"
    title = f"{summary.scenario}: {summary.duration:g} s of {summary.robot}, {steps_by(summary)}"
    lines: Report = [
        title + STATUS[summary.status],
        *method_notes(summary),
        f"samples  {summary.samples}, each with {len(summary.slots)} numbers of state and {what}",
    ]
    if summary.audit is not None:
        lines += work_lines(summary.audit, 6 if verbose else 3)
    lines += [wrapped(f"! {warning}") for warning in summary.advice]
    if verbose:
        lines.append(f"state    {', '.join(summary.slots)}")
        lines.append(f"detail   {summary.algorithm} forward dynamics; {seconds(summary.seconds)} in all")
        lines += uncached()
    return lines
