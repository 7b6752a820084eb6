"""Columns of other programs' tables under armsim's names, as they stand or by formulas of them."""

from __future__ import annotations

import math
import os
from array import array
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike

import numpy as np

from armsim.arrays import Array
from armsim.errors import FileFaults
from armsim.files.faults import Report, refuse, suggestion
from armsim.files.nodes import Map, Node, Place, Scalar, clipped, shown
from armsim.files.table import DataTable
from armsim.files.yaml_reader import parse_yaml, read_yaml
from armsim.formulas.formula import Formula, FormulaError, parse_formula

Columns = str | PathLike[str] | Mapping[str, str]
EXAMPLE = "q_R1_rad: (enc1 - 2048)*2*pi/4096"
QUOTE = "`"  # about names of columns that are no identifiers, as pandas has it


def renamed(table: DataTable, columns: Columns | None, known: Sequence[str], of: str) -> Mapping[str, Sequence[float]]:
    """A table with columns of armsim's names beside its own.

    Args:
        table: The table.
        columns: From armsim's names to the table's columns or formulas of them: a YAML file, its text in braces, or a mapping;
            None for no more than the table's own.
        known: The names that may be asked for.
        of: Whose they are, for messages.

    Raises:
        FileFaults: The YAML cannot be read, or a name or a formula is faulty; or a column that is used is no column of numbers.
    """
    if columns is None:
        return table
    report = Report()
    made: dict[str, Sequence[float]] = {}
    for name, (place, text) in _entries(columns).items():
        if name not in known:
            mend = suggestion(name, known, "for example")
            report.add(place, "", f"a name of armsim's for a column of {of}", f"`{clipped(name)}`", mend)
            continue
        try:
            made[name] = table[text] if text in table else array("d", _computed(text, table, place, name).tobytes())
        except FileFaults as error:
            report.faults += error.faults
    report.raise_if_any()
    return ChainMap(made, table)  # type: ignore[arg-type]  # nothing writes into it


def _entries(columns: Columns) -> dict[str, tuple[Place, str]]:
    """Columns or formulas by armsim's name, with their places."""
    if isinstance(columns, Mapping):
        return {name: (Place("columns"), str(column)) for name, column in columns.items()}
    path = os.fspath(columns)
    root: Node = parse_yaml(path, "--columns") if path.lstrip().startswith("{") else read_yaml(path)[0]
    mend = f"write lines such as `{EXAMPLE}`, armsim's name first"
    if not isinstance(root, Map):
        raise refuse(root.place, "", "a mapping from armsim's names to columns of the log", shown(root), mend)
    entries = {}
    for name, (place, node) in root.entries.items():
        if not isinstance(node, Scalar):
            raise refuse(node.place, name, "the name of a column, or a formula", shown(node), mend)
        entries[name] = (place, node.text)
    return entries


def _computed(text: str, table: DataTable, place: Place, name: str) -> Array:
    """A formula of columns, row by row; NaN where a cell is missing.

    Raises:
        FileFaults: It is no formula of columns of numbers, or has no finite value in some row.
    """
    spelled = {f"{QUOTE}{heading}{QUOTE}": heading for heading in table}
    try:
        formula = parse_formula(text, words=[word for word in spelled if word in text])
    except FormulaError as error:
        raise _faulty(text, table, place, name, error) from None
    sources = {word: spelled.get(word, word) for word in sorted(formula.names) if word != "pi"}
    for heading in sources.values():
        if heading not in table:
            found = f"`{clipped(heading)}`" + ("" if heading == text.strip() else f" in `{clipped(text)}`")
            mend = suggestion(heading, table, "columns are")
            raise refuse(place, name, f"a column of {table.path}", found, mend)
    values = {word: np.array(table[heading]) for word, heading in sources.items()}
    count = len(next(iter(table.cells.values())))
    try:
        result = evaluated(formula, values, count)
    except FormulaError as error:
        raise _faulty(text, table, place, name, error) from None
    given = np.all([np.isfinite(x) for x in values.values()], axis=0) if values else np.ones(count, bool)
    lost = given & ~np.isfinite(result)
    if lost.any():
        row = int(np.argmax(lost))
        at = ", ".join(f"{heading} = {values[word][row]:g}" for word, heading in sources.items())
        found = f"`{clipped(text)}` has none in {table.rows_named([row])}, where {clipped(at)}"
        raise refuse(place, name, "a finite number in every row", found, "correct the formula, or the cell")
    result[~given] = math.nan
    return result


def evaluated(formula: Formula, values: Mapping[str, Array], count: int) -> Array:
    """A formula of arrays, element by element; the bits of its value on floats.

    Args:
        formula: The formula.
        values: Arrays of shape (count,) by its names.
        count: Number of elements.

    Raises:
        FormulaError: It has no value whatever the arrays hold.
    """
    if not values:
        return np.full(count, float(formula.evaluate({})))
    from armsim.compile import BatchKernel
    from armsim.expr import trace

    names = [*values]

    def body(*scalars: object) -> Iterator[object]:
        yield formula.evaluate(dict(zip(names, scalars, strict=True)))

    rows, result = np.column_stack([values[name] for name in names]), np.empty(count)
    kernel = BatchKernel(trace(body, [f"x{k}" for k in range(len(names))], "formula"))
    kernel([(rows.ctypes.data, rows.strides[0])], result.ctypes.data, count)
    return result


def _faulty(text: str, table: DataTable, place: Place, name: str, error: FormulaError) -> FileFaults:
    """The refusal of a formula; tells how a column is named whose name is no identifier."""
    mend = error.mend or f"write for example `{EXAMPLE}`"
    inside = [
        heading for heading in table if heading in text and not heading.isidentifier() and not _is_number(heading)
    ]
    if inside:
        longest = max(inside, key=len)
        mend = f'put the name into backquotes, and all into quotes: "{QUOTE}{longest}{QUOTE}*1e-3"'
    found = f"`{clipped(text)}` ({error.problem})"
    return refuse(place, name, "a column, or a formula of columns", found, clipped(mend, 200))


def _is_number(text: str) -> bool:
    return not text or text[0] in "0123456789.+-"
