"""What a method's answers are refined by: its step, or its tolerance."""

from __future__ import annotations

import math
from typing import Any, Protocol

from armsim.integrate import METHODS
from armsim.spec import Scenario

FINEST_TOLERANCE = 1e-13
COARSEST_TOLERANCE = 0.1


class Ladder(Protocol):
    """The values of what is refined.

    Attributes:
        knob: Its name.
        own: The scenario's own value; None where it gives none.
        coarser: Larger values than the first, from fine to coarse.
    """

    knob: str
    own: float | None
    coarser: list[float]

    def finer(self, k: int) -> float | None:
        """The k-th value, the first for k = 0; None where there is none so fine."""

    def overrides(self, value: float) -> dict[str, Any]:
        """What sets it."""


class Steps:
    """Steps by halves, of which all times of a scenario stay whole multiples.

    Args:
        scenario: Whose step comes first.
    """

    knob = "dt"

    def __init__(self, scenario: Scenario) -> None:
        self.num, self.den = scenario.time_ratio
        self.own: float | None = self.num / self.den
        external = (time for pair in scenario.file.steps["external"] for time in pair if time)
        whole = math.gcd(scenario.steps, scenario.log_every, scenario.sample_every or 0, *external)
        self.coarser = [k * self.num / self.den for k in doubling_divisors(whole)]

    def finer(self, k: int) -> float | None:
        return self.num / (self.den * 2**k)

    def overrides(self, value: float) -> dict[str, Any]:
        return {"integrator.dt": value}


class Tolerances:
    """Relative tolerances by tenths; the absolute one falls with them.

    Args:
        scenario: Whose tolerance comes first, or the coarsest.
    """

    knob = "rtol"

    def __init__(self, scenario: Scenario) -> None:
        given = scenario.scenario_data["integrator"]
        self.own: float | None = given.get("rtol")
        self.first = self.own or 1e-6
        self.share = given.get("atol", 1e-3 * self.first) / self.first
        self.coarser = [self.first * 10.0**k for k in range(1, 12) if self.first * 10.0**k <= 0.1]

    def finer(self, k: int) -> float | None:
        value = self.first / 10.0**k
        return value if value >= FINEST_TOLERANCE else None

    def overrides(self, value: float) -> dict[str, Any]:
        return {"integrator.rtol": value, "integrator.atol": self.share * value}


def doubling_divisors(whole: int) -> list[int]:
    """Divisors of a number in ascending order, each at least twice the one before; 1 is left out."""
    small = [k for k in range(1, math.isqrt(whole) + 1) if whole % k == 0]
    found, last = [], 1
    for k in sorted({*small, *(whole // k for k in small)}):
        if k >= 2 * last:
            found.append(k)
            last = k
    return found


def is_adaptive(method: str) -> bool:
    """Whether a method chooses steps of its own, by a tolerance."""
    return getattr(METHODS[method], "adaptive", None) is not None
