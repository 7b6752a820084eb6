"""Paths in joint space: piecewise polynomials of a path parameter s, which a fastest motion follows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np

from armsim.references.recorded import interpolated
from armsim.references.spline import cubic_spline

Array = Any  # numpy's
STILL = 1e-9  # relative: a joint that moves so much less than the fastest one is rounding, and does not move
ITERATIONS = 12
LEAST = 3e-5  # relative: points of a grid are so far from each other


class JointPath(NamedTuple):
    """Joint positions q(s).

    Attributes:
        breaks: Path parameters at which pieces begin, and the end, shape (K + 1,).
        coefficients: c₀, c₁, ... about the beginning of each piece, shape (K, n, degree + 1) [rad or m].
    """

    breaks: Array
    coefficients: Array

    def piece(self, s: Array) -> Array:
        """The index of the piece at path parameters."""
        return np.clip(np.searchsorted(self.breaks, s, side="right") - 1, 0, len(self.coefficients) - 1)

    def at(self, s: Array, k: Array) -> tuple[Array, Array, Array]:
        """Joint positions and their derivatives q' and q'' by s, by the pieces k, shape (..., n) each."""
        c, x = self.coefficients[k], (s - self.breaks[k])[..., None]
        q, slope, second = c[..., -1], np.zeros(c.shape[:-1]), np.zeros(c.shape[:-1])
        for i in reversed(range(c.shape[-1] - 1)):
            second = second * x + 2.0 * slope
            slope = slope * x + q
            q = q * x + c[..., i]
        slope[np.abs(slope) < STILL * np.abs(slope).max(axis=-1, keepdims=True)] = 0.0
        return q, slope, second

    def third(self, s: Array, k: Array) -> Array:
        """The third derivative of joint positions by s, by the pieces k, shape (m, n)."""
        c, x = self.coefficients[k], (s - self.breaks[k])[:, None]
        found = np.zeros(c.shape[:2])
        for i in reversed(range(3, c.shape[2])):
            found = found * x + i * (i - 1) * (i - 2) * c[..., i]
        return found

    def way(self, s: Array, delta: Array, k: Array) -> Array:
        """q(s + delta) - q(s) by the pieces k, shape (m, n), to the digits of delta, however small."""
        c, x, delta = self.coefficients[k], (s - self.breaks[k])[:, None], delta[:, None]
        found, power, grown = np.zeros(c.shape[:2]), np.ones_like(x), np.zeros_like(x)
        for i in range(1, c.shape[2]):
            grown = grown * (x + delta) + power * delta  # (x + delta)^i - x^i
            power = power * x
            found += c[..., i] * grown
        return found

    def grid(self, count: int) -> Array:
        """Path parameters of points: closer to the ends, at every break, and where a joint turns back."""
        begin, end = self.breaks[0], self.breaks[-1]
        s = begin + (end - begin) * np.sin(np.linspace(0.0, math.pi / 2, count + 1)) ** 2
        s = _joined(self.breaks, s)
        middle = (s[1:] + s[:-1]) / 2
        k = self.piece(middle)
        before, after = self.at(s[:-1], k)[1], self.at(s[1:], k)[1]
        i, j = np.nonzero(before * after < 0.0)
        low, high, k, falling = s[i], s[i + 1], k[i], before[i, j] < 0.0
        at = (low + high) / 2
        for _ in range(ITERATIONS if len(j) else 0):  # Newton's, within what is left of the interval
            slope, second = (x[np.arange(len(j)), j] for x in self.at(at, k)[1:])
            on = (slope < 0.0) == falling
            low, high = np.where(on, at, low), np.where(on, high, at)
            at = at - slope / np.where(second == 0.0, 1.0, second)
            at = np.where((low <= at) & (at <= high), at, (low + high) / 2)
        turning = np.sort(at)
        turning = turning[np.diff(turning, prepend=-np.inf) > LEAST * (end - begin)]
        return _joined(_joined(self.breaks, turning), s)


def _joined(fixed: Array, more: Array) -> Array:
    """Points with those of more that are not next to one of them."""
    least = LEAST * (fixed[-1] - fixed[0])
    k = np.clip(np.searchsorted(fixed, more), 1, len(fixed) - 1)
    near = np.minimum(np.abs(more - fixed[k - 1]), np.abs(fixed[k] - more)) < least
    return np.sort(np.append(fixed, more[~near]))


def straight(start: Sequence[float], end: Sequence[float]) -> JointPath:
    """The line between two points, by its length."""
    length = math.dist(start, end)
    coefficients = [[(a, (b - a) / length) for a, b in zip(start, end, strict=True)]]
    return JointPath(np.array([0.0, length]), np.array(coefficients))


def through(points: Sequence[Sequence[float]], order: int | None = None) -> JointPath:
    """The spline through points that differ, by the sum of their distances.

    Args:
        points: Joint positions [rad or m], m of n numbers.
        order: 3 or 5, without a knot next to its ends; None for the cubic without curvature at its ends.
    """
    s = [0.0, *accumulate(math.dist(a, b) for a, b in pairwise(points))]
    if order is not None:
        made = interpolated(s, list(zip(*points, strict=True)), order)
        columns = [[list(table.y[1:-1]) for table in joint] for joint in made.coefficients]
        return JointPath(np.array(s), np.transpose(columns, (2, 0, 1)))
    return JointPath(
        np.array(s), np.array([piece.coefficients for piece in cubic_spline(points, s, "natural").pieces[1:-1]])
    )
