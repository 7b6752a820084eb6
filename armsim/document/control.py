"""The keys of a scenario's `control`: which law, with which gains, and what stands between it and the drives."""

from __future__ import annotations

from typing import Any, Self

from armsim.control.noise import LARGEST_SEED
from armsim.control.operational_space import AXES
from armsim.document import other_words as words
from armsim.document.bodies import FrameName
from armsim.document.composite import Choice, Document, Kind, LawGains, List, Number, PerJoint, Rule, Subdocument
from armsim.document.paths import source_of
from armsim.document.reference import Reference
from armsim.document.run_expression import LawExpression
from armsim.errors import spelled
from armsim.files.nodes import Map, Node, Scalar, Seq
from armsim.formulas.quantity import Context

INTEGRAL = ("integral_limit", "anti_windup", "tracking_time")
DERIVATIVE = ("derivative", "derivative_filter")
# of each law: the keys that it needs, and those of other laws that it takes besides
LAWS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "pd": (("kp", "kd"), DERIVATIVE),
    "pi": (("kp", "ki"), INTEGRAL),
    "pid": (("kp", "ki", "kd"), (*INTEGRAL, *DERIVATIVE)),
    "state_feedback": (("K",), ()),
    "computed_torque": (("kp", "kd"), ()),
    "predictive": (("horizon", "stages", "cost", "period"), ("creep", "misses", "budget")),
    "expression": (("command",), ()),
    "python": ((), ()),  # a function, which the library is given
}
STIFFNESS, DAMPING = "N·m/rad or N/m", "N·m·s/rad or N·s/m"  # of joints and of a tool
MOST_STAGES = 200
OF_TOOL = ("frame", "axes", "posture")
OWN = tuple(dict.fromkeys(key for needed, more in LAWS.values() for key in (*needed, *more) if key != "period"))


class RobotReference(Kind[Any]):
    """A robot file, the name of a shipped robot, or a whole robot."""

    def expected(self, context: Context) -> str:
        return "a robot file, the name of a shipped robot, or a robot's keys"

    def read(self, node: Node, context: Context) -> Node | str | None:
        if isinstance(node, Map):
            return node
        if isinstance(node, Scalar) and isinstance(node.value, str):
            return node.text
        return self.fault(node, context)


def law_rule(law: str) -> Rule:
    """The rule of a law: keys that it requires and keys that it forbids."""
    needed, more = LAWS[law]
    return Rule("law", (law,), needs=("output", *needed), without=tuple(k for k in OWN if k not in (*needed, *more)))


def gains(unit: str, doc: str, laws: str, of_tool: str = "") -> LawGains:
    """The key of a gain."""
    return LawGains(Number(unit), Number(of_tool), doc=doc, note=f"none; {laws} need it", example="10")


def task_of(control: Node | None) -> tuple[tuple[str, str], ...]:
    """The axes of a tool that the gains of a scenario's `control` are of, with types as `Context.task`; none in joint space."""
    space, axes = (control.get(key) if isinstance(control, Map) else None for key in ("space", "axes"))
    if not isinstance(space, Scalar) or space.value != "tool":
        return ()
    names = [str(item.value) for item in axes.items if isinstance(item, Scalar)] if isinstance(axes, Seq) else AXES
    return tuple((name, "revolute" if name.startswith("r") else "prismatic") for name in names)


def times(doc: str, note: str, example: str) -> PerJoint:
    """The key of a time constant."""
    return PerJoint(Number("s", above=0), one_for_all=True, doc=doc, note=note, example=example)


def seed_of(doc: str) -> Number:
    """The key of the seed of random numbers."""
    return Number(minimum=0, largest=LARGEST_SEED, whole=True, default=0.0, doc=doc, example="7")


class Encoder(Document):
    """How a sampled controller measures: positions in steps and with noise, velocities by their difference."""

    counts = PerJoint(
        Number(above=0),
        one_for_all=True,
        doc="counts per revolution, all edges counted; of a sliding joint's own shaft, per metre",
        note="positions are not quantised",
        example="4096",
    )
    on = Choice("joint", "motor", default="joint", doc="whose shaft it is on")
    noise = PerJoint(
        Number("rad or m", angle=True, minimum=0),
        one_for_all=True,
        doc="standard deviation of the joint's position, added before it is quantised",
        note="none",
        example="1e-4",
    )
    filter = times("time constant of the velocity's low-pass filter", "none", "2e-3")
    seed = seed_of("of the noise: another one, another run")


def weights(doc: str) -> PerJoint:
    """The key of the weights of an error."""
    return PerJoint(Number(minimum=0), one_for_all=True, doc=doc, note="0", example="1")


class Cost(Document):
    """What a predictive law minimises: half the integral over its horizon of weights times squares."""

    q = weights("of position errors [1/rad² or 1/m²]")
    qd = weights("of velocity errors [s²/rad² or s²/m²]")
    command = PerJoint(
        Number(above=0),
        one_for_all=True,
        doc="of commands beyond those that carry the model along the reference [1/V², 1/A², 1/(N·m)² or 1/N²]",
        example="1e-3",
    )
    range = weights("of positions beyond the joint's limits [1/rad² or 1/m²]")
    end = Number(
        "s", minimum=0, default=0.0, doc="for how long the errors at the end of the horizon count", example="0.5"
    )


class Misses(Document):
    """Samples at which a predictive law has no new plan in time, so that the last one goes on."""

    share = Number(minimum=0, largest=1.0, doc="of all samples", example="0.01")
    seed = seed_of("another one, other samples")


class Posture(Document):
    """What the joints do as far as it leaves the tool alone: pd control towards `q`, or accelerations with computed_torque."""

    q = PerJoint(Number("rad or m", angle=True), doc="joint positions, one per joint", note="the reference",
                 example="[0, 0.5, 0]")  # fmt: skip
    kp = PerJoint(
        Number(STIFFNESS), one_for_all=True, doc="proportional gains; 1/s² with computed_torque", example="10"
    )
    kd = PerJoint(Number(DAMPING), one_for_all=True, doc="derivative gains; 1/s with computed_torque", example="5")


class Control(Document):
    """Feedback: a law, and what stands between it and the drives. docs/control.md tells of each."""

    other_words = words.CONTROL

    law = Choice("none", *LAWS, doc="control law; none switches control off, whatever else is given", example="pd")
    output = Choice(
        "voltage",
        "current",
        "torque",
        doc="what is commanded: motor voltages, motor currents or joint torques",
        note="required",
        example="voltage",
    )
    space = Choice(
        "joints",
        "tool",
        default="joints",
        doc="whose errors the law controls: each joint's, or position and orientation of a tool (pd and computed_torque)",
        example="tool",
    )
    frame = FrameName(doc="the tool of `space: tool`: a frame of the robot", note="tool", example="tool")
    axes = List(
        Choice(*AXES),
        least=1,
        most=6,
        doc="along which axes of the world its position is controlled, and about which its orientation; others are free",
        note="all six",
        example="[x, y, z]",
    )
    posture = Subdocument(Posture, doc="what joints do besides", note="nothing")
    kp = gains(
        "V/rad or N·m/rad",
        "proportional gains, one per joint (in the space of a tool one per axis) or one for all; not the motor's Kp; 1/s² with "
        "computed_torque",
        "pd, pi, pid and computed_torque",
        STIFFNESS,
    )
    ki = gains("V/(rad·s) or N·m/(rad·s)", "integral gains", "pi and pid")
    kd = gains(
        "V·s/rad or N·m·s/rad", "derivative gains; 1/s with computed_torque", "pd, pid and computed_torque", DAMPING
    )
    K = PerJoint(
        List(Number(), least=2),
        doc="rows of u = -K (x - x_ref), one per joint: positions, velocities, then currents that are states, then commands that "
        "`delay` keeps on their way, the next ones first",
        note="none; state_feedback needs it",
        example="[[40, 3]]",
    )
    horizon = Number(
        "s", above=0, doc="how far ahead `law: predictive` plans",
        note="none; predictive needs it", example="0.5",
    )  # fmt: skip
    stages = Number(
        structure=True, whole=True, minimum=1, largest=MOST_STAGES,
        doc="into how many pieces of constant commands it divides the horizon",
        note="none; predictive needs it", example="20",
    )  # fmt: skip
    cost = Subdocument(Cost, doc="what it minimises", note="none; predictive needs it")
    creep = PerJoint(
        Number("rad/s or m/s", above=0, angle=True), one_for_all=True,
        doc="speeds below which its model takes dry friction and losses of gears for viscous",
        note="it has neither", example="0.01",
    )  # fmt: skip
    misses = Subdocument(Misses, default=None, doc="samples whose plan is late", note="none", example="{share: 0.01}")
    budget = Number(
        "s", structure=True, above=0, default=None,
        doc="what a plan may take; the summary of `armsim simulate` then tells how long plans take on the machine that runs",
        note="none", example="5e-4",
    )  # fmt: skip
    command = PerJoint(
        LawExpression(example="40*e + 3*ed"),
        doc="the command of each joint, an expression of e, ed, q, qd, integral, t, ...",
        note="none; expression needs it",
        example='["40*e + 3*ed"]',
    )
    target = PerJoint(
        Number("rad or m", angle=True),
        doc="joint positions to hold, one per joint",
        note="the robot's initial pose",
    )
    reference = Subdocument(Reference, doc="motion to follow, in place of `target`", note="none")
    feedforward = Choice(
        "none",
        "gravity",
        "inverse_dynamics",
        default="none",
        doc="commands of a model that are added: those that hold the measured pose, or that move the arm along the reference",
    )
    model = RobotReference(
        of_file=True,
        doc="the arm as feedforward and computed_torque know it, if not as it is",
        note="the arm itself",
        example="arm5",
    )
    period = Number(
        "s",
        structure=True,
        above=0,
        doc="sample time, a whole multiple of dt; u is held in between",
        note="continuous",
    )
    delay = Number(
        "s",
        structure=True,
        minimum=0,
        doc="from a sample to its command, a whole multiple of period",
        note="none",
        example="1e-3",
    )
    encoder = Subdocument(Encoder, doc="how joints are measured: of continuous control `on` alone", note="exactly")
    limit = PerJoint(Number("V, N·m or N", above=0), one_for_all=True, doc="greatest |u|", note="none", example="24")
    integral_limit = PerJoint(
        Number("V, N·m or N", above=0),
        one_for_all=True,
        doc="greatest |ki ∫e dt|",
        note="limit, with clamping",
        example="24",
    )
    anti_windup = Choice(
        "clamping",
        "back_calculation",
        default="clamping",
        doc="what keeps integrals from growing while u is at its limit",
    )
    tracking_time = times("of back_calculation", "ki and kp decide: kp / ki", "0.1")
    derivative = Choice("error", "measurement", default="error", doc="what kd multiplies: de/dt, or -dq/dt")
    derivative_filter = times("time constant of the derivative's low-pass filter", "none", "5e-3")

    # `law: none` forbids nothing, so that a law can be switched off and on
    rules = (
        *(law_rule(law) for law in LAWS),
        Rule(given=("reference",), without=("target",)),
        Rule("space", ("joints",), without=OF_TOOL),
        Rule("space", ("tool",), without=DERIVATIVE),
    )

    @property
    def on(self) -> bool:
        """Whether there is feedback: `law: none` switches it off."""
        return self.law not in (None, "none")

    @property
    def has_model(self) -> bool:
        """Whether its law or its feedforward takes a model of the arm."""
        return self.law in ("computed_torque", "predictive") or (
            self.on and (self.feedforward != "none" or bool(self.task))
        )

    @property
    def task(self) -> tuple[tuple[str, str], ...]:
        """See `task_of`."""
        return task_of(self.node)

    @classmethod
    def read(cls, node: Node, context: Context, kind: Kind[Any]) -> Self | None:
        if isinstance(node, Scalar) and node.value == "none":
            return kind.fault(node, context, f"to switch it off, set `{context.below('law').path}` to `none`")
        output, law = (node.get(key) if isinstance(node, Map) else None for key in ("output", "law"))
        context.output = output.text if isinstance(output, Scalar) and output.text in cls.output.options else None
        context.law = law.text if isinstance(law, Scalar) else ""
        context.task = task_of(node)
        return super().read(node, context, kind)

    def check(self, context: Context) -> None:
        changed = self.given("law") and self.value_node("law").place.source == source_of("control.law")
        if not (changed and self._check_changed_law(context)):
            super().check(context)
        if self.on:
            self._check_parts(context)

    def _check_parts(self, context: Context) -> None:
        """Report what goes with other keys than are given."""

        def unfit(key: str, expected: str, mend: str) -> None:
            place, value = self.place_of(key), self.value_node(key)
            found = f"`{key}: {value.text}`" if isinstance(value, Scalar) else f"`{key}`"
            context.below(key).add(place, expected, found, mend)

        if self.law in ("computed_torque", "predictive") and self.feedforward not in (None, "none"):
            unfit("feedforward", f"none with {self.law}, which has all of it", "take it out")
        elif self.given("model") and not self.has_model:
            mend = "add `feedforward: inverse_dynamics`, or take it out"
            unfit("model", "a law or a feedforward that has a model", mend)
        if self.task and self.law not in ("pd", "computed_torque"):
            unfit("space", "`space: joints` with this law", "take pd or computed_torque, or write `space: joints`")
        if len(set(self.axes or ())) < len(self.axes or ()):
            unfit("axes", "each axis once", "leave out the second one")
        if self.given("tracking_time") and self.anti_windup == "clamping":
            unfit("tracking_time", "`anti_windup: back_calculation`", "write that, or take it out")
        if self.given("anti_windup") and self.anti_windup != "clamping" and self.limit is None:
            unfit("anti_windup", "a `limit`, from which it calculates back", "add for example `limit: 24`")
        for key in ("delay", "encoder"):
            encoder = self.encoder if key == "encoder" else None
            side_alone = encoder and encoder.given("on") and all(encoder.is_default(x) for x in encoder if x != "on")
            if self.given(key) and not side_alone and not self.given("period"):
                unfit(key, "sampled control", "add `period: 1e-3`, the sample time")

    def _check_changed_law(self, context: Context) -> bool:
        """Report all at once what an overridden law asks for besides; whether there was anything that overrides mend."""
        rule = next((rule for rule in self.rules if rule.applies(self)), Rule())
        lacking = [key for key in rule.needs if not self.given(key)]
        useless = [key for key in rule.without if self.given(key)]
        if not lacking + useless or any(self.place_of(key).source.startswith(source_of("")) for key in useless):
            return False
        needed = [key for key in rule.needs if key in OWN]
        found = [f"`{key}`" for key in useless] + [f"no `{key}`" for key in lacking]
        more = [spelled(f"--unset control.{key}", f'"control.{key}": None') for key in useless]
        for key in lacking:
            example = self.fields[key].example
            more.append(spelled(f"--set control.{key}={example}", f'"control.{key}": {example}'))
        place = self.value_node("law").place
        law = self.law
        gains = f"the gains of {law}, {' and '.join(needed)}, and no others"
        expected = gains if needed else f"`output`, and no gains with {law}"
        mend = f"add {spelled(' ', ', ').join(more)}"
        context.below("law").add(place, expected, " and ".join(found), mend)
        return True

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        if key == "target":
            return "either target or reference", "both", "take one of them out"
        if key in OF_TOOL:
            return "`space: tool`", f"`{key}` of joints", f"add `space: tool`, or take `{key}` out"
        if rule.key == "space":
            return "no derivative of this kind in the space of a tool", f"`{key}`", "take it out"
        law = self.law
        needed, _ = LAWS[law]
        if key in INTEGRAL:
            expected = f"no integral with {law}"
        elif key in DERIVATIVE:
            expected = f"no derivative of this kind with {law}"
        else:
            expected = f"the gains of {law}: {' and '.join(needed)}" if needed else f"no gains with {law}"
        others = [name for name, (needs, more) in LAWS.items() if key in (*needs, *more)]
        return expected, f"`{key}`", f"take it out, or write `law: {others[-1] if 'pid' not in others else 'pid'}`"
