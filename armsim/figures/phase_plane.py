"""The fastest motion along a path, drawn in its phase plane: path speed over path parameter, with the limits that bind."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from armsim.arm.planned import PlannedMotion
from armsim.figures.style import GREY, WIDTH, look, new_figure, plain

MOST = 8  # limits that are told apart
ROOM = 1.3  # of the greatest speed: how far the admissible ones are drawn


def phase_plane(planned: PlannedMotion) -> Any:
    """A figure of a fastest motion: a panel for all its stages, one after the other."""
    title = f"{planned.scenario.name}: {planned.end:.6g} s\ngrey: speeds that limits do not admit"
    figure = new_figure(WIDTH, 4.0, title)
    axis = figure.subplots()
    plain(axis)
    spent = defaultdict[tuple[str, str], float](float)
    for stage in planned.stages:
        for it in stage.bindings:
            spent[it.joint, it.quantity] += it.to_s - it.from_s
    order = sorted(spent, key=lambda label: -spent[label])[:MOST]
    for k, (joint, quantity) in enumerate(order):
        axis.plot([], [], color=look(k).color, linewidth=2.2, label=f"{quantity} of {joint}")
    greatest = max(float(stage.timing.w.max()) for stage in planned.stages)
    s = 0.0
    for stage in planned.stages:
        timing = stage.timing
        x = s + timing.s - timing.s[0]
        axis.fill_between(x, timing.top, 2 * ROOM * greatest, color=GREY, alpha=0.25, linewidth=0)
        axis.plot(x, timing.w, color=GREY, linewidth=1.0)
        for k, label in enumerate(order):
            on = np.array([row >= 0 and stage.labels[row] == label for row in timing.row.tolist()])
            shown = np.where(np.append(on, False) | np.append(False, on), timing.w, np.nan)
            axis.plot(x, shown, color=look(k).color, linewidth=2.2)
        s = float(x[-1])
    axis.set_ylim(0.0, ROOM * greatest)
    axis.set_xlim(0.0, s)
    axis.set_xlabel("path parameter s")
    axis.set_ylabel("path speed ds/dt [1/s]")
    if order:
        axis.legend(loc="best", fontsize="small", title="limit that binds", framealpha=0.7)
    return figure
