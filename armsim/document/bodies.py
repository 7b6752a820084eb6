"""The bodies that a link or a payload may be made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armsim.document import other_words as words
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
    check_names,
)
from armsim.files.faults import suggestion
from armsim.files.nodes import Map, Node, Seq, shown
from armsim.formulas.quantity import Context, Quantity
from armsim.model import BASE


def axis() -> Choice:
    """The axis of a body of revolution."""
    return Choice("x", "y", "z", structure=True, doc="axis of the link frame that it lies along", example="z")


def size(doc: str, example: str) -> Number:
    """A dimension of a solid."""
    return Number("m", above=0, doc=doc, example=example)


def mass(**common: Any) -> Number:
    """A mass."""
    return Number("kg", minimum=0, doc="mass", example="0.8", **common)


def center(**common: Any) -> List:
    """The centre of mass."""
    return List(
        Number("m"),
        length=3,
        default=(0.0, 0.0, 0.0),
        **common,
        doc="centre of mass in the link frame (of a payload: in the tool frame)",
        example="[0, 0, 0.1]",
    )


class Solid(Document):
    """A body of uniform density; either its mass or its density is given."""

    other_words = words.SOLID

    mass = mass(note="from the density")
    density = Number("kg/m³", minimum=0, doc="density, in place of the mass", note="from the mass", example="2700")
    center = center()

    exactly_one = ("mass", "density")

    def check(self, context: Context) -> None:
        given = [key for key in self.exactly_one if self.given(key)]
        if len(given) > 1:
            place = self.place_of("density")
            context.add(place, "either mass or density", "both", "take one of them out")
        elif not given:
            self.fields["mass"].missing(self.place, context.below("mass"))


class Cylinder(Solid):
    """A solid cylinder."""

    tag = "cylinder"
    axis = axis()
    height = size("height along the axis", "0.3")
    radius = size("radius", "0.05")


class Box(Solid):
    """A solid box, its edges along the axes of the frame."""

    tag = "box"
    size = List(size("edge", "0.1"), length=3, doc="edges along x, y and z", example="[0.1, 0.2, 0.3]")


class Sphere(Solid):
    """A solid sphere."""

    tag = "sphere"
    radius = size("radius", "0.05")


HOLLOW = Relation(
    ("inner_radius", "outer_radius"), lambda inner, outer: [inner < outer], "inner_radius smaller than outer_radius"
)


class Tube(Solid):
    """A hollow cylinder, open at both ends."""

    tag = "tube"
    axis = axis()
    height = size("height along the axis", "0.3")
    outer_radius = size("outer radius", "0.05")
    inner_radius = size("inner radius", "0.04")

    relations = (HOLLOW,)

    def check(self, context: Context) -> None:
        super().check(context)
        if not HOLLOW.holds(self):
            inner, outer = HOLLOW.numbers(self)
            expected = f"a radius smaller than outer_radius, {outer.text}"
            context.below("inner_radius").add(inner.place, expected, inner.text, "swap the radii or correct one")


class Point(Document):
    """A point mass."""

    tag = "point"
    other_words = words.MASS

    mass = mass()
    center = center()


class Rod(Document):
    """A slender rod: no thickness, uniform along its length."""

    tag = "rod"
    other_words = words.ROD

    axis = axis()
    length = size("length along the axis", "0.4")
    mass = mass()
    center = center()


class KnownInertia(Document):
    """A body whose inertia is known, from CAD or a publication; the tensor's axes are the frame's unless `rpy` turns them."""

    tag = "inertia"
    other_words = words.INERTIA

    mass = mass()
    center = center()
    about = Choice(
        "com", "origin", doc="point that the tensor is about: the centre of mass, or the frame's origin", example="com"
    )
    rpy = List(
        Number("rad", angle=True),
        length=3,
        default=(0.0, 0.0, 0.0),
        doc="orientation of the tensor's axes in the frame, roll, pitch and yaw as of `tool`; URDF's rpy of `<inertial>`",
        example="[0, 0, 0]",
    )
    xx = Number("kg·m²", doc="∫(y²+z²) dm", example="0.01")
    yy = Number("kg·m²", doc="∫(x²+z²) dm", example="0.01")
    zz = Number("kg·m²", doc="∫(x²+y²) dm", example="0.01")
    xy = Number("kg·m²", default=0.0, doc="-∫xy dm (mind the sign)")
    xz = Number("kg·m²", default=0.0, doc="-∫xz dm (mind the sign)")
    yz = Number("kg·m²", default=0.0, doc="-∫yz dm (mind the sign)")


BODIES: dict[str, Subdocument[Any]] = {
    "cylinder": Subdocument(Cylinder, doc="solid cylinder"),
    "box": Subdocument(Box, doc="solid box"),
    "sphere": Subdocument(Sphere, doc="solid sphere"),
    "tube": Subdocument(Tube, doc="hollow cylinder"),
    "rod": Subdocument(Rod, doc="slender rod"),
    "point": Subdocument(Point, doc="point mass"),
    "inertia": Subdocument(KnownInertia, doc="body with a known inertia"),
}


class FrameName(Text):
    """The name of one of the robot's frames."""

    what = "frame"

    def expected(self, context: Context) -> str:
        return f"the name of a {self.what}"

    def known(self, context: Context) -> Sequence[str] | None:
        """What may be named; None where a fault leaves that unknown."""
        return context.frames

    def read(self, node: Node, context: Context) -> str | None:
        name, known = super().read(node, context), self.known(context)
        if name is None or known is None or name in known:
            return name
        return self.fault(node, context, suggestion(name, known, f"{self.what}s are"))


class JointName(FrameName):
    """The name of a joint."""

    what = "joint"

    def known(self, context: Context) -> Sequence[str] | None:
        return context.links


class WrenchName(JointName):
    """The name of what carries a wrench: a joint, a frame or the base."""

    what = "name"

    def expected(self, context: Context) -> str:
        return "base, or the name of a joint or a frame"

    def known(self, context: Context) -> Sequence[str] | None:
        joints = super().known(context)
        return None if joints is None or context.frames is None else [BASE, *joints, *context.frames]


class PayloadBody(Document):
    """A body that a frame of the arm carries: a point mass, or any body, in that frame."""

    name = Text(name=True, doc="labels messages and the energy balance", example="box")
    frame = FrameName(default="tool", doc="frame that carries it", example="tool")
    mass = mass(note="that of `body`")
    center = center(given_by="body")
    body = OneOf(
        BODIES, words.BODY, doc="in place of a point mass", note="a point mass",
        example="{box: {size: [0.1, 0.1, 0.1], mass: 0.3}}",
    )  # fmt: skip

    rules = (Rule(given=("body",), without=("mass", "center")), Rule(absent=("body",), needs=("mass",)))

    @property
    def solid(self) -> Any:
        """The body: that of `body`, or a point mass."""
        own = {key: self.entries[key] for key in Point.fields}
        return Point.made(own, self.node) if self.body is None else self.body

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        return f"`body` without `{key}`", f"`{key}`", f"give `{key}` below `body`, or leave `body` out"


def payload_bodies(payload: Any, path: str = "payload") -> list[tuple[str, str, Any]]:
    """What a robot's or a scenario's `payload` says: the path of each body, the frame that carries it, and the body."""
    if isinstance(payload, tuple):
        return [
            (f"{path}[{i}]{'' if item.body is None else '.body'}", item.frame, item.solid)
            for i, item in enumerate(payload)
        ]
    return [] if payload is None else [(path, "tool", payload)]


class TimeSpan(Document):
    """What is there during a time."""

    from_ = Number(
        "s", structure=True, minimum=0, doc="start, a whole multiple of dt", note="the beginning",
        example="1",
    )  # fmt: skip
    to = Number(
        "s", structure=True, minimum=0, doc="end, a whole multiple of dt; excluded", note="the end",
        example="2",
    )  # fmt: skip

    def check(self, context: Context) -> None:
        super().check(context)
        start, end = self.from_, self.to
        if isinstance(start, Quantity) and isinstance(end, Quantity) and start.value >= end.value:
            expected = f"a time after `from`, {start.of('s')}"
            context.below("to").add(end.place, expected, end.text, "swap them")


class TimedPayload(TimeSpan, PayloadBody):
    """A body that a frame carries from when it is picked up until it is put down; before that it rests in the world."""


class Payloads(OneOf):
    """What the tool carries: a point mass {mass, center}, or any body; in the tool frame. Or a list of what frames carry.

    Attributes:
        item: Of the list.
    """

    def __init__(self, of: type[PayloadBody], **common: Any) -> None:
        super().__init__(BODIES, **common)
        self.item = Subdocument(of)

    def below(self, step: str | int) -> Kind[Any] | None:
        return super().below(step) if type(step) is str else self.item

    def expected(self, context: Context) -> str:
        return f"a mapping with the keys mass and center, or with one key out of {', '.join(self.variants)}; or a list"

    def read(self, node: Node, context: Context) -> Any:
        if isinstance(node, Seq):
            items = [self.item.read(item, context.item(i)) for i, item in enumerate(node.items)]
            check_names(items, context, "payload")
            return tuple(items)
        if not isinstance(node, Map):
            mend = f"write for example `{context.key}: {{mass: {shown(node) if hasattr(node, 'value') else 0.5}}}`"
            return self.fault(node, context, mend)
        if any(key in self.variants for key in node.entries):
            return super().read(node, context)
        return self.variants["point"].read(node, context)
