"""Formulas of measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armsim.expr import Scalars, divided
from armsim.formulas.formula import Formula
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.records import record


@record
class Expression(Measure):
    """A formula whose names are measures of one number.

    Attributes:
        formula: The formula.
        parts: Each by its name in the formula.
    """

    formula: Formula
    parts: Mapping[str, Measure]

    @property
    def needs_work(self) -> bool:
        return any(part.needs_work for part in self.parts.values())

    def begin(self) -> Any:
        return {name: part.begin() for name, part in self.parts.items()}

    def update(self, kept: Any, now: Moment) -> Any:
        return {name: part.update(kept[name], now) for name, part in self.parts.items()}

    def result(self, kept: Any, end: Moment) -> Scalars:
        values = {name: part.result(kept[name], end)[0] for name, part in self.parts.items()}
        return [self.formula.evaluate(values, divide=divided)]


@record
class Varying:
    """A formula of columns and of the time, as it varies over a run.

    Attributes:
        formula: The formula.
    """

    formula: Formula

    def __call__(self, now: Moment) -> Scalars:
        names = self.formula.names - {"pi"}
        values = {name: now.t if name == "t" else now.column(name) for name in names}
        return [self.formula.evaluate(values, divide=divided)]
