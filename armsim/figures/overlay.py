"""Runs drawn over each other, quantity by quantity, and how far each is from the first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.errors import UsageError
from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Sum, curves_of, differences_of
from armsim.figures.panels import Panels
from armsim.figures.style import (
    BLACK,
    DASHES,
    GREY,
    MARKS,
    PALETTE,
    marked,
    new_figure,
    plain,
    tick,
    with_unit,
    within,
    worded,
)

MOST = 12  # quantities in one picture
INCHES = (11.0, 1.8)  # width, and height of a quantity
TALL = 20  # letters of a line along that height
SHARE = 1e-6  # least height of a panel of differences, as a share of the values' own
KINDS = ("q", "tau_motor", "qd")  # what is drawn unless columns are named, as far as there is room


def draw_runs(runs: Sequence[DrawnRun], columns: Sequence[str] = (), degrees: bool = False, title: str = "") -> Any:
    """A figure of several runs: each quantity of all of them, and beside it the others less the first.

    Args:
        runs: Two or more.
        columns: Patterns of headings such as `q_*`; positions, then torques and velocities as far as there is room, if none.
        degrees: Draw angles in degrees.
        title: Above it; none if empty.

    Raises:
        UsageError: A pattern names no column, or the runs have none in common.
        FileFaults: A table is damaged.
    """
    angle = "deg" if degrees or any("_deg" in heading for heading in runs[0].headings) else "rad"
    found = [_quantities(Panels(run, angle), columns) for run in runs]
    shared = [key for key in found[0] if all(key in other for other in found)]
    if not shared:
        seen = "; ".join(f"{run.name}: {', '.join(run.headings[:4])}" for run in runs)
        raise UsageError.of("plot", "columns that all runs have", seen, "draw runs of the same arm, or name --columns")
    left_out, shared = len(shared) - MOST, shared[:MOST]
    sums = [[own[key] for key in shared] for own in found]
    curves = [curves_of(run, own) for run, own in zip(runs, sums, strict=True)]
    pairs = [list(zip(sums[0], own, strict=True)) for own in sums[1:]]
    apart = [differences_of(runs[0], run, own) for run, own in zip(runs[1:], pairs, strict=True)]
    figure = new_figure(INCHES[0], 1.1 + INCHES[1] * len(shared), title)
    axes = figure.subplots(len(shared), 2, sharex=True, squeeze=False)
    for i, ((left, right), (kind, of, unit)) in enumerate(zip(axes, shared, strict=True)):
        values = [points[own[i]] for points, own in zip(curves, sums, strict=True)]
        differences = [points[own[i]] for points, own in zip(apart, pairs, strict=True)]
        for k, (run, points) in enumerate(zip(runs, values, strict=True)):
            left.plot(*points, label=worded(run.name + run.ended), **_of_run(k, points[0]))
        for k, points in enumerate(differences, 1):
            right.plot(*points, **_of_run(k, points[0]))
        within(left, [x for _, x in values], unit)
        low, high = left.get_ylim()
        within(right, [x for _, x in differences], unit, least=SHARE * max(high - low, abs(low), abs(high)))
        most = max(float(np.nanmax(np.abs(x), initial=0.0)) for _, x in differences)
        at_most = f"at most {tick(most, 3)} {unit}".rstrip() if most else "no difference"
        right.set_title(at_most, loc="right", fontsize="small", color=GREY)
        left.set_ylabel(labelled(kind if of == kind else f"{kind} {of}", unit))
        right.set_ylabel(with_unit("difference", unit))
    for axis in axes.flat:
        plain(axis)
        axis.margins(x=0.01)
    for k, axis in enumerate(axes[-1]):
        plain(axis, x=True)
        axis.set_xlabel("t [s]")
        figure.align_ylabels(axes[:, k])
    lines, labels = axes[0, 0].get_legend_handles_labels()
    abreast = int(INCHES[0] / (0.7 + 0.09 * max(map(len, labels))))
    figure.legend(lines, labels, loc="outside upper left", ncols=max(1, min(3, abreast)), frameon=False)
    if left_out > 0:
        choice = "" if title else "; name --columns to choose"
        figure.supxlabel(f"{left_out} more quantities are not drawn{choice}", fontsize="small", color=GREY)
    return figure


def labelled(what: str, unit: str) -> str:
    """A name and a unit along the height of a panel: in one line, or in two where it would reach beyond."""
    line = with_unit(what, unit)
    return worded(line if len(line) <= TALL else line.replace(" [", "\n["), TALL)


def _of_run(k: int, times: Array) -> dict[str, Any]:
    """How run k is drawn: the first one broad, all with marks and dashes of their own."""
    color = BLACK if k == 1 else PALETTE[max(0, k - 1) % len(PALETTE)]
    width = {"linewidth": 1.2} if k else {"linewidth": 2.6, "alpha": 0.6}
    mark = {"marker": MARKS[k % len(MARKS)], "markersize": 4.0, "markerfacecolor": "white"}
    return {
        "color": color,
        "linestyle": DASHES[k % len(DASHES)],
        **width,
        **mark,
        "markevery": marked(times, (k % 5) / 5),
    }


def _quantities(panels: Panels, columns: Sequence[str]) -> dict[tuple[str, str, str], Sum]:
    """Curves by kind, joint or part, and unit; unless columns are named, kinds as a whole as far as there is room."""
    found: dict[tuple[str, str, str], Sum] = {}
    if columns:
        chosen = panels.chosen(columns)
        found = {(c.kind, c.of, c.unit): c.value for panel in chosen for c in panel.curves}
        followed = [c for panel in chosen for c in panel.references if c.value.terms]
        return found | {(f"{c.kind}_ref", c.of, c.unit): c.value for c in followed}
    default = [panel for panel in panels.default() if panel.kind not in ("error", "energy")]
    default.sort(key=lambda panel: KINDS.index(panel.kind) if panel.kind in KINDS else len(KINDS))
    for _, group in groupby(default, lambda panel: panel.kind):
        more = {(c.kind, c.of, c.unit): c.value for panel in group for c in panel.curves}
        if not found or len(found) + len(more) <= MOST:
            found |= more
    return found
