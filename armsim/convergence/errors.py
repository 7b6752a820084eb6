"""Errors, observed orders and costs of a sequence of refined answers, against a reference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from armsim.convergence.ladder import divisor_above
from armsim.convergence.reference import LEAST_ORDER
from armsim.convergence.sensitivity import ROUNDING
from armsim.display import Shown
from armsim.model.angles import FIGURE
from armsim.notebook import counted
from armsim.records import Json, as_plain, attributes, record

if TYPE_CHECKING:
    from armsim.convergence.reference import ReferenceSolution, SettingRun
    from armsim.convergence.sensitivity import Sensitivity

Verdict = Literal["settled", "rounding", "sensitive", "budget", "unstable", "unknown", "interrupted"]
KNOWN = 0.5  # of an accuracy: largest error of the reference with which a setting can be said to reach it
RESOLVED = 10.0  # times the reference's own error: least error that an order is fitted to
SHORT = 0.5  # below its nominal order: where a method falls short
IRREGULAR = 1.0  # largest deviation of a pair's order from the fitted one
FEWEST, FINEST = 3, 4  # errors that an order is fitted to


@record
class Setting:
    """Cost and error of one setting.

    Attributes:
        value: The step [s], or the relative tolerance.
        steps: Number of steps carried out.
        seconds: Wall time of the steps [s].
        diverged: Whether the run diverged.
        error: Largest error of any joint position at any instant [rad or m], at least the reference's own; None where the run
            diverged or there is no reference.
        joint: Name of the joint that has it; None where the reference's own error hides it.
        order: Observed order between the next coarser setting and this one; None where rounding, or the reference's own error,
            hides it.
    """

    value: float
    steps: int
    seconds: float
    diverged: bool
    error: float | None = field(metadata=FIGURE)
    joint: str | None
    order: float | None


@record
class MethodConvergence:
    """The convergence of one method.

    Attributes:
        method: Its name.
        nominal: Its order on smooth motions.
        knob: The refined parameter: "dt" or "rtol".
        own: The scenario's own value of it; None where it gives none.
        settings: From coarse to fine.
        order: Observed order over the finest settings whose error rounding does not hide; None where none can be fitted.
        doubt: Estimate of the reference's own error [rad or m]; None where there is no reference.
        verdict: "settled": converged to the accuracy. "rounding": rounding limits the error before. "sensitive": rounding
            grows beyond the accuracy at any step, see `sensitivity`. "budget": out of time before. "unstable": all runs
            diverged, and the finest at the same time. "unknown": the answers of several methods, or of several tolerances,
            contradict each other, so that errors cannot be told. "interrupted": by Ctrl-C.
        good_until: Where the answers did not converge: time until which the finest one is within the accuracy [s]; else None.
        sensitivity: Growth of small perturbations; None where it was not measured.
        seconds: Wall time of all its runs [s], compilation included.
        losses: What in the scenario can reduce the method's order, in words; see `armsim.convergence.order_loss`.
    """

    method: str
    nominal: int
    knob: str
    own: float | None
    settings: tuple[Setting, ...]
    order: float | None
    doubt: float | None = field(metadata=FIGURE)
    verdict: Verdict
    good_until: float | None
    sensitivity: Sensitivity | None
    seconds: float
    losses: tuple[str, ...] = ()

    def __repr__(self) -> str:
        order = "" if self.order is None else f", order {self.order:.2f}"
        return f"MethodConvergence({self.method}: {self.verdict}, {counted(len(self.settings), 'setting')}{order})"

    @property
    def at_own(self) -> Setting | None:
        """The scenario's own setting."""
        return next((setting for setting in self.settings if setting.value == self.own), None)

    @property
    def falls_short(self) -> bool:
        """Whether the observed order is below the nominal one, in the fit or between two settings.

        The pair next to a run that diverged does not count: so close to instability errors are not yet asymptotic.
        """
        if self.knob != "dt" or self.verdict not in ("settled", "budget"):
            return False
        if self.order is not None:
            return self.order < self.nominal - SHORT
        edge = {k + 2 for k, s in enumerate(self.settings) if s.diverged}
        orders = [s.order for k, s in enumerate(self.settings) if s.order is not None and k not in edge]
        return len(orders) > 1 and min(orders) < self.nominal - 2.0 * SHORT

    def cheapest(self, accuracy: float) -> Setting | None:
        """The coarsest setting from which on the error is within an accuracy [rad or m]; None if none is known to be."""
        found = None
        if self.verdict == "unknown" or self.doubt is None or self.doubt > KNOWN * accuracy:
            return None
        for setting in reversed(self.settings):
            if setting.error is None or not setting.error <= accuracy:
                break
            found = setting
        return found

    def expected(self, accuracy: float) -> tuple[float, float] | None:
        """(step [s], wall time [s]) extrapolated beyond the finest setting to an accuracy [rad or m]; None where it cannot be."""
        finest = self.settings[-1] if self.settings else None
        if self.verdict not in ("budget", "interrupted") or self.knob != "dt" or finest is None or not finest.error:
            return None
        if self.order is None or self.order < LEAST_ORDER or finest.error <= accuracy:
            return None
        parts = divisor_above((finest.error / accuracy) ** (1.0 / self.order))
        return finest.value / parts, finest.seconds * parts


BUDGET = 10.0  # s of wall time per method, unless given


@record
class Convergence(Shown):
    """What `armsim.converge` finds.

    Attributes:
        scenario: Its name.
        robot: Its robot's name.
        duration: Of the scenario [s].
        instants: Number of instants at which answers are compared: the rows of the log, and the end.
        accuracy: The wanted one, in `unit`.
        unit: Of accuracy and errors: "rad", "deg", "m", or "rad or m" where there are joints of both kinds.
        methods: In the order asked for.
        source: Where the reference of their errors is from, in words; empty where there is none.
        budget: Wall time for each method [s].
    """

    scenario: str
    robot: str
    duration: float
    instants: int
    accuracy: float = field(metadata=FIGURE)
    unit: str
    methods: tuple[MethodConvergence, ...]
    source: str = ""
    budget: float = BUDGET

    def __repr__(self) -> str:
        found = ", ".join(f"{found.method} {found.verdict}" for found in self.methods)
        return f"Convergence({self.scenario}: {found}; accuracy {self.accuracy:g} {self.unit})"

    @property
    def reached(self) -> bool:
        """Whether every method has a setting within the accuracy."""
        return all(found.cheapest(self.accuracy) is not None for found in self.methods)

    def data(self) -> Json:
        """All of it as plain data: the `--json` of `armsim converge`."""
        return {
            **attributes(self, "scenario", "robot", "duration", "instants", "accuracy", "unit"),
            "reference": self.source or None,
            "methods": [self._method(found) for found in self.methods],
        }

    def _method(self, found: MethodConvergence) -> Json:
        expected, cheapest = found.expected(self.accuracy), found.cheapest(self.accuracy)
        sensitivity = None
        if found.sensitivity is not None:
            rate, horizon = found.sensitivity.rate, found.sensitivity.horizon(self.accuracy)
            sensitivity = {"rate": rate, "rounding_until": None if horizon >= self.duration else horizon}
        return {
            "method": found.method,
            "nominal_order": found.nominal,
            **attributes(found, "verdict", "knob", "own", "order", "falls_short"),
            "order_losses": list(found.losses),
            **attributes(found, "doubt", "settings"),
            "cheapest": as_plain(cheapest),
            "expected": None if expected is None else {"value": expected[0], "seconds": expected[1]},
            "good_until": found.good_until,
            "sensitivity": sensitivity,
            "seconds": found.seconds,
        }


def settings(
    trials: Sequence[SettingRun], against: ReferenceSolution | None, joints: Sequence[str]
) -> tuple[Setting, ...]:
    """Trials with their errors and observed orders, from coarse to fine.

    Args:
        trials: From coarse to fine.
        against: The reference; None if there is none.
        joints: Names of the joints.
    """
    made: list[Setting] = []
    for trial in trials:
        error = joint = order = None
        if trial.answer is not None and against is not None:
            worst = np.abs(trial.answer - against.answer).max(axis=0)
            error, joint = float(worst.max()), joints[int(worst.argmax())]
            if not error > against.doubt:
                error, joint = against.doubt, None
            coarser = made[-1] if made else None
            hidden = max(3.0 * against.doubt, ROUNDING * trial.steps * max(1.0, float(np.abs(trial.answer).max())))
            if coarser is not None and coarser.error and error > hidden:
                order = math.log(coarser.error / error) / math.log(coarser.value / trial.value)
        made.append(Setting(trial.value, trial.steps, trial.seconds, trial.answer is None, error, joint, order))
    return tuple(made)


def observed_order(found: Sequence[Setting], doubt: float) -> float | None:
    """The observed order: the slope of log error over log value, least squares over the finest settings.

    Only errors above rounding and the reference's own error count, and coarse ones not yet asymptotic are left out. None where
    fewer than three are left, or errors do not fall.
    """
    hidden = [max(RESOLVED * doubt, ROUNDING * s.steps) for s in found]
    clear = [
        (s.value, s.error) for s, least in zip(found, hidden, strict=True) if s.error is not None and s.error > least
    ]
    clear = clear[-FINEST:]
    while len(clear) >= FEWEST:
        x, y = ([math.log(pair[i]) for pair in clear] for i in range(2))
        mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
        above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
        slope = above / sum((a - mean_x) ** 2 for a in x)
        orders = [(d - b) / (c - a) for (a, b), (c, d) in pairwise(zip(x, y, strict=True))]
        if all(abs(order - slope) <= IRREGULAR for order in orders):
            return slope if slope >= LEAST_ORDER else None
        clear = clear[1:]
    return None
