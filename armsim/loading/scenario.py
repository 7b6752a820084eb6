"""From a checked scenario to what the simulator runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import gcd
from typing import Any

from armsim.actuation import OUTPUTS, Output
from armsim.clock import Clock, time_ratio
from armsim.control import Command, Constant, Controller, FunctionLaw, OpenLoop
from armsim.dynamics.external import ExternalWrench
from armsim.expr import Scalar
from armsim.files.source import Source
from armsim.formulas.quantity import Quantity, plain
from armsim.integrate import Tolerance
from armsim.loading.build import RADIANS, build_body, build_robot
from armsim.loading.checked import ScenarioFile
from armsim.loading.control import build_controller
from armsim.loading.reference import resolved_reference
from armsim.loading.resolved import resolved_robot
from armsim.loading.settle import settle
from armsim.loading.signals import build_signal
from armsim.model import Arm
from armsim.spatial import Vector
from armsim.spec.control import ControlKeys
from armsim.spec.recorded import written_record
from armsim.spec.scenario import ADAPTIVE, AUTO, InputKeys
from armsim.spec.timing import ROWS
from armsim.spec.tolerance import tolerance


@dataclass(frozen=True)
class Scenario:
    """What is simulated, in SI units and radians.

    Attributes:
        name: Of the scenario.
        arm: The arm, with the payload of the scenario where it gives one.
        method: Name of the integrator; "auto" where it is still to be picked, see `armsim.stability.method_choice`.
        dt: Step [s]; of an adaptive method, of which samples, rows and all times are multiples.
        clock: Its steps, rows and samples; step k begins at `clock.at(k)`.
        command: A controller or inputs; None for motors with open terminals.
        external: External wrenches on links.
        initial_q: Joint positions at the start [rad or m].
        initial_qd: Joint velocities at the start [rad/s or m/s].
        file: The checked file this was built from.
        tolerance: Local error tolerance of an adaptive method.
        picked: Why this method was picked; empty where the file names it.
        log_format: Format of the tables that are written: "csv" or "parquet".
    """

    name: str
    arm: Arm
    method: str
    dt: float
    clock: Clock
    command: Command | None
    external: tuple[ExternalWrench, ...]
    initial_q: tuple[Scalar, ...]
    initial_qd: tuple[Scalar, ...]
    file: ScenarioFile = field(repr=False, compare=False)
    tolerance: Tolerance = Tolerance()
    picked: str = ""
    log_format: str = "csv"

    def __repr__(self) -> str:
        return f"Scenario({self.brief})"

    @property
    def brief(self) -> str:
        """What is run, in a line."""
        step = "" if self.adaptive or self.method == AUTO else f" with dt {self.dt:g} s"
        return f"{self.name}: {self.clock.end:g} s of {self.arm.name} by {self.method}{step}"

    @property
    def adaptive(self) -> bool:
        """Whether the method is adaptive."""
        return self.method in ADAPTIVE

    @property
    def jumps(self) -> list[int]:
        """Steps at which external forces begin or end."""
        return [step for span in self.file.steps["external"] for step in span if step is not None]

    @property
    def jump_every(self) -> int:
        """Steps of which the samples of the command, the jumps of external forces and the end are multiples."""
        return gcd(self.clock.steps, self.clock.sample_every or 0, *self.jumps)

    @property
    def land_every(self) -> int:
        """Steps between landings of an adaptive method: on all that jumps, on every step if the file gives dt."""
        return 1 if self._lands_on_steps else self.jump_every

    @property
    def moments(self) -> int:
        """Moments of a step at which measures are gathered: of an adaptive method some thousand in a run, or every landing."""
        return 1 if self._lands_on_steps else max(1, -(-ROWS // self.clock.steps))

    @property
    def _lands_on_steps(self) -> bool:
        return not self.adaptive or self.file.data["integrator"]["dt"] is not None

    @property
    def landing(self) -> float:
        """Time between landings of an adaptive method [s]."""
        return self.clock.at(self.land_every)

    @property
    def sources(self) -> tuple[Source, ...]:
        """The files that were read, with their hashes."""
        return self.file.sources

    @property
    def degrees(self) -> bool:
        """Whether angles of the file are degrees."""
        return bool(self.file.data["units"]["angle"] == "deg")

    @property
    def scenario_data(self) -> dict[str, Any]:
        """The scenario as plain data, its robot inline, angles in radians; reads back as the same scenario."""
        return resolved_scenario(self)

    @cached_property
    def content(self) -> str:
        """All that its steps depend on, as text: all but its name and its log, whose period decides a default step.

        Empty under a law that is a Python function.
        """
        if isinstance(self.command, Controller) and isinstance(self.command.law, FunctionLaw):
            return ""
        given = {name: value for name, value in self.scenario_data.items() if name not in ("name", "log")}
        return f"{(self.clock.num, self.clock.den)} {self.clock.sample_every} {json.dumps(given, sort_keys=True)}"


def build_scenario(file: ScenarioFile, open: Mapping[str, Scalar] | None = None) -> Scenario:
    """What a scenario file asks to simulate.

    Args:
        file: The file, checked.
        open: Scalars in place of numbers of the files, by path, in the files' units: `{"control.kp[0]": kp,
            "robot.joints[R2].motor.Kp": Kp}`. Structure (dt, duration, periods, times) cannot be left open.

    Raises:
        UsageError: There is no number at a path of `open`.
    """
    of_robot = {p.removeprefix("robot."): x for p, x in (open or {}).items() if p.startswith("robot.")}
    own = {p: x for p, x in (open or {}).items() if not p.startswith("robot.")}
    data = {key: value for key, value in file.data.items() if key != "robot"}
    scenario = settle(data, own)
    degrees = scenario["units"]["angle"] == "deg"
    payload = None if scenario["payload"] is None else build_body(scenario["payload"], degrees)
    arm = build_robot(file.robot.data, of_robot, payload)
    turns = [RADIANS if degrees and joint.kind.turns else 1.0 for joint in arm.joints]

    def si(values: list[Scalar] | None, default: tuple[Scalar, ...]) -> tuple[Scalar, ...]:
        return default if values is None else tuple(x * turn for x, turn in zip(values, turns, strict=True))

    integrator = scenario["integrator"]
    dt = file.steps["dt"]
    num, den = time_ratio(dt)
    clock = Clock(num, den, file.steps["duration"], file.steps["period"], file.steps["log"])
    period = None if clock.sample_every is None else clock.at(clock.sample_every)
    initial_q = si(scenario["initial"]["q"], arm.initial)
    control = scenario["control"]
    on = control is not None and control["law"] != "none"
    inputs = build_inputs(scenario["inputs"], scenario["parameters"], None if on else period)
    command: Command | None = inputs
    if on:
        command = build_controller(file, scenario, arm, si, period, inputs)
    names = [joint.name for joint in arm.joints]
    return Scenario(
        name=file.name,
        arm=arm,
        method=integrator["method"],
        dt=dt,
        clock=clock if command is not None else replace(clock, sample_every=None),
        command=command,
        external=tuple(
            ExternalWrench(
                link=names.index(item["link"]),
                point=Vector(*item["point"]),
                force=Vector(*item["force"]),
                moment=Vector(*item["moment"]),
                frame=item["frame"],
                start=None if start is None else clock.at(start),
                end=None if end is None else clock.at(end),
            )
            for item, (start, end) in zip(scenario["external"], file.steps["external"], strict=True)
        ),
        initial_q=initial_q,
        initial_qd=si(scenario["initial"]["qd"], (0.0,) * arm.n),
        file=file,
        tolerance=tolerance(integrator["rtol"], integrator["atol"]),
        log_format=scenario["log"]["format"],
    )


def build_inputs(
    inputs: dict[str, Any] | None, parameters: Mapping[str, Scalar], period: float | None
) -> OpenLoop | None:
    """Inputs of time; None without.

    Args:
        inputs: A scenario's, settled.
        parameters: The scenario's, by name.
        period: Sample time [s]; None for continuous inputs.
    """
    if inputs is None:
        return None
    output: Output = next(key for key in OUTPUTS if inputs[key] is not None)
    return OpenLoop(output, tuple(build_signal(settled, parameters) for settled in inputs[output]), period)


def resolved_scenario(scenario: Scenario) -> dict[str, Any]:
    """A scenario as plain data, its robot inline, angles in radians."""
    file = scenario.file
    data = file.data
    control, inputs = data["control"], data["inputs"]
    resolved: dict[str, Any] = {
        "format": data["format"],
        "name": file.name,
        "robot": resolved_robot(file.robot.data),
        "units": {"angle": "rad"},
        "duration": scenario.clock.end,
        "integrator": _integrator(scenario),
        "initial": {"q": list(scenario.initial_q), "qd": list(scenario.initial_qd)},
    }
    if control is not None and control["law"] == "none":
        resolved["control"] = {"law": "none"}
    elif control is not None:
        resolved["control"] = _control(scenario, control)
    if data["parameters"]:
        resolved["parameters"] = plain(data["parameters"])
    if inputs is not None:
        output = next(key for key in InputKeys.exactly_one if inputs[key] is not None)
        resolved["inputs"] = {output: [_signal(signal) for signal in inputs[output]]}
        if inputs["period"] is not None:
            resolved["inputs"]["period"] = inputs["period"].value
    if data["external"]:
        resolved["external"] = plain(data["external"])
    if data["payload"] is not None:
        resolved["payload"] = plain(data["payload"])
        if scenario.degrees and "inertia" in resolved["payload"]:
            inertia = resolved["payload"]["inertia"]
            inertia["rpy"] = [angle * RADIANS for angle in inertia["rpy"]]
    resolved["log"] = {"every": scenario.clock.at(scenario.clock.log_every)}
    if scenario.log_format != "csv":
        resolved["log"]["format"] = scenario.log_format
    return resolved


def _integrator(scenario: Scenario) -> dict[str, Any]:
    """The integrator's keys; an adaptive method's dt only if it was given, as it would land on it."""
    method, given = scenario.method, scenario.file.data["integrator"]["dt"] is not None
    return {
        "method": method,
        **({"dt": scenario.dt} if given else {}),
        **(vars(scenario.tolerance) if scenario.adaptive or (method == AUTO and not given) else {}),
    }


def unusual_control(control: dict[str, Any]) -> dict[str, Any]:
    """The keys of `control`, those that are as they are by default left out, as not every law has them."""
    return {key: value for key, value in control.items() if plain(value) != ControlKeys.fields[key].default}


def _control(scenario: Scenario, control: dict[str, Any]) -> dict[str, Any]:
    """The keys of `control`, written out."""
    command = scenario.command
    assert isinstance(command, Controller)
    resolved: dict[str, Any] = plain(unusual_control(control))
    if control["reference"] is not None:
        turns = [joint.kind.turns for joint in scenario.arm.joints]
        resolved["reference"] = resolved_reference(control["reference"], turns, scenario.degrees)
    elif isinstance(command.reference, Constant):
        resolved["target"] = list(command.reference.target)
    if control["command"] is not None:
        resolved["command"] = [expression.text for expression in control["command"]]
    if scenario.file.model is not None:
        resolved["model"] = resolved_robot(scenario.file.model.data)
    if command.encoder is not None and control["encoder"]["noise"] is not None:
        resolved["encoder"]["noise"] = list(command.encoder.noise)
    if control["limit"] is not None and control["ki"] is not None and control["anti_windup"] == "clamping":
        resolved.setdefault("integral_limit", plain(control["limit"]))
    return resolved


def _signal(signal: Any) -> Any:
    if isinstance(signal, Quantity):
        return signal.text if signal.varies else signal.value
    return written_record(signal)
