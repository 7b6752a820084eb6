"""Columns of numbers from a CSV file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from armsim.files.document import Place, clipped
from armsim.files.faults import Report, refuse

FOREIGN = {";": "semicolons", "\t": "tabs"}  # separators of other programs


@dataclass(frozen=True)
class Csv:
    """A table of numbers.

    Attributes:
        columns: Values by heading, in the order of the file.
        raw: The bytes of the file.
    """

    columns: dict[str, list[float]]
    raw: bytes


def read_csv(path: str) -> Csv:
    """The columns of a CSV file: headings in the first line, one number in every cell below.

    Args:
        path: The file; messages show it as given.

    Raises:
        FileFaults: It cannot be read, or a cell is not a finite number; the message names file, line and column.
    """
    place = Place(path)
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        raise refuse(place, "", "a CSV file", "no file of this name", "check the name and the folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise refuse(place, "", "a CSV file that can be read", reason, "check its name and permissions") from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise refuse(place, "", "a CSV file in UTF-8", "other bytes", "save it as text in UTF-8") from None
    lines = text.splitlines()
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise refuse(place, "", "a CSV file with headings", "an empty file", "write the headings in the first line")
    headings = _cells(lines[0])
    foreign = next((name for mark, name in FOREIGN.items() if len(headings) == 1 and mark in headings[0]), None)
    if foreign is not None:
        mend = "save it with commas between cells, and points in numbers"
        raise refuse(Place(path, 1, 1), "", "headings and cells separated by commas", foreign, mend)
    report = Report()
    for name in {name for name in headings if headings.count(name) > 1}:
        report.add(Place(path, 1, 1), "", "each heading once", f"`{clipped(name)}` twice", "rename one of the columns")
    rows = [_row(line, number, headings, path, report) for number, line in enumerate(lines[1:], start=2)]
    if not rows:
        report.add(
            Place(path, 1, 1), "", "rows of numbers below the headings", "no rows", "check that it is the right file"
        )
    report.raise_if_any()
    columns = zip(*rows, strict=True)
    return Csv({name: list(column) for name, column in zip(headings, columns, strict=True)}, raw)


def _row(line: str, number: int, headings: list[str], path: str, report: Report) -> list[float]:
    """The numbers of one line."""
    cells = _cells(line) if '"' in line else line.split(",")
    if len(cells) != len(headings):
        expected = f"{len(headings)} cells, as many as headings"
        report.add(Place(path, number, 1), "", expected, f"{len(cells)}", "correct the line")
        return [0.0] * len(headings)
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        values = []
    if values and math.isfinite(sum(values)):
        return values
    at = 1
    for name, cell in zip(headings, cells, strict=True):
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            found = f'"{clipped(cell)}"' if cell.strip() else "an empty cell"
            report.add(Place(path, number, at), clipped(name), "a finite number", found, "correct the cell")
        at += len(cell) + 1
    return values or [0.0] * len(headings)


def _cells(line: str) -> list[str]:
    """The cells of a line, quotes taken off."""
    import csv

    return [cell.strip() for cell in next(csv.reader([line]), [])]
