"""Why a run diverged: its step was unstable, or the motion itself was, long before the step became too long for it.

A joint with a gain of the wrong sign runs away exponentially, until others hit their stops and a step that was short enough for
the intended motion becomes unstable. The last steps show only the latter; the rows show the former.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from armsim.loading import Scenario
from armsim.records import record
from armsim.stability.divergence import Rows, growth, linear_until

if TYPE_CHECKING:  # runs that do not diverge need no numpy
    import numpy as np

DOUBLINGS = 5  # of a velocity, at least: growth by a power of time has slowed down visibly by then
STEADY = 0.5  # growth rate in the last part over the mean rate, at least
LAST_PART = 0.25  # of the time of growth
FAR = 4.0 * math.pi  # rad or m: least displacement of a runaway joint
EXPLAINED = (0.2, 5.0)  # observed rate over qdd / qd, which is biased under sampled control: rows are taken at samples


class MotionRows(NamedTuple):
    """A motion in rows.

    Attributes:
        t: Times [s], shape (rows,).
        q: Joint positions [rad or m], shape (rows, n).
        qd: Joint velocities [rad/s or m/s], likewise.
        qdd: Joint accelerations [rad/s² or m/s²], likewise.
    """

    t: Sequence[float]
    q: Rows
    qd: Rows
    qdd: Rows


@record
class StepGrowth:
    """Exponential growth in the last steps of a run.

    Attributes:
        joint: Its name.
        per: "step" or "sample" of the controller.
        factor: By which the joint's velocity increments were amplified.
        alternates: Whether their sign alternates.
        doubling_s: Doubling time [s].
        since: When it began [s]; None where that was before those steps.
    """

    joint: str
    per: str
    factor: float
    alternates: bool
    doubling_s: float
    since: float | None


@record
class Runaway:
    """Exponential growth of a motion.

    Attributes:
        joint: The first that ran away.
        since: When its growth began [s].
        doubling_s: Doubling time of its velocity [s].
    """

    joint: str
    since: float
    doubling_s: float


@record
class Remedy:
    """What would have been stable where a run's step was not.

    Attributes:
        dt: The largest stable step [s]; 0 where no step is stable.
        methods: Those that are stable at the run's step.
    """

    dt: float
    methods: list[str]


def causes(
    scenario: Scenario, steps: int, approach: Rows, course: MotionRows
) -> tuple[StepGrowth | None, Runaway | None]:
    """How the step of a diverged run, and the motion before it, became unstable; None where they did not.

    Args:
        scenario: What was run.
        steps: Number of steps carried out within bounds.
        approach: Joint velocities of the last states within bounds, one step apart [rad/s or m/s], shape (states, n).
        course: The motion up to there.
    """
    known = steps + 1 - len(approach)  # the step at which `approach` begins
    found = (
        None if scenario.adaptive else _last_growth(scenario, known, approach)
    )  # error control keeps its steps stable
    began = math.inf  # when the step became unstable, if known [s]
    if found is not None and (found.since is not None or found.alternates):
        began = scenario.clock.at(known) if found.since is None else found.since
    count = sum(time <= began for time in course.t)
    count = linear_until(course.qd[:count], 0.0 if scenario.adaptive else scenario.dt)
    rows = MotionRows(course.t[:count], course.q[:count], course.qd[:count], course.qdd[:count])
    return found, runaway(scenario.arm.joint_names, rows)


def _last_growth(scenario: Scenario, known: int, approach: Rows) -> StepGrowth | None:
    """The growth in the last steps: by steps, else by samples of the controller."""
    for per, stride in (("step", 1), ("sample", scenario.clock.sample_every or 1)):
        first = -(-known // stride) * stride
        seen = approach[first - known :: stride]
        found = growth(seen, stride * scenario.dt)
        if found is not None:
            begun = first + (len(seen) - 1 - found.steps) * stride
            return StepGrowth(
                joint=scenario.arm.joints[found.joint].name,
                per=per,
                factor=found.factor,
                alternates=found.alternates,
                doubling_s=found.doubling_time(stride * scenario.dt),
                since=None if found.throughout and first > 0 else scenario.clock.at(begun),
            )
    return None


def runaway(joints: Sequence[str], course: MotionRows) -> Runaway | None:
    """The first joint that ran away: its velocity grew exponentially, at the rate that its accelerations account for.

    The test of the rate tells an unstable motion from an unstable step: a damper decelerates at every instant, even where too
    long a step amplifies the velocity.

    Args:
        joints: Their names.
        course: The motion.
    """
    import numpy as np

    found = []
    times = np.array(course.t)
    for joint, x, v, a in zip(joints, *(np.array(rows).T for rows in course[1:])):
        rises = (v[:-1] * v[1:] > 0.0) & (abs(v[1:]) > abs(v[:-1]))
        for first, end in pairwise([0, *np.flatnonzero(~rises) + 1, len(v)]):
            away = min(abs(x[end - 1] - x[first]), abs(x[-1] - x[first]))  # and it did not come back
            doubling = _doubling(times[first:end], v[first:end], a[first:end])
            if away >= FAR and doubling is not None:
                found.append(Runaway(joint, course.t[first], doubling))
                break
    return min(found, key=lambda one: one.since, default=None)


def _doubling(t: np.ndarray, v: np.ndarray, a: np.ndarray) -> float | None:
    """Doubling time of a rising velocity [s]; None where its growth is too short, not exponential, or not due to `a`."""
    import numpy as np

    if len(v) <= DOUBLINGS or abs(v[-1]) < 2.0**DOUBLINGS * abs(v[0]):
        return None
    late = np.flatnonzero(t <= t[-1] - LAST_PART * (t[-1] - t[0]))[-1]
    mean, end = (math.log(v[-1] / v[k]) / (t[-1] - t[k]) for k in (0, late))
    low, high = EXPLAINED
    due = np.median(a / v)  # median, as coupling to the other joints makes it fluctuate
    if end < STEADY * mean or not low * due <= mean <= high * due:
        return None
    return math.log(2.0) / float(np.median(np.diff(np.log(abs(v))) / np.diff(t)))
