"""Tables as other programs write them: columns of numbers beside columns of text, and cells that are missing."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from typing import Any

from armsim.files.faults import MOST, Report, refuse
from armsim.files.nodes import Place, clipped
from armsim.records import record

TIME = ("t_s", "t")  # headings of times
MISSING = ("", "nan", ".nan", "na", "n/a", "null", "none")  # cells without a value, in lower case
MOST_MISSING = 0.1  # share of a column that is read; one cell always may be
MOST_FAULTS = 10_000  # of all columns that are kept in full; beyond, one a column
LISTED = 5  # lines that a message names


@record
class DataTable(Mapping[str, Sequence[float]]):
    """The columns of a table by heading, in the order of the file; NaN where a cell is missing.

    Reading a column raises `FileFaults` where a cell of it is neither a number nor missing, or where more than `MOST_MISSING`
    of them are. Columns that nobody reads may hold anything.

    Attributes:
        path: The file, as messages show it.
        cells: Values by heading; of no meaning where there are faults.
        faults: Faults by heading, of the columns that have some.
        missing: Rows, from 0, whose cells are missing, by heading.
        gaps: The same as faults, not all of very many.
        sha256: Of the bytes of the file, in hexadecimal digits.
        text: The headings of columns in which more cells are no numbers than are, or very many.
        lines: Whether places are lines of text below one of headings, or rows.
    """

    path: str
    cells: Mapping[str, array[float]] = field(repr=False)
    faults: Mapping[str, Report] = field(repr=False)
    missing: Mapping[str, Sequence[int]] = field(repr=False)
    gaps: Mapping[str, Report] = field(repr=False)
    sha256: str
    text: Set[str] = frozenset()
    lines: bool = True

    def __getitem__(self, heading: str) -> array[float]:
        values = self.cells[heading]
        if heading in self.faults:
            if heading in self.text:
                first = self.faults[heading].faults[0]
                mend = "take another column, or write numbers into it"
                raise refuse(first.where, first.path, "a column of numbers", first.found, mend)
            self.faults[heading].raise_if_any()
        missing = self.missing.get(heading, ())
        if len(missing) > max(1.0, MOST_MISSING * len(values)):
            expected = f"a number in every cell, or in all but {MOST_MISSING:.0%} of them"
            found = f"{len(missing)} of {len(values)} cells missing, the first in {self.rows_named(missing[:1])}"
            mend = "leave out the rows without it, or take another column"
            raise refuse(self.top, clipped(heading), expected, found, mend)
        return values

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, heading: object) -> bool:
        return heading in self.cells

    def beside(self, other: DataTable, path: str) -> DataTable:
        """The columns of this table and of another one with the same rows, as one; columns of both are this one's.

        Raises:
            FileFaults: The other has another number of rows.
        """
        own, more = (len(next(iter(table.cells.values()))) for table in (self, other))
        if own != more:
            raise refuse(other.top, "", f"as many rows as {self.path} has, {own}", str(more), "name one of both files")
        kept = ("cells", "faults", "missing", "gaps")
        merged: Any = {name: {**getattr(other, name), **getattr(self, name)} for name in kept}
        return replace(self, path=path, text=self.text | other.text, **merged)

    def is_text(self, heading: str) -> bool:
        """Whether a column has so many cells that are no numbers, or missing, that it is not meant to hold numbers."""
        return heading in self.text or 2 * len(self.missing.get(heading, ())) > len(self.cells.get(heading, ()))

    def complete(self, heading: str) -> array[float]:
        """A column that is a finite number in every cell.

        Raises:
            FileFaults: It is not; says in which cells.
        """
        report = Report()
        for known in (self.faults, self.gaps):
            report.faults += known[heading].faults if heading in known else []
        report.raise_if_any()
        return self[heading]

    @property
    def top(self) -> Place:
        """Where the headings are."""
        return Place(self.path, 1, 1) if self.lines else Place(self.path)

    def place(self, row: int) -> Place:
        """Where a row, from 0, begins."""
        return Place(self.path, row + 2, 1) if self.lines else Place(f"{self.path}, row {row + 1}")

    def rows_named(self, rows: Sequence[int]) -> str:
        """Where rows are, in words; the first `LISTED` of them."""
        numbers = [str(row + (2 if self.lines else 1)) for row in rows[:LISTED]]
        what = ("line" if self.lines else "row") + ("s" if len(numbers) > 1 else "")
        return f"{what} {', '.join(numbers)}" + (", ..." if len(rows) > LISTED else "")

    def skipped(self, rows: Sequence[int]) -> str:
        """A note on rows that were left out because a cell of them is missing."""
        count = len(next(iter(self.cells.values())))
        return f"{len(rows)} of {count} rows skipped, with a cell missing: {self.rows_named(rows)}"


class Findings:
    """Cells of a table that are no numbers, column by column.

    Args:
        headings: Of the columns.
        lines: Takes the faults of whole lines, and of cells in columns that are needed.
        needed: Headings of columns in which every cell must be a number.
    """

    def __init__(self, headings: Sequence[str], lines: Report, needed: Collection[str] = ()) -> None:
        self.headings, self.lines, self.needed = headings, lines, needed
        self.columns: dict[str, Report] = {}
        self.missing: dict[str, array[int]] = {}
        self.gaps: dict[str, Report] = {}
        self.text: set[int] = set()  # columns of which so many cells are no numbers that more would tell nothing
        self._counts: Counter[int] = Counter()
        self._total = self._gaps = 0

    def column(self, heading: str) -> Report:
        """What takes the faults of a column."""
        return self.lines if heading in self.needed else self.columns.setdefault(heading, Report())

    def add(self, i: int, place: Place, cell: str, found: str) -> None:
        """Note a cell of column i that is no number."""
        heading = self.headings[i]
        fault = place, clipped(heading), "a finite number", found, "correct the cell"
        if heading in self.needed:
            self.lines.add(*fault)
        elif is_missing(cell):
            self.missing.setdefault(heading, array("q")).append(place.line - 2)
            if heading not in self.gaps or self._gaps < MOST_FAULTS:
                self.gaps.setdefault(heading, Report()).add(*fault)
                self._gaps += 1
        else:
            self.column(heading).add(*fault)
            self._counts[i] += 1
            self._total += 1
            if self._counts[i] > (MOST if self._total < MOST_FAULTS else 0):
                self.text.add(i)

    def headings_of_text(self, rows: int) -> frozenset[str]:
        """The columns of text among so many rows."""
        return frozenset(
            self.headings[i] for i, count in self._counts.items() if i in self.text or 2 * count > max(rows, 2)
        )


def is_missing(cell: str) -> bool:
    """Whether a cell stands for no value."""
    return cell.strip().strip('"').lower() in MISSING
