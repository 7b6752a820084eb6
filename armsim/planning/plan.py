"""`armsim.plan`: inputs over time that lead an arm to a target."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import zip_longest
from os import PathLike

import numpy as np

from armsim.arm.arrays import Array
from armsim.errors import UsageError
from armsim.files.csv_reader import read_csv
from armsim.loading import Given, Overrides, Scenario, scenario_of
from armsim.planning.feedback import gains_along
from armsim.planning.problem import ROUNDING, Problem, Trajectory
from armsim.planning.result import INPUTS, TIME, Missed, MotionPlan, Obstruction, PlanSummary
from armsim.planning.search import MET, Found, PlanSearch, SearchIteration
from armsim.planning.task import PlanTask

ROUNDS = 24  # of a search, with the ends of intervals corrected, and knots kept from limits, in between
PLACES = (
    8,
    32,
    128,
    512,
)  # in each interval, where limits are looked at: more where the motion or its simulation passes them
KEPT = 1e-4  # by how much limits may be passed between knots, in units of their scales
AGREED = 1e-9  # change of the corrections that ends them, in units of the scales
STALLED = 1e-5  # likewise, where the plan is held as near to where it is as can be
DECIMALS = 12  # of the length of an interval that was open [s]
ACTS = 1e-3  # of the greatest multiplier: above it a limit acts

Progress = Callable[[SearchIteration], object]


def plan(
    scenario: Given | Scenario,
    overrides: Overrides | None = None,
    warm: str | PathLike[str] | MotionPlan | None = None,
    progress: Progress | None = None,
) -> MotionPlan:
    """Plan the motion that a scenario's `plan` asks for, and simulate it by another method.

    Args:
        scenario: A scenario file, the name of a shipped one, its content, or what has been read.
        overrides: Values in place of the file's, by path.
        warm: An earlier plan, or its folder, to begin with.
        progress: Called with every iteration.

    Returns:
        The plan; of an infeasible task what comes nearest to it, with the limit that keeps it from being possible; after
        Ctrl-C what there is.

    Raises:
        FileFaults: The scenario cannot be used; says where and why.
        UsageError: It has no plan, or what it asks for cannot be planned; says why. Or piqp is missing.
        NoSolution: A tool cannot be where it is to be.
    """
    task = PlanTask(scenario_of(scenario, overrides))
    guess = task.guess() if warm is None else _warm(task, warm)
    problem = task.problem(guess)
    search = PlanSearch(problem, guess, progress)
    found = search.run()
    if found.status == "infeasible" and isinstance(problem.length, tuple):  # perhaps only in the time that it came to
        search.correct(replace(problem, length=(problem.length[1],) * 2))
        again = search.run()
        found = replace(again, status="infeasible") if again.status == "unfinished" else again
    for places, closer in zip_longest(PLACES, PLACES[1:]):
        search.correct(replace(search.problem, length=problem.length))
        kept, found = _settled(task, search, found, places)
        if found.status == "solved" and closer and kept.tightened(search.trajectory, KEPT, closer)[1] > KEPT:
            continue  # the simulation would say so
        made = _result(task, kept, found, search.iterations)
        pairs = zip(made.facts.margins, task.limits.told)
        if found.status != "solved" or all(one.beyond <= KEPT * bound.scale for one, bound in pairs):
            break
    else:
        made.facts = replace(made.facts, status="unfinished")
    return made


def _settled(task: PlanTask, search: PlanSearch, found: Found, places: int) -> tuple[Problem, Found]:
    """Go on until steps no longer matter, nor limits at so many places of intervals; with the problem that is solved then."""
    problem, change = search.problem, 0.0
    for _ in range(ROUNDS):
        if found.status in ("infeasible", "interrupted"):
            break
        sharper = problem if search.contracts else task.sharper(problem)
        tighter, passed = sharper.tightened(search.trajectory, KEPT, places)
        tighter = replace(tighter, correction=task.correction(search.trajectory, sharper))
        change = search.correct(tighter)
        if change < (STALLED if search.held else AGREED) and passed <= ROUNDING:
            if not isinstance(problem.length, tuple) or len({*problem.length}) == 1:
                break
            length = math.ceil(search.trajectory.x[0, -1] * 10**DECIMALS) / 10**DECIMALS  # for the file
            search.correct(replace(tighter, length=(length, length)))
        again = search.run(few=1)
        if again.status == "infeasible":  # closer to limits than knots have to be
            search.correct(problem, found.trajectory)
            break
        problem, found = search.problem, replace(again, status=found.status) if again.status == "solved" else again
        if found.status == "unfinished":
            break
    return problem, replace(found, status="unfinished") if change > KEPT and found.status == "solved" else found


def _warm(task: PlanTask, warm: str | PathLike[str] | MotionPlan) -> Trajectory:
    """The trajectory of an earlier plan, at the knots of this one.

    Raises:
        UsageError: It is another arm's.
    """
    vector = task.vector
    states = [vector.headings()[i] for i, _ in vector.carried]
    inputs = [vector.input_headings()[i] for i in task.driven]
    if isinstance(warm, MotionPlan):
        table = dict(zip(warm.state_headings, warm.x.T, strict=True))
        table |= dict(zip(warm.input_headings, np.concatenate([warm.u, warm.u[-1:]]).T, strict=True))
        table[TIME] = warm.t
        name = repr(warm)
    else:
        name = os.path.join(os.fspath(warm), INPUTS)
        table = {key: np.array(column) for key, column in read_csv(name).columns.items()}
    for heading in (TIME, *states, *inputs):
        if heading not in table:
            mend = f"begin with a plan of {task.arm.name}, under the same output"
            raise UsageError.of(name, f"a plan of this arm, with {heading}", "none", mend)
    t = table[TIME]
    end = t[-1] if task.free else task.duration
    share = np.linspace(0.0, t[-1], task.N + 1)
    x = np.column_stack([np.interp(share, t, table[heading]) for heading in states])
    if task.free:
        x = np.column_stack([x, np.full(task.N + 1, end / task.N)])
    earlier = np.searchsorted(t, share[:-1] * (1.0 + 1e-12) + 1e-12, side="right") - 1
    return Trajectory(x, np.column_stack([table[heading][earlier] for heading in inputs]))


def _result(task: PlanTask, problem: Problem, found: Found, iterations: tuple[SearchIteration, ...]) -> MotionPlan:
    at, k0 = found.trajectory, len(problem.start)
    t = np.round(np.arange(problem.N + 1) * float(problem.lengths(at)[0]), DECIMALS)
    u = np.zeros((problem.N, task.arm.n))
    u[:, task.driven] = at.u
    now = problem.linearised(at)
    S = np.concatenate([now.S[:, :k0, :k0], now.S[:, :k0, problem.k :]], axis=2)
    gains = gains_along(S, (problem.scales[0][:k0], problem.scales[1]))
    infeasible = found.status == "infeasible"
    facts = PlanSummary(
        scenario=task.scenario.name,
        robot=task.arm.name,
        status=found.status,
        minimise=task.cost.text,
        cost=now.cost,
        time=float(t[-1]),
        intervals=problem.N,
        iterations=len(iterations),
        iteration_s=sum(one.seconds for one in iterations) / max(1, len(iterations)),
        output=task.output,
        missed=_missed(problem, now.values, t),
        obstruction=_obstruction(task, problem, found.pressure, t) if infeasible else None,
    )
    return MotionPlan(task, Trajectory(at.x[:, :k0], u), t, gains, iterations, facts)


def _missed(problem: Problem, values: Mapping[str, tuple[Array, Array]], t: Array) -> tuple[Missed, ...]:
    """The conditions that are not met, each once."""
    found: dict[tuple[str, str], Missed] = {}
    for name, it in problem.bounded.items():
        beyond = it.missed(values[name][0])
        at = t[problem.stages(name) + (name == "end")]
        for j, one in enumerate(it.bounds):
            worst = int(beyond[:, j].argmax())
            by = float(beyond[worst, j] * one.scale)
            key = one.quantity, one.of
            if beyond[worst, j] > MET and (key not in found or found[key].by < by):
                found[key] = Missed(*key, one.unit, by, float(at[worst]))
    return tuple(found.values())


def _obstruction(task: PlanTask, problem: Problem, pressure: dict[str, Array], t: Array) -> Obstruction | None:
    """The limit whose widening, in proportion to itself, gains most."""
    candidates: list[tuple[float, Obstruction]] = []
    rows = {"inputs": task.limits.inputs, **{name: it.bounds for name, it in problem.bounded.items()}}
    for name, p in pressure.items():
        if name.startswith("mark"):
            continue
        stages = np.arange(problem.N) if name == "inputs" else problem.stages(name)
        for one, column in zip(rows[name], p.T, strict=True):
            size = np.abs(column)
            if not size.max(initial=0.0) > 0.0:
                continue
            limit = one.upper if column[size.argmax()] > 0 else one.lower
            first = int((size > ACTS * size.max()).argmax())
            worth = float(size.sum()) * max(abs(limit / one.scale), ACTS)
            candidates.append((worth, Obstruction(one.quantity, one.of, limit, one.unit, float(t[stages[first]]))))
    return max(candidates, key=lambda pair: pair[0])[1] if candidates else None
