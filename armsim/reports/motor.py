"""What `armsim motor` prints about torque-speed curves."""

from __future__ import annotations

import math

from armsim.arm.motor_curve import Holding, MotorCurve
from armsim.model import JOINT_TYPES
from armsim.reports.table import (
    Cell,
    Report,
    ReportTable,
    Row,
    force_unit,
    joint_unit,
    measured,
    number,
    wrapped,
)


def _percent(share: float | None) -> Cell:
    """A share as a cell of a table."""
    return measured(None if share is None else 100.0 * share, "%", 3)


def motors_text(name: str, found: list[MotorCurve], rest: list[str], degrees: bool, digits: int) -> Report:
    """A line for every motor.

    Args:
        name: Of the arm.
        found: As of `armsim.arm.motor_curve.motors`, speeds in the unit that is shown.
        rest: Joints whose motors have no curve.
        degrees: Whether that is degrees a second.
        digits: Of numbers.
    """
    limits = [key for key in ("voltage", "current", "torque") if any(key in m.holding.of_limits for m in found)]
    rated = any(motor.holding.of_nominal is not None for motor in found)
    rows: list[Row] = []
    for motor in found:
        force, end, best, holding = force_unit(motor.type), motor.no_load, motor.most_power, motor.holding
        row: Row = [
            motor.joint,
            measured(motor.voltage, "V", digits),
            measured(motor.stall.torque, force, digits),
            measured(end.speed if end else None, joint_unit(motor.type, degrees, "/s"), digits),
            measured(best.power if best else None, "W", digits),
            measured(holding.torque, force, digits),
            _percent(holding.of_stall),
            *(_percent(holding.of_limits.get(key)) for key in limits),
        ]
        rows.append([*row, _percent(holding.of_nominal)] if rated else row)
    headings = ["joint", "at", "stall torque", "no load", "most power", "holding", "of stall"]
    lines: Report = [
        f"{name}: what its motors leave for the arm, at the joints",
        "",
        ReportTable([*headings, *(f"of {key}" for key in limits), *(["of nominal"] if rated else [])], rows),
        wrapped("* holding: at the initial pose; of stall, of its limits: the share of what the motor can do at most"),
    ]
    lines += [line for motor in found for line in _hot(motor.joint, motor.holding)]
    for motor in found:
        if not motor.stall.torque:
            lines.append(wrapped(f"! friction takes all torque of {motor.joint}: {motor.voltage:g} V do not move it"))
        elif motor.no_load is None:
            lines.append(
                wrapped(f"! nothing bounds the speed of {motor.joint}: it has neither back-EMF nor viscous friction")
            )
    if rest:
        lines.append(wrapped(f"! no Kp and Ra for the motor of {', '.join(rest)}: only the torque is known, no curve"))
    return lines


def curve_text(name: str, found: MotorCurve, degrees: bool, digits: int) -> Report:
    """The curve of one motor, as of `armsim.arm.motor_curve.motor_curve`; the arguments are those of `motors_text`."""
    type, stall, holding = found.type, found.stall, found.holding
    force, rate = force_unit(type), joint_unit(type, degrees, "/s")
    way = "positive" if found.direction > 0 else "negative"
    lines: Report = [
        wrapped(f"{found.joint} of {name} at {found.voltage:g} V: what its motor leaves for the arm, at the joint, in "
                f"its {way} direction")
    ]  # fmt: skip
    rows: list[Row] = []
    for point in found.curve:
        values = (point.torque, point.current, point.power, point.electrical)
        cells = [measured(x, unit, digits) for x, unit in zip(values, (force, "A", "W", "W"), strict=True)]
        speed = f"{number(point.speed, digits)} {rate}"
        rows.append([speed, *cells, _percent(point.efficiency)])
    if rows:
        lines += ["", ReportTable(["speed", "torque", "current", "power", "electrical", "efficiency"], rows)]
    lines += ["", f"stall torque   {number(stall.torque, digits)} {force} at {number(stall.current, digits)} A"]
    end, best = found.no_load, found.most_power
    if end is not None and best is not None:
        turn = 360.0 if degrees else math.tau
        rpm = f" ({number(end.speed * 60.0 / turn, 4)} rpm)" if JOINT_TYPES[type].turns else ""
        why = ", by the motor's limit of speed" if end.limited else f" at {number(end.current, digits)} A"
        lines.append(f"no-load speed  {number(end.speed, digits)} {rate}{rpm}{why}")
        speed = f"{number(best.speed, digits)} {rate}"
        lines.append(f"most power     {number(best.power, digits)} W at {speed}, {number(best.torque, digits)} {force}")
    elif not stall.torque:
        lines.append("! friction takes all of it: this voltage does not move the joint")
    else:
        lines.append("! nothing bounds its speed: it has neither back-EMF nor viscous friction")
    share = "" if holding.of_stall is None else f", {number(100 * holding.of_stall, 3)} % of stall torque"
    lines.append(f"holding        {number(holding.torque, digits)} {force} at the initial pose{share}")
    lines.append(f"takes          {number(holding.current, digits)} A, {number(holding.heat, digits)} W of heat")
    shares = [f"{number(100 * share, 3)} % of {key}" for key, share in holding.of_limits.items()]
    if shares:
        lines.append(f"of its limits  {', '.join(shares)}")
    lines += _lasting(found.joint, holding)
    if (of := found.coupling) is not None:
        swings, held = number(of.resonance, 4), number(of.antiresonance, 4)
        lines.append(
            wrapped(f"coupling       swings at {swings} Hz, on a rotor that is held at {held} Hz, at the initial pose")
        )
        lines.append(f"inertia ratio  {number(of.ratio, 4)}, that of the joint by the rotor's")
    return lines


def _lasting(joint: str, holding: Holding) -> list[str]:
    """Whether the winding stands the current that holds its joint: lines for what is known of it."""
    share, winding = holding.of_nominal, holding.winding
    lines = [] if share is None else [f"of nominal     {number(100 * share, 3)} % of current"]
    lines += [] if winding in (None, math.inf) else [f"winding        {number(winding, 4)} °C, if it holds for long"]
    return [*lines, *_hot(joint, holding)]


def _hot(joint: str, holding: Holding) -> list[str]:
    """A warning of a current that a winding does not stand for long, or of too high a temperature."""
    lines, share, winding, most = [], holding.of_nominal, holding.winding, holding.winding_max
    if share is not None and share > 1.0:
        lines.append(
            f"! holding takes {number(100 * share, 3)} % of the nominal current of {joint}: its winding does not stand that long"
        )
    if winding == math.inf:
        lines.append(f"! holding heats the winding of {joint} without end: its resistance grows faster than it cools")
    elif winding is not None and most is not None and winding > most:
        lines.append(
            f"! holding heats the winding of {joint} to {number(winding, 4)} °C, beyond its {number(most, 4)} °C"
        )
    return [wrapped(line) for line in lines]
