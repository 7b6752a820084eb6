"""Logs cut into windows, each of which is simulated from a start of its own on a grid of equal steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from armsim.arrays import Array, Indices
from armsim.recording.measured_log import MeasuredLog
from armsim.records import record

GAP = 20.0  # median steps of time without a row, over which nothing is simulated
LONGEST_STEP = 1e-3  # s
NEAR = 0.02  # s on either side of an instant, from which a velocity is estimated
LEAST_NEAR = 3  # rows on either side
AROUND = 2  # rows before and behind one, with which it is compared
SPIKE = (
    10.0,
    15.0,
)  # how much farther than the rows around it, and than noise, a row is from their median that measures nothing
EVEN = 1e-3  # share of a quantum that values on a grid may be off


@record
class Sensor:
    """How well a joint's position is measured.

    Attributes:
        noise: Standard deviation of what is not smooth from row to row [rad or m].
        quantum: Distance of the values that occur [rad or m]; 0 where they are no grid.
    """

    noise: float
    quantum: float

    @property
    def floor(self) -> float:
        """Standard deviation below which no residual is expected."""
        return max(self.noise, self.quantum / math.sqrt(12.0))


@record
class Windows:
    """Windows of logs.

    Attributes:
        logs: The logs.
        h: Length of a step [s].
        steps: Number of steps of each.
        log: Index of each one's log, shape (w,).
        begin: Its first instant [s], likewise.
        first: Its first row in its log, likewise.
        of: Each measured row's window, shape (rows,).
        at: The step that it falls in, likewise.
        share: How far into that, from 0 to 1.
        q: Measured positions, shape (rows, n).
    """

    logs: tuple[MeasuredLog, ...]
    h: float
    steps: int
    log: Indices
    begin: Array
    first: Indices
    of: Indices
    at: Indices
    share: Array
    q: Array

    def inputs(self, which: Indices, delay: float) -> Array:
        """Means of the commands over the steps of some windows, shape (windows, steps, n), commands taking effect late.

        Args:
            which: The windows.
            delay: By so much [s].
        """
        made = np.empty((len(which), self.steps, self.q.shape[1]))
        edges = np.arange(self.steps + 1) * self.h - delay
        for k, log in enumerate(self.logs):
            mine = np.flatnonzero(self.log[which] == k)
            made[mine] = log.commands.means(self.begin[which[mine], None] + edges)
        return made

    def starts(self, wider: float = 1.0) -> Array:
        """Positions and velocities at their beginnings, from the rows near these, shape (w, 2n)."""
        return np.array(
            [local_state(self.logs[k], row, wider * NEAR) for k, row in zip(self.log, self.first, strict=True)]
        )


def local_state(log: MeasuredLog, row: int, near: float) -> Array:
    """Positions and velocities at a row, by the parabola of least squares through the rows within `near` [s], shape (2n,)."""
    near = near if log.qd is None else 0.0
    first = min(int(np.searchsorted(log.t, log.t[row] - near)), max(0, row - LEAST_NEAR))
    last = max(int(np.searchsorted(log.t, log.t[row] + near, side="right")), min(len(log.t), row + LEAST_NEAR + 1))
    x = log.t[first:last] - log.t[row]
    span = max(float(np.abs(x).max()), 1e-12)
    powers = np.vander(x / span, min(3, len(x)), increasing=True)
    found = np.linalg.lstsq(powers, log.q[first:last] - log.q[row], rcond=None)[0]
    rates = found[1] / span if log.qd is None else log.qd[row]
    return np.concatenate([log.q[row] + found[0], rates])


def sensors_of(logs: Sequence[MeasuredLog]) -> list[Sensor]:
    """The noise and the resolution of every joint's sensor, from its rows alone."""
    found = []
    for i in range(logs[0].q.shape[1]):
        noise = np.concatenate(
            [third_differences(log.t, log.q[:, i]) for log in logs if len(log.t) > 3] or [np.zeros(1)]
        )
        values = np.unique(np.concatenate([log.q[:, i] for log in logs]))
        rows = sum(len(log.t) for log in logs)
        quantum = 0.0
        if 2 < len(values) < 0.7 * rows:
            apart = np.diff(values)
            apart = apart[apart > 1e-9 * max(1.0, float(np.abs(values).max()))]
            least = float(apart.min())
            whole = np.rint(apart / least)
            quantum = float(apart.sum() / whole.sum())
            if np.abs(apart / quantum - whole).max() > EVEN * whole.max():
                quantum = 0.0
        found.append(Sensor(float(np.sqrt(np.mean(noise**2))), quantum))
    return found


def without_spikes(log: MeasuredLog) -> MeasuredLog:
    """A log without rows in which a position jumps away from the rows around it and back, as where a sensor fails.

    They are told by medians, which single rows do not move (Hampel's filter). Commands stay.
    """
    if len(log.t) <= 2 * AROUND:
        return log
    around = sliding_window_view(log.q, 2 * AROUND + 1, axis=0)
    middle = np.median(around, axis=-1)
    off = np.abs(log.q[AROUND:-AROUND] - middle)
    spread = np.median(np.abs(around - middle[..., None]), axis=-1)
    noise = np.array([np.median(np.abs(third_differences(log.t, q))) for q in log.q.T])
    moves = np.abs(np.diff(log.q, axis=0))
    least = np.where(moves > 0.0, moves, math.inf).min(axis=0)  # a count of an encoder, or less
    kept = np.full(len(log.t), True)
    kept[AROUND:-AROUND] = (off <= np.maximum(SPIKE[0] * np.maximum(spread, least), SPIKE[1] * noise)).all(axis=1)
    if kept.all():
        return log
    found = f"{(~kept).sum()} of {len(kept)} rows left out, the first at {log.t[np.argmin(kept)]:.6g} s"
    note = f"{found}: a position jumps away from the rows around it, and back"
    told = log.inputs_from if log.commands.lines else log.inputs_told
    t, q, qd = log.t[kept], log.q[kept], None if log.qd is None else log.qd[kept]
    return replace(log, t=t, q=q, qd=qd, inputs_from=told, notes=(*log.notes, note))


def third_differences(t: Array, x: Array) -> Array:
    """Divided differences of third order, which no parabola has, scaled to the variance of white noise, shape (m - 3,)."""
    t4, x4 = (sliding_window_view(values, 4) for values in (t, x))
    weights = 1.0 / (t4[:, :, None] - t4[:, None] + np.eye(4)).prod(axis=2)
    return np.asarray((weights * x4).sum(axis=1) / np.linalg.norm(weights, axis=1))


def step_of(logs: Sequence[MeasuredLog], dt: float | None) -> float:
    """The length of steps [s]: the time between two rows, or a whole part of it of a millisecond or `dt` at most."""
    apart = float(np.median(np.concatenate([np.diff(log.t) for log in logs])))
    return apart / max(1, math.ceil(apart / (LONGEST_STEP if dt is None else dt) * (1.0 - 1e-9)))


def cut(
    logs: Sequence[MeasuredLog],
    spans: Sequence[tuple[int, float, float]],
    seconds: float,
    h: float,
    enough: float = math.inf,
) -> Windows:
    """Spans of logs in windows of equal length.

    Args:
        logs: The logs.
        spans: Index of a log, first and last instant [s].
        seconds: Length of a window [s] at most; inf for one a stretch of rows without a gap.
        h: Length of a step [s].
        enough: How many rows are: of twice as many every other window is left out, of more rows more.
    """
    pieces = []  # a log, and the rows of a window in it
    for k, start, end in spans:
        log = logs[k]
        inside = np.flatnonzero((log.t >= start) & (log.t <= end))
        gaps = np.diff(log.t[inside])
        for rows in np.split(inside, np.flatnonzero(gaps > GAP * np.median(gaps)) + 1):
            span = float(log.t[rows[-1]] - log.t[rows[0]])
            count = max(1, round(span / seconds))
            which = ((log.t[rows] - log.t[rows[0]]) * count / max(span, h) * (1.0 + 1e-12)).astype(int)
            parts = (rows[which == one] for one in range(count))
            pieces += [(k, part) for part in parts if len(part) > 1]
    pieces = pieces[:: max(1, int(sum(len(rows) for _, rows in pieces) // enough))]
    times = [logs[k].t[rows] - logs[k].t[rows[0]] for k, rows in pieces]
    at = np.concatenate([*times, np.zeros(0)]) / h
    apart = math.ceil(
        max(float(np.median(np.diff(log.t))) for log in logs) / h - 1e-6
    )  # a row on, the next window begins
    whole = np.floor(at + 1e-6)
    share = at - whole
    return Windows(
        logs=tuple(logs),
        h=h,
        steps=int(whole.max(initial=0)) + apart,
        log=np.array([k for k, _ in pieces], dtype=np.int64),
        begin=np.array([logs[k].t[rows[0]] for k, rows in pieces]),
        first=np.array([rows[0] for _, rows in pieces], dtype=np.int64),
        of=np.repeat(np.arange(len(pieces)), [len(rows) for _, rows in pieces]),
        at=whole.astype(np.int64),
        share=np.where(share > 1e-6, share, 0.0),
        q=np.concatenate([*(logs[k].q[rows] for k, rows in pieces), logs[0].q[:0]]),
    )
