"""Keys of dry friction, on either side of a gear."""

from __future__ import annotations

from typing import Any, ClassVar

from armsim.document.composite import Document, Number, Relation, Rule, Subdocument
from armsim.files.nodes import Map, Node
from armsim.formulas.quantity import Context

AT_LEAST = "static friction no less than Coulomb's"
FALLS = "how static friction falls with the speed; exp(-(speed/velocity)^exponent) of it above Coulomb's is left"


def against(direction: str, unit: str) -> Number:
    """The key of dry friction in one direction."""
    return Number(
        unit, minimum=0, absent=0.0, doc=f"against motion in the joint's {direction} direction", example="0.5"
    )


class JointCoulomb(Document):
    """Dry friction on the joint's side of the gear, by the joint's direction."""

    positive = against("positive", "N·m or N")
    negative = against("negative", "N·m or N")


class MotorCoulomb(Document):
    """Dry friction on the motor's side of the gear, by the joint's direction."""

    positive = against("positive", "N·m")
    negative = against("negative", "N·m")


class Stribeck(Document):
    """How static friction falls to Coulomb's with the speed of sliding: by exp(-(speed/velocity)^exponent)."""

    velocity = Number("rad/s or m/s", angle=True, above=0, doc="at which 1/e of the difference is left", example="0.01")
    exponent = Number(minimum=1, largest=100, default=2.0, doc="2 for a Gaussian, 1 for an exponential", example="2")


class MotorStribeck(Stribeck):
    """How a motor's static friction falls to Coulomb's with the speed of its shaft: by exp(-(speed/velocity)^exponent)."""

    velocity = Number("rad/s", above=0, doc="of the motor's shaft, at which 1/e of the difference is left", example="1")


class DryFriction(Number):
    """Dry friction: one number for both directions, or {positive, negative}.

    Attributes:
        sides: The mapping.
    """

    def __init__(self, unit: str, sides: type[Document], what: str = "Coulomb (dry) friction", **common: Any) -> None:
        doc = f"{what}: one number, or {{positive, negative}} by the joint's direction"
        super().__init__(unit, minimum=0, doc=doc, **common)
        self.sides = Subdocument(sides)

    def expected(self, context: Context) -> str:
        return f"{super().expected(context)}, or {{positive, negative}}"

    def read(self, node: Node, context: Context) -> Any:
        return self.sides.read(node, context) if isinstance(node, Map) else super().read(node, context)


def static_friction(unit: str, sides: type[Document], example: str) -> DryFriction:
    """The key of dry friction at rest."""
    return DryFriction(unit, sides, "dry friction at rest", note="that of Coulomb", example=example)


class StickingPart(Document):
    """What rubs: its keys `coulomb`, `static` and `stribeck`, and how they go together."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(given=("static",), needs=("stribeck",)),
        Rule(given=("stribeck",), needs=("static",)),
    )

    @property
    def relations(self) -> tuple[Relation, ...]:  # type: ignore[override]  # the others are of a class
        """Those of static friction."""
        return self.static_relations

    @property
    def static_relations(self) -> tuple[Relation, ...]:
        """That static friction is no less than Coulomb's in either direction."""
        keys = ("static", "coulomb")
        mapped = {key: isinstance(self.entries[key], Document) for key in keys}
        sides = ("positive", "negative") if any(mapped.values()) else ("",)
        found = []
        for side in sides:
            static, coulomb = (f"{key}.{side}" if mapped[key] else key for key in keys)
            found.append(Relation((static, coulomb), lambda more, less: [more >= less], AT_LEAST, static))
        return tuple(found)

    def check(self, context: Context) -> None:
        super().check(context)
        for relation in self.static_relations:
            if not relation.holds(self):
                static, coulomb = relation.numbers(self)
                found, mend = f"{static.text}, and coulomb {coulomb.text}", "correct one of them"
                context.below(relation.at).add(static.place, AT_LEAST, found, mend)

    def lacks(self, key: str, context: Context) -> None:
        other = next(name for name in ("static", "stribeck") if name != key)
        found = f"nothing: the key is missing, and `{other}` needs it"
        self.fields[key].missing(self.place, context.below(key), found)
