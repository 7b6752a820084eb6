"""Predictive control: at every sample the commands of a horizon are optimised within their limits, and the first is applied.

Differential dynamic programming with box constraints (Tassa, Mansard and Todorov 2014, *Control-limited differential dynamic
programming*), the Hessian by Gauss and Newton, one iteration a sample from the plan of the sample before (the real-time
iteration of Diehl, Bock and Schlöder 2005). A sweep back over the horizon and rollouts along it are scans: all work is of fixed
length but for the pivoting at limits, so commands are the same bits in every engine, in lanes and in exported code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from armsim.control.law import FeedbackLaw, Kept, Now, Seen
from armsim.control.noise import uniform
from armsim.control.pid import within
from armsim.control.predicted_arm import CostToGo, ModelState, PredictedArm
from armsim.control.reference import Desired, Reference
from armsim.dynamics import clipped_solve
from armsim.dynamics.clipped import Law
from armsim.dynamics.factor import held_solver, solve_ldl
from armsim.expr import (
    Scalar,
    Scalars,
    absolute,
    as_constant,
    chosen,
    dot,
    fma,
    implicit,
    minus,
    plus,
    rounded,
    scan,
    shared,
    where,
)
from armsim.records import mutable_record, record

Rows = Sequence[Scalars]
STREAM = 4095.0  # of random numbers; encoders have those from 0 on
SHARES = (1.0, 0.5, 0.25)  # of a change of the plan that are tried; where none costs less, the plan stays


@mutable_record
class Misses:
    """Samples whose plan is not ready in time, by chance.

    Attributes:
        share: Of all samples.
        seed: Another one, other samples: a whole number.
    """

    share: Scalar
    seed: Scalar


@mutable_record
class Stage(ModelState):
    """A stage of a plan, from the state at its beginning on.

    Attributes:
        command: The command that is held for its length [V, A, N·m or N].
        base: The command that carries the model along the reference.
        wanted: What is desired at its beginning.
    """

    command: Scalars
    base: Scalars
    wanted: Desired


@mutable_record
class Rollout(ModelState):
    """Where a plan leads.

    Attributes:
        cost: Of the way there.
    """

    cost: Scalar


@mutable_record
class Correction:
    """How the command of a stage is to change: by a step, and by gains times the change of the state.

    Attributes:
        step: n entries.
        gains: n rows of 2 n + k.
    """

    step: Scalars
    gains: Rows


@record
class Predictive(FeedbackLaw):
    """Commands that minimise a cost over a horizon, by a model of the arm, within the limits of the commands.

    The model has motors with their limits, friction, springs and stops, and the currents that are states of it and of the arm;
    contacts and external forces are not predicted. A stage is a step of semi-implicit Euler, implicit in what opposes a
    joint's own velocity, so that neither back-EMF nor friction bounds its length. Commands that arrive late are planned for the
    state that the model then has, under those that are on their way.

    Attributes:
        predicted: The arm as the controller knows it.
        reference: What the joints should do.
        limit: Bounds of the commands' magnitudes per joint, None where there is none.
        stages: Of the horizon.
        delay: From a sample to its command [s].
        misses: Samples at which the last plan goes on; None for none.
        budget: What a plan may take [s]; None where nobody asks.
    """

    predicted: PredictedArm
    reference: Reference
    limit: tuple[Scalar | None, ...]
    stages: int
    delay: Scalar = 0.0
    misses: Misses | None = None
    budget: float | None = None

    name = "predictive"

    def begin(self) -> Kept:
        """The plan: of each stage the commands beyond those that carry the model along the reference."""
        return Kept(plan=[[0.0] * self.predicted.arm.n for _ in range(self.stages)])

    def command(self, now: Now, kept: Kept) -> Scalars:
        """The first commands of the plan, n scalars."""
        arrival = replace(now, t=now.t + self.delay)
        base = self.predicted.along(self.reference.at(arrival.t), arrival.laden)
        return self._bounded(plus(base, kept.plan[0]))

    def filtered(self, now: Now, kept: Kept, period: Scalar) -> Kept:
        """The plan of a sample, from that of the one before, which is a period [s] old."""
        share = period / self.predicted.interval
        later = [*kept.plan[1:], kept.plan[-1]]
        shifted = [
            [fma(share, b - a, a) for a, b in zip(u, after, strict=True)]
            for u, after in zip(kept.plan, later, strict=True)
        ]
        plan = self._improved(self._arrival(now, period), shifted)
        if self.misses is not None:
            late = uniform(self.misses.seed, STREAM, rounded(now.t / period)) < self.misses.share
            plan = chosen(late, shifted, plan)
        return replace(kept, plan=plan)

    @property
    def ideal(self) -> Predictive:
        """The same without misses."""
        return replace(self, misses=None)

    def _arrival(self, now: Now, period: Scalar) -> Now:
        """When the command of a sample arrives, and where the model is then; a period [s] lies between commands."""
        move = shared(lambda q, v, i, u, t: self.predicted.moved(q, v, i, u, t, period), "ahead")
        q, v = [*now.seen.q], [*now.seen.qd]
        lag = [
            motor is not None and motor.inductance is not None for motor in (x.motor for x in self.predicted.arm.joints)
        ]
        currents = {i: x for i, x in now.seen.currents.items() if lag[i]}
        for k, u in enumerate(now.queued):
            v, currents = move(q, v, currents, self._bounded(u), now.t + k * period)
            q = [fma(period, x, at) for x, at in zip(v, q, strict=True)]
        return replace(now, t=now.t + self.delay, seen=Seen(q, v, currents))

    def _improved(self, now: Now, plan: Rows) -> Rows:
        """A plan after an iteration: the change that costs least of those tried."""
        h = self.predicted.interval
        horizon = self.reference.at(now.t + h * self.stages)
        start = Rollout(list(now.seen.q), list(now.seen.qd), dict(now.seen.currents), 0.0)

        def begin(state: tuple[Rollout, Scalar], beyond: Scalars) -> tuple[tuple[Rollout, Scalar], Stage]:
            at, k = state
            t = fma(h, k, now.t)
            desired = self.reference.at(t)
            base = self.predicted.along(desired, now.laden)
            u = self._bounded(plus(base, beyond))
            stage = Stage(at.q, at.qd, at.currents, u, base, desired)
            return (self._rolled(now.laden, at, stage, u), k + 1.0), stage

        (end, _), stages = scan((start, 0.0), begin, plan)
        nothing = CostToGo([0.0] * len(end.flat), [[0.0] * len(end.flat) for _ in end.flat])
        left = self.predicted.added(nothing, end, horizon, self.predicted.weights.end)
        _, corrections = scan(left, lambda left, stage: self._corrected(now.laden, left, stage), stages, backward=True)

        def along(stage: Stage, change: Correction, at: Rollout, share: Scalar) -> Scalars:
            """The command of a stage after a share of its correction."""
            moved = minus(at.flat, stage.flat)
            steps = [dot(row, moved, share * step) for row, step in zip(change.gains, change.step, strict=True)]
            return self._bounded(plus(stage.command, steps))

        def attempt(states: list[Rollout], stage: Stage, change: Correction) -> tuple[list[Rollout], Scalar]:
            pairs = zip(states, SHARES, strict=True)
            return [self._rolled(now.laden, at, stage, along(stage, change, at, share)) for at, share in pairs], 0.0

        ends, _ = scan([start] * len(SHARES), attempt, stages, corrections)
        best: Scalar = 0.0
        least = self._spent(end, horizon)
        for share, tried in zip(SHARES, ends, strict=True):
            spent = self._spent(tried, horizon)
            best, least = chosen(spent < least, (share, spent), (best, least))

        def take(at: Rollout, stage: Stage, change: Correction) -> tuple[Rollout, Scalars]:
            new = along(stage, change, at, best)
            u = chosen(best > 0.0, new, stage.command)
            return self._rolled(now.laden, at, stage, u), minus(u, stage.base)

        _, found = scan(start, take, stages, corrections)
        first, *rest = found
        seen, gains = start.flat, as_constant(corrections[0].gains)

        def by_gains() -> Scalars:
            moved = minus(seen, as_constant(seen))
            return [dot(row, moved, u) for row, u in zip(gains, as_constant(first), strict=True)]

        return [implicit(first, by_gains), *map(as_constant, rest)]

    def _bounded(self, u: Scalars) -> Scalars:
        return [within(x, bound) for x, bound in zip(u, self.limit, strict=True)]

    def _rolled(self, laden: Scalar, at: Rollout, stage: Stage, u: Scalars) -> Rollout:
        """The state after a stage under a command, and the cost with that of the stage."""
        model, h = self.predicted, self.predicted.interval
        cost = fma(h, model.errors(at, stage.wanted), at.cost)
        for weight, x, base in zip(model.weights.command, u, stage.base, strict=True):
            beyond = x - base
            cost = fma(0.5 * h * weight, beyond * beyond, cost)
        v, currents = model.moved(at.q, at.qd, at.currents, u, laden)
        return Rollout([fma(h, x, q) for x, q in zip(v, at.q, strict=True)], v, currents, cost)

    def _spent(self, end: Rollout, horizon: Desired) -> Scalar:
        """The cost of a horizon with its end."""
        return fma(self.predicted.weights.end, self.predicted.errors(end, horizon), end.cost)

    def _corrected(self, laden: Scalar, left: CostToGo, stage: Stage) -> tuple[CostToGo, Correction]:
        """The correction of a stage, and the cost to go at its beginning."""
        model = self.predicted
        n, h = model.arm.n, model.interval
        _, (velocities, currents) = model.linearized(stage.q, stage.qd, stage.currents, stage.command, laden)
        rows = [*velocities, *currents.values()]
        # of n + k rows by 3 n + k: velocities and currents after the stage
        F = [[*by_q, *by_v, *by_i.values(), *by_u] for by_q, by_v, by_i, by_u in rows]
        own, all_, V, g = range(n), range(len(F)), left.hessian, left.gradient
        # the cost to go by the positions before, the velocities and currents after the stage, as q' = q + h v'
        by_v = [g[n + i] + h * g[i] if i < n else g[n + i] for i in all_]
        cross = [[V[i][n + j] + h * V[i][j] if j < n else V[i][n + j] for j in all_] for i in own]
        twice = [[V[n + i][n + j] for j in all_] for i in all_]
        for i in own:
            for j in own:
                twice[i][j] = twice[i][j] + h * (V[i][n + j] + V[n + i][j]) + h * h * V[i][j]
            for j in all_[n:]:
                twice[i][j] = twice[j][i] = twice[i][j] + h * V[i][n + j]
        columns = [*zip(*F, strict=True)]
        bent = [[dot(row, column) for row in twice] for column in columns]
        Q = [[dot(a, b) for b in bent[: i + 1]] for i, a in enumerate(columns)]  # lower triangle
        slope = [dot(column, by_v) for column in columns]
        for i in own:
            slope[i] = slope[i] + g[i]
            for k, column in enumerate(columns):  # of the positions, which the stage keeps, with all
                mixed = dot(cross[i], column)
                a, b = max(i, k), min(i, k)
                Q[a][b] = Q[a][b] + (2.0 * mixed if i == k else mixed)
            for j in range(i + 1):
                Q[i][j] = Q[i][j] + V[i][j]
        first = n + len(F)
        for i in own:
            weight = h * model.weights.command[i]
            slope[first + i] = fma(weight, stage.command[i] - stage.base[i], slope[first + i])
            Q[first + i][first + i] = Q[first + i][first + i] + weight
        inner = [Q[first + i][first : first + i + 1] for i in own]
        step, held = self._step(inner, slope[first:], stage.command)
        across = [Q[first + i][:first] for i in own]
        gain = held_solver(inner, held)
        gains = [*zip(*(gain([-x for x in column]) for column in zip(*across, strict=True)), strict=True)]
        gradient = [dot(column, step, slope[k]) for k, column in enumerate(zip(*across, strict=True))]
        hessian: list[list[Scalar]] = [[0.0] * first for _ in range(first)]
        columns_of_gains = [*zip(*gains, strict=True)]
        for i in range(first):
            for j in range(i + 1):
                hessian[i][j] = hessian[j][i] = dot([row[i] for row in across], columns_of_gains[j], Q[i][j])
        before = model.added(CostToGo(gradient, hessian), stage, stage.wanted, h)
        return before, Correction(step, [list(row) for row in gains])

    def _step(self, H: Rows, g: Scalars, u: Scalars) -> tuple[Scalars, list]:
        """The change of commands with the least cost within their limits, and which of them a limit holds.

        With w = H d + g, w is 0 within the limits, not negative at the lower and not positive at the upper one. So d is the
        force of a dry friction in H⁻¹ w = H⁻¹ g + d, whose velocities are w.
        """
        n = len(g)
        if all(bound is None for bound in self.limit):
            return solve_ldl(H, [-x for x in g]), [False] * n
        units = [solve_ldl(H, [1.0 if i == j else 0.0 for j in range(n)]) for i in range(n)]
        inverse = [units[i][: i + 1] for i in range(n)]
        free = [-dot(row, g) for row in units]
        bounds = [math.inf if bound is None else bound for bound in self.limit]
        laws = [Law(i, -bound - x, bound - x) for i, (bound, x) in enumerate(zip(bounds, u, strict=True))]
        guess = [where(d > law.upper, -1.0, where(d < law.lower, 1.0, 0.0)) for d, law in zip(free, laws, strict=True)]
        w, d = clipped_solve(inverse, [-x for x in free], laws, guess)
        return d, [absolute(x) > 0.0 for x in w]
