"""`armsim motor`"""

from __future__ import annotations

import math
from typing import Any

import click

from armsim.cli.options import (
    SETTINGS,
    deg_option,
    json_option,
    number_value,
    plot_option,
    print_json,
    quiet_option,
    robot_argument,
    verbose_option,
)
from armsim.errors import UsageError
from armsim.model import JOINT_TYPES
from armsim.reports.table import Cell, force_unit, joint_unit, number, shown, table, wrapped
from armsim.terminal.streams import echo


@click.command(
    "motor",
    context_settings=SETTINGS,
    epilog="""\b
Examples:
  armsim motor arm5 --voltage 24               a line for every motor
  armsim motor arm5 --voltage 24 --joint R2    its curve, stall to no load
  armsim motor my_arm.yaml --joint R2 --plot r2.png
""",
)
@robot_argument
@click.option("--joint", metavar="NAME", help="The whole curve of this joint's motor.")
@click.option("--voltage", metavar="V", help="What drives the motors. [default: their limit of voltage]")
@plot_option("Draw the curve of --joint into a picture.")
@deg_option
@json_option
@quiet_option
@verbose_option
def command(
    robot: str,
    joint: str | None,
    voltage: str | None,
    plot: str | None,
    degrees: bool,
    as_json: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Print what the motors of ROBOT can do at their joints, and what share of it holding the arm takes.

    From stall to no load: torque, current and power over speed at a constant voltage. Torques are those left for the arm
    after all friction of motor, gear and joint, in the direction in which the motor holds its joint at the initial pose.
    """
    from armsim.arm.motor_curve import motor_curve, motors
    from armsim.loading import read_robot

    if plot is not None and joint is None:
        raise UsageError.of(
            f"--plot {plot}", "--joint with it, whose curve is drawn", "no joint", "add for example --joint R2"
        )
    volts = None if voltage is None else number_value("voltage", voltage)
    arm, _ = read_robot(robot)
    digits = 10 if verbose else 5
    if joint is None:
        all_of_them = motors(arm, volts)
        if as_json:
            facts = [turned(found) if degrees else found for found in all_of_them]
            print_json({"robot": arm.name, "motors": facts})
        elif not quiet:
            known = {found["joint"] for found in all_of_them}
            rest = [j.name for j in arm.joints if j.motor is not None and j.name not in known]
            echo(_summary(arm.name, all_of_them, rest, degrees, digits))
        return 0
    found = motor_curve(arm, joint, volts)
    if plot is not None:
        from armsim.figures.motor import plot_motor

        plot_motor(plot, motor_curve(arm, joint, volts, points=401), f"{joint} of {arm.name}", degrees)
    if as_json:
        print_json({"robot": arm.name, **(turned(found) if degrees else found)})
    elif not quiet:
        drawn = "" if plot is None else f"\ndrawn          {plot}"
        echo(_curve(arm.name, found, degrees, digits) + drawn)
    return 0


def turned(found: dict[str, Any]) -> dict[str, Any]:
    """A curve with its speeds in degrees a second."""
    if not JOINT_TYPES[found["type"]].turns:
        return found
    parts = {
        key: None if found[key] is None else {**found[key], "speed": math.degrees(found[key]["speed"])}
        for key in ("no_load", "most_power")
    }
    return {**found, **parts, "curve": [{**point, "speed": math.degrees(point["speed"])} for point in found["curve"]]}


def percent(share: float | None) -> Cell:
    """A share as a cell of a table."""
    return "-" if share is None else (number(100.0 * share, 3), "%")


def _summary(name: str, found: list[dict[str, Any]], rest: list[str], degrees: bool, digits: int) -> str:
    limits = [key for key in ("voltage", "current", "torque") if any(key in m["holding"]["of_limits"] for m in found)]
    rows: list[list[Cell]] = []
    for motor in found:
        force, speed = force_unit(motor["type"]), joint_unit(motor["type"], degrees, "/s")
        row: list[Cell] = [motor["joint"], (number(motor["voltage"], digits), "V")]
        row.append((number(motor["stall"]["torque"], digits), force))
        for key, of, unit in (("no_load", "speed", speed), ("most_power", "power", "W")):
            part = motor[key]
            value = None if part is None else shown(part[of], motor["type"], degrees) if of == "speed" else part[of]
            row.append("-" if value is None else (number(value, digits), unit))
        row.append((number(motor["holding"]["torque"], digits), force))
        row.append(percent(motor["holding"]["of_stall"]))
        row += [percent(motor["holding"]["of_limits"].get(key)) for key in limits]
        rows.append(row)
    headings = ["joint", "at", "stall torque", "no load", "most power", "holding", "of stall"]
    lines = [
        f"{name}: what its motors leave for the arm, at the joints",
        "",
        table([*headings, *(f"of {key}" for key in limits)], rows),
        wrapped("* holding: at the initial pose; of stall, of its limits: the share of what the motor can do at most"),
    ]
    for motor in found:
        if not motor["stall"]["torque"]:
            lines.append(
                wrapped(f"! friction takes all torque of {motor['joint']}: {motor['voltage']:g} V do not move it")
            )
        elif motor["no_load"] is None:
            lines.append(
                wrapped(f"! nothing bounds the speed of {motor['joint']}: it has neither back-EMF nor viscous friction")
            )
    if rest:
        lines.append(wrapped(f"! no Kp and Ra for the motor of {', '.join(rest)}: only the torque is known, no curve"))
    return "\n".join(lines)


def _curve(name: str, found: dict[str, Any], degrees: bool, digits: int) -> str:
    type, stall, holding = found["type"], found["stall"], found["holding"]
    force, rate = force_unit(type), joint_unit(type, degrees, "/s")
    way = "positive" if found["direction"] > 0 else "negative"
    lines = [
        wrapped(f"{found['joint']} of {name} at {found['voltage']:g} V: what its motor leaves for the arm, at the joint, in "
                f"its {way} direction")
    ]  # fmt: skip
    rows: list[list[Cell]] = []
    for point in found["curve"]:
        values = (point["torque"], point["current"], point["power"], point["electrical"])
        cells = [(number(x, digits), unit) for x, unit in zip(values, (force, "A", "W", "W"), strict=True)]
        speed = f"{number(shown(point['speed'], type, degrees), digits)} {rate}"
        rows.append([speed, *cells, percent(point["efficiency"])])
    if rows:
        lines += ["", table(["speed", "torque", "current", "power", "electrical", "efficiency"], rows)]
    lines += ["", f"stall torque   {number(stall['torque'], digits)} {force} at {number(stall['current'], digits)} A"]
    end, best = found["no_load"], found["most_power"]
    if end is not None:
        rpm = f" ({number(end['speed'] * 30.0 / math.pi, 4)} rpm)" if JOINT_TYPES[type].turns else ""
        why = ", by the motor's limit of speed" if end["limited"] else f" at {number(end['current'], digits)} A"
        lines.append(f"no-load speed  {number(shown(end['speed'], type, degrees), digits)} {rate}{rpm}{why}")
        speed = f"{number(shown(best['speed'], type, degrees), digits)} {rate}"
        lines.append(
            f"most power     {number(best['power'], digits)} W at {speed}, {number(best['torque'], digits)} {force}"
        )
    elif not stall["torque"]:
        lines.append("! friction takes all of it: this voltage does not move the joint")
    else:
        lines.append("! nothing bounds its speed: it has neither back-EMF nor viscous friction")
    share = "" if holding["of_stall"] is None else f", {number(100 * holding['of_stall'], 3)} % of stall torque"
    lines.append(f"holding        {number(holding['torque'], digits)} {force} at the initial pose{share}")
    lines.append(f"takes          {number(holding['current'], digits)} A, {number(holding['heat'], digits)} W of heat")
    shares = [f"{number(100 * share, 3)} % of {key}" for key, share in holding["of_limits"].items()]
    if shares:
        lines.append(f"of its limits  {', '.join(shares)}")
    return "\n".join(lines)
