"""The DC motor of DynaMechs, emulated to replay recordings of DynaMechs.

DynaMechs (McMillan, Orin and McGhee's library, class dmRevDCMotor) decides joint by joint whether friction holds, on the way
from tip to base of the articulated-body algorithm. Three of its traits are not physics, and are kept here because recordings
contain them: gravity is not among the torques that can set a joint free; the torque of a joint's stop counts twice; a held
joint is taken as free on the way in and as locked on the way out. Rotor inertia is added to the link about its own z axis,
and not at all on the last link. armsim's own motor (`armsim.actuation`, `armsim.plant.stiction`) has none of this.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from armsim.actuation import JointTorque, powers
from armsim.control import Seen
from armsim.dynamics.aba import JointForces, articulated_body
from armsim.errors import Refusal, UsageError
from armsim.expr import Scalar, Scalars, absolute, both, exp, where, zero_where
from armsim.integrate import advanced
from armsim.model import Arm, Joint
from armsim.plant.plant import Plant, StepRule
from armsim.plant.state import State
from armsim.records import mutable_record, record

MODEL = "dynamechs"  # of a motor, as robot files name it
LN_2 = 0.6931471805599453


def emulates(arm: Arm) -> bool:
    """Whether an arm's motors are to be taken as DynaMechs takes them.

    Raises:
        UsageError: Only some of them are.
    """
    names = [joint.name for joint in arm.joints if joint.motor is None or joint.motor.model != MODEL]
    if 0 < len(names) < arm.n:
        raise UsageError(
            f"motor.model: expected `{MODEL}` on every joint or on none; {', '.join(names)} "
            f"{'has' if len(names) == 1 else 'have'} not"
        )
    return not names


@mutable_record
class Evaluation:
    """DynaMechs' evaluation of a state.

    Attributes:
        qd: Joint velocities, those that have just changed sign set to zero [rad/s].
        qdd: Joint accelerations, zero where held [rad/s²].
        stuck: 1 where friction holds a joint, 0 elsewhere.
        torques: Torques on the joints.
    """

    qd: Scalars
    qdd: Scalars
    stuck: Scalars
    torques: list[JointTorque]


@record
class DynaMechsPlant(Plant):
    """A plant with the motors of DynaMechs: explicit Euler, with stiction flags and previous velocities as state."""

    step_rule = StepRule(
        "explicit_euler",
        "aba",
        "DynaMechs' motor comes with it",
        Refusal(
            "integrator.dt",
            "the step that DynaMechs took",
            "nothing",
            "write for example `integrator: {method: explicit_euler, dt: 5e-4}`",
        ),
        Refusal(
            "motor.model",
            "motors of armsim's own",
            "dynamechs: rules about steps, which no linear equations describe",
            "leave out `model: dynamechs` in the robot file",
        ),
    )
    energy_note = (
        "DynaMechs' motor makes and loses energy by its own faults, "
        "so not all of the residual is the integrator's error"
    )

    def __post_init__(self) -> None:
        if self.method != self.step_rule.method:
            raise UsageError(
                f"integrator.method: expected explicit_euler, which DynaMechs' motor comes with, found {self.method}"
            )
        if self.command is None or self.command.output != "voltage":
            raise UsageError("DynaMechs' motor is driven by voltages: give `control` or `inputs` with a voltage")
        if self.external:
            raise UsageError("external: DynaMechs' motor is emulated without external forces")
        if self.arm.contacts:
            raise UsageError("contacts: DynaMechs' motor is emulated without contacts")
        if self.arm.sprung:
            raise UsageError("spring: DynaMechs' motor is emulated without springs")
        if self.arm.followers:
            raise UsageError("mimic: DynaMechs' motor is emulated without joints that mimic others")
        if self.arm.timed:
            raise UsageError("payload: DynaMechs' motor is emulated without payloads that are picked up or put down")

    @cached_property
    def _links(self) -> Arm:
        """The arm without its motors, whose rotor inertia is added as `flywheels`."""
        return self.arm.map_links(lambda link: replace(link, motor=None))

    def remembered(self, qd: Scalars) -> dict[str, Scalar]:
        """For every joint whether it is stuck (1 or 0), and its velocity a step before.

        All joints begin held, as in DynaMechs; one that moves, or is driven hard enough, is free at once.
        """
        names = self.arm.joint_names
        before = {f"before_{name}": v for name, v in zip(names, qd, strict=True)}
        return {**{f"stuck_{name}": 1.0 for name in names}, **before}

    def step(self, t: Scalar, state: Scalars, dt: Scalar) -> list[Scalar]:
        """The state one step later, all of it advanced with the rates at its beginning."""
        x = self.parts(state)
        now = self._evaluate(t, state)
        rates = self.loads.further_rates(t, self.motion_of(x), self.held(t, x), now.torques)
        after = State(
            q=advanced(x.q, dt, now.qd),
            qd=advanced(now.qd, dt, now.qdd),
            control=x.control if self.sampled else self._clamped(advanced(x.control, dt, rates.control)),
            held=x.held,
            currents=[],
            memory=[*now.stuck, *now.qd],
            works=None if x.works is None else advanced(x.works, dt, powers(now.torques, x.qd, 0.0, self.loads.others)),
        )
        return after.flat()

    def motion(self, t: Scalar, state: Scalars) -> tuple[Scalars, Scalars, list[JointTorque]]:
        """Velocities, accelerations and torques that act from time t on."""
        now = self._evaluate(t, state)
        return now.qd, now.qdd, now.torques

    def flags(self, t: Scalar, state: Scalars) -> Scalars:
        """Which joints are held from time t on: 1 or 0 for each."""
        return self._evaluate(t, state).stuck

    def torques(self, t: Scalar, state: Scalars) -> list[JointTorque]:
        """The torques that act from time t on, dry friction included."""
        return self._evaluate(t, state).torques

    def _evaluate(self, t: Scalar, state: Scalars) -> Evaluation:
        n = self.arm.n
        parts = self.parts(state)
        flags, before = parts.memory[:n], parts.memory[n:]
        crossed = [v * old < 0.0 for v, old in zip(parts.qd, before, strict=True)]
        qd = zero_where(crossed, parts.qd)
        stuck = [where(c, 1.0, flag) for c, flag in zip(crossed, flags, strict=True)]
        command = self.command
        assert command is not None  # __post_init__ has seen to it
        u = parts.held if self.sampled else command.command(t, Seen(parts.q, qd), parts.control)
        torques: list[JointTorque] = []
        for i, joint in enumerate(self.arm.joints):
            torques.append(_driven(joint, u[i], parts.q[i], qd[i]))

        def force(i: int, b: Scalar) -> Scalar:
            """Velocity terms, motor, friction and stop of joint i; the stop a second time."""
            drive, motor = torques[i], self.arm.joints[i].motor
            assert motor is not None
            bound = 0.0 if motor.coulomb is None else motor.coulomb.positive
            pull = b + drive.limit + drive.motor
            still = both(qd[i] <= 0.0, qd[i] >= 0.0)
            holds = both(still, absolute(pull) < bound)
            direction = where(still, _sign(pull), _sign(qd[i]))
            friction = -(direction * bound) - where(still, 0.0, motor.viscous * qd[i])
            stuck[i] = where(holds, stuck[i], 0.0)
            drive.dry = where(holds, -pull, friction)
            return where(holds, 0.0, pull + friction) + drive.limit

        *inner, _ = (joint.motor.rotor_inertia if joint.motor else 0.0 for joint in self.arm.joints)
        qdd = articulated_body(
            self._links,
            parts.q,
            qd,
            JointForces(range(len(qd)), force, lambda i: stuck[i] > 0.5),
            flywheels=[*inner, 0.0],
        )
        return Evaluation(qd, qdd, stuck, torques)


def _driven(joint: Joint, voltage: Scalar, q: Scalar, qd: Scalar) -> JointTorque:
    """Motor and stop of a joint: its stop pulls as well as pushes."""
    motor = joint.motor
    assert motor is not None
    left = voltage
    if motor.brush_drop is not None:
        drop = motor.brush_drop.max * (1.0 - exp(-LN_2 * absolute(voltage) / motor.brush_drop.half))
        left = voltage - _sign(voltage) * drop
    current = (left - motor.Ke * qd) / motor.Ra
    stop: Scalar = 0.0
    limit = joint.limit
    if limit is not None and limit.stiffness is not None:
        if limit.has_lower:
            stop = where(q < limit.lower, limit.stiffness * (limit.lower - q) - limit.damping * qd, stop)
        if limit.has_upper:
            stop = where(q > limit.upper, limit.stiffness * (limit.upper - q) - limit.damping * qd, stop)
    return JointTorque(motor.Kp * current, 0.0, stop, voltage, current)


def _sign(x: Scalar) -> Scalar:
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0))
