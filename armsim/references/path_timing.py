"""When a motion is where on its path: path speeds at points, and path accelerations that are parabolas in s between them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = Any  # numpy's
NODES, WEIGHTS = (np.polynomial.legendre.leggauss(8) + np.array([[1.0], [0.0]])) / 2.0


class PathTiming(NamedTuple):
    """A motion along a path: from point to point, the path acceleration is a parabola in s, most of them straight.

    Attributes:
        s: Path parameter of N + 1 points.
        w: Path speeds there.
        begin: Path accelerations where each of N intervals begins.
        end: Where it ends.
        h: Duration of each interval [s].
        top: The greatest speed that limits admit at each point.
        row: The row that is nearest to its limit in each interval.
        way: Length of each interval, to its own digits.
        bulge: By how much the path acceleration is greater in the middle of an interval than the mean of its ends.
    """

    s: Array
    w: Array
    begin: Array
    end: Array
    h: Array
    top: Array
    row: Array
    way: Array
    bulge: Array


def within(part: Array, w: Array, begin: Array, end: Array, delta: Array, bulge: Array) -> tuple[Array, Array]:
    """Path speeds and path accelerations at parts of intervals."""
    u = begin + (end - begin) * part
    square = w**2 + delta * part * (begin + u + bulge * part * (4.0 - 8.0 / 3.0 * part))
    return np.sqrt(np.maximum(square, 0.0)), u + 4.0 * bulge * part * (1.0 - part)


def durations(s: Array, w: Array, begin: Array, end: Array, bulge: Array) -> Array:
    """Of intervals [s]: s'' = c s + const has (s₁ - s₀) / (w₀ + w₁) = tanh(√c h / 2) / √c; of parabolas by Gauss and Legendre."""
    delta = np.diff(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = delta / (w[1:] + w[:-1])
        k = np.sqrt(np.abs(end - begin) / delta)
        h = 2.0 / k * np.where(end > begin, np.arctanh(np.minimum(k * mean, 1.0)), np.arctan(k * mean))
        h = np.where(k * mean > 1e-6, h, 2.0 * mean)
    i = np.flatnonzero(bulge)
    speeds, _ = within(NODES, *(x[i, None] for x in (w[:-1], begin, end, delta, bulge)))
    h[i] = delta[i] * (WEIGHTS / speeds).sum(axis=1)
    return h


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
    s, w, begin, end, _, top, row, _, bulge = timing
    i, part = cut(w, parts)
    delta, last = np.diff(s)[i], np.append(np.diff(i), 1) > 0
    speeds, u = within(part, w[i], begin[i], end[i], delta, bulge[i])
    w, s = np.append(speeds, w[-1]), np.append(s[i] + part * delta, s[-1])
    top = np.append(np.where(part > 0.0, np.minimum(top[i], top[i + 1]), top[i]), top[-1])
    end = np.where(last, end[i], np.append(u[1:], 0.0))
    bulge = bulge[i] * (np.diff(s) / delta) ** 2
    return PathTiming(s, w, u, end, durations(s, w, u, end, bulge), top, row[i], np.diff(s), bulge)
