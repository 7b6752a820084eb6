"""What a sequence of answers says about their errors: by how much they still change, and in which order of the step."""

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
TO_EXTRAPOLATE = 4  # answers: three show the order and extrapolate, three again what that is worth
LEAST_ORDER = 0.5  # an answer that gains less when the step is halved is not extrapolated
RESOLVED = 10.0  # times the doubt about the reference: errors that an order can be read from
SHORT = 0.5  # than its order, by which a method falls short of it
IRREGULAR = 1.0  # difference of orders from their mean
FEWEST, FINEST = 3, 4  # errors that the order is read from


@dataclass(frozen=True)
class SettingRun:
    """A run with one setting.

    Attributes:
        value: Of what is refined: the step [s], or the relative tolerance of an adaptive method.
        steps: Carried out.
        seconds: Wall time of the steps.
        ended: Time that was reached [s]: the duration, unless it diverged.
        answer: Joint positions [rad or m], shape (instants, n); None if the run diverged.
    """

    value: float
    steps: int
    seconds: float
    ended: float
    answer: NDArray | None


@dataclass(frozen=True)
class Reference:
    """What answers are held against.

    Attributes:
        answer: Joint positions [rad or m], shape (instants, n).
        doubt: By how much it may be off [rad or m], about.
    """

    answer: NDArray
    doubt: float


@dataclass(frozen=True)
class Setting:
    """What a setting costs and gives.

    Attributes:
        value: The step [s], or the relative tolerance.
        steps: Carried out.
        seconds: Wall time of the steps.
        diverged: Whether the run diverged.
        error: Largest error of any joint position at any instant [rad or m]; None where the run diverged, and where there is
            nothing to hold it against.
        joint: Name of the joint that has it; None where it is only the doubt about the reference.
        order: By which power of `value` the error fell from the next coarser setting to this one; None where rounding, or
            doubt about the reference, hides it.
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
    """How the answers of one method settle.

    Attributes:
        method: Its name.
        nominal: The order that it has on smooth motions.
        knob: What is refined: "dt" or "rtol".
        own: The scenario's own value of it; None where it gives none.
        settings: From coarse to fine.
        order: Observed, over the finest settings whose error rounding does not hide; None where it cannot be seen.
        doubt: By how much the reference of the errors may be off [rad or m]; None where there is no reference.
        verdict: "settled": the answers reach the accuracy. "rounding": they stopped changing for the better before, at the
            level of rounding. "sensitive": no step will do, see `sensitivity`. "budget": the time was over before. "unstable":
            all runs diverged, and in the end at the same time. "interrupted": by Ctrl-C.
        good_until: Of answers that did not settle: until when the finest step's is good to the accuracy [s]; else None.
        sensitivity: How fast close motions part; None where it was not asked.
        seconds: Wall time of all its runs, compilation included.
        losses: What in the scenario can cost the method its order, in words; see `armsim.convergence.order_loss`.
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
        """The same with joint positions in another unit, of which there are `factor` in one of theirs."""
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
        """Whether errors fall less than the method's order would have it, steadily or now and then.

        The first step next to one that diverged is not judged: so close to instability its error is not yet of the method.
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
        """(value, seconds) that an accuracy [rad or m] would take beyond the finest setting, by its error and the order."""
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
        duration: [s].
        instants: Number of instants at which answers are compared: the rows of the log, and the end.
        accuracy: That was asked for [rad or m].
        unit: Of accuracy and errors: "rad", "deg", "m", or "rad or m" where there are joints of both kinds.
        methods: One after the other, as they were asked for.
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
        """Whether some setting of every method that was run reaches the accuracy."""
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
    """Largest difference of any joint position at any instant."""
    import numpy as np

    return float(np.abs(a - b).max())


def changes(trials: Sequence[SettingRun]) -> list[float]:
    """By how much the answer changes from each trial to the next; none of them diverged."""
    answers = [trial.answer for trial in trials if trial.answer is not None]
    return [distance(a, b) for a, b in pairwise(answers)]


def reference(trials: Sequence[SettingRun]) -> Reference:
    """The best answer that trials can give, each with half the step of the one before; at least two, none diverged.

    Where the answers change by a steady power of the step, it is Richardson's extrapolation of the last two, with the order
    that the last three show (Aitken's); the doubt is by how much it changed since the trial before. Else it is the last
    answer, and the doubt is by how much that changed.
    """
    answers = [trial.answer for trial in trials if trial.answer is not None]
    moved = changes(trials)
    # one lucky step does not make an answer good
    plain = Reference(answers[-1], max(moved[-1], moved[-2] / 10.0) if len(moved) > 1 else moved[-1])
    if len(answers) < TO_EXTRAPOLATE:
        return plain
    better, earlier = _extrapolated(answers, moved), _extrapolated(answers[:-1], moved[:-1])
    if better is None or earlier is None:
        return plain
    doubt = distance(better, earlier)
    return Reference(better, doubt) if doubt < moved[-1] else plain


def finest(trials: Sequence[SettingRun]) -> Reference:
    """The last of answers whose tolerance falls by tenths; at least two, none diverged.

    Their errors follow the tolerance too loosely to be extrapolated. The doubt is by how much the answer changed, less what
    the change before that tells it gained since: a tenth at most.
    """
    answers = [trial.answer for trial in trials if trial.answer is not None]
    moved = changes(trials)
    gained = moved[-1] / moved[-2] if len(moved) > 1 and moved[-2] > 0.0 else 1.0
    return Reference(answers[-1], moved[-1] * min(1.0, max(0.1, gained)))


def _extrapolated(answers: Sequence[NDArray], moved: Sequence[float]) -> NDArray | None:
    """The last two answers extrapolated to no step at all; None where they gain too little for that."""
    if not 0.0 < moved[-1] * 2**LEAST_ORDER <= moved[-2]:
        return None
    gain = moved[-2] / moved[-1]  # 2 to the order
    return answers[-1] + (answers[-1] - answers[-2]) / (gain - 1.0)


def settings(trials: Sequence[SettingRun], against: Reference | None, joints: Sequence[str]) -> tuple[Setting, ...]:
    """Trials with their errors and orders, from coarse to fine.

    Args:
        trials: From coarse to fine.
        against: What their errors are taken from.
        joints: Names.
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
    """The slope of log error over log value through the finest settings that are clear of doubt and of roundings.

    Those at the coarse end that do not fall by that power yet are left out. None where fewer than three are left, and where
    errors do not fall.
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
