"""What a scenario asks to plan, as an optimal control problem, and a trajectory to begin with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from armsim.actuation import Output
from armsim.arm.arrays import Array
from armsim.arm.robot import Robot
from armsim.control import Controller
from armsim.document.scenario import FIXED
from armsim.dynamics import distances, frame_position, frame_velocity, watched_pairs
from armsim.errors import UsageError
from armsim.expr import Scalar, loop
from armsim.files.faults import suggestion
from armsim.formulas.formula import Formula, FormulaError, parse_formula
from armsim.geometry import Plane, Sphere
from armsim.integrate import METHODS
from armsim.loading.frames import RADIANS
from armsim.loading.scenario import Scenario
from armsim.loading.settle import settle
from armsim.loading.voltage import voltage_refusal
from armsim.measures.moment import Moment
from armsim.model import Arm, MotorLimits
from armsim.planning.problem import Bound, Bounded, Problem, Trajectory
from armsim.planning.rows import RowFunction
from armsim.plant import driven_plant
from armsim.recording.state_vector import StateVector
from armsim.simulation.tangent_plan import check_differentiable

MOST_STEPS = 4096  # in an interval
METHOD = "velocity_verlet"
COSTS = ("time", "energy", "torque_squared", "tracking")
SHORTEST = 1e-3  # of the duration, where that is open
GROWTH = 10.0  # in an interval, beyond which a step counts as unstable
CLOSE = 1e-4  # of the scales: change of an interval's end by twice as many steps
REFINED = (8, 16)  # times as many steps, for what a problem's steps are off by
SMALLEST_SCALE = 0.1  # rad or m


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
        self._refuse_times()
        self.output: Output = self.asked.output or ("torque" if voltage_refusal(self.arm) else "voltage")
        refusal = None if self.output == "torque" else voltage_refusal(self.arm)
        if refusal is not None:
            mend = f"{refusal.mend} in the robot file, or write `output: torque`"
            raise UsageError.of("plan.output", refusal.expected, refusal.found, mend)
        self.method = scenario.method if scenario.method in FIXED else METHOD
        self.N = int(self.asked.intervals)
        self.cost = self._cost()
        self.free = "time" in self.cost.names

    def _refuse_times(self) -> None:
        if self.arm.timed or any(one.start or one.end is not None for one in self.scenario.external):
            found, mend = "payloads or forces with times", "plan each part of the motion by itself"
            raise UsageError.of("plan", "loads that are the same at all times", found, mend)

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
            if own is not None and self.output == "torque" and joint.motor is not None:
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
        except FormulaError as error:
            raise UsageError.of(
                f"plan.minimise: {self.asked.minimise}", "a formula of costs", error.problem, error.mend
            ) from None
        known = [*COSTS, "t", *self.scenario.file.document.parameters, *self.vector.plant.nameable.named]
        for name in sorted(formula.names - {"pi"}):
            if name not in known:
                mend = suggestion(name, known, "costs are")
                raise UsageError.of(f"plan.minimise: {formula.text}", "names of costs or of columns", name, mend)
        powered = [joint for joint in self.arm.joints if joint.electric_motor]
        if "energy" in formula.names and not powered:
            mend = "give the motors their constants, or minimise torque_squared"
            raise UsageError.of("plan.minimise", "motors that draw energy", "none with Kp and Ra", mend)
        command = self.scenario.command
        if "tracking" in formula.names and not isinstance(command, Controller):
            mend = "add `control` with a `reference`, or minimise something else"
            raise UsageError.of("plan.minimise", "a reference to track", "no `control`", mend)
        return formula

    def integrand(self, t: Scalar, x: Sequence[Scalar], u: Sequence[Scalar]) -> Scalar:
        """The cost by time."""
        now, values, document = self._at(x, u, t), dict[str, Any](t=t), settle(self.scenario.file.document)
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
        """From a knot to the next: of a state, inputs, the length of the interval [s] and the number of steps in it.

        Raises:
            UsageError: The method's step has no derivatives.
        """
        plant = self.vector.plant
        check_differentiable(plant)

        def whole(x: list[Scalar], u: list[Scalar], length: list[Scalar], steps: list[Scalar]) -> list[Scalar]:
            dt = length[0] / steps[0]

            def step(count: Scalar, x: list[Scalar]) -> list[Any]:
                return [count + 1.0, self.carried(plant.step(0.0, self.state(x, u), dt))]

            after: list[Scalar] = loop([0.0, x], step, lambda count, _: count > steps[0] - 0.5, MOST_STEPS)[1]
            return after

        n = len(self.driven)
        return RowFunction(whole, [self.k0, n, 1, 1], self.k0 + n + 1)

    def _path(self) -> tuple[list[Bound], list[str]]:
        """Bounds on states, and the pairs whose distances are among them, last."""
        found = []
        for joint in self.arm.joints:
            lower, upper = (-math.inf if low is None else low for low in joint.bounds[:1]), joint.bounds[1]
            least, most = next(lower), math.inf if upper is None else upper
            if math.isfinite(least) or math.isfinite(most):
                found.append(Bound("position", joint.name, joint.kind.length, least, most, column=f"q_{joint.name}"))
        for joint in self.arm.joints:
            if joint.motor is not None and joint.motor.limits.speed is not None:
                most = joint.motor.limits.speed / abs(joint.motor.gear)
                found.append(
                    Bound("speed", joint.name, f"{joint.kind.length}/s", -most, most, most, f"qd_{joint.name}")
                )
        if self.asked.tool_speed is not None:
            speed = "sqrt(vx*vx + vy*vy + vz*vz)"
            found.append(Bound("speed", self.arm.tool.name, "m/s", -math.inf, self.asked.tool_speed, column=speed))
        round_ones = {it.name for it in self.arm.world if isinstance(it.shape, (Sphere, Plane))}
        pairs = [
            name
            for name, watched in watched_pairs(self.arm).items()
            if watched and self.arm.pairs[name][1] in round_ones
        ]
        found += [
            Bound("distance", name, "m", self.asked.clearance, math.inf, 0.1, f"distance_{name}") for name in pairs
        ]
        return found, pairs

    def _path_values(self, pairs: Sequence[str], bounds: Sequence[Bound], x: Sequence[Scalar]) -> list[Scalar]:
        arm, n = self.arm, self.arm.n
        q, qd, names = list(x[:n]), list(x[n : 2 * n]), self.arm.joint_names
        gaps = dict(zip(pairs, distances(arm, q, pairs), strict=True)) if pairs else {}
        found = []
        for one in bounds:
            if one.quantity == "position":
                value = q[names.index(one.of)]
            elif one.of in names:
                value = qd[names.index(one.of)]
            elif one.quantity == "distance":
                value = gaps[one.of]
            else:  # squared, which is smooth at rest; 1 at the bound, as its rate there is twice that of the speed
                velocity = frame_velocity(arm, q, qd, arm.tool)[1]
                value = velocity.dot(velocity) * (0.5 / one.upper) + 0.5 * one.upper
            found.append(value / one.scale)
        return found

    def _drive(self) -> list[Bound]:
        """Bounds on states and inputs."""
        found = []
        for i in self.driven:
            joint = self.arm.joints[i]
            limits = joint.motor.limits if joint.motor is not None else MotorLimits()
            for quantity, unit in (("voltage", "V"), ("current", "A"), ("torque", "N·m")):
                most = getattr(limits, quantity)
                if most is not None and quantity != self.output:
                    found.append(Bound(quantity, joint.name, unit, -most, most, most, self._column(i, quantity)))
        return found

    def _column(self, i: int, quantity: str) -> str:
        """The column of a limited quantity of a joint's motor, on its side of the gear."""
        joint = self.arm.joints[i]
        gear = 1.0 if joint.motor is None else float(joint.motor.gear)
        return f"tau_motor_{joint.name}/({gear!r})" if quantity == "torque" else f"{quantity}_{joint.name}"

    @cached_property
    def inputs(self) -> list[Bound]:
        """The bounds of the driven joints' inputs."""
        found = []
        for i in self.driven:
            joint, most = self.arm.joints[i], float(self.bounds[i])
            column = f"tau_motor_{joint.name}" if self.output == "torque" else f"{self.output}_{joint.name}"
            found.append(Bound(self.output, joint.name, joint.kind.unit_of(self.output), -most, most, most, column))
        return found

    @property
    def limits(self) -> list[Bound]:
        """All bounds but targets, of what the arm's file or the plan limits."""
        return [*self._path()[0], *self._drive(), *(one for one in self.inputs if math.isfinite(one.upper))]

    def _drive_values(self, bounds: Sequence[Bound], x: Sequence[Scalar], u: Sequence[Scalar]) -> list[Scalar]:
        torques, found = self._at(x, u).torques, []
        for one in bounds:
            i = self.arm.joint_names.index(one.of)
            motor = self.arm.joints[i].motor
            assert motor is not None
            value = torques[i].motor / motor.gear if one.quantity == "torque" else getattr(torques[i], one.quantity)
            found.append(value / one.scale)
        return found

    def _mark(self, point: Any, k: int, ends: bool) -> Bounded:
        """A point on the way, or the end."""
        n, turns = self.arm.n, self._turns
        if point.q is not None:
            goal = [x * turn for x, turn in zip(point.q, turns, strict=True)]
            bounds = [Bound("target", f"q of {j.name}", j.kind.length, x, x) for j, x in zip(self.arm.joints, goal)]
        else:
            frame = self.arm.frame(point.frame or "tool")
            bounds = [Bound("target", f"{axis} of {frame.name}", "m", x, x) for axis, x in zip("xyz", point.xyz)]
        if ends:
            rates = [0.0] * n if point.qd is None else [x * turn for x, turn in zip(point.qd, turns, strict=True)]
            bounds += [
                Bound("target", f"qd of {j.name}", f"{j.kind.length}/s", x, x) for j, x in zip(self.arm.joints, rates)
            ]

        def values(x: Sequence[Scalar]) -> list[Scalar]:
            place = list(x[:n]) if point.q is not None else [*frame_position(self.arm, x[:n], frame)]
            return [*place, *(x[n : 2 * n] if ends else [])]

        return Bounded(RowFunction(values, [k]), tuple(bounds))

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
                frame = point.frame or "tool"
                found.append(np.asarray(Robot(self.arm).inverse_kinematics(point.xyz, found[-1], frame=frame)))
        return np.array(found)

    def guess(self) -> Trajectory:
        """A cubic spline through all points, with the inputs that carry the arm along."""
        from scipy.interpolate import CubicSpline

        N, T = self.N, self.duration
        along = CubicSpline(np.array([0, *(knot for knot, _ in self.points)]) * (T / N), self.poses, bc_type="clamped")
        t = np.arange(N + 1) * (T / N)
        q, qd = along(t), along(t, 1)
        robot, middle = Robot(self.model), (t[1:] + t[:-1]) / 2
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
        x, u, lengths = guess.x[:-1, : self.k0][some], guess.u[some], np.full((len(guess.u[some]), 1), length)
        steps, before = 1, None
        while steps < MOST_STEPS // REFINED[-1]:
            ends, S = self.interval(x, u, lengths, np.array([float(steps)]))
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

        bounds, pairs = self._path()
        drive = self._drive()
        on_path = RowFunction(lambda x: self._path_values(pairs, bounds, x), [k]) if bounds else None
        on_drive = RowFunction(lambda x, u: self._drive_values(drive, x, u), [k, n]) if drive else None
        most = self.bounds[self.driven]
        return Problem(
            interval=self.interval,
            cost=RowFunction(half, [k, n, 1], k + n, 2),
            path=None if on_path is None else Bounded(on_path, tuple(bounds)),
            drive=None if on_drive is None else Bounded(on_drive, tuple(drive)),
            marks={knot: self._mark(point, k, point is self.asked.to) for knot, point in self.points},
            start=self.start,
            length=(SHORTEST * length, length) if self.free else length,
            inputs=np.array([-most, most]),
            scales=scales,
            N=self.N,
            steps=self.steps_for(guess, scales),
        )

    def correction(self, at: Trajectory, problem: Problem) -> Array:
        """What the ends of intervals are beyond those of a problem's steps, by Richardson's extrapolation, (N, k)."""
        x, lengths = at.x[:-1, : self.k0], problem.lengths(at)[:, None]
        coarse, fine, finer = (
            self.interval(x, at.u, lengths, np.array([float(times * problem.steps)]))[0] for times in (1, *REFINED)
        )
        return finer + (finer - fine) / (2.0 ** METHODS[self.method].order - 1.0) - coarse
