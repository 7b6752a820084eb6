"""From names and formulas to measures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from armsim.errors import UsageError
from armsim.expr import trace
from armsim.files.faults import nearest
from armsim.files.nodes import clipped
from armsim.formulas.formula import Aggregate, Formula, FormulaError, parse_formula
from armsim.measures.catalog import AGGREGATES, KINDS
from armsim.measures.energy import Work
from armsim.measures.expression import Expression, Varying
from armsim.measures.kind import Request, name_of_frame
from armsim.measures.measure import Measure
from armsim.plant import Plant

EXPECTED = "a measure, or a formula of measures"


def measures_of(names: Sequence[str] | str, plant: Plant) -> list[Measure]:
    """The measures of a plant's runs by their names.

    Args:
        names: One, or several: each a name of `armsim.measures.catalog.KINDS`, for a joint as `iae_R2`; or a formula of them and
            of aggregates over time, as `iae + 0.1*max(abs(tau_R2))`. Its result has the name that is given here.
        plant: The plant.

    Raises:
        UsageError: An unknown name, a formula that is none, or a measure that the plant's runs do not have.
    """
    several = [names] if isinstance(names, str) else names
    if not isinstance(several, Iterable) or not all(isinstance(name, str) for name in several):
        raise UsageError.of("measure", "names of measures", repr(names), 'write for example measure=["iae"]')
    reader = _Reader(plant)
    return [reader.measure(name) for name in several]


class _Reader:
    """Reads names of measures for one plant."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.known: dict[str, tuple[str, dict[str, Any]]] = {}  # kind, and which joint, frame or contact, by name
        for name, kind in KINDS.items():
            self.known[name] = name, {}
            if kind.of == "either":
                self.known |= {f"{name}_{joint.name}": (name, {"joint": i}) for i, joint in enumerate(plant.arm.joints)}
            named: Any = {"frame": plant.arm.frames, "contact": plant.arm.contacts}.get(kind.of, ())
            self.known |= {name_of_frame(name, of.name): (name, {"frame": of.name}) for of in named}
        self.works = {f"work_{source}": source for source in plant.loads.others}
        self.aggregates = [*AGGREGATES, *(name for name, (kind, _) in self.known.items() if KINDS[kind].banded)]
        self.words = [name for name in (*self.known, *self.works, *plant.nameable.named) if not name.isidentifier()]

    def measure(self, text: str) -> Measure:
        """The measure of one name or formula."""
        try:
            formula = parse_formula(text, self.aggregates, self.words)
            aggregates = {found.name: found for found in formula.aggregates}
            parts = {name: self.part(name, aggregates.get(name)) for name in sorted(formula.names - {"pi"})}
            if formula.term[0] == "name" and formula.term[1] in parts:
                ((name, part),) = parts.items()
                return replace(part, names=(text,)) if part.names == (name,) else part
            for name, part in parts.items():
                if len(part.names) > 1:
                    one = part.names[0] if part.names[0] in self.known else f"final({part.names[0]})"
                    raise FormulaError(f"`{name}` has {len(part.names)} numbers", f"take one of them, as in {one}")
            check_value(formula, [*parts])
        except FormulaError as error:
            raise _refusal(text, error.problem, error.mend) from None
        return Expression((text,), ("",), formula, parts)

    def part(self, name: str, aggregate: Aggregate | None) -> Measure:
        """The measure that a name in a formula is, or an aggregate."""
        if aggregate is not None and aggregate.function in AGGREGATES:
            return self.aggregated(aggregate)
        word = name if aggregate is None else aggregate.function
        if word not in (*self.known, *self.works):
            raise FormulaError(f"there is no `{clipped(word)}`", self.hint(word))
        if word in self.works:
            return Work((name,), ("J",), self.works[word])
        kind, which = self.known[word]
        band = None if aggregate is None else _number(aggregate.argument)
        return KINDS[kind].make(Request(name, self.plant, band=band, **which))

    def hint(self, word: str) -> str:
        """What to write instead of an unknown name."""
        if word in self.plant.nameable.named or word == "t":
            return f"say what of it, for example max({word}) or final({word}); aggregates are {', '.join(AGGREGATES)}"
        if word in AGGREGATES:
            return f"say of what, for example {word}(abs(q_{self.first}))"
        return _meant(word, self.known) or f"measures are {', '.join(KINDS)}; `name_{self.first}` is that of a joint"

    @property
    def first(self) -> str:
        """The first joint's name."""
        return self.plant.arm.joints[0].name

    def aggregated(self, aggregate: Aggregate) -> Measure:
        """The measure of an aggregate over time."""
        kind, formula = AGGREGATES[aggregate.function], aggregate.argument
        for word in sorted(formula.names - {"pi", "t"}):
            if word not in self.plant.nameable.named:
                raise FormulaError(f"there is no column `{clipped(word)}`", self.column_hint(word))
        check_value(formula, sorted(formula.names - {"pi"}))
        return kind.make((aggregate.name,), (kind.unit(self.unit(formula)),), Varying(formula))

    def column_hint(self, word: str) -> str:
        """What to write instead of an unknown column."""
        if word in self.known:
            return f"`{word}` is a measure, one number for the whole run: take it out of the brackets"
        return _meant(word, self.plant.nameable.named) or "columns are those of docs/columns.md, and t"

    def unit(self, formula: Formula) -> str:
        """The unit of a formula that is one column; empty for all others."""
        if formula.term == ("name", "t"):
            return "s"
        if formula.term[0] != "name" or formula.term[1] == "pi":
            return ""
        unit = self.plant.nameable.named[formula.term[1]].unit
        return "" if unit == "1" else unit


def _meant(word: str, known: Collection[str]) -> str | None:
    close = nearest(word, known)
    return None if close is None else f"did you mean `{close}`?"


def check_value(formula: Formula, names: Sequence[str]) -> None:
    """Raises FormulaError where the formula has no value whatever its names are."""
    try:
        trace(lambda *x: [formula.evaluate(dict(zip(names, x, strict=True)))], names)
    except ValueError:  # a constant that is no number
        raise FormulaError("it has no value") from None


def _number(formula: Formula) -> float:
    """The value of a formula of numbers and pi."""
    for name in sorted(formula.names - {"pi"}):
        raise FormulaError(f"`{name}` in a band, which is a number", "write a number of rad or m")
    return float(formula.evaluate({}))


def _refusal(text: str, problem: str, mend: str) -> UsageError:
    found = f"{problem}" if text.isidentifier() else f'"{clipped(text)}" ({problem})'
    return UsageError.of(f"measure `{clipped(text)}`", EXPECTED, found, mend or "correct the formula")
