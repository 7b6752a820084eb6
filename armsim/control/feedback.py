"""Decentralised PD, PI and PID control: each joint by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from armsim.expr import Scalar, both, clip, either, fma, where


@dataclass(frozen=True)
class Feedback:
    """u = kp e + ki ∫e dt - kd qd with e = target - q, for each joint.

    The integrator is clamped (anti-windup): its contribution ki ∫e dt stays within ± `integral_limit`.

    Attributes:
        law: "pd", "pi" or "pid"; gains that the law does not have are zero.
        output: What u is: a motor voltage [V] or a joint torque [N·m or N].
        kp: Proportional gains [V/rad or N·m/rad].
        ki: Integral gains [V/(rad·s) or N·m/(rad·s)].
        kd: Derivative gains [V·s/rad or N·m·s/rad].
        target: Joint positions to hold [rad or m].
        limit: Bounds of |u| per joint, None where there is none.
        integral_limit: Bounds of |ki ∫e dt| per joint, None where there is none.
        period: Sample time [s], u held between samples; None for continuous feedback.
    """

    law: Literal["pd", "pi", "pid"]
    output: Literal["voltage", "torque"]
    kp: tuple[Scalar, ...]
    ki: tuple[Scalar, ...]
    kd: tuple[Scalar, ...]
    target: tuple[Scalar, ...]
    limit: tuple[Scalar | None, ...]
    integral_limit: tuple[Scalar | None, ...]
    period: float | None = None

    @property
    def integrals(self) -> int:
        """Number of integrator states ∫e dt [rad·s or m·s]."""
        return 0 if self.law == "pd" else len(self.kp)

    def command(
        self, t: Scalar, q, qd, integrals, since: Scalar | None = None, middle: Scalar | None = None
    ) -> list[Scalar]:
        """The commands u [V, N·m or N] at joint positions q, velocities qd and integrator states, n scalars."""
        unlimited = self.unlimited(q, qd, integrals)
        return [_within(u, bound) for u, bound in zip(unlimited, self.limit, strict=True)]

    def unlimited(self, q, qd, integrals) -> list[Scalar]:
        """The commands before saturation, n scalars."""
        commands = []
        for i, target in enumerate(self.target):
            u = fma(self.kp[i], target - q[i], -(self.kd[i] * qd[i]))
            if self.integrals:
                u = u + _within(self.ki[i] * integrals[i], self.integral_limit[i])
            commands.append(u)
        return commands

    def integral_rates(self, q, integrals) -> list[Scalar]:
        """Rates of the integrator states: the errors, but zero where a clamped integrator would be driven further out."""
        rates = []
        for i in range(self.integrals):
            e = self.target[i] - q[i]
            bound = self.integral_limit[i]
            if bound is not None:
                u, du = self.ki[i] * integrals[i], self.ki[i] * e
                outward = either(both(u >= bound, du > 0.0), both(u <= -bound, du < 0.0))
                e = where(outward, 0.0, e)
            rates.append(e)
        return rates


def _within(u: Scalar, bound: Scalar | None) -> Scalar:
    return u if bound is None else clip(u, -bound, bound)
