"""What `armsim simulate` prints about a run."""

from __future__ import annotations

import math
from typing import Any

from armsim.actuation import WORKS
from armsim.model import JOINT_TYPES
from armsim.reports.merit import figure_lines, figure_table, figures_in_degrees, problem_lines
from armsim.reports.table import Cell, fixed, force_unit, joint_unit, number, shown, table, wrapped
from armsim.spec.timing import seconds

IN_POSITIONS = ("not_followed", "unsettled")  # kinds of problems whose numbers are positions
STATUS = {"complete": "", "interrupted": " (interrupted)", "diverged": " (diverged)"}


def report(summary: dict[str, Any], degrees: bool, verbose: bool) -> str:
    """The summary of a run as text."""
    title = f"{summary['scenario']}: {summary['duration']:g} s of {summary['robot']}, {steps_by(summary)}"
    lines = [wrapped(title + STATUS[summary["status"]]), *method_notes(summary), *outcome(summary, degrees, verbose)]
    if verbose and summary["would_chatter"]:
        stops = ", ".join(f"{joint} up to {most:.3g} s" for joint, most in summary["would_chatter"].items())
        lines.append(
            wrapped(f"* with a stop engaged the step is stable: {stops}; {summary['dt']:g} s would chatter there")
        )
    times = summary["seconds"]
    lines.append(
        f"speed    {_speed(summary['steps_per_second'])} steps a second, {seconds(times['loop_s'])} in its loop"
    )
    if verbose:
        parts = ", ".join(f"{name[:-2]} {seconds(value)}" for name, value in times.items())
        lines.append(f"detail   {summary['algorithm']} forward dynamics, {summary['engine']} engine")
        lines.append(f"times    {parts}")
        lines += uncached()
    first, *others = summary["tables"]
    lines.append(f"written  {summary['folder']}: {first} ({summary['rows']} rows), {', '.join(others)}, run.yaml")
    return "\n".join(lines)


def outcome(summary: dict[str, Any], degrees: bool, verbose: bool) -> list[str]:
    """What came of a run: problems, joints, figures of merit, energies, error, measures and advice."""
    lines = []
    wrong = problem_lines(summary, degrees)
    lines += ["", *wrong] if wrong else []
    if "joints" in summary:
        lines += ["", _joint_table(summary["joints"], degrees, 10 if verbose else 5), *_notes(summary, degrees), ""]
        lines += figure_table(summary, degrees)[1:] if verbose else []
        x, y, z = (fixed(value, 6) for value in summary["tool"]["position"])
        lines.append(f"tool     x {x}  y {y}  z {z} m")
        lines += figure_lines(summary, degrees)
        lines += [*_energy_lines(summary, 6 if verbose else 3), *step_error_lines(summary)]
    else:
        lines.append("")
    measures = summary.get("measures", {})
    lines += [f"measure  {name}: {number(m['value'], 6)} {m['unit']}".rstrip() for name, m in measures.items()]
    lines += [wrapped(f"! {warning}") for warning in summary["advice"]]
    if summary["rows"] == 1 and summary["status"] == "complete":
        lines.append(wrapped("! one row was written, of the start: `log.every` is longer than the duration"))
    return lines


def uncached() -> list[str]:
    """Why kernels are not kept, if they are not."""
    from armsim.compile import cache

    why = cache.refusal()
    return [wrapped(f"! nothing is kept of what is compiled: {why}")] if why else []


def _energy_lines(summary: dict[str, Any], digits: int) -> list[str]:
    """The arm's energy, and its balance as in `work_lines`."""
    audit = summary["audit"]
    start, end = (number(sum(summary["energy"][when].values()), 6) for when in ("start", "end"))
    energy = f"energy   {start} J at the start, {end} J at the end: {_joules(audit['change'], digits)}"
    return [wrapped(energy), *work_lines(audit, digits)]


def work_lines(audit: dict[str, Any], digits: int) -> list[str]:
    """The work of each source and the residual of the energy balance; see `armsim.simulation.energy_balance`."""
    works = ", ".join(f"{of} {_joules(audit[of], digits)}" for of in WORKS if audit[of]) or "none"
    residual = f"{_joules(audit['residual'], digits)}, {share(audit['relative'])} of the energy exchanged"
    lines = [f"work     {works}", f"residual {residual}"]
    if audit["note"]:
        lines.append(f"! {audit['note']}")
    return [wrapped(line) for line in lines]


def step_error_lines(summary: dict[str, Any]) -> list[str]:
    """The estimated error by the step, and what a large one means; see `armsim.simulation.step_error`."""
    found = summary.get("step_error")
    if found is None:
        return [wrapped(f"error    not estimated: {summary['no_step_error']}")] if "no_step_error" in summary else []
    of = "the run" if found["whole"] else "parts of the run"
    least = found["at_least"]
    size = f"{'at least ' * least}{share(found['share'], tiny=least)} of the motion"
    if math.isinf(found["share"]):
        size = "without bound"
    lines = [f"error    {size}, by {of} repeated with {found['by']}"]
    if found["note"]:
        lines.append(f"! {found['note']}")
    return [wrapped(line) for line in lines]


def _joules(value: float, digits: int) -> str:
    return f"{value:+.{digits}g} J" if value else "0 J"


def share(part: float, tiny: bool = False) -> str:
    """A fraction in percent, to two digits; below 1e-6 % only as a bound, unless `tiny`."""
    percent = 100 * part
    if 0 < percent < 1e-6 and not tiny:
        return "less than 1e-6 %"
    if 0 < percent < 1e-3:
        digits, exponent = f"{percent:.1e}".split("e")
        return f"{digits}e{int(exponent)} %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"


def steps_by(summary: dict[str, Any]) -> str:
    """Steps and method, in words.

    Args:
        summary: method and steps; dt [s], or for an adaptive method duration [s], and refused and rtol under adaptive.
    """
    adaptive = summary.get("adaptive")
    if adaptive is None:
        return f"{summary['steps']} steps of {summary['dt']:g} s by {summary['method']}"
    taken = summary["steps"]
    refused = f" ({adaptive['refused']} refused)" if adaptive["refused"] else ""
    mean = f" of {summary['duration'] / taken:.3g} s on average" if taken else ""
    return f"{taken} steps{refused}{mean} by {summary['method']}, rtol {adaptive['rtol']:g}"


def method_notes(summary: dict[str, Any]) -> list[str]:
    """Why armsim picked the method, and whether dt keeps an adaptive method from longer steps."""
    notes = []
    if summary.get("picked"):
        notes.append(f"method   {summary['method']}, picked because {summary['picked']}")
    if summary.get("adaptive", {}).get("curbed"):
        notes.append(
            f"! it lands every {summary['dt']:g} s, more often than samples and forces need, and takes no longer steps: leave "
            "`integrator.dt` out"
        )
    return [wrapped(note) for note in notes]


def _speed(rate: float) -> str:
    return f"{rate / 1e6:.1f} million" if rate >= 1e6 else f"{rate:.0f}"


def in_degrees(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary with the angles of joints in degrees, for `--json --deg`."""
    types = {joint["name"]: joint["type"] for joint in summary.get("joints", ())}
    turned = dict(summary)
    if "joints" in summary:
        joints = [_turned(joint, joint["type"], ("q", "target", "error", "droop")) for joint in summary["joints"]]
        turned["joints"] = [figures_in_degrees(j) if JOINT_TYPES[j["type"]].turns else j for j in joints]
        turned["problems"] = [
            _turned(of, types[of["joint"]], ("rms", "travel", "error", "band")) if of["kind"] in IN_POSITIONS else of
            for of in summary.get("problems", ())
        ]
        if "ending" in summary:
            away = [_turned(x, types[x["joint"]], ("from", "to")) for x in summary["ending"]["departing"]]
            turned["ending"] = {**summary["ending"], "departing": away}
        turned["outside_limits"] = [_turned(o, types[o["joint"]], ("most",)) for o in summary["outside_limits"]]
    return turned


def _turned(entry: dict[str, Any], type: str, keys: tuple[str, ...]) -> dict[str, Any]:
    return {k: shown(v, type, True) if k in keys and v is not None else v for k, v in entry.items()}


def _joint_table(joints: list[dict[str, Any]], degrees: bool, digits: int) -> str:
    columns = {"final q": "q"}
    if "target" in joints[0]:
        columns |= {"target": "target", "error": "error"}
    if any(joint.get("droop") is not None for joint in joints):
        columns["droop*"] = "droop"
    powered = any(joint["peak_current"] is not None for joint in joints)
    rows = []
    for joint in joints:
        unit = joint_unit(joint["type"], degrees)
        row: list[Cell] = [joint["name"]]
        for key in columns.values():
            value = joint[key]
            few = digits if key in ("q", "target") else digits - 2
            row.append("-" if value is None else (number(shown(value, joint["type"], degrees), few), unit))
        row.append((number(joint["peak_torque"], digits), force_unit(joint["type"])))
        if powered:
            current = joint["peak_current"]
            row.append("-" if current is None else (number(current, digits), "A"))
        rows.append(row)
    return table(["joint", *columns, "peak torque", *(["peak current"] if powered else [])], rows)


def _notes(summary: dict[str, Any], degrees: bool) -> list[str]:
    notes = []
    if summary.get("moments"):
        notes.append(
            f"* peaks as seen at {summary['moments']} moments, one every {summary['duration'] / summary['moments']:g} s; "
            "between them they may be higher"
        )
    dry = [joint for joint in summary["joints"] if joint["at_rest"] is not None]
    if dry:
        still = [joint["name"] for joint in dry if joint["at_rest"]]
        held = "no joint" if not still else "all joints" if len(still) == len(summary["joints"]) else ", ".join(still)
        notes.append(f"* at the end friction holds {held} exactly at rest")
    if any(joint.get("droop") is not None for joint in summary["joints"]):
        gain = "Kp gear kp / Ra" if any(joint["peak_current"] is not None for joint in summary["joints"]) else "kp"
        notes.append(
            f"* the steady droop that gravity leaves under pd control: gravity torque / ({gain}); the integral of pi or pid "
            "takes it away"
        )
    types = {joint["name"]: joint["type"] for joint in summary["joints"]}
    ending = summary.get("ending", {"saturated": (), "departing": ()})
    told = [of["joint"] for of in summary.get("problems", ()) if of["kind"] == "limit"]
    untold = [joint for joint in ending["saturated"] if joint not in told]
    if untold:
        notes.append(f"! at the end a limit of its drive acts on {', '.join(untold)}")
    for away in ending["departing"]:
        type = types[away["joint"]]
        first, last = (number(shown(away[when], type, degrees), 3) for when in ("from", "to"))
        notes.append(
            f"! {away['joint']} moves away from its target: from {away['since']:g} s on its error grew from {first} to {last} "
            f"{joint_unit(type, degrees)}"
        )
    for outside in summary["outside_limits"]:
        type = types[outside["joint"]]
        act = "its stop pushed back" if outside["stop"] else "its limits have no stiffness, so nothing pushed back"
        notes.append(
            f"! {outside['joint']} was outside its range, first at {outside['since']:g} s, "
            f"by {number(shown(outside['most'], type, degrees), 3)} {joint_unit(type, degrees)} at most; {act}"
        )
    return [wrapped(note) for note in notes]
