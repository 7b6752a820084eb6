"""Inputs that are columns of CSV files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

from armsim.document.base import Document
from armsim.document.kinds import Choice, Kind, Number, Text
from armsim.errors import FileFaults
from armsim.expr import Table, increases
from armsim.files.csv_reader import Needed, read_csv_columns
from armsim.files.faults import suggestion
from armsim.files.nodes import Node, shown
from armsim.files.source import beside
from armsim.files.table import DataTable
from armsim.formulas.quantity import Context

TIME = "t_s"
LARGEST_TIME = 1e12  # s: clocks that count from 1970 have 2e9


class NamedFile(NamedTuple):
    """A file that a document names.

    Attributes:
        path: As messages name it.
        absolute: Its absolute path.
        sha256: Of its bytes.
    """

    path: str
    absolute: str
    sha256: str


class CsvFile(Document):
    """A CSV file."""

    csv = Text(of_file=True, doc="the file, relative to this one", example="torque.csv")
    sha256 = Text(doc="of the file's bytes", note="not checked")

    file: NamedFile | None = None

    @property
    def file_name(self) -> str:
        """Its file, as messages name it."""
        return str(self.csv if self.file is None else self.file.path)

    @property
    def portable(self) -> Self:
        return self if self.file is None else self.replaced(csv=self.file.absolute, sha256=self.file.sha256)


class CsvSignal(CsvFile):
    """A column of a CSV file; its times are the column `t_s`."""

    column = Text(doc="heading of the column", example="tau_R1_Nm")
    hold = Choice("zero", "linear", default="zero", doc="between two times: the earlier value, or a straight line")

    table: Table  # the column over time

    @classmethod
    def read(cls, node: Node, context: Context, kind: Kind[Any]) -> Self | None:
        signal = super().read(node, context, kind)
        if signal is None or None in (signal.csv, signal.column, signal.hold):
            return None
        csv = read_table(signal, context, lambda headings: (TIME, signal.column))
        return None if csv is None else signal._of(csv, context)

    def _of(self, csv: DataTable, context: Context) -> Self | None:
        """The signal with what its file has; None, with faults in the report, if it has no such column."""
        for key, name in (("csv", TIME), ("column", self.column)):
            if name not in csv:
                value = self.value_node(key)
                wanted = f"a CSV file with a column `{TIME}`, the time"
                expected = f"a column of {csv.path}" if key == "column" else wanted
                stands = shown(value) if key == "column" else f"{csv.path} without it"
                mend = suggestion(name, csv, "columns are") if key == "column" else f"name its time column `{TIME}`"
                context.below(key).add(value.place, expected, stands, mend)
                return None
        try:
            times, values = csv.complete(TIME), csv.complete(self.column)
        except FileFaults as error:
            if not any(fault in context.report.faults for fault in error.faults):
                context.report.faults.extend(error.faults)
            return None
        if not in_order(times, csv, self, context):
            return None
        table = Table(times, values, self.hold)
        return self.having(file=file_of(csv), table=table)

    def within_bounds(self, number: Number, context: Context) -> Self | None:
        """The signal; None, with a fault in the report, where a value or a time is beyond its bounds.

        Args:
            number: What each value is.
            context: Of the mapping.
        """
        x, y, column = self.table.x, self.table.y, f"column `{self.column}` of {self.file_name}"
        for values, largest, what in ((x, LARGEST_TIME, f"times in {self.file_name}"), (y, number.most, column)):
            if max(map(abs, values)) > largest:
                line, value = next((line, x) for line, x in enumerate(values, start=2) if abs(x) > largest)
                expected = f"{what} of a magnitude of {largest:g} at most"
                place, found = self.value_node("csv").place, f"{value:g} in line {line}"
                context.below("csv").add(place, expected, found, "correct the column")
                return None
        return self


def file_of(csv: DataTable) -> NamedFile:
    """The file of a table that has been read."""
    return NamedFile(csv.path, os.path.abspath(csv.path), csv.sha256)


def read_table(document: Any, context: Context, needed: Needed) -> DataTable | None:
    """The table of a document with the keys csv and sha256; None, with a fault in the report, if it is not there or another.

    Args:
        document: As it stands in the file.
        context: Of the document; keeps tables.
        needed: Columns whose faults end the reading of a file that has not been read yet.
    """
    file = beside(context.folder, document.csv)
    if file not in context.tables:
        try:
            context.tables[file] = read_csv_columns(file, needed)
        except FileFaults as error:
            context.tables[file] = None
            if error.faults and not error.faults[0].where.line:  # no file: report it at the key that names it
                fault = error.faults[0]
                place = document.value_node("csv").place
                context.below("csv").add(place, fault.expected, f"{file}: {fault.found}", fault.mend)
            else:
                context.report.faults.extend(error.faults)
    csv = context.tables[file]
    if csv is not None and document.sha256 is not None and document.sha256 != csv.sha256:
        place = document.value_node("sha256").place
        expected = f"the file that was used before, sha256 {document.sha256[:12]}..."
        mend = "restore the file, or take `sha256` out to use it as it is"
        context.below("sha256").add(place, expected, f"{file}: sha256 {csv.sha256[:12]}...", mend)
        return None
    return csv


def in_order(times: Sequence[float], csv: DataTable, document: Document, context: Context) -> bool:
    """Whether times increase; reports where they do not."""
    if increases(times):
        return True
    line, before, after = next((k, a, b) for k, (a, b) in enumerate(pairwise(times), start=3) if not a < b)
    place = document.value_node("csv").place
    expected = f"times that increase from row to row in {csv.path}"
    order = f"{after!r} after {before!r} in line {line}"
    context.below("csv").add(place, expected, order, "sort the rows, and leave each time once")
    return False
