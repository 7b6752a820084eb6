"""The robot file: every key, with unit, default and meaning. This listing is the authority on the format."""

from __future__ import annotations

import math
from typing import Any

from armsim.files.document import Map, Node, Place, Scalar, Seq
from armsim.formulas.quantity import Context
from armsim.model import JOINT_TYPES
from armsim.spec import other_words as words
from armsim.spec.bodies import BODIES, Payload
from armsim.spec.kinds import Format
from armsim.spec.motor import DryFriction, JointCoulombKeys, MotorKeys
from armsim.spec.schema import Choice, Kind, List, Number, OneOf, Parameters, Record, Relation, Text, join

FORMAT = "armsim/robot/1"
MOST_JOINTS = 100  # a file could hold thousands, and the time for questions grows with the cube of their number
NO_VECTOR = (0.0, 0.0, 0.0)


class RobotUnitKeys(Record):
    """The units of a file's angles; lengths are metres and masses kilograms always."""

    angle = Choice(
        "rad",
        "deg",
        default="rad",
        doc="unit of joint angles, rates and limits, alpha, theta and rpy; never of gains, stiffness or damping",
    )


class FrameKeys(Record):
    """A pose: turn about fixed axes, then shift."""

    xyz = List(Number("m"), length=3, default=NO_VECTOR, doc="position of the origin", example="[0, 0, 0.1]")
    rpy = List(
        Number("rad", angle=True),
        length=3,
        default=NO_VECTOR,
        doc="roll about x, pitch about y, yaw about z, fixed axes: Rz(yaw) Ry(pitch) Rx(roll), as in URDF",
        example="[0, 0, 0]",
    )


class ModifiedDHKeys(Record):
    """Craig's modified DH parameters of one joint: T = Rx(alpha) Tx(a) Rz(theta) Tz(d) from the link before.

    The variable (theta of a revolute joint, d of a prismatic one) gives the offset that is added to the joint position. Of a
    screw both are constants: what it turns and slides is added to them.
    """

    other_words = words.DH

    a = Number("m", default=0.0, doc="length along x of the link before (a of row i-1 in Craig's table)")
    alpha = Number("rad", angle=True, default=0.0, doc="twist about x of the link before (alpha of row i-1)")
    d = Number("m", default=0.0, doc="offset along the joint's z axis")
    theta = Number("rad", angle=True, default=0.0, doc="angle about the joint's z axis")


class StandardDHKeys(Record):
    """Standard (distal) DH parameters of one joint: T = Rz(theta) Tz(d) Tx(a) Rx(alpha) from the link before."""

    other_words = words.DH

    a = Number("m", default=0.0, doc="length along the new x axis")
    alpha = Number("rad", angle=True, default=0.0, doc="twist about the new x axis")
    d = Number("m", default=0.0, doc="offset along z of the link before")
    theta = Number("rad", angle=True, default=0.0, doc="angle about z of the link before")


class OriginKeys(FrameKeys):
    """A joint as URDF gives it: where its frame stands in the link before, and its axis in that frame."""

    axis = List(Number(), length=3, doc="direction of the joint's axis; any length but 0", example="[0, 0, 1]")

    def check(self, data: dict[str, Any], node: Map, path: str, context: Context) -> None:
        axis = data["axis"]
        if axis is not None and all(axis) and math.hypot(*(x.value for x in axis)) < 1e-9:
            context.report.add(
                axis[0].place,
                f"{path}.axis",
                "a direction",
                "a vector of length 0",
                "write for example `axis: [0, 0, 1]`",
            )


FRAMES: dict[str, Kind] = {
    "mdh": ModifiedDHKeys(default=None, doc="with `convention: mdh`", example="{a: 0, alpha: 0, d: 0.35, theta: 0}"),
    "dh": StandardDHKeys(default=None, doc="with `convention: dh`", example="{a: 0, alpha: pi/2, d: 0.35, theta: 0}"),
    "origin": OriginKeys(
        default=None, doc="with `convention: origin`", example="{xyz: [0, 0, 0.35], rpy: [0, 0, 0], axis: [0, 0, 1]}"
    ),
}


RANGE = Relation(("lower", "upper"), lambda lower, upper: [lower < upper], "lower smaller than upper")


class LimitKeys(Record):
    """The range of a joint. With a stiffness there are stops at its ends; without, it is checked and reported only."""

    other_words = words.LIMITS

    lower = Number("rad or m", angle=True, infinite=True, default=-math.inf, doc="least joint position")
    upper = Number("rad or m", angle=True, infinite=True, default=math.inf, doc="greatest joint position")
    stiffness = Number("N·m/rad or N/m", minimum=0, default=None, doc="of the stops", note="no stops", example="1000")
    damping = Number("N·m·s/rad or N·s/m", minimum=0, default=0.0, doc="of the stops", example="10")

    relations = (RANGE,)

    def check(self, data: dict[str, Any], node: Map, path: str, context: Context) -> None:
        if not RANGE.holds(data):
            lower, upper = RANGE.numbers(data)
            found = f"lower {lower.text}, upper {upper.text}"
            mend = "swap them" if lower.value > upper.value else "leave a range between them"
            context.report.add(lower.place, path, RANGE.expected, found, mend)


class FrictionKeys(Record):
    """Friction on the joint's side of the gear."""

    other_words = words.FRICTION

    viscous = Number("N·m·s/rad or N·s/m", minimum=0, default=0.0, doc="viscous friction", example="0.1")
    coulomb = DryFriction("N·m or N", JointCoulombKeys(), example="0.5")


WITHIN = Relation(
    ("limits.lower", "initial", "limits.upper"),
    lambda lower, q, upper: [lower <= q, q <= upper],
    "a position within the limits",
    "initial",
)
SLIDES = Relation(("pitch",), lambda pitch: [abs(pitch) > 0.0], "a number of m other than 0", "pitch")


class JointKeys(Record):
    """A joint and the link that it moves."""

    other_words = words.JOINT

    name = Text(name=True, doc="labels columns and messages", example="R1")
    type = Choice(*JOINT_TYPES, doc="turns about its z axis, slides along it, or both at once", example="revolute")
    pitch = Number(
        "m",
        divides=True,
        default=None,
        doc="of a screw: how far it slides in a turn; negative: left-handed",
        example="0.005",
    )
    mdh = FRAMES["mdh"]
    dh = FRAMES["dh"]
    origin = FRAMES["origin"]
    initial = Number("rad or m", angle=True, default=0.0, doc="joint position at which the arm is given", example="0")
    limits = LimitKeys(default=None, doc="range and stops", note="no limits")
    friction = FrictionKeys(default={}, doc="friction of the joint", note="none")
    bodies = List(
        OneOf(BODIES, words.BODY, example="point: {mass: 1, center: [0.2, 0, 0]}"),
        doc="what the link is made of, summed",
        example="[{point: {mass: 1, center: [0.2, 0, 0]}}]",
    )
    motor = MotorKeys(default=None, doc="its motor", note="no motor")

    relations = (WITHIN, SLIDES)

    def read(self, node: Node, path: str, context: Context) -> dict[str, Any] | None:
        kind = node.get("type") if isinstance(node, Map) else None
        known = JOINT_TYPES.get(kind.text) if isinstance(kind, Scalar) else None
        context.turns = () if known is None else (bool(known.turns),)
        data = super().read(node, path, context)
        context.turns = ()
        return data

    def check(self, data: dict[str, Any], node: Map, path: str, context: Context) -> None:
        self._check_emulated(data, path, context)
        self._check_pitch(data, node, path, context)
        if not WITHIN.holds(data) and RANGE.holds(data["limits"]):
            lower, initial, upper = WITHIN.numbers(data)
            expected = f"{WITHIN.expected}, {lower.shown} to {upper.shown}"
            mend = "give an initial position within the limits, or correct the limits"
            kind = JOINT_TYPES.get(data["type"])
            one_turn = kind is not None and kind.turns and not kind.has_pitch  # a screw goes through many
            if one_turn and not context.degrees and not initial.unit and abs(initial.value) > math.tau:
                mend = "angles are radians, unless the file says `units: {angle: deg}`"
            context.report.add(initial.place, f"{path}.initial", expected, initial.shown, mend)

    def _check_pitch(self, data: dict[str, Any], node: Map, path: str, context: Context) -> None:
        """Report a screw without a nonzero pitch, and a pitch of any other joint."""
        kind, pitch = JOINT_TYPES.get(data["type"]), data["pitch"]
        if kind is None or (pitch is None and node.get("pitch") is not None):  # reported already
            return
        path = f"{path}.pitch"
        if kind.has_pitch and pitch is None:
            mend = "write how far it slides in a turn, for example `pitch: 0.005`"
            context.report.add(node.place, path, "the pitch of a screw, in m", "nothing: the key is missing", mend)
        elif kind.has_pitch and not SLIDES.holds(data):
            mend = "write how far it slides in a turn, for example `pitch: 0.005`, or `type: revolute`"
            context.report.add(pitch.place, path, SLIDES.expected, f"{pitch.text}: it would not slide", mend)
        elif not kind.has_pitch and pitch is not None:
            mend = "write `type: screw`, or leave the pitch out"
            context.report.add(pitch.place, path, f"no pitch on a {kind.name} joint", pitch.text, mend)

    def _check_emulated(self, data: dict[str, Any], path: str, context: Context) -> None:
        """Report keys of a joint that its motor's `model: dynamechs` excludes."""
        motor, friction = data["motor"], data["friction"]
        if motor is None or friction is None or motor["model"] != "dynamechs":
            return
        for key, value in friction.items():
            if isinstance(value, dict) or (value is not None and value.value):
                place = next(iter(value.values())).place if isinstance(value, dict) else value.place
                expected = "no friction beside DynaMechs' motor, which has its own"
                mend = f"give the motor the friction: `motor: {{{key}: ...}}`"
                context.report.add(place, f"{path}.friction.{key}", expected, f"`{key}` on the joint's side", mend)


class RobotKeys(Record):
    """A serial arm."""

    other_words = words.ROBOT

    format = Format(FORMAT, doc="format and version of this file", example=FORMAT)
    name = Text(doc="the robot's name", example="arm5")
    gravity = List(
        Number("m/s²"),
        length=3,
        default=(0.0, 0.0, -9.81),
        doc="free-fall acceleration in the world",
        example="[0, 0, -9.81]",
    )
    convention = Choice(
        "mdh",
        "dh",
        "origin",
        default="mdh",
        doc="how the joints' frames are given: Craig's modified DH, standard DH, or xyz, rpy and axis",
    )
    units = RobotUnitKeys(default={}, doc="units of this file")
    parameters = Parameters(
        default={}, doc="named numbers, for use in expressions of numbers, pi and one another", example="{upper: 0.38}"
    )
    base = FrameKeys(default={}, doc="the arm's base in the world")
    joints = List(
        JointKeys(),
        least=1,
        most=MOST_JOINTS,
        doc=f"from base to tip, {MOST_JOINTS} at most",
        example="[{name: R1, type: revolute, mdh: {...}, bodies: [...]}]",
    )
    tool = FrameKeys(default={}, doc="the tool, in the last link's frame")
    payload = Payload(default=None, doc="what the tool carries, in the tool frame", note="nothing")

    def check(self, data: dict[str, Any], node: Map, path: str, context: Context) -> None:
        joints = node.get("joints")
        if not isinstance(joints, Seq):
            return
        convention = data["convention"]
        names: dict[str, Place] = {}
        for i, joint in enumerate(joints.items):
            if not isinstance(joint, Map):
                continue
            where = join(path, f"joints[{i}]")
            if convention is not None:
                self._check_frame(joint, where, convention, context)
            read = data["joints"][i] if data["joints"] else None
            name = read["name"] if read else None
            if name in names:
                first = names[name].line
                expected = f"a name of its own for each joint (the first `{name}` is on line {first})"
                place = joint.get("name").place  # type: ignore[union-attr]  # it has been read
                context.report.add(place, f"{where}.name", expected, f"a second `{name}`", "rename one of them")
            elif name is not None:
                names[name] = joint.get("name").place  # type: ignore[union-attr]  # it has been read

    def _check_frame(self, joint: Map, path: str, convention: str, context: Context) -> None:
        """Report a joint whose frame is absent, or not of the robot's convention."""
        if joint.get(convention) is None:
            FRAMES[convention].missing(joint.place, f"{path}.{convention}", context)
        for other in FRAMES:
            if other != convention and joint.get(other) is not None:
                context.report.add(
                    joint.entries[other][0],
                    f"{path}.{other}",
                    f"`{convention}`, the convention of this file",
                    f"`{other}`",
                    f"write `{convention}`, or `convention: {other}` for the whole file",
                )


def read_robot_node(node: Node, context: Context, path: str = "") -> dict[str, Any] | None:
    """The data of a robot, from the root node of its file.

    Units and parameters come first, because all other numbers depend on them.

    Args:
        node: The root.
        context: Takes faults; its units and parameters are set here.
        path: Of the node, for a robot within another file.
    """
    from armsim.spec.parameters import read_parameters

    robot = RobotKeys()
    context.named = True
    if isinstance(node, Map):
        units = node.get("units")
        angle = units.get("angle") if isinstance(units, Map) else None
        context.degrees = getattr(angle, "value", None) == "deg"
        context.parameters = read_parameters(node.get("parameters"), join(path, "parameters"), context)
    return robot.read(node, path, context)


def joint_names(data: dict[str, Any]) -> tuple[tuple[str, str], ...] | None:
    """Name and type of every joint; None if a fault leaves one unknown."""
    joints = data["joints"]
    if joints is None or any(joint is None or joint["name"] is None or joint["type"] is None for joint in joints):
        return None
    return tuple((joint["name"], joint["type"]) for joint in joints)
