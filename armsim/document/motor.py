"""The keys of a motor in a robot file."""

from __future__ import annotations

from armsim.document import other_words as words
from armsim.document.composite import Choice, Document, Number, Relation, Rule, Subdocument
from armsim.document.dry_friction import FALLS, DryFriction, MotorCoulomb, MotorStribeck, StickingPart, static_friction
from armsim.document.kinds import Flag
from armsim.formulas.quantity import Context

# keys that a voltage requires, keys that require those, and the model of DynaMechs' motor, which has all friction in it
CONSTANTS = ("Kp", "Ra")
ELECTRICAL = ("Ke", "inductance", "brush_drop", "nominal_current", "thermal")
EMULATED = "dynamechs"
NOT_EMULATED = ("gear", "static", "stribeck", "efficiency", "inductance", "limits", "coupling")


class BrushDrop(Document):
    """The voltage that brushes take: max (1 - 2^(-|V| / half)), at most |V|."""

    max = Number("V", minimum=0, absent=0.0, doc="drop at high voltages", example="0.5")
    half = Number("V", above=0, doc="voltage at which half of it is reached", example="0.3")


class MotorLimits(Document):
    """What a motor and its amplifier can do at most, on the motor's side of the gear."""

    voltage = Number("V", above=0, doc="of the supply: more than that is cut", note="none", example="24")
    current = Number("A", above=0, doc="of the amplifier: more than that is cut", note="none", example="5")
    torque = Number(
        "N·m",
        above=0,
        doc="at the motor's shaft, before the gear: more than that is cut",
        note="none",
        example="0.3",
    )
    speed = Number(
        "rad/s",
        above=0,
        doc="of the motor's shaft: beyond, the motor brakes but does not drive; no stop",
        note="none",
        example="600",
    )


class Thermal(Document):
    """A first-order thermal model of a motor's winding: it heats up to `resistance` times its loss above the ambient."""

    other_words = words.THERMAL

    resistance = Number("K/W", above=0, doc="thermal resistance from the winding to the ambient", example="6.2")
    time_constant = Number("s", above=0, doc="in which the winding comes within 37 % of its steady rise", example="25")
    ambient = Number(
        "°C", default=25.0, doc="temperature around the motor, and of its winding at the start", example="40"
    )
    max = Number("°C", doc="that the winding may have", note="none", example="155")
    drift = Flag(default=False, doc="whether the resistance grows with the temperature, copper's by 0.39 % a kelvin")


class Coupling(Document):
    """An elastic gear, belt or shaft between motor and joint, seen at the joint; the rotor is then a coordinate of its own."""

    stiffness = Number(
        "N·m/rad or N/m", above=0, doc="at the joint's side: the output's, with the motor held", example="1e4"
    )
    damping = Number("N·m·s/rad or N·s/m", minimum=0, default=0.0, doc="of the twist", example="5")
    backlash = Number(
        "rad or m",
        angle=True,
        minimum=0,
        absent=0.0,
        default=0.0,
        doc="play of the joint from one flank to the other, the motor held; within it no torque passes",
        example="1e-3",
    )


TURNS = Relation(
    ("coupling.stiffness", "rotor_inertia"),
    lambda stiffness, inertia: [inertia > 0.0],
    "the inertia of a rotor that a coupling lets turn by itself",
    "rotor_inertia",
)


class Motor(StickingPart):
    """A permanent-magnet DC motor on a joint; all quantities on the motor's side of the gear."""

    other_words = words.MOTOR

    Kp = Number(
        "N·m/A",
        above=0,
        doc="torque constant; without it and Ra only the torque of the drive is known, and no voltage can be put on it",
        note="none",
        example="0.05",
    )
    Ke = Number("V·s/rad", minimum=0, doc="back-EMF constant", note="Kp", example="0.05")
    Ra = Number("ohm", above=0, doc="armature resistance", note="none", example="1")
    gear = Number(
        nonzero=True,
        largest=1e6,
        least=1e-6,
        default=1.0,
        doc="turns of the motor per turn of the joint; negative where it reverses",
        example="50",
    )
    rotor_inertia = Number(
        "kg·m²", minimum=0, default=0.0, doc="of rotor and gear, as the motor feels it", example="1e-4"
    )
    viscous = Number("N·m·s/rad", minimum=0, default=0.0, doc="viscous friction of the motor", example="1e-4")
    coulomb = DryFriction("N·m", MotorCoulomb, absent=0.0, default=0.0, example="0.01")
    static = static_friction("N·m", MotorCoulomb, "0.015")
    stribeck = Subdocument(MotorStribeck, doc=FALLS, note="none", example="{velocity: 1}")
    efficiency = Number(
        above=0,
        largest=1,
        least=1e-6,
        absent=1.0,
        default=1.0,
        doc="of the gear: friction in it takes up to 1 - efficiency of the motor's torque",
        example="0.8",
    )
    inductance = Number(
        "H",
        minimum=0,
        divides=True,
        absent=0.0,
        default=0.0,
        doc="of the armature; 0: the current follows the voltage at once",
        example="1e-3",
    )
    brush_drop = Subdocument(BrushDrop, doc="voltage that the brushes take", note="none")
    limits = Subdocument(MotorLimits, default={}, doc="what motor and amplifier can do at most", note="none")
    nominal_current = Number(
        "A", above=0, doc="that the winding stands for long: the data sheet's", note="none", example="2.1"
    )
    thermal = Subdocument(Thermal, doc="how the winding heats up", note="none")
    coupling = Subdocument(Coupling, doc="to its joint, where the gear twists", note="rigid")
    model = Choice(
        "dc",
        EMULATED,
        default="dc",
        doc=f"{EMULATED}: as the program DynaMechs computes a motor, its faults included, to replay its recordings",
    )

    rules = (
        Rule(any_of=(*CONSTANTS, *ELECTRICAL, "limits.voltage", "limits.current"), needs=CONSTANTS),
        Rule("model", (EMULATED,), needs=CONSTANTS),
        Rule(
            "model",
            (EMULATED,),
            default=NOT_EMULATED,
            single=("coulomb",),
        ),
        *StickingPart.rules,
    )

    @property
    def relations(self) -> tuple[Relation, ...]:  # type: ignore[override]  # the others are of a class
        """Those of dry friction, and that a rotor behind a coupling has inertia."""
        return (*self.static_relations, TURNS)

    def check(self, context: Context) -> None:
        super().check(context)
        if not TURNS.holds(self):
            mend = "give `rotor_inertia` in kg·m², that of rotor and gear as the motor feels it"
            place = self.place_of("rotor_inertia") if self.given("rotor_inertia") else self.place
            context.below("rotor_inertia").add(place, TURNS.expected, "none", mend)
        if self.model == EMULATED and self.thermal is not None and self.thermal.drift:
            place, expected = self.thermal.place_of("drift"), "a resistance that stays, as DynaMechs' motor has it"
            context.below("thermal.drift").add(place, expected, "true", "take it out, or take `model` out")

    def lacks(self, key: str, context: Context) -> None:
        if key not in CONSTANTS:
            return super().lacks(key, context)
        empty = key in self.keys_in_file
        found = "nothing: the key has no value" if empty else "nothing: the key is missing"
        if not any(map(self.given, CONSTANTS)):
            found += f", and `{self.rules[0].reason(self) or f'model: {EMULATED}'}` needs it"
        place = self.value_node(key).place if empty else self.place
        return self.fields[key].missing(place, context.below(key), found)

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        if key in rule.single:
            return "one number", "two", "give one number for both directions"
        return "the key left out", f"`{key}`, which DynaMechs' motor has not", "take it out, or take `model` out"

    def check_beside(self, friction: Document, context: Context) -> None:
        """Report friction on the joint's side of the gear that its model excludes; `path` is the friction's."""
        if self.model != EMULATED:
            return
        for key in filter(friction.says, friction.entries):
            context.below(key).add(
                friction.value_node(key).place,
                "no friction beside DynaMechs' motor, which has its own",
                f"`{key}` on the joint's side",
                f"give the motor the friction: `motor: {{{key}: ...}}`"
                if key not in NOT_EMULATED
                else f"take `{key}` out",
            )
