"""A tuning drawn: its search, where the result holds, and by how much numbers may be off."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.arm.robot import load_robot
from armsim.arrays import Array
from armsim.batches.runs import Runs
from armsim.control import Controller
from armsim.dynamics import own_poses
from armsim.figures.drawn_arm import vector
from armsim.figures.style import BLUE, GREY, VERMILION, new_figure, plain, tick, with_unit, worded
from armsim.files.study_folder import RECORD
from armsim.loading.scenario_file import read_scenario
from armsim.studies.study import study_of
from armsim.tuning.margins import DELAY, FACTOR, FURTHEST, Margin
from armsim.tuning.result import TuningResult
from armsim.tuning.validation import PAYLOAD

WIDTH, HEIGHT = 8.0, 3.6  # inches of a panel
BAR = 0.24  # inches of a margin
TARGET = "control.target["
LEVEL = 1e-9  # m, by which no height changes


def tuning_figure(found: TuningResult) -> Any:
    """A figure of a tuning: the best so far over its trials, the cases of its test, and the margins.

    Cases that vary targets are drawn where the tool then is, seen from the side: height, over the distance from the first
    joint's axis where that is vertical; others over the first two numbers that they vary, or over one and what is minimised.
    """
    factors = [margin for margin in found.margins if margin.unit == FACTOR]
    searched = bool(np.isfinite(found.curve).any())
    heights = [HEIGHT] if searched else []
    heights += [1.3 * HEIGHT] if found.test is not None else []
    heights += [0.9 + BAR * len(factors)] if factors else []
    figure = new_figure(WIDTH, sum(heights), f"{found.name}: {found.minimise} {tick(found.objective, 5)}")
    axes = list(np.atleast_1d(figure.subplots(len(heights), 1, gridspec_kw={"height_ratios": heights})))
    if searched:
        _search(axes.pop(0), found)
    if found.test is not None:
        _map(axes.pop(0), found, found.test)
    if factors:
        _margins(axes.pop(0), found, factors)
    return figure


def _search(axis: Any, found: TuningResult) -> None:
    trials = np.arange(1, len(found.curve) + 1)
    axis.step(trials, found.curve, where="post", color=BLUE)
    seen = found.curve[np.isfinite(found.curve)]
    if len(seen) and seen.min() > 0.0 and seen.max() > 3.0 * seen.min():
        axis.set_yscale("log")
        axis.yaxis.set_major_formatter(lambda value, _: tick(value, 3))
        axis.yaxis.set_minor_formatter(lambda value, _: tick(value, 3))
    plain(axis, x=True)
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel("trial")
    axis.set_ylabel(worded(f"least {found.minimise} so far", 40))


def _map(axis: Any, found: TuningResult, test: Runs) -> None:
    """The cases of the test: dots where they hold, crosses where they do not."""
    names = test.paths
    if any(name.startswith(TARGET) for name in names):
        x, y, across = _at_target(found, test)
        along, up = f"{across} [m]", "height of the tool at the target [m]"
        axis.set_aspect("equal", adjustable="datalim")
    else:
        shown = [np.asarray(test[name], dtype=object) for name in names[:2]]
        numbers = [_numbers(column) for column in shown]
        x, y = numbers[0], numbers[1] if len(numbers) > 1 else test[found.minimise]
        units = study_of(os.path.join(test.folder, RECORD)).units(found.minimise)
        along, up = (worded(with_unit(name, units.get(name))) for name in (*names, found.minimise)[:2])
    load = np.asarray(test[PAYLOAD], float) if PAYLOAD in test else np.zeros(len(x))
    size = 14.0 + 50.0 * (load / load.max() if load.max() > 0.0 else load)
    good = found.holds
    axis.scatter(x[good], y[good], s=size[good], color=BLUE, alpha=0.7, linewidths=0, label=f"{int(good.sum())} hold")
    bad = {"color": VERMILION, "marker": "x", "linewidths": 1.0}
    axis.scatter(x[~good], y[~good], s=size[~good], label=f"{int((~good).sum())} do not", **bad)
    axis.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    if load.max() > 0.0:
        axis.set_title(f"larger with more payload, up to {tick(float(load.max()), 3)} kg", fontsize="small", color=GREY)
    axis.set_xlabel(along)
    axis.set_ylabel(up)
    plain(axis, x=True)


def _at_target(found: TuningResult, test: Runs) -> tuple[Array, Array, str]:
    """Where the tool is at the targets of cases: what is across [m], height [m], and what it is that is across.

    Across is the distance from the first joint's axis, of those that move the tool, where turning that leaves all heights;
    otherwise where the tool is along the horizontal direction in which it varies most.
    """
    scenario = read_scenario(found.scenario)
    robot = load_robot(scenario.scenario_data["robot"])
    assert isinstance(scenario.command, Controller)  # or there were no targets to vary
    goal = np.tile(np.array(scenario.command.reference.at(0.0).q, float), (len(found.holds), 1))
    for i, joint in enumerate(scenario.arm.joints):
        column = test.get(f"{TARGET}{i}]", test.get(f"{TARGET}{joint.name}]"))
        if column is not None:
            goal[:, i] = np.radians(column) if scenario.degrees and joint.kind.turns else column
    gravity = np.array([*scenario.arm.gravity], float)
    up = -gravity / np.linalg.norm(gravity) if gravity.any() else np.array([0.0, 0.0, 1.0])
    position = np.asarray(robot.forward_kinematics(goal)[0])
    turned, arm = goal.copy(), scenario.arm
    first = arm.path(arm.link_of(arm.tool))[-1]
    turned[:, arm.leader(arm.links[first])] += 1.0
    height, moved = position @ up, np.asarray(robot.forward_kinematics(turned)[0]) - position
    across = position - height[:, None] * up
    if arm.links[first].kind.turns and np.abs(moved @ up).max() < LEVEL:
        centre = vector(own_poses(arm, goal[0].tolist())[first].position)
        return (
            np.linalg.norm(across - (centre - (centre @ up) * up), axis=1),
            height,
            "distance from the first joint's axis",
        )
    _, _, directions = np.linalg.svd(across - across.mean(axis=0))
    along = directions[0] * (1.0 if directions[0][np.argmax(np.abs(directions[0]))] > 0 else -1.0)
    return across @ along, height, "horizontal position"


def _numbers(column: NDArray[Any]) -> Array:
    """A column as numbers; words are counted."""
    words = sorted({x for x in column if isinstance(x, str)})
    return np.array([words.index(x) if isinstance(x, str) else float(x) for x in column])


def _margins(axis: Any, found: TuningResult, margins: Sequence[Margin]) -> None:
    """Bars from the least to the largest factor, on a logarithmic axis; arrows where more was not tried."""
    at = np.arange(len(margins))[::-1]
    for y, margin in zip(at, margins, strict=True):
        low, high = max(margin.low, 1.0 / FURTHEST), min(margin.high, FURTHEST)
        axis.plot([low, high], [y, y], color=BLUE, linewidth=4.0, solid_capstyle="butt")
        for x, mark, beyond in ((low, "<", margin.open_low), (high, ">", margin.open_high)):
            axis.plot([x], [y], marker=mark if beyond else "|", color=BLUE if beyond else VERMILION, markersize=7)
    axis.axvline(1.0, color=GREY, linewidth=0.8)
    axis.set_xscale("log", base=2)
    axis.xaxis.set_major_formatter(lambda value, _: tick(value, 3))
    axis.set_yticks(at, [worded(margin.name.removeprefix("robot."), 44) for margin in margins], fontsize="small")
    delay = next((margin for margin in found.margins if margin.unit == DELAY), None)
    more = f"; also with {tick(delay.high * 1e3, 3)} ms more delay" if delay is not None else ""
    axis.set_xlabel(f"so many times the number, with which all cases still hold{more}")
    axis.grid(axis="x", linewidth=0.3)
