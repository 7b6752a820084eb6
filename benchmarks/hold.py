"""The case that is measured: arm5 with its motors under PD voltage control, from a disturbed start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from armsim.actuation.motor import viscous, voltage_gain
from armsim.compile.target import host
from armsim.control import Controller
from armsim.loading import Scenario, read_scenario
from armsim.model import Arm
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.row_log import RowsInMemory
from armsim.simulation.runner import Job, Runner

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "configs" / "arm5_hold.yaml"
OVERRIDES = {"integrator.method": "semi_implicit_euler", "integrator.dt": 1e-4, "log.every": 1e-2}


@dataclass(frozen=True)
class SpringLaw:
    """PD voltage control, motors and friction together, per joint: tau = stiffness (target - q) - damping qd.

    Attributes:
        stiffness: Of the controller through the motor [N·m/rad].
        damping: Of the controller, the back-EMF and all viscous friction [N·m·s/rad].
        target: [rad].
        armature: Inertia of the rotor felt at the joint [kg m²].
    """

    stiffness: list[float]
    damping: list[float]
    target: list[float]
    armature: list[float]


def spring_law(arm: Arm, command: Controller) -> SpringLaw:
    """What continuous PD voltage control without saturation comes to, for programs that have no motors."""
    if command.law.name != "pd" or command.output != "voltage" or command.period is not None or any(command.limit):
        raise ValueError("only continuous PD voltage control without saturation is a spring and a damper")
    stiffness, damping = [], []
    for joint, kp, kd in zip(arm.joints, command.law.kp, command.law.kd, strict=True):
        if joint.motor is None:
            raise ValueError(f"joint {joint.name} has no motor")
        gain = voltage_gain(joint.motor)
        back_emf = gain * joint.motor.Ke * joint.motor.gear
        stiffness.append(gain * kp)
        damping.append(gain * kd + back_emf + viscous(joint.motor) + joint.viscous)
    return SpringLaw(stiffness, damping, list(command.target), [joint.armature for joint in arm.joints])


class NativeHold:
    """The case in armsim's machine code: limits, check for divergence, energy audit, figures of merit, a row every 100 steps.

    Args:
        scenario: The case.

    Attributes:
        plant: What it simulates.
        plan: What its loop computes.
        rows: Of the last roll-out, one after the other.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        plan = LoopPlan.of_run(scenario)
        self.plant, self.plan = plan.plant, replace(plan, refinable=False)
        self._log = RowsInMemory(len(plan.columns), scenario.clock.rows)
        self.rows = self._log.rows

    @cached_property
    def engine(self) -> NativeEngine:
        """The compiled loop, as long runs have it."""
        return NativeEngine(self.plan, host())

    def roll_out(self, steps: int) -> list[float]:
        """Joint positions [rad] after so many steps."""
        runner = Runner(self.engine, Job(self.plan, self.scenario.clock, self.plan.start_of(self.scenario)))
        for _ in runner.until(steps, self._log):
            pass
        if not runner.lanes.alive:
            raise RuntimeError(f"the hold diverged at step {runner.done}")
        return runner.state[: self.plant.arm.n]

    def accelerations(self, q: list[float], qd: list[float]) -> list[float]:
        """Joint accelerations [rad/s²] by the same text on floats."""
        row = self.plant.observe(0.0, self.plant.initial_state(q, qd))
        return [row[i] for i, column in enumerate(self.plant.layout.columns) if column.quantity == "qdd"]


def read_case(overrides: Mapping[str, Any] | None = None) -> Scenario:
    """The case from its file, with the integrator, step and rows that are measured here, or with other overrides."""
    return read_scenario(SCENARIO, {**OVERRIDES, **(overrides or {})})
