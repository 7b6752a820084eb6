"""What `armsim compare` and `armsim replay` print about a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.reports.table import Row, joint_unit, shown, table, wrapped

if TYPE_CHECKING:
    from armsim.recording.comparison import Comparison, Difference
    from armsim.recording.follow import Followed

UNITS = {"voltage": "V", "current": "A", "torque": "N·m or N"}
FIRST = ("q", "qd")  # quantities that are always shown


def verdict(comparison: Comparison, converted: bool = False) -> str:
    """Whether two courses are equal, in one line; converted angles are not compared to the bit."""
    count, m = len(comparison.differences), len(comparison.t)
    numbers = f"{count} number{'' if count == 1 else 's'} at {m} instant{'' if m == 1 else 's'}"
    if comparison.equal:
        return f"equal{'' if converted else ' to the bit'}: {numbers}"
    judged = [d for d in comparison.differences if d.tolerance is not None]
    if comparison.began is not None:
        exact = all(d.tolerance == 0 for d in judged)
        return f"{'differs' if exact else 'differs by more than the tolerance'} from {comparison.began:.9g} s on"
    if judged:
        return f"within the tolerance: {len(judged)} of {numbers}"
    return "not judged: no tolerance was given"


def difference_table(comparison: Comparison, verbose: bool) -> str:
    """Final, RMS and largest difference of joint positions and velocities (all columns if verbose or there are none)."""
    shown = [d for d in comparison.differences if d.column.quantity in FIRST and d.column.of]
    if verbose or not shown:
        shown = list(comparison.differences)
    digits = 10 if verbose else 4
    tolerant = any(d.tolerance for d in comparison.differences)
    rows: list[Row] = []
    for d in shown:
        sizes = [small(x, digits) for x in (d.final, d.rms, d.largest)]
        began = "-" if d.began is None else f"{d.began:.6g} s"
        allowed = [] if not tolerant else ["-" if d.tolerance is None else small(d.tolerance)]
        rows.append([_name(d), *sizes, *allowed, began])
    headings = ["difference", "final", "rms", "largest", *(["tolerance"] if tolerant else []), "began"]
    lines = [table(headings, rows)]
    others = [d.column.quantity for d in comparison.differences if d.began is not None and d not in shown]
    if others:
        lines.append(f"also differing: {', '.join(dict.fromkeys(others))}\n(-v shows every column)")
    return "\n".join(lines)


def drift_table(followed: Followed, degrees: bool, digits: int = 4) -> str:
    """How far a model drifts from a log, per joint and horizon."""
    headings = ["joint"]
    for horizon in followed.horizons:
        span = f"all, {horizon.seconds:g} s" if horizon.whole else f"{horizon.seconds:g} s"
        headings += [span, "largest"]
    rows: list[Row] = []
    for i, joint in enumerate(followed.arm.joints):
        unit = joint_unit(joint.type, degrees)
        row: Row = [joint.name]
        for horizon in followed.horizons:
            drifts = (horizon.final[i], horizon.largest[i])
            row += [(small(shown(drift, joint.type, degrees), digits), unit) for drift in drifts]
        rows.append(row)
    return table(headings, rows)


def feedback_lines(followed: Followed, degrees: bool, digits: int = 4) -> list[str]:
    """How far a model drifts under a controller that sees a log's positions, and what of its commands was logged."""
    fed = followed.fed
    assert fed is not None
    names, unit = followed.arm.joint_names, UNITS[followed.log.output]
    off = ", ".join(f"{name} {small(x, 3)}" for name, x in zip(names, followed.off, strict=False))
    told = f"off the logged ones by {off} {unit} (rms)" if off else f"{fed.log.output}s, and the log has other inputs"
    lines = wrapped(f"feedback {fed.log.inputs_from}; its commands: {told}")
    return ["", lines, drift_table(fed, degrees, digits)]


def small(value: float, digits: int = 4) -> str:
    """A number to some significant digits, however small."""
    return "0" if value == 0 else f"{value:.{digits}g}"


def _name(d: Difference) -> str:
    if not d.column.of or d.column.quantity == "tool":
        return d.column.heading
    return f"{d.column.of} {d.column.quantity}" + (f" [{d.column.unit}]" if d.column.unit else "")
