"""What a reference asks of an arm and its motors, before anything runs."""

from __future__ import annotations

import math
import os
from dataclasses import field, replace
from functools import cached_property

import numpy as np

from armsim.actuation import driven
from armsim.arm.golden import greatest
from armsim.arm.inverse import motion_table
from armsim.arm.overload import ROUNDING, Overload, overloads_along
from armsim.arm.robot import Robot
from armsim.arm.tool_excursion import EXTREME, Extreme, ToolExcursion, tool_excursion
from armsim.arrays import Array
from armsim.control import Constant, Controller, Reference
from armsim.display import Shown
from armsim.errors import UsageError
from armsim.files.csv_writer import write_csv
from armsim.loading import Given, Overrides
from armsim.loading.scenario import Scenario
from armsim.loading.scenario_file import scenario_of
from armsim.model import Arm, Joint
from armsim.model.angles import FIGURE, POSITION
from armsim.records import OMIT, optional, record
from armsim.references.fastest_motion import Binding, FastestStage
from armsim.references.tool_path import ToolMotion

POINTS = 2000  # at which peaks are looked for, besides knots; between neighbours they are refined
AT_ONCE = 1e-9  # rad or m: an arm that begins nearer to its reference begins on it


@record
class Excursion:
    """The motion of a joint under a reference.

    Attributes:
        joint: Its name.
        first: Position at t = 0 [rad or m].
        last: Position at the end [rad or m].
        least: Least position [rad or m].
        greatest: Greatest position [rad or m].
        beside: Initial position less that of the reference [rad or m].
        peak_speed: Extreme speed [rad/s or m/s].
        peak_acceleration: Extreme acceleration [rad/s² or m/s²].
        peak_torque: Extreme torque of the drive [N·m or N].
    """

    joint: str
    first: float = field(metadata=FIGURE)
    last: float = field(metadata=FIGURE)
    least: float = field(metadata=FIGURE)
    greatest: float = field(metadata=FIGURE)
    beside: float = field(metadata=FIGURE)
    peak_speed: Extreme = field(metadata=EXTREME)
    peak_acceleration: Extreme = field(metadata=EXTREME)
    peak_torque: Extreme


@record(kw_only=True)
class Exceeded(Overload):
    """A limit that a reference exceeds; its quantity may also be "position" or "command", the limit of the controller.

    Attributes:
        torque: That the drive needs where a voltage does not suffice [N·m or N]; None of another limit.
        speed: Of the joint there [rad/s or m/s]; likewise.
        available: What its motor gives there by the limit [N·m or N]; likewise.
        t_s: When the need is greatest [s].
        from_s: The first time that exceeds the limit [s].
    """

    torque: float | None = optional(default=None)
    speed: float | None = field(default=None, metadata=POSITION | OMIT)
    available: float | None = optional(default=None)
    t_s: float
    from_s: float


@record(kw_only=True)
class OutOfRange(Exceeded):
    """A position, the quantity, of a joint that leaves its range."""

    needed: float = field(metadata=POSITION)
    limit: float = field(metadata=POSITION)
    unit: str = field(metadata={"degrees": lambda _: "deg"})


@record
class ReferenceSummary:
    """What there is to tell of a reference.

    Attributes:
        scenario: The name of its scenario.
        end: From when on it holds [s]; None where it goes on.
        duration: Of the scenario [s].
        joints: What each joint does.
        exceeded: Limits that it exceeds.
        binding: Of a fastest motion the limits that bind, one after the other; None of another one.
        unstoppable: Where the arm could not stand still, likewise.
        tool: What the tool does, where it follows a path.
    """

    scenario: str
    end: float | None
    duration: float
    joints: tuple[Excursion, ...]
    exceeded: tuple[Exceeded, ...]
    binding: list[Binding] | None = optional(default=None)
    unstoppable: list[Binding] | None = optional(default=None)
    tool: ToolExcursion | None = optional(default=None)


@record
class PlannedMotion(Shown):
    """A reference, and what it asks for.

    Attributes:
        scenario: Whose reference it is.
        end: From when on it holds [s]; None where it goes on.
        t: Times: multiples of `log.every`, and the end [s], shape (m,).
        q: Joint positions [rad or m], shape (m, n).
        qd: Joint velocities [rad/s or m/s], shape (m, n).
        qdd: Joint accelerations [rad/s² or m/s²], shape (m, n).
        joints: What each joint does.
        exceeded: Limits that it exceeds.
        tool: What the tool does, where it follows a path.
        stages: Of the fastest motion, between stops; none of another one.
    """

    scenario: Scenario
    end: float | None
    t: Array
    q: Array
    qd: Array
    qdd: Array
    joints: tuple[Excursion, ...]
    exceeded: tuple[Exceeded, ...]
    tool: ToolExcursion | None = None
    stages: tuple[FastestStage, ...] = ()

    def __repr__(self) -> str:
        last = "goes on" if self.end is None else f"holds from {self.end:g} s on"
        return f"PlannedMotion({self.scenario.name}: {last}, {len(self.exceeded)} limits exceeded)"

    @cached_property
    def facts(self) -> ReferenceSummary:
        """The summary."""
        of, fastest = self.scenario, len(self.stages) > 0
        return ReferenceSummary(
            of.name,
            self.end,
            of.clock.end,
            self.joints,
            self.exceeded,
            [it for stage in self.stages for it in stage.bindings] if fastest else None,
            [it for stage in self.stages for it in stage.unstoppable] if fastest else None,
            self.tool,
        )

    @cached_property
    def robot(self) -> Robot:
        """The arm that it is asked of."""
        return Robot(self.scenario.arm)

    @cached_property
    def tau(self) -> Array:
        """Torques of the drives [N·m or N], shape (m, n)."""
        return _torques(self.scenario.arm, self.t, self.q, self.qd, self.qdd)

    def table(self, degrees: bool = False) -> tuple[list[str], Array]:
        """Headings, and a row for each time: q, qd, qdd, torques, voltages and currents."""
        return motion_table(self.robot, self.t, (self.q, self.qd, self.qdd), self.tau, degrees)

    def save(self, path: str | os.PathLike[str], degrees: bool = False) -> None:
        """Write `table` to a CSV file, which another `reference: {csv: ...}` can follow."""
        headings, rows = self.table(degrees)
        write_csv(path, headings, rows.ravel())


def reference(scenario: Given | Scenario, overrides: Overrides | None = None) -> PlannedMotion:
    """A scenario's reference, with the torques that it takes and the limits that it exceeds; nothing runs.

    Args:
        scenario: A scenario file, the name of a shipped one, its content, or what has been read.
        overrides: Values in place of the file's, by path.

    Raises:
        FileFaults: The scenario or its robot cannot be used; says where and why.
        UsageError: It has no reference.
    """
    of = scenario_of(scenario, overrides)
    command = of.command
    if not isinstance(command, Controller) or isinstance(command.reference, Constant):
        found = "inputs or nothing" if not isinstance(command, Controller) else "a target that is held"
        mend = "write for example `control: {reference: {via: [[...]], times: [1.5]}, ...}`"
        raise UsageError.of(f"{of.name}: control.reference", "a motion to follow", found, mend)
    motion, arm = command.reference, of.arm
    knots: list[float] = list(getattr(motion, "knots", []))
    end = knots[-1] if knots else None
    whole = of.clock.end if end is None else end
    every = of.clock.at(of.clock.log_every)
    t = np.array([*(k * every for k in range(int(whole / every * (1 - 1e-12)) + 1)), whole])
    q, qd, qdd = _sampled(motion, t)
    dense = np.unique([*np.linspace(0.0, whole, POINTS), *_beside(knots, whole)])
    there = _sampled(motion, dense)
    robot = Robot(arm)
    tau = _torques(arm, dense, *there)
    voltage, current = robot.motor_demand(there[1], tau)
    exceeded = [
        *_out_of_range(arm.joints, dense, there[0]),
        *_overloads(arm, dense, there[1], tau, voltage, current),
        *_beyond_supply(arm, command, dense, there, {"voltage": voltage, "current": current, "torque": tau}),
    ]
    first = motion.at(0.0).q
    joints = tuple(
        Excursion(
            joint=joint.name,
            first=first[i],
            last=float(there[0][-1, i]),
            least=float(there[0][:, i].min()),
            greatest=float(there[0][:, i].max()),
            beside=of.initial_q[i] - first[i],
            peak_speed=_peak(motion, "qd", i, dense, there[1][:, i]),
            peak_acceleration=_peak(motion, "qdd", i, dense, there[2][:, i]),
            peak_torque=Extreme(float(np.abs(tau[:, i]).max()), float(dense[np.abs(tau[:, i]).argmax()])),
        )
        for i, joint in enumerate(arm.joints)
    )
    along = tool_excursion(arm, motion, dense.tolist()) if isinstance(motion, ToolMotion) else None
    return PlannedMotion(of, end, t, q, qd, qdd, joints, tuple(exceeded), along, getattr(motion, "stages", ()))


def _torques(arm: Arm, t: Array, *motion: Array) -> Array:
    """Torques of the drives [N·m or N] at times t [s] of a motion, with what the arm carries then, shape (m, n)."""
    rows = np.split(np.arange(len(t)), np.searchsorted(t, arm.stages[1:]))
    spans = [(since, some) for since, some in zip(arm.stages, rows, strict=True) if len(some)]
    return np.concatenate([Robot(arm.at(since)).inverse_dynamics(*(x[k] for x in motion)) for since, k in spans])


def _sampled(motion: Reference, t: Array) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations at times, shape (m, n) each."""
    found = [motion.at(float(x)) for x in t]
    q, qd, qdd = (np.array([getattr(now, key) for now in found], dtype=float) for key in ("q", "qd", "qdd"))
    return q, qd, qdd


def _beside(knots: list[float], end: float) -> list[float]:
    """Knots, and the last doubles before them, within a motion."""
    return [t for knot in knots for t in (math.nextafter(knot, -math.inf), knot) if 0.0 <= t <= end]


def _peak(motion: Reference, key: str, i: int, t: Array, values: Array) -> Extreme:
    """The greatest magnitude of a joint's velocity or acceleration: the greatest of samples, refined between its neighbours."""
    sizes = np.abs(values)
    k = int(sizes.argmax())

    def size(time: float) -> float:
        return abs(float(getattr(motion.at(time), key)[i]))

    best = greatest(size, float(t[max(k - 1, 0)]), float(t[min(k + 1, len(t) - 1)]))
    return max(Extreme(float(sizes[k]), float(t[k])), Extreme(size(best), best), key=lambda peak: peak.value)


def _out_of_range(joints: tuple[Joint, ...], t: Array, q: Array) -> list[Exceeded]:
    """The joints whose reference leaves their range."""
    found: list[Exceeded] = []
    for joint, x in zip(joints, q.T, strict=True):
        for bound, sign in zip(joint.bounds, (-1.0, 1.0), strict=True):
            if bound is None:
                continue
            over = sign * (x - bound)
            if over.max() > ROUNDING * max(1.0, abs(bound)):
                k = int(over.argmax())
                when = {"t_s": float(t[k]), "from_s": float(t[(over > 0).argmax()])}
                at, unit = float(x[k]), joint.kind.length
                found.append(OutOfRange(joint.name, "position", needed=at, limit=bound, unit=unit, **when))
    return found


def _overloads(arm: Arm, t: Array, qd: Array, *demand: Array) -> list[Exceeded]:
    """The limits of motors that the reference exceeds, but for those of voltage."""
    found = [x for x in overloads_along(arm, t, qd, *demand) if x.quantity != "voltage"]
    return [Exceeded(x.joint, x.quantity, x.needed, x.limit, x.unit, t_s=x.t_s, from_s=x.from_s) for x in found]


def _beyond_supply(
    arm: Arm, command: Controller, t: Array, motion: tuple[Array, Array, Array], commands: dict[str, Array]
) -> list[Exceeded]:
    """The motors that the supply, or the controller's limit, does not let give the torque at its speed."""
    found = []
    for i, (joint, bound) in enumerate(zip(arm.joints, command.limit, strict=True)):
        motor = joint.electric_motor
        supply = None if motor is None else motor.limits.voltage
        asked = [("voltage", supply)] if command.output == "voltage" else [("voltage", supply), (command.output, bound)]
        if command.output == "voltage" and bound is not None:
            asked = [("voltage", min(bound, math.inf if supply is None else supply))]
        for quantity, limit in asked:
            needed = np.abs(commands[quantity][:, i])
            if limit is None or not (beyond := needed > limit * (1 + ROUNDING)).any():
                continue
            k = int(needed.argmax())
            unit, place = joint.kind.unit_of(quantity), "voltage" if quantity == "voltage" else "command"
            made = Exceeded(
                joint.name,
                place,
                float(needed[k]),
                limit,
                unit,
                t_s=float(t[k]),
                from_s=float(t[beyond.argmax()]),
            )
            if quantity == "voltage":
                given = math.copysign(limit, float(commands["voltage"][k, i]))
                position, speed, torque = (float(x[k, i]) for x in (motion[0], motion[1], commands["torque"]))
                available = _available(joint, given, position, speed)
                made = replace(made, torque=torque, speed=speed, available=available)
            found.append(made)
    return found


def _available(joint: Joint, voltage: float, q: float, qd: float) -> float:
    """The torque that a joint's motor gives it under a voltage [N·m or N]."""
    assert joint.motor is not None
    free = replace(joint, limit=None, motor=replace(joint.motor, limits=replace(joint.motor.limits, voltage=None)))
    return float(driven(free, "voltage", voltage, q, qd).motor)
