"""The same reach by armsim and by Crocoddyl: the least cost, and the time of an iteration.

    python benchmarks/reach_crocoddyl.py [--intervals 100] [--limit 20]

Takes `pip install crocoddyl==3.2.1 pin==4.0.0` beside armsim and piqp; with pin 4.1.0 that Crocoddyl leaves out
gravity, without a word. Costs are squares of the joints' errors, of speeds and of torques beyond those that hold the
goal; errors and speeds at the end count more. arm5 without motors and stops takes one step of semi-implicit Euler in
each interval, as Crocoddyl's Euler is; torques are within a limit, which acts. `plan` is the search of `armsim plan`,
`predictive` the iteration of the law of that name, Crocoddyl's is BoxFDDP. Each searches in a process of its own,
from a spline and the torques that carry the arm along. Times are user time with one thread, without preparation.
Costs are those of the torques found, by one rollout for all.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from array import array
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace

import numpy as np
from peers import pinocchio_model

from armsim import Robot
from armsim.compile.single import SingleKernel
from armsim.control import Controller, Desired, Kept, Now, Predictive, Seen
from armsim.expr import Scalar, trace, where
from armsim.loading import scenario_of
from armsim.planning.rows import RowFunction
from armsim.planning.search import PlanSearch
from armsim.planning.task import PlanTask

START, GOAL = (0.0, -0.9, -0.1, 0.0, 0.0), (1.2, 0.2, -0.9, 0.8, 0.5)  # rad
ERROR, SPEED, TORQUE = 100.0, 1.0, 1e-2  # weights of halves of squares: 1/rad², s²/rad², 1/(N·m)²
END = 1.0  # s, for which errors and speeds at the end count
SEARCHES, MOST = 50, 60  # those that are timed, and iterations of each


@dataclass(frozen=True)
class Optimum:
    """What a search came to.

    Attributes:
        cost: The least cost.
        iterations: How many it took.
        each: User time of an iteration [s].
        at_limit: How many of the torques are at the limit.
    """

    cost: float
    iterations: int
    each: float
    at_limit: int


class Reach:
    """The task, in a second.

    Args:
        intervals: Of constant torques.
        limit: Of all torques [N·m].
    """

    def __init__(self, intervals: int, limit: float) -> None:
        without = {f"robot.joints[{i}].{key}": None for i in range(len(GOAL)) for key in ("motor", "limits")}
        plan = {"output": "torque", "to": {"q": [*GOAL]}, "minimise": "torque_squared", "limit": limit}
        cost = {"q": ERROR, "qd": SPEED, "command": TORQUE, "end": END}
        law = {"law": "predictive", "output": "torque", "period": 1.0 / intervals, "limit": limit, "target": [*GOAL]}
        asked = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 1.0, "initial": {"q": [*START]}}
        asked |= {"integrator": {"method": "semi_implicit_euler", "dt": 1.0 / intervals}}
        asked |= {"plan": {**plan, "intervals": intervals}}
        asked |= {"control": {**law, "horizon": 1.0, "stages": intervals, "cost": cost}}
        self.task = PlanTask(scenario_of(asked, without))
        self.guess = self.task.guess()
        self.N, self.h, self.bounds, self.arm = intervals, 1.0 / intervals, self.task.bounds, self.task.arm
        self.robot = Robot(self.arm)
        self.hold = np.asarray(self.robot.gravity_torque(GOAL))

    def errors(self, x: list[Scalar]) -> Scalar:
        """The cost of errors and speeds by time."""
        missed = sum((q - goal) * (q - goal) for q, goal in zip(x, GOAL))
        return 0.5 * ERROR * missed + 0.5 * SPEED * sum(v * v for v in x[len(GOAL) :])

    def torques(self, u: list[Scalar]) -> Scalar:
        """The cost of torques by time."""
        return 0.5 * TORQUE * sum((tau - hold) * (tau - hold) for tau, hold in zip(u, self.hold.tolist()))

    def optimum(self, u: np.ndarray, iterations: int, each: float) -> Optimum:
        """What torques (N, n) come to, by steps of semi-implicit Euler."""
        x, cost = np.array([*START, *np.zeros(len(GOAL))]), 0.0
        for tau in u:
            cost += self.h * float(self.errors(x) + self.torques(tau))
            v = x[5:] + self.h * np.asarray(self.robot.forward_dynamics(x[:5], x[5:], tau))
            x = np.concatenate([x[:5] + self.h * v, v])
        at_limit = int((np.abs(u) > self.bounds - 1e-6).sum())
        return Optimum(cost + END * float(self.errors(x)), iterations, each, at_limit)


def user() -> float:
    """User time of this process [s]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def by_plan(reach: Reach) -> Optimum:
    """Sequential quadratic programming, by `armsim.planning`."""
    h, N = reach.h, reach.N

    def half(x: list[Scalar], u: list[Scalar], index: list[Scalar]) -> list[Scalar]:
        first, last = index[0] < 0.5, index[0] > N - 0.5
        share = where(first, h, where(last, END, 0.5 * h))  # rectangles from the left, as Crocoddyl's Euler has them
        return [share * reach.errors(x) + 0.5 * h * reach.torques(u)]

    guess = reach.guess
    k, n = guess.x.shape[1], guess.u.shape[1]
    problem = replace(reach.task.problem(guess), marks={}, steps=1, cost=RowFunction(half, [k, n, 1], k + n, 2))
    PlanSearch(problem, guess).run(2)
    began = user()
    search = PlanSearch(problem, guess)
    found = search.run()
    count = len(search.iterations)
    return reach.optimum(found.trajectory.u, count, (user() - began) / count)


def by_predictive(reach: Reach) -> Optimum:
    """Differential dynamic programming with box constraints in machine code, by `law: predictive` while the arm stands still."""
    command = reach.task.scenario.command
    assert isinstance(command, Controller)
    assert isinstance(command.law, Predictive)
    law = command.law
    n, places = len(GOAL), [f"u{i}" for i in range(reach.N * len(GOAL))]
    now = Now(0.0, Seen([*START], [0.0] * n), Desired([*GOAL], [0.0] * n, [0.0] * n))

    def improved(*u: Scalar) -> list[Scalar]:
        plan = [list(u[i : i + n]) for i in range(0, len(u), n)]
        return [x for stage in law.filtered(now, Kept(plan=plan), 0.0).plan for x in stage]

    kernel = SingleKernel(trace(improved, places, "improved"))
    began, count = user(), 0
    for _ in range(SEARCHES):
        plan, after = array("d", (reach.guess.u - reach.hold).ravel().tolist()), array("d", bytes(8 * len(places)))
        iterations = 0
        while plan != after and iterations < MOST:
            kernel.call(plan.buffer_info()[0], after.buffer_info()[0])
            plan, after, iterations = after, plan, iterations + 1
        count += iterations
    u = np.clip(np.array(plan).reshape(-1, n) + reach.hold, -reach.bounds, reach.bounds)
    return reach.optimum(u, iterations, (user() - began) / count)


def by_crocoddyl(reach: Reach) -> Optimum:
    """Feasibility-driven differential dynamic programming with box constraints, by Crocoddyl."""
    import crocoddyl

    state = crocoddyl.StateMultibody(pinocchio_model(reach.arm))
    n, goal = len(GOAL), np.array([*GOAL, *np.zeros(len(GOAL))])
    weights = crocoddyl.ActivationModelWeightedQuad(np.repeat([ERROR, SPEED], n))
    errors = crocoddyl.CostModelResidual(state, weights, crocoddyl.ResidualModelState(state, goal, n))
    torques = crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state, reach.hold))
    running, end = (crocoddyl.CostModelSum(state, n) for _ in range(2))
    running.addCost("errors", errors, 1.0)
    running.addCost("torques", torques, TORQUE)
    end.addCost("errors", errors, END)
    actuation = crocoddyl.ActuationModelFull(state)
    stage, last = (
        crocoddyl.IntegratedActionModelEuler(
            crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, costs), h
        )
        for costs, h in ((running, reach.h), (end, 0.0))
    )
    stage.u_lb, stage.u_ub = -reach.bounds, reach.bounds
    problem = crocoddyl.ShootingProblem(reach.guess.x[0], [stage] * reach.N, last)
    problem.nthreads = 1
    solver = crocoddyl.SolverBoxFDDP(problem)
    solver.th_stop = 1e-12
    began, count = user(), 0
    for _ in range(SEARCHES):
        solver.solve(list(reach.guess.x), list(reach.guess.u), MOST, False)
        count += solver.iter
    return reach.optimum(np.array([*solver.us]), solver.iter, (user() - began) / count)


WAYS: dict[str, Callable[[Reach], Optimum]] = {
    "plan": by_plan,
    "predictive": by_predictive,
    "crocoddyl": by_crocoddyl,
}


def found(way: str, intervals: int = 100, limit: float = 20.0) -> Optimum:
    """What one of `WAYS` comes to, in a process of its own with one thread."""
    command = [sys.executable, __file__, "--only", way, "--intervals", str(intervals), "--limit", str(limit)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    return Optimum(**json.loads(done.stdout))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--intervals", type=int, default=100)
    parser.add_argument("--limit", type=float, default=20.0, help="of all torques [N·m]")
    parser.add_argument("--only", choices=WAYS, help="one of them, in this process, as JSON")
    asked = parser.parse_args()
    if asked.only:
        print(json.dumps(asdict(WAYS[asked.only](Reach(asked.intervals, asked.limit)))))
        return
    for name in WAYS:
        one = found(name, asked.intervals, asked.limit)
        print(
            f"{name:11} cost {one.cost:.10g} in {one.iterations} iterations of {1e3 * one.each:.3f} ms, "
            f"{one.at_limit} torques at the limit"
        )


if __name__ == "__main__":
    main()
