"""The values of the parameter that a study refines: the step, or the tolerance of an adaptive method."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count

from armsim import document
from armsim.document.scenario import ADAPTIVE
from armsim.document.tolerance import LARGEST, LEAST
from armsim.loading import Scenario


class Steps:
    """Steps of a 1-2-5 series; coarser ones only if all times of the scenario stay whole multiples.

    Ratios of 2 alone would let an event within a step fall alike in all of them.

    Args:
        scenario: Its dt comes first.
        method: A fixed-step method.

    Attributes:
        knob: The refined parameter: "dt" or "rtol".
        own: The scenario's own value; None where it gives none.
        coarser: Larger values than the first, from fine to coarse.
    """

    knob = "dt"

    def __init__(self, scenario: Scenario, method: str) -> None:
        self.method = method
        self.num, self.den = scenario.clock.num, scenario.clock.den
        self.own = None if scenario.adaptive else self.num / self.den
        self.coarser = [k * self.num / self.den for k in doubling_divisors(largest_step(scenario))]

    def finer(self, k: int) -> float | None:
        """The k-th value, from coarse to fine; None below the least one."""
        return self.num / (self.den * divisor(k))

    def integrator(self, value: float) -> document.Integrator:
        """The `integrator` of a scenario with that value."""
        return document.Integrator(method=self.method, dt=value)


class Tolerances:
    """Relative tolerances, each a tenth of the one before, the absolute one in proportion; otherwise as `Steps`.

    Args:
        scenario: Its tolerance comes first; the default where its own method is not adaptive.
        method: An adaptive method. It lands on samples and the times of forces, and on the scenario's dt if it gives one.
    """

    knob = "rtol"

    def __init__(self, scenario: Scenario, method: str) -> None:
        self.method = method
        self.first = float(scenario.tolerance.rtol)
        self.own = self.first if scenario.adaptive else None
        self.share = float(scenario.tolerance.atol) / self.first
        landings = scenario.adaptive and scenario.file.document.integrator.dt is not None
        self.landing = scenario.dt if landings else None
        self.coarser = [value for k in range(1, 14) if (value := self._tens(k)) <= LARGEST]

    def finer(self, k: int) -> float | None:
        value = self._tens(-k)
        return value if value >= LEAST else None

    def _tens(self, power: int) -> float:
        """The first value times a power of ten, as the nearest double to that decimal."""
        return float(Fraction(repr(self.first)) * Fraction(10) ** power)

    def integrator(self, value: float) -> document.Integrator:
        return document.Integrator(method=self.method, rtol=value, atol=self.share * value, dt=self.landing)


def largest_step(scenario: Scenario) -> int:
    """The longest step of which all times of a scenario are whole multiples, rows included, in its own steps."""
    return math.gcd(scenario.jump_every, scenario.clock.log_every)


def ladder(scenario: Scenario, method: str) -> Steps | Tolerances:
    """The refined parameter of a method, for a scenario."""
    return Tolerances(scenario, method) if method in ADAPTIVE else Steps(scenario, method)


def divisor(k: int) -> int:
    """The k-th of 1, 2, 5, 10, 20, 50 and so on."""
    return int((1, 2, 5)[k % 3] * 10 ** (k // 3))


def divisor_above(least: float) -> int:
    """The first of 1, 2, 5, 10, 20, 50 and so on that is not below a number."""
    return next(divisor(k) for k in count() if divisor(k) >= least)


def doubling_divisors(whole: int) -> list[int]:
    """Divisors of a number above 1, in ascending order, each at least twice the one before."""
    small = [k for k in range(1, math.isqrt(whole) + 1) if whole % k == 0]
    found, last = [], 1
    for k in sorted({*small, *(whole // k for k in small)}):
        if k >= 2 * last:
            found.append(k)
            last = k
    return found
