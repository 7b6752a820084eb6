"""What is printed of a plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from armsim.clock import seconds
from armsim.reports.table import Report, ReportTable, Row, number, sections, wrapped

if TYPE_CHECKING:
    from armsim.planning.result import LimitMargin, MotionPlan, PlanSummary
    from armsim.planning.search import SearchIteration

NEAR = 0.999  # of a limit: it is reached
ENDED = {
    "unfinished": "the iterations ran out, or limits are passed between knots: this is the best so far",
    "interrupted": "interrupted: nothing is written",
}


def iteration(now: SearchIteration) -> str:
    """An iteration in a few words."""
    return f"cost {now.cost:.6g}, gaps {now.defect:.0e}, missed {now.missed:.0e}"


def of_plan(found: MotionPlan) -> Report:
    """A plan, as its summary has it."""
    return report(found.facts, None, False)


def report(facts: PlanSummary, folder: Path | None, verbose: bool) -> Report:
    """The cost, the limits that the motion reaches, and where it ends when it is simulated."""
    lines = [
        f"{facts.scenario}: {facts.time:.6g} s of {facts.robot}, {facts.minimise} = {number(facts.cost, 7)}",
        f"search   {facts.iterations} iterations of {seconds(facts.iteration_s)}, "
        f"{facts.intervals} intervals of constant {facts.output}",
    ]
    if facts.status in ENDED:
        lines.append(f"! {ENDED[facts.status]}")
    for one in facts.missed:
        lines.append(f"missed   {one.quantity} {one.of} by {number(one.by)} {one.unit} at {one.t_s:.4g} s")
    if facts.status == "infeasible":
        lines[0] = f"{facts.scenario}: no plan of {facts.time:.6g} s meets all conditions"
        stop = facts.obstruction
        if stop is not None:
            lines.append(
                f"because  {stop.quantity} of {stop.of} is limited to {number(stop.limit)} {stop.unit}, "
                f"which acts from {stop.from_s:.4g} s on"
            )
            lines.append("mend     widen that limit, take a longer `duration`, or another target")
        return [*map(wrapped, lines)]
    if facts.end_error is not None:
        lines.append(f"checked  by rodas at 1e-9: ends {number(facts.end_error, 2)} rad or m from the plan")
    shown = facts.margins if verbose else [one for one in facts.margins if _share(one) >= NEAR]
    written = f"written  {folder}: inputs.csv, gains.csv, play.yaml, plan.yaml, run/"
    limits = [_limits(shown)] if shown else []
    return sections(map(wrapped, lines), limits, [] if folder is None else [wrapped(written)])


def _share(one: LimitMargin) -> float:
    """How much of a limit is used, at most."""
    if one.lower is not None and one.upper is not None:
        middle = (one.lower + one.upper) / 2
        return max(one.greatest - middle, middle - one.least) / (one.upper - middle)
    if one.upper is not None:
        return one.greatest / one.upper
    return 1.0 if one.lower is not None and one.least <= one.lower + (1.0 - NEAR) else 0.0


def _limits(shown: list[LimitMargin] | tuple[LimitMargin, ...]) -> ReportTable:
    rows: list[Row] = [
        [
            f"{one.quantity} {one.of}",
            *(("-" if x is None else number(x), one.unit) for x in (one.lower, one.least, one.greatest, one.upper)),
        ]
        for one in shown
    ]
    return ReportTable(["limit", "lower", "least", "greatest", "upper"], rows)
