"""Errors and observed orders of a sequence of refined answers, against a reference extrapolated from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

from armsim.convergence.sensitivity import ROUNDING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from armsim.convergence.sensitivity import Sensitivity

Verdict = Literal["settled", "rounding", "sensitive", "budget", "unstable", "interrupted"]
TO_EXTRAPOLATE = 4  # answers: the last three extrapolate, and the three before estimate the error of that
LEAST_ORDER = 0.5  # observed order, below which answers are not extrapolated
RESOLVED = 10.0  # times the reference's own error: least error that an order is fitted to
SHORT = 0.5  # below its nominal order: where a method falls short
IRREGULAR = 1.0  # largest deviation of a pair's order from the fitted one
FEWEST, FINEST = 3, 4  # errors that an order is fitted to


@dataclass(frozen=True)
class SettingRun:
    """A run with one setting.

    Attributes:
        value: The step [s], or the relative tolerance of an adaptive method.
        steps: Number of steps carried out.
        seconds: Wall time of the steps [s].
        ended: Time reached [s]: the duration, unless it diverged.
        answer: Joint positions [rad or m], shape (instants, n); None if the run diverged.
    """

    value: float
    steps: int
    seconds: float
    ended: float
    answer: NDArray | None


@dataclass(frozen=True)
class Reference:
    """The answer from which errors are taken.

    Attributes:
        answer: Joint positions [rad or m], shape (instants, n).
        doubt: Estimate of its own error [rad or m].
    """

    answer: NDArray
    doubt: float


@dataclass(frozen=True)
class Setting:
    """Cost and error of one setting.

    Attributes:
        value: The step [s], or the relative tolerance.
        steps: Number of steps carried out.
        seconds: Wall time of the steps [s].
        diverged: Whether the run diverged.
        error: Largest error of any joint position at any instant [rad or m]; None where the run diverged or there is no
            reference.
        joint: Name of the joint that has it; None where the run is the reference, and its error the reference's own.
        order: Observed order between the next coarser setting and this one; None where rounding, or the reference's own error,
            hides it.
    """

    value: float
    steps: int
    seconds: float
    diverged: bool
    error: float | None
    joint: str | None
    order: float | None


@dataclass(frozen=True)
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
            diverged, and the finest at the same time. "interrupted": by Ctrl-C.
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
    doubt: float | None
    verdict: Verdict
    good_until: float | None
    sensitivity: Sensitivity | None
    seconds: float
    losses: tuple[str, ...] = ()

    def scaled(self, factor: float) -> MethodConvergence:
        """The same with joint positions multiplied by a factor, into another unit."""
        made = tuple(replace(s, error=None if s.error is None else s.error * factor) for s in self.settings)
        close = self.sensitivity
        return replace(
            self,
            settings=made,
            doubt=None if self.doubt is None else self.doubt * factor,
            sensitivity=None if close is None else replace(close, largest=close.largest * factor),
        )

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
        """The coarsest setting from which on the error is within an accuracy [rad or m]; None if there is none."""
        found = None
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
        halvings = math.ceil(math.log2(finest.error / accuracy) / self.order)
        return finest.value / 2**halvings, finest.seconds * 2**halvings


@dataclass(frozen=True)
class Convergence:
    """What `armsim.converge` finds.

    Attributes:
        scenario: Its name.
        robot: Its robot's name.
        duration: Of the scenario [s].
        instants: Number of instants at which answers are compared: the rows of the log, and the end.
        accuracy: The wanted one, in `unit`.
        unit: Of accuracy and errors: "rad", "deg", "m", or "rad or m" where there are joints of both kinds.
        methods: In the order asked for.
    """

    scenario: str
    robot: str
    duration: float
    instants: int
    accuracy: float
    unit: str
    methods: tuple[MethodConvergence, ...]

    @property
    def reached(self) -> bool:
        """Whether every method has a setting within the accuracy."""
        return all(found.cheapest(self.accuracy) is not None for found in self.methods)

    def in_degrees(self) -> Convergence:
        """The same with accuracy and errors in degrees, of an arm whose joints all turn."""
        methods = tuple(method.scaled(math.degrees(1.0)) for method in self.methods)
        return replace(self, accuracy=math.degrees(self.accuracy), unit="deg", methods=methods)

    def data(self) -> dict[str, Any]:
        """All of it as plain data: the `--json` of `armsim converge`."""
        return {
            "scenario": self.scenario,
            "robot": self.robot,
            "duration": self.duration,
            "instants": self.instants,
            "accuracy": self.accuracy,
            "unit": self.unit,
            "methods": [self._method(found) for found in self.methods],
        }

    def _method(self, found: MethodConvergence) -> dict[str, Any]:
        expected, cheapest = found.expected(self.accuracy), found.cheapest(self.accuracy)
        sensitivity = None
        if found.sensitivity is not None:
            rate, horizon = found.sensitivity.rate, found.sensitivity.horizon(self.accuracy)
            sensitivity = {"rate": rate, "rounding_until": None if horizon >= self.duration else horizon}
        return {
            "method": found.method,
            "nominal_order": found.nominal,
            "verdict": found.verdict,
            "knob": found.knob,
            "own": found.own,
            "order": found.order,
            "falls_short": found.falls_short,
            "order_losses": list(found.losses),
            "doubt": found.doubt,
            "settings": [vars(setting) for setting in found.settings],
            "cheapest": None if cheapest is None else vars(cheapest),
            "expected": None if expected is None else {"value": expected[0], "seconds": expected[1]},
            "good_until": found.good_until,
            "sensitivity": sensitivity,
            "seconds": found.seconds,
        }


def distance(a: NDArray, b: NDArray) -> float:
    """Largest difference of any joint position at any instant [rad or m]: the maximum norm."""
    import numpy as np

    return float(np.abs(a - b).max())


def changes(trials: Sequence[SettingRun]) -> list[float]:
    """Distances between successive answers [rad or m]; no trial diverged."""
    answers = [trial.answer for trial in trials if trial.answer is not None]
    return [distance(a, b) for a, b in pairwise(answers)]


def reference(trials: Sequence[SettingRun]) -> Reference:
    """The reference that trials give, each with half the step of the one before; at least two, none diverged.

    Where they converge at a steady order, it is the Richardson extrapolation of the last two, with the order observed in the
    last three (Aitken's method); its error estimate is the change of that extrapolation since the trial before. Else it is the
    last answer, and its error estimate the last change.
    """
    answers = [trial.answer for trial in trials if trial.answer is not None]
    moved = changes(trials)
    # two answers may agree by chance: a change counts as no less than a tenth of the one before
    plain = Reference(answers[-1], max(moved[-1], moved[-2] / 10.0) if len(moved) > 1 else moved[-1])
    if len(answers) < TO_EXTRAPOLATE:
        return plain
    better, earlier = _extrapolated(answers, moved), _extrapolated(answers[:-1], moved[:-1])
    if better is None or earlier is None:
        return plain
    doubt = distance(better, earlier)
    return Reference(better, doubt) if doubt < moved[-1] else plain


def finest(trials: Sequence[SettingRun]) -> Reference:
    """The reference that trials give whose tolerances fall tenfold: the last answer; at least two, none diverged.

    Their errors follow the tolerance too loosely for extrapolation. The error estimate is the last change times its ratio to the
    change before, that ratio within 0.1 and 1.
    """
    answers = [trial.answer for trial in trials if trial.answer is not None]
    moved = changes(trials)
    gained = moved[-1] / moved[-2] if len(moved) > 1 and moved[-2] > 0.0 else 1.0
    return Reference(answers[-1], moved[-1] * min(1.0, max(0.1, gained)))


def _extrapolated(answers: Sequence[NDArray], moved: Sequence[float]) -> NDArray | None:
    """Richardson extrapolation of the last two answers to step zero; None where the observed order is too low."""
    if not 0.0 < moved[-1] * 2**LEAST_ORDER <= moved[-2]:
        return None
    gain = moved[-2] / moved[-1]  # 2 to the order
    return answers[-1] + (answers[-1] - answers[-2]) / (gain - 1.0)


def settings(trials: Sequence[SettingRun], against: Reference | None, joints: Sequence[str]) -> tuple[Setting, ...]:
    """Trials with their errors and observed orders, from coarse to fine.

    Args:
        trials: From coarse to fine.
        against: The reference; None if there is none.
        joints: Names of the joints.
    """
    import numpy as np

    made: list[Setting] = []
    for trial in trials:
        error = joint = order = None
        if trial.answer is not None and against is not None:
            worst = np.abs(trial.answer - against.answer).max(axis=0)
            error, joint = float(worst.max()), joints[int(worst.argmax())]
            if trial.answer is against.answer:
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
