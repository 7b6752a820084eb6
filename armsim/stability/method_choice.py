"""The method that `auto` picks: it follows from what can act in a scenario, not from how strongly.

Of numbers it depends only on which are zero, so that a number left open takes the method of the number written in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from armsim.actuation import any_sticks
from armsim.control import Controller
from armsim.document.scenario import AUTO
from armsim.errors import UsageError
from armsim.expr import is_number
from armsim.loading import Scenario
from armsim.plant import plant_type
from armsim.stability.advice import listed

LONG = 100.0  # s: beyond it, an arm that nothing damps or drives takes a symplectic method, with bounded energy error


def with_method(scenario: Scenario) -> Scenario:
    """The scenario with its method picked, and the reason in `picked`, where it leaves it open; else as it is.

    Raises:
        UsageError: No method suits it.
    """
    if scenario.method != AUTO:
        return scenario
    rule = plant_type(scenario.arm).step_rule
    if rule is not None and not _has_step(scenario):
        raise UsageError(str(rule.no_dt))
    method, why = _chosen(scenario) if rule is None else (rule.method, rule.why)
    return replace(scenario, method=method, picked=why)


def _has_step(scenario: Scenario) -> bool:
    return scenario.file.document.integrator.dt is not None


def _chosen(scenario: Scenario) -> tuple[str, str]:
    """The method, and why: one for stiff systems wherever something can make it stiff, at twice the time where nothing does."""
    damping = list(dict.fromkeys(_damping(scenario)))
    if damping:
        return "rodas", f"{listed(damping)} can decay much faster than the arm moves; that does not limit its steps"
    duration = scenario.clock.steps * scenario.dt
    free = scenario.command is None and not scenario.external and not any_sticks(scenario.arm)
    if free and _has_step(scenario) and duration > LONG:
        why = f"nothing damps or drives the arm, and it keeps the energy, also over {duration:g} s"
        return "implicit_midpoint", why
    return "rk54", "it chooses its steps, and nothing decays by itself"


def _damping(scenario: Scenario) -> Iterator[str]:
    """What can damp the arm, in words."""
    command, joints = scenario.command, scenario.arm.joints
    if command is not None and command.output == "voltage":
        yield "back-EMF"
    if isinstance(command, Controller) and command.period is None and command.law.damps:
        yield "derivative gains"
    for joint in joints:
        if joint.limit is not None and joint.limit.stiffness is not None:
            yield "stops"
    if scenario.arm.contacts:
        yield "contacts"
    for joint in joints:
        rotor = 0.0 if joint.motor is None else joint.motor.viscous
        if not (is_number(joint.viscous, 0.0) and is_number(rotor, 0.0)):
            yield "viscous friction"
