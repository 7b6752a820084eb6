"""What in a scenario is not smooth, so that a method may lose its order."""

from __future__ import annotations

import re

from armsim.actuation import any_sticks
from armsim.arrays import Array
from armsim.control import Controller, Pid, Reference
from armsim.integrate import METHODS
from armsim.loading import Scenario
from armsim.loading.signals import FormulaSignal, RecordedSignal
from armsim.references import Formulas

NONSMOOTH = re.compile(r"\b(abs|sqrt|min|max)\b")  # functions in formulas that are not differentiable
JUMPS = re.compile(r"\b(where|sign|step|pulse)\b")  # functions in formulas that may not be continuous


def kinks(scenario: Scenario) -> dict[str, bool]:
    """What makes forces jump or bend within steps, in words, and whether the scenario has it; stops apart.

    A controller that is sampled jumps between steps: no method notices.
    """
    motors = [joint.motor for joint in scenario.arm.joints if joint.motor is not None]
    command = scenario.command
    continuous = command is not None and command.period is None
    inputs = command.inputs if isinstance(command, Controller) else command
    signals = inputs.signals if inputs is not None and continuous else ()
    saturable = isinstance(command, Controller) and continuous and any(x is not None for x in (*command.limit,))
    clamped = isinstance(command, Controller) and continuous and _clamped(command)
    limits = [(m.limits.voltage, m.limits.current, m.limits.torque, m.limits.speed) for m in motors]
    return {
        "joints stop, stick or slip within steps": any_sticks(scenario.arm),
        "recorded inputs jump or bend within steps": any(isinstance(signal, RecordedSignal) for signal in signals),
        "inputs bend where their abs, sqrt, min or max do": any(
            isinstance(signal, FormulaSignal) and NONSMOOTH.search(signal.formula.text) for signal in signals
        ),
        "inputs jump or bend where their where, sign, step or pulse do": any(
            isinstance(signal, FormulaSignal) and JUMPS.search(signal.formula.text) for signal in signals
        ),
        "the reference jumps or bends within steps": isinstance(command, Controller)
        and continuous
        and _bends(command.reference),
        "brushes take voltages below their drop": any(motor.brush_drop is not None for motor in motors),
        "commands or motors may reach their limits": saturable
        or clamped
        or any(x is not None for some in limits for x in some),
    }


def _bends(reference: Reference) -> bool:
    if isinstance(reference, Formulas):
        texts = [f.formula.text for f in reference.functions if isinstance(f, FormulaSignal)]
        return any(NONSMOOTH.search(text) or JUMPS.search(text) for text in texts)
    return bool(getattr(reference, "knots", []))


def _clamped(command: Controller) -> bool:
    return isinstance(command.law, Pid) and any(x is not None for x in command.law.integral_limit)


def is_smooth(scenario: Scenario) -> bool:
    """Whether nothing in a scenario can jump or bend within steps."""
    stops = any(joint.limit is not None and joint.limit.stiffness is not None for joint in scenario.arm.joints)
    return not stops and not any(kinks(scenario).values())


def order_losses(scenario: Scenario, answer: Array | None) -> tuple[str, ...]:
    """What can reduce the order of a fixed-step method, in words; empty for a smooth motion.

    Of a method whose steps are cut at events, inductances alone, and events that come and go within a step.

    Args:
        scenario: What was run, by that method.
        answer: Joint positions of a run [rad or m], shape (instants, n); None where all diverged.
    """
    motors = (joint.electric_motor for joint in scenario.arm.joints)
    meets = answer is not None and _meets_stops(scenario, answer)
    known = {
        "joints meet their stops within steps": meets,
        "currents of motors with an inductance advance once a step, which is of first order": any(
            motor is not None and motor.inductance is not None for motor in motors
        ),
        **kinks(scenario),
    }
    if METHODS[scenario.method].cuts:
        events = meets or any(kinks(scenario).values())
        known = {what: there for what, there in known.items() if what.startswith("currents")}
        known["events may come and go within a step"] = events
    return tuple(what for what, there in known.items() if there)


def _meets_stops(scenario: Scenario, answer: Array) -> bool:
    """Whether a joint with a stop was outside its range at any instant."""
    for i, joint in enumerate(scenario.arm.joints):
        limit = joint.limit
        if limit is None or limit.stiffness is None:
            continue
        if answer[:, i].min() < limit.lower or answer[:, i].max() > limit.upper:
            return True
    return False
