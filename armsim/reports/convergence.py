"""What `armsim converge` prints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from armsim.reports.comparison import small
from armsim.reports.table import Cell, Report, ReportTable, Row, wrapped

if TYPE_CHECKING:
    from armsim.convergence.errors import Convergence, MethodConvergence


def report(found: Convergence, verbose: bool = False) -> Report:
    """The runs of one method with what follows from them; of several methods, what an accuracy costs with each."""
    title = f"{found.scenario}: {found.duration:g} s of {found.robot}, joint positions at {found.instants} instants"
    lines: Report = [wrapped(title), ""]
    if len(found.methods) == 1:
        (only,) = found.methods
        return [*lines, *_of_method(only, found, verbose)]
    lines += [f"what {found.accuracy:g} {found.unit} takes", "", *_costs(found), "", *_against(found)]
    for method in found.methods:
        lines += [wrapped(f"! {method.method}: {note}") for note in _notes(method, found)]
    if verbose:
        for method in found.methods:
            lines += ["", method.method, *_of_method(method, found, verbose)]
    return lines


def setting(knob: str, value: float) -> str:
    """A setting with its unit, not rounded: a rounded dt would not divide the scenario's times."""
    return f"{value!r} s" if knob == "dt" else repr(value)


def seconds(value: float) -> Cell:
    """A wall time as a cell of a table."""
    return (f"{value:.3g}", "s") if value >= 0.9995 else (f"{1e3 * value:.3g}", "ms")


def _of_method(method: MethodConvergence, found: Convergence, verbose: bool) -> Report:
    runs = [*_trials(method, found.unit, verbose), ""] if method.settings else []
    return [*runs, *_follows(method, found)]


def _trials(method: MethodConvergence, unit: str, verbose: bool) -> Report:
    digits = 6 if verbose else 3
    rows: list[Row] = []
    for s in method.settings:
        mark = " *" if s.value == method.own else ""
        error: Cell = "unstable" if s.diverged else "-" if s.error is None else (small(s.error, digits), unit)
        order = "-" if s.order is None else f"{s.order:.4f}" if verbose else f"{s.order:.2f}"
        time = "-" if s.diverged else seconds(s.seconds)
        rows.append([f"{setting(method.knob, s.value)}{mark}", str(s.steps), error, order, time])
    legend = [f"* the scenario's own {method.knob}"] if method.at_own is not None else []
    return [ReportTable([method.knob, "steps", "error", _power(method), "loop time"], rows), *legend]


def _power(method: MethodConvergence) -> str:
    """The name of the exponent with which the errors fall: the order, if the setting is dt."""
    return "order" if method.knob == "dt" else "power"


def _follows(method: MethodConvergence, found: Convergence) -> list[str]:
    """Order, error of the scenario's own setting, cheapest setting, and notes."""
    lines = []
    if method.order is not None:
        what = f"of {method.method}" if method.knob == "dt" else f"of {method.knob}, with which the error falls"
        lines.append(f"{_power(method):<9} {method.order:.2f} {what}")
    own, best = method.at_own, method.cheapest(found.accuracy)
    if own is not None and own.error is not None and method.verdict != "sensitive":
        where = "" if own.joint is None else f", in {own.joint}"
        is_off = f"is off by {small(own.error, 3)} {found.unit} at most{where}"
        lines.append(f"its own   {method.knob} = {setting(method.knob, own.value)} {is_off}")
    if best is not None:
        time = " ".join(seconds(best.seconds))
        value = setting(method.knob, best.value)
        lines.append(
            f"cheapest  {method.knob} = {value} for {found.accuracy:g} {found.unit}: {best.steps} steps, {time}"
        )
    if len(found.methods) == 1:
        lines += _against(found)
    return [*lines, *(wrapped(f"! {note}") for note in _notes(method, found))]


def _against(found: Convergence) -> list[str]:
    """What errors are held against, and how far that is known; nothing where there is no reference."""
    doubt = next((method.doubt for method in found.methods if method.doubt is not None), None)
    return [] if doubt is None else [wrapped(f"against   {found.source}, known to {small(doubt, 2)} {found.unit}")]


def _notes(method: MethodConvergence, found: Convergence) -> list[str]:
    """Why there is no answer, or a doubtful one."""
    accuracy = f"{found.accuracy:g} {found.unit}"
    notes = []
    if method.verdict == "unstable":
        notes.append(
            "every run diverges, and at the same time whatever the step: it is the motion that grows, not the step; see what "
            "`armsim simulate` says of it"
        )
    if method.verdict == "sensitive" and method.sensitivity is not None:
        rate = method.sensitivity.rate
        notes.append(
            f"no step will do for {found.duration:g} s: motions that begin close together part {_grown(rate)} a second (by "
            f"exp({rate:.3g} t)), as in chaos, or from an unstable balance; rounding alone grows to {accuracy} by about "
            f"t = {method.sensitivity.horizon(found.accuracy):.2g} s"
        )
        if method.good_until:
            notes.append(f"the finest step's answer is good to {accuracy} until t = {method.good_until:.3g} s")
    if method.verdict == "rounding" and method.cheapest(found.accuracy) is None:
        notes.append(
            f"rounding hides what is below {small(_floor(method), 2)} {found.unit}: smaller steps get no closer"
        )
    if method.verdict == "unknown":
        if method.doubt is None:
            told = "forces jump or bend within steps, and too few adaptive runs that locate where end in time"
        elif method.doubt > 0.1 * found.accuracy:
            told = f"answers that should agree differ by {small(method.doubt, 2)} {found.unit}"
        else:
            told = "they converge to another answer than adaptive runs, which locate events"
        notes.append(
            f"cannot know whether any step is within {accuracy}: {told}; allow more --budget, ask for less, or --set a "
            "shorter duration"
        )
    if method.verdict in ("budget", "interrupted"):
        why = f"not settled within {found.budget:g} s of runs (--budget)"
        if method.verdict == "interrupted":
            why = "interrupted"
        expected = method.expected(found.accuracy)
        more = ""
        if expected is not None:
            took = " ".join(seconds(expected[1]))
            more = f"; {accuracy} would take about {method.knob} = {setting(method.knob, expected[0])}, {took} of loop time"
        elif method.settings and all(s.diverged for s in method.settings):
            more = ": every step that was tried is unstable"
        elif sum(not s.diverged for s in method.settings) < 3:
            more = "; errors show from three runs on: allow more time, or --set a shorter duration"
        notes.append(why + more)
    if method.falls_short:
        why = "; ".join(method.losses) or "these errors do not show it, and nothing here is known to take it away"
        notes.append(f"short of order {method.nominal}, which it has on smooth motions: {why}")
    return notes


def _costs(found: Convergence) -> Report:
    rows: list[Row] = []
    for method in found.methods:
        own, best = method.at_own, method.cheapest(found.accuracy)
        order = "-" if method.order is None else f"{method.order:.2f}{'' if method.knob == 'dt' else ' *'}"
        error: Cell = "-"
        if own is not None:
            error = "unstable" if own.diverged else "-" if own.error is None else (small(own.error, 3), found.unit)
        row: Row = [method.method, order, error]
        if best is None:
            row += ["-", "-", "-"]
        else:
            value = setting(method.knob, best.value)
            row += [value if method.knob == "dt" else f"rtol {value}", str(best.steps), seconds(best.seconds)]
        rows.append(row)
    own_value = found.methods[0].own
    heading = "own error" if own_value is None else f"at {setting(found.methods[0].knob, own_value)}"
    tolerant = any(method.knob != "dt" and method.order is not None for method in found.methods)
    legend = ["* the power of rtol with which the error falls"] if tolerant else []
    return [ReportTable(["method", "order", heading, "cheapest", "steps", "loop time"], rows), *legend]


def _grown(rate: float) -> str:
    """A growth of exp(rate) per second as a factor."""
    factor = math.exp(rate)
    return f"{factor:.0f}-fold" if factor >= 10.0 else f"{factor:.2g}-fold"


def _floor(method: MethodConvergence) -> float:
    return max((s.error for s in method.settings[-2:] if s.error is not None), default=0.0)
