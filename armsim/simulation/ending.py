"""How a run ends: drives at a limit, and joints that move away from their target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from armsim.control import Controller
from armsim.measures.settling import SHARE
from armsim.plant.statics import steady_droop
from armsim.simulation.merit import DROOPED
from armsim.simulation.result import Result

WINDOWS = 4  # into which the last half of a run is cut
GROWN = 1.3  # over that half the largest error of a window, at least, where it grows from each to the next
LEAST = 1e-3  # rad or m: of an error that grows
LAST = 0.1  # of the run: what moves as far in it as a settled joint may be off its target is at rest


def ending(run: Result) -> dict[str, Any]:
    """The joints whose drive is at a limit at the end, "saturated", and those that move away from their target, "departing".

    Of the latter: joint, since when [s], largest errors in the first and the last part of that time [rad or m]. A run that ends
    beside its target, moving towards it or not at all, is not among them.
    """
    scenario, plant = run.scenario, run.plant
    acts = plant.saturated(scenario.clock.at(run.steps), run.state)
    limited = [joint.name for joint, saturates in zip(plant.arm.joints, acts, strict=True) if saturates]
    return {"saturated": limited, "departing": _departing(run)}


def settled(run: Result) -> list[str]:
    """The joints that came back to their targets, where the whole arm ends there at rest.

    There a joint is off its target by at most `SHARE` of its largest error, or by the droop that gravity leaves, and so slow that
    it moves no further in the `LAST` part of the run. One that never was off its target, as in an unstable equilibrium, came from
    nowhere.
    """
    command, joints = run.plant.command, run.plant.arm.joints
    peaks = [run.figures.get(f"peak_error_{joint.name}", math.nan) for joint in joints]
    if not isinstance(command, Controller) or run.status == "diverged" or not all(map(math.isfinite, run.end)):
        return []
    end = run.scenario.clock.at(run.steps)
    desired, x = command.reference.at(end), run.plant.parts(run.state)
    droop = steady_droop(run.plant, end) or [0.0] * len(joints)
    for i, peak in enumerate(peaks):
        off, slip = desired.q[i] - x.q[i], (desired.qd[i] - x.qd[i]) * LAST * end
        band = SHARE * peak
        if not (abs(off) <= band + DROOPED * abs(droop[i] or 0.0) and abs(slip) <= band):
            return []
    return [joint.name for joint, peak in zip(joints, peaks, strict=True) if peak > 0.0]


def _departing(run: Result) -> list[dict[str, Any]]:
    command = run.plant.command
    if not isinstance(command, Controller):
        return []
    path, scenario = run.totals.path, run.scenario
    times = [scenario.clock.at(k * path.stride * scenario.clock.log_every) for k in range(len(path.points))]
    half = len(times) // 2
    if not half:
        return []
    found = []
    wanted = [command.reference.at(t).q for t in times[half:]]
    for joint, targets, qs in zip(
        run.plant.arm.joints, zip(*wanted, strict=True), zip(*path.points[half:], strict=True), strict=True
    ):
        peaks = _peaks([abs(target - q) for target, q in zip(targets, qs, strict=True)])
        if len(peaks) == WINDOWS and all(a < b for a, b in pairwise(peaks)) and peaks[-1] > GROWN * peaks[0] + LEAST:
            found.append({"joint": joint.name, "since": times[half], "from": peaks[0], "to": peaks[-1]})
    return found


def _peaks(errors: Sequence[float]) -> list[float]:
    """The largest of each window; none where there are too few for windows."""
    size = len(errors) // WINDOWS
    return [max(errors[k * size : (k + 1) * size]) for k in range(WINDOWS)] if size > 1 else []
