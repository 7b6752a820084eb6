"""Inputs that are columns of CSV files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from armsim.errors import FileFaults
from armsim.expr import Table, increases
from armsim.files.csv_reader import Needed, read_csv_columns
from armsim.files.document import Map, shown
from armsim.files.faults import suggestion
from armsim.files.source import beside
from armsim.files.table import DataTable
from armsim.formulas.quantity import Context
from armsim.spec.kinds import Number

TIME = "t_s"
OF_TABLE = ("table", "file", "place")  # what is read for a record, which no file says
LARGEST_TIME = 1e12  # s: clocks that count from 1970 have 2e9


def read_recorded(data: dict[str, Any], node: Map, path: str, context: Context) -> dict[str, Any] | None:
    """A CSV signal's data, with `file`, `table` and `sha256` added; None, with faults in the report, if it cannot be read.

    Args:
        data: The values of its keys.
        node: The mapping.
        path: Of the mapping.
        context: Takes faults; its folder is what paths are relative to.
    """
    csv = read_table(data, node, path, context, lambda headings: (TIME, data["column"]))
    if csv is None:
        return None
    file = csv.path
    for key, name in (("csv", TIME), ("column", data["column"])):
        if name not in csv:
            value = node.entries[key][1]
            expected = f"a column of {file}" if key == "column" else f"a CSV file with a column `{TIME}`, the time"
            stands = shown(value) if key == "column" else f"{file} without it"
            mend = suggestion(name, csv, "columns are") if key == "column" else f"name its time column `{TIME}`"
            context.report.add(value.place, f"{path}.{key}", expected, stands, mend)
            return None
    try:
        times, values = csv.complete(TIME), csv.complete(data["column"])
    except FileFaults as error:
        if not any(fault in context.report.faults for fault in error.faults):
            context.report.faults.extend(error.faults)
        return None
    if not in_order(times, csv, node, path, context):
        return None
    table = Table(times, values, data["hold"])
    where = node.entries["csv"][1].place
    found = {"csv": file, "file": os.path.abspath(file), "sha256": csv.sha256, "table": table, "place": where}
    return {**data, **found}


def written_record(data: dict[str, Any]) -> dict[str, Any]:
    """The keys with which a file says what `read_recorded`, or `armsim.spec.motion_file.read_motion`, has read."""
    rest = {key: value for key, value in data.items() if key not in (*OF_TABLE, "csv", "sha256") and value is not None}
    return {"csv": data["file"], **rest, "sha256": data["sha256"]}


def read_table(data: dict[str, Any], node: Map, path: str, context: Context, needed: Needed) -> DataTable | None:
    """The table of a record with the keys csv and sha256; None, with a fault in the report, if it is not there or another.

    Args:
        data: The values of its keys.
        node: The mapping.
        path: Of the mapping.
        context: Takes faults, and keeps tables.
        needed: Columns whose faults end the reading of a file that has not been read yet.
    """
    file = beside(context.folder, data["csv"])
    if file not in context.tables:
        try:
            context.tables[file] = read_csv_columns(file, needed)
        except FileFaults as error:
            context.tables[file] = None
            if error.faults and not error.faults[0].where.line:  # no file: report it at the key that names it
                fault = error.faults[0]
                place = node.entries["csv"][1].place
                context.report.add(place, f"{path}.csv", fault.expected, f"{file}: {fault.found}", fault.mend)
            else:
                context.report.faults.extend(error.faults)
    csv = context.tables[file]
    if csv is not None and data["sha256"] is not None and data["sha256"] != csv.sha256:
        place = node.entries["sha256"][1].place
        expected = f"the file that was used before, sha256 {data['sha256'][:12]}..."
        mend = "restore the file, or take `sha256` out to use it as it is"
        context.report.add(place, f"{path}.sha256", expected, f"{file}: sha256 {csv.sha256[:12]}...", mend)
        return None
    return csv


def in_order(times: Sequence[float], csv: DataTable, node: Map, path: str, context: Context) -> bool:
    """Whether times increase; reports where they do not."""
    if increases(times):
        return True
    line, before, after = next((k, a, b) for k, (a, b) in enumerate(pairwise(times), start=3) if not a < b)
    place = node.entries["csv"][1].place
    expected = f"times that increase from row to row in {csv.path}"
    order = f"{after!r} after {before!r} in line {line}"
    context.report.add(place, f"{path}.csv", expected, order, "sort the rows, and leave each time once")
    return False


def within_bounds(data: dict[str, Any], number: Number, path: str, context: Context) -> dict[str, Any] | None:
    """A CSV signal's data; None, with a fault in the report, where a value or a time is beyond its bounds.

    Args:
        data: As `read_recorded` returns them.
        number: What each value is.
        path: Of the mapping.
        context: Takes the fault.
    """
    table, column = data["table"], f"column `{data['column']}` of {data['csv']}"
    for values, largest, what in ((table.x, LARGEST_TIME, f"times in {data['csv']}"), (table.y, number.most, column)):
        if max(map(abs, values)) > largest:
            line, value = next((line, x) for line, x in enumerate(values, start=2) if abs(x) > largest)
            expected = f"{what} of a magnitude of {largest:g} at most"
            context.report.add(
                data["place"], f"{path}.csv", expected, f"{value:g} in line {line}", "correct the column"
            )
            return None
    return data
