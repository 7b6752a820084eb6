"""A run drawn: what its joints did, were to do and may do, over one axis of time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Array, Sum, curves_of
from armsim.figures.panels import Curve, Panel, Panels
from armsim.figures.style import BLACK, GREY, WIDTH, look, marked, new_figure, plain, whole_angles, within, worded

ABREAST = 8  # joints in a panel; of more, panels stand beside each other
HEIGHT = 1.65  # inches of a panel
SHORT = 0.5  # share of its time that a run must have done for the rest to be shown, too
QUIET = ("tau_motor", "voltage", "current")  # left out where they are 0 all the time
LATE = 0.8  # share of a diverged run after which it may leave its panels
FAR = 3.0  # by which factor it then exceeds what came before

Curves = dict[Sum, tuple[Array, Array]]


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
    panels = Panels(run, degrees)
    rows = panels.chosen(columns) if columns else panels.default()
    curves = curves_of(run, [curve.value for panel in rows for curve in (*panel.curves, *panel.references)])
    silent = [] if columns else [panel for panel in rows if panel.kind in QUIET and _zero(panel, curves)]
    rows = [panel for panel in rows if panel not in silent]
    groups = _groups(len(panels.joints) if any(panel.joints for panel in rows) else 0)
    figure = new_figure(WIDTH if len(groups) == 1 else 5.5 * len(groups), 1.0 + HEIGHT * max(1, len(rows)))
    end = max((times[-1] for times, _ in curves.values() if len(times)), default=None)
    figure.suptitle(worded(headline(run, end, silent)), fontsize="large")
    axes: Any = figure.subplots(max(1, len(rows)), len(groups), sharex=True, sharey="row", squeeze=False)
    for row, panel in zip(axes, rows, strict=False):
        for k, (axis, group) in enumerate(zip(row, groups, strict=True)):
            if not panel.joints and k:
                axis.set_visible(False)
                continue
            drawn = panel.of_looks(group) if panel.joints and len(groups) > 1 else panel
            draw_panel(axis, drawn, curves)
            if not panel.joints:
                axis.legend(loc="best", fontsize="small", framealpha=0.7)
        fit(row[0], panel, curves, run.status == "diverged")
        row[0].set_ylabel(worded(panel.label, 30))
        if panel.note:
            row[0].set_title(panel.note, loc="right", fontsize="small", color=GREY)
    for k, group in enumerate(groups):
        joints = [panel for panel in rows if panel.joints]
        if joints:
            _legend(
                axes[0, k], [panels.joints[i] for i in group if i < len(panels.joints)], group, joints, len(groups) == 1
            )
    for axis in axes.flat:
        over_time(axis, run, end)
    figure.align_ylabels(axes[:, 0])
    for axis in axes[-1]:
        axis.set_xlabel("t [s]")
    for k in range(1, len(groups)):  # below these nothing is drawn that could have the numbers
        last = [axis for axis in axes[:, k] if axis.get_visible()][-1]
        last.tick_params(labelbottom=True)
        last.set_xlabel("t [s]")
    return figure


def headline(run: DrawnRun, end: float | None, silent: Sequence[Panel] = ()) -> str:
    """What was run; how it ended if not well, and what was 0 all the time, on lines of their own."""
    if end is None:
        return f"{run.title}\nno rows" + (f": {run.status} before the first" if run.status != "complete" else "")
    lines = [run.title]
    if run.status in ("interrupted", "diverged"):
        of = "" if run.duration is None else f" of {run.duration:g} s"
        lines.append(f"{run.status}: rows to {end:.6g} s{of}")
    if silent:
        lines.append(f"{', '.join(panel.label.partition(' [')[0] for panel in silent)}: 0")
    return "\n".join(lines)


def draw_panel(axis: Any, panel: Panel, curves: Curves) -> None:
    """Draw the curves, references and limits of a panel."""
    plain(axis)
    if panel.unit == "deg":
        whole_angles(axis)
    for number, bound in panel.limits:
        axis.axhline(bound, color=look(number).color, linewidth=0.9, linestyle=(0, (1, 1.5)), zorder=1.5)
    for reference in panel.references:
        style: dict[str, Any] = {"color": look(reference.look).color, "linewidth": 1.0, "linestyle": (0, (5, 3))}
        if reference.value.terms:
            axis.plot(*curves[reference.value], zorder=1.8, **style)
        else:
            axis.axhline(reference.value.constant, zorder=1.8, **style)
    for k, curve in enumerate(panel.curves):
        draw_curve(axis, curve, *curves[curve.value], shift=k / max(1, len(panel.curves)))


def draw_curve(axis: Any, curve: Curve, times: Array, values: Array, shift: float = 0.0, **style: Any) -> None:
    """Draw a curve with the marks of its joint or part."""
    how = look(curve.look)
    style = {"color": how.color, "linewidth": 1.3, "marker": how.mark, "markersize": 4.5, **style}
    axis.plot(
        times, values, label=worded(curve.of, 16), markevery=marked(times, shift), markerfacecolor="white", **style
    )


def fit(axis: Any, panel: Panel, curves: Curves, diverged: bool = False) -> None:
    """Set the height of a panel by its curves, references, and limits that are near."""
    seen = []
    for curve in (*panel.curves, *panel.references):
        times, values = curves.get(curve.value, (np.empty(0), np.array([curve.value.constant])))
        seen.append(early(times, values) if diverged and len(times) else values)
    within(axis, seen, panel.unit, panel.least, [bound for _, bound in panel.limits])
    if diverged and any(
        len(part) and np.nanmax(np.abs(part), initial=0.0) > _reach(axis) for part in _all(panel, curves)
    ):
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
    if end is not None and run.status in ("interrupted", "diverged") and last and end < last:
        axis.axvspan(end, last, color=GREY, alpha=0.12, linewidth=0)
        axis.axvline(end, color=BLACK, linewidth=0.8)


def _groups(joints: int) -> list[list[int]]:
    """The joints that share panels."""
    count = max(1, math.ceil(joints / ABREAST))
    return [list(map(int, part)) for part in np.array_split(np.arange(max(joints, 1)), count)]


def _legend(axis: Any, names: Sequence[str], group: Sequence[int], panels: Sequence[Panel], wide: bool) -> None:
    """The joints, and what dashes and dots are, above a column of panels."""
    from matplotlib.lines import Line2D

    shown = {curve.look for panel in panels for curve in panel.curves}
    style: dict[str, Any] = {"markerfacecolor": "white", "markersize": 4.5, "linewidth": 1.3}
    entries = [
        Line2D([], [], color=look(i).color, marker=look(i).mark, label=worded(name, 16), **style)
        for i, name in zip(group, names, strict=False)
        if i in shown
    ]
    references = [reference for panel in panels for reference in panel.references]
    if references:
        moving = any(reference.value.terms for reference in references)
        word = "reference" if moving else "target"
        entries.append(Line2D([], [], color=GREY, linewidth=1.0, linestyle=(0, (5, 3)), label=word))
    if any(panel.limits for panel in panels):
        entries.append(Line2D([], [], color=GREY, linewidth=0.9, linestyle=(0, (1, 1.5)), label="limit"))
    columns = 7 if wide else 4
    axis.legend(
        handles=entries,
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=columns,
        frameon=False,
        fontsize="small",
        columnspacing=1.2,
    )


def _zero(panel: Panel, curves: Curves) -> bool:
    """Whether there are values, and all are 0."""
    return any(map(len, _all(panel, curves))) and not any(map(np.any, _all(panel, curves)))


def _all(panel: Panel, curves: Curves) -> list[Array]:
    return [values for curve in panel.curves for values in [curves[curve.value][1]]]


def _reach(axis: Any) -> float:
    return max(map(abs, axis.get_ylim()))
