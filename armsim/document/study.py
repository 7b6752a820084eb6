"""The study file: every key, with default and meaning. This listing is the authority on the format."""

from __future__ import annotations

from typing import Any

from armsim.document.composite import Document, List, Rule, Subdocument
from armsim.document.kinds import Choice, Flag, Format, Kind, Minimised, Number, Text
from armsim.document.paths import PathError, parse_path
from armsim.errors import UsageError
from armsim.files.faults import join
from armsim.files.nodes import Map, Node, Scalar, Seq, clipped, data_of, shown
from armsim.formulas.quantity import Context
from armsim.formulas.values import (
    EXPECTED,
    MOST_RUNS,
    Drawn,
    Interval,
    Values,
    combinations,
    listed,
    parse_interval,
    parse_values,
)

FORMAT = "armsim/study/1"
GRID = "grid"
SAMPLES = ("random", "latin", "sobol")
TABLES = ("csv", "parquet")
OVER = ("worst", "mean")
SEARCHES = ("nelder_mead", "differential_evolution", "gradient")
MOST_TRIALS = 10**7
MOST_CASES = 10_000
MOST_SEED = 2**53


class ScenarioReference(Kind[Any]):
    """A scenario: a file relative to this one, the name of a shipped one, or its keys."""

    def expected(self, context: Context) -> str:
        return "a scenario file, the name of a shipped scenario, or a scenario's keys"

    def read(self, node: Node, context: Context) -> Any:
        if isinstance(node, Map) or (isinstance(node, Scalar) and isinstance(node.value, str)):
            return node
        return self.fault(node, context)


class Anything(Kind[Any]):
    """What armsim writes down about a study."""

    def expected(self, context: Context) -> str:
        return "what armsim wrote"

    def read(self, node: Node, context: Context) -> Any:
        return data_of(node)


class ByPath(Kind[Any]):
    """Something for each of several paths; with the node of each, to report what is wrong with it.

    Attributes:
        entry: An example of one, where there has to be one.
    """

    entry = ""

    def expected(self, context: Context) -> str:
        return "a mapping from paths, such as control.kp[0], to values"

    def read(self, node: Node, context: Context) -> Any:
        if not isinstance(node, Map):
            return self.fault(node, context)
        if self.entry and not node.entries:
            return self.fault(node, context, f"write for example `{self.entry}`")
        found = {}
        for key, (place, item) in node.entries.items():
            try:
                parse_path(key)
            except PathError as error:
                context.below(clipped(key)).add(place, str(error), clipped(key), "correct the path")
                continue
            found[key] = self.entry_of(item, context.below(key))
        return found

    def entry_of(self, node: Node, context: Context) -> Any:
        """The data of one of them."""
        return node


class Varied(ByPath):
    """What is varied: values for each of several paths."""

    entry = "control.kp[0]: 20:400:20"

    def entry_of(self, node: Node, context: Context) -> Values | None:
        try:
            if isinstance(node, Seq):
                return listed(context.path, [_text(item) for item in node.items])
            if isinstance(node, Scalar) and node.value is not None and not isinstance(node.value, bool):
                return parse_values(node.text)
        except UsageError as error:
            context.add(node.place, *_told(error))
            return None
        context.add(node.place, EXPECTED, shown(node), "write for example 20:400:20 or [20, 40, 80]")
        return None


class Sought(ByPath):
    """What is sought: an interval for each of several paths."""

    entry = "control.kp: 0:200"

    def entry_of(self, node: Node, context: Context) -> Interval | None:
        mend = "write for example 0:200, or log:1:200"
        try:
            if isinstance(node, Scalar) and isinstance(node.value, str):
                return parse_interval(node.text)
        except UsageError as error:
            context.add(node.place, *_told(error))
            return None
        context.add(node.place, "bounds, low:high", shown(node), mend)
        return None


class Sample(Document):
    """Runs that are drawn, in place of the grid of all combinations."""

    method = Choice(
        *SAMPLES, doc="independently, as a Latin hypercube, or as a scrambled Sobol' sequence", example="sobol"
    )
    runs = Number(minimum=1, largest=float(MOST_RUNS), whole=True, doc="how many runs", example="1024")
    seed = Number(minimum=0, largest=float(MOST_SEED), whole=True, default=0.0, doc="of the draws")


class Cases(Document):
    """Cases over which numbers must do: starts, targets, payloads, spreads."""

    vary = Varied(
        doc="values by path: a list, or a text as `armsim sweep --vary` has it", example="{payload.mass: 0:1:3}"
    )
    sample = Subdocument(Sample, doc="draw cases", note="every combination, the last path fastest")

    def check(self, context: Context) -> None:
        check_grid(self, context, f"at most {MOST_CASES} cases", MOST_CASES)


class Tune(Document):
    """Numbers that are sought, by what their runs come to."""

    open = Sought(
        doc="what is sought: bounds by path, `0:200` or `log:1:200`; a list stands for all its numbers",
        example="{control.kp: 0:200}",
    )
    minimise = Minimised(doc="a measure, a formula of measures, or weights of several", example="iae + 0.1*overshoot")
    subject_to = List(
        Text(), default=(), doc="conditions on measures that all runs must meet", example="[max(abs(current_R2)) <= 12]"
    )
    over = Choice(*OVER, default=OVER[0], doc="what counts of all cases")
    stages = List(
        List(Text(), least=1), least=1, doc="paths that are sought one set after the other",
        note="all at once", example="[[control.kp], [control.ki]]",
    )  # fmt: skip
    method = Choice(*SEARCHES, default=SEARCHES[0], doc="how they are sought")
    trials = Number(
        minimum=1, largest=float(MOST_TRIALS), whole=True, doc="how many, at most",
        note="by the method, see docs/tuning.md",
    )  # fmt: skip
    seed = Number(minimum=0, largest=float(MOST_SEED), whole=True, default=0.0, doc="of what is drawn")
    holds = List(
        Text(), doc="conditions on measures under which a run holds", note="see docs/tuning.md",
        example="[settling_time(5e-3) <= 4]",
    )  # fmt: skip
    test = Subdocument(Cases, doc="cases on which the result is tested", note="see docs/tuning.md")


class Study(Document):
    """Many runs of a scenario: what is varied, and what is measured; or what is sought."""

    rules = (
        Rule(given=("tune",), without=("vary", "sample", "measure", "table")),
        Rule(given=("cases",), needs=("tune",)),
        Rule(absent=("tune",), needs=("vary",)),
    )

    format = Format(FORMAT, doc="format and version of this file", example=FORMAT)
    name = Text(name=True, doc="names the study's folder", note="the scenario's name")
    scenario = ScenarioReference(
        of_file=True,
        doc="scenario file relative to this one, name of a shipped scenario, or a scenario's keys",
        example="arm5_hold.yaml",
    )
    set = ByPath(default={}, doc="values in place of the scenario's for all runs, by path", example="{duration: 1}")
    vary = Varied(
        default=None,
        doc="values by path: a list, or a text as `armsim sweep --vary` has it",
        example="{payload.mass: 0:1:11}",
    )
    sample = Subdocument(Sample, doc="draw runs", note="every combination, the last path fastest")
    tune = Subdocument(Tune, default=None, doc="numbers that `armsim tune` seeks")
    cases = Subdocument(Cases, doc="cases over which they must do", note="the scenario alone")
    measure = List(Text(), default=(), doc="names of measures, see docs/measures.md", example="[iae, overshoot]")
    force_step = Flag(default=False, doc="run even with a step that is refused")
    table = Choice(*TABLES, default=TABLES[0], doc="format of the results")
    versions = Anything(doc="written by armsim: its version, and those of what draws", note="none")
    sources = Anything(doc="written by armsim: files with their SHA-256, which are checked", note="none")
    results = Anything(doc="written by armsim: what came of it", note="none")

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        return f"a study that is tuned, without `{key}`", f"`tune` and `{key}`", f"leave `{key}` out, or `tune`"

    def check(self, context: Context) -> None:
        super().check(context)
        check_grid(self, context, f"at most {MOST_RUNS} runs", MOST_RUNS)
        given = self.value_node("vary") if self.given("vary") else None
        for key, (place, _) in given.entries.items() if isinstance(given, Map) else ():
            if key in (self.set or {}):
                mend = "leave one of them out"
                context.report.add(place, join("vary", key), "a path that `set` lacks", "both", mend)


def check_grid(document: Any, context: Context, expected: str, most: int) -> None:
    """Report distributions among the values of `vary` where nothing is drawn, and more than so many combinations."""
    if document.given("sample") or not document.given("vary"):
        return
    vary = document.vary or {}
    for key, values in vary.items():
        if isinstance(values, Drawn):
            mend = "add `sample: {method: sobol, runs: 1024}`, or write points"
            place = document.value_node("vary").entries[key][1].place
            context.below(f"vary.{key}").add(place, "values for a grid", "a distribution", mend)
    many, told = combinations(vary.values())
    if many > most:
        mend = "add `sample: {method: sobol, runs: 1024}`, or give fewer values"
        context.below("vary").add(document.place_of("vary"), expected, f"{told} of them", mend)


def _told(error: UsageError) -> tuple[str, str, str]:
    """What a refusal of values expected, what it found, and how it is mended."""
    parts = dict(line.strip().partition(":")[::2] for line in str(error).splitlines()[1:])
    return parts["expected"].strip(), parts["found"].strip(), parts["mend"].strip()


def _text(node: Node) -> Any:
    """A value as text, a list of numbers as a list of texts; None for what is neither."""
    if isinstance(node, Seq):
        return [item.text if isinstance(item, Scalar) else None for item in node.items]
    return node.text if isinstance(node, Scalar) else None
