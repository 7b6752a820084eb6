"""A run drawn: what its joints did, were to do and may do, over one axis of time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Points, Sum, curves_of
from armsim.figures.panels import Panel, Panels
from armsim.figures.style import BLACK, GREY, WIDTH, look, marked, new_figure, plain, whole_angles, within, worded

ABREAST = 8  # joints in a panel; of more, panels stand beside each other
HEIGHT = 1.65  # inches of a panel
SHORT = 0.5  # share of its time that a run must have done for the rest to be shown, too
QUIET = ("tau_motor", "voltage", "current")  # left out where they are 0 all the time
LATE = 0.8  # share of a diverged run after which it may leave its panels
FAR = 3.0  # by which factor it then exceeds what came before
FOLLOWED: dict[str, Any] = {"linewidth": 1.0, "linestyle": (0, (5, 3))}
LIMIT: dict[str, Any] = {"linewidth": 0.9, "linestyle": (0, (1, 1.5))}
CURVE: dict[str, Any] = {"linewidth": 1.3, "markersize": 4.5, "markerfacecolor": "white"}

Curves = dict[Sum, Points]


def draw_run(run: DrawnRun, columns: Sequence[str] = (), degrees: bool = False) -> Any:
    """A figure of a run.

    Args:
        run: The run.
        columns: Patterns of headings such as `q_*`; those of `Panels.default` if there are none.
        degrees: Draw angles in degrees.

    Raises:
        UsageError: A pattern names no column.
        FileFaults: A table is damaged.
    """
    panels = Panels(run, "deg" if degrees else "")
    rows = panels.chosen(columns) if columns else panels.default()
    curves = curves_of(run, [curve.value for panel in rows for curve in (*panel.curves, *panel.references)])
    silent = [] if columns else [panel for panel in rows if panel.kind in QUIET and _zero(panel, curves)]
    rows = [panel for panel in rows if panel not in silent]
    joints = [panel for panel in rows if panel.joints]
    groups = _groups(len(panels.joints) if joints else 0)
    end = max((times[-1] for times, _ in curves.values() if len(times)), default=None)
    wide = WIDTH if len(groups) == 1 else 5.5 * len(groups)
    figure = new_figure(wide, 1.0 + HEIGHT * max(1, len(rows)), headline(run, end, silent))
    axes = figure.subplots(max(1, len(rows)), len(groups), sharex=True, sharey="row", squeeze=False)
    for row, panel in zip(axes, rows, strict=False):
        for axis, group in zip(row, groups, strict=True):
            axis.set_visible(panel.joints or group is groups[0])
            draw_panel(axis, panel.of_looks(group) if panel.joints else panel, curves)
        if not panel.joints:
            row[0].legend(loc="best", fontsize="small", framealpha=0.7)
        fit(row[0], panel, curves, run.status == "diverged")
        row[0].set_ylabel(worded(panel.label, 30))
        row[0].set_title(panel.note, loc="right", fontsize="small", color=GREY)
    for axis in axes.flat:
        over_time(axis, run, end)
    for column, group in zip(axes.T, groups, strict=True):
        if joints:
            names = {i: panels.joints[i] for i in group if i < len(panels.joints)}
            _legend(column[0], names, joints, 7 if len(groups) == 1 else 4)
        last = [axis for axis in column if axis.get_visible()][
            -1
        ]  # below it nothing is drawn that could have the numbers
        last.tick_params(labelbottom=True)
        last.set_xlabel("t [s]")
    figure.align_ylabels(axes[:, 0])
    return figure


def headline(run: DrawnRun, end: float | None, silent: Sequence[Panel] = ()) -> str:
    """What was run; how it ended if not well, and what was 0 all the time, on lines of their own."""
    if end is None:
        return f"{run.title}\nno rows" + (f": {run.status} before the first" if run.status != "complete" else "")
    lines = [run.title]
    if run.ended:
        of = "" if run.duration is None else f" of {run.duration:g} s"
        lines.append(f"{run.status}: rows to {end:.6g} s{of}")
    if silent:
        lines.append(f"{', '.join(panel.label.partition(' [')[0] for panel in silent)}: 0")
    return "\n".join(lines)


def draw_panel(axis: Any, panel: Panel, curves: Curves) -> None:
    """Draw the curves, references and limits of a panel; a curve has the marks of its joint or part."""
    plain(axis)
    if panel.unit == "deg":
        whole_angles(axis)
    for number, bound in panel.limits:
        axis.axhline(bound, color=look(number).color, zorder=1.5, **LIMIT)
    for reference in panel.references:
        style = {"color": look(reference.look).color, "zorder": 1.8, **FOLLOWED}
        if reference.value.terms:
            axis.plot(*curves[reference.value], **style)
        else:
            axis.axhline(reference.value.constant, **style)
    for k, curve in enumerate(panel.curves):
        how, (times, values) = look(curve.look), curves[curve.value]
        marks = {"marker": how.mark, "markevery": marked(times, k / len(panel.curves))}
        axis.plot(times, values, label=worded(curve.of, 16), color=how.color, **marks, **CURVE)


def fit(axis: Any, panel: Panel, curves: Curves, diverged: bool = False) -> None:
    """Set the height of a panel by its curves, references, and limits that are near."""
    seen = []
    for curve in (*panel.curves, *panel.references):
        times, values = curves.get(curve.value, (np.empty(0), np.array([curve.value.constant])))
        seen.append(early(times, values) if diverged and len(times) else values)
    within(axis, seen, panel.unit, panel.least, [bound for _, bound in panel.limits])
    reach = max(map(abs, axis.get_ylim()))
    if diverged and any(np.nanmax(np.abs(curves[curve.value][1]), initial=0.0) > reach for curve in panel.curves):
        axis.text(0.01, 0.04, "goes beyond", transform=axis.transAxes, fontsize="small", color=GREY)


def early(times: Array, values: Array) -> Array:
    """The values of a run that diverged, without a last part that would hide all others."""
    before = values[times <= times[0] + LATE * (times[-1] - times[0])]
    finite = np.abs(before[np.isfinite(before)])
    least = float(finite.max()) if len(finite) else 0.0
    with np.errstate(invalid="ignore"):
        return values[np.abs(values) <= FAR * least] if least else before


def over_time(axis: Any, run: DrawnRun, end: float | None) -> None:
    """Set the axis of time to all that was to be run, and shade what was not."""
    plain(axis, x=True)
    last = run.duration if run.duration is not None else end
    if last and end and end < SHORT * last:
        last = 1.05 * end
    if last and math.isfinite(last):
        axis.set_xlim(0.0 if run.duration is not None else None, last)
    if end is not None and run.ended and last and end < last:
        axis.axvspan(end, last, color=GREY, alpha=0.12, linewidth=0)
        axis.axvline(end, color=BLACK, linewidth=0.8)


def _groups(joints: int) -> list[list[int]]:
    """The joints that share panels; others, which the arm does not have, are with the last."""
    count = max(1, math.ceil(joints / ABREAST))
    *parts, last = np.array_split(np.arange(joints), count)
    return [*(part.tolist() for part in parts), [*last.tolist(), joints]]


def _legend(axis: Any, names: dict[int, str], panels: Sequence[Panel], columns: int) -> None:
    """The joints, and what dashes and dots are, above a column of panels."""
    from matplotlib.lines import Line2D

    shown = {curve.look for panel in panels for curve in panel.curves}
    joints = [(look(i), name) for i, name in names.items() if i in shown]
    lines = [Line2D([], [], color=how.color, marker=how.mark, label=worded(name, 16), **CURVE) for how, name in joints]
    references = [reference for panel in panels for reference in panel.references]
    if references:
        word = "reference" if any(reference.value.terms for reference in references) else "target"
        lines.append(Line2D([], [], color=GREY, label=word, **FOLLOWED))
    if any(panel.limits for panel in panels):
        lines.append(Line2D([], [], color=GREY, label="limit", **LIMIT))
    place = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": columns}
    axis.legend(handles=lines, frameon=False, fontsize="small", columnspacing=1.2, **place)


def _zero(panel: Panel, curves: Curves) -> bool:
    """Whether there are values, and all are 0."""
    values = np.concatenate([curves[curve.value][1] for curve in panel.curves])
    return len(values) > 0 and not values.any()
