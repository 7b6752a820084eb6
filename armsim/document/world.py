"""The world: planes, solids and terrain that an arm may meet, each by a name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from armsim.document.bodies import FrameName, JointName, size
from armsim.document.composite import (
    ByName,
    Choice,
    Document,
    Kind,
    List,
    Number,
    Relation,
    Rule,
    Subdocument,
    Text,
)
from armsim.document.joint import NO_VECTOR, Frame, direction, refuse_no_direction
from armsim.document.recorded import CsvFile, file_of, read_table
from armsim.errors import FileFaults
from armsim.expr import increases
from armsim.files.faults import suggestion
from armsim.files.nodes import Node
from armsim.files.table import DataTable
from armsim.formulas.bounds import BOUNDS
from armsim.formulas.quantity import Context

Grid = tuple[list[float], list[float], list[float]]  # x of columns, y of rows, heights row by row [m]
GRID = ("x_m", "y_m", "z_m")  # headings of a terrain's file


class PlaneShape(Document):
    """A half-space: the world below a plane."""

    normal = direction("of the side that is free; any length but 0", default=(0.0, 0.0, 1.0))
    point = List(Number("m"), length=3, default=NO_VECTOR, doc="a point of the plane", example="[0, 0, 0]")

    def check(self, context: Context) -> None:
        refuse_no_direction(self.normal, context.below("normal"))


class BoxShape(Document):
    """A box about the origin of its frame, its edges along the axes."""

    size = List(size("edge", "0.1"), length=3, doc="edges along x, y and z", example="[0.1, 0.2, 0.3]")


class SphereShape(Document):
    """A sphere about the origin of its frame."""

    radius = size("radius", "0.05")


class CylinderShape(Document):
    """A cylinder about the origin of its frame, along z."""

    radius = size("radius", "0.05")
    height = size("height along z", "0.3")


class HeightFieldShape(CsvFile):
    """Terrain: heights at the points of a rectangular grid, bilinear in between, as at the edge beyond.

    The file has the columns `x_m`, `y_m` and `z_m`, a row for each point of the grid, row by row: x runs first.
    """

    grid: Grid

    @classmethod
    def read(cls, node: Node, context: Context, kind: Kind[Any]) -> Self | None:
        field = super().read(node, context, kind)
        csv = None if field is None or field.csv is None else read_table(field, context, lambda _: GRID)
        if field is None or csv is None:
            return None
        try:
            found = _grid(csv)
        except FileFaults as error:
            context.report.faults.extend(error.faults)
            return None
        if isinstance(found, tuple):
            return field.having(file=file_of(csv), grid=found)
        mend = "write the columns x_m, y_m and z_m, and a row for each point: (x0, y0), (x1, y0), ..., (x0, y1), ..."
        place = field.value_node("csv").place
        context.below("csv").add(place, "heights at the points of a grid", f"{csv.path}: {found}", mend)
        return None


def _grid(csv: DataTable) -> Grid | str:
    """The grid of a file, or why it is none; raises FileFaults for a cell without a number."""
    missing = [heading for heading in GRID if heading not in csv]
    if missing:
        return f"no column {', '.join(missing)}"
    x, y, z = (list(csv.complete(heading)) for heading in GRID)
    columns, rows = list(dict.fromkeys(x)), list(dict.fromkeys(y))
    if min(len(columns), len(rows)) < 2 or not (increases(columns) and increases(rows)):
        return f"{len(columns)} values of x and {len(rows)} of y; they must increase, and be two at least"
    if [*zip(x, y)] != [(a, b) for b in rows for a in columns]:
        return f"{len(x)} rows that are not a grid of {len(columns)} by {len(rows)} points in order"
    largest = BOUNDS["m"].largest
    return f"a number beyond {largest:g} m" if max(map(abs, x + y + z)) > largest else (columns, rows, z)


SHAPES: dict[str, Subdocument[Any]] = {
    "plane": Subdocument(PlaneShape, default=None, doc="a half-space", example="{normal: [0, 0, 1]}"),
    "box": Subdocument(BoxShape, default=None, doc="a box", example="{size: [0.1, 0.2, 0.3]}"),
    "sphere": Subdocument(SphereShape, default=None, doc="a sphere", example="{radius: 0.05}"),
    "cylinder": Subdocument(CylinderShape, default=None, doc="a cylinder", example="{radius: 0.05, height: 0.3}"),
    "heightfield": Subdocument(HeightFieldShape, default=None, doc="terrain", example="{csv: terrain.csv}"),
}


KELVIN_VOIGT, HUNT_CROSSLEY = LAWS = ("kelvin_voigt", "hunt_crossley")


class SurfaceFriction(Document):
    """Coulomb friction of a surface, with an elastic stick."""

    static = Number(minimum=0, doc="coefficient at which a contact that sticks gives way", example="0.5")
    kinetic = Number(
        minimum=0,
        doc="coefficient while it slips, at most the static one",
        note="`static`",
        example="0.4",
    )
    stiffness = Number("N/m", above=0, doc="of the spring while it sticks", note="the surface's", example="1e5")
    damping = Number("N·s/m", above=0, doc="of the damper beside it", note="the surface's", example="60")

    relations = (
        Relation(("static", "kinetic"), lambda static, kinetic: [kinetic <= static], "kinetic at most static"),
    )

    def check(self, context: Context) -> None:
        (relation,) = self.relations
        if not relation.holds(self):
            static, kinetic = relation.numbers(self)
            expected, mend = f"at most the static one, {static.text}", "lower `kinetic`, or raise `static`"
            context.below("kinetic").add(kinetic.place, expected, kinetic.text, mend)


class Obstacle(Frame):
    """A shape that stands fixed in the world; one of plane, box, sphere, cylinder and heightfield.

    With a `stiffness` or a `sag` it resists the `contacts` that name it.
    """

    plane, box, sphere, cylinder, heightfield = SHAPES.values()

    law = Choice(
        *LAWS,
        default=KELVIN_VOIGT,
        structure=True,
        doc="of the normal force: stiffness and damping, or damping in proportion to the elastic force",
    )
    stiffness = Number("N/m", above=0, doc="normal force by penetration", note="nothing can touch it", example="1e5")
    sag = Number("m", above=0, doc="in place of `stiffness`: how deep the arm's effective mass at the contact, at "
                 "the start, sinks in under its weight", note="by `stiffness`", example="1e-4")  # fmt: skip
    restitution = Number(minimum=0.15, largest=1, doc="beside `sag`, in place of `damping`: speed after by speed "
                         "before a bounce of that mass", note="no damping", example="0.5")  # fmt: skip
    damping = Number("N·s/m", minimum=0, doc="normal force by the rate of penetration", note="0",
                     example="60")  # fmt: skip
    dissipation = Number("s/m", minimum=0, doc="by `hunt_crossley`, relative increase of the elastic force by "
                         "the rate of penetration", note="0", example="0.5")  # fmt: skip
    friction = Subdocument(SurfaceFriction, doc="friction", note="frictionless", example="{static: 0.5, kinetic: 0.4}")

    rules = (
        Rule(absent=("stiffness", "sag"), without=("damping", "dissipation", "friction")),
        Rule(absent=("sag",), without=("restitution",)),
        Rule(given=("sag",), without=("stiffness", "damping")),
        Rule("law", (KELVIN_VOIGT,), without=("dissipation",)),
        Rule("law", (HUNT_CROSSLEY,), without=("damping", "sag", "restitution")),
    )

    exactly_one = tuple(SHAPES)

    @property
    def shape(self) -> Document:
        """The shape."""
        return next(self.entries[key] for key in SHAPES if self.entries[key] is not None)

    @property
    def touchable(self) -> bool:
        """Whether contacts may name it."""
        return self.given("stiffness") or self.given("sag")

    def check(self, context: Context) -> None:
        super().check(context)
        self.check_one(context, f"one of {', '.join(SHAPES)}", f"add `plane: {SHAPES['plane'].example}`, for example")
        friction, damping, soft = self.friction, self.damping, self.given("sag")
        if soft and friction is not None:
            own = [key for key in ("stiffness", "damping") if friction.given(key)]
            damping, e = None, self.restitution
            if own or not e or e.value >= 1:
                expected = "friction as stiff and as damped as the surface: beside `sag` a `restitution` below 1"
                found = f"its own {' and '.join(own)}" if own else "no damping"
                mend = f"leave {' and '.join(own)} out" if own else "write `restitution: 0.5`"
                context.below("friction").add(friction.place, expected, found, mend)
        elif (
            friction is not None
            and self.touchable
            and not friction.given("damping")
            and not (damping and damping.value)
        ):
            expected = "a damping of the friction, or of the surface: the stick needs one"
            context.below("friction").add(friction.place, expected, "neither", "add `damping: 60`")

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        if rule.given:
            return super().unwanted(key, rule)
        if not rule.key:
            *_, needed = rule.absent if key == "restitution" else ("stiffness",)
            return f"a `{needed}` beside `{key}`", "none", f"add `{needed}: {self.fields[needed].example}`"
        other = {"damping": "dissipation", "dissipation": "damping"}.get(key, "stiffness")
        return f"`{other}` by `law: {self.law}`", f"`{key}`", f"write `{other}`, or another `law`"


class World(ByName[Obstacle]):
    """Shapes that stand fixed in the world, by name."""

    def __init__(self, doc: str) -> None:
        example = "{floor: {plane: {normal: [0, 0, 1]}}}"
        super().__init__(Subdocument(Obstacle), default={}, doc=doc, example=example)


class ContactSphere(Document):
    """A sphere that is fixed in a link."""

    center = List(Number("m"), length=3, default=NO_VECTOR, doc="in the link's frame", example="[0, 0, 0]")
    radius = size("radius", "0.02")


class ContactCapsule(Document):
    """A capsule that is fixed in a link, of which the spheres at its ends touch."""

    from_ = List(
        Number("m"), length=3, default=NO_VECTOR, doc="one end of its axis, in the link's frame", example="[0, 0, 0]"
    )
    to = List(Number("m"), length=3, doc="the other end", example="[0.1, 0, 0]")
    radius = size("radius", "0.02")


def ends_of(name: str, contact: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what touches of a contact of some name: those of the ends of a capsule."""
    return (f"{name}_a", f"{name}_b") if contact.get("capsule") else (name,)


class Contact(Document):
    """A frame of the arm as a point, or a sphere or capsule of a link, that meets an obstacle of the world."""

    name = Text(name=True, doc="what columns call it", note="`FRAME_OBSTACLE`", example="tool_floor")
    frame = FrameName(doc="the frame whose origin is the point", note="give `link`", example="tool")
    link = JointName(doc="name of the joint that moves the link", note="give `frame`", example="R5")
    sphere = Subdocument(ContactSphere, default=None, doc="a sphere in the link", example="{radius: 0.02}")
    capsule = Subdocument(
        ContactCapsule, default=None, doc="a capsule in the link", example="{to: [0.1, 0, 0], radius: 0.02}"
    )
    with_ = Text(name=True, doc="name of the obstacle in `world`", example="floor")

    rules = (
        Rule(given=("frame",), without=("link", "sphere", "capsule")),
        Rule(given=("capsule",), without=("sphere",)),
        Rule(absent=("frame",), needs=("link",)),
        Rule(absent=("frame", "capsule"), needs=("sphere",)),
    )

    @property
    def label(self) -> str:
        """What columns call it."""
        return self.name or f"{self.frame or self.link}_{self.entries['with']}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of what touches: of a capsule its two ends."""
        return ends_of(self.label, self.entries)

    def lacks(self, key: str, context: Context) -> None:
        if key != "link" and not self.given("link"):
            return  # one fault is enough
        expected = "a `frame`, or a `link` and a `sphere` or `capsule` in it"
        mend = f"add `{'sphere: {radius: 0.02}' if self.given('link') else 'frame: tool'}`, for example"
        context.add(self.place, expected, f"no `{key}`", mend)


class Contacts(List[Contact]):
    """Contacts of the arm with its world."""

    def __init__(self) -> None:
        super().__init__(
            Subdocument(Contact),
            default=(),
            doc="points, spheres and capsules of the arm that obstacles of the world resist",
            example="[{frame: tool, with: floor}]",
        )


def check_contacts(
    contacts: Sequence[Contact | None] | None, world: Mapping[str, Obstacle | None], context: Context
) -> None:
    """Report contacts with what is no obstacle or has no surface, and names that a contact before has."""
    taken, touchable = [*context.contacts], [key for key, it in world.items() if it is None or it.touchable]
    for i, contact in enumerate(contacts or ()):
        if contact is None or contact.entries["with"] is None:
            continue
        name, here, place = contact.entries["with"], context.below(f"contacts[{i}]"), contact.place_of("with")
        if name not in touchable:
            mend = "give it a `stiffness`" if name in world else suggestion(name, world, "there are")
            if not world:
                mend = "add for example `world: {floor: {plane: {}, stiffness: 1e5, damping: 60}}`"
            here.below("with").add(place, "an obstacle of `world` with a `stiffness` or `sag`", f"`{name}`", mend)
        elif contact.link and (it := world[name]) and it.given("heightfield"):
            here.add(place, "no terrain, which only points touch", "a `heightfield`", "write `frame`, without `link`")
        for label in contact.names:
            if label in taken and (contact.name or contact.frame or contact.link):
                expected, mend = "a name of its own for each contact", "give it a `name`"
                here.add(contact.place, expected, f"a second `{label}`", mend)
            taken.append(label)
