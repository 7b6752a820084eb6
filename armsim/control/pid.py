"""Decentralised PD, PI and PID control: each joint by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from armsim.control.law import FeedbackLaw, Kept, Now
from armsim.expr import Scalar, Scalars, absolute, both, clip, either, exp, fma, is_number, maximum, where
from armsim.records import record


@record
class Pid(FeedbackLaw):
    """u = kp e + ki ∫e dt + kd de/dt, for each joint.

    Two ways keep the integral from winding up while commands saturate (Åström and Hägglund, *Advanced PID Control*, section 3.5):
    its contribution ki ∫e dt is clamped to ± `integral_limit`; or it is driven back by what saturation takes away, divided by a
    tracking time.

    Attributes:
        name: "pd", "pi" or "pid"; gains that the law does not have are zero.
        kp: Proportional gains [command per rad or m].
        ki: Integral gains [command per rad·s or m·s].
        kd: Derivative gains [command per rad/s or m/s].
        integral_limit: Bounds of |ki ∫e dt| per joint, None where there is none.
        tracking_time: Of back-calculation [s], per joint; None for clamping.
        derivative: Of the "error", or of the "measurement" alone, -dq/dt.
        filter_time: Time constant of a first-order low-pass filter of the derivative [s], per joint; None for no filter.
    """

    name: Literal["pd", "pi", "pid"]
    kp: tuple[Scalar, ...]
    ki: tuple[Scalar, ...]
    kd: tuple[Scalar, ...]
    integral_limit: tuple[Scalar | None, ...]
    tracking_time: tuple[Scalar, ...] | None = None
    derivative: Literal["error", "measurement"] = "error"
    filter_time: tuple[Scalar, ...] | None = None

    def begin(self) -> Kept:
        """Integrals and filters at zero."""
        n = len(self.kp)
        return Kept([0.0] * (0 if self.name == "pd" else n), [0.0] * (0 if self.filter_time is None else n))

    def steady(self, now: Now) -> Kept:
        """Integrals at zero, filters at the derivatives."""
        start = self.begin()
        return Kept(start.integrals, self._derivatives(now) if start.filtered else [])

    def command(self, now: Now, kept: Kept) -> Scalars:
        """The commands before saturation, n scalars."""
        derivatives = self._derivatives(now) if self.filter_time is None else kept.filtered
        commands = []
        for i, (e, de) in enumerate(zip(now.e, derivatives, strict=True)):
            u = fma(self.kp[i], e, self.kd[i] * de)
            if kept.integrals:
                u = u + within(self.ki[i] * kept.integrals[i], self.integral_limit[i])
            commands.append(u)
        return commands

    def _derivatives(self, now: Now) -> Scalars:
        return now.ed if self.derivative == "error" else [-qd for qd in now.seen.qd]

    def rates(self, now: Now, kept: Kept, excess: Scalars) -> Kept:
        """The errors, but zero where a clamped integral would be driven further out; and the filters' rates."""
        slow: Scalars = []
        if self.filter_time is not None:
            three = zip(self._derivatives(now), kept.filtered, self.filter_time, strict=True)
            slow = [(de - x) / time for de, x, time in three]
        if not kept.integrals:
            return Kept([], slow)
        return Kept([self._integral_rate(i, e, kept.integrals[i], excess[i]) for i, e in enumerate(now.e)], slow)

    def _integral_rate(self, i: int, e: Scalar, integral: Scalar, excess: Scalar) -> Scalar:
        ki, most = self.ki[i], self._largest_integral(i)
        integrates = absolute(ki) > 0.0
        if self.tracking_time is not None:
            e = e + where(integrates, excess / (where(integrates, ki, 1.0) * self.tracking_time[i]), 0.0)
        if most is not None:
            outward = either(both(integral >= most, e > 0.0), both(integral <= -most, e < 0.0))
            e = where(both(integrates, outward), 0.0, e)
        return e

    def _largest_integral(self, i: int) -> Scalar | None:
        """The largest |∫e dt| whose product with ki, rounded, is within `integral_limit`; None where nothing bounds it."""
        bound, ki = self.integral_limit[i], self.ki[i]
        if bound is None or is_number(ki, 0.0):
            return None
        size = where(absolute(ki) > 0.0, absolute(ki), 1.0)
        most = bound / size
        return where(size * most > bound, most * (1.0 - 2.0**-52), most)

    def integrated(self, now: Now, kept: Kept, excess: Scalars, period: Scalar) -> Kept:
        """By explicit Euler, clamped; a tracking time below the period, with which that overshoots, is taken as the period."""
        law = self
        if self.tracking_time is not None:
            law = replace(self, tracking_time=tuple(maximum(time, period) for time in self.tracking_time))
        return self.clamped(super(Pid, law).integrated(now, kept, excess, period))

    def clamped(self, kept: Kept) -> Kept:
        """With every integral's contribution within `integral_limit`."""
        found = []
        for i, integral in enumerate(kept.integrals):
            most = self._largest_integral(i)
            if most is not None:
                integral = where(absolute(self.ki[i]) > 0.0, within(integral, most), integral)
            found.append(integral)
        return Kept(found, kept.filtered)

    def filtered(self, now: Now, kept: Kept, period: Scalar) -> Kept:
        """The filters advanced, each by its exact exponential for a derivative that is held."""
        if self.filter_time is None:
            return kept
        three = zip(self._derivatives(now), kept.filtered, self.filter_time, strict=True)
        return Kept(kept.integrals, [de + (x - de) * exp(-(period / time)) for de, x, time in three])

    @property
    def damps(self) -> bool:
        """Whether a derivative gain is other than the number 0."""
        return not all(is_number(kd, 0.0) for kd in self.kd)

    def damping(self, i: int) -> Scalar | None:
        """The derivative gain; None where the derivative is filtered, or the law has none."""
        return None if self.filter_time is not None or self.name == "pi" else self.kd[i]

    def stiffness(self, i: int) -> Scalar | None:
        """The proportional gain."""
        return self.kp[i]


def within(u: Scalar, bound: Scalar | None) -> Scalar:
    """u within ± bound, if there is one."""
    return u if bound is None else clip(u, -bound, bound)
