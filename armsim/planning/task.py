"""What a scenario asks to plan, as an optimal control problem, and a trajectory to begin with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from armsim.actuation import Output, any_sticks
from armsim.arm.arrays import Array
from armsim.arm.robot import Robot
from armsim.control import Controller
from armsim.control.operational_space import AXES
from armsim.document.scenario import FIXED
from armsim.dynamics import frame_pose
from armsim.errors import UsageError
from armsim.expr import Scalar, loop
from armsim.files.faults import suggestion
from armsim.formulas.formula import Formula, FormulaError, parse_formula
from armsim.integrate import METHODS
from armsim.inverse_kinematics.task import PoseGoal
from armsim.loading.frames import RADIANS
from armsim.loading.scenario import Scenario
from armsim.loading.settle import settle
from armsim.loading.voltage import check_motors, voltage_refusal
from armsim.measures.moment import Moment
from armsim.measures.names import check_value
from armsim.model import Arm, Joint, MotorLimits
from armsim.planning.limits import PlanLimits
from armsim.planning.problem import Bound, Bounded, Problem, Trajectory
from armsim.planning.rows import RowFunction
from armsim.plant import driven_plant
from armsim.recording.state_vector import StateVector
from armsim.simulation.tangent_plan import check_differentiable
from armsim.spatial import Matrix, Vector, quaternion, rotation_quaternion, rotation_rpy

MOST_STEPS = 4096  # in an interval
METHOD = "velocity_verlet"
COSTS = ("time", "energy", "torque_squared", "tracking")
SHORTEST = 1e-3  # of the duration, where that is open
GROWTH = 10.0  # in an interval, beyond which a step counts as unstable
CLOSE = 1e-4  # of the scales: change of an interval's end by twice as many steps
CREEP = 0.4  # of the greatest velocity at first: below it dry friction counts as viscous in the search
SHARPER, SHARPEST = 3, 81  # times less, where corrections do not contract, and at most
REFINED = (8, 16)  # times as many steps, for what a problem's steps are off by
SMALLEST_SCALE = 0.1  # rad or m
NEAR = 1e-9  # of an interval


class PlanTask:
    """A scenario's plan.

    Args:
        scenario: Has a plan.

    Raises:
        UsageError: It has none, or what it asks for cannot be planned; says why.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        asked = settle(scenario.file.document).plan
        if asked is None:
            mend = "add for example `plan: {to: {q: [...]}, minimise: time}`"
            raise UsageError.of(scenario.name, "a scenario with a `plan`", "none", mend)
        self.asked = asked
        self.arm = scenario.arm
        self.output: Output = self.asked.output or ("torque" if voltage_refusal(self.arm) else "voltage")
        check_motors(self.arm, self.output, "plan.output", ", or write `output: torque`")
        self.method = scenario.method if scenario.method in FIXED else METHOD
        if any_sticks(self.arm):
            self.method = "rk4"  # of the methods of fixed steps it alone finds when joints turn round
        if not self.driven:
            raise UsageError.of("plan.limit", "a joint with an input", "0 for all of them", "give one a limit above 0")
        self.N = int(self.asked.intervals)
        self.cost = self._cost()
        self.free = "time" in self.cost.names
        self._check_times()

    def _check_times(self) -> None:
        """Loads come and go at knots, whose times are known; time alone asks for limits."""
        for joint, bound in zip(self.arm.joints, self.bounds) if self.cost.names == {"time"} else ():
            limits = joint.motor.limits if joint.motor else MotorLimits()
            if bound == math.inf and limits.voltage is limits.current is limits.torque is None:
                expected = f"a limit of {self.output} for each joint where time alone counts"
                raise UsageError.of(
                    "plan.minimise: time", expected, f"none for {joint.name}", "add `limit` to the plan"
                )
        mend = "take `time` out of plan.minimise, or plan each part of the motion by itself"
        times = [(f"payload {one.name}", t) for one in self.arm.timed for t in (one.start, one.end)]
        times += [(f"force on {one.at.name}", t) for one in self.scenario.external for t in (one.start, one.end)]
        for name, t in ((name, float(t)) for name, t in times if t):
            if self.free:
                expected = "loads that are the same at all times, as the duration is open"
                raise UsageError.of("plan", expected, f"{name} at {t:g} s", mend)
            knot = t * self.N / self.duration
            if knot < self.N and abs(knot - round(knot)) > NEAR:
                expected = f"loads that come and go at multiples of {self.duration / self.N:g} s, where intervals end"
                raise UsageError.of("plan", expected, f"{name} at {t:g} s", "take other `intervals`, or other times")

    @cached_property
    def model(self) -> Arm:
        """The arm without what limits it: limits are conditions on the plan."""
        return self.arm.map_links(
            lambda link: replace(link, limit=None, motor=link.motor and replace(link.motor, limits=MotorLimits()))
        )

    @cached_property
    def vector(self) -> StateVector:
        """The order of the state, of a plant with inputs from outside."""
        return StateVector(driven_plant(self.model, self.method, self.output, external=self.scenario.external))

    @cached_property
    def bounds(self) -> Array:
        """The greatest magnitude of each input, (n,)."""
        found = []
        for i, joint in enumerate(self.arm.joints):
            limits = joint.motor.limits if joint.motor else MotorLimits()
            own = getattr(limits, self.output)
            if own is not None and joint.motor and self.output == "torque":
                own = own * abs(joint.motor.gear)
            given = None if self.asked.limit is None else self.asked.limit[i]
            found.append(min(x for x in (own, given, math.inf) if x is not None))
        return np.array(found)

    @property
    def driven(self) -> list[int]:
        """The joints with an input."""
        return [i for i, bound in enumerate(self.bounds) if bound > 0.0]

    def state(self, x: Sequence[Scalar], u: Sequence[Scalar]) -> list[Scalar]:
        """The plant's state from the numbers that it carries and the inputs of driven joints."""
        state: list[Scalar] = [0.0] * len(self.vector.plant.slots)
        for (_, source), value in zip(self.vector.carried, x):
            state[source] = value
        inputs: list[Scalar] = [0.0] * self.arm.n
        for i, value in zip(self.driven, u, strict=True):
            inputs[i] = value
        return self.vector.with_inputs(state, inputs)

    def carried(self, state: Sequence[Scalar]) -> list[Scalar]:
        """The numbers of a state that a step depends on."""
        return [state[source] for _, source in self.vector.carried]

    def _at(self, x: Sequence[Scalar], u: Sequence[Scalar], t: Scalar = 0.0) -> Moment:
        return Moment(self.vector.plant, t, self.state(x, u), 0.0, self.scenario.initial_q)

    def _cost(self) -> Formula:
        try:
            formula = parse_formula(self.asked.minimise)
            check_value(formula, [*formula.names])
        except FormulaError as error:
            mend = error.mend or "write for example `minimise: time + 1e-3*torque_squared`"
            raise UsageError.of(
                f"plan.minimise: {self.asked.minimise}", "a formula of costs", error.problem, mend
            ) from None
        known = [*COSTS, "t", *self.scenario.file.document.parameters, *self.vector.plant.nameable.named]
        for name in sorted(formula.names - {"pi"}):
            if name not in known:
                mend = suggestion(name, known, "costs are")
                raise UsageError.of(f"plan.minimise: {formula.text}", "names of costs or of columns", name, mend)
        if "energy" in formula.names and not any(joint.electric_motor for joint in self.arm.joints):
            mend = "give the motors their constants, or minimise torque_squared"
            raise UsageError.of("plan.minimise", "motors that draw energy", "none with Kp and Ra", mend)
        if "tracking" in formula.names and not isinstance(self.scenario.command, Controller):
            mend = "add `control` with a `reference`, or minimise something else"
            raise UsageError.of("plan.minimise", "a reference to track", "no `control`", mend)
        return formula

    def integrand(self, t: Scalar, x: Sequence[Scalar], u: Sequence[Scalar]) -> Scalar:
        """The cost by time."""
        now, values, document = self._at(x, u, t), dict[str, Scalar](t=t), settle(self.scenario.file.document)
        for name in self.cost.names - {"pi", "t"}:
            if name == "time":
                values[name] = 1.0
            elif name == "energy":
                values[name] = sum(
                    it.power - (it.motor + it.viscous) * qd
                    for it, qd in zip(now.torques, now.x.qd, strict=True)
                    if it.power is not None
                )
            elif name == "torque_squared":
                values[name] = sum(now.torques[i].motor * now.torques[i].motor for i in self.driven)
            elif name == "tracking":
                assert isinstance(self.scenario.command, Controller)
                wanted = self.scenario.command.reference.at(t).q
                values[name] = sum((a - b) * (a - b) for a, b in zip(now.q, wanted, strict=True))
            else:
                values[name] = document.parameters[name] if name in document.parameters else now.column(name)
        return self.cost.evaluate(values)

    @cached_property
    def start(self) -> Array:
        """The state at the beginning."""
        plant = self.vector.plant
        return np.array(self.carried(plant.initial_state(self.scenario.initial_q, self.scenario.initial_qd)), float)

    @cached_property
    def duration(self) -> float:
        """Of the motion; the longest where it is open [s]."""
        return self.scenario.clock.end

    @cached_property
    def k0(self) -> int:
        """Numbers of the plant's state that a step depends on."""
        return len(self.vector.carried)

    @cached_property
    def interval(self) -> RowFunction:
        """From a knot to the next: of a state, inputs, length of the interval [s], steps in it, index of the knot, creep.

        Dry friction is viscous well below the creep, a velocity [rad/s or m/s]: no joint sticks.

        Raises:
            UsageError: The method's step has no derivatives.
        """
        return self._interval(smooth=True, by=self.k0 + len(self.driven) + 1)

    @cached_property
    def sticky(self) -> RowFunction:
        """The same without derivatives, and with joints that stick to their dry friction."""
        return self._interval(smooth=False, by=0) if any_sticks(self.arm) else self.interval

    def _interval(self, smooth: bool, by: int) -> RowFunction:
        check_differentiable(self.vector.plant)

        def whole(x: list[Scalar], u: list[Scalar], *numbers: list[Scalar]) -> list[Scalar]:
            (length,), (steps,), (index,), (creep,) = numbers
            plant, dt = replace(self.vector.plant, creep=creep if smooth else None), length / steps

            def step(count: Scalar, x: list[Scalar]) -> list[Any]:
                t = index * length + (count + 0.25) * dt  # well within the step, where loads come and go between steps
                return [count + 1.0, self.carried(plant.step(t, self.state(x, u), dt))]

            after: list[Scalar] = loop([0.0, x], step, lambda count, _: count > steps - 0.5, MOST_STEPS)[1]
            return after

        return RowFunction(whole, [self.k0, len(self.driven), 1, 1, 1, 1], by)

    @cached_property
    def limits(self) -> PlanLimits:
        """The bounds of all but targets."""
        return PlanLimits(self.arm, self.asked.tool_speed, self.asked.clearance, self.output, self.bounds)

    def bounded(self, bounds: Sequence[Bound], k: int, inputs: bool) -> Bounded:
        """Bounds on states of k numbers, or on states and inputs."""
        resting = [0.0] * len(self.driven)

        def values(x: Sequence[Scalar], u: Sequence[Scalar] = resting) -> list[Scalar]:
            now = self._at(x, u)
            return [one.at(now) for one in bounds]

        return Bounded(RowFunction(values, [k, len(self.driven)][: 1 + inputs]), tuple(bounds))

    def _mark(self, point: Any, k: int, ends: bool) -> Bounded:
        """A point on the way, or the end."""
        turns, joints = self._turns, self.arm.joints
        if point.q is not None:
            bounds = [
                _target("q", joint, joint.kind.length, x * turn) for joint, x, turn in zip(joints, point.q, turns)
            ]
        else:
            goal = self._goal(point)
            bounds = [
                Bound(
                    "target",
                    f"{axis} of {goal.frame.name}",
                    "m" if i < 3 else "rad",
                    0.0,
                    0.0,
                    value=partial(_lack, goal, i),
                )
                for i, axis in enumerate(AXES[: goal.size])
            ]
        if ends or point.qd:
            rates = point.qd or [0.0] * self.arm.n
            bounds += [_target("qd", j, f"{j.kind.length}/s", x * turn) for j, x, turn in zip(joints, rates, turns)]
        return self.bounded(bounds, k, inputs=False)

    def _goal(self, point: Any) -> PoseGoal:
        """Where a frame is to be."""
        turned = None if point.quaternion is None else rotation_quaternion(*point.quaternion)
        if point.rpy is not None:
            turned = rotation_rpy(*(x * RADIANS if self.scenario.degrees else x for x in point.rpy))
        return PoseGoal(self.arm.frame(point.frame or "tool"), Vector(*point.xyz), turned)

    @property
    def _turns(self) -> list[float]:
        degrees = self.scenario.degrees
        return [RADIANS if degrees and joint.kind.turns else 1.0 for joint in self.arm.joints]

    @cached_property
    def points(self) -> list[tuple[int, Any]]:
        """The knot of every point on the way, and of the target; and the point."""
        via = list(self.asked.via)
        shares = [0.0, *(one.at for one in via), 1.0]
        known = [i for i, share in enumerate(shares) if share is not None]
        shares = np.interp(range(len(shares)), known, [shares[i] for i in known]).tolist()
        knots = [round(share * self.N) for share in shares[1:]]
        if len({0, *knots}) <= len(via) + 1:
            mend = "take more `intervals`, or points further apart"
            raise UsageError.of("plan.via", "points at different knots", f"knots {knots}", mend)
        return list(zip(knots, [*via, self.asked.to], strict=True))

    @cached_property
    def poses(self) -> Array:
        """Joint positions of the start and at all points (points + 1, n), those of tools by inverse kinematics.

        Raises:
            NoSolution: A tool cannot be there.
        """
        found = [np.array(self.scenario.initial_q, float)]
        for _, point in self.points:
            if point.q is not None:
                found.append(np.array(point.q, float) * self._turns)
            else:
                goal = self._goal(point)
                turned = goal.orientation
                pose = (point.xyz, quaternion(turned)) if isinstance(turned, Matrix) else point.xyz
                found.append(np.asarray(Robot(self.arm).inverse_kinematics(pose, found[-1], frame=goal.frame.name)))
        return np.array(found)

    def guess(self) -> Trajectory:
        """A cubic spline through all points, with the inputs that carry the arm along."""
        from scipy.interpolate import CubicSpline

        N, T = self.N, self.duration
        along = CubicSpline(np.array([0, *(knot for knot, _ in self.points)]) * (T / N), self.poses, bc_type="clamped")
        t = np.arange(N + 1) * (T / N)
        q, qd = along(t), along(t, 1)
        robot, middle = Robot(self.model.heaviest), (t[1:] + t[:-1]) / 2
        tau = robot.inverse_dynamics(along(middle), along(middle, 1), along(middle, 2))
        voltage, current = robot.motor_demand(along(middle, 1), tau)
        demand = {"voltage": voltage, "current": current, "torque": tau}[self.output][:, self.driven]
        plant = self.vector.plant
        x = np.array([self.carried(plant.initial_state(*pair)) for pair in zip(q.tolist(), qd.tolist())], float)
        bounds = self.bounds[self.driven]
        if self.free:
            x = np.column_stack([x, np.full(N + 1, T / N)])
        return Trajectory(x, np.clip(demand, -bounds, bounds))

    def scales(self, guess: Trajectory) -> tuple[Array, Array]:
        """What counts as a large change of each number of a state, and of each input."""
        n, swing = self.arm.n, np.ptp(guess.x, axis=0)
        x = np.maximum(swing, SMALLEST_SCALE)
        x[:n] = max(SMALLEST_SCALE, swing[:n].max())
        x[n : 2 * n] = max(SMALLEST_SCALE / self.duration, np.abs(guess.x[:, n : 2 * n]).max())
        if self.free:
            x[-1] = guess.x[0, -1]
        bounds = self.bounds[self.driven]
        u = np.where(np.isfinite(bounds), bounds, np.maximum(np.abs(guess.u).max(0, initial=0.0), 1e-3))
        return x, u

    def steps_for(self, guess: Trajectory, scales: tuple[Array, Array]) -> int:
        """Steps in each interval: as many as stability and accuracy along a trajectory ask for."""
        length = self.duration / self.N
        some = slice(0, self.N, max(1, self.N // 10))
        knots = np.arange(float(self.N))[some, None]
        x, u, lengths = guess.x[:-1, : self.k0][some], guess.u[some], np.full((len(knots), 1), length)
        steps, before = 1, None
        while steps < MOST_STEPS // REFINED[-1]:
            given = x, u, lengths, np.array([float(steps)]), knots, np.array([CREEP * scales[0][self.arm.n]])
            ends, S = self.sticky(*given)[0], self.interval(*given)[1]
            grown = np.abs(np.linalg.eigvals(S[:, :, : self.k0])).max() if np.isfinite(S).all() else math.inf
            if before is not None and grown < GROWTH and (np.abs(ends - before) < CLOSE * scales[0][: self.k0]).all():
                break
            before = ends if grown < GROWTH else None
            steps *= 2
        return steps

    def problem(self, guess: Trajectory) -> Problem:
        """The optimal control problem."""
        scales = self.scales(guess)
        k, n, length = guess.x.shape[1], len(self.driven), self.duration / self.N

        def half(x: list[Scalar], u: list[Scalar], index: list[Scalar]) -> list[Scalar]:
            h: Scalar = x[-1] if self.free else length
            return [0.5 * h * self.integrand(index[0] * h, x, u)]

        cost = RowFunction(half, [k, n, 1], k + n, 2)
        if not all(np.isfinite(part).all() for part in cost(guess.x[:-1], guess.u, np.arange(float(self.N))[:, None])):
            expected = "a cost that is finite, with its derivatives, along the motion that the search begins with"
            mend = "write for example sqrt(vx*vx + 1e-6), not sqrt(vx*vx)"
            raise UsageError.of(f"plan.minimise: {self.cost.text}", expected, "one that is not", mend)
        path, drive = self.limits.path, self.limits.drive
        most = self.bounds[self.driven]
        return Problem(
            interval=self.interval,
            sticky=self.sticky,
            cost=cost,
            path=self.bounded(path, k, inputs=False) if path else None,
            drive=self.bounded(drive, k, inputs=True) if drive else None,
            marks={knot: self._mark(point, k, point is self.asked.to) for knot, point in self.points},
            start=self.start,
            length=(SHORTEST * length, length) if self.free else length,
            inputs=np.array([-most, most]),
            scales=scales,
            N=self.N,
            steps=self.steps_for(guess, scales),
            creep=CREEP * float(scales[0][self.arm.n]) if any_sticks(self.arm) else 0.0,
        )

    def correction(self, at: Trajectory, problem: Problem) -> Array:
        """What the ends of intervals are beyond those of a problem's steps, by Richardson's extrapolation, (N, k)."""
        fine, finer = (problem.played.ends(at, times=times)[0] for times in REFINED)
        return finer + (finer - fine) / (2.0 ** METHODS[self.method].order - 1.0) - problem.ends(at)[0]

    def sharper(self, problem: Problem) -> Problem:
        """A problem whose friction is nearer to dry friction, where it is not near enough."""
        sharpness = SHARPER * problem.sharpness
        enough = not problem.creep or sharpness > SHARPEST or problem.steps * sharpness > MOST_STEPS
        return problem if enough else replace(problem, sharpness=sharpness)


def _target(quantity: str, joint: Joint, unit: str, x: float) -> Bound:
    return Bound("target", f"{quantity} of {joint.name}", unit, x, x, column=f"{quantity}_{joint.name}")


def _lack(goal: PoseGoal, i: int, now: Moment) -> Scalar:
    """Of the shift to a goal and the rotation vector to it."""
    shift, turn = goal.missing(frame_pose(now.plant.arm, now.q, goal.frame))
    found: Scalar = [*shift, *turn][i]
    return found
