"""From a scenario's `control` to a controller."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from armsim import document
from armsim.control import (
    ComputedTorque,
    Constant,
    Controller,
    CostWeights,
    Encoder,
    Expressions,
    FeedbackLaw,
    Feedforward,
    FunctionLaw,
    Misses,
    OpenLoop,
    OperationalSpace,
    Pid,
    Posture,
    PredictedArm,
    Predictive,
    Reference,
    StateFeedback,
    step_of,
)
from armsim.control.operational_space import AXES
from armsim.expr import Scalar, Scalars, absolute, where
from armsim.files.faults import Fault
from armsim.loading.build import build_robot
from armsim.loading.checked import ScenarioFile
from armsim.loading.frames import JointUnits
from armsim.model import Arm


def build_controller(
    file: ScenarioFile,
    scenario: document.Scenario,
    arm: Arm,
    units: JointUnits,
    period: float | None,
    inputs: OpenLoop | None,
) -> Controller:
    """The controller that a scenario asks for.

    Args:
        file: The scenario's file, checked.
        scenario: Its content, settled.
        arm: The arm.
        units: Of the file.
        period: Sample time [s]; None for continuous control.
        inputs: Commands of time that are added.
    """
    control = scenario.control
    assert control is not None  # or there is no controller
    output, feedforward = control.output, control.feedforward
    known = arm if file.model is None else build_robot(file.model.document)
    limit = greatest_commands(control, arm.n)
    reference: Reference = Constant(units.si(control.target, arm.initial))
    if control.reference is not None:
        from armsim.loading.reference import build_reference  # with all that moves along one

        start = units.si(scenario.initial.q, arm.initial)
        reference = build_reference(control.reference, scenario.parameters, arm, units, start, (output, limit))
    late = file.steps.delay_in_periods
    return Controller(
        law=build_law(scenario, arm, known, units, reference, (period or 0.0) * late),
        output=output,
        reference=reference,
        limit=limit,
        feedforward=None if feedforward == "none" else Feedforward(feedforward, known, output),
        inputs=inputs,
        period=period,
        encoder=None if control.encoder is None else build_encoder(control.encoder, arm, units),
        delay=late,
    )


def greatest_commands(control: document.Control, n: int) -> tuple[Scalar | None, ...]:
    """The limits of a controller's commands, n of them; None for none."""
    return tuple(control.limit or [None] * n)


def build_law(
    scenario: document.Scenario, arm: Arm, model: Arm, units: JointUnits, reference: Reference, delay: float
) -> FeedbackLaw:
    """The law of feedback.

    Args:
        scenario: Settled.
        arm: The arm.
        model: The arm as the controller knows it.
        units: Of the file.
        reference: What the joints should do.
        delay: From a sample to its command [s].
    """
    control = scenario.control
    assert control is not None  # or there is no law
    law, limit = control.law, greatest_commands(control, arm.n)
    if control.task:
        axes = tuple(AXES.index(axis) for axis, _ in control.task)
        frame, posture = model.frame(control.frame or arm.tool.name), build_posture(control.posture, arm.n, units)
        return OperationalSpace(law, control.output, model, frame, axes, tuple(control.kp), tuple(control.kd), posture)
    if law == "state_feedback":
        return StateFeedback(control.K)
    if law == "computed_torque":
        return ComputedTorque(control.output, tuple(control.kp), tuple(control.kd), model)
    if law == "predictive":
        stages, cost = int(control.stages), control.cost
        assert cost is not None  # the law needs one
        q, qd, beyond = (tuple(cost.entries[key] or [0.0] * arm.n) for key in ("q", "qd", "range"))
        weights = CostWeights(q, qd, tuple(cost.command), beyond, cost.end)
        creep = None if control.creep is None else units.si(control.creep)
        return Predictive(
            predicted=PredictedArm(model, control.output, control.horizon / stages, creep, weights),
            reference=reference,
            limit=limit,
            stages=stages,
            delay=delay,
            misses=None if control.misses is None else Misses(control.misses.share, control.misses.seed),
            budget=control.budget,
        )
    if law == "python":
        return FunctionLaw(arm.n)
    if law == "expression":
        formulas = tuple(command.formula for command in control.command)
        return Expressions(formulas, replace(model, frames=arm.frames), dict(scenario.parameters))
    zeros: Scalars = [0.0] * arm.n
    kp, ki, kd = (tuple(control.entries[key] or zeros) for key in ("kp", "ki", "kd"))
    clamped = control.anti_windup == "clamping"
    tracking = None if clamped else tuple(control.tracking_time or map(_reset_time, kp, ki))
    slow = control.derivative_filter
    return Pid(
        name=law,
        kp=kp,
        ki=ki,
        kd=kd,
        integral_limit=tuple(control.integral_limit or (limit if clamped else [None] * arm.n)),
        tracking_time=tracking,
        derivative=control.derivative,
        filter_time=None if slow is None else tuple(slow),
    )


def task_doubts(command: Controller, control: document.Control, q: Sequence[float]) -> Iterator[Fault]:
    """Warnings of control in the space of a tool: axes that it cannot take at the start, and motions that nothing brings to rest.

    Args:
        command: The controller, on numbers.
        control: What it was built from.
        q: Joint positions at the start [rad or m].
    """
    law = command.law
    if not isinstance(law, OperationalSpace):
        return
    place, left = control.place_of("space"), len(law.kp) - law.model.n
    if law.mobility(law.model.at(0.0), q).manipulability < 1.0:
        expected = "a start at which the tool can move along and about each of its axes by itself"
        mend = "leave out an axis, as with `axes: [x, y, z]`, or start elsewhere: errors are damped here, and may stay"
        yield Fault(place, "control.axes", expected, "one where it hardly can, or cannot", mend)
    if left < 0 and control.posture is None:
        expected, mend = (
            "a `posture`, for motions of the joints that leave the tool alone",
            "`posture: {kp: 10, kd: 6}`",
        )
        yield Fault(place, "control.posture", expected, f"none for {-left} of them", f"add for example {mend}")


def build_posture(posture: document.Posture | None, n: int, units: JointUnits) -> Posture:
    """What n joints do besides a tool's task."""
    if posture is None:
        return Posture(None, (0.0,) * n, (0.0,) * n)
    hold = None if posture.q is None else Constant(units.si(posture.q))
    return Posture(hold, tuple(posture.kp), tuple(posture.kd))


def _reset_time(kp: Scalar, ki: Scalar) -> Scalar:
    """kp / ki [s]; 1 s where that is no time."""
    sound = absolute(kp * ki) > 0.0
    return where(sound, absolute(where(sound, kp, 1.0) / where(sound, ki, 1.0)), 1.0)


def build_encoder(encoder: document.Encoder, arm: Arm, units: JointUnits) -> Encoder:
    """The encoders of all joints."""
    n, on_motor = arm.n, encoder.on == "motor"
    counts: Sequence[Scalar | None] = encoder.counts or [None] * n
    steps = [None if count is None else step_of(arm, i, count, on_motor) for i, count in enumerate(counts)]
    noise = units.si(encoder.noise, (0.0,) * n)
    return Encoder(tuple(steps), noise, tuple(encoder.filter or [None] * n), encoder.seed, on_motor)
