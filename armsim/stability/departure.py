"""What made a run leave all bounds: its steps, or the motion itself, which may have grown long before a step failed to follow.

A joint with a gain of the wrong sign runs away steadily, until others are flung against their stops and a step that was short
enough for the motion that was meant blows up. Only that is seen in the last steps; what began is seen in the rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from armsim.loading import Scenario
from armsim.stability.divergence import Rows, growth, linear_until

if TYPE_CHECKING:  # runs that do not diverge need no numpy
    import numpy as np

DOUBLINGS = 5  # of a velocity, at least: along a power of time they take ever longer, which shows by then
STEADY = 0.5  # of the mean rate of growth, at least, is that of its last part
LAST_PART = 0.25  # of its time
FAR = 4.0 * math.pi  # rad or m: a joint that ran away went so far at least, and did not come back
EXPLAINED = (0.2, 5.0)  # times the rate that accelerations make is that seen: a sampled command is freshest in the rows


def causes(
    scenario: Scenario, steps: int, approach: Rows, t: Sequence[float], q: Rows, qd: Rows, qdd: Rows
) -> dict[str, dict[str, Any] | None]:
    """What a diverged run's summary says of how it came to that: "growth" and "motion".

    Args:
        scenario: What was run.
        steps: Carried out within bounds.
        approach: Joint velocities of the last states within bounds, one step apart [rad/s or m/s], shape (states, n).
        t: Times of the rows [s].
        q: Joint positions in the rows [rad or m], shape (rows, n).
        qd: Joint velocities in the rows, shape (rows, n).
        qdd: Joint accelerations that act from then on [rad/s² or m/s²], shape (rows, n).

    Returns:
        growth: that of the last steps: joint, factor of its velocity's increments, `per` step or sample of the controller,
        doubling time, and since when (None where it began before those steps). None where there is none.
        motion: that of the motion itself before: joint, since, doubling time. None where it did not grow.
    """
    known = steps + 1 - len(approach)  # the step from which on velocities are
    num, den = scenario.time_ratio
    found = None if scenario.adaptive else _last_growth(scenario, known, approach)  # it is not its steps that grow
    began = math.inf  # when a step began to blow up, as far as that is known
    if found is not None and (found["since"] is not None or found["alternates"]):
        began = known * num / den if found["since"] is None else found["since"]
    count = sum(time <= began for time in t)
    count = linear_until(qd[:count], 0.0 if scenario.adaptive else scenario.dt)
    motion = own_growth(t[:count], q[:count], qd[:count], qdd[:count])
    if motion is not None:
        motion["joint"] = scenario.arm.joints[motion["joint"]].name
    return {"growth": found, "motion": motion}


def _last_growth(scenario: Scenario, known: int, approach: Rows) -> dict[str, Any] | None:
    """See `causes`."""
    num, den = scenario.time_ratio
    for per, stride in (("step", 1), ("sample", scenario.sample_every or 1)):
        first = -(-known // stride) * stride
        seen = approach[first - known :: stride]
        found = growth(seen, stride * scenario.dt)
        if found is not None:
            begun = first + (len(seen) - 1 - found.steps) * stride
            return {
                "joint": scenario.arm.joints[found.joint].name,
                "per": per,
                "factor": found.factor,
                "alternates": found.alternates,
                "doubling_s": found.doubling_time(stride * scenario.dt),
                "since": None if found.throughout and first > 0 else begun * num / den,
            }
    return None


def own_growth(t: Sequence[float], q: Rows, qd: Rows, qdd: Rows) -> dict[str, Any] | None:
    """The joint that ran away, its velocity growing exponentially as its accelerations have it; the first, if there are several.

    Where steps make it grow, the accelerations, which are those of the motion and not of the steps, do not account for it: a
    damper slows a joint down at every instant, while too long a step throws it ever further.

    Returns:
        joint: its index; since: when it began [s]; doubling_s: how long its velocity took to double [s]. None if there is none.
    """
    import numpy as np

    found = []
    times = np.array(t)
    for joint, (x, v, a) in enumerate(zip(*(np.array(rows).T for rows in (q, qd, qdd)))):
        rises = (v[:-1] * v[1:] > 0.0) & (abs(v[1:]) > abs(v[:-1]))
        for first, end in pairwise([0, *np.flatnonzero(~rises) + 1, len(v)]):
            away = min(abs(x[end - 1] - x[first]), abs(x[-1] - x[first]))  # and it stayed there
            doubling = _doubling(times[first:end], v[first:end], a[first:end])
            if away >= FAR and doubling is not None:
                found.append({"joint": joint, "since": t[first], "doubling_s": doubling})
                break
    return min(found, key=lambda one: one["since"], default=None)


def _doubling(t: np.ndarray, v: np.ndarray, a: np.ndarray) -> float | None:
    """The time in which a rising velocity doubled [s]; None where it did not do so often and steadily, or was made to."""
    import numpy as np

    if len(v) <= DOUBLINGS or abs(v[-1]) < 2.0**DOUBLINGS * abs(v[0]):
        return None
    late = np.flatnonzero(t <= t[-1] - LAST_PART * (t[-1] - t[0]))[-1]
    mean, end = (math.log(v[-1] / v[k]) / (t[-1] - t[k]) for k in (0, late))
    low, high = EXPLAINED
    due = np.median(a / v)  # a fast joint flings the others to and fro, and they it
    if end < STEADY * mean or not low * due <= mean <= high * due:
        return None
    return math.log(2.0) / float(np.median(np.diff(np.log(abs(v))) / np.diff(t)))
