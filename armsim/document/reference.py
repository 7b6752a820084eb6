"""The keys of `control.reference`: what the joints should do over time."""

from __future__ import annotations

from typing import Any, Self

from armsim.document import other_words as words
from armsim.document.bodies import FrameName
from armsim.document.composite import Choice, Kind, List, Number, PerJoint, Rule, Subdocument, Text
from armsim.document.kinds import Flag
from armsim.document.motion_file import MotionTables, read_motion
from armsim.document.recorded import NamedFile, file_of
from armsim.document.reference_points import MOST_POINTS, POSITION, IncreasingTimes, Profile, ViaPoints
from armsim.document.tool_path import TOOL_LIMITS, Move, PathMove
from armsim.files.nodes import Map, Node, Seq
from armsim.formulas.quantity import Context

STRAIGHT = ("cubic", "quintic", "trapezoid", "jerk_limited")  # from point to point, with a stop at each
SMOOTH = ("minimum_jerk", "spline")  # through the points
OSCILLATIONS = ("sinusoid", "chirp", "multisine")
LIMITS = ("speed", "acceleration", "jerk")
SOURCES = ("via", "csv", "q", "line", "arc", "path")
TOOL = ("line", "arc", "path")  # what a tool follows
FREQUENCY = "Hz"


def limit(quantity: str, unit: str, example: str, note: str) -> PerJoint:
    """The key of a limit."""
    return PerJoint(
        Number(unit, angle=True, above=0),
        one_for_all=True,
        doc=f"greatest {quantity}, one per joint or one for all",
        note=note,
        example=example,
    )


class Reference(Move):
    """What the joints should do over time: points, a path of the tool, rows of a file, formulas of the time t, or an oscillation.

    A list of formulas may stand for `{q: [...]}`. docs/references.md has an example of each.
    """

    other_words = words.REFERENCE

    profile = Profile(
        *SMOOTH,
        *STRAIGHT,
        "steps",
        *OSCILLATIONS,
        doc="how the points are joined, or the name of an oscillation",
        note="`minimum_jerk` with `times`; `trapezoid` with limits, `jerk_limited` with one of `jerk`",
        example="minimum_jerk",
    )
    via = ViaPoints(
        PerJoint(Number(POSITION, angle=True)),
        least=1,
        most=MOST_POINTS,
        default=None,
        doc="points, each with one position per joint; the motion begins at `initial.q`, or at the first where that has time 0",
        example="[[0.5, -0.3]]",
    )
    path = List(
        Subdocument(PathMove),
        structure=True,
        single=True,
        least=1,
        most=MOST_POINTS,
        doc="moves of the tool, one after the other, from where it is at `initial.q`",
        note="none",
        example="[{line: [0.4, 0.2, 0.3]}]",
    )
    frame = FrameName(doc="the frame that follows a line, an arc or a path", note="`tool`", example="left_tip")
    orientation = Choice(
        "full",
        "x",
        "y",
        "z",
        "free",
        doc="what the frame keeps to besides its position: all of the orientation, the direction of one of its axes, or nothing",
        note="`full`",
        example="z",
    )
    angular_speed = Number(
        "rad/s",
        angle=True,
        structure=True,
        above=0,
        doc="greatest angular speed of the tool, where there are no `times`",
        note="none",
        example="1",
    )
    fastest = Flag(
        default=False,
        structure=True,
        doc="whether the path is followed in the least time that all limits of arm, motors and reference allow",
    )
    margin = Number(
        structure=True,
        minimum=0,
        largest=0.95,
        doc="share of every limit that the fastest motion leaves unused",
        note="0",
        example="10 %",
    )
    path_speeds = List(
        Number("rad/s or m/s", minimum=0),
        length=2,
        structure=True,
        doc="at the ends of the fastest motion: the norm of the joints' speeds, or the speed of the tool",
        note="at rest",
        example="[0, 0.5]",
    )
    times = IncreasingTimes(
        Number("s", minimum=0, absent=0.0),
        least=1,
        doc="when it is at each point",
        note="as limits allow",
        example="[1.5]",
    )
    speed = limit("speed, where there are no `times`", "rad/s or m/s", "1.5", "none")
    acceleration = limit("acceleration", "rad/s² or m/s²", "4", "none; needed with `speed`")
    jerk = limit("jerk", "rad/s³ or m/s³", "40", "none; `jerk_limited` needs it, `fastest` takes it")
    start = Number("s", minimum=0, doc="when a motion within limits begins", note="0", example="0.5")
    ends = Choice("clamped", "natural", doc="a `spline`'s ends: at rest, or without acceleration", note="`clamped`")
    amplitude = PerJoint(
        Number(POSITION, angle=True),
        one_for_all=True,
        doc="of an oscillation, one per joint or one for all; of each part of a `multisine`",
        note="none; oscillations need it",
        example="0.3",
    )
    frequency = PerJoint(
        Number(FREQUENCY, above=0),
        one_for_all=True,
        doc="of a `sinusoid`; at t = 0 of a `chirp`",
        note="none; both need it",
        example="0.5",
    )
    end_frequency = PerJoint(
        Number(FREQUENCY, above=0),
        one_for_all=True,
        doc="of a `chirp`, at its end",
        note="none; it needs it",
        example="5",
    )
    duration = Number(
        "s",
        structure=True,
        above=0,
        doc="of a `chirp`, which holds afterwards",
        note="none; it needs it",
        example="10",
    )
    sweep = Choice(
        "linear",
        "exponential",
        doc="of a `chirp`: equal times per Hz, or per octave",
        note="`linear`",
        example="exponential",
    )
    frequencies = List(
        Number(FREQUENCY, above=0),
        least=1,
        most=MOST_POINTS,
        doc="of the parts of a `multisine`",
        note="none; it needs them",
        example="[0.5, 1, 1.5]",
    )
    phase = PerJoint(
        Number("rad", angle=True),
        one_for_all=True,
        doc="of a `sinusoid`, added to those of a `multisine`",
        note="0",
        example="pi/2",
    )
    offset = PerJoint(Number(POSITION, angle=True), doc="about which it oscillates, one per joint", note="`initial.q`")
    csv = Text(
        of_file=True,
        doc="a file with the columns `t_s` and, for each joint as in trajectory.csv, q, and qd and qdd if there are any",
        note="none",
        example="moves.csv",
    )
    interpolation = Choice(
        "linear",
        "cubic",
        "quintic",
        doc="the spline through the rows of a file without qd: of order 1, 3 or 5",
        note="`cubic`",
        example="quintic",
    )
    sha256 = Text(doc="of the file's bytes", note="not checked")
    q = PerJoint(
        Number(POSITION, angle=True, of_time=True, example="0.3*sin(2*t)"),
        doc="a formula of the time `t` [s] for each joint; its derivatives are exact",
        note="none",
        example='["0.3*sin(2*t)", 0]',
    )

    file: NamedFile | None = None  # that of `csv`
    rows: MotionTables | None = None  # what it has

    @property
    def portable(self) -> Self:
        return self if self.file is None else self.replaced(csv=self.file.absolute, sha256=self.file.sha256)

    @property
    def joined_by(self) -> str:
        """The name of the profile that joins its points, also where the file leaves it to armsim."""
        if self.profile is not None:
            return str(self.profile)
        return "minimum_jerk" if self.times is not None else "trapezoid" if self.jerk is None else "jerk_limited"

    @property
    def of_tool(self) -> bool:
        """Whether a tool follows a path."""
        return any(self.entries.get(key) is not None for key in TOOL)

    @classmethod
    def read_field(cls, name: str, node: Map, context: Context) -> Any:
        value = node.get(name)
        if name in LIMITS and value is not None and any(node.get(key) is not None for key in TOOL):
            return TOOL_LIMITS[name].read(value, context.below(name))
        return super().read_field(name, node, context)

    @classmethod
    def read(cls, node: Node, context: Context, kind: Kind[Any]) -> Self | None:
        if isinstance(node, Seq):
            node = Map({"q": (node.place, node)}, node.place)
        before = len(context.report.faults)
        reference = super().read(node, context, kind)
        if reference is None or reference.csv is None or len(context.report.faults) > before:
            return reference
        found = read_motion(reference, context)
        if found is None:
            return reference.replaced(csv=None)
        csv, rows = found
        return reference.having(file=file_of(csv), rows=rows)

    @classmethod
    def expected(cls, context: Context) -> str:
        return "a mapping with `via`, `csv`, `q` or `profile: sinusoid`, or a list of formulas of the time t"

    def check(self, context: Context) -> None:
        before = len(context.report.faults)
        if not self._check_source(context):
            return
        super().check(context)
        invalid = any(self.entries[key] is None and self.given(key) for key in self.fields)  # which is reported
        if invalid or len(context.report.faults) > before:
            return
        if self.fastest:
            self._check_fastest(context)
        elif self.via is not None or self.of_tool:
            self._check_points(context)
        if self.ends is not None and self.profile != "spline":
            mend = "take it out, or add `profile: spline`"
            context.below("ends").add(self.place_of("ends"), "ends of a spline", "no spline", mend)
        if self.sweep == "exponential":
            self._check_sweep(context)

    def _check_source(self, context: Context) -> bool:
        """Report a reference of nothing, or of several things."""
        given = [key for key in SOURCES if self.given(key)]
        oscillates = self.profile in OSCILLATIONS
        if len(given) + oscillates == 1 or (self.given("profile") and self.profile is None):
            return True
        if not given and any(key not in self.fields for key in self.keys_in_file):
            return False  # what it is may be told by a key with a slip in it, which is reported
        several = [f"`{key}`" for key in given] + [f"`profile: {self.profile}`"] * oscillates
        expected = (
            "points (`via`), a tool's `line`, `arc` or `path`, a file (`csv`), formulas (`q`) or `profile: sinusoid`"
        )
        mend = "take out all but one" if several else "add for example `via: [[0.5, -0.3]]` and `times: [1.5]`"
        if not several and self.given("amplitude"):
            mend = "add `profile: sinusoid`, `chirp` or `multisine`"
        context.add(self.place, expected, " and ".join(several) or "none of them", mend)
        return False

    def _check_fastest(self, context: Context) -> None:
        """Report a way of joining points that is no path, or has times of its own."""
        for key, fits in (("profile", ("spline",)), ("interpolation", ("cubic", "quintic"))):
            value = self.entries[key]
            if value not in (None, *fits):
                expected = (
                    f"{' or '.join(f'`{key}: {fit}`' for fit in fits)} for a path to be followed in the least time"
                )
                context.below(key).add(self.place_of(key), expected, f"`{value}`", "take it out")

    def _check_points(self, context: Context) -> None:
        """Report points without times or limits, and times that do not belong to the points."""
        points = self.value_node(next(filter(self.given, SOURCES)))
        many = len(self.via or self.path or "1")
        times = self.value_node("times") if self.given("times") else None
        if times is None and not self.given("speed") and not all(move.duration for move in self.path or [self]):
            mend = f"add `times: [...]`, {many} of them, or `speed: 1.5` and `acceleration: 4`"
            context.add(points.place, "when the points are reached", "neither `times` nor `speed`", mend)
        elif times is not None and len(self.times) != many:
            expected = f"a time for each point, {many}"
            context.below("times").add(times.place, expected, f"{len(self.times)}", "give as many")
        elif (
            times is not None
            and (many == 1 or self.of_tool)
            and self.times[0] is not None
            and self.times[0].value == 0.0
        ):
            mend = "give a second point, or a time above 0; a pose that is only held is `target`"
            context.below("times").add(times.place, "a motion", "one point, from the start on", mend)
        elif self.profile == "spline" and self.given("jerk"):
            context.below("jerk").add(self.place_of("jerk"), *self.unwanted("jerk", Rule()))
        elif times is None and self.profile == "minimum_jerk" and many > 1:
            expected = "times for minimum_jerk through several points"
            mend = "write `times`, or `profile: spline` through the points, or `quintic` with a stop at each"
            context.below("profile").add(points.place, expected, "limits alone", mend)

    def _check_sweep(self, context: Context) -> None:
        """Report an exponential sweep from a frequency to the same one, which has no rate."""
        if any(a.value == b.value for a, b in zip(self.frequency, self.end_frequency, strict=True)):
            place, expected = self.value_node("end_frequency").place, "another frequency than at its beginning"
            mend = "write another one, or take `profile: sinusoid`"
            context.below("end_frequency").add(place, expected, "the same", mend)

    def lacks(self, key: str, context: Context) -> None:
        kind = (TOOL_LIMITS if self.of_tool and key in LIMITS else self.fields)[key]
        why = self.profile or next((limit for limit in LIMITS if self.entries[limit] is not None), "it")
        why = "arc" if key == "through" else why
        found = f"nothing, and `{why}` needs it"
        context.below(key).add(self.place, kind.expected(context), found, f"add `{key}: {kind.example}`")

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        if self.times is not None and key in (*LIMITS, "start"):
            return "either times or limits", f"`times` and `{key}`", "take one of them out"
        if rule.key == "fastest" and self.fastest:
            return "keys of the fastest motion", f"`{key}`", "take it out"
        if rule.key == "fastest" and not rule.given:
            return "`fastest: true` with it", f"`{key}`", "take it out, or add `fastest: true`"
        if rule.key == "orientation":
            return "positions alone, with `orientation: free`", f"`{key}`", "take one of them out"
        if key == "profile" and self.of_tool:
            return (
                f"{', '.join(('minimum_jerk', *STRAIGHT))} along a path of the tool",
                f"`{self.profile}`",
                "take it out",
            )
        of = next((f"`{source}`" for source in SOURCES if self.entries[source] is not None), "")
        if self.profile is not None:
            of = f"`{self.profile}`"
        return f"keys of {of}", f"`{key}`", "take it out"


def _rules() -> tuple[Rule, ...]:
    """Which keys go with which."""
    of_points = ("times", *LIMITS, "start", "ends")
    of_fastest = ("margin", "path_speeds")
    of_oscillations = {
        "sinusoid": (("amplitude", "frequency"), ("phase", "offset")),
        "chirp": (("amplitude", "frequency", "end_frequency", "duration"), ("sweep", "offset")),
        "multisine": (("amplitude", "frequencies"), ("phase", "offset")),
    }
    waves = tuple(dict.fromkeys(key for needs, may in of_oscillations.values() for key in needs + may))
    of_file = ("interpolation", "sha256")
    of_tool = ("through", "rpy", "quaternion", "blend", "frame", "orientation", "angular_speed")
    every: dict[Any, tuple[str, ...]] = {
        "via": waves + of_file + of_tool,
        "csv": ("profile", "times", "ends", *waves, *of_tool),
        "q": ("profile", *of_points, *waves, *of_file, *of_tool, *of_fastest),
        "line": ("through", *waves, *of_file),
        "arc": waves + of_file,
        "path": ("through", "rpy", "quaternion", *waves, *of_file),
    }
    rules = [Rule(given=(source,), without=without) for source, without in every.items()]
    rules.append(Rule(given=("q",), default=("fastest",)))
    rules += [Rule("orientation", ("free",), without=("rpy", "quaternion"), each=each) for each in ("", "path")]
    rules += [Rule("profile", ("spline", "steps"), given=(source,), without=("profile",)) for source in TOOL]
    rules += [Rule(given=("arc",), needs=("through",)), Rule(given=("rpy",), without=("quaternion",))]
    for name, (needs, may) in of_oscillations.items():
        rules.append(
            Rule(
                "profile",
                (name,),
                needs=needs,
                default=("fastest",),
                without=of_points
                + of_file
                + of_tool
                + of_fastest
                + tuple(key for key in waves if key not in needs + may),
            )
        )
    return (
        *rules,
        Rule("fastest", (True,), without=("times", "ends")),
        Rule("fastest", (False,), without=("margin", "path_speeds")),
        Rule("fastest", (False,), given=("csv",), without=(*LIMITS, "start")),
        Rule(given=("times",), without=(*LIMITS, "start", "angular_speed")),
        Rule("profile", ("jerk_limited",), needs=LIMITS, without=("times",)),
        Rule("profile", ("steps",), needs=("times",)),
        Rule("profile", ("cubic", "trapezoid"), without=("jerk",)),
        Rule("profile", (*STRAIGHT, "minimum_jerk", "steps"), without=("ends",)),
        Rule("fastest", (False,), given=("speed",), absent=("times",), needs=("acceleration",)),
        Rule(given=("speed",), without=("ends",)),
        Rule("fastest", (False,), given=("acceleration",), absent=("times",), needs=("speed",)),
        Rule("fastest", (False,), given=("jerk",), absent=("times",), needs=("speed",)),
        Rule("fastest", (False,), given=("start",), absent=("times",), needs=("speed",)),
    )


Reference.rules = _rules()
