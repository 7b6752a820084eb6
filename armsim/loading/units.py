"""Numbers that are valid, but look as if they were written in another unit: warnings, with the number that was probably meant."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from armsim import document
from armsim.document.base import numbers
from armsim.files.faults import Fault, join
from armsim.formulas.quantity import Quantity, plain_number
from armsim.loading.build import build_body
from armsim.loading.settle import settle
from armsim.model import JOINT_TYPES, Arm, JointType

TURN = math.tau * (1 + 1e-3)
LONGEST = 30.0  # m: of robots in space 18, of two links in millimetres hundreds
HEAVIEST = 2000.0  # kg of a link for each metre of the arm, and at least so many: of the largest robots 1000
STRONGEST = 500.0  # N·m/A at a joint that turns: of the largest geared motors 300
STRONGEST_MOTOR = 5.0  # N·m/A of a motor that has a gear: direct drives have more
GEARED = 5.0
SLOWEST_GEAR = 0.5  # turns of the motor per turn of the joint
ROTOR = 100.0  # times the arm's own inertia, mass × length²; of geared arms up to 10
LEAST_ROTOR, LEAST_ROTOR_OF_SLIDE = 100.0, 1e4  # kg·m² and kg at the joint: never a slip below
PI_DIGITS, QUARTER_DIGITS = 5e-5, 6e-4  # relative: 0.5236 is pi/6 to four digits, 1.57 pi/2 to three


def other_units(arm: Arm, robot: document.Robot, length: float, path: str = "") -> Iterator[Fault]:
    """Warnings of a robot file: degrees for radians and the reverse, mm for m, g for kg, mN·m, g·cm², a gear upside down.

    Args:
        arm: The arm, on numbers.
        robot: What it was built from.
        length: Of the stretched arm [m].
        path: Of the robot, within another file.
    """
    degrees = robot.degrees
    for key, frame in (("base", robot.base), ("tool", robot.tool)):
        for i, angle in enumerate(frame.rpy):
            yield from angle_doubts(angle, join(path, f"{key}.rpy[{i}]"), degrees)
    yield from _length(robot, length, path)
    for i, joint in enumerate(robot.joints):
        kind, where = JOINT_TYPES[joint.type], join(path, f"joints[{i}]")
        for place, angle in numbers(joint.frame, f"{where}.{robot.convention}"):
            if angle.kind.angle:
                yield from angle_doubts(angle, place, degrees)
        if one_turn(kind):
            limits = joint.limits
            found = {} if joint.initial is None else {"initial": joint.initial}  # a joint that mimics another has none
            found |= {} if limits is None else {"limits.lower": limits.lower, "limits.upper": limits.upper}
            for key, angle in found.items():
                if math.isfinite(angle.value):
                    yield from _position(angle, f"{where}.{key}", degrees)
        if joint.motor is not None:
            own = arm.mass * (metres(length) ** 2 if kind.turns else 1.0)
            yield from _motor(joint.motor, f"{where}.motor", kind, own)


def other_units_of_scenario(arm: Arm, scenario: document.Scenario) -> Iterator[Fault]:
    """Warnings of a scenario file: degrees for radians and the reverse in where joints start and what is held.

    Args:
        arm: Its arm, on numbers.
        scenario: The scenario.
    """
    degrees, control = scenario.degrees, scenario.control
    target = None if control is None else control.target
    via = None if control is None or control.reference is None else control.reference.via
    for path, angles in (
        ("initial.q", scenario.initial.q),
        ("control.target", target),
        *((f"control.reference.via[{k}]", point) for k, point in enumerate(via or ())),
    ):
        for i, (joint, angle) in enumerate(zip(arm.joints, angles or ())):
            limit = joint.limit
            within = limit is not None and math.isfinite(limit.lower + limit.upper) and limit.holds(angle.value)
            if one_turn(joint.kind) and (degrees or not within):
                yield from _position(angle, f"{path}[{i}]", degrees, math.inf if within else 2 * TURN)


def metres(length: float) -> float:
    """The length of an arm [m], where it is given in metres or probably in millimetres."""
    return length / 1e3 if length > LONGEST else length


def one_turn(kind: JointType) -> bool:
    """Whether a joint seldom turns more than once: a screw does."""
    return kind.turns and not kind.has_pitch


def angle_doubts(angle: Quantity, path: str, degrees: bool, bound: float = TURN) -> Iterator[Fault]:
    """An angle beyond a bound [rad], or in degrees one that is a simple part of pi."""
    x, key = angle.value, path.rsplit(".", 1)[-1]
    if angle.unit or (angle.formula is not None and "pi" in angle.formula.names):
        return
    written = f"{key.split('[')[0]}: " if "[" not in key else ""
    if not degrees and abs(x) > bound:
        yield Fault(
            angle.place,
            path,
            f"an angle in radians, {bound:.4g} at most",
            f"{plain_number(x)} rad",
            f"write degrees with `units: {{angle: deg}}`, or radians: {plain_number(x)} degrees are `{written}{in_pi(x)}`",
        )
    elif degrees and (part := part_of_pi(x)) is not None:
        yield Fault(
            angle.place,
            path,
            "an angle in degrees, as `units` says",
            f"{angle.text} deg, which looks like {_text(part)} in radians",
            f"write `{written}{plain_number(float(180 * part))}`",
        )


def _position(angle: Quantity, path: str, degrees: bool, bound: float = math.inf) -> Iterator[Fault]:
    """A joint position as `angle_doubts`; in radians one that is beyond a turn and a round number of degrees, too."""
    round_number = not degrees and abs(angle.value) > TURN and angle.value % 5 == 0
    return angle_doubts(angle, path, degrees, TURN if round_number else bound)


def part_of_pi(x: float) -> Fraction | None:
    """The part of pi that a number is to three digits (quarters) or four (twelfths), up to two turns; None if it is none."""
    for denominator, digits in ((4, QUARTER_DIGITS), (12, PI_DIGITS)):
        parts = round(x * denominator / math.pi)
        if 0 < abs(parts) <= 2 * denominator and abs(x * denominator / math.pi / parts - 1) < digits:
            return Fraction(parts, denominator)
    return None


def in_pi(degrees: float) -> str:
    """Degrees as a formula of pi."""
    part = Fraction(degrees / 180).limit_denominator(360)
    return _text(part) if abs(float(part) * 180 - degrees) < 1e-9 * abs(degrees) else f"{plain_number(degrees)}*pi/180"


def _text(part: Fraction) -> str:
    """A multiple of pi, as formulas have it."""
    whole = {1: "pi", -1: "-pi"}.get(part.numerator, f"{part.numerator}*pi")
    return whole if part.denominator == 1 else f"{whole}/{part.denominator}"


def _length(robot: document.Robot, length: float, path: str) -> Iterator[Fault]:
    """An arm so long that its lengths are probably millimetres; the fault is at the longest of them."""
    if not length > LONGEST:
        return
    found = {join(path, f"tool.xyz[{i}]"): x for i, x in enumerate(robot.tool.xyz)}
    for i, joint in enumerate(robot.joints):
        where = join(path, f"joints[{i}]")
        found |= {at: x for at, x in numbers(joint.frame, f"{where}.{robot.convention}") if x.kind.unit == "m"}
        if JOINT_TYPES[joint.type].slides:
            found |= {} if joint.initial is None else {f"{where}.initial": joint.initial}
            if joint.limits is not None:
                found |= {f"{where}.limits.lower": joint.limits.lower, f"{where}.limits.upper": joint.limits.upper}
    finite = {where: x for where, x in found.items() if math.isfinite(x.value)}
    where = max(finite, key=lambda where: abs(finite[where].value))
    longest = finite[where]
    key = f"{where.rsplit('.', 1)[-1]}: " if "[" not in where.rsplit(".", 1)[-1] else ""
    yield Fault(
        longest.place,
        where,
        f"an arm of {LONGEST:g} m at most",
        f"{plain_number(longest.value)} m here, and {length:.4g} m from the base to the tool",
        _slip(
            longest,
            "lengths are in metres: "
            f"divided by 1000 it would be `{key}{longest.value / 1e3:.6g}`, and {length / 1e3:.4g} m in all",
        ),
    )


def too_heavy(bodies: Mapping[str, document.Document], owner: str, length: float) -> Iterator[Fault]:
    """A link or a payload so heavy that its mass is probably in grams; the fault is at its heaviest body.

    Args:
        bodies: What it is made of, by path.
        owner: What it is, for the message.
        length: Of the stretched arm [m].
    """
    masses = {path: float(build_body(settle(body)).mass) for path, body in bodies.items()}
    length = metres(length)
    total, bound = sum(masses.values()), HEAVIEST * max(length, 1.0)
    if total > bound:
        path = max(masses, key=masses.__getitem__)
        body = bodies[path]
        number = mass_of(body)
        key = "mass" if number is body.entries["mass"] else "density"
        yield Fault(
            number.place,
            join(join(path, body.tag) if body.tag else path, key),
            f"a mass of {bound:.4g} kg at most, for an arm {length:.3g} m long",
            f"{total:.6g} kg, for {owner}",
            _slip(
                number,
                f"masses are in kilograms: divided by 1000 it would be `{key}: {number.value / 1e3:.6g}`",
            ),
        )


def mass_of(body: document.Document) -> Quantity:
    """A body's mass, or its density."""
    number: Quantity = body.entries["mass"] or body.entries["density"]
    return number


def _motor(motor: document.Motor, path: str, kind: JointType, own: float) -> Iterator[Fault]:
    """A gear that is upside down, a torque constant in mN·m/A, a rotor's inertia in g·cm².

    Args:
        motor: The motor.
        path: Its path.
        kind: The joint's type.
        own: The scale of the arm's own inertia at the joint [kg·m² or kg].
    """
    gear, Kp, rotor = motor.gear, motor.Kp, motor.rotor_inertia
    ratio = abs(gear.value)
    if ratio < SLOWEST_GEAR:
        yield Fault(
            gear.place,
            f"{path}.gear",
            f"turns of the motor per turn of the joint, {SLOWEST_GEAR:g} or more",
            gear.text if gear.formula is None else f"{gear.text} = {gear.value:.6g}",
            f"turned over it would be `gear: {1 / gear.value:.6g}`",
        )
        ratio = 1 / ratio
    strong = kind.turns and Kp is not None and Kp.value * ratio > STRONGEST
    if strong or (Kp is not None and ratio >= GEARED and Kp.value > STRONGEST_MOTOR):
        bound = min(STRONGEST_MOTOR, STRONGEST / ratio) if kind.turns else STRONGEST_MOTOR
        yield Fault(
            Kp.place,
            f"{path}.Kp",
            f"a torque constant of {bound:.3g} N·m/A at most, before a gear of {plain_number(ratio)}",
            Kp.of("N·m/A"),
            _slip(Kp, f"data sheets have mN·m/A: divided by 1000 it would be `Kp: {Kp.value / 1e3:.6g}`"),
        )
    felt, least = rotor.value * ratio * ratio, LEAST_ROTOR if kind.turns else LEAST_ROTOR_OF_SLIDE
    if felt > max(ROTOR * own, least):
        unit = "kg·m²" if kind.turns else "kg"
        yield Fault(
            rotor.place,
            f"{path}.rotor_inertia",
            f"{max(ROTOR * own, least):.3g} {unit} at most, seen through the gear",
            f"{rotor.of('kg·m²')} at the motor, {felt:.3g} {unit} at the joint",
            _slip(rotor, f"data sheets have g·cm²: times 1e-7 it would be `rotor_inertia: {rotor.value * 1e-7:.6g}`"),
        )


def _slip(number: Quantity, mend: str) -> str:
    """How to mend a number that is out by a power of ten: as told, unless its unit is written behind it."""
    return f"check its unit, {number.unit}" if number.unit else mend
