"""The optimal control problem in discrete time: knots, intervals of several steps, costs, conditions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from armsim.arm.arrays import Array
from armsim.arrays import Indices
from armsim.expr import Scalar
from armsim.formulas.formula import parse_formula
from armsim.measures.moment import Moment
from armsim.planning.program import ConditionBlock, MultistageProgram
from armsim.planning.rows import RowFunction, products, semidefinite
from armsim.records import record

ROUNDING = 1e-6  # of bounds that act, in units of their scales


@record
class Bound:
    """A quantity that is kept between bounds.

    Attributes:
        quantity: "position", "speed", "voltage", "current", "torque", "distance", or "target".
        of: The joint, the tool, the pair of solids, or what the target is of.
        unit: For messages.
        lower: -inf for none; equal to `upper` at targets.
        upper: inf for none.
        scale: What counts as much.
        column: A formula of a run's columns that gives it.
        value: Gives it, where it is no column, or not a smooth one.
    """

    quantity: str
    of: str
    unit: str
    lower: float
    upper: float
    scale: float = 1.0
    column: str = ""
    value: Callable[[Moment], Scalar] | None = None

    def at(self, now: Moment) -> Scalar:
        """What it is then, in units of its scale."""
        if self.value is not None:
            return self.value(now) / self.scale
        formula = parse_formula(self.column, words=[*now.plant.nameable.named])
        found: Scalar = formula.evaluate({name: now.column(name) for name in formula.names}) / self.scale
        return found


@record
class Bounded:
    """Quantities between bounds, as a function of a state, or of a state and inputs.

    Attributes:
        function: Gives them, in units of their scales.
        bounds: Of each.
        margin: From the bounds at each stage, (m, r) or 0 for none, likewise.
    """

    function: RowFunction
    bounds: tuple[Bound, ...]
    margin: Array | float = 0.0

    @cached_property
    def lower(self) -> Array:
        """In units of the scales, with the margin."""
        return np.array([one.lower / one.scale for one in self.bounds]) + self.margin

    @cached_property
    def upper(self) -> Array:
        """Likewise."""
        return np.array([one.upper / one.scale for one in self.bounds]) - self.margin

    def missed(self, values: Array) -> Array:
        """By how much values (m, r) are out of bounds, likewise."""
        beyond = np.maximum(values - self.upper, self.lower - values)
        return np.maximum(np.where(np.isnan(beyond), np.inf, beyond), 0.0)


@record
class Trajectory:
    """States at knots, and inputs between them.

    Attributes:
        x: Shape (N + 1, k); the last number is the length of an interval [s] where that is open.
        u: Shape (N, n).
    """

    x: Array
    u: Array


@record
class Linearised:
    """What is known of a problem at a trajectory.

    Attributes:
        defects: Ends of intervals less the next knots, (N, k).
        S: Derivatives of the ends, (N, k, k + n).
        cost: The cost.
        gradient: Of it with each interval's end by its beginning, (N, k + n).
        curvature: Second derivatives of the cost's halves at both ends of intervals, (N, k + n, k + n).
        values: Bounded quantities and their derivatives by the stage's variables, by name of the conditions.
    """

    defects: Array
    S: Array
    cost: float
    gradient: Array
    curvature: tuple[Array, Array]
    values: Mapping[str, tuple[Array, Array]]

    @property
    def chain(self) -> Array:
        """Derivatives of the end of each interval, and of its inputs, by its beginning and inputs."""
        N, k, w = self.S.shape
        return np.concatenate([self.S, np.broadcast_to(np.eye(w)[k:], (N, w - k, w))], 1)

    @cached_property
    def hessian(self) -> Array:
        """Of the cost, with each interval's end by its beginning, positive semidefinite."""
        begin, end = map(semidefinite, self.curvature)
        return begin + self.chain.transpose(0, 2, 1) @ end @ self.chain


@record
class Problem:
    """A problem of N intervals.

    Attributes:
        interval: From a knot to the next one: of the state there, inputs, length of the interval, steps in it, index of the knot,
            creep.
        sticky: As `interval`, of values alone, with joints that stick to their dry friction.
        cost: Half of what an interval costs, from the state at a knot, the interval's inputs, and the index of the knot.
        path: Quantities that states have to keep between bounds, at all knots but the first; None for none.
        drive: The same of states and inputs, at both ends of intervals.
        marks: Targets, by knot.
        start: The state at the beginning, k numbers, without the length of intervals.
        length: Of an interval [s]; where it is open its least and greatest.
        inputs: Least and greatest inputs, (2, n).
        scales: Of states and inputs, (k,) and (n,).
        N: How many intervals.
        steps: In each of them.
        creep: Velocity below which dry friction counts as viscous [rad/s or m/s]; 0 where there is none.
        sharpness: How often smaller that is, and how often more steps are taken, as the friction is stiffer.
        correction: What the ends of intervals are beyond those of so many steps, (N, k) without the length; 0 at first.
    """

    interval: RowFunction
    sticky: RowFunction
    cost: RowFunction
    path: Bounded | None
    drive: Bounded | None
    marks: Mapping[int, Bounded]
    start: Array
    length: float | tuple[float, float]
    inputs: Array
    scales: tuple[Array, Array]
    N: int
    steps: int
    creep: float
    sharpness: int = 1
    correction: Array | float = 0.0

    @property
    def k(self) -> int:
        """Numbers of a state."""
        return len(self.scales[0])

    @property
    def n(self) -> int:
        """Inputs."""
        return len(self.scales[1])

    @property
    def free(self) -> bool:
        """Whether the length of intervals is open."""
        return isinstance(self.length, tuple)

    @cached_property
    def bounded(self) -> dict[str, Bounded]:
        """All that is bounded, by the name of the conditions."""
        found = {"path": self.path, "begin": self.drive, "end": self.drive}
        return {name: one for name, one in found.items() if one} | {f"mark {i}": it for i, it in self.marks.items()}

    def is_mark(self, name: str) -> bool:
        """Whether conditions are a target."""
        return name.startswith("mark")

    def stages(self, name: str) -> Indices:
        """The indices of the stages on which conditions are."""
        if self.is_mark(name):
            return np.array([int(name[5:])])
        return np.arange(1, self.N + 1) if name == "path" else np.arange(self.N)

    def lengths(self, trajectory: Trajectory) -> Array:
        """Length of each interval [s]."""
        return trajectory.x[: self.N, -1] if self.free else np.full(self.N, self.length)

    def ends(self, at: Trajectory, share: float = 1.0, times: int = 1) -> tuple[Array, ...]:
        """Where intervals, or a share of each, end, and derivatives; by so many times as many steps."""
        lengths, knots = share * self.lengths(at), np.arange(float(self.N))
        return self.interval(
            at.x[: self.N, : len(self.start)],
            at.u,
            lengths[:, None],
            np.array([float(times * self.steps * self.sharpness)]),
            knots[:, None] / share,
            np.array([self.creep / self.sharpness]),
        )

    @property
    def played(self) -> Problem:
        """The same with joints that stick."""
        return replace(self, interval=self.sticky, sharpness=1)

    def tightened(self, at: Trajectory, much: float, places: int) -> tuple[Problem, float]:
        """A problem that keeps more from its limits at the knots beside those of some places where a trajectory passes them.

        Args:
            at: The trajectory.
            much: How much still passes, in units of the scales: a quarter of it is kept in addition.
            places: In each interval.

        Returns:
            The problem, and by how much at most limits are passed between knots, in units of the scales.
        """
        kept, worst, played = {"path": self.path, "drive": self.drive}, 0.0, self.played
        for name, it in kept.items():
            if it is None:
                continue
            own, beyond = replace(it, margin=0.0), np.zeros((self.N, len(it.bounds)))
            for share in np.arange(1, places) / places:
                x = np.concatenate([played.ends(at, share)[0], at.x[:-1, len(self.start) :]], 1)
                beyond = np.maximum(beyond, own.missed(it.function(*([x] if name == "path" else [x, at.u]))[0]))
            worst = max(worst, float(beyond.max()))
            beyond = np.where(beyond > ROUNDING, beyond + 0.25 * much, 0.0)
            if name == "path":  # from the second knot on; the last one is a target's
                beyond = np.vstack([np.maximum(beyond[:-1], beyond[1:]), np.zeros_like(beyond[:1])])
            kept[name] = replace(it, margin=it.margin + beyond)
        return replace(self, path=kept["path"], drive=kept["drive"]), worst

    def program(self) -> MultistageProgram:
        """The quadratic program of an iteration: a slack for all conditions of a stage, and one for each row of a target."""
        own = [int(self.path is not None or (self.drive is not None and i < self.N)) for i in range(self.N + 1)]
        slacks = [c + (len(self.marks[i].bounds) if i in self.marks else 0) for i, c in enumerate(own)]
        conditions = []
        for name, it in self.bounded.items():
            stages = self.stages(name)
            for sign, bound in ((1.0, it.upper), (-1.0, it.lower)):
                rows = np.flatnonzero(np.isfinite(np.atleast_2d(bound)[0]))
                if not len(rows):
                    continue
                pattern = it.function.pattern[rows]
                if name == "end":  # by way of the interval
                    pattern = np.ones_like(pattern)
                slack = own[stages[0]] + rows if self.is_mark(name) else 0 * rows
                conditions.append(ConditionBlock(name, stages, rows, sign, sign * bound[..., rows], pattern, slack))
        return MultistageProgram(self.k, self.n, slacks, conditions, len(self.start))

    def linearised(self, at: Trajectory, aside: Array | float = 0.0) -> Linearised:
        """The problem at a trajectory, in its own units; what counts at the end of an interval counts where it ends.

        Args:
            at: The trajectory.
            aside: How far the beginning of each interval and its inputs are from it, (N, k + n).
        """
        N, k0 = self.N, len(self.start)
        x, u = np.split(np.concatenate([at.x[:-1], at.u], 1) + aside, [self.k], 1)
        ends, by = self.ends(Trajectory(x, u))
        S = np.zeros((N, self.k, self.k + self.n))
        S[:, :k0, :k0], S[:, :k0, self.k :] = by[:, :, :k0], by[:, :, k0:-1]
        if self.free:
            S[:, :k0, k0], S[:, k0, k0] = by[:, :, -1], 1.0
        after = np.concatenate([ends + self.correction, x[:, k0:]], 1)
        knots, states = np.arange(N + 1.0)[:, None], np.concatenate([x, at.x[-1:]])
        values: dict[str, tuple[Array, Array]] = {}
        cost, g, H = self.cost(x, u, knots[:-1])
        more, g1, H1 = self.cost(after, u, knots[1:])
        found = Linearised(after - at.x[1:], S, float(cost.sum() + more.sum()), g[:, 0], (H, H1), values)
        for name, it in self.bounded.items():
            on_states = name == "path" or self.is_mark(name)
            where = [states[self.stages(name)]] if on_states else [x if name == "begin" else after, u]
            value, J, *_ = it.function(*where)
            values[name] = value, J @ found.chain if name == "end" else J
        return replace(found, gradient=found.gradient + products(found.chain.transpose(0, 2, 1), g1[:, 0]))
