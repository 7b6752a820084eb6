"""What `armsim identify` prints."""

from __future__ import annotations

from collections.abc import Sequence

from armsim.identification.estimate import Estimate, label, named
from armsim.identification.identification import Identification
from armsim.model.angles import in_unit
from armsim.recording.follow import Horizon
from armsim.reports.comparison import drift_cells, small
from armsim.reports.table import Report, ReportTable, Row, measured, number, wrapped

MOST_CLOSE = 5  # pairs that are told


def report(found: Identification, degrees: bool = False, verbose: bool = False) -> Report:
    """An identification as text."""
    rows = sum(len(log.t) for log in found.logs)
    seconds = sum(float(log.t[-1] - log.t[0]) for log in found.logs)
    names = ", ".join(log.name for log in found.logs)
    digits, joints = 10 if verbose else 5, found.arm.joints
    units = [joint.kind.unit(degrees) for joint in joints]
    return [
        f"{names}: {rows} rows over {seconds:.6g} s",
        wrapped(f"model    {found.arm.name} by {found.method}, steps of {found.dt:g} s"),
        wrapped(f"inputs   {found.logs[0].inputs_told}"),
        f"fitted   {found.windows} windows of {found.window:.3g} s in {found.steps} steps",
        *(wrapped(f"* {note}") for log in found.logs for note in log.notes),
        "",
        ReportTable(["", "file", "found", "± (95 %)"], [_row(one, digits) for one in found.estimates]),
        "",
        *(wrapped(f"* {note}") for note in notes(found)),
        ReportTable(
            ["left over", "rms", "slow part", "sensor's noise", "resolution"],
            [
                [left.joint, *((small(x), unit) for x in (left.rms, left.slow, left.noise, left.quantum))]
                for left, unit in zip(in_unit(found.residuals, joints, degrees), units, strict=True)
            ],
        ),
        "",
        *_drifts(found, degrees),
        "",
        wrapped(f"{'ok' if found.explained else '!'}  {found.verdict}"),
    ]


def notes(found: Identification) -> list[str]:
    """What the logs cannot see, hardly tell apart or do not explain, and what lies at a bound, in words."""
    known = {one.path: one for one in found.estimates}
    told = []
    for direction in found.unseen:
        group = [*direction.factors]
        motions = "; ".join(dict.fromkeys(known[path].motion for path in group))
        if len(group) == 1:
            told.append(f"{named(group)} cannot be seen in this log, and stays as the file has it: {motions}")
        else:
            what = f"{named(group)} cannot be told apart by this log, which shows combinations of them alone"
            told.append(f"{what}; what is missing is as the file has it: {motions}, or write down one of them")
    for first, second, correlation in found.close[:MOST_CLOSE]:
        motions = "; ".join(dict.fromkeys([known[first].motion, known[second].motion]))
        told.append(
            f"{label(first)} and {label(second)} can hardly be told apart (correlation {correlation:.3f}): {motions}"
        )
    if not (found.explained or any(log.commands.lines for log in found.logs)):
        told.append("where commands change between rows, as those of a continuous controller do, add --interpolate")
    links = found.links
    if links is not None:
        told.append("each number of an `inertia` stands for a base parameter, with the others as in the file")
        choice = "those of links that can exist and are nearest to the file's, a choice that no motion tells"
        told.append(f"identified.yaml has others with the same base parameters on {', '.join(links.changed)}: {choice}")
        if links.off > 0.0:
            told.append(f"no links have just these; the nearest are off by up to {links.off:.2g} of the intervals")
    none = [one.path for one in found.estimates if one.at_bound]
    told += [f"as good as none: {named(none)}"] if none else []
    lasting = [one for one in found.estimates if one.within is not None and one.seen < 0.5]
    told += [f"{label(one.path)} rests on what you trust the file by more than on the log" for one in lasting]
    return told


def _row(one: Estimate, digits: int) -> Row:
    within = "as in the file" if one.seen == 0.0 else "only with others" if one.within is None else small(one.within, 2)
    unit = "" if one.within is None else one.unit
    return [
        label(one.path),
        number(one.written, digits),
        measured(one.value, one.unit, digits),
        (within, unit),
    ]


def _drifts(found: Identification, degrees: bool) -> Report:
    """The drift over horizons, before and after."""
    where = f"the {found.held_back:.3g} s that were held back" if found.held_back else "the log, which was fitted"
    told = [(found.before, ""), (found.after, "after"), *([(found.fed, "fed")] if found.fed else [])]
    joints = found.arm.joints
    each = zip(*(in_unit(horizons, joints, degrees) for horizons, _ in told), strict=True)
    columns = [drift_cells(joints, one.final, degrees, 3) for spans in each for one in spans]
    rows = [*zip([joint.name for joint in joints], *columns, strict=True)]
    headings = [
        "drift",
        *(text for span in _spans(found.after) for text in (f"in {span}", *(name for _, name in told[1:]))),
    ]
    how = "before and after" + (
        ", and after by what the controller commands that sees its positions" if found.fed else ""
    )
    return [wrapped(f"Drift on {where}, restarted for each window, {how}:"), ReportTable(headings, rows)]


def _spans(horizons: Sequence[Horizon]) -> list[str]:
    return ["all" if horizon.whole else f"{horizon.seconds:g} s" for horizon in horizons]
