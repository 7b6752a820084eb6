"""From what the runs of a trial come to, one number that is to be small."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from armsim.arrays import Array, Mask
from armsim.batches.runs import REFUSED, Runs
from armsim.errors import FileFaults, UsageError
from armsim.formulas.formula import constant_value
from armsim.records import record
from armsim.studies.design import Rows
from armsim.studies.runs import StudyRuns

SIGNS = {"<=": 1.0, ">=": -1.0}
MIRRORED = {"<=": ">=", ">=": "<="}
SIGN = re.compile("([<>]=?)")
WORST = "worst"
SLOPE = 1e-6
UNMET = 1e100  # merit of a trial that misses a condition: above all objectives, below what diverges


@record
class Condition:
    """A condition on a measure: `max(abs(current_R2)) <= 12`.

    Attributes:
        text: As written.
        measure: What is compared; each of its numbers, where it has several.
        sign: 1 where it must be at most the bound, -1 where at least.
        bound: The bound.
    """

    text: str
    measure: str
    sign: float
    bound: float

    def excess(self, values: Array) -> Array:
        """How far values miss it, as a share of the bound (of 1 where it is 0); 0 where they meet it, inf without a value."""
        over = self._share(values - self.bound)
        return np.where(np.isnan(over), np.inf, np.maximum(over, 0.0))

    def slopes(self, found: Array) -> Array:
        """The excess of a value, below 0 where it meets it, and its derivatives, by those of the value."""
        return self._share(found - self.bound * np.eye(1, len(found))[0])

    def _share(self, of: Array) -> Array:
        return self.sign * of / (abs(self.bound) or 1.0)


def condition_of(text: str) -> Condition:
    """The condition that a text says; `<` counts as `<=`.

    Raises:
        UsageError: It says none.
    """
    parts = [part.strip() for part in SIGN.split(text)]
    if len(parts) != 3 or not parts[0] or not parts[2]:
        found = {1: "no <= or >=", 3: "nothing on one side"}.get(len(parts), "several of <= and >=")
        example = "write for example max(abs(current_R2)) <= 12"
        raise UsageError.of(f"condition `{text}`", "a measure, <= or >=, and a number", found, example)
    left, sign, right = parts[0], f"{parts[1][0]}=", parts[2]
    bounds = [_constant(side) for side in (left, right)]
    if bounds[0] is not None and bounds[1] is None:
        left, sign, bounds = right, MIRRORED[sign], [None, bounds[0]]
    if bounds[1] is None:
        return Condition(text, f"({left}) - ({right})", SIGNS[sign], 0.0)
    return Condition(text, left, SIGNS[sign], bounds[1])


def _constant(text: str) -> float | None:
    try:
        return constant_value(text, text)
    except FileFaults:
        return None


@record
class Merit:
    """The merit of a trial by the runs of all its cases.

    Attributes:
        objective: What is to be small; infinite where a run diverged or was refused.
        violation: 0 where all runs meet all conditions, or are not complete; else how far they miss them, each 1 at most.
        failed: How many runs are not complete.
    """

    objective: float
    violation: float
    failed: int

    @property
    def sound(self) -> bool:
        """Whether all runs are complete, and have what is minimised."""
        return math.isfinite(self.objective)

    @property
    def value(self) -> float:
        """The one number by which trials are compared."""
        if not self.sound:
            return math.inf
        if self.violation == 0.0:
            return self.objective
        slope = SLOPE * self.objective / (1.0 + abs(self.objective))  # tells those apart that miss them alike
        return UNMET * (1.0 + self.violation + slope)


@record
class Objective:
    """What is minimised, and on which conditions.

    Attributes:
        minimise: A measure, or a formula of measures.
        conditions: What all runs must meet.
        over: "worst" or "mean" of the cases.
    """

    minimise: str
    conditions: tuple[Condition, ...] = ()
    over: str = WORST

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures that it takes."""
        return tuple(dict.fromkeys([self.minimise, *(one.measure for one in self.conditions)]))

    def check(self, runs: StudyRuns) -> None:
        """Refuse an objective that is more than one number.

        Raises:
            UsageError: It is.
        """
        names = runs.results[self.minimise]
        if len(names) != 1:
            one = names[0] if any(names[0].startswith(f"{self.minimise}_") for _ in names) else f"final({names[0]})"
            mend = f"take one of them, such as {one}, or a formula of them"
            raise UsageError.of(f"minimise {self.minimise}", "one number", f"{len(names)} of them", mend)

    def merit(self, found: Runs) -> Merit:
        """The merit of a trial with these runs."""
        failed = int(np.count_nonzero(~found.complete))
        values = found[found.results[self.minimise][0]]
        if failed or not np.isfinite(values).all():
            return Merit(math.inf, 0.0, failed)
        if self.over == WORST:
            objective = float(values.max())
        else:
            objective = math.fsum(values.tolist()) / len(values)
        return Merit(objective, violation(self.conditions, found), 0)

    def slopes(self, cases: Sequence[Mapping[str, Array]], results: Mapping[str, Sequence[str]]) -> tuple[Array, Array]:
        """The values of which the greatest is minimised, and the excesses of conditions, each with its p derivatives.

        Args:
            cases: Of each case its results, with their derivatives, shape (1 + p,).
            results: Names of each measure's results.

        Returns:
            Shape (m, 1 + p) and (k, 1 + p).
        """
        values = np.array([case[results[self.minimise][0]] for case in cases])
        excesses = [
            one.slopes(case[name])
            for one in self.conditions
            for name in results[one.measure]
            for case in cases
            if name in case
        ]
        if self.over != WORST:
            values = values.mean(axis=0, keepdims=True)
        return values, np.array(excesses).reshape(-1, values.shape[1])


def violation(conditions: Sequence[Condition], found: Runs) -> float:
    """How far runs miss conditions: the sum over runs and conditions of excess / (1 + excess)."""
    shares = [_share(one.excess(found[name])) for one in conditions for name in found.results[one.measure]]
    return math.fsum(x for share in shares for x in share.tolist())


def met(conditions: Sequence[Condition], found: Runs) -> Mask:
    """Which runs are complete and meet all conditions, shape (runs,)."""
    right = found.complete
    for one in conditions:
        for name in found.results[one.measure]:
            right = right & (one.excess(found[name]) == 0.0)
    return right


def measures_of(conditions: Sequence[Condition]) -> tuple[str, ...]:
    """What conditions compare; the time reached, of which all runs have one, if there are none."""
    return tuple(dict.fromkeys(one.measure for one in conditions)) or ("duration",)


def outcome(runs: StudyRuns, rows: Rows, conditions: Sequence[Condition]) -> tuple[Mask, Mask]:
    """Carry out runs; which of them are complete and meet all conditions, and which are refused.

    Raises:
        KeyboardInterrupt: Ctrl-C came.
    """
    found = runs(rows)
    if not found.whole:
        raise KeyboardInterrupt
    return met(conditions, found), found.status == REFUSED


def _share(excess: Array) -> Array:
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(excess), 1.0, excess / (1.0 + excess))
