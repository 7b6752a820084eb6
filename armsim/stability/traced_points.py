"""The operating points of all variants of a scenario, whose open numbers differ: traced once, compiled, linearised together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from armsim import sources
from armsim.actuation import any_sticks
from armsim.compile import BatchKernel, cache
from armsim.control import Controller
from armsim.expr import Function, Scalar, trace, where
from armsim.formulas.formula import FormulaError
from armsim.loading import Scenario
from armsim.plant import Linearization, Linearizer, make_plant
from armsim.stability.closed_loop import Array
from armsim.stability.coefficients import Coefficients
from armsim.stability.growth import Mask
from armsim.stability.hanging import equilibria
from armsim.stability.operating_points import (
    REST,
    START,
    SUPPLY,
    TARGET,
    JointBranch,
    aimed_at,
    away_from_stops,
    branches,
)

Make = Callable[[Sequence[Scalar]], Scenario]  # the scenario with scalars in place of its open numbers

AT_START, AT_TARGET, ELSEWHERE = 0.0, 1.0, 2.0  # what an operating point's kind is in the traced function


@dataclass(frozen=True)
class Points:
    """The operating points of variants that differ in numbers; see `armsim.stability.operating_points`.

    Attributes:
        where: Of every point without a branch, in words.
        there: Which variants have it, shape (points without a branch, variants).
        branches: That joints are on at the further points.
        coefficients: At every point, those without a branch first; leading axes (points, variants).
    """

    where: tuple[str, ...]
    there: Mask
    branches: tuple[JointBranch, ...]
    coefficients: Coefficients


class TracedPoints:
    """The operating points of a scenario as a function of its open numbers, which decide nothing of what there is.

    Args:
        scenario: With numbers in place of them.
        make: With scalars.
        count: How many numbers are open.
        key: Names all that `make` depends on, for the cache; without one, it is traced.

    Attributes:
        plant: That of the scenario.
    """

    def __init__(self, scenario: Scenario, make: Make, count: int, key: str = "") -> None:
        self.plant, self.make, self.count = make_plant(scenario), make, count
        self._key = key and f"operating point {sources.digest(sources.LOADED)} {key}"
        self.branches = branches(self.plant)
        self.hangs = self.plant.command is None and not any_sticks(self.plant.arm)

    @cached_property
    def traced(self) -> tuple[Function, Coefficients]:
        """One operating point, and the structure of its coefficients.

        Arguments are the open numbers, the point's kind, and joint positions for the kind `ELSEWHERE`. Results are joint
        positions, accelerations, stiffness and damping of the branches, and the coefficients.

        Raises:
            ArithmeticError, FormulaError: The equations of motion have no finite value, whatever the open numbers are.
        """
        forms: list[Coefficients] = []

        def linearized(*x: Scalar) -> list[Scalar]:
            about = self._linearized(x)
            form = Coefficients.of(about, object)
            forms.append(form)
            added = [x for branch in self.branches for x in branch.stiffness(about.plant.arm)]
            coefficients = [x for block in form.arrays for x in block.ravel().tolist()]
            return [*about.q, *about.qdd, *added, *coefficients]

        names = [*(f"open{i}" for i in range(self.count)), "kind", *(f"q{i}" for i in range(self.plant.arm.n))]
        return trace(linearized, names, "operating_point"), forms[0]

    def _linearized(self, x: Sequence[Scalar]) -> Linearization:
        """The linearisation at one operating point."""
        values, kind, given = x[: self.count], x[self.count], x[self.count + 1 :]
        scenario = self.make(values)
        plant = make_plant(scenario)
        duration = scenario.clock.steps * scenario.dt
        target, rates, t = list(scenario.initial_q), [0.0] * plant.arm.n, 0.0
        if isinstance(plant.command, Controller):
            target, rates, t = aimed_at(plant, plant.command, duration)
        starts, aims = kind <= AT_START, kind <= AT_TARGET
        places = zip(scenario.initial_q, target, given, strict=True)
        q = [where(starts, start, where(aims, aim, elsewhere)) for start, aim, elsewhere in places]
        speeds = zip(scenario.initial_qd, rates, strict=True)
        qd = [where(starts, v, where(aims, rate, 0.0)) for v, rate in speeds]
        return away_from_stops(Linearizer(plant), q, qd, where(starts, 0.0, where(aims, t, 0.0)))

    @cached_property
    def form(self) -> Coefficients | None:
        """The structure of the coefficients, from the cache or traced; None where there are no operating points."""
        name = cache.key("form", self._key)
        known: Any = cache.load_json(name) if self._key else None
        with suppress(LookupError, TypeError, ValueError):  # there is none, or something else
            return None if known["form"] is None else Coefficients.shaped(**known["form"])
        try:
            _, form = self.traced
            given = {"shapes": [array.shape for array in form.arrays], "period": form.period}
        except (ArithmeticError, FormulaError):
            form, given = None, None
        if self._key:
            cache.store_json(name, {"form": given})
        return form

    @cached_property
    def kernel(self) -> BatchKernel:
        """The compiled function."""
        widths = [self.count + 1 + self.plant.arm.n]
        return BatchKernel(lambda: self.traced[0], widths=widths, key=self._key)

    def at(self, values: Array, every: bool = True) -> tuple[Points, Mask]:
        """The operating points of variants, and which variants have finite equations of motion; the points are those of these.

        Args:
            values: The open numbers, shape (variants, count).
            every: Whether those where an arm hangs, and those on branches, are wanted.
        """
        n, form, further = self.plant.arm.n, self.form, self.branches if every else ()
        assert form is not None
        kinds, names = [AT_START], [START]
        if isinstance(self.plant.command, Controller):
            kinds, names = [*kinds, AT_TARGET], [*names, TARGET]
        found = self._evaluated(values, kinds, np.zeros((len(values), n)))
        finite: Mask = np.asarray(np.isfinite(found).all(axis=(0, -1)))
        there = np.ones(found.shape[:2], dtype=bool)
        there[1:] = (found[1:, :, :n] != found[:1, :, :n]).any(axis=-1)
        if every and self.hangs:
            hanging, exists, failed = self._at_rest(values, finite, found[0, :, :n])
            found = np.concatenate([found, hanging[None]])
            there = np.concatenate([there, exists[None]])
            names, finite = [*names, REST], finite & ~failed
        if not finite.all():
            found, there = found[:, finite], there[:, finite]
        first = 2 * (n + len(self.branches))
        free = len(found)
        rows = np.concatenate([found, *[found[:1]] * len(further)]) if further else found
        points = form.unflattened(rows[..., first:])
        for k, (i, at) in enumerate(further):  # as `entered` does
            stiffness, damping = found[0, :, 2 * (n + k) : 2 * (n + k + 1)].T
            slope = points.Fu[free + k, :, i, i] if at == SUPPLY else 1.0
            points.Fq[free + k, :, i, i] -= stiffness
            points.Fv[free + k, :, i, i] -= damping * slope
            if at == SUPPLY:
                points.Fu[free + k, :, :, i] = 0.0
        return Points(tuple(names), there, further, points), finite

    def _evaluated(self, values: Array, kinds: Sequence[float], q: Array) -> Array:
        """The function's results for every variant at points of these kinds, shape (kinds, variants, results)."""
        count = len(values)
        args = np.empty((len(kinds), count, *self.kernel.widths))
        args[..., : self.count] = values
        args[..., self.count] = np.array(kinds)[:, None]
        args[..., self.count + 1 :] = q
        results = np.empty((len(kinds), count, self._size))
        self.kernel([(args.ctypes.data, args.strides[1])], results.ctypes.data, len(kinds) * count)
        return results

    @property
    def _size(self) -> int:
        """Number of the function's results."""
        assert self.form is not None
        return 2 * (self.plant.arm.n + len(self.branches)) + sum(array.size for array in self.form.arrays)

    def _at_rest(self, values: Array, finite: Mask, start: Array) -> tuple[Array, Mask, Mask]:
        """The function's results where the arms hang, shape (variants, results); which do; which have no mass matrix."""
        n, first = self.plant.arm.n, 2 * (self.plant.arm.n + len(self.branches))
        chosen = np.flatnonzero(finite)

        def look(which: npt.NDArray[np.int64], q: Array) -> tuple[Array, Array, Array]:
            (rows,) = self._evaluated(values[chosen[which]], [ELSEWHERE], q)
            M, Fq = (rows[:, k : k + n * n].reshape(-1, n, n) for k in (first, first + n * n))
            return M, -Fq, rows[:, n : 2 * n]

        at, found, failed = equilibria(look, start[chosen])
        results = np.zeros((len(values), self._size))
        results[chosen] = self._evaluated(values[chosen], [ELSEWHERE], np.where(found[:, None], at, start[chosen]))[0]
        exists, without = np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=bool)
        exists[chosen], without[chosen] = found, failed
        return results, exists, without
