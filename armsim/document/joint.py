"""Joints of a robot file with their links: frames, limits, friction, couplings, shapes."""

from __future__ import annotations

import math
import os
from typing import Any, Self

from armsim.document import other_words as words
from armsim.document.bodies import BODIES
from armsim.document.composite import (
    Choice,
    Document,
    Kind,
    List,
    Number,
    OneOf,
    Relation,
    Rule,
    Subdocument,
    Text,
)
from armsim.document.dry_friction import FALLS, DryFriction, JointCoulomb, StickingPart, Stribeck, static_friction
from armsim.document.motor import Motor
from armsim.files.nodes import Map, Node, Scalar
from armsim.files.source import beside
from armsim.formulas.quantity import Context
from armsim.model import JOINT_TYPES

NO_VECTOR = (0.0, 0.0, 0.0)


def direction(doc: str, **common: Any) -> List:
    """A direction by a vector of any length but 0."""
    return List(Number(structure=True), length=3, structure=True, **common, doc=f"direction {doc}", example="[0, 0, 1]")


def refuse_no_direction(vector: Any, context: Context) -> None:
    """Report a vector of length 0."""
    if vector is not None and all(vector) and math.hypot(*(x.value for x in vector)) < 1e-9:
        mend = f"write for example `{context.key}: [{'0, ' * (len(vector) - 1)}1]`"
        context.add(vector[0].place, "a direction", "a vector of length 0", mend)


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

    link = Text(doc="name of the joint that moves the link", note="the last joint", example="R5")


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

    axis = direction("of the joint's axis; any length but 0")

    def check(self, context: Context) -> None:
        refuse_no_direction(self.axis, context.below("axis"))


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
    stiffness = Number("N·m/rad or N/m", minimum=0, doc="of the stops", note="no stops", example="1000")
    damping = Number("N·m·s/rad or N·s/m", minimum=0, default=0.0, doc="of the stops", example="10")

    relations = (RANGE,)

    def check(self, context: Context) -> None:
        if not RANGE.holds(self):
            lower, upper = RANGE.numbers(self)
            found = f"lower {lower.text}, upper {upper.text}"
            mend = "swap them" if lower.value > upper.value else "leave a range between them"
            context.add(lower.place, RANGE.expected, found, mend)


class Friction(StickingPart):
    """Friction on the joint's side of the gear."""

    other_words = words.FRICTION

    viscous = Number("N·m·s/rad or N·s/m", minimum=0, default=0.0, doc="viscous friction", example="0.1")
    coulomb = DryFriction("N·m or N", JointCoulomb, absent=0.0, default=0.0, example="0.5")
    static = static_friction("N·m or N", JointCoulomb, "0.7")
    stribeck = Subdocument(Stribeck, doc=FALLS, note="none", example="{velocity: 0.01}")


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
        doc="name of an earlier joint, whose link carries it, or `base`",
        note="the joint before",
        example="R5",
    )
    mimic = Subdocument(
        Mimic,
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
    limits = Subdocument(Limits, doc="range and stops", note="no limits")
    friction = Subdocument(Friction, default={}, doc="friction of the joint", note="none")
    spring = Subdocument(Spring, doc="a spring, which pulls the joint to a position", note="none")
    bodies = List(
        OneOf(BODIES, words.BODY, example="point: {mass: 1, center: [0.2, 0, 0]}"),
        doc="what the link is made of, summed",
        example="[{point: {mass: 1, center: [0.2, 0, 0]}}]",
    )
    motor = Subdocument(Motor, doc="its motor", note="no motor")
    visual = List(
        Subdocument(Visual),
        single=True,
        structure=True,
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
    def read(cls, node: Node, context: Context, kind: Kind[Any]) -> Self | None:
        of_type = node.get("type") if isinstance(node, Map) else None
        known = JOINT_TYPES.get(of_type.text) if isinstance(of_type, Scalar) else None
        context.turns = () if known is None else (bool(known.turns),)
        return super().read(node, context, kind)

    def check(self, context: Context) -> None:
        if self.motor and self.friction:
            self.motor.check_beside(self.friction, context.below("friction"))
        super().check(context)
        if not SLIDES.holds(self) and JOINT_TYPES.get(self.type, JOINT_TYPES["revolute"]).has_pitch:
            found, mend = f"{self.pitch.text}: it would not slide", f"{PITCH}, or `type: revolute`"
            context.below("pitch").add(self.pitch.place, SLIDES.expected, found, mend)
        if self.limits is not None and not WITHIN.holds(self) and RANGE.holds(self.limits):
            lower, initial, upper = WITHIN.numbers(self)
            expected = f"{WITHIN.expected}, {lower.shown} to {upper.shown}"
            mend = "give an initial position within the limits, or correct the limits"
            kind = JOINT_TYPES.get(self.type)
            one_turn = kind is not None and kind.turns and not kind.has_pitch  # a screw goes through many
            if one_turn and not context.degrees and not initial.unit and abs(initial.value) > math.tau:
                mend = "angles are radians, unless the file says `units: {angle: deg}`"
            context.below("initial").add(initial.place, expected, initial.shown, mend)

    def lacks(self, key: str, context: Context) -> None:
        if key != "pitch":
            super().lacks(key, context)
            return
        found = "nothing: the key is missing"
        context.below(key).add(self.place, "the pitch of a screw, in m", found, PITCH)

    def refuse(self, key: str, rule: Rule, context: Context) -> None:
        if key != "pitch":
            super().refuse(key, rule, context)
        elif self.pitch is not None:  # or it has been reported
            expected, mend = f"no pitch on a {self.type} joint", "write `type: screw`, or leave the pitch out"
            context.below(key).add(self.pitch.place, expected, self.pitch.text, mend)

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        if key == "initial":
            mend = "give the initial position of the joint that it mimics"
            return "no initial position of a joint that mimics another", f"`{key}`", mend
        (convention,) = rule.needs
        mend = f"write `{convention}`, or `convention: {key}` for the whole file"
        return f"`{convention}`, the convention of this file", f"`{key}`", mend
