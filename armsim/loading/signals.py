"""Functions of the time that a file gives: numbers, formulas, columns of CSV files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from armsim import document
from armsim.expr import Scalar, Table, lookup
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Quantity
from armsim.records import record


@record
class FormulaSignal:
    """A formula of the time and of parameters.

    Attributes:
        formula: The formula.
        parameters: The numbers that it names.
    """

    formula: Formula
    parameters: Mapping[str, Scalar] = field(default_factory=dict)

    def __call__(self, t: Scalar) -> Scalar:
        return self.formula.evaluate({**self.parameters, "t": t})


@record
class ConstantSignal:
    """A number."""

    value: Scalar

    def __call__(self, t: Scalar) -> Scalar:
        return self.value


@record
class RecordedSignal:
    """A column of a CSV file."""

    table: Table

    def __call__(self, t: Scalar) -> Scalar:
        return lookup(self.table, t)


def build_signal(settled: Any, parameters: Mapping[str, Scalar]) -> FormulaSignal | ConstantSignal | RecordedSignal:
    """A signal: recorded, a formula of the time, or a number, which may be open."""
    if isinstance(settled, document.CsvSignal):
        return RecordedSignal(settled.table)
    if isinstance(settled, Quantity):
        assert settled.formula is not None  # it varies
        names = settled.formula.names
        return FormulaSignal(settled.formula, {name: x for name, x in parameters.items() if name in names})
    return ConstantSignal(settled)
