"""What a report consists of: lines of text, and tables, which a terminal of 80 columns and a page show each in its way."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from armsim.model import JOINT_TYPES
from armsim.records import record
from armsim.terminal.streams import bold
from armsim.text_columns import WIDTH, aligned, column_widths, row_width

Cell = str | tuple[str, str]  # text, or a number's text and its unit
Row = list[Cell]


@record
class ReportTable:
    """A table: the first column is left-aligned, the others right-aligned.

    As text, units stand after their numbers. Where that is too wide, a column's common unit goes under its heading; where that
    is still too wide, the columns go below one another in blocks, each beginning with the first column.

    Attributes:
        headings: One per column.
        rows: As many cells in each, text or (number, unit); the first of each is text.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def __str__(self) -> str:
        headings, lines = self.headings, self.texts
        if _width([headings, *lines]) <= WIDTH:
            return _text([headings, *lines], 1)
        units = [_common([row[i] for row in self.rows]) for i in range(len(headings))]
        lines = [
            [cell[0] if isinstance(cell, tuple) and units[i] else line[i] for i, cell in enumerate(row)]
            for row, line in zip(self.rows, lines, strict=True)
        ]
        lines = [list(headings), units, *lines]
        blocks = [[0]]
        for i in range(1, len(headings)):
            if len(blocks[-1]) > 1 and _width([[line[k] for k in (*blocks[-1], i)] for line in lines]) > WIDTH:
                blocks.append([0])
            blocks[-1].append(i)
        parts = []
        for block in blocks:
            cells = [[line[i] for i in block] for line in lines]
            heads = [row for row in cells[:2] if any(row)]
            parts.append(_text([*heads, *cells[2:]], len(heads)))
        return "\n\n".join(parts)

    @property
    def texts(self) -> list[list[str]]:
        """The rows as texts, units after their numbers."""
        return [
            [" ".join(filter(None, cell)) if isinstance(cell, tuple) else cell for cell in row] for row in self.rows
        ]


Line = str | ReportTable
Report = list[Line]  # a line may be several, as `wrapped` makes them


def sections(*parts: Iterable[Line]) -> Report:
    """One report of several, without those that are empty, an empty line between them."""
    found: Report = []
    for part in filter(None, map(list, parts)):
        found += [*([""] if found else []), *part]
    return found


def wrapped(text: str) -> str:
    """Text on lines that fit, all but the first indented."""
    return textwrap.fill(text, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def number(value: float | None, digits: int = 5) -> str:
    """A number to some significant digits; a dash for none."""
    if value is None or value != value:
        return "-"
    if value == 0 or abs(value) < 1e-12:
        return "0"
    return f"{value:.{digits}g}"


def measured(value: float | None, unit: str, digits: int = 5) -> Cell:
    """A number to some significant digits with its unit; a dash for none."""
    return "-" if value is None else (number(value, digits), unit)


def numbers(values: Sequence[float], digits: int = 5) -> list[str]:
    """Numbers of one kind to some significant digits; those below rounding of the largest are 0."""
    noise = 1e-14 * max((abs(value) for value in values), default=0.0)
    return [number(0.0 if abs(value) <= noise else value, digits) for value in values]


def fixed(value: float, decimals: int) -> str:
    """A number with a fixed number of decimals."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def joint_unit(type: str, degrees: bool, rate: str = "") -> str:
    """The unit in which a joint's position is shown; see `JointType.unit`."""
    return JOINT_TYPES[type].unit(degrees, rate)


def force_unit(type: str) -> str:
    """The unit of a joint's force."""
    return JOINT_TYPES[type].force


def _common(cells: Sequence[Cell]) -> str:
    """The unit that all numbers of a column share; empty if they do not."""
    units = {cell[1] for cell in cells if isinstance(cell, tuple)}
    return units.pop() if len(units) == 1 else ""


def _width(lines: Sequence[Sequence[str]]) -> int:
    return row_width(column_widths(lines))


def _text(lines: Sequence[Sequence[str]], heads: int) -> str:
    text = aligned(lines, "<>")
    return "\n".join([*map(bold, text[:heads]), *text[heads:]])
