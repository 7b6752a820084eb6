"""What `armsim info` prints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from armsim.arm.provenance import Origin
from armsim.model import JOINT_TYPES
from armsim.notebook import counted
from armsim.reports.simulation import method_notes
from armsim.reports.state import friction_notes, nominal_notes, state_table
from armsim.reports.table import Cell, fixed, force_unit, joint_unit, number, numbers, shown, table, wrapped
from armsim.terminal.streams import bold

SIDE_EFFECTS = ("stop_damping", "viscous", "rotor_inertia", "armature")  # columns that are left out where all are 0
TOOL = (("position", "position", "m"), ("roll, pitch, yaw", "rpy", "angle"), ("quaternion w x y z", "quaternion", ""))
DRY = {"dry_positive": "dry +", "dry_negative": "dry -"}  # friction, by the joint's direction
COMMANDED = {"voltage": "motor voltages", "current": "motor currents", "torque": "joint torques"}
LIMITS = {"voltage": "V", "current": "A", "torque": "N·m", "speed": "rad/s"}
FULL = 17  # digits that tell any two doubles apart


def turn(facts: dict[str, Any]) -> None:
    """Turn the joint angles of an overview into degrees."""
    robot = facts["robot"] if facts["kind"] == "scenario" else facts
    types = [joint["type"] for joint in robot["joints"]]

    def turned(value: float | None, type: str) -> float | None:
        return None if value is None else shown(value, type, True)

    for joint in robot["joints"]:
        joint.update({key: turned(joint[key], joint["type"]) for key in ("initial", "lower", "upper")})
    robot["pose"]["q"] = [turned(q, type) for q, type in zip(robot["pose"]["q"], types, strict=True)]
    robot["pose"]["tool"]["rpy"] = [turned(angle, "revolute") for angle in robot["pose"]["tool"]["rpy"]]
    if facts["kind"] == "scenario":
        initial = facts["initial"]
        initial.update({k: [turned(x, type) for x, type in zip(initial[k], types, strict=True)] for k in initial})
        for joint, type in zip((facts["command"] or {}).get("joints", ()), types, strict=False):
            joint.update({key: turned(joint[key], type) for key in ("target", "droop")})


def report(facts: dict[str, Any], angle: str, digits: int) -> str:
    """An overview as text.

    Args:
        facts: As `armsim.arm.overview` gives it, its angles turned where they are to be.
        angle: "rad" or "deg", the unit of joint angles.
        digits: Significant digits.
    """
    if facts["kind"] == "robot":
        return "\n\n".join([_robot(facts, angle, digits, "its initial pose"), *_doubts(facts)])
    robot = facts["robot"]
    steps = f"{facts['steps']} steps of {facts['dt']:g} s by {facts['method']}"
    if facts["rtol"] is not None:
        lands = f", landing every {facts['duration'] / facts['landings']:g} s" if facts["landings"] > 1 else ""
        steps = f"by {facts['method']}, rtol {facts['rtol']:g}{lands}"
    title = f"{facts['scenario']}: {facts['duration']:g} s of {robot['robot']}, {steps}"
    lines = [wrapped(title), *method_notes(facts), f"file     {facts['file'] or 'none'}", *_command_lines(facts)]
    parts = ["\n".join([*lines, f"log      {facts['rows']} rows, one every {facts['log_every']:g} s"])]
    command = facts["command"]
    if command is not None:
        parts.append(_signals(command, robot) if "signals" in command else _gains(command, robot, angle, digits))
    return "\n\n".join([*parts, _robot(robot, angle, digits, "the scenario's initial pose"), *_doubts(facts)])


def _doubts(facts: dict[str, Any]) -> list[str]:
    lines = [wrapped(f"{doubt['path']}: {doubt['found']}; {doubt['mend']}") for doubt in facts["doubts"]]
    return ["\n".join([bold("Doubtful (see `armsim check`)"), *lines])] if lines else []


def _command_lines(facts: dict[str, Any]) -> list[str]:
    command = facts["command"]
    if command is None:
        lines = ["command  none: no current flows in motors, nothing drives the joints"]
    else:
        what = COMMANDED[command["output"]]
        when = "continuous" if command["period"] is None else f"sampled every {command['period']:g} s"
        law = f"{command['law'].replace('_', ' ')} control gives" if "law" in command else "inputs are"
        lines = [f"command  {law} {what}, {when}"]
        if command.get("delay"):
            lines[0] += f", {command['delay']:g} s late"
        if command.get("reference"):
            lines.append(wrapped(f"follows  {command['reference']}; `armsim reference` prints it"))
        if command.get("encoder"):
            lines.append("measured by encoders")
        if command.get("feedforward", "none") != "none":
            lines.append(f"added    {command['feedforward'].replace('_', ' ')}, as feedforward")
        if command.get("inputs"):
            lines.append(f"added    {', '.join(command['inputs'])}")
    if facts["external"]:
        lines.append(f"outside  {facts['external']} force{'s' if facts['external'] > 1 else ''} or moments on links")
    return lines


def _signals(command: dict[str, Any], robot: dict[str, Any]) -> str:
    width = max(len(joint["name"]) for joint in robot["joints"])
    lines = []
    for joint, text in zip(robot["joints"], command["signals"], strict=True):
        lines.append(f"{joint['name']:<{width}}  {text} [{JOINT_TYPES[joint['type']].unit_of(command['output'])}]")
    return "\n".join([bold("Inputs, t in s"), *lines])


def _gains(command: dict[str, Any], robot: dict[str, Any], angle: str, digits: int) -> str:
    joints, types = command["joints"], [joint["type"] for joint in robot["joints"]]
    volts, law = command["output"] == "voltage", command["law"]

    def unit(key: str, type: str) -> str:
        force, per = force_unit(type), joint_unit(type, False)
        out = JOINT_TYPES[type].unit_of(command["output"])
        if law == "computed_torque" and key in ("kp", "kd"):
            return {"kp": "1/s²", "kd": "1/s"}[key]
        return {
            **{"target": joint_unit(type, angle == "deg"), "droop": joint_unit(type, angle == "deg"), "limit": out},
            **{"kp": f"{out}/{per}", "ki": f"{out}/({per}·s)", "kd": f"{out}·s/{per}"},
            **{"stiffness": f"{force}/{per}", "damping": f"{force}·s/{per}", "back_emf": f"{force}·s/{per}"},
        }[key]

    keys = [key for key in ("target", "kp", "ki", "kd") if any(joint.get(key) is not None for joint in joints)]
    keys = [key for key in keys if key != "ki" or any(joint["ki"] for joint in joints)]
    if volts and "stiffness" in joints[0]:
        keys += ["stiffness", "damping"]
    keys += [key for key in ("droop", "limit") if any(joint.get(key) is not None for joint in joints)]
    rows: list[list[Cell]] = []
    for joint, type in zip(joints, types, strict=True):
        cells = [(number(joint[key], digits), unit(key, type)) if joint[key] is not None else "-" for key in keys]
        rows.append([joint["name"], *cells])
    notes = [f"{joint['name']}: u = {joint['command']}" for joint in joints if "command" in joint]
    for joint in joints:
        if "K" in joint:
            notes.append(f"{joint['name']}: K = {', '.join(number(k, digits) for k in joint['K'])}")
    if "stiffness" in keys:
        notes.append(
            "stiffness, at the joint: Kp gear kp / Ra; damping: Kp gear (kd + Ke gear) / Ra, back-EMF included"
        )
    if "droop" in keys:
        notes.append("droop: what gravity leaves at rest, gravity torque / stiffness")
    return "\n".join([bold("Control"), table(["joint", *keys], rows), *(wrapped(f"* {note}") for note in notes)])


def _robot(facts: dict[str, Any], angle: str, digits: int, where: str) -> str:
    n = len(facts["joints"])
    carried = " with its payload" if facts["payload"] is not None else ""
    far = (
        "no end to its reach" if facts["reach"] is None else f"reach {number(facts['reach'], 4)} m from its first joint"
    )
    title = f"{facts['robot']}: {counted(n, 'joint')}, {number(facts['mass'])} kg{carried}, {far} to the tool"
    parts = [
        f"{wrapped(title)}\n"
        f"file     {facts['file'] or 'none'}\n"
        f"gravity  {', '.join(number(x) for x in facts['gravity'])} m/s²",
        f"{bold('Joints')}\n{_joint_table(facts['joints'], angle, digits)}",
    ]
    if any(joint["motor"] for joint in facts["joints"]):
        felt = "armature and torque" if _rotors(facts) else "torque"
        title = f"Motors, on their side of the gear; {felt} per volt at the joint"
        parts.append(f"{bold(title)}\n{_motor_table(facts['joints'], digits)}")
    title = "Links: mass, centre of mass, inertia about it (`armsim inertia` has all of it)"
    parts.append(f"{bold(title)}\n{_link_table(facts, digits)}")
    return "\n\n".join([*parts, *_at_pose(facts, angle, digits, where)])


def _at_pose(facts: dict[str, Any], angle: str, digits: int, where: str) -> list[str]:
    """Holding torques, mass matrix and tool, a part each."""
    n, pose = len(facts["joints"]), facts["pose"]
    types = [joint["type"] for joint in facts["joints"]]
    names = [joint["name"] for joint in facts["joints"]]
    columns = {key: (key, pose[key]) for key in ("q", "torque", "voltage", "current")}
    held = state_table(list(zip(names, types, strict=True)), columns, angle == "deg", digits)
    friction = "".join(f"\n{wrapped(note)}" for note in friction_notes(pose["slipping"], n))
    outside = f"\n! outside their range, the stops counted in: {', '.join(pose['outside'])}" if pose["outside"] else ""
    any_slides = any(joint_unit(type, False) == "m" for type in types)
    title = f"Mass matrix there [{'kg·m², kg·m or kg' if any_slides else 'kg·m²'}]"
    title += ", rotors included" if _rotors(facts) else ""
    flat = numbers([x for row in pose["mass_matrix"] for x in row], digits)
    rows: list[list[Cell]] = [[name, *flat[i * n : (i + 1) * n]] for i, name in enumerate(names)]
    lines = [bold("Tool there, in the world")]
    for name, key, unit in TOOL:
        values = "  ".join(fixed(x, digits) for x in pose["tool"][key])
        lines.append(f"{name:<18}  {values} {angle if unit == 'angle' else unit}".rstrip())
    lasting = "".join(f"\n{note}" for note in nominal_notes(pose["above_nominal"], "this pose"))
    return [
        f"{bold(f'What holds it at {where}')}\n{held}{friction}{outside}{lasting}",
        f"{bold(title)}\n{table(['', *names], rows)}",
        "\n".join(lines),
    ]


def _rotors(facts: dict[str, Any]) -> bool:
    """Whether a motor's rotor has inertia."""
    return any(joint["motor"] and joint["motor"]["armature"] for joint in facts["joints"])


def _columns(
    items: list[dict[str, Any]], wanted: dict[str, str], digits: int, unit: Any
) -> tuple[list[str], list[list[Cell]]]:
    """Headings and cells, without columns that are all None, or all 0 and of `SIDE_EFFECTS`."""
    keys = [k for k in wanted if any(item[k] is not None and (item[k] or k not in SIDE_EFFECTS) for item in items)]
    rows: list[list[Cell]] = []
    for item in items:
        rows.append([(number(item[key], digits), unit(key, item)) if item[key] is not None else "-" for key in keys])
    return [wanted[key] for key in keys], rows


def _flat(item: dict[str, Any]) -> dict[str, Any]:
    """A joint or a motor with its friction, brushes and limits flattened into its own keys."""
    dry = item["coulomb"] or {"positive": None, "negative": None}
    brushes = item.get("brush_drop") or {"max": None, "half": None}
    more = {"brushes": brushes["max"], "half": brushes["half"], **item.get("limits", {})}
    heat = item.get("thermal") or {"resistance": None, "time_constant": None, "max": None}
    more |= {"thermal_resistance": heat["resistance"], "time_constant": heat["time_constant"], "winding": heat["max"]}
    return {**item, **dict(zip(DRY, dry.values(), strict=True)), **more}


def _joint_table(joints: list[dict[str, Any]], angle: str, digits: int) -> str:
    def unit(key: str, joint: dict[str, Any]) -> str:
        type = joint["type"]
        force, per = force_unit(type), joint_unit(type, False)
        position = joint_unit(type, angle == "deg")
        units = {
            "pitch": "m",
            "stiffness": f"{force}/{per}",
            "stop_damping": f"{force}·s/{per}",
            "viscous": f"{force}·s/{per}",
        }
        return units.get(key, force if key in DRY else position)

    wanted = {"pitch": "pitch", "lower": "lower", "upper": "upper", "stiffness": "stop", "stop_damping": "damping"}
    wanted |= {"viscous": "viscous"}
    headings, cells = _columns([_flat(joint) for joint in joints], {**wanted, **DRY}, digits, unit)
    width = max(len(joint["name"]) for joint in joints)
    rows: list[list[Cell]] = []
    for joint, more in zip(joints, cells, strict=True):
        initial = (number(joint["initial"], digits), joint_unit(joint["type"], angle == "deg"))
        rows.append([f"{joint['name']:<{width}}  {joint['type']}", initial, *more])
    return table(["joint", "initial", *headings], rows)


def _motor_table(joints: list[dict[str, Any]], digits: int) -> str:
    powered = [joint for joint in joints if joint["motor"]]
    wanted = {
        "Kp": "Kp",
        "Ke": "Ke",
        "Ra": "Ra",
        "gear": "gear",
        "rotor_inertia": "rotor",
        "viscous": "viscous",
        **DRY,
    }
    wanted |= {"armature": "armature", "torque_per_volt": "per volt", "efficiency": "efficiency", "inductance": "L"}
    wanted |= {"brushes": "brushes", "half": "half at", **{key: f"max {key}" for key in LIMITS}}
    wanted |= {
        "nominal_current": "nominal",
        "thermal_resistance": "Rth",
        "time_constant": "heats in",
        "winding": "winding",
    }
    units = {"Kp": "N·m/A", "Ke": "V·s/rad", "Ra": "ohm", "gear": "", "rotor_inertia": "kg·m²", "viscous": "N·m·s/rad"}
    units |= {"armature": "kg·m²", "torque_per_volt": "N·m/V", "efficiency": "", "inductance": "H"}
    units |= {"brushes": "V", "half": "V", **dict.fromkeys(DRY, "N·m"), **LIMITS}
    units |= {"nominal_current": "A", "thermal_resistance": "K/W", "time_constant": "s", "winding": "°C"}
    motors = [_flat(joint["motor"]) for joint in powered]
    headings, rows = _columns(motors, wanted, digits, lambda key, _: units[key])
    return table(["joint", *headings], [[joint["name"], *row] for joint, row in zip(powered, rows, strict=True)])


def _link_table(facts: dict[str, Any], digits: int) -> str:
    items = [(link["name"], link) for link in facts["links"]]
    if facts["payload"] is not None:
        items.append(("payload", facts["payload"]))
    rows: list[list[Cell]] = []
    for name, link in items:
        com = [(x, "m") for x in numbers(link["com"], digits)]
        tensor = numbers([link["about_com"][key] for key in ("xx", "yy", "zz")], digits)
        rows.append([name, (number(link["mass"], digits), "kg"), *com, *((x, "kg·m²") for x in tensor)])
    return table(["link", "mass", "x", "y", "z", "xx", "yy", "zz"], rows)


def turned(origin: Origin) -> Origin:
    """An origin with its angle in degrees."""
    if origin.value is None or origin.unit not in ("rad", "rad/s"):
        return origin
    unit = origin.unit.replace("rad", "deg")
    return replace(origin, value=shown(origin.value, "revolute", True), unit=unit, converted_from="")


def resolved(found: list[Origin], verbose: bool) -> str:
    """Numbers and their origins, a line each, under the file that holds them."""
    digits = FULL if verbose else 6
    lines: list[str] = []
    file: str | None = None
    cells = [
        (_where(o), "of time" if o.value is None else f"{number(o.value, digits)} {o.unit}".rstrip()) for o in found
    ]
    wide, long = (max(len(cell[k]) for cell in cells) for k in (0, 1))
    for origin, (where, value) in zip(found, cells, strict=True):
        if origin.file is not None and origin.file != file:
            file = origin.file
            lines += [*([""] if lines else []), bold(f"{file} (line:column, value, name)")]
        lines.append(f"{where:<{wide}}  {value:>{long}}  {origin.path}{_written(origin)}")
    return "\n".join(lines)


def _where(origin: Origin) -> str:
    return {"file": f"{origin.line}:{origin.column}", "default": "default", "override": "--set"}[origin.origin]


def _written(origin: Origin) -> str:
    """The text as written, where it is more than the value."""
    parts = [f" = {origin.written}" if origin.expression else "", f" (default: {origin.note})" if origin.note else ""]
    return "".join(parts) + (f", from {origin.converted_from}" if origin.converted_from else "")
