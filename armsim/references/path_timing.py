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


def divided(timing: PathTiming, parts: Array) -> PathTiming:
    """The same motion with its intervals halved in time, about, until they are as many parts, or more, as each is given."""
    s, w, begin, end, _, top, row, _ = timing
    while (more := parts > 1.0).any():
        i, many = np.flatnonzero(more), 1 + more
        delta, sum_ = np.diff(s)[i], w[1:][i] + w[i]
        part = np.where(sum_ > 0.0, (3.0 * w[i] + w[1:][i]) / (4.0 * np.where(sum_ > 0.0, sum_, 1.0)), 0.5)
        u = begin[i] + (end - begin)[i] * part
        points = np.stack([s, w, top])
        points = np.repeat(points, np.append(many, 1), axis=1)
        at = i + np.arange(1, len(i) + 1)
        speed = np.sqrt(np.maximum(w[i] ** 2 + delta * part * (begin[i] + u), 0.0))
        points[:, at] = s[i] + part * delta, speed, np.minimum(top[1:], top[:-1])[i]
        s, w, top = points
        begin, end, row, parts = (np.repeat(x, many) for x in (begin, end, row, np.where(more, parts / 2.0, parts)))
        begin[at], end[at - 1] = u, u
    return PathTiming(s, w, begin, end, durations(s, w, begin, end), top, row, np.diff(s))
