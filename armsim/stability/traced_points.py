"""The operating points of all variants of a scenario, whose open numbers differ: traced once, compiled, linearised together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from armsim.actuation import any_sticks
from armsim.compile import BatchKernel
from armsim.control import Feedback
from armsim.expr import Function, Scalar, trace, where
from armsim.loading import Scenario
from armsim.plant import Linearizer, Plant, make_plant
from armsim.stability.closed_loop import Array
from armsim.stability.coefficients import Coefficients
from armsim.stability.growth import Mask
from armsim.stability.hanging import equilibria
from armsim.stability.operating_points import REST, START, TARGET, away_from_stops

Make = Callable[[Sequence[Scalar]], Scenario]  # the scenario with scalars in place of its open numbers

AT_START, AT_TARGET, ELSEWHERE = 0.0, 1.0, 2.0  # what an operating point's kind is in the traced function


@dataclass(frozen=True)
class Points:
    """The operating points of variants that differ in numbers; see `armsim.stability.operating_points`.

    Attributes:
        where: Of every point without a stop, in words.
        there: Which variants have it, shape (points without a stop, variants).
        stops: Joints whose stop is engaged at the further points, by index.
        coefficients: At every point, those without a stop first; leading axes (points, variants).
    """

    where: tuple[str, ...]
    there: Mask
    stops: tuple[int, ...]
    coefficients: Coefficients


class TracedPoints:
    """The operating points of a scenario as a function of its open numbers.

    Args:
        make: The scenario.
        count: How many numbers are open.

    Attributes:
        scenario: By expressions; what does not depend on its open numbers may be read from it.
        plant: Likewise.

    """

    scenario: Scenario
    plant: Plant

    def __init__(self, make: Make, count: int) -> None:
        self.make, self.count = make, count
        trace(self._read, self._names(), "open")
        arm, command = self.plant.arm, self.plant.command
        limits = [joint.limit for joint in arm.joints]
        self.stops = tuple(i for i, x in enumerate(limits) if x is not None and x.stiffness is not None)
        self.hangs = command is None and not any_sticks(arm)

    @cached_property
    def function(self) -> Function:
        """One operating point: from the open numbers, its kind, and joint positions for the kind `ELSEWHERE`.

        Raises:
            ArithmeticError, FormulaError: The equations of motion have no finite value, whatever the open numbers are.
        """
        places = [f"q{i}" for i in range(self.plant.arm.n)]
        return trace(self._linearized, [*self._names(), "kind", *places], "operating_point")

    def _names(self) -> list[str]:
        return [f"open{i}" for i in range(self.count)]

    def _read(self, *values: Scalar) -> list[Scalar]:
        self.scenario = self.make(values)
        self.plant = make_plant(self.scenario)
        return []

    def _linearized(self, *x: Scalar) -> list[Scalar]:
        """Joint positions, accelerations, stiffness and damping of the stops, and coefficients, at one operating point."""
        values, kind, given = x[: self.count], x[self.count], x[self.count + 1 :]
        scenario = self.make(values)
        plant = make_plant(scenario)
        target = plant.command.target if isinstance(plant.command, Feedback) else scenario.initial_q
        starts, aims = kind <= AT_START, kind <= AT_TARGET
        places = zip(scenario.initial_q, target, given, strict=True)
        q = [where(starts, start, where(aims, aim, elsewhere)) for start, aim, elsewhere in places]
        qd = [where(starts, v, 0.0) for v in scenario.initial_qd]
        about = away_from_stops(Linearizer(plant), q, qd)
        self._form = Coefficients.of(about, object)
        limits = [plant.arm.joints[i].limit for i in self.stops]
        stops = [x for limit in limits if limit is not None for x in (limit.stiffness, limit.damping)]
        coefficients = [x for block in self._form.arrays for x in block.ravel().tolist()]
        return [*q, *about.qdd, *stops, *coefficients]

    @cached_property
    def kernel(self) -> BatchKernel:
        """The compiled function."""
        return BatchKernel(self.function)

    def at(self, values: Array) -> tuple[Points, Mask]:
        """The operating points of variants, and which variants have finite equations of motion; the points are those of these.

        Args:
            values: The open numbers, shape (variants, count).
        """
        n = self.plant.arm.n
        kinds, names = [AT_START], [START]
        if isinstance(self.plant.command, Feedback):
            kinds, names = [*kinds, AT_TARGET], [*names, TARGET]
        found = self._evaluated(values, kinds, np.zeros((len(values), n)))
        finite: Mask = np.asarray(np.isfinite(found).all(axis=(0, -1)))
        there = np.ones(found.shape[:2], dtype=bool)
        there[1:] = (found[1:, :, :n] != found[:1, :, :n]).any(axis=-1)
        if self.hangs:
            hanging, exists, failed = self._at_rest(values, finite, found[0, :, :n])
            found = np.concatenate([found, hanging[None]])
            there = np.concatenate([there, exists[None]])
            names, finite = [*names, REST], finite & ~failed
        found, there = found[:, finite], there[:, finite]
        first = 2 * (n + len(self.stops))
        free = len(found)
        points = self._form.unflattened(np.concatenate([found, *[found[:1]] * len(self.stops)])[..., first:])
        for k, i in enumerate(self.stops):
            stiffness, damping = found[0, :, 2 * (n + k) : 2 * (n + k + 1)].T
            points.Fq[free + k, :, i, i] -= stiffness
            points.Fv[free + k, :, i, i] -= damping
        return Points(tuple(names), there, self.stops, points), finite

    def _evaluated(self, values: Array, kinds: Sequence[float], q: Array) -> Array:
        """The function's results for every variant at points of these kinds, shape (kinds, variants, results)."""
        kernel, count = self.kernel, len(values)
        args = np.empty((len(kinds), count, len(kernel.function.inputs)))
        args[..., : self.count] = values
        args[..., self.count] = np.array(kinds)[:, None]
        args[..., self.count + 1 :] = q
        results = np.empty((len(kinds), count, len(kernel.function.outputs)))
        kernel([(args.ctypes.data, args.strides[1])], results.ctypes.data, len(kinds) * count)
        return results

    def _at_rest(self, values: Array, finite: Mask, start: Array) -> tuple[Array, Mask, Mask]:
        """The function's results where the arms hang, shape (variants, results); which do; which have no mass matrix."""
        n, size, first = self.plant.arm.n, len(self.function.outputs), 2 * (self.plant.arm.n + len(self.stops))
        chosen = np.flatnonzero(finite)

        def look(which: npt.NDArray[np.int64], q: Array) -> tuple[Array, Array, Array]:
            (rows,) = self._evaluated(values[chosen[which]], [ELSEWHERE], q)
            M, Fq = (rows[:, k : k + n * n].reshape(-1, n, n) for k in (first, first + n * n))
            return M, -Fq, rows[:, n : 2 * n]

        at, found, failed = equilibria(look, start[chosen])
        results = np.zeros((len(values), size))
        results[chosen] = self._evaluated(values[chosen], [ELSEWHERE], np.where(found[:, None], at, start[chosen]))[0]
        exists, without = np.zeros(len(values), dtype=bool), np.zeros(len(values), dtype=bool)
        exists[chosen], without[chosen] = found, failed
        return results, exists, without
