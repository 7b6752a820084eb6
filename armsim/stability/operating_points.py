"""The operating points of a scenario, or of all its variants whose open numbers differ, and the plant linearised there.

They are the start, the target, the stable equilibrium of an undriven arm, and every branch of its joints' loads. A stop is a
point of its own, also where the target lies behind it: chatter is bounded, and no reason to refuse a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from armsim import sources
from armsim.actuation import any_sticks
from armsim.arrays import Array, Indices, Mask
from armsim.compile import BatchKernel
from armsim.compile.target import host, is_open
from armsim.control import Controller
from armsim.dynamics import contacts_of, stick_slopes
from armsim.expr import Function, Scalar, Scalars, trace
from armsim.formulas.formula import FormulaError
from armsim.loading import Scenario
from armsim.plant import Linearization, Linearizer, Plant, make_plant
from armsim.records import record
from armsim.stability.coefficients import Coefficients, flat, shapes
from armsim.stability.hanging import equilibria
from armsim.stability.operating_point import (
    AT_START,
    AT_TARGET,
    ELSEWHERE,
    LADEN,
    LATER,
    REST,
    START,
    SUPPLY,
    TARGET,
    ContactBranch,
    JointBranch,
    apart,
    branches,
    is_second_order,
    linearized,
    shown,
)

Make = Callable[[Scalars], Scenario]  # the scenario with scalars in place of its open numbers


@record
class Points:
    """The operating points of variants that differ in numbers.

    Attributes:
        where: Of every point without a branch, in words.
        lasting: For how long the arm carries what it does there [s].
        there: Which variants have it, shape (points without a branch, variants).
        branches: That joints are on at the further points.
        coefficients: At every point, those without a branch first; leading axes (points, variants).
        shown: Where the step is `shown` to be stable, shape (points without a branch, variants).
        paces: Greatest rate at which further states settle on every branch [1/s], shape (branches, variants).
    """

    where: tuple[str, ...]
    lasting: tuple[float, ...]
    there: Mask
    branches: tuple[JointBranch | ContactBranch, ...]
    coefficients: Coefficients
    shown: Mask
    paces: Array


class OperatingPoints:
    """The operating points of one scenario, linearised on floats.

    Args:
        scenario: The scenario.
        plant: Its plant.
    """

    def __init__(self, scenario: Scenario, plant: Plant) -> None:
        self.scenario, self.plant = scenario, plant
        self.branches = branches(plant)
        names = self.contacts = tuple(contact.name for contact in plant.arm.contacts)
        alone = [(name,) for name in names]
        self.touching = tuple(map(ContactBranch, [*alone, names] if len(names) > 1 else alone))

    @cached_property
    def _linearizer(self) -> Linearizer:
        return Linearizer(apart(self.plant))

    @property
    def _added(self) -> int:
        """Number of results of `_point` before the coefficients."""
        n = self.plant.arm.mechanism.n
        return 2 * (n + len(self.branches)) + (2 * n * n + 1) * len(self.contacts)

    def at(self, values: Array, every: bool = True) -> tuple[Points, Mask]:
        """The operating points of variants, and which variants have finite equations of motion; the points are those of these.

        Args:
            values: The open numbers, shape (variants, count).
            every: Whether those where an arm hangs, and those on branches, are wanted; of an adaptive method they never are.
        """
        n, command = self.plant.arm.n, self.plant.command
        every = every and self.plant.integrator.adaptive is None
        kinds, names = [AT_START], [START]
        if isinstance(command, Controller):
            kinds, names = [*kinds, AT_TARGET], [*names, TARGET]
        free, end = len(kinds), self.scenario.clock.steps * self.scenario.dt
        stages = [t for t in self.plant.arm.stages if t < end]
        spans = [later - t for t, later in pairwise([*stages, end])]
        lasting = [spans[0], spans[-1 if self.plant.follows else 0]][:free] + spans[1:]
        kinds += [LATER + k for k in range(1, len(stages))]
        names += [LADEN.format(t) for t in stages[1:]]
        found = self._evaluated(values, kinds, np.zeros((len(values), n)))
        finite: Mask = np.asarray(np.isfinite(found).all(axis=(0, -1)))
        there = np.ones(found.shape[:2], dtype=bool)
        there[1:free] = (found[1:free, :, :n] != found[:1, :, :n]).any(axis=-1)
        if every and command is None and not any_sticks(self.plant.arm) and not self.plant.loads.elastic:
            hanging, exists, failed = self._at_rest(values, found[0, :, :n])
            found = np.concatenate([found, hanging])
            there = np.concatenate([there, exists[None]])
            names, lasting, finite = [*names, REST], [*lasting, spans[0]], finite & ~failed
        if not finite.all():
            found, there = found[:, finite], there[:, finite]
        entered: list[JointBranch | ContactBranch] = [*self.branches, *self.touching] if every else []
        coefficients, paces = self._entered(found, entered)
        return Points(
            tuple(names), tuple(lasting), there, tuple(entered), coefficients, found[..., -1] > 0.0, paces
        ), finite

    def _coefficients(self, rows: Array) -> Coefficients:
        """The coefficients among the results of `_point`, shape (..., results)."""
        return Coefficients.from_rows(self.plant, rows[..., self._added : -1])

    def _entered(self, found: Array, entered: Sequence[JointBranch | ContactBranch]) -> tuple[Coefficients, Array]:
        """The coefficients by the results of `_point`, and on branches, which are entered from the start; paces there."""
        n, free = self.plant.arm.mechanism.n, len(found)
        points = self._coefficients(np.concatenate([found, *[found[:1]] * len(entered)]) if entered else found)
        paces = np.zeros((len(entered), found.shape[1]))
        added = found[0, :, 2 * (n + len(self.branches)) : self._added].T
        of = dict(zip(self.contacts, np.split(added, len(self.contacts)) if self.contacts else (), strict=True))
        for k, branch in enumerate(entered):
            if isinstance(branch, ContactBranch):
                rows = np.array([of[name] for name in branch.contacts])
                stiffness, damping = rows[:, :-1].sum(axis=0).T.reshape(-1, 2, n, n).swapaxes(0, 1)
                points.Fq[free + k] -= stiffness
                points.Fv[free + k] -= damping
                paces[k] = rows[:, -1].max(axis=0)
                continue
            i, on = branch
            stiffness, damping = found[0, :, 2 * (n + k) : 2 * (n + k + 1)].T
            # the command's own slope is 1, or 0 if the supply limits it already, with the damping in Fv
            slope = points.Fu[free + k, :, i, i] if on == SUPPLY else 1.0
            points.Fq[free + k, :, i, i] -= stiffness
            points.Fv[free + k, :, i, i] -= damping * slope
            if on == SUPPLY:
                points.Fu[free + k, :, :, i] = 0.0
        return points, paces

    def _at_rest(self, values: Array, start: Array) -> tuple[Array, Mask, Mask]:
        """The results of `_point` where the arms hang, shape (1, variants, results); which do; which have no mass matrix."""
        n = self.plant.arm.n

        def look(which: Indices, q: Array) -> tuple[Array, Array, Array]:
            (rows,) = self._evaluated(values[which], [ELSEWHERE], q)
            given = self._coefficients(rows)
            return given.M, -given.Fq, rows[:, n : 2 * n]

        at, exists, without = equilibria(look, start)
        return self._evaluated(values, [ELSEWHERE], np.where(exists[:, None], at, start)), exists, without

    def _evaluated(self, values: Array, kinds: Sequence[float], q: Array) -> Array:
        """The results of `_point` for every variant at points of these kinds, shape (kinds, variants, results).

        They are not finite where the equations of motion have no finite value.
        """

        def results(kind: float, at: list[float]) -> Scalars:
            try:
                return self._point(self.scenario, self._linearizer, kind, at)
            except (ArithmeticError, FormulaError):
                return [math.nan] * self.size

        found = [results(kind, at) for kind in kinds for at in q.tolist()]
        return np.array(found, dtype=float).reshape(len(kinds), len(q), self.size)

    @property
    def size(self) -> int:
        """Number of results of `_point`."""
        return self._added + sum(math.prod(shape) for shape in shapes(self.plant)) + 1

    def _point(self, scenario: Scenario, linearizer: Linearizer, kind: Scalar, given: Scalars) -> Scalars:
        """At a point of `linearized`: positions, accelerations, stiffness and damping of branches, coefficients, `_shown`."""
        about, mechanism = linearized(scenario, linearizer, kind, given), linearizer.plant.arm.mechanism
        added = [x for branch in self.branches for x in branch.stiffness(mechanism)]
        for contact in contacts_of(scenario.arm):
            added += stick_slopes(contact, mechanism, about.q)
        return [*about.q, *about.qdd, *added, *flat(about), self._shown(about, scenario.dt)]

    def _shown(self, about: Linearization, dt: float) -> Scalar:
        """1 where the step is shown to be stable; of a single variant eigenvalues tell."""
        return 0.0


class TracedPoints(OperatingPoints):
    """The operating points of a scenario by its open numbers, which decide nothing of what there is: traced once, and compiled.

    Args:
        scenario: With numbers in place of them.
        make: With scalars.
        count: How many numbers are open.
        key: Names all that `make` depends on but for the duration, for the cache; without one, it is traced.
    """

    def __init__(self, scenario: Scenario, make: Make, count: int, key: str = "") -> None:
        super().__init__(scenario, make_plant(scenario))
        self.make, self.count = make, count
        end = scenario.clock.end if self.plant.follows else 0.0  # where the target of a motion is
        self._key = key and f"operating point {sources.digest(sources.LOADED)} {end} {key}"

    def traced(self) -> Function:
        """`_point`, of the open numbers, the kind and positions."""

        def point(*x: Scalar) -> Scalars:
            scenario = self.make(x[: self.count])
            return self._point(scenario, Linearizer(apart(make_plant(scenario))), x[self.count], x[self.count + 1 :])

        names = [*(f"open{i}" for i in range(self.count)), "kind", *(f"q{i}" for i in range(self.plant.arm.n))]
        return trace(point, names, "operating_point")

    def _shown(self, about: Linearization, dt: float) -> Scalar:
        return shown(about, dt) if is_second_order(self.plant) else 0.0

    @cached_property
    def kernel(self) -> BatchKernel | None:
        """The compiled function; None where the equations of motion have no finite value, whatever the open numbers are."""
        # of a single variant some tens of points at most are wanted
        lanes, target = (None, None) if self.count else (1, host().quick if is_open() else host())
        kernel = BatchKernel(self.traced, target, lanes, [self.count + 1 + self.plant.arm.n], self._key)
        try:
            _ = kernel.code
        except (ArithmeticError, FormulaError):
            return None
        return kernel

    def _evaluated(self, values: Array, kinds: Sequence[float], q: Array) -> Array:
        count, results = len(values), np.full((len(kinds), len(values), self.size), math.nan)
        if self.kernel is not None:
            args = np.empty((len(kinds), count, *self.kernel.widths))
            args[..., : self.count] = values
            args[..., self.count] = np.array(kinds)[:, None]
            args[..., self.count + 1 :] = q
            self.kernel([(args.ctypes.data, args.strides[1])], results.ctypes.data, len(kinds) * count)
        return results
