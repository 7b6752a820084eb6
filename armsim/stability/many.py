"""Advice on the step of many variants of a scenario, that differ in its open numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from armsim.arrays import Array, ArrayLike, Mask
from armsim.loading import Scenario
from armsim.progress import Progress
from armsim.stability.advice import Advice, is_judged
from armsim.stability.operating_points import Make, TracedPoints
from armsim.stability.verdicts import Verdicts
from armsim.stability.wording import advice_at

BLOCK = 256  # variants that are judged together, so that their matrices stay in the processor's cache


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

    def verdicts(self, values: ArrayLike, threads: int = 1) -> tuple[Mask, Mask]:
        """Which variants' step is refused, and of which there is anything to say, each of shape (variants,).

        As `advice_on` gives it for the scenario with these numbers written in, but for `overload`, of which single runs alone are
        told.

        Args:
            values: The open numbers, shape (variants, count).
            threads: How many threads.
        """
        refused, speaks = self._judged(
            np.array(values, dtype=float, ndmin=2), threads, Verdicts.refuses, Verdicts.speaks
        )
        return refused, speaks

    def refuses(self, values: ArrayLike, progress: Progress | None = None, threads: int = 1) -> Mask:
        """Which variants' step is refused, shape (variants,): as `verdicts` says, sooner.

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

        (found,) = self._judged(rows, threads, Verdicts.may_refuse, tell=lambda may: tell(~may), every=False)
        (found[found],) = self._judged(
            rows[found], threads, Verdicts.refuses, tell=lambda block: tell(np.ones_like(block))
        )
        return found

    def one(self, values: Array) -> Advice:
        """The advice on one variant, in words."""
        return advice_at(self.points, values[None]) if is_judged(self.points.plant) else Advice()

    def _judged(
        self,
        rows: Array,
        threads: int,
        *ask: Callable[[Verdicts], Mask],
        tell: Callable[[Mask], None] = lambda block: None,
        every: bool = True,
    ) -> Mask:
        """Verdicts on variants, block by block on threads, shape (verdicts, variants).

        Args:
            rows: The open numbers, shape (variants, count).
            threads: How many.
            ask: Give them.
            tell: Called with the verdicts on every block, from this thread.
            every: Whether they need the points where an arm hangs, and those on branches.
        """
        blocks = [rows[first : first + BLOCK] for first in range(0, len(rows), BLOCK)] or [rows]
        found = []
        with ThreadPoolExecutor(threads) as pool:  # where the loop is left by Ctrl-C, blocks that wait are cancelled
            for made in (pool.map if len(blocks) > 1 else map)(lambda block: self._block(block, ask, every), blocks):
                found.append(made)
                tell(made)
        return np.concatenate(found, axis=-1)

    @np.errstate(all="ignore")  # of steps far too long, powers overflow
    def _block(self, rows: Array, ask: Sequence[Callable[[Verdicts], Mask]], every: bool) -> Mask:
        """Verdicts on some variants; false where their equations of motion are not finite or linear algebra fails."""
        made: Mask = np.zeros((len(ask), len(rows)), dtype=bool)
        plant = self.points.plant
        if not len(rows) or not is_judged(plant) or (plant.integrator.adaptive is not None and not every):
            return made  # no step of an adaptive method is refused
        try:
            points, finite = self.points.at(rows, every)
            if finite.any():
                verdicts = Verdicts(self.points.scenario, plant, points)
                made[:, finite] = [verdict(verdicts) for verdict in ask]
        except np.linalg.LinAlgError:
            if len(rows) > 1:  # it spoils no other variant
                return np.concatenate([self._block(half, ask, every) for half in np.array_split(rows, 2)], axis=-1)
        return made
