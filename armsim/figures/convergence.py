"""A convergence study drawn: error over step, with the slopes of whole orders, and error over wall time."""

from __future__ import annotations

import math
from typing import Any

from armsim.convergence.errors import Convergence, MethodConvergence
from armsim.figures.style import GREY, look, new_figure

INCHES = (11.0, 5.2)
BELOW = 0.35  # of the error: where the reference slope of an order is drawn
KNOBS = {"dt": "step dt [s]", "rtol": "relative tolerance"}


def convergence_figure(found: Convergence) -> Any:
    """A figure of a convergence study: error over step and over loop time, one curve a method."""
    figure = new_figure(*INCHES, f"{found.scenario}: {found.duration:g} s of {found.robot}")
    left, right = axes = figure.subplots(1, 2, sharey=True)
    known = [s.error for method in found.methods for s in method.settings if s.error]
    low, high = min([found.accuracy, *known]), max([found.accuracy, *known])
    top, bottom = 6.0 * high, low / 6.0
    knobs = list(dict.fromkeys(method.knob for method in found.methods))
    orders: set[int] = set()
    unstable: list[float] = []
    for i, method in enumerate(found.methods):
        color, marker = look(i).color, look(i).mark
        drawn = [s for s in method.settings if s.error]
        errors = [s.error for s in drawn]
        order = "" if method.order is None or method.knob != "dt" else f", order {method.order:.2f}"
        style = {"color": color, "marker": marker, "markersize": 5}
        right.loglog([s.seconds for s in drawn], errors, label=method.method + order, **style)
        best = method.cheapest(found.accuracy)
        if best is not None:
            right.plot([best.seconds], [best.error], "o", markersize=13, fillstyle="none", color=color)
        if method.knob == knobs[0]:
            left.loglog([s.value for s in drawn], errors, **style)
            _guide(left, method, orders)
            out = [s.value for s in method.settings if s.diverged]
            left.plot(out, [top / 1.6] * len(out), "x", color=color, markersize=8)
            unstable += out
    if unstable:
        _note(left, "unstable", (min(unstable), top / 1.6), (-8, -3), ha="right")
    own = found.methods[0].own
    if own is not None and known:
        left.axvline(own, color=GREY, linewidth=1.0, linestyle=":", label=f"the scenario's own {knobs[0]}")
    doubt = found.methods[0].doubt
    for axis in axes:
        axis.axhline(found.accuracy, color=GREY, linewidth=1.0, linestyle="--")
        axis.grid(which="major", alpha=0.3)
        axis.xaxis.set_minor_formatter("")
        axis.set_ylim(bottom, top)
        if doubt is not None and doubt > bottom:
            label = "below what is known of the answer" if axis is left else None
            axis.axhspan(bottom, doubt, color=GREY, alpha=0.12, linewidth=0, label=label)
    right.text(1.01, found.accuracy, "wanted", transform=right.get_yaxis_transform(), va="center", color=GREY)
    left.set_xlabel(KNOBS[knobs[0]])
    left.set_ylabel(f"largest error of a joint position [{found.unit}]")
    right.set_xlabel("loop time [s], cheapest setting circled")
    if not known:
        _note(left, "no errors are known", (0.5, 0.5), (0, 0), xycoords="axes fraction", ha="center")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _guide(axis: Any, method: MethodConvergence, drawn: set[int]) -> None:
    """The reference slope of the whole order nearest to a method's observed one, below its curve; once for every order."""
    if method.knob != "dt" or method.order is None or round(method.order) < 1 or round(method.order) in drawn:
        return
    order = round(method.order)
    drawn.add(order)
    clear = [s for s in method.settings if s.error is not None and s.order is not None]
    if not clear:
        return
    end = clear[-1]
    assert end.error is not None
    start = max(s.value for s in method.settings if s.error is not None)
    errors = [BELOW * end.error * (x / end.value) ** order for x in (start, end.value)]
    axis.loglog([start, end.value], errors, color=GREY, linewidth=0.9, linestyle=(0, (1, 2)))
    middle = math.sqrt(start * end.value)
    _note(axis, f"order {order}", (middle, BELOW * end.error * (middle / end.value) ** order), (4, -10))


def _note(axis: Any, text: str, place: tuple[float, float], offset: tuple[float, float], **style: Any) -> None:
    """A text at a point of a panel, offset in points of type."""
    made = axis.annotate(text, place, offset, textcoords="offset points", color=GREY, fontsize="small", **style)
    made.set_in_layout(False)
