"""Continuous extensions of steps: dense output of methods that run ahead of the instants they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from armsim.expr import Scalar, Scalars, absolute, chosen, fma, mapped, where, zeros
from armsim.integrate.motion import Motion
from armsim.integrate.system import System
from armsim.records import mutable_record

OPEN = 2.0  # in place of a mode: velocities and forces of the instant itself decide


@mutable_record
class Extension:
    """The continuous extension of a step.

    Attributes:
        begin: The step's beginning, since the last landing [s].
        coefficients: See `interpolated`.
        mode: The step's, see `System.mode`.
    """

    begin: Scalar
    coefficients: list[Motion]
    mode: Scalars


@mutable_record
class Ahead:
    """How far a method has run ahead of an instant.

    Attributes:
        landing: Time between landings, where steps end exactly [s].
        since: Time of the last landing [s].
        done: End of the last step, since then [s]; 0 at a landing.
        end: The motion there.
        extension: Of that step; its mode is `OPEN` where the instant is the step's end.
    """

    landing: Scalar
    since: Scalar
    done: Scalar
    end: Motion
    extension: Extension

    @classmethod
    def landed(cls, landing: Scalar, y: Motion, coefficients: int, modes: int) -> Ahead:
        """At a landing, at y."""
        nothing = [zeros(y) for _ in range(coefficients)]
        return cls(landing, 0.0, 0.0, y, Extension(0.0, nothing, [OPEN] * modes))

    def since_landing(self, t: Scalar) -> Scalar:
        """Time of the last landing [s], at time t."""
        return where(self.done <= 0.0, t, self.since)

    def of_instant(self, t: Scalar, y: Motion) -> Ahead:
        """The same at time t [s], when the motion is y: where that is a landing, it begins there."""
        landed = self.done <= 0.0
        return replace(self, since=self.since_landing(t), end=chosen(landed, y, self.end))


@mutable_record
class SmoothStep:
    """A step of a system that stays on its branch, with its continuous extension.

    Attributes:
        smooth: The system on its branch.
        t: Time of the step's start [s].
        h: Length of the step [s].
        end: The motion at its end.
        coefficients: Of its continuous extension.
    """

    smooth: System
    t: Scalar
    h: Scalar
    end: Motion
    coefficients: Sequence[Motion]

    @property
    def moves(self) -> Scalars:
        """How far positions are at most from where they were at its start."""
        change, *inner = (c.q for c in self.coefficients)
        return [absolute(d) + sum(map(absolute, bends)) / 4 for d, *bends in zip(change, *inner, strict=True)]

    def at(self, share: Scalar) -> tuple[Scalar, Motion]:
        """The time [s] and the motion at a share of the step."""
        return self.t + share * self.h, interpolated(self.end, self.coefficients, share)


def interpolated(end: Motion, coefficients: Sequence[Motion], theta: Scalar) -> Motion:
    """The motion at a share θ of a step, y1 - (1 - θ) (d - θ (c0 + θ (c1 + ...))); exactly y1 at θ = 1.

    Args:
        end: y1.
        coefficients: d = y1 - y0, c0, c1, ...
        theta: θ, 0 at the step's beginning, 1 at its end.
    """
    back = theta - 1.0

    def at(y1: Scalar, d: Scalar, *inner: Scalar) -> Scalar:
        total = inner[-1]
        for c in reversed(inner[:-1]):
            total = fma(theta, total, c)
        return fma(back, fma(-theta, total, d), y1)

    return Motion(*mapped(at, end, *coefficients))
