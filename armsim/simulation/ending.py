"""How a run ends: drives at a limit, and joints that move away from their target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise

from armsim.control import Controller
from armsim.measures.settling import SHARE
from armsim.model.angles import POSITION
from armsim.plant.statics import steady_droop
from armsim.records import record
from armsim.simulation.problems import DROOPED
from armsim.simulation.result import Result

WINDOWS = 4  # into which the last half of a run is cut
GROWN = 1.3  # over that half the largest error of a window, at least, where it grows from each to the next
LEAST = 1e-3  # rad or m: of an error that grows
LAST = 0.1  # of the run: what moves as far in it as a settled joint may be off its target is at rest


@record
class GrowingError:
    """The error of a joint that moves away from its target.

    Attributes:
        joint: Its name.
        since: When [s].
        from_: The largest error in the first part of that time [rad or m].
        to: That in the last part.
    """

    joint: str
    since: float
    from_: float = field(metadata=POSITION)
    to: float = field(metadata=POSITION)


@record
class Ending:
    """How a run ends.

    Attributes:
        saturated: The joints whose drive is at a limit at the end.
        departing: Those that move away from their target. A joint that ends beside its target, moving towards it or not at all,
            is not among them.
    """

    saturated: list[str]
    departing: list[GrowingError]


def ending(run: Result) -> Ending:
    """How a run ends."""
    acts = run.plant.saturated(run.end_time, run.state)
    limited = [joint.name for joint, saturates in zip(run.plant.arm.joints, acts, strict=True) if saturates]
    return Ending(limited, _departing(run))


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
    end = run.end_time
    desired, x = command.reference.at(end), run.plant.parts(run.state)
    droop = steady_droop(run.plant, end) or [0.0] * len(joints)
    for i, peak in enumerate(peaks):
        off, slip = desired.q[i] - x.q[i], (desired.qd[i] - x.qd[i]) * LAST * end
        band = SHARE * peak
        if not (abs(off) <= band + DROOPED * abs(droop[i] or 0.0) and abs(slip) <= band):
            return []
    return [joint.name for joint, peak in zip(joints, peaks, strict=True) if peak > 0.0]


def _departing(run: Result) -> list[GrowingError]:
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
            found.append(GrowingError(joint.name, times[half], peaks[0], peaks[-1]))
    return found


def _peaks(errors: Sequence[float]) -> list[float]:
    """The largest of each window; none where there are too few for windows."""
    size = len(errors) // WINDOWS
    return [max(errors[k * size : (k + 1) * size]) for k in range(WINDOWS)] if size > 1 else []
