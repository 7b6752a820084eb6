"""Periodic motions as Fourier series that begin and end at rest, within limits between all samples."""

from __future__ import annotations

import math

import numpy as np

from armsim.arrays import Array
from armsim.records import record

SAMPLES = 12  # of a period, for each harmonic


@record
class MotionLimits:
    """Limits of joints, each of shape (n,).

    Attributes:
        lower: Least positions [rad or m].
        upper: Greatest positions [rad or m].
        speed: [rad/s or m/s].
        acceleration: [rad/s² or m/s²].
    """

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array


@record
class FourierMotion:
    """q = offset + Σ sines sin(k w t) + cosines cos(k w t), w = 2π / period, k = 1 to K.

    Attributes:
        period: [s].
        offset: [rad or m], shape (n,).
        sines: [rad or m], shape (K, n).
        cosines: Likewise.
    """

    period: float
    offset: Array
    sines: Array
    cosines: Array

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations at times [s], each of shape (m, n)."""
        q, qd, qdd = fourier_bases(t, self.period, len(self.sines)) @ np.concatenate([self.sines, self.cosines])
        return self.offset + q, qd, qdd

    def scaled(self, share: float) -> FourierMotion:
        """A share of the motion about its offset."""
        return FourierMotion(self.period, self.offset, share * self.sines, share * self.cosines)


def fourier_bases(t: Array, period: float, harmonics: int) -> Array:
    """Sines and then cosines of a Fourier series with their first two derivatives, shape (3, m, 2 K)."""
    rates = math.tau / period * np.arange(1, harmonics + 1)
    s, c = np.sin(t[:, None] * rates), np.cos(t[:, None] * rates)
    rows = ([s, c], [c * rates, -s * rates], [-s * rates**2, -c * rates**2])
    return np.array([np.concatenate(row, axis=1) for row in rows])


class MotionFamily:
    """Motions within limits, by vectors of any numbers: for each joint K sines, K cosines, where it swings and how far.

    A trigonometric polynomial of degree K exceeds its greatest sample of N evenly spaced ones by 1 / cos(π K / N) at most (Ehlich
    and Zeller 1964, *Mathematische Zeitschrift* 86), so limits hold between the samples.

    Args:
        limits: Of the joints.
        period: [s].
        harmonics: K.
    """

    def __init__(self, limits: MotionLimits, period: float, harmonics: int) -> None:
        self.limits, self.period, self.harmonics = limits, period, harmonics
        many = SAMPLES * harmonics
        self.t = np.linspace(0.0, period, many, endpoint=False)
        self.width = 2 * harmonics + 2  # numbers for each joint
        self._bases = fourier_bases(self.t, period, harmonics)
        self._bound = math.cos(math.pi * harmonics / many)

    def motions(self, x: Array) -> list[FourierMotion]:
        """The motions of vectors, shape (c, n width)."""
        coefficients, offsets = self._series(x)
        K = self.harmonics
        return [
            FourierMotion(self.period, offset, c[:, :K].T, c[:, K:].T)
            for c, offset in zip(coefficients, offsets, strict=True)
        ]

    def states(self, x: Array) -> tuple[Array, Array, Array]:
        """Positions, velocities and accelerations at the times `t`, each of shape (c, m, n)."""
        coefficients, offsets = self._series(x)
        q, qd, qdd = (basis @ coefficients.swapaxes(1, 2) for basis in self._bases)
        return q + offsets[:, None, :], qd, qdd

    def _series(self, x: Array) -> tuple[Array, Array]:
        """Coefficients, shape (c, n, 2 K), and offsets, shape (c, n): at rest at t = 0, and as large as limits and size allow."""
        K, limits = self.harmonics, self.limits
        parts = x.reshape(len(x), -1, self.width)
        k = np.arange(1.0, K + 1)
        rest = [_without(parts[..., :K], k), _without(parts[..., K : 2 * K], k**2)]  # no velocity, no acceleration
        raw = np.concatenate(rest, axis=-1)
        q, qd, qdd = (basis @ raw.swapaxes(1, 2) for basis in self._bases)
        low, high = q.min(axis=1), q.max(axis=1)
        half = (high - low) / 2 / self._bound
        range_half = (limits.upper - limits.lower) / 2
        peaks = (np.abs(qd).max(axis=1) / self._bound, np.abs(qdd).max(axis=1) / self._bound)
        most = np.minimum(range_half / half, np.minimum(limits.speed / peaks[0], limits.acceleration / peaks[1]))
        scale = most * (1.0 + np.tanh(parts[..., -1])) / 2
        center = (limits.upper + limits.lower) / 2 + np.tanh(parts[..., -2]) * (range_half - scale * half)
        return raw * scale[..., None], center - scale * (high + low) / 2


def _without(x: Array, direction: Array) -> Array:
    """Vectors without their part along a direction."""
    along: Array = x @ direction / (direction @ direction)
    return x - along[..., None] * direction
