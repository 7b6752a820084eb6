"""Columns of numbers from a CSV file.

Lines whose cells are written as JSON writes numbers are parsed by orjson, a block of them at once; all others one by one. Both
round correctly.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from itertools import chain

import orjson

from armsim.files.document import Place, clipped
from armsim.files.faults import Report, refuse
from armsim.files.source import digest

FOREIGN = {";": "semicolons", "\t": "tabs"}  # separators of other programs
BLOCK = 2**20  # bytes that are parsed at once
BOM = b"\xef\xbb\xbf"
JSON_NUMBERS = b"0123456789+-.eE, \n"  # all bytes of lines that orjson parses
WHOLE_MINUS_ZERO = (b"-0,", b"-0 ", b"-0\n")  # orjson reads it as the integer, which has no sign


@dataclass(frozen=True)
class Csv:
    """A table of numbers.

    Attributes:
        columns: Values by heading, in the order of the file.
        sha256: Of the bytes of the file, in hexadecimal digits.
    """

    columns: dict[str, array[float]]
    sha256: str


def read_csv(path: str) -> Csv:
    """The columns of a CSV file: headings in the first line, one number in every cell below.

    Args:
        path: The file; messages show it as given.

    Raises:
        FileFaults: It cannot be read, or a cell is not a finite number; the message names file, line and column.
    """
    place = Place(path)
    raw = _bytes(path)
    begin = len(BOM) if raw.startswith(BOM) else 0
    end = raw.find(b"\n", len(raw.rstrip())) + 1 or len(raw)  # without blank lines at the end
    at = raw.find(b"\n", begin, end) + 1 or end
    first = _lines(raw[begin:at], path, last=at == end)
    if not first:
        raise refuse(place, "", "a CSV file with headings", "an empty file", "write the headings in the first line")
    headings = _cells(first[0])
    foreign = next((name for mark, name in FOREIGN.items() if len(headings) == 1 and mark in headings[0]), None)
    if foreign is not None:
        mend = "save it with commas between cells, and points in numbers"
        raise refuse(Place(path, 1, 1), "", "headings and cells separated by commas", foreign, mend)
    report = Report()
    for name in {name for name in headings if headings.count(name) > 1}:
        report.add(Place(path, 1, 1), "", "each heading once", f"`{clipped(name)}` twice", "rename one of the columns")
    table = [array("d") for _ in headings]
    number = 1  # of lines so far
    block = "\n".join(first[1:]).encode()  # lines that another sign than LF ended
    while block or at < end:
        values = _json_numbers(block, len(headings))
        if values is None:
            lines = _lines(block, path, last=at == end)
            rows = [_row(line, k, headings, path, report) for k, line in enumerate(lines, start=number + 1)]
            values = list(chain.from_iterable(rows))
            number += len(rows)
        else:
            number += len(values) // len(headings)
        for i, column in enumerate(table):
            column.extend(values[i :: len(headings)])
        before, at = at, raw.find(b"\n", at + BLOCK, end) + 1 or end
        block = raw[before:at]
    if number == 1:
        report.add(
            Place(path, 1, 1), "", "rows of numbers below the headings", "no rows", "check that it is the right file"
        )
    report.raise_if_any()
    return Csv(dict(zip(headings, table, strict=True)), digest(raw))


def _bytes(path: str) -> bytes:
    """The content of the file."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise refuse(Place(path), "", "a CSV file", "no file of this name", "check the name and the folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise refuse(Place(path), "", "a CSV file that can be read", reason, "check its name and permissions") from None


def _lines(block: bytes, path: str, last: bool) -> list[str]:
    """The lines of a block; of the last one without blank lines at the end."""
    try:
        lines = block.decode().splitlines()
    except UnicodeDecodeError:
        raise refuse(Place(path), "", "a CSV file in UTF-8", "other bytes", "save it as text in UTF-8") from None
    while last and lines and not lines[-1].strip():
        lines.pop()
    return lines


def _json_numbers(block: bytes, width: int) -> list[float] | None:
    """The numbers of a block of lines, row by row; None where one is not as JSON writes it, or a row has another width."""
    text = block.replace(b"\r\n", b"\n").removesuffix(b"\n")
    if text.translate(None, JSON_NUMBERS) or text.endswith(b"-0") or any(zero in text for zero in WHOLE_MINUS_ZERO):
        return None
    try:
        rows = orjson.loads(b"[[" + text.replace(b"\n", b"],[") + b"]]")
    except orjson.JSONDecodeError:
        return None
    return list(chain.from_iterable(rows)) if width and set(map(len, rows)) == {width} else None


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
