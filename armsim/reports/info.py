"""What `armsim info` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from armsim.arm.overview import (
    AxisControl,
    ComputedTorqueJoint,
    ControlFacts,
    ExpressionJoint,
    InputFacts,
    PidJoint,
    PostureJoint,
    ScenarioOverview,
    StateFeedbackJoint,
)
from armsim.arm.provenance import Origin
from armsim.arm.robot_overview import CouplingFacts, JointFacts, MotorFacts, RobotOverview, arm_overview
from armsim.arm.solids import BodyInertia
from armsim.document.control import DAMPING, STIFFNESS
from armsim.files.faults import Doubt
from armsim.formulas.units import units_of
from armsim.model import JOINT_TYPES, BrushDrop, Coulomb, Thermal, angles
from armsim.notebook import counted
from armsim.reports.source import source_facts
from armsim.reports.state import friction_notes, nominal_notes, state_table
from armsim.reports.table import (
    Cell,
    Report,
    ReportTable,
    fixed,
    force_unit,
    joint_unit,
    measured,
    number,
    numbers,
    sections,
    wrapped,
)
from armsim.terminal.streams import bold
from armsim.text_columns import aligned

if TYPE_CHECKING:
    from armsim.arm.robot import Robot

SIDE_EFFECTS = ("damping", "viscous", "rotor", "armature")  # columns that are left out where all are 0
COMMANDED = {"voltage": "motor voltages", "current": "motor currents", "torque": "joint torques"}
FULL = 17  # digits that tell any two doubles apart
Row = Mapping[str, tuple[float | None, str]]  # numbers and their units, by heading
F = TypeVar("F", bound=RobotOverview | ScenarioOverview)


def of_robot(robot: Robot) -> Report:
    """An arm and what holds it at its initial pose."""
    return report(arm_overview(robot.arm, None, robot.arm.initial), False, 5)


def in_unit(facts: F, degrees: bool) -> F:
    """An overview with its angles in degrees if asked for."""
    robot = facts.robot if isinstance(facts, ScenarioOverview) else facts
    return angles.in_unit(facts, [*robot.free, *robot.joints], degrees)


def report(facts: RobotOverview | ScenarioOverview, degrees: bool, digits: int) -> Report:
    """An overview as text.

    Args:
        facts: Its angles in the unit that is shown.
        degrees: Whether these are degrees.
        digits: Significant digits.
    """
    if isinstance(facts, RobotOverview):
        return sections(*_robot(facts, degrees, digits, "its initial pose"), _doubts(facts.doubts))
    robot, command = facts.robot, facts.command
    steps = f"{facts.steps} steps of {facts.dt:g} s by {facts.method}"
    if facts.landings is not None:
        lands = f", landing every {facts.duration / facts.landings:g} s" if facts.landings > 1 else ""
        steps = f"by {facts.method}, rtol {facts.rtol:g}{lands}"
    lines = [wrapped(f"{facts.scenario}: {facts.duration:g} s of {robot.robot}, {steps}")]
    if facts.picked is not None:
        lines.append(wrapped(f"method   {facts.method}, picked because {facts.picked}"))
    lines += [f"file     {facts.file or 'none'}", *_command_lines(command)]
    if facts.external:
        lines.append(f"outside  {counted(facts.external, 'force')} or moments on links")
    lines.append(f"log      {facts.rows} rows, one every {facts.log_every:g} s")
    commanded: Report = []
    if isinstance(command, InputFacts):
        commanded = _signals(command, robot.free)
    elif command is not None:
        commanded = _control(command, robot.free, degrees, digits)
    arm = _robot(robot, degrees, digits, "the scenario's initial pose")
    return sections(lines, commanded, *arm, _doubts(facts.doubts))


def _doubts(doubts: list[Doubt] | None) -> Report:
    lines = [wrapped(f"{doubt.path}: {doubt.found}; {doubt.mend}") for doubt in doubts or ()]
    return [bold("Doubtful (see `armsim check`)"), *lines] if lines else []


def _command_lines(command: InputFacts | ControlFacts | None) -> list[str]:
    if command is None:
        return ["command  none: no current flows in motors, nothing drives the joints"]
    what = COMMANDED[command.output]
    when = "continuous" if command.period is None else f"sampled every {command.period:g} s"
    if isinstance(command, InputFacts):
        return [f"command  inputs are {what}, {when}"]
    late = f", {command.delay:g} s late" if command.delay else ""
    lines = [f"command  {command.law.replace('_', ' ')} control gives {what}, {when}{late}"]
    if command.reference is not None:
        lines.append(wrapped(f"follows  {command.reference}; `armsim reference` prints it"))
    if command.encoder:
        lines.append("measured by encoders")
    if command.feedforward != "none":
        lines.append(f"added    {command.feedforward.replace('_', ' ')}, as feedforward")
    if command.inputs is not None:
        lines.append(f"added    {', '.join(command.inputs)}")
    return lines


def _signals(command: InputFacts, joints: list[JointFacts]) -> Report:
    units = [JOINT_TYPES[joint.type].unit_of(command.output) for joint in joints]
    told = zip(joints, command.signals, units, strict=True)
    return [bold("Inputs, t in s"), *aligned([[joint.name, f"{text} [{unit}]"] for joint, text, unit in told])]


def _control(command: ControlFacts, joints: list[JointFacts], degrees: bool, digits: int) -> Report:
    rows: list[tuple[str, Row]] = []
    notes: list[str] = []
    for joint, type in zip(command.joints, (of.type for of in joints), strict=True):
        force, per = force_unit(type), joint_unit(type, False)
        out, position = JOINT_TYPES[type].unit_of(command.output), joint_unit(type, degrees)
        row: dict[str, tuple[float | None, str]] = {"target": (joint.target, position)}
        if isinstance(joint, ComputedTorqueJoint):
            row |= {"kp": (joint.kp, "1/s²"), "kd": (joint.kd, "1/s")}
        elif isinstance(joint, PostureJoint):
            row |= {"posture": (joint.posture, position), **_gains(joint, type, command.law)}
        elif isinstance(joint, PidJoint):
            row |= {"kp": (joint.kp, f"{out}/{per}"), "ki": (joint.ki, f"{out}/({per}·s)")}
            row["kd"] = (joint.kd, f"{out}·s/{per}")
            if command.output == "voltage":
                row["stiffness"] = (joint.stiffness, f"{force}/{per}")
                row["damping"] = (joint.damping, f"{force}·s/{per}")
            row["droop"] = (joint.droop, position)
        elif isinstance(joint, ExpressionJoint):
            notes.append(f"{joint.name}: u = {joint.command}")
        elif isinstance(joint, StateFeedbackJoint):
            notes.append(f"{joint.name}: K = {', '.join(number(k, digits) for k in joint.K)}")
        rows.append((joint.name, {**row, "limit": (joint.limit, out)}))
    headings, cells = _columns(rows, digits, ("ki",))
    if "stiffness" in headings:
        notes.append(
            "stiffness, at the joint: Kp gear kp / Ra; damping: Kp gear (kd + Ke gear) / Ra, back-EMF included"
        )
    if "droop" in headings:
        notes.append("droop: what gravity leaves at rest, gravity torque / stiffness")
    lines: Report = [
        bold("Control"),
        ReportTable(["joint", *headings], cells),
        *(wrapped(f"* {note}") for note in notes),
    ]
    if command.axes is not None:
        types = ("revolute" if axis.name.startswith("r") else "prismatic" for axis in command.axes)
        gains = [(axis.name, _gains(axis, type, command.law)) for axis, type in zip(command.axes, types, strict=True)]
        headings, cells = _columns(gains, digits, ())
        lines = [bold(f"Control of {command.tool}"), ReportTable(["axis", *headings], cells), "", *lines]
    return lines


def _gains(of: PostureJoint | AxisControl, type: str, law: str) -> Row:
    """Gains of the control of a tool, with the units of a joint of that type."""
    kp, kd = (units_of(unit, [JOINT_TYPES[type].turns], None, law)[0] for unit in (STIFFNESS, DAMPING))
    return {"kp": (of.kp, kp), "kd": (of.kd, kd)}


def _robot(facts: RobotOverview, degrees: bool, digits: int, where: str) -> list[Report]:
    carried = " with its payload" if facts.payload or facts.payloads else ""
    far = "no end to its reach" if facts.reach is None else f"reach {number(facts.reach, 4)} m from its first joint"
    title = f"{facts.robot}: {counted(len(facts.joints), 'joint')}, {number(facts.mass)} kg{carried}, {far} to the tool"
    title = "; ".join([title, *source_facts(facts.about or {})])
    file, gravity = f"file     {facts.file or 'none'}", ", ".join(number(x) for x in facts.gravity)
    parts: list[Report] = [
        [wrapped(title), file, f"gravity  {gravity} m/s²"],
        [bold("Joints"), _joint_table(facts.joints, degrees, digits), *_joint_notes(facts.joints, degrees)],
    ]
    motors = [(joint.name, joint.motor) for joint in facts.joints if joint.motor is not None]
    rotors = any(motor.armature for _, motor in motors)
    if motors:
        felt = "armature and torque" if rotors else "torque"
        title = f"Motors, on their side of the gear; {felt} per volt at the joint"
        parts.append([bold(title), _joint_rows([(name, _motor_row(motor)) for name, motor in motors], digits)])
    title = "Links: mass, centre of mass, inertia about it (`armsim inertia` has all of it)"
    parts.append([bold(title), _link_table(facts, digits)])
    if facts.frames:
        rows: list[list[Cell]] = [
            [of.name, of.link, *((fixed(x, digits), "m") for x in of.position)] for of in facts.frames
        ]
        parts.append([bold("Frames, in their links"), ReportTable(["frame", "link", "x", "y", "z"], rows)])
    parts += _at_pose(facts, rotors, degrees, digits, where)
    if facts.couplings:
        title = "Elastic couplings there, other joints free; `by rotor`: over the rotor's inertia"
        types = {joint.name: joint.type for joint in facts.joints}
        swings = [(of.name, _coupling_row(of, types[of.name], degrees)) for of in facts.couplings]
        parts.append([bold(title), _joint_rows(swings, digits)])
    if facts.contacts:
        units = {"gap": "m", "mass": "kg", "frequency": "Hz", "damping_ratio": ""}
        cells: list[list[Cell]] = [
            [of.name, *(measured(getattr(of, key), unit, digits) for key, unit in units.items())]
            for of in facts.contacts
        ]
        title = "Contacts there: effective mass of the arm, and how it bounces on the surface"
        parts.append([bold(title), ReportTable(["contact", *(key.replace("_", " ") for key in units)], cells)])
    return parts


def _at_pose(facts: RobotOverview, rotors: bool, degrees: bool, digits: int, where: str) -> list[Report]:
    """Holding torques, mass matrix and tool, a part each."""
    n, pose, tool = len(facts.free), facts.pose, facts.pose.tool
    names = [joint.name for joint in facts.free]
    columns = {key: (key, getattr(pose, key)) for key in ("q", "torque", "voltage", "current")}
    held = state_table(facts.free, columns, degrees, digits)
    notes = [*map(wrapped, friction_notes(pose.slipping, n))]
    notes += [f"! outside their range, the stops counted in: {', '.join(pose.outside)}"] if pose.outside else []
    any_slides = any(joint_unit(joint.type, False) == "m" for joint in facts.free)
    title = f"Mass matrix there [{'kg·m², kg·m or kg' if any_slides else 'kg·m²'}]"
    title += ", rotors included" if rotors else ""
    flat = numbers([x for row in pose.mass_matrix for x in row], digits)
    rows: list[list[Cell]] = [[name, *flat[i * n : (i + 1) * n]] for i, name in enumerate(names)]
    lines: Report = [bold("Tool there, in the world")]
    turns = (("position", tool.position, "m"), ("roll, pitch, yaw", tool.rpy, "deg" if degrees else "rad"))
    for name, values, unit in (*turns, ("quaternion w x y z", tool.quaternion, "")):
        lines.append(f"{name:<18}  {'  '.join(fixed(x, digits) for x in values)} {unit}".rstrip())
    notes += nominal_notes(pose.above_nominal, "this pose")
    return [[bold(f"What holds it at {where}"), *held, *notes], [bold(title), ReportTable(["", *names], rows)], lines]


def _columns(rows: list[tuple[str, Row]], digits: int, dull: Sequence[str]) -> tuple[list[str], list[list[Cell]]]:
    """Headings, and cells behind the label of each row, without columns that are all None, or all 0 and dull."""
    columns = {key: [row[key][0] for _, row in rows] for key in rows[0][1]}
    headings = [key for key, x in columns.items() if any(x) or (key not in dull and x.count(None) < len(x))]
    cells: list[list[Cell]] = []
    for label, row in rows:
        own = (row[key] for key in headings)
        cells.append([label, *(measured(value, unit, digits) for value, unit in own)])
    return headings, cells


def _joint_table(joints: list[JointFacts], degrees: bool, digits: int) -> ReportTable:
    labels = aligned([[joint.name, joint.type] for joint in joints])
    rows: list[tuple[str, Row]] = []
    for label, joint in zip(labels, joints, strict=True):
        force, per = force_unit(joint.type), joint_unit(joint.type, False)
        position, dry = joint_unit(joint.type, degrees), joint.coulomb or Coulomb(None, None)
        spring = joint.spring
        row = {
            "initial": (joint.initial, position),
            "pitch": (joint.pitch, "m"),
            "lower": (joint.lower, position),
            "upper": (joint.upper, position),
            "stop": (joint.stiffness, f"{force}/{per}"),
            "damping": (joint.stop_damping, f"{force}·s/{per}"),
            "spring": (None if spring is None else spring.stiffness, f"{force}/{per}"),
            "slack at": (None if spring is None else spring.rest, position),
            "viscous": (joint.viscous, f"{force}·s/{per}"),
            **_dry_row(dry, force, per),
        }
        rows.append((label, row))
    return _joint_rows(rows, digits)


def _dry_row(dry: Coulomb, force: str, per: str) -> Row:
    """Dry friction of a part that moves in the unit `per`."""
    peak = dry.peaks[0] if dry.peaks else None
    return {
        "dry +": (dry.positive, force),
        "dry -": (dry.negative, force),
        "static +": (peak and dry.positive + peak.positive, force),
        "static -": (peak and dry.negative + peak.negative, force),
        "Stribeck": (peak and peak.velocity, f"{per}/s"),
        "exponent": (peak and peak.exponent, ""),
    }


def _joint_notes(joints: list[JointFacts], degrees: bool) -> list[str]:
    """Parents that the file names, and couplings of joints that mimic others."""
    notes = [f"* {joint.name} is carried by {joint.parent}" for joint in joints if joint.parent is not None]
    for joint in joints:
        if joint.mimic is not None:
            x = joint.mimic.offset
            more = f" {'+' if x > 0 else '-'} {number(abs(x))} {joint_unit(joint.type, degrees)}" if x else ""
            notes.append(f"* {joint.name} = {number(joint.mimic.ratio)} {joint.mimic.joint}{more}")
    return notes


def _joint_rows(rows: list[tuple[str, Row]], digits: int) -> ReportTable:
    headings, cells = _columns(rows, digits, SIDE_EFFECTS)
    return ReportTable(["joint", *headings], cells)


def _motor_row(motor: MotorFacts) -> Row:
    dry, brushes = motor.coulomb or Coulomb(None, None), motor.brush_drop or BrushDrop(None, None)
    limits, heat = motor.limits, motor.thermal or Thermal(None, None)
    return {
        "Kp": (motor.Kp, "N·m/A"),
        "Ke": (motor.Ke, "V·s/rad"),
        "Ra": (motor.Ra, "ohm"),
        "gear": (motor.gear, ""),
        "rotor": (motor.rotor_inertia, "kg·m²"),
        "viscous": (motor.viscous, "N·m·s/rad"),
        **_dry_row(dry, "N·m", "rad"),
        "armature": (motor.armature, "kg·m²"),
        "per volt": (motor.torque_per_volt, "N·m/V"),
        "efficiency": (motor.efficiency, ""),
        "L": (motor.inductance, "H"),
        "brushes": (brushes.max, "V"),
        "half at": (brushes.half, "V"),
        "max voltage": (limits.voltage, "V"),
        "max current": (limits.current, "A"),
        "max torque": (limits.torque, "N·m"),
        "max speed": (limits.speed, "rad/s"),
        "nominal": (motor.nominal_current, "A"),
        "Rth": (heat.resistance, "K/W"),
        "heats in": (heat.time_constant, "s"),
        "winding": (heat.max, "°C"),
    }


def _coupling_row(of: CouplingFacts, type: str, degrees: bool) -> Row:
    return {
        "stiffness": (of.stiffness, f"{force_unit(type)}/{joint_unit(type, False)}"),
        "backlash": (of.backlash, joint_unit(type, degrees)),
        "inertia": (of.inertia, "kg·m²" if JOINT_TYPES[type].turns else "kg"),
        "by rotor": (of.ratio, ""),
        "antiresonance": (of.antiresonance, "Hz"),
        "resonance": (of.resonance, "Hz"),
    }


def _link_table(facts: RobotOverview, digits: int) -> ReportTable:
    items: list[tuple[str, BodyInertia]] = [(link.name, link) for link in facts.links]
    if facts.payloads:
        items += [(f"{of.name}, in {of.frame}", of) for of in facts.payloads]
    elif facts.payload:
        items.append(("payload", facts.payload))
    rows: list[list[Cell]] = []
    for name, link in items:
        com = [(x, "m") for x in numbers(link.com, digits)]
        tensor = numbers([link.about_com.xx, link.about_com.yy, link.about_com.zz], digits)
        rows.append([name, measured(link.mass, "kg", digits), *com, *((x, "kg·m²") for x in tensor)])
    return ReportTable(["link", "mass", "x", "y", "z", "xx", "yy", "zz"], rows)


def resolved(found: list[Origin], verbose: bool) -> Report:
    """Numbers and their origins, a line each, under the file that holds them."""
    digits = FULL if verbose else 6
    lines: Report = []
    file: str | None = None
    cells = [
        [
            _where(origin),
            "of time" if origin.value is None else f"{number(origin.value, digits)} {origin.unit}".rstrip(),
            f"{origin.path}{_written(origin)}",
        ]
        for origin in found
    ]
    for origin, line in zip(found, aligned(cells, "<><"), strict=True):
        if origin.file is not None and origin.file != file:
            file = origin.file
            lines += [*([""] if lines else []), bold(f"{file} (line:column, value, name)")]
        lines.append(line)
    return lines


def _where(origin: Origin) -> str:
    return {"file": f"{origin.line}:{origin.column}", "default": "default", "override": "--set"}[origin.origin]


def _written(origin: Origin) -> str:
    """The text as written, where it is more than the value."""
    parts = [f" = {origin.written}" if origin.expression else "", f" (default: {origin.note})" if origin.note else ""]
    return "".join(parts) + (f", from {origin.converted_from}" if origin.converted_from else "")
