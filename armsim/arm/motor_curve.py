"""Torque-speed curves of the joints' motors, and the share of them that holding the arm takes.

Values are at the joint, in steady motion, in the direction in which the motor holds the joint; torques are net of the friction of
motor, gear and joint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, replace
from typing import cast

from armsim.actuation import drive_torques, driven, dry_bounds
from armsim.actuation import motor as dc
from armsim.actuation.winding import rise_at
from armsim.arm.golden import greatest
from armsim.arm.integration import real_number
from armsim.arm.overload import needs
from armsim.dynamics import TwoMassSystem, two_mass_systems
from armsim.errors import UsageError, spelled
from armsim.files.nodes import quoted
from armsim.formulas.bounds import BOUNDS
from armsim.model import Arm, Joint, Motor
from armsim.model.angles import FIGURE
from armsim.records import optional, record

FASTEST = 1e9  # rad/s or m/s: a no-load speed beyond counts as unbounded
MOST_POINTS = 100_000  # of a curve
ROUNDS = 200  # of bisection, down to adjacent doubles


@record
class Point:
    """A point of a curve: speed [rad/s or m/s], torque [N·m or N], current [A], and power [W] as torque times speed and as
    voltage times current, with what share the first is of the second."""

    speed: float = field(metadata=FIGURE)
    torque: float
    current: float
    power: float
    electrical: float
    efficiency: float


@record
class Stall:
    """At rest: torque [N·m or N] and current [A]."""

    torque: float
    current: float


@record
class NoLoad:
    """The greatest speed [rad/s or m/s], its current [A], and whether it is the motor's limit of speed."""

    speed: float = field(metadata=FIGURE)
    current: float
    limited: bool


@record
class MostPower:
    """Where the power [W] is greatest: speed [rad/s or m/s] and torque [N·m or N]."""

    power: float
    speed: float = field(metadata=FIGURE)
    torque: float


@record
class Holding:
    """What it takes to hold the arm at its initial pose.

    Attributes:
        torque: [N·m or N].
        voltage: [V].
        current: [A].
        heat: [W].
        of_stall: Share of the stall torque; None where there is none.
        of_limits: Shares of the limits of voltage, current and torque that there are.
        of_nominal: Share of the nominal current; None where that is not known.
        winding: Temperature that the winding comes to [°C]; None where it is not known.
        winding_max: That it may have [°C]; likewise.
    """

    torque: float
    voltage: float
    current: float
    heat: float
    of_stall: float | None
    of_limits: dict[str, float]
    of_nominal: float | None
    winding: float | None
    winding_max: float | None


@record
class MotorCurve:
    """The torque-speed curve of a joint's motor at a constant voltage.

    Attributes:
        joint: Its name.
        type: Its type.
        voltage: On the motor [V].
        direction: 1 or -1: in which the motor holds the joint at the arm's initial pose.
        stall: At rest.
        no_load: None where friction leaves nothing at stall, and where nothing bounds the speed.
        most_power: Likewise.
        curve: From stall to no load; likewise empty.
        holding: At the initial pose.
        coupling: To its joint, at that pose; None where the gear is rigid.
    """

    joint: str
    type: str
    voltage: float
    direction: int
    stall: Stall
    no_load: NoLoad | None
    most_power: MostPower | None
    curve: list[Point]
    holding: Holding
    coupling: TwoMassSystem | None = optional(default=None)


def motors(arm: Arm, voltage: float | None = None) -> list[MotorCurve]:
    """The curves of all motors that a voltage can drive, joint by joint; see `motor_curve`.

    Args:
        arm: The arm, n joints.
        voltage: On every motor [V]; each motor's limit if not given.

    Raises:
        UsageError: There is no such motor, or the voltage is invalid, or absent for a motor without a limit.
    """
    joints = [joint.name for joint in arm.joints if joint.electric_motor is not None]
    if not joints:
        bare = all(joint.motor is None for joint in arm.joints)
        raise UsageError.of(
            arm.name,
            "a motor with its torque constant Kp and its resistance Ra",
            "no motor on any joint" if bare else "no Kp and Ra for any motor",
            "give a joint a `motor: {Kp: ..., Ra: ...}` in the robot file",
        )
    return [motor_curve(arm, joint, voltage) for joint in joints]


def motor_curve(arm: Arm, joint: str, voltage: float | None = None, points: int = 9) -> MotorCurve:
    """The torque-speed curve of a joint's motor.

    Args:
        arm: The arm, n joints.
        joint: Its name.
        voltage: On the motor [V]; its limit if not given.
        points: Of the curve, from stall to no load; the knee at which a limit of current or torque lets go is one more.

    Raises:
        UsageError: There is no such joint, no voltage can drive it, or voltage or points are invalid.
    """
    i, motor = _motor(arm, joint)
    if not isinstance(points, int) or not 2 <= points <= MOST_POINTS:
        raise UsageError.of("points", f"how many, from 2 to {MOST_POINTS}", quoted(points), "give for example 9")
    volts = _voltage(joint, motor, voltage)
    still = [0.0] * arm.n
    held = drive_torques(arm, arm.initial, still, still)[i]
    direction = -1.0 if held < 0.0 else 1.0
    at = _point_at(arm.joints[i], motor, volts, direction)
    stall = at(0.0)
    found = MotorCurve(
        joint=joint,
        type=arm.joints[i].type,
        voltage=volts,
        direction=int(direction),
        stall=Stall(max(stall.torque, 0.0), stall.current),
        no_load=None,
        most_power=None,
        curve=[],
        holding=_holding(arm.joints[i], motor, held, stall.torque),
        coupling=next((of for of in two_mass_systems(arm, arm.initial) if of.joint == joint), None),
    )
    if not stall.torque > 0.0:
        return found
    free = _where_zero(lambda speed: at(speed).torque)
    bound = math.inf if motor.limits.speed is None else motor.limits.speed / abs(motor.gear)
    end = min(free, bound)
    if end == math.inf:
        return found
    last, best = at(end), at(greatest(lambda speed: at(speed).power, 0.0, end))
    speeds = [end * k / (points - 1) for k in range(points - 1)]
    knee = _knee(arm.joints[i], motor, volts, direction)
    if 0.0 < knee < end:
        speeds = sorted({*speeds, knee})
    if bound >= free:
        last = replace(last, torque=0.0, power=0.0, efficiency=0.0)  # to the last bit
    return replace(
        found,
        no_load=NoLoad(end, last.current, bound < free),
        most_power=MostPower(best.power, best.speed, best.torque),
        curve=[*map(at, speeds), last],
    )


def _motor(arm: Arm, name: str) -> tuple[int, Motor]:
    """The index of a joint, and its motor."""
    names = arm.joint_names
    where = spelled(f"--joint {name}", f"joint {name}")
    if name not in names:
        from armsim.files.faults import suggestion

        raise UsageError.of(where, f"a joint of {arm.name}", name, suggestion(name, names, "joints are"))
    joint = arm.joints[names.index(name)]
    if joint.electric_motor is None:
        found = "no motor on it" if joint.motor is None else "a motor without them, of which only the torque is known"
        raise UsageError.of(
            where,
            "a joint with a motor whose torque constant Kp and resistance Ra are known",
            found,
            f"give {name} a `motor: {{Kp: ..., Ra: ...}}` in the robot file",
        )
    return names.index(name), joint.electric_motor


def _voltage(joint: str, motor: Motor, given: float | None) -> float:
    """The voltage given, or else the motor's limit."""
    limit = motor.limits.voltage
    where, example = spelled("--voltage", "voltage"), spelled("--voltage 24", "voltage=24")
    if given is None and limit is None:
        raise UsageError.of(
            where,
            f"the voltage that drives the motor of {joint}",
            "none, and no limit of voltage",
            f"write for example {example}, or `motor: {{limits: {{voltage: 24}}}}` in the robot file",
        )
    if given is not None and not 0.0 < real_number(where, given) <= BOUNDS["V"].largest:
        raise UsageError.of(
            f"{where} {given:g}",
            f"a positive voltage, {BOUNDS['V'].largest:g} V at most",
            f"{given:g}",
            f"the direction is that in which the arm is held; write for example {example}",
        )
    if given is not None and limit is not None and given > limit:
        raise UsageError.of(
            f"{where} {given:g}",
            f"at most {limit:g} V, the limit of the motor of {joint}",
            f"{given:g} V",
            f"take at most {limit:g} V, or change the limit in the robot file",
        )
    return float(cast(float, limit) if given is None else given)


def _point_at(joint: Joint, motor: Motor, volts: float, direction: float) -> Callable[[float], Point]:
    """Torque, current and power over speed [rad/s or m/s], without the joint's stops and the motor's limit of speed."""
    unbound = replace(joint, limit=None, spring=None, motor=replace(motor, limits=replace(motor.limits, speed=None)))
    sense = direction * math.copysign(1.0, motor.gear)

    def at(speed: float) -> Point:
        drive = driven(unbound, "voltage", sense * volts, 0.0, direction * speed)
        against = dry_bounds(unbound, drive.motor, direction * speed)[0 if direction > 0.0 else 1]
        torque = direction * (drive.total + against)
        assert drive.current is not None  # it has an electric motor
        current = sense * drive.current
        electrical = current * dc.voltage_for(motor, current, sense * direction * speed)
        power = torque * speed
        efficiency = power / electrical if electrical > 0.0 else 0.0
        return Point(speed, torque, current, power, electrical, efficiency)

    return at


def _knee(joint: Joint, motor: Motor, volts: float, direction: float) -> float:
    """The speed from which on the motor's limits of current and torque no longer bind [rad/s or m/s]; 0 if they never do."""
    unlimited = replace(motor, limits=replace(motor.limits, current=None, torque=None))
    limited, free = (_point_at(joint, of, volts, direction) for of in (motor, unlimited))
    return _where_zero(lambda speed: free(speed).torque - limited(speed).torque)


def _holding(joint: Joint, motor: Motor, torque: float, stall: float) -> Holding:
    """Voltage, current and heat of holding a torque, and their shares of stall torque and limits."""
    voltage, current = dc.demand(motor, torque, 0.0)
    taken = needs(joint, 0.0, torque, voltage, current)
    heat, nominal, thermal = cast(float, motor.Ra) * current * current, motor.nominal_current, motor.thermal
    return Holding(
        torque,
        voltage,
        current,
        heat,
        of_stall=abs(torque) / stall if stall > 0.0 else None if torque else 0.0,
        of_limits={need.quantity: need.needed / need.limit for need in taken if need.quantity != "speed"},
        of_nominal=None if nominal is None else abs(current) / nominal,
        winding=None if thermal is None else thermal.ambient + rise_at(thermal, heat),
        winding_max=None if thermal is None else thermal.max,
    )


def _where_zero(f: Callable[[float], float]) -> float:
    """The root of a decreasing function, by bisection; 0 if it is not positive at 0, inf if it is beyond `FASTEST`."""
    if not f(0.0) > 0.0:
        return 0.0
    high = 1.0
    while f(high) > 0.0:
        high *= 2.0
        if high > FASTEST:
            return math.inf
    low = 0.0
    for _ in range(ROUNDS):
        middle = (low + high) / 2.0
        if not low < middle < high:
            break
        low, high = (middle, high) if f(middle) > 0.0 else (low, middle)
    return high
