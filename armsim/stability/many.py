"""Advice on the step of many variants of a scenario, that differ in its open numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from armsim.actuation import sticks
from armsim.loading import Scenario
from armsim.stability.advice import Advice, is_judged
from armsim.stability.closed_loop import Array
from armsim.stability.growth import Mask
from armsim.stability.operating_points import OperatingPoint
from armsim.stability.step_check import StepCheck
from armsim.stability.step_modes import LinearPlant
from armsim.stability.traced_points import Make, Points, TracedPoints
from armsim.stability.verdicts import Times, VariantsCheck

BLOCK = 256  # variants that are judged together, so that their matrices stay in the processor's cache

Progress = Callable[[int, int], None]  # variants decided, variants in all
Judge = Callable[[Array], Mask]  # from open numbers, shape (variants, count), to shape (..., variants)


class StepAdviser:
    """Advice on the step for any values of a scenario's open numbers, which decide nothing of what there is.

    That a friction of zero is none, say, is for `armsim.loading.open_numbers` to know, which groups variants by it.

    Args:
        scenario: One of the variants.
        make: The scenario with these scalars (floats or expressions) in place of its open numbers; its method is picked.
        count: How many numbers are open.
        key: Names all that `make` depends on: what is known in the cache by it is not traced. Without one, it is.
    """

    def __init__(self, scenario: Scenario, make: Make, count: int, key: str = "") -> None:
        self.traced = TracedPoints(scenario, make, count, key)
        self.plant = self.traced.plant
        command = self.plant.command
        period = None if command is None else command.period
        self.times = Times(scenario.dt, scenario.clock.steps * scenario.dt, period)
        self.sticky = tuple(sticks(joint) for joint in self.plant.arm.joints)

    @cached_property
    def silent(self) -> bool:
        """Whether nothing is ever said: it does not apply, or there are no operating points."""
        return not is_judged(self.plant) or self.traced.form is None

    @property
    def adaptive(self) -> bool:
        """Whether the method chooses its steps, so that only the feedback is judged."""
        return self.plant.integrator.adaptive is not None

    def advice(self, values: npt.ArrayLike, threads: int = 1) -> Advices:
        """The advice on every variant; as `advice_on` gives it for the scenario with these numbers written in,
        but for `overload`, of which single runs alone are told.

        Args:
            values: The open numbers, shape (variants, count).
            threads: How many threads.
        """
        rows = np.array(values, dtype=float, ndmin=2)
        refused, speaks = _judged(self._verdicts, self._verdict, rows, threads)
        return Advices(self, rows, refused, speaks)

    def refuses(self, values: npt.ArrayLike, progress: Progress | None = None, threads: int = 1) -> Mask:
        """Which variants' step is refused, shape (variants,): as `advice` says, sooner.

        Args:
            values: The open numbers, shape (variants, count).
            progress: Called with variants decided and variants in all, from this thread.
            threads: How many threads.
        """
        rows = np.array(values, dtype=float, ndmin=2)
        done = 0

        def tell(decided: Mask) -> None:
            nonlocal done
            done += int(decided.sum())
            if progress is not None and decided.any():
                progress(done, len(rows))

        (found,) = _judged(self._may_refuse, lambda row: [True], rows, threads, lambda may: tell(~may))
        doubtful = rows[found]
        (refused,) = _judged(
            self._refused,
            lambda row: self._verdict(row)[:1],
            doubtful,
            threads,
            lambda block: tell(np.ones_like(block)),
        )
        found[found] = refused
        return found

    @np.errstate(all="ignore")  # of steps far too long, powers overflow
    def one(self, values: Array) -> Advice:
        """The advice on one variant, in words."""
        if self.silent:
            return Advice()
        points, finite = self.traced.at(values[None])
        try:
            return self._alone(points, 0).advice() if finite[0] else Advice()
        except np.linalg.LinAlgError:  # as where the equations of motion have no finite value
            return Advice()

    def _alone(self, points: Points, k: int) -> StepCheck:
        """The check of the k-th of some variants."""
        dt, duration, period = self.times
        free = len(points.where)
        seen: list[tuple[int, str, str | None]] = [
            (p, points.where[p], None) for p in range(free) if points.there[p, k]
        ]
        seen += [(free + b, where, self.plant.arm.joints[i].name) for b, (i, where) in enumerate(points.branches)]
        at = [(LinearPlant(points.coefficients[p, k]), where, joint) for p, where, joint in seen]
        found = [OperatingPoint(near, where, period, duration, joint) for near, where, joint in at]
        return StepCheck(self.plant.method, dt, found, self.plant.arm)

    def _verdict(self, values: Array) -> list[bool]:
        """Whether one variant's step is refused, and whether there is anything to say; from the words."""
        advice = self.one(values)
        return [advice.refusal is not None, advice != Advice()]

    def _may_refuse(self, values: Array) -> Mask:
        """Which variants may be refused, shape (1, variants)."""
        if self.adaptive:
            return np.zeros((1, len(values)), dtype=bool)
        return self._found(values, 1, lambda check: [check.may_refuse()], every=False)

    def _refused(self, values: Array) -> Mask:
        """Which variants are refused, shape (1, variants)."""
        return self._found(values, 1, lambda check: [self._decided(check)])

    def _verdicts(self, values: Array) -> Mask:
        """Which variants are refused, and of which there is anything to say, shape (2, variants)."""
        if self.adaptive:
            return self._found(values, 1, lambda check: [check.speaks_of_feedback()], every=False)[[0, 0]] & [
                [False],
                [True],
            ]
        return self._found(values, 2, lambda check: [self._decided(check), check.speaks()])

    def _found(
        self, values: Array, height: int, ask: Callable[[VariantsCheck], Sequence[Mask]], every: bool = True
    ) -> Mask:
        """What a check says of variants, shape (height, variants); false where the equations of motion are not finite."""
        made: Mask = np.zeros((height, len(values)), dtype=bool)
        if not self.silent and len(values):
            points, finite = self.traced.at(values, every)
            if finite.any():
                with np.errstate(all="ignore"):  # of steps far too long, powers overflow
                    made[:, finite] = ask(VariantsCheck(self.plant.method, self.times, points, self.sticky))
        return made

    def _decided(self, check: VariantsCheck) -> Mask:
        """Which variants are refused, those included of which that hangs on the largest stable step."""
        refused, unsure = check.refused()
        for k in np.flatnonzero(unsure):
            refused[k] = self._alone(check.points, int(k)).refuses()
        return refused


def _judged(
    judge: Judge,
    alone: Callable[[Array], Sequence[bool]],
    rows: Array,
    threads: int = 1,
    tell: Callable[[Mask], None] = lambda block: None,
) -> Mask:
    """Verdicts on variants, block by block on threads, shape (..., variants).

    Args:
        judge: Gives those on some variants.
        alone: Gives those on one variant, for which linear algebra fails.
        rows: The open numbers, shape (variants, count).
        threads: How many.
        tell: Called with the verdicts on every block, from this thread.
    """
    blocks = [rows[first : first + BLOCK] for first in range(0, len(rows), BLOCK)] or [rows]
    found = []
    with ThreadPoolExecutor(threads) as pool:  # where the loop is left by Ctrl-C, blocks that wait are cancelled
        for made in (pool.map if len(blocks) > 1 else map)(lambda block: _parted(judge, alone, block), blocks):
            found.append(made)
            tell(made)
    return np.concatenate(found, axis=-1)


def _parted(judge: Judge, alone: Callable[[Array], Sequence[bool]], rows: Array) -> Mask:
    """Verdicts on variants, those apart for which linear algebra fails; see `_judged`."""
    try:
        return judge(rows)
    except np.linalg.LinAlgError:
        if len(rows) == 1:
            return np.array(alone(rows[0]))[:, None]
        middle = len(rows) // 2
        return np.concatenate([_parted(judge, alone, part) for part in (rows[:middle], rows[middle:])], axis=-1)


class Advices(Sequence[Advice]):
    """The advice on many variants: whether there is any for all of them; its words are found when they are asked for.

    Args:
        adviser: Whose advice it is.
        values: The open numbers, shape (variants, count).
        refused: Whether each variant's step is refused, shape (variants,).
        speaks: Whether there is a refusal or a warning, shape (variants,).
    """

    def __init__(self, adviser: StepAdviser, values: Array, refused: Mask, speaks: Mask) -> None:
        self.values, self.refused, self.speaks = values, refused, speaks
        self._adviser = adviser

    def __len__(self) -> int:
        return len(self.values)

    @overload
    def __getitem__(self, k: int) -> Advice: ...

    @overload
    def __getitem__(self, k: slice) -> Advices: ...

    def __getitem__(self, k: int | slice) -> Advice | Advices:
        if isinstance(k, slice):
            return Advices(self._adviser, self.values[k], self.refused[k], self.speaks[k])
        return self._adviser.one(self.values[k]) if self.speaks[k] else Advice()
