"""The fastest motion along a path as a table of joint motions."""

from __future__ import annotations

import math
from dataclasses import field
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from armsim.records import record
from armsim.references.hermite import quintic_hermite
from armsim.references.joint_path import JointPath
from armsim.references.path_timing import PathTiming
from armsim.references.recorded import Recorded, of_columns

Array = Any  # numpy's


@record
class Binding:
    """A time in which a limit is the nearest, and reached.

    Attributes:
        joint: Its joint; "" of the tool.
        quantity: "torque", "current", "voltage", "speed", "acceleration", "angular speed" or "command".
        from_s: When it begins [s].
        to_s: When it ends [s].
    """

    joint: str
    quantity: str
    from_s: float
    to_s: float


class FastestStage(NamedTuple):
    """A motion between two stops.

    Attributes:
        begin: When it begins [s].
        path: What it follows.
        timing: When it is where.
        labels: What the rows of limits bound: a joint and a quantity each.
        unheld: For each point, the row whose limit does not let the arm stand still there; -1 for none.
        jerk: Greatest jerk of each joint [rad/s³ or m/s³]; None without.
    """

    begin: float
    path: JointPath
    timing: PathTiming
    labels: tuple[tuple[str, str], ...]
    unheld: Array
    jerk: Array | None = None

    @property
    def times(self) -> Array:
        """When it is at each point [s]."""
        return self.begin + np.append(0.0, np.cumsum(self.timing.h))

    @property
    def bindings(self) -> list[Binding]:
        """The limits that bind, one after the other."""
        return self._runs(self.timing.row)

    @property
    def unstoppable(self) -> list[Binding]:
        """Where the arm could not stand still, and the limits that do not let it."""
        return self._runs(self.unheld[:-1])

    def _runs(self, rows: Array) -> list[Binding]:
        """Intervals with the same row, as one."""
        found: list[Binding] = []
        times, begin = self.times.tolist(), 0
        for label, run in groupby(self.labels[row] if row >= 0 else None for row in rows.tolist()):
            end = begin + len(list(run))
            if label is not None:
                joint, quantity = label
                found.append(Binding(joint, quantity, times[begin], times[end]))
            begin = end
        return found

    def jerk_shares(self, i: int) -> list[tuple[float, float]]:
        """The share of a joint's greatest jerk that it uses where each interval begins, and when [s]; none without a limit."""
        if self.jerk is None:
            return []
        used = 6.0 * np.abs(self.joints()[i, 3]) / self.jerk[i]
        return [*zip(used.tolist(), self.times.tolist())]

    def joints(self) -> Array:
        """The coefficients of the quintics of time between points, shape (n, 6, N)."""
        s, w, begin, end, h = (x[:, None] for x in self.timing[:5])
        k = self.path.piece((self.timing.s[1:] + self.timing.s[:-1]) / 2)
        way = self.path.way(s[:-1, 0], self.timing.way, k)
        q, slope, second = self.path.at(s[:-1, 0], k)
        _, last_slope, last_second = self.path.at(s[1:, 0], k)
        v0, v1, a0 = slope * w[:-1], last_slope * w[1:], slope * begin + second * w[:-1] ** 2
        a1 = last_slope * end + last_second * w[1:] ** 2
        return np.stack([q, *quintic_hermite(h, (np.zeros_like(q), v0, a0), (way, v1, a1))[1:]]).T.swapaxes(1, 2)


@record
class FastestMotion(Recorded):
    """The fastest motion along paths in joint space.

    Attributes:
        stages: Between stops.
    """

    stages: tuple[FastestStage, ...] = field(compare=False, repr=False)


def fastest_motion(stages: tuple[FastestStage, ...]) -> FastestMotion:
    """The joints' motion in stages that follow each other."""
    times = [stages[0].begin] + [t for stage in stages for t in stage.times[1:].tolist()]
    columns, h = np.concatenate([stage.joints() for stage in stages], axis=2), times[-1] - times[-2]
    last = [math.fsum(x * h**k for k, x in enumerate(c)) for c in columns[..., -1].tolist()]
    made = of_columns(times, columns.tolist(), last)
    return FastestMotion(made.origin, made.coefficients, stages)
