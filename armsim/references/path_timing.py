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
    bulge: Array | float = 0.0


NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = (NODES + 1.0) / 2.0, WEIGHTS / 2.0


def between(part: Array, w: Array, begin: Array, end: Array, delta: Array, bulge: Array) -> tuple[Array, Array]:
    """Path speeds and path accelerations at parts of intervals."""
    u = begin + (end - begin) * part
    square = w**2 + delta * part * (begin + u + bulge * part * (4.0 - 8.0 / 3.0 * part))
    return np.sqrt(np.maximum(square, 0.0)), u + 4.0 * bulge * part * (1.0 - part)


def durations(s: Array, w: Array, begin: Array, end: Array, bulge: Array) -> Array:
    """Of intervals [s]: s'' = c s + const has (s₁ - s₀) / (w₀ + w₁) = tanh(√c h / 2) / √c."""
    delta = np.diff(s)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = delta / (w[1:] + w[:-1])
        k = np.sqrt(np.abs(end - begin) / delta)
        h = 2.0 / k * np.where(end > begin, np.arctanh(np.minimum(k * mean, 1.0)), np.arctan(k * mean))
        h = np.where(k * mean > 1e-6, h, 2.0 * mean)
        i = np.flatnonzero(bulge)
        if len(i):
            speeds, _ = between(NODES, *(x[i, None] for x in (w[:-1], begin, end, delta, bulge)))
            h[i] = delta[i] * (WEIGHTS / speeds).sum(axis=1)
        return h


def divided(timing: PathTiming, parts: Array) -> PathTiming:
    """The same motion with its intervals in as many parts as each is given, or more, of about the same duration."""
    s, w, begin, end, _, top, row, _, bulge = timing
    many = np.ceil(np.maximum(parts, 1.0)).astype(int)
    i = np.repeat(np.arange(len(many)), many)
    part = (np.arange(len(i)) - np.repeat(np.cumsum(many) - many, many)) / many[i]
    first, last, delta = w[i], w[i + 1], np.diff(s)[i]
    sum_ = np.where((first + last > 0.0) & (part > 0.0), first + last, 1.0)
    part = np.where(first + last > 0.0, part * (2.0 * first + part * (last - first)) / sum_, part)
    bulge = bulge + np.zeros_like(end)
    speeds, u = between(part, first, begin[i], end[i], delta, bulge[i])
    w, s = np.append(speeds, w[-1]), np.append(s[i] + part * delta, s[-1])
    top = np.append(np.where(part > 0.0, np.minimum(top[i], top[i + 1]), top[i]), top[-1])
    last_u = np.append(u[1:], 0.0)
    last_u[np.cumsum(many) - 1] = end
    bulge = bulge[i] * (np.diff(s) / delta) ** 2
    return PathTiming(s, w, u, last_u, durations(s, w, u, last_u, bulge), top, row[i], np.diff(s), bulge)
