"""Functions of the time that a file gives: numbers, formulas, columns of CSV files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from armsim.expr import Scalar, Table, lookup
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Quantity


@dataclass(frozen=True)
class FormulaSignal:
    """A formula of the time."""

    formula: Formula

    def __call__(self, t: Scalar) -> Scalar:
        return self.formula.evaluate({"t": t})


@dataclass(frozen=True)
class ConstantSignal:
    """A number."""

    value: Scalar

    def __call__(self, t: Scalar) -> Scalar:
        return self.value


@dataclass(frozen=True)
class RecordedSignal:
    """A column of a CSV file."""

    table: Table

    def __call__(self, t: Scalar) -> Scalar:
        return lookup(self.table, t)


def build_signal(read: Any, settled: Any) -> FormulaSignal | ConstantSignal | RecordedSignal:
    """A signal: recorded, a formula of the time, or a number, which may be open."""
    if isinstance(settled, dict):
        return RecordedSignal(settled["table"])
    opened = settled is not read.value
    if isinstance(read, Quantity) and read.formula is not None and "t" in read.formula.names and not opened:
        return FormulaSignal(read.formula)
    return ConstantSignal(settled)
