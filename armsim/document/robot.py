"""The robot file: every key, with unit, default and meaning. This listing is the authority on the format."""

from __future__ import annotations

import math
import os
import re
from functools import partial
from typing import Any, Self

from armsim import model
from armsim.document import other_words as words
from armsim.document.bodies import BODIES, PayloadBody, Payloads
from armsim.document.composite import (
    ByName,
    Choice,
    Document,
    Kind,
    List,
    Number,
    OneOf,
    Parameters,
    Relation,
    Rule,
    Subdocument,
    Text,
    check_names,
    join,
)
from armsim.document.kinds import Format
from armsim.document.motor import DryFriction, JointCoulomb, Motor
from armsim.document.paths import parse_path
from armsim.files.faults import suggestion
from armsim.files.nodes import Map, Node, Scalar, shown
from armsim.files.source import beside
from armsim.formulas.quantity import Context
from armsim.model import BASE, JOINT_TYPES

FORMAT = "armsim/robot/1"
MOST_JOINTS = 100  # a file could hold thousands, and the time for questions grows with the cube of their number
NO_VECTOR = (0.0, 0.0, 0.0)
RESERVED_FRAMES = ("tool", BASE, "world")
UNIT = re.compile(r"(.*_)?((m|rad|deg)(_s2?)?|Nm?)")  # x_a_m would be x of a_m, without its unit, and x_m of a


class RobotUnits(Document):
    """The units of a file's angles; lengths are metres and masses kilograms always."""

    angle = Choice(
        "rad",
        "deg",
        default="rad",
        doc="unit of joint angles, rates and limits, alpha, theta and rpy; never of gains, stiffness or damping",
    )


class Frame(Document):
    """A pose: turn about fixed axes, then shift."""

    xyz = List(Number("m"), length=3, default=NO_VECTOR, doc="position of the origin", example="[0, 0, 0.1]")
    rpy = List(
        Number("rad", angle=True),
        length=3,
        default=NO_VECTOR,
        doc="roll about x, pitch about y, yaw about z, fixed axes: Rz(yaw) Ry(pitch) Rx(roll), as in URDF",
        example="[0, 0, 0]",
    )


class LinkFrame(Document):
    """A frame that is fixed in a link."""

    link = Text(doc="name of the joint that moves the link", example="R5")
    xyz, rpy = Frame.xyz, Frame.rpy


class Tool(LinkFrame):
    """The tool's frame."""

    link = Text(default=None, doc="name of the joint that moves the link", note="the last joint", example="R5")


class ModifiedDH(Document):
    """Craig's modified DH parameters of one joint: T = Rx(alpha) Tx(a) Rz(theta) Tz(d) from the link before.

    The variable (theta of a revolute joint, d of a prismatic one) gives the offset that is added to the joint position. Of a
    screw both are constants: what it turns and slides is added to them.
    """

    other_words = words.DH

    a = Number("m", default=0.0, doc="length along x of the link before (a of row i-1 in Craig's table)")
    alpha = Number("rad", angle=True, default=0.0, doc="twist about x of the link before (alpha of row i-1)")
    d = Number("m", default=0.0, doc="offset along the joint's z axis")
    theta = Number("rad", angle=True, default=0.0, doc="angle about the joint's z axis")


class StandardDH(Document):
    """Standard (distal) DH parameters of one joint: T = Rz(theta) Tz(d) Tx(a) Rx(alpha) from the link before."""

    other_words = words.DH

    a = Number("m", default=0.0, doc="length along the new x axis")
    alpha = Number("rad", angle=True, default=0.0, doc="twist about the new x axis")
    d = Number("m", default=0.0, doc="offset along z of the link before")
    theta = Number("rad", angle=True, default=0.0, doc="angle about z of the link before")


class Origin(Frame):
    """A joint as URDF gives it: where its frame stands in the link before, and its axis in that frame."""

    axis = List(
        Number(structure=True),
        length=3,
        structure=True,
        doc="direction of the joint's axis; any length but 0",
        example="[0, 0, 1]",
    )

    def check(self, path: str, context: Context) -> None:
        axis: Any = self.axis
        if axis is not None and all(axis) and math.hypot(*(x.value for x in axis)) < 1e-9:
            context.report.add(
                axis[0].place,
                f"{path}.axis",
                "a direction",
                "a vector of length 0",
                "write for example `axis: [0, 0, 1]`",
            )


FRAMES: dict[str, Subdocument[Any]] = {
    "mdh": Subdocument(
        ModifiedDH, default=None, doc="with `convention: mdh`", example="{a: 0, alpha: 0, d: 0.35, theta: 0}"
    ),
    "dh": Subdocument(
        StandardDH, default=None, doc="with `convention: dh`", example="{a: 0, alpha: pi/2, d: 0.35, theta: 0}"
    ),
    "origin": Subdocument(
        Origin,
        default=None,
        doc="with `convention: origin`",
        example="{xyz: [0, 0, 0.35], rpy: [0, 0, 0], axis: [0, 0, 1]}",
    ),
}


RANGE = Relation(("lower", "upper"), lambda lower, upper: [lower < upper], "lower smaller than upper")


class Limits(Document):
    """The range of a joint. With a stiffness there are stops at its ends; without, it is checked and reported only."""

    other_words = words.LIMITS

    lower = Number(
        "rad or m", angle=True, infinite=True, absent=-math.inf, default=-math.inf, doc="least joint position"
    )
    upper = Number(
        "rad or m", angle=True, infinite=True, absent=math.inf, default=math.inf, doc="greatest joint position"
    )
    stiffness = Number("N·m/rad or N/m", minimum=0, default=None, doc="of the stops", note="no stops", example="1000")
    damping = Number("N·m·s/rad or N·s/m", minimum=0, default=0.0, doc="of the stops", example="10")

    relations = (RANGE,)

    def check(self, path: str, context: Context) -> None:
        if not RANGE.holds(self):
            lower, upper = RANGE.numbers(self)
            found = f"lower {lower.text}, upper {upper.text}"
            mend = "swap them" if lower.value > upper.value else "leave a range between them"
            context.report.add(lower.place, path, RANGE.expected, found, mend)


class Friction(Document):
    """Friction on the joint's side of the gear."""

    other_words = words.FRICTION

    viscous = Number("N·m·s/rad or N·s/m", minimum=0, default=0.0, doc="viscous friction", example="0.1")
    coulomb = DryFriction("N·m or N", JointCoulomb, example="0.5")


class Mimic(Document):
    """A coupling: a joint's position is ratio times that of another, plus an offset."""

    joint = Text(doc="name of the joint that leads, which mimics none", example="F1")
    ratio = Number(
        nonzero=True, default=1.0, doc="of the positions, in rad or m; negative: the other way", example="-1"
    )
    offset = Number("rad or m", angle=True, default=0.0, doc="position where the other's is 0", example="0")


WITHIN = Relation(
    ("limits.lower", "initial", "limits.upper"),
    lambda lower, q, upper: [lower <= q, q <= upper],
    "a position within the limits",
    "initial",
)
PITCH = "write how far it slides in a turn, for example `pitch: 0.005`"


class Spring(Document):
    """A spring at a joint, linear, without damping."""

    stiffness = Number("N·m/rad or N/m", minimum=0, doc="its stiffness", example="50")
    rest = Number("rad or m", angle=True, default=0.0, doc="joint position at which it is slack", example="0")


class Visual(Frame):
    """A mesh that pictures and pages draw in place of a link's solids; physics knows nothing of it."""

    mesh = Text(of_file=True, doc="the file, .stl or .obj, relative to this one", example="meshes/upper.stl")
    scale = List(
        Number(nonzero=True),
        length=3,
        single=True,
        default=(1.0, 1.0, 1.0),
        doc="m of the file's unit, along each of its axes or all; 0.001 of a file in millimetres",
        example="0.001",
    )

    @property
    def file(self) -> str:
        """The absolute path of its file."""
        folder = os.path.dirname(self.value_node("mesh").place.source)
        return os.path.abspath(beside(folder, self.mesh))

    @property
    def portable(self) -> Self:
        return self if self.node is None else self.replaced(mesh=self.file)


SLIDES = Relation(("pitch",), lambda pitch: [abs(pitch) > 0.0], "a number of m other than 0", "pitch")


class Joint(Document):
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
    parent = Text(
        default=None,
        doc="name of an earlier joint, whose link carries it, or `base`",
        note="the joint before",
        example="R5",
    )
    mimic = Subdocument(
        Mimic,
        default=None,
        doc="another joint, which decides its position",
        note="none",
        example="{joint: F1, ratio: -1}",
    )
    initial = Number(
        "rad or m",
        angle=True,
        default=0.0,
        given_by="mimic",
        doc="joint position at which the arm is given",
        example="0",
    )
    limits = Subdocument(Limits, default=None, doc="range and stops", note="no limits")
    friction = Subdocument(Friction, default={}, doc="friction of the joint", note="none")
    spring = Subdocument(Spring, default=None, doc="a spring, which pulls the joint to a position", note="none")
    bodies = List(
        OneOf(BODIES, words.BODY, example="point: {mass: 1, center: [0.2, 0, 0]}"),
        doc="what the link is made of, summed",
        example="[{point: {mass: 1, center: [0.2, 0, 0]}}]",
    )
    motor = Subdocument(Motor, default=None, doc="its motor", note="no motor")
    visual = List(
        Subdocument(Visual),
        single=True,
        structure=True,
        default=None,
        doc="a mesh that is drawn in place of the bodies, or a list of them",
        note="the bodies",
        example="{mesh: meshes/upper.stl, scale: 0.001}",
    )

    rules = (
        Rule("type", tuple(name for name, kind in JOINT_TYPES.items() if kind.has_pitch), needs=("pitch",)),
        Rule("type", tuple(name for name, kind in JOINT_TYPES.items() if not kind.has_pitch), without=("pitch",)),
        Rule(given=("mimic",), without=("initial",)),
    )
    relations = (WITHIN, SLIDES)

    @property
    def frame(self) -> Any:
        """Its frame: a `ModifiedDH`, a `StandardDH` or an `Origin`."""
        return next(self.entries[key] for key in FRAMES if self.entries[key] is not None)

    @classmethod
    def read(cls, node: Node, path: str, context: Context, kind: Kind[Any]) -> Self | None:
        of_type = node.get("type") if isinstance(node, Map) else None
        known = JOINT_TYPES.get(of_type.text) if isinstance(of_type, Scalar) else None
        context.turns = () if known is None else (bool(known.turns),)
        joint = super().read(node, path, context, kind)
        context.turns = ()
        return joint

    def check(self, path: str, context: Context) -> None:
        if self.motor and self.friction:
            self.motor.check_beside(self.friction, f"{path}.friction", context)
        super().check(path, context)
        if not SLIDES.holds(self) and JOINT_TYPES.get(self.type, JOINT_TYPES["revolute"]).has_pitch:
            found, mend = f"{self.pitch.text}: it would not slide", f"{PITCH}, or `type: revolute`"
            context.report.add(self.pitch.place, join(path, "pitch"), SLIDES.expected, found, mend)
        if self.limits is not None and not WITHIN.holds(self) and RANGE.holds(self.limits):
            lower, initial, upper = WITHIN.numbers(self)
            expected = f"{WITHIN.expected}, {lower.shown} to {upper.shown}"
            mend = "give an initial position within the limits, or correct the limits"
            kind = JOINT_TYPES.get(self.type)
            one_turn = kind is not None and kind.turns and not kind.has_pitch  # a screw goes through many
            if one_turn and not context.degrees and not initial.unit and abs(initial.value) > math.tau:
                mend = "angles are radians, unless the file says `units: {angle: deg}`"
            context.report.add(initial.place, f"{path}.initial", expected, initial.shown, mend)

    def lacks(self, key: str, path: str, context: Context) -> None:
        if key != "pitch":
            super().lacks(key, path, context)
            return
        found = "nothing: the key is missing"
        context.report.add(self.place, join(path, key), "the pitch of a screw, in m", found, PITCH)

    def refuse(self, key: str, rule: Rule, path: str, context: Context) -> None:
        if key != "pitch":
            super().refuse(key, rule, path, context)
        elif self.pitch is not None:  # or it has been reported
            expected, mend = f"no pitch on a {self.type} joint", "write `type: screw`, or leave the pitch out"
            context.report.add(self.pitch.place, join(path, key), expected, self.pitch.text, mend)

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        if key == "initial":
            mend = "give the initial position of the joint that it mimics"
            return "no initial position of a joint that mimics another", f"`{key}`", mend
        (convention,) = rule.needs
        mend = f"write `{convention}`, or `convention: {key}` for the whole file"
        return f"`{convention}`, the convention of this file", f"`{key}`", mend


class About(Document):
    """What the source of a robot says of it besides; nothing is computed from it."""

    payload = Number("kg", above=0, structure=True, default=None, doc="rated payload", note="not known", example="5")
    inertias = Choice(
        "published",
        "estimated",
        default=None,
        doc="whether masses and inertias are published, by its maker or as measured, or estimated by others",
        note="not told",
        example="published",
    )


class Robot(Document):
    """An arm: a chain of joints, or a tree."""

    other_words = words.ROBOT

    format = Format(FORMAT, doc="format and version of this file", example=FORMAT)
    name = Text(doc="the robot's name", example="arm5")
    about = Subdocument(
        About,
        default=None,
        doc="what its source says besides",
        note="nothing",
        example="{payload: 5, inertias: published}",
    )
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
    units = Subdocument(RobotUnits, default={}, doc="units of this file")
    parameters = Parameters(
        default={}, doc="named numbers, for use in expressions of numbers, pi and one another", example="{upper: 0.38}"
    )
    base = Subdocument(Frame, default={}, doc="the arm's base in the world")
    joints = List(
        Subdocument(Joint),
        least=1,
        most=MOST_JOINTS,
        doc=f"from base to tips, {MOST_JOINTS} at most",
        example="[{name: R1, type: revolute, mdh: {...}, bodies: [...]}]",
    )
    tool = Subdocument(Tool, default={}, doc="the tool, in the frame of its link")
    frames = ByName(
        Subdocument(LinkFrame),
        default={},
        doc="more frames, by name, for columns, measures, forces and payloads",
        example="{left_tip: {link: R5, xyz: [0, 0.02, 0.1]}}",
    )
    payload = Payloads(PayloadBody, default=None, doc="what the tool carries, in the tool frame", note="nothing")

    rules = tuple(
        Rule(
            "convention",
            (name,),
            needs=(name,),
            without=tuple(other for other in FRAMES if other != name),
            each="joints",
        )
        for name in FRAMES
    )

    @property
    def degrees(self) -> bool:
        """Whether its angles are degrees."""
        return bool(self.units.angle == "deg")

    @property
    def frame_names(self) -> tuple[str, ...]:
        """The names of its frames, that of the tool first."""
        return ("tool", *(self.frames or ()))

    @property
    def free(self) -> tuple[Joint, ...]:
        """The joints that mimic none, of a file without faults."""
        return tuple(joint for joint in self.joints if joint.mimic is None)

    @property
    def without_visuals(self) -> Robot:
        """Without what is only drawn, of a file without faults."""
        return self.replaced(joints=tuple(joint.replaced(visual=None) for joint in self.joints))

    @property
    def is_known(self) -> bool:
        """Whether no fault leaves a joint's name or type unknown."""
        joints = self.joints
        return joints is not None and not any(joint is None or None in (joint.name, joint.type) for joint in joints)

    @property
    def joint_names(self) -> tuple[tuple[str, str], ...] | None:
        """Name and type of every joint that mimics none; None if a fault leaves one unknown."""
        return tuple((joint.name, joint.type) for joint in self.free) if self.is_known else None

    @property
    def link_names(self) -> tuple[str, ...] | None:
        """Names of all joints; None if a fault leaves one unknown."""
        return tuple(joint.name for joint in self.joints) if self.is_known else None

    def coupling(self, joint: Joint) -> list[tuple[int, Joint]]:
        """A joint that mimics none, and those that mimic it, each with its index."""
        joints = enumerate(self.joints or ())
        return [(i, x) for i, x in joints if x is joint or (x is not None and x.mimic and x.mimic.joint == joint.name)]

    @property
    def motors(self) -> tuple[tuple[Any, Any], ...]:
        """Name and motor of every joint that mimics none; its own motor or that of one that mimics it, None without any."""
        joints = [joint for joint in self.joints or () if joint is not None]
        free = [(joint, self.coupling(joint)) for joint in joints if joint.mimic is None]
        return tuple(
            (joint.name, next((one.motor for _, one in all_ if one.motor is not None), None)) for joint, all_ in free
        )

    def check(self, path: str, context: Context) -> None:
        super().check(path, context)
        check_names(self.joints or (), join(path, "joints"), context, "joint")
        names = [joint.name for joint in self.joints or () if joint is not None]
        for name, frame in (self.frames or {}).items():
            where = join(path, f"frames.{name}")
            if name in (*RESERVED_FRAMES, *names) or "." in name or UNIT.fullmatch(name):
                place = self.value_node("frames").place
                expected = (
                    "a name without `.` that no joint has, not tool, base or world, and without a unit at its end"
                )
                context.report.add(place, where, expected, f"`{name}`", "choose another name")
            _check_name(frame, "link", names, where, context)
        _check_name(self.tool, "link", names, join(path, "tool"), context)
        self._check_tree(join(path, "joints"), context)

    def _check_tree(self, path: str, context: Context) -> None:
        """Report parents and leaders that are none, and what two joints that move as one have both."""
        known = {joint.name: joint for joint in self.joints or () if joint is not None}
        for i, joint in enumerate(self.joints or ()):
            if joint is None:
                continue
            where, earlier = f"{path}[{i}]", [one.name for one in self.joints[:i] if one is not None]
            _check_name(joint, "parent", [BASE, *earlier], where, context, "the name of an earlier joint, or base")
            if joint.mimic is None or joint.mimic.joint is None:
                continue
            expected = "the name of a joint that mimics none"
            leaders = [name for name, one in known.items() if one.mimic is None]
            _check_name(joint.mimic, "joint", leaders, f"{where}.mimic", context, expected)
            leader = known.get(joint.mimic.joint)
            if leader is None or leader.mimic is not None:
                continue
            others = [one for _, one in self.coupling(leader) if one is not joint]
            for key in ("motor", "limits", "spring"):
                both = next((one.name for one in others if one.given(key)), None)
                if joint.given(key) and both is not None:
                    expected, mend = f"`{key}` at one of the joints {both} and {joint.name}", "leave one of them out"
                    context.report.add(joint.place_of(key), f"{where}.{key}", expected, "both: they move as one", mend)
        for relation in self.relations:
            (at,) = (step for step in parse_path(relation.at) if isinstance(step, int))
            limits: Any = self.joints[at].limits
            if RANGE.holds(limits) and not relation.holds(self):
                found, mend = f"{limits.lower.shown} to {limits.upper.shown}", "correct the limits, or where it begins"
                context.report.add(limits.place, f"{path}[{at}].limits", relation.expected, found, mend)

    @property
    def relations(self) -> tuple[Relation, ...]:  # type: ignore[override]  # the others are of a class
        """That the initial positions of followers, which others decide, are within their limits."""
        at = {joint.name: i for i, joint in enumerate(self.joints or ()) if joint is not None}
        turn = math.pi / 180 if self.units is not None and self.degrees else 1.0
        found = []
        for name, i in at.items():
            joint = self.joints[i]
            k = None if joint.mimic is None or joint.limits is None else at.get(joint.mimic.joint)
            if k is None or None in (joint.type, self.joints[k].type):
                continue
            turns = [turn if JOINT_TYPES[self.joints[of].type].turns else 1.0 for of in (k, i)]
            here = f"joints[{i}]."
            keys = (
                f"joints[{k}].initial",
                *(here + key for key in ("mimic.ratio", "mimic.offset", "limits.lower", "limits.upper")),
            )
            within = partial(_within, turns[0] / turns[1])
            expected = f"a range with the position at which {self.joints[k].name} lets {name} begin"
            found.append(Relation(keys, within, expected, f"{here}limits"))
        return tuple(found)


def _within(turns: float, q: Any, ratio: Any, offset: Any, lower: Any, upper: Any) -> list[Any]:
    """Conditions that a follower is within its limits; `turns` is the leader's unit in the follower's."""
    x = model.Mimic("", ratio, offset).position(q * turns)
    return [lower <= x, x <= upper]


def _check_name(
    holder: Document | None,
    key: str,
    known: list[Any],
    path: str,
    context: Context,
    expected: str = "the name of a joint",
) -> None:
    """Report a name that is not known, unless a fault leaves one of those known unknown."""
    if holder is None or None in (holder.entries[key], *known) or holder.entries[key] in known:
        return
    node = holder.value_node(key)
    known = list(dict.fromkeys(known))
    mend = suggestion(str(holder.entries[key]), known, "names here are") if known else "let one joint mimic none"
    context.report.add(node.place, join(path, key), expected, shown(node), mend)


ROOT = Subdocument(Robot)


def read_robot_node(node: Node, context: Context, path: str = "") -> Robot | None:
    """A robot, from the root node of its file.

    Units and parameters come first, because all other numbers depend on them.

    Args:
        node: The root.
        context: Takes faults; its units and parameters are set here.
        path: Of the node, for a robot within another file.
    """
    from armsim.document.parameters import read_parameters

    context.named = True
    if isinstance(node, Map):
        units = node.get("units")
        angle = units.get("angle") if isinstance(units, Map) else None
        context.degrees = getattr(angle, "value", None) == "deg"
        context.parameters = read_parameters(node.get("parameters"), join(path, "parameters"), context)
        frames = node.get("frames")
        context.frames = ("tool", *(frames.entries if isinstance(frames, Map) else ()))
    return ROOT.read(node, path, context)
