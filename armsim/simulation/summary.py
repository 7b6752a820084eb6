"""The summary of a run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field

from armsim.loading import Scenario
from armsim.model.angles import POSITION
from armsim.records import PARTS, optional, record
from armsim.simulation.divergence import Divergence, divergence_of
from armsim.simulation.ending import Ending, ending, settled
from armsim.simulation.energy_balance import EnergyBalance, audit
from armsim.simulation.joint_summary import JointSummary, joint_summaries, named
from armsim.simulation.merit import ArmFigures, of_run
from armsim.simulation.problems import Problem, problems
from armsim.simulation.result import Result
from armsim.simulation.solve_times import SolveTimes, solve_times
from armsim.simulation.step_error import StepError


@record
class AdaptiveSteps:
    """The steps of an adaptive method.

    Attributes:
        refused: Number of those that it tried and refused.
        rtol: Its relative tolerance.
        atol: Its absolute tolerance.
        curbed: Whether its landings, not the tolerance, limit the steps, though samples and forces would do with fewer.
    """

    refused: int
    rtol: float
    atol: float
    curbed: bool


@record
class StepCounts:
    """Numbers of steps.

    Attributes:
        steps: Number of steps.
        landings: Of an adaptive method, at multiples of dt; else None.
        adaptive: Of an adaptive method; else None.
    """

    steps: int
    landings: int | None = optional(default=None)
    adaptive: AdaptiveSteps | None = optional(default=None)

    @classmethod
    def of(cls, scenario: Scenario, steps: int, counts: tuple[int, int] | None, land_every: int = 1) -> StepCounts:
        """The numbers of steps of a run.

        Args:
            scenario: What was run.
            steps: Number of steps; of an adaptive method, of multiples of dt.
            counts: Numbers of steps that an adaptive method accepted and rejected; None for others.
            land_every: Multiples of dt between its landings.
        """
        if counts is None:
            return cls(steps)
        taken, refused = counts
        landings = steps // land_every
        curbed = land_every < scenario.jump_every and taken <= 1.02 * landings
        return cls(taken, landings, AdaptiveSteps(refused, **vars(scenario.tolerance), curbed=curbed))


@record(kw_only=True)
class Summary:
    """What summaries of runs and of recordings have.

    Attributes:
        scenario: Its name.
        robot: Its name.
        status: "complete", "interrupted" or "diverged".
        method: That was run.
        picked: Why armsim picked it; None where the scenario names it.
        algorithm: Of the forward dynamics.
        dt: The step [s].
        counts: Numbers of steps.
        moments: Of an adaptive method, at which measures were taken; else None.
        duration: Time reached [s].
    """

    scenario: str
    robot: str
    status: str
    method: str
    picked: str | None = optional(default=None)
    algorithm: str
    dt: float
    counts: StepCounts = field(metadata=PARTS)
    moments: int | None = optional(default=None)
    duration: float


@record
class NotedError:
    """The estimated error by the step.

    Attributes:
        estimate: The error.
        note: What a large one means; None where it is small.
    """

    estimate: StepError = field(metadata=PARTS)
    note: str | None


@record
class ToolPose:
    """The tool's pose in the world.

    Attributes:
        position: x, y, z [m].
        quaternion: w, x, y, z.
    """

    position: list[float]
    quaternion: list[float]


@record
class Energy:
    """The arm's energy at an instant [J].

    Attributes:
        kinetic: Of its motion.
        potential: In gravity.
    """

    kinetic: float
    potential: float

    @property
    def total(self) -> float:
        """Their sum [J]."""
        return self.kinetic + self.potential


@record
class EnergyChange:
    """The arm's energy at the start and at the end of a run."""

    start: Energy
    end: Energy


@record
class OutsideRange:
    """A joint outside its range in a row or at the end.

    Attributes:
        joint: Its name.
        since: When it first was [s].
        most: By how much at most [rad or m].
        stop: Whether it has a stop.
    """

    joint: str
    since: float
    most: float = field(metadata=POSITION)
    stop: bool


@record
class ContactSummary:
    """A contact in the rows of a run.

    Attributes:
        name: Its name.
        touched: Time of the first row with a normal force [s]; None where there is none.
        most: Largest normal force [N].
        at: Its time [s].
        end: Normal force at the end [N].
    """

    name: str
    touched: float | None
    most: float
    at: float
    end: float


@record
class EndState:
    """What a run came to, of one whose end is finite.

    Attributes:
        joints: The joints.
        tool: The tool's pose.
        energy: At its start and end.
        audit: The energy balance.
        outside_limits: The joints that left their range.
        ending: Limits that act at the end, and errors that grow; None of a diverged run.
        figures: Of merit; None of a run without them.
        problems: What these say went wrong; likewise.
        contacts: The contacts with the world; None without.
    """

    joints: list[JointSummary]
    tool: ToolPose
    energy: EnergyChange
    audit: EnergyBalance
    outside_limits: list[OutsideRange]
    ending: Ending | None = optional(default=None)
    figures: ArmFigures | None = optional(default=None)
    problems: list[Problem] | None = optional(default=None)
    contacts: list[ContactSummary] | None = optional(default=None)


@record
class Measured:
    """What was measured.

    Attributes:
        value: The number.
        unit: Empty for a pure number, or one of no single unit.
    """

    value: float
    unit: str


@record(kw_only=True)
class RunSummary(Summary):
    """The summary of a run in SI units: the `--json` of `armsim simulate`, and that of run.yaml.

    Attributes:
        rows: Number of rows.
        engine: "llvm" or "python".
        seconds: Wall time by part [s].
        steps_per_second: Steps that the loop carried out, or tried, in a second.
        advice: Warnings on the step, of chattering stops only those that were met.
        step_error: The estimated error by the step; None where there is none.
        no_step_error: Why there is none of a complete run.
        end: What it came to; None where it ended in numbers that are not finite.
        measures: What was asked for; None for nothing.
        plans: How long those of predictive control take; None without a budget for them.
        diverged: The diagnosis of a diverged run; else None.
    """

    rows: int
    engine: str
    seconds: dict[str, float]
    steps_per_second: float
    advice: list[str]
    step_error: NotedError | None = optional(default=None)
    no_step_error: str | None = optional(default=None)
    end: EndState | None = field(default=None, metadata=PARTS)
    measures: dict[str, Measured] | None = optional(default=None)
    plans: SolveTimes | None = optional(default=None)
    diverged: Divergence | None = optional(default=None)

    @property
    def joints(self) -> list[JointSummary]:
        """The joints at its end; none where that is not finite."""
        return [] if self.end is None else self.end.joints


def summarize(run: Result) -> RunSummary:
    """The summary of a run."""
    plant, scenario, estimate = run.plant, run.scenario, run.step_error
    counts = StepCounts.of(scenario, run.steps, run.steps_chosen, scenario.land_every)
    outside = _outside(run)
    met = [found.joint for found in outside if found.stop]
    limited = [name for name, voltage in run.totals.voltages.items() if voltage.reached]
    return RunSummary(
        scenario=scenario.name,
        robot=plant.arm.name,
        status=run.status,
        method=plant.method,
        picked=scenario.picked or None,
        algorithm=plant.algorithm,
        dt=scenario.dt,
        counts=counts,
        moments=run.steps * scenario.moments if scenario.adaptive else None,
        duration=run.end_time,
        rows=run.count,
        engine=run.engine,
        seconds=dict(run.seconds),
        steps_per_second=pace(run.seconds, counts),
        advice=(run if met or limited else run.setup).advice.said(
            plant.method, scenario.dt, met, limited, settled(run)
        ),
        step_error=None if estimate is None else NotedError(estimate, estimate.note(scenario)),
        no_step_error=run.unestimated or None,
        end=_end_state(run, outside) if all(map(math.isfinite, run.end)) else None,
        measures={name: Measured(run.measures[name], unit) for name, unit in run.units.items()} or None,
        plans=solve_times(run),
        diverged=divergence_of(run) if run.status == "diverged" else None,
    )


def _end_state(run: Result, outside: list[OutsideRange]) -> EndState:
    last, first = named(run, run.end), named(run, run.totals.first if run.count else run.end)
    start, end = (Energy(row["energy", "kinetic"], row["energy", "potential"]) for row in (first, last))
    position, quaternion = ([last["pose", part] for part in parts] for parts in ("xyz", ("qw", "qx", "qy", "qz")))
    joints = joint_summaries(run)
    ends = None if run.status == "diverged" else ending(run)
    return EndState(
        joints=joints,
        tool=ToolPose(position, quaternion),
        energy=EnergyChange(start, end),
        audit=audit(run),
        outside_limits=outside,
        ending=ends,
        figures=of_run(run) if run.figures else None,
        problems=problems(run, joints, ends.saturated) if run.figures and ends is not None else None,
        contacts=_contacts(run) or None,
    )


def _contacts(run: Result) -> list[ContactSummary]:
    clock = run.scenario.clock
    found = []
    for name, rows in run.totals.forces.items() if run.count else ():
        touched = None if rows.touched is None else clock.at(rows.touched * clock.log_every)
        strongest = clock.at(rows.strongest * clock.log_every)
        found.append(ContactSummary(name, touched, rows.most, strongest, run.end[rows.column]))
    return found


def pace(seconds: Mapping[str, float], counts: StepCounts) -> float:
    """The steps that the loop carried out, or tried, in a second."""
    loop = seconds.get("loop_s", 0.0)
    tried = counts.steps + (0 if counts.adaptive is None else counts.adaptive.refused)
    return tried / loop if loop > 0 else math.inf


def _outside(run: Result) -> list[OutsideRange]:
    """The joints outside their range."""
    found = []
    for joint in run.plant.arm.joints:
        limit = joint.limit
        if limit is None:
            continue
        rows = run.totals.ranges[joint.name]
        end = run.end[rows.column]
        most = max(rows.beyond, limit.lower - end, end - limit.upper)
        if most > 0:
            since = run.end_time
            if rows.outside is not None:
                since = run.scenario.clock.at(rows.outside * run.scenario.clock.log_every)
            found.append(OutsideRange(joint.name, since, most, limit.stiffness is not None))
    return found
