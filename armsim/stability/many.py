"""Advice on the step of many variants of a scenario, that differ in its open numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import overload

import numpy as np
import numpy.typing as npt

from armsim.loading import Scenario
from armsim.stability.advice import Advice, is_judged
from armsim.stability.closed_loop import Array
from armsim.stability.growth import Mask
from armsim.stability.operating_points import Make, TracedPoints
from armsim.stability.verdicts import Verdicts
from armsim.stability.wording import advice_at

BLOCK = 256  # variants that are judged together, so that their matrices stay in the processor's cache

Progress = Callable[[int, int], None]  # variants decided, variants in all


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
        self.points = TracedPoints(scenario, make, count, key)
        self.plant = self.points.plant

    @cached_property
    def silent(self) -> bool:
        """Whether nothing is ever said: it does not apply, or there are no operating points."""
        return not is_judged(self.plant) or self.points.form is None

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
        refused, speaks = _judged(self._verdicts, rows, threads)
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

        (found,) = _judged(self._may_refuse, rows, threads, lambda may: tell(~may))
        (found[found],) = _judged(self._refused, rows[found], threads, lambda block: tell(np.ones_like(block)))
        return found

    def one(self, values: Array) -> Advice:
        """The advice on one variant, in words."""
        return Advice() if self.silent else advice_at(self.points, values[None])

    def _may_refuse(self, values: Array) -> Mask:
        """Which variants may be refused, shape (1, variants)."""
        if self.adaptive:
            return np.zeros((1, len(values)), dtype=bool)
        return self._found(values, 1, lambda verdicts: [verdicts.may_refuse()], every=False)

    def _refused(self, values: Array) -> Mask:
        """Which variants are refused, shape (1, variants)."""
        return self._found(values, 1, lambda verdicts: [verdicts.refuses()])

    def _verdicts(self, values: Array) -> Mask:
        """Which variants are refused, and of which there is anything to say, shape (2, variants)."""
        if self.adaptive:
            speaks = self._found(values, 1, lambda verdicts: [verdicts.speaks_of_feedback()], every=False)
            return np.concatenate([np.zeros_like(speaks), speaks])
        return self._found(values, 2, lambda verdicts: [verdicts.refuses(), verdicts.speaks()])

    @np.errstate(all="ignore")  # of steps far too long, powers overflow
    def _found(self, values: Array, height: int, ask: Callable[[Verdicts], Sequence[Mask]], every: bool = True) -> Mask:
        """Verdicts on variants, shape (height, variants); false where their equations are not finite or linear algebra fails."""
        made: Mask = np.zeros((height, len(values)), dtype=bool)
        if self.silent or not len(values):
            return made
        try:
            points, finite = self.points.at(values, every)
            if finite.any():
                made[:, finite] = ask(Verdicts(self.points.scenario, self.plant, points))
        except np.linalg.LinAlgError:
            if len(values) > 1:  # it spoils no other variant
                halves = np.array_split(values, 2)
                return np.concatenate([self._found(half, height, ask, every) for half in halves], axis=-1)
        return made


def _judged(
    judge: Callable[[Array], Mask], rows: Array, threads: int = 1, tell: Callable[[Mask], None] = lambda block: None
) -> Mask:
    """Verdicts on variants, block by block on threads, shape (..., variants).

    Args:
        judge: Gives those on some variants.
        rows: The open numbers, shape (variants, count).
        threads: How many.
        tell: Called with the verdicts on every block, from this thread.
    """
    blocks = [rows[first : first + BLOCK] for first in range(0, len(rows), BLOCK)] or [rows]
    found = []
    with ThreadPoolExecutor(threads) as pool:  # where the loop is left by Ctrl-C, blocks that wait are cancelled
        for made in (pool.map if len(blocks) > 1 else map)(judge, blocks):
            found.append(made)
            tell(made)
    return np.concatenate(found, axis=-1)


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
