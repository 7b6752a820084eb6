"""A plan, as `armsim.plan` returns it."""

from __future__ import annotations

import math
import os
import tempfile
from dataclasses import field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from armsim.arm.arrays import Array
from armsim.display import Shown
from armsim.document.scenario import FORMAT
from armsim.files.csv_writer import write_csv
from armsim.files.destination import Destination
from armsim.files.folder_kind import CHECKED, GAINS, INPUTS, PLAN, PLAN_COMMENT, PLAY, SUMMARY
from armsim.files.new_file import write_whole
from armsim.files.new_folder import new_folder
from armsim.files.yaml_writer import yaml_text
from armsim.planning.problem import Bound, Trajectory
from armsim.planning.search import SearchIteration
from armsim.planning.task import PlanTask
from armsim.records import OMIT, Json, as_plain, record
from armsim.simulation.run import Run
from armsim.simulation.simulate import simulate

CHECK = {"method": "rodas", "rtol": 1e-9}  # of the simulation that checks a plan
TIME = "t_s"
COMMENT = """Plays what `armsim plan` has found for {name}: inputs.csv, by {method} at rtol {rtol:g}.
`armsim simulate play.yaml` repeats it to the bit."""


@record
class LimitMargin:
    """A limit, and how near a plan comes to it when it is simulated.

    Attributes:
        quantity: What is limited.
        of: The joint, the tool, or two bodies.
        unit: Of the numbers.
        lower: The limit; None for none.
        upper: Likewise.
        least: The least value of the run.
        greatest: The greatest.
    """

    quantity: str
    of: str
    unit: str
    lower: float | None
    upper: float | None
    least: float
    greatest: float

    @property
    def beyond(self) -> float:
        """By how much the limit is exceeded; below 0 where it is kept."""
        over = -math.inf if self.upper is None else self.greatest - self.upper
        return max(over, -math.inf if self.lower is None else self.lower - self.least)


@record
class Missed:
    """A condition that a plan does not meet.

    Attributes:
        quantity: "target", or what is limited.
        of: Of what.
        unit: Of the number.
        by: How far it is missed.
        t_s: When most [s].
    """

    quantity: str
    of: str
    unit: str
    by: float
    t_s: float


@record
class Obstruction:
    """The limit that keeps a task from being possible: that whose widening would bring the plan nearest to the target.

    Attributes:
        quantity: What is limited.
        of: The joint, the tool, or two bodies.
        limit: The limit.
        unit: Of the number.
        from_s: When it first acts [s].
    """

    quantity: str
    of: str
    limit: float
    unit: str
    from_s: float


@record
class PlanSummary:
    """What there is to tell of a plan.

    Attributes:
        scenario: Its name.
        robot: The arm's name.
        status: "solved", "infeasible", "unfinished" or "interrupted".
        minimise: The cost, as a formula.
        cost: Its value.
        time: Duration of the motion [s].
        intervals: In which inputs are constant.
        iterations: How many it took.
        iteration_s: How long one took, on average [s].
        end_error: How far from the plan's end the simulated motion ends, the farthest joint [rad or m].
        margins: The limits, of a plan that was simulated.
        missed: Conditions that are not met.
        obstruction: What keeps an infeasible task from being possible.
        output: What the inputs are.
    """

    scenario: str
    robot: str
    status: str
    minimise: str
    cost: float
    time: float
    intervals: int
    iterations: int
    iteration_s: float
    output: str
    end_error: float | None = None
    margins: tuple[LimitMargin, ...] = ()
    missed: tuple[Missed, ...] = ()
    obstruction: Obstruction | None = field(default=None, metadata=OMIT)


class MotionPlan(Shown):
    """Inputs over time that lead an arm to a target, with what came of playing them.

    Attributes:
        t: Knots [s], shape (N + 1,).
        x: States at the knots, (N + 1, k): the numbers of `state_headings`.
        u: Inputs of all joints between them, (N, n): voltages [V], currents [A] or torques [N·m or N].
        gains: Of the feedback u + K (x_plan - x), (N, n, k), n the driven joints.
        facts: The summary.
        run: The simulation of the plan by another method; None of one that was not solved.
    """

    def __init__(
        self,
        task: PlanTask,
        trajectory: Trajectory,
        t: Array,
        gains: Array,
        iterations: tuple[SearchIteration, ...],
        facts: PlanSummary,
    ) -> None:
        self._task, self.t, self.gains, self.iterations = task, t, gains, iterations
        self.x, self.u = trajectory.x, trajectory.u
        self.facts = facts
        self.run: Run | None = None
        if facts.status in ("solved", "unfinished") and not facts.missed:
            with tempfile.TemporaryDirectory() as folder:
                self._check(folder)

    def __repr__(self) -> str:
        facts = self.facts
        return f"MotionPlan({facts.scenario}: {facts.status}, {facts.time:g} s, {facts.minimise} = {facts.cost:.6g})"

    @property
    def status(self) -> str:
        """ "solved", "infeasible", "unfinished" or "interrupted"."""
        return self.facts.status

    @property
    def time(self) -> float:
        """Duration of the motion [s]."""
        return self.facts.time

    @property
    def cost(self) -> float:
        """The cost."""
        return self.facts.cost

    @property
    def input_headings(self) -> list[str]:
        """The heading of every input, with its unit."""
        return self._task.vector.input_headings()

    @property
    def state_headings(self) -> list[str]:
        """The heading of every number of a state, with its unit."""
        headings = self._task.vector.headings()
        return [headings[i] for i, _ in self._task.vector.carried]

    def summary(self) -> Json:
        """What the command line prints, as plain data."""
        return dict(as_plain(self.facts))

    @cached_property
    def play(self) -> Json:
        """The scenario that plays it from `inputs.csv` beside it, as plain data."""
        data = {
            key: value
            for key, value in self._task.scenario.scenario_data.items()
            if key not in ("control", "inputs", "format", "log")
        }
        signals = [{"csv": INPUTS, "column": heading} for heading in self.input_headings]
        played = {"duration": float(self.t[-1]), "integrator": CHECK, "inputs": {self._task.output: signals}}
        return {"format": FORMAT, **data, **played}

    def _write(self, folder: str) -> None:
        """Write inputs.csv and play.yaml."""
        table = np.column_stack([self.t, np.concatenate([self.u, self.u[-1:]]), self.x])
        write_csv(os.path.join(folder, INPUTS), [TIME, *self.input_headings, *self.state_headings], table.ravel())
        text = yaml_text(self.play, COMMENT.format(name=self.facts.scenario, **CHECK))
        write_whole(os.path.join(folder, PLAY), text)

    def _check(self, folder: str) -> None:
        """Simulate the plan, and note what came of it."""
        self._write(folder)
        run = simulate(
            os.path.join(folder, PLAY), measure=[text for one in self._task.limits.told for text in _extremes(one)]
        )
        n = self._task.arm.n
        off = float(np.abs(np.array(run.state[:n]) - self.x[-1, :n]).max())
        margins = tuple(
            LimitMargin(
                one.quantity,
                one.of,
                one.unit,
                _finite(one.lower),
                _finite(one.upper),
                *(run.measures[x] for x in _extremes(one)),
            )
            for one in self._task.limits.told
        )
        self.run = run
        self.facts = replace(self.facts, end_error=off, margins=margins)

    def save(self, folder: str | PathLike[str] | None = None, force: bool = False) -> Path:
        """Write inputs.csv, gains.csv, plan.yaml, play.yaml, and the simulated motion in run/.

        Args:
            folder: Absent or empty; `plans/<scenario>-001` or the next free number if none is given.
            force: Replace an earlier plan there.

        Returns:
            The folder.

        Raises:
            UsageError: The folder must not be overwritten, or cannot be written.
        """
        with new_folder(PLAN, self.facts.scenario, Destination(folder, force)) as made:
            self._write(made.hidden)
            driven = [self.input_headings[i] for i in self._task.driven]
            headings = [f"K_{of}_{by}" for of in driven for by in self.state_headings]
            gains = np.column_stack([self.t[:-1], self.gains.reshape(len(self.t) - 1, -1)])
            write_csv(made.file(GAINS), [TIME, *headings], gains.ravel())
            write_whole(made.file(SUMMARY), yaml_text(self.summary(), PLAN_COMMENT))
        if self.run is not None:  # whose run.yaml tells where inputs.csv is
            simulate(os.path.join(made.path, PLAY)).save(os.path.join(made.path, CHECKED))
        return Path(made.path)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _extremes(one: Bound) -> tuple[str, str]:
    """The measures of the least and the greatest value of what is bounded."""
    return f"min({one.column})", f"max({one.column})"
