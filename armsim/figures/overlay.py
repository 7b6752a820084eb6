"""Runs drawn over each other, quantity by quantity, and how far each is from the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armsim.errors import UsageError
from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Array, curves_of, differences_of
from armsim.figures.panels import Curve, Panel, Panels
from armsim.figures.style import BLACK, DASHES, GREY, MARKS, PALETTE, marked, new_figure, plain, tick, within, worded

MOST = 12  # quantities in one picture
INCHES = (11.0, 1.8)  # width, and height of a quantity
TALL = 20  # letters of a line along that height
SHARE = 1e-6  # least height of a panel of differences, as a share of the values' own
KINDS = ("q", "tau_motor", "qd")  # what is drawn unless columns are named, as far as there is room


def draw_runs(runs: Sequence[DrawnRun], columns: Sequence[str] = (), degrees: bool = False) -> Any:
    """A figure of several runs: each quantity of all of them, and beside it the others less the first.

    Args:
        runs: Two or more.
        columns: Patterns of headings such as `q_*`; positions, then torques and velocities as far as there is room, if none.
        degrees: Draw angles in degrees.

    Raises:
        UsageError: A pattern names no column, or the runs have none in common.
        FileFaults: A table is damaged.
    """
    unit = "deg" if degrees or any("_deg" in heading for heading in runs[0].headings) else "rad"
    first, *others = ([*_quantities(run, columns, unit)] for run in runs)
    shared = [(panel, curve) for panel, curve in first if all(_same(panel, curve, other) for other in others)]
    if not shared:
        found = "; ".join(f"{run.name}: {', '.join(run.headings[:4])}" for run in runs)
        raise UsageError.of("plot", "columns that all runs have", found, "draw runs of the same arm, or name --columns")
    left_out = len(shared) - MOST
    shared = shared[:MOST]
    sums = [[curve.value for _, curve in shared]]
    sums += [[match.value for panel, curve in shared if (match := _same(panel, curve, other))] for other in others]
    curves = [curves_of(run, own) for run, own in zip(runs, sums, strict=True)]
    apart = [differences_of(runs[0], run, sums[0], own) for run, own in zip(runs[1:], sums[1:], strict=True)]
    figure = new_figure(INCHES[0], 1.1 + INCHES[1] * len(shared))
    axes: Any = figure.subplots(len(shared), 2, sharex=True, squeeze=False)
    names = [run.name if not run.status or run.status == "complete" else f"{run.name} ({run.status})" for run in runs]
    for i, ((left, right), (panel, curve)) in enumerate(zip(axes, shared, strict=True)):
        values = [found[own[i]] for found, own in zip(curves, sums, strict=True)]
        draw_pair(left, right, panel.unit, names, values, [found[i] for found in apart])
        left.set_ylabel(named(panel, curve))
    finish(figure, axes, "" if left_out <= 0 else f"{left_out} more quantities are not drawn; name --columns to choose")
    return figure


def draw_pair(
    left: Any,
    right: Any,
    unit: str,
    names: Sequence[str],
    values: Sequence[tuple[Array, Array]],
    apart: Sequence[tuple[Array, Array]],
) -> None:
    """Draw a quantity of several runs, and the differences to the first beside it.

    Args:
        left: Panel of the quantity.
        right: Panel of the differences.
        unit: Of both.
        names: Of the runs.
        values: Times [s] and values of each run.
        apart: Times [s] and differences of each run but the first.
    """
    for k, (name, (t, x)) in enumerate(zip(names, values, strict=True)):
        left.plot(t, x, label=worded(name), **_of_run(k, t))
    for k, (t, x) in enumerate(apart, 1):
        right.plot(t, x, **_of_run(k, t))
    for axis in (left, right):
        plain(axis)
        axis.margins(x=0.01)
    within(left, [x for _, x in values], unit)
    low, high = left.get_ylim()
    within(right, [x for _, x in apart], unit, least=SHARE * max(high - low, abs(low), abs(high)))
    most = max((float(np.nanmax(np.abs(x), initial=0.0)) for _, x in apart), default=0.0)
    at_most = f"at most {tick(most, 3)} {unit}".rstrip() if most else "no difference"
    right.set_title(at_most, loc="right", fontsize="small", color=GREY)
    right.set_ylabel(f"difference [{unit}]" if unit else "difference")


def finish(figure: Any, axes: Any, note: str = "") -> None:
    """The legend above a figure of runs, the axes of time below, and perhaps a note."""
    for axis in axes[-1]:
        plain(axis, x=True)
        axis.set_xlabel("t [s]")
    figure.align_ylabels(axes[:, 0])
    figure.align_ylabels(axes[:, 1])
    lines, labels = axes[0, 0].get_legend_handles_labels()
    abreast = int(INCHES[0] / (0.7 + 0.09 * max(map(len, labels))))
    figure.legend(lines, labels, loc="outside upper left", ncols=max(1, min(3, abreast)), frameon=False)
    if note:
        figure.supxlabel(note, fontsize="small", color=GREY)


def named(panel: Panel, curve: Curve) -> str:
    """What the axis of one curve says: "q R1 [rad]"; a long one in two lines, as it stands beside the panel."""
    what = f"{panel.kind} {curve.of}" if panel.joints or curve.of != panel.kind else panel.kind
    return labelled(what, panel.unit)


def labelled(what: str, unit: str) -> str:
    """A name and a unit along the height of a panel: in one line, or in two where it would reach beyond."""
    line = f"{what} [{unit}]" if unit else what
    return worded(line if len(line) <= TALL else line.replace(" [", "\n["), TALL)


def _of_run(k: int, times: Array) -> dict[str, Any]:
    """How run k is drawn: the first one broad, all with marks and dashes of their own."""
    style: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "linestyle": DASHES[k % len(DASHES)]}
    style |= {"linewidth": 2.6, "alpha": 0.6} if k == 0 else {"linewidth": 1.2, "color": _color(k)}
    mark = {"marker": MARKS[k % len(MARKS)], "markersize": 4.0, "markerfacecolor": "white"}
    return {**style, **mark, "markevery": marked(times, (k % 5) / 5)}


def _color(k: int) -> str:
    return BLACK if k == 1 else PALETTE[(k - 1) % len(PALETTE)]


def _quantities(run: DrawnRun, columns: Sequence[str], unit: str) -> list[tuple[Panel, Curve]]:
    """The curves of a run, each with the panel that it is of."""
    panels = Panels(run, degrees=unit == "deg", unit=unit)
    if columns:
        found = panels.chosen(columns)
    else:
        default = panels.default()
        found = [panel for kind in KINDS for panel in default if panel.kind == kind]
        found += [panel for panel in default if panel.kind not in ("error", "energy", *KINDS)]
    pairs = [(panel, curve) for panel in found for curve in panel.curves]
    if columns:
        followed = [(replace(panel, kind=f"{panel.kind}_ref"), panel.references) for panel in found]
        pairs += [(panel, curve) for panel, references in followed for curve in references if curve.value.terms]
    if columns or len(pairs) <= MOST:
        return pairs
    whole = [pair for pair in pairs if pair[0].kind == found[0].kind]
    for kind in dict.fromkeys(panel.kind for panel in found[1:]):
        more = [pair for pair in pairs if pair[0].kind == kind]
        if kind != found[0].kind and len(whole) + len(more) <= MOST:
            whole += more
    return whole


def _same(panel: Panel, curve: Curve, others: Sequence[tuple[Panel, Curve]]) -> Curve | None:
    """The curve of the same quantity, joint and unit among those of another run."""
    key = panel.kind, panel.unit, curve.of
    return next((other for of, other in others if (of.kind, of.unit, other.of) == key), None)
