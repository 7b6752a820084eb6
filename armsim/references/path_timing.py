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


def cut(w: Array, parts: Array) -> tuple[Array, Array]:
    """Intervals in as many parts as each is given, or more, of about the same duration: whose part each is, and where it begins.

    Args:
        w: Path speeds at N + 1 points.
        parts: Of each interval.
    """
    many = np.ceil(np.maximum(parts, 1.0)).astype(int)
    i = np.repeat(np.arange(len(many)), many)
    time = (np.arange(len(i)) - (np.cumsum(many) - many)[i]) / many[i]
    first, last = w[i], w[i + 1]
    sum_ = first + last
    return i, np.where(sum_ > 0.0, (2.0 * first + time * (last - first)) / np.where(sum_ > 0.0, sum_, 1.0), 1.0) * time


def divided(timing: PathTiming, parts: Array) -> PathTiming:
    """The same motion with its intervals cut into as many parts as each is given, or more."""
    s, w, begin, end, _, top, row, _ = timing
    i, part = cut(w, parts)
    delta, last = np.diff(s)[i], np.append(np.diff(i), 1) > 0
    u = begin[i] + (end - begin)[i] * part
    speeds = np.sqrt(np.maximum(w[i] ** 2 + delta * part * (begin[i] + u), 0.0))
    w, s = np.append(speeds, w[-1]), np.append(s[i] + part * delta, s[-1])
    top = np.append(np.where(part > 0.0, np.minimum(top[i], top[i + 1]), top[i]), top[-1])
    end = np.where(last, end[i], np.append(u[1:], 0.0))
    return PathTiming(s, w, u, end, durations(s, w, u, end), top, row[i], np.diff(s))
