"""Sequential quadratic programming with elastic conditions.

The step of each iteration is that of a quadratic program whose conditions are elastic (Fletcher 1985; Nocedal and Wright, chapter
18), with a proximal term in place of a trust region. A step is judged by the augmented Lagrangian in what gaps are left between
intervals, whose multipliers are the program's own, and by an exact penalty of conditions: a penalty of gaps that is exact, too,
refuses the long steps along curved valleys that a swing-up asks for (Maratos 1978). A step that is refused gets a correction of
second order, or is shortened.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from armsim.arm.arrays import Array
from armsim.planning.curvature import convex, updated
from armsim.planning.problem import Linearised, Problem, Trajectory
from armsim.planning.rows import products, semidefinite
from armsim.records import record

MOST = 300  # iterations
FEW, SLOW = 8, 1e-5  # iterations that together save less than this share of the cost end the search
PRECISE = 1e-10  # share of the cost that a step promises to save, which ends it as well
MET = 1e-7  # by how much conditions may be missed, in units of their scales
BESIDE = 1e-3  # what is missed, and its price: gaps and savings that do not count
PRICES = 10.0, 1e6  # of a missed condition: at first, and at most
DEAR, ALIKE = 1e4, 5e-3  # from this price on the search ends where a tenth of it missed as much, but for this share
ACCEPTED, POOR, GOOD = 0.05, 0.25, 0.7  # shares of the predicted reduction of the merit
SHARES = (0.5, 0.25, 0.1)  # of a step
CLOSED = 0.5  # of the largest gap: a step that leaves no more may cost a little, as where it crosses a kink of friction
FIRMNESS = 1e-9, 1e-2, 100.0  # of the proximal term: until a step is refused, then, and at most
SOFT = 1e-5  # of it after good steps
CONTRACTED = 0.3  # of the last change of corrections: where they change by more, the plan is held nearer to where it is
CLOSING = 9.0  # times as firm in each iteration that is to close defects; a good step takes a sixth of it
RESTORING = 1.0  # of it where defects are to be closed, and little else
FLAT = 1e-9  # of the Hessian at first, beside the cost's own
SHRINK = 0.3  # share by which the time may become shorter in an iteration
PATIENCE = 30  # iterations with updated Hessians, before they are taken by differences
ASIDE = 1e-6  # of those, in units of the scales
TOLLS, LEAST_TOLL = (100.0, 1.0), 1e-3  # of squares of defects, by updated and exact Hessians, in multipliers
LEAST_SIZE = 1e-12
FAR, LEAST_COST = 3.0, 1e-9  # times the cost that its unit is at most; share of the first cost that counts as none


@record
class SearchIteration:
    """An iteration.

    Attributes:
        iteration: Its number, from 1.
        cost: Of the trajectory after it.
        defect: The largest gap between an interval's end and the next knot, in units of the scales.
        missed: By how much conditions are missed, likewise.
        step: The largest change of a number, likewise.
        seconds: How long it took.
    """

    iteration: int
    cost: float
    defect: float
    missed: float
    step: float
    seconds: float


Tell = Callable[[SearchIteration], object]


@record
class Found:
    """What a search came to.

    Attributes:
        trajectory: The last trajectory.
        status: "solved", "infeasible", "unfinished" where iterations ran out, or "interrupted".
        pressure: Multipliers of conditions by name, shape (stages, rows), and of inputs' bounds as "inputs", (N, n).
    """

    trajectory: Trajectory
    status: str
    pressure: dict[str, Array]


@record
class Step:
    """The solution of an iteration's quadratic program.

    Attributes:
        x: Changes of states, in units of the scales.
        u: Of inputs, likewise.
        merit: The cost's model, and the price of conditions that are missed.
        y: Multipliers of the dynamics, (N, k).
        pressure: Those of conditions, see `Found`.
    """

    x: Array
    u: Array
    merit: float
    y: Array
    pressure: dict[str, Array]


class PlanSearch:
    """A search for the least cost of a problem.

    Args:
        problem: The problem.
        begin: The trajectory to begin with.
        tell: Called with every iterate.

    Attributes:
        problem: The problem.
        iterations: What was done.
        contracts: Whether the ends of intervals changed by much less than before, where they were last corrected.
    """

    def __init__(self, problem: Problem, begin: Trajectory, tell: Tell | None = None) -> None:
        self.problem, self._tell = problem, tell
        self._program = problem.program()
        self._stage = np.concatenate(problem.scales)
        self._price, self._firmness, self._soft = PRICES[0], FIRMNESS[0], SOFT
        self._change, self.contracts = math.inf, True
        self._toll: tuple[Array | float, float] = 0.0, 0.0  # of defects in the merit, and of their squares
        self._hessian: Array | None = None
        self._at = self._within(begin)
        self._now = problem.linearised(self._at)
        self.iterations: tuple[SearchIteration, ...] = ()
        self._unit = max(abs(self._now.cost), LEAST_SIZE)
        self._least = max(LEAST_COST * self._unit, LEAST_SIZE)

    def run(self, most: int = MOST, few: int = FEW) -> Found:
        """Search until no step saves any cost, or so few of them together almost none; Ctrl-C ends it."""
        iterates: list[SearchIteration] = []
        merits: list[float] = []
        pressure: dict[str, Array] = {}
        before, status, cheaper = len(self.iterations), "", math.inf
        try:
            while not status and len(iterates) < most:
                began = time.perf_counter()
                step = self._step(self._now)
                if step is None:
                    status = self._stiffer() or ""
                    iterates.append(self._iterate(before + len(iterates), 0.0, began))
                    continue
                pressure = step.pressure
                gain = self._take(step, before + len(iterates) > PATIENCE, few < FEW)
                size = max(np.abs(step.x).max(), np.abs(step.u).max(initial=0.0))
                iterates.append(self._iterate(before + len(iterates), float(size), began))
                if self._tell is not None:
                    self._tell(iterates[-1])
                missed = iterates[-1].missed
                if missed <= MET and self._unit > FAR * max(abs(self._now.cost), self._least):
                    self._refine_unit()
                    merits.clear()
                lack = self._price * missed
                merits.append(self._now.cost / self._unit + lack)
                worth = 1.0 + abs(merits[-1])
                slow = len(merits) > few and merits[-1 - few] - merits[-1] <= max(SLOW * worth, BESIDE * lack)
                closed = iterates[-1].defect <= max(MET, BESIDE * missed)
                if slow and not closed:
                    self._firmness = min(max(CLOSING * self._firmness, RESTORING), FIRMNESS[2])
                elif closed and (slow or gain <= PRECISE * worth):
                    if missed <= MET:
                        status = "solved"
                    elif self._price >= (DEAR if missed > (1.0 - ALIKE) * cheaper else PRICES[1]):
                        status = "infeasible"
                    else:
                        self._price *= 10.0
                        cheaper = missed
                        merits.clear()
        except KeyboardInterrupt:
            status = "interrupted"
        self.iterations += tuple(iterates)
        return Found(self._at, status or "unfinished", pressure)

    def correct(self, problem: Problem, at: Trajectory | None = None) -> float:
        """Go on with a problem whose intervals end elsewhere, or whose bounds are, from a trajectory, if not the present one; by
        how much at most intervals end elsewhere, in units of the scales."""
        start = len(problem.start)
        change = float(np.abs((problem.correction - self.problem.correction) / problem.scales[0][:start]).max())
        sharper = problem.sharpness > self.problem.sharpness
        self.contracts = sharper or change <= CONTRACTED * self._change
        if not self.contracts:
            self._soft = min(10.0 * self._soft, FIRMNESS[2])
        self._change = change or self._change
        self.problem, self._program = problem, problem.program()
        self._at = self._within(at or self._at)
        self._now, self._firmness = problem.linearised(self._at), max(self._soft, min(RESTORING, change))
        return change

    @property
    def held(self) -> bool:
        """Whether it is held as near to where it is as can be, as corrections did not contract."""
        return self._soft >= FIRMNESS[2]

    @property
    def trajectory(self) -> Trajectory:
        """Where it is."""
        return self._at

    def _iterate(self, before: int, size: float, began: float) -> SearchIteration:
        defects, missed = self._infeasibility(self._now)
        return SearchIteration(
            before + 1, self._now.cost, float(defects.max()), missed, size, time.perf_counter() - began
        )

    def _take(self, step: Step, exactly: bool, near: bool) -> float:
        """Go as far as the merit falls as predicted; returns what was.

        Args:
            step: Where to go.
            exactly: Whether the Hessian is then taken by differences of gradients, instead of updated.
            near: Whether one that was taken so stays.
        """
        self._toll = step.y, TOLLS[exactly] * (float(np.abs(step.y).max()) + LEAST_TOLL)
        now, before = self._now, self._merit(self._now)
        gain = before - now.cost / self._unit - step.merit

        def falls(there: Linearised, share: float) -> bool:
            rise, worth = self._merit(there) - before, 1.0 + abs(before)
            if rise <= PRECISE * worth - ACCEPTED * share * gain:
                return True
            gap, left = (self._infeasibility(it)[0].max() for it in (now, there))
            return bool(rise <= MET * worth and left <= CLOSED * gap)

        share, to = 1.0, self._moved(step, 1.0)
        there = self.problem.linearised(to)
        accepted = falls(there, share)
        if not accepted and np.isfinite(there.defects).all():  # defects after the step belong to the step
            corrected = self._step(self._bent(now, step, there))
            if corrected is not None:
                to = self._moved(corrected, 1.0)
                there = self.problem.linearised(to)
                accepted = falls(there, share)
        for share in () if accepted else SHARES:
            to = self._moved(step, share)
            there = self.problem.linearised(to)
            if accepted := falls(there, share):
                break
        if not accepted:
            self._stiffer()
            return gain
        ratio = (before - self._merit(there)) / gain if gain > 0.0 else 1.0
        if share < 1.0 or ratio < POOR:
            self._firmness *= 3.0
        elif ratio > GOOD:
            self._firmness = max(self._firmness / 6.0, self._soft)
        before_there = self._slope(now, step)
        moved = np.column_stack([(to.x - self._at.x)[:-1], to.u - self._at.u]) / self._stage
        self._at, self._now = to, there
        slope = self._slope(there, step)
        if exactly and near:
            return gain
        if exactly:
            self._hessian = np.stack(
                [(self._slope(self._aside(j), step) - slope) / ASIDE for j in range(len(self._stage))], 2
            )
        else:
            assert self._hessian is not None
            base = semidefinite(self._hessian + self._own(there) - self._own(now))
            self._hessian = updated(base, moved, slope - before_there)
        return gain

    def _refine_unit(self) -> None:
        """Take the present cost for the unit of costs, and of all that counts beside them."""
        assert self._hessian is not None
        size = max(abs(self._now.cost), self._least)
        self._hessian = self._hessian * (self._unit / size)
        self._price = min(self._price * (self._unit / size), PRICES[1])
        self._unit = size

    def _own(self, now: Linearised) -> Array:
        """The cost's own Hessian, in units of the scales."""
        return now.hessian * self._stage[:, None] * self._stage / self._unit

    def _aside(self, j: int) -> Linearised:
        """The problem where the number j of every stage is a little larger."""
        by = np.zeros((self.problem.N, len(self._stage)))
        by[:, j] = ASIDE * self._stage[j]
        return self.problem.linearised(self._at, by)

    def _bent(self, now: Linearised, step: Step, there: Linearised) -> Linearised:
        """The problem with all that is not linear as it is after a step."""
        z = self._stage * np.concatenate([step.x, np.vstack([step.u, 0.0 * step.u[:1]])], axis=1)
        values = {}
        for name, (_, J) in now.values.items():
            moved = products(J, z[self.problem.stages(name), : J.shape[2]])
            values[name] = there.values[name][0] - moved, J
        return replace(now, defects=now.defects + there.defects, values=values)

    def _stiffer(self) -> str | None:
        """After a refused step: shorter ones, or where they are short already, the Hessian anew."""
        self._firmness = 8.0 * self._firmness if self._firmness >= SOFT else FIRMNESS[1]
        if self._firmness > FIRMNESS[2]:
            fresh = self._hessian is None
            self._hessian, self._firmness = None, FIRMNESS[0]
            return "unfinished" if fresh else None
        return None

    def _moved(self, step: Step, share: float) -> Trajectory:
        sx, su = self.problem.scales
        return self._within(Trajectory(self._at.x + share * step.x * sx, self._at.u + share * step.u * su))

    def _within(self, at: Trajectory) -> Trajectory:
        """From the start, with inputs, and the length of intervals, within their bounds."""
        x, length, start = at.x.copy(), self.problem.length, self.problem.start
        x[0, : len(start)] = start
        if isinstance(length, tuple):
            x[:, -1] = np.clip(x[:, -1], *length)
        return Trajectory(x, np.clip(at.u, *self.problem.inputs))

    def _merit(self, now: Linearised) -> float:
        defects, missed = self._infeasibility(now)
        signed, (toll, of_squares) = now.defects / self.problem.scales[0], self._toll
        lagrangian = now.cost / self._unit + (toll * signed + 0.5 * of_squares * defects**2).sum()
        return float(lagrangian + self._price * missed)

    def _infeasibility(self, now: Linearised) -> tuple[Array, float]:
        """Defects, in units of the scales; and by how much conditions are missed: in each stage the most, of targets the sum."""
        worst, marks = np.zeros(self.problem.N + 1), 0.0
        for name, it in self.problem.bounded.items():
            missed = it.missed(now.values[name][0])
            if self.problem.is_mark(name):
                marks += float(missed.sum())
            else:
                stages = self.problem.stages(name)
                worst[stages] = np.maximum(worst[stages], missed.max(1, initial=0.0))
        defects = np.abs(now.defects / self.problem.scales[0])
        return np.where(np.isnan(defects), np.inf, defects), marks + float(worst.sum())

    def _step(self, now: Linearised) -> Step | None:
        """The solution of the quadratic program; None where the solver finds none."""
        problem, program, stage = self.problem, self._program, self._stage
        (sx, su), N, k, n = problem.scales, problem.N, problem.k, problem.n
        if self._hessian is None:
            self._hessian = self._own(now) + FLAT / N * np.eye(k + n)
        near = self._firmness / N * np.eye(k + n)
        lower, upper = np.full(program.size, -np.inf), np.full(program.size, np.inf)
        lower[program.slack_places] = 0.0
        for into, bound in zip((lower, upper), problem.inputs, strict=True):
            into[program.inputs] = ((bound - self._at.u) / su).ravel()
        if isinstance(problem.length, tuple):
            length, (least, most) = self._at.x[0, -1], problem.length
            lower[k - 1] = max(least - length, -SHRINK * length) / sx[-1]
            upper[k - 1] = min(most - length, length) / sx[-1]
        gradient, S = now.gradient * stage / self._unit, now.S * stage / sx[:, None]
        values = {name: (g, J * stage[: J.shape[2]]) for name, (g, J) in now.values.items()}
        defects = now.defects / sx
        H, shift, carried = convex(self._hessian + near, S, defects, SOFT / N)
        gradient = gradient + shift
        solved = program.solve(
            (H, near[:k, :k]),
            gradient,
            self._price,
            (S, defects),
            values,
            (lower, upper),
        )
        if solved is None:
            return None
        z, last, slacks, y, pressure = solved
        x = np.concatenate([z[:, :k], last[None]])
        merit = (gradient * z).sum() + 0.5 * (z * products(H, z)).sum() + self._price * slacks
        merit += 0.5 * (defects * products(carried, defects)).sum()
        return Step(x, z[:, k:], float(merit), y + products(carried, x[1:]), pressure)

    def _slope(self, now: Linearised, step: Step) -> Array:
        """The gradient of the Lagrangian by the variables of each stage but the last, in units of the scales."""
        stage = self._stage
        found = now.gradient * stage / self._unit
        found = found + products((now.S * stage / self.problem.scales[0][:, None]).transpose(0, 2, 1), step.y)
        for name, p in step.pressure.items():
            if name in now.values:
                stages, J = self.problem.stages(name), now.values[name][1]
                inner, w = stages < self.problem.N, J.shape[2]
                found[stages[inner], :w] += products((J * stage[:w]).transpose(0, 2, 1), p)[inner]
        return found
