"""From a checked scenario to what the simulator runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from math import gcd
from typing import Any

from armsim import document
from armsim.clock import Clock, time_ratio
from armsim.control import Command, Constant, Controller, FunctionLaw, OpenLoop, OperationalSpace
from armsim.document.base import plain
from armsim.document.overrides import split_overrides
from armsim.document.scenario import ADAPTIVE, AUTO
from armsim.document.timing import ROWS
from armsim.document.tolerance import tolerance
from armsim.dynamics.external import ExternalWrench, WrenchLaw
from armsim.expr import Scalar
from armsim.files.faults import refuse, suggestion
from armsim.files.source import Source
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Quantity
from armsim.integrate import Tolerance
from armsim.loading.build import build_payloads, build_robot
from armsim.loading.checked import ScenarioFile
from armsim.loading.control import build_controller
from armsim.loading.frames import RADIANS, JointUnits
from armsim.loading.robot_file import resolved_robot
from armsim.loading.settle import settle
from armsim.loading.signals import build_signal
from armsim.loading.world import build_contacts, build_world, with_surfaces
from armsim.model import Arm
from armsim.plant.columns import RowExtras
from armsim.records import Json, record
from armsim.spatial import ZERO, Vector


@record
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
        logged: What rows have besides what they always have.
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
    logged: RowExtras = RowExtras()

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
    def jump_every(self) -> int:
        """Steps of which the samples of the command, the jumps of external forces and payloads, and the end are multiples."""
        return gcd(self.clock.steps, self.clock.sample_every or 0, *self.file.steps.jumps)

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
        return not self.adaptive or self.file.document.integrator.dt is not None

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
        return self.file.document.degrees

    @property
    def scenario_data(self) -> Json:
        """The scenario as plain data, its robot inline, angles in radians; reads back as the same scenario."""
        return dict(plain(resolved_scenario(self)))

    @cached_property
    def content(self) -> str:
        """All that its steps depend on, as text: all but its name and its log, whose period decides a default step.

        Empty under a law that is a Python function.
        """
        if isinstance(self.command, Controller) and isinstance(self.command.law, FunctionLaw):
            return ""
        asked = resolved_scenario(self).replaced(name=None, log=None)
        given = plain(asked.replaced(robot=asked.robot.without_visuals))
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
    own, of_robot = split_overrides(open)
    scenario = settle(file.document, own)
    degrees = scenario.degrees
    integrator, steps = scenario.integrator, file.steps
    num, den = time_ratio(steps.dt)
    clock = Clock(num, den, steps.duration, steps.period, steps.log)
    arm = build_robot(file.robot.document, of_robot)
    if scenario.payload is not None:
        spans = [  # what is picked up at the start is carried from the beginning
            (clock.at(start) if start else None, None if end is None else clock.at(end)) for start, end in steps.payload
        ]
        arm = replace(arm, payloads=build_payloads(scenario.payload, degrees, spans))
    if scenario.world:
        kept = [it for it in arm.world if it.name not in scenario.world]
        arm = replace(arm, world=(*kept, *build_world(scenario.world, degrees)))
    if scenario.contacts:
        arm = replace(arm, contacts=(*arm.contacts, *build_contacts(scenario.contacts, arm)))
    units = JointUnits(degrees, arm.joints)
    period = None if clock.sample_every is None else clock.at(clock.sample_every)
    initial_q = units.si(scenario.initial.q, arm.initial)
    arm = with_surfaces(arm, initial_q) if arm.contacts else arm
    on = scenario.control is not None and scenario.control.on
    inputs = build_inputs(scenario.inputs, scenario.parameters, None if on else period)
    command: Command | None = inputs
    if on:
        command = build_controller(file, scenario, replace(arm, contacts=()), units, period, inputs)
    return Scenario(
        name=file.name,
        arm=arm,
        method=integrator.method,
        dt=steps.dt,
        clock=clock if command is not None else replace(clock, sample_every=None),
        command=command,
        external=tuple(
            build_wrench(item, arm, [None if step is None else clock.at(step) for step in span], scenario.parameters)
            for item, span in zip(scenario.external, steps.external, strict=True)
        ),
        initial_q=initial_q,
        initial_qd=units.si(scenario.initial.qd, (0.0,) * arm.n),
        file=file,
        tolerance=tolerance(integrator.rtol, integrator.atol),
        log_format=scenario.log.format,
        logged=RowExtras(
            tuple(dict.fromkeys(name for name in scenario.log.frames if name != arm.tool.name)),
            tuple(dict.fromkeys(scenario.log.wrenches)),
            tuple(contact.name for contact in arm.contacts),
            _pairs(scenario.log, arm),
        ),
    )


def _pairs(log: document.Log, arm: Arm) -> tuple[str, ...]:
    """Names of the pairs whose distances are logged; raises FileFaults for one that the arm has not."""
    asked = [*arm.pairs] if log.distances == ("all",) else log.distances
    for i, name in enumerate(asked):
        if name not in arm.pairs:
            node = log.value_node("distances")
            mend = (
                suggestion(name, arm.pairs, "pairs are")
                if arm.pairs
                else "give two links `bodies` with sizes, or a `world`"
            )
            if any(name.endswith(f"_{of}") for of in (*arm.terrain, *(it.name for it in arm.payloads))):
                mend = "leave it out: terrain and payloads have no distances; the columns of a contact have its gap"
            raise refuse(
                node.place, f"log.distances[{i}]", "two names of `armsim check --collision`, as R5_floor", name, mend
            )
    return tuple(dict.fromkeys(asked))


def build_wrench(
    item: document.External,
    arm: Arm,
    span: Sequence[Scalar | None] = (None, None),
    parameters: Mapping[str, Scalar] | None = None,
) -> ExternalWrench:
    """An external force and moment.

    Args:
        item: Settled.
        arm: The arm.
        span: When it begins and ends [s].
        parameters: The scenario's, by name.
    """
    link = None if item.link is None else arm.link_names.index(item.link)
    at = arm.frame(item.frame) if link is None else arm.frame_at(link, Vector(*item.point))
    (start, end), x = span, [*item.force, *item.moment]
    if not any(isinstance(term, Quantity) for term in x):
        return ExternalWrench(at, Vector(*x[:3]), Vector(*x[3:]), item.axes, start, end)
    terms = tuple(term.formula if isinstance(term, Quantity) else term for term in x)
    names = frozenset[str]().union(*(term.names for term in terms if isinstance(term, Formula)))
    named = {name: value for name, value in (parameters or {}).items() if name in names}
    return WrenchLaw(at, ZERO, ZERO, item.axes, start, end, terms, named)


def build_inputs(
    inputs: document.Inputs | None, parameters: Mapping[str, Scalar], period: float | None
) -> OpenLoop | None:
    """Inputs of time; None without.

    Args:
        inputs: A scenario's, settled.
        parameters: The scenario's, by name.
        period: Sample time [s]; None for continuous inputs.
    """
    if inputs is None:
        return None
    return OpenLoop(inputs.output, tuple(build_signal(signal, parameters) for signal in inputs.signals), period)


def resolved_scenario(scenario: Scenario) -> document.Scenario:
    """A scenario in full, its robot inline, angles in radians."""
    file, clock = scenario.file, scenario.clock
    content = file.document
    payload = _in_radians(content.payload) if scenario.degrees else content.payload
    return document.Scenario(
        name=file.name,
        robot=resolved_robot(file.robot.document),
        units=document.ScenarioUnits(angle="rad"),
        duration=clock.end,
        integrator=_integrator(scenario),
        initial=document.Initial(q=scenario.initial_q, qd=scenario.initial_qd),
        control=None if content.control is None else _control(scenario, content.control),
        parameters=content.parameters or None,
        inputs=content.inputs,
        external=content.external or None,
        payload=payload,
        world={name: _in_radians(it) if scenario.degrees else it for name, it in content.world.items()} or None,
        contacts=tuple(it.replaced(name=it.label) for it in content.contacts) or None,
        log=document.Log(
            every=clock.at(clock.log_every),
            format=None if scenario.log_format == "csv" else scenario.log_format,
            frames=scenario.logged.frames or None,
            wrenches=scenario.logged.wrenches or None,
            distances=scenario.logged.distances or None,
        ),
    )


def _in_radians(payload: Any) -> Any:
    """A payload or an obstacle whose angles are degrees, in radians."""
    if isinstance(payload, tuple):
        return tuple(item if item.body is None else item.replaced(body=_in_radians(item.body)) for item in payload)
    if not isinstance(payload, (document.KnownInertia, document.Obstacle)):
        return payload
    return payload.replaced(rpy=tuple(angle.value * RADIANS for angle in payload.rpy))


def _integrator(scenario: Scenario) -> document.Integrator:
    """The integrator; an adaptive method's dt only if it was given, as it would land on it."""
    method, given = scenario.method, scenario.file.document.integrator.dt is not None
    tolerance = vars(scenario.tolerance) if scenario.adaptive or (method == AUTO and not given) else {}
    return document.Integrator(method=method, dt=scenario.dt if given else None, **tolerance)


def unusual(control: document.Control) -> document.Control:
    """A controller without what is as by default, as not every law has it."""
    return document.Control(**{key: x for key, x in control.items() if plain(x) != control.fields[key].default})


def _control(scenario: Scenario, control: document.Control) -> document.Control:
    """A controller in full."""
    command = scenario.command
    if not control.on:
        return document.Control(law="none")
    assert isinstance(command, Controller)
    more: dict[str, object] = {}
    hold = command.law.posture.hold if isinstance(command.law, OperationalSpace) else None
    if hold is not None and control.posture is not None:
        more["posture"] = control.posture.replaced(q=hold.target)
    if control.reference is not None:
        from armsim.loading.reference import resolved_reference

        units = JointUnits(scenario.degrees, scenario.arm.joints)
        more["reference"] = resolved_reference(control.reference, units)
    elif isinstance(command.reference, Constant):
        more["target"] = command.reference.target
    if scenario.file.model is not None:
        more["model"] = resolved_robot(scenario.file.model.document)
    if command.encoder is not None and control.encoder is not None and control.encoder.noise is not None:
        more["encoder"] = control.encoder.replaced(noise=command.encoder.noise)
    if control.limit is not None and control.ki is not None and control.anti_windup == "clamping":
        more["integral_limit"] = control.limit if control.integral_limit is None else control.integral_limit
    return unusual(control).replaced(**more)
