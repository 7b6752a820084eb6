"""What `armsim excite` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from armsim.reports.table import Report, ReportTable, Row, joint_unit, measured, number, wrapped

if TYPE_CHECKING:
    from armsim.identification.excite import Excitation

LOST = 1.0  # interval over value, beyond which a number is as good as unknown


def report(found: Excitation, digits: int = 5, written: Sequence[str] = ()) -> Report:
    """The motion joint by joint, the numbers with the intervals to expect, and what the motion cannot see."""
    times = round(found.duration / found.motion.period)
    periods = "" if times == 1 else f", {times} times a period of {found.motion.period:g} s"
    lines: Report = [
        wrapped(
            f"{found.robot}: {found.duration:g} s{periods}, {len(found.motion.sines)} harmonics; "
            f"condition number {number(found.condition, 3)}"
        ),
        "",
        _joints(found, digits),
        "",
        _numbers(found, digits),
    ]
    for direction in found.unseen:
        if len(direction.factors) == 1:
            lines.append(wrapped(f"! no motion within the limits shows {direction.text}: leave it out"))
        else:
            lines.append(
                wrapped(f"! only combinations show: nothing changes with {direction.text}; leave one of them out")
            )
    lost = [x.path for x in found.numbers if x.value and LOST * abs(x.value) < x.interval < np.inf]
    if lost:
        lines.append(
            wrapped(f"! wider than the number itself: {', '.join(lost)}; a longer motion or less noise tells more")
        )
    if found.loads:
        name, load = max(found.loads.items(), key=lambda pair: pair[1])
        cut = f", for which the motion is {found.share:.0%} of what the joints' limits allow" if found.share < 1 else ""
        lines.append(wrapped(f"* motors need {load:.0%} of their limits at most, {name}{cut}"))
    lines.append(wrapped("* collisions were not looked at: simulate and view it before the arm moves"))
    return [*lines, *(f"written {path}" for path in written)]


def _joints(found: Excitation, digits: int) -> ReportTable:
    q, qd, qdd = found.motion.at(np.linspace(0.0, found.motion.period, 2001))
    speed, acceleration = np.abs(qd).max(axis=0), np.abs(qdd).max(axis=0)
    columns = {"from": (q[0], ""), "least": (q.min(axis=0), ""), "greatest": (q.max(axis=0), "")}
    columns |= {"speed": (speed, "/s"), "acceleration": (acceleration, "/s²")}
    rows: list[Row] = [
        [name, *(measured(float(x[i]), joint_unit(kind, False, rate), digits) for x, rate in columns.values())]
        for i, (name, kind) in enumerate(zip(found.joints, found.types, strict=True))
    ]
    return ReportTable(["joint", *columns], rows)


def _numbers(found: Excitation, digits: int) -> ReportTable:
    rows: list[Row] = []
    for x in found.numbers:
        known = np.isfinite(x.deviation)
        share = f"{x.interval / abs(x.value):.2%}" if known and x.value else "-"
        rows.append([x.path, measured(x.value, x.unit, digits), number(x.interval, 3) if known else "unseen", share])
    return ReportTable(["number", "in the file", "95 % interval ±", "of it"], rows)
