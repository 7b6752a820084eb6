"""When a motion is where on its path: path speeds at points, and path accelerations that are linear in s between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any  # numpy's


class PathTiming(NamedTuple):
    """A motion along a path: from point to point, the path acceleration is linear in s.

    Attributes:
        s: Path parameter of N + 1 points.
        w: Path speeds there.
        begin: Path accelerations where each of N intervals begins.
        end: Where it ends.
        h: Duration of each interval [s].
        top: The greatest speed that limits admit at each point.
        row: The row that is nearest to its limit in each interval.
        way: Length of each interval, to its own digits.
    """

    s: Array
    w: Array
    begin: Array
    end: Array
    h: Array
    top: Array
    row: Array
    way: Array


def durations(s: Array, w: Array, begin: Array, end: Array) -> Array:
    """Of intervals [s]: s'' = c s + const has (s₁ - s₀) / (w₀ + w₁) = tanh(√c h / 2) / √c."""
    delta = np.diff(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = delta / (w[1:] + w[:-1])
        k = np.sqrt(np.abs(end - begin) / delta)
        h = 2.0 / k * np.where(end > begin, np.arctanh(np.minimum(k * mean, 1.0)), np.arctan(k * mean))
        return np.where(k * mean > 1e-6, h, 2.0 * mean)


def halved(timing: PathTiming, i: Array) -> PathTiming:
    """The same motion with a point more in some intervals, at about half their time."""
    s, w, begin, end, _, top, row, _ = timing
    delta, sum_ = np.diff(s)[i], w[1:][i] + w[i]
    part = np.where(sum_ > 0.0, (3.0 * w[i] + w[1:][i]) / (4.0 * np.where(sum_ > 0.0, sum_, 1.0)), 0.5)
    u = begin[i] + (end - begin)[i] * part
    speed = np.sqrt(np.maximum(w[i] ** 2 + delta * part * (begin[i] + u), 0.0))
    least = np.minimum(top[1:], top[:-1])[i]
    s, w, begin, top = (
        np.insert(a, i + 1, x) for a, x in ((s, s[i] + part * delta), (w, speed), (begin, u), (top, least))
    )
    end = np.insert(end, i, u)
    return PathTiming(s, w, begin, end, durations(s, w, begin, end), top, np.insert(row, i, row[i]), np.diff(s))


def divided(timing: PathTiming, parts: Array) -> PathTiming:
    """The same motion with its intervals halved until they are as many parts, or more, as each is given."""
    while (parts > 1.0).any():
        more = parts > 1.0
        timing, parts = halved(timing, np.flatnonzero(more)), np.repeat(np.where(more, parts / 2.0, parts), 1 + more)
    return timing
