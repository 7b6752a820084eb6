"""What `armsim compare` and `armsim replay` print about a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from armsim.model import Joint
from armsim.model.angles import in_unit
from armsim.reports.table import Cell, Report, ReportTable, Row, wrapped

if TYPE_CHECKING:
    from armsim.recording.compare import ComparedSeries
    from armsim.recording.comparison import Comparison, Difference
    from armsim.recording.follow import Followed
    from armsim.recording.replay import Replay

UNITS = {"voltage": "V", "current": "A", "torque": "N·m or N"}
FIRST = ("q", "qd")  # quantities that are always shown


def compared_series(result: ComparedSeries, verbose: bool = False) -> Report:
    """What `armsim compare` prints."""
    a, b, comparison = result.a, result.b, result.comparison
    how = ", interpolated at the times of the first" if result.interpolated else ""
    lines: Report = [f"{b} against {a}: {len(comparison.t)} instants to {comparison.t[-1]:g} s{how}"]
    if result.converted:
        lines.append(wrapped(_conversion(b, result.converted)))
    lines += [wrapped(f"* {note}") for note in result.notes]
    lines += _judged(comparison, verbose, bool(result.converted))
    for name, only in ((a, result.only_a), (b, result.only_b)):
        if only:
            more = f", and {len(only) - 6} more" if len(only) > 6 else ""
            lines.append(f"only in {name}: {', '.join(only[:6])}{more}")
    return lines


def replayed(result: Replay, name: str = "", verbose: bool = False) -> Report:
    """What `armsim replay` prints of a recording, by the name of its scenario unless another is given."""
    samples = f"{len(result.recording.t)} samples over {result.recording.t[-1]:g} s"
    return [
        f"{name or result.scenario.name}: {samples}, replayed on {result.model}",
        *_judged(result.comparison, verbose),
    ]


def followed(result: Followed, degrees: bool = False, verbose: bool = False) -> Report:
    """What `armsim replay` prints of a log."""
    digits = 10 if verbose else 3
    lines: Report = [
        f"{result.log.name}: {len(result.log.t)} rows over {result.horizons[-1].seconds:g} s",
        f"model    {result.model}",
        wrapped(f"inputs   {result.log.inputs_told}"),
        f"qd       {result.log.velocities_from}",
        *(wrapped(f"* {note}") for note in result.log.notes),
        "",
        drift_table(result, degrees, digits),
        *(feedback_lines(result, degrees, digits) if result.fed is not None else []),
        "",
        "How far q drifts in so long, restarted from the log each time:",
        "root mean square at the ends, and the largest in between.",
    ]
    if result.judged:
        lines += ["", result.comparison.verdict()]
    if result.judged or verbose:
        lines += ["", *difference_table(result.comparison, verbose)]
    return lines


def _conversion(b: str, converted: Sequence[str]) -> str:
    """What was converted, in words."""
    of, to = ("degrees", "radians") if "_deg" in converted[0][-7:] else ("radians", "degrees")
    count = len(converted)
    what = f"{count} columns" if count > 1 else converted[0]
    return f"{what} of {b} taken from {of} to {to}; what differs by the rounding of that alone counts as equal"


def _judged(comparison: Comparison, verbose: bool, converted: bool = False) -> Report:
    """The verdict, and a table unless all is equal."""
    table = [] if comparison.equal else ["", *difference_table(comparison, verbose)]
    return [comparison.verdict(converted), *table]


def difference_table(comparison: Comparison, verbose: bool) -> Report:
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
    lines: Report = [ReportTable(headings, rows)]
    others = [d.column.quantity for d in comparison.differences if d.began is not None and d not in shown]
    if others:
        lines.append(f"also differing: {', '.join(dict.fromkeys(others))}\n(-v shows every column)")
    return lines


def drift_table(followed: Followed, degrees: bool, digits: int = 4) -> ReportTable:
    """How far a model drifts from a log, per joint and horizon."""
    joints = followed.arm.joints
    headings = ["joint"]
    columns: list[list[Cell]] = [[joint.name for joint in joints]]
    for horizon in in_unit(followed.horizons, joints, degrees):
        span = f"all, {horizon.seconds:g} s" if horizon.whole else f"{horizon.seconds:g} s"
        headings += [span, "largest"]
        columns += [drift_cells(joints, drifts, degrees, digits) for drifts in (horizon.final, horizon.largest)]
    return ReportTable(headings, [*zip(*columns, strict=True)])


def drift_cells(joints: Sequence[Joint], drifts: Sequence[float], degrees: bool, digits: int) -> list[Cell]:
    """A column of drifts of joints, in the unit that is shown."""
    return [(small(x, digits), joint.kind.unit(degrees)) for joint, x in zip(joints, drifts, strict=True)]


def feedback_lines(followed: Followed, degrees: bool, digits: int = 4) -> Report:
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
