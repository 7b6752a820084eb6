"""Columns of numbers from a CSV file, and from one that holds other columns, too.

The file is read in blocks of whole lines, so that only its numbers stay in memory. Blocks whose cells are written as JSON writes
numbers are parsed by orjson, all others cell by cell. Both round correctly, and both take the numbers that YAML takes.
"""

from __future__ import annotations

import csv
import hashlib
import math
import os
import re
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import IO

import orjson

from armsim.errors import visible
from armsim.files.faults import Report, refuse
from armsim.files.nodes import Place, clipped
from armsim.files.source import open_table
from armsim.files.table import DataTable, Findings, is_missing
from armsim.files.yaml_reader import parsed_number
from armsim.progress import Progress, shown
from armsim.records import record

FOREIGN = {";": "semicolons", "\t": "tabs"}  # separators of other programs
BLOCK = 2**20  # bytes that are parsed at once
BEYOND = 4 * 2**20  # bytes that are read after a block with a fault that cannot be passed over
MOST_LINE = 2**20  # bytes of a line
MOST_NUMBERS = 2**28  # in a table: 2 GiB of doubles
SHOWN = 30  # characters of a cell that messages show
BLANK = b" \t\r\n"
JSON_NUMBERS = b"0123456789+-.eE, \n"  # all bytes of lines that orjson parses
WHOLE_MINUS_ZERO = (b"-0,", b"-0 ", b"-0\n")  # orjson reads it as the integer, which has no sign
Needed = Callable[[Sequence[str]], Collection[str]]  # of a table's headings those whose cells must all be numbers
NUMERIC = re.compile(r"[-+0-9.eE, \t]*")  # lines whose cells `float` takes as YAML does


@record
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
        path: A regular file; messages show it as given.

    Raises:
        FileFaults: It cannot be read, or a cell is not a finite number; the message names file, line and column.
    """
    table = _read(path, set)
    return Csv(dict(table.cells), table.sha256)


def read_csv_columns(path: str, needed: Needed = lambda headings: ()) -> DataTable:
    """A CSV file of which some columns may be no numbers, or have missing cells; headings in the first line.

    Args:
        path: A regular file; messages show it as given.
        needed: The columns that may not.

    Raises:
        FileFaults: It cannot be read, a line has not as many cells as there are headings, or a cell of a column that is needed is
            no finite number. Of a long file only the part around the first fault has been read then.
    """
    return _read(path, needed)


def _read(path: str, needed: Needed) -> DataTable:
    with open_table(path, "a CSV file") as file, shown(f"reading {visible(os.path.basename(path))}") as progress:
        return _table(file, path, needed, progress)


def _table(file: IO[bytes], path: str, needed: Needed, progress: Progress | None) -> DataTable:
    size = os.fstat(file.fileno()).st_size
    report = Report()
    sha = hashlib.sha256()
    blocks = csv_blocks(file, path, sha)
    first, _, beneath = next(blocks, b"").partition(b"\n")
    headings = csv_headings(first, path)
    findings = Findings(headings, report, needed(headings))
    left = BEYOND
    for name in [name for name, count in Counter(headings).items() if count > 1]:
        found = f"`{clipped(name)}` twice"
        findings.column(name).add(Place(path, 1, 1), "", "each heading once", found, "rename one of the columns")
    width = len(headings)
    table = [array("d") for _ in headings]
    number = 1  # of lines so far
    for block in chain([beneath] if beneath else [], blocks):
        if report.faults and left <= 0:
            mend = "mend those above first, then run again"
            report.add(Place(path, number + 1, 1), "", "no faults above", "lines from here on that were not read", mend)
            report.raise_if_any()
        left -= len(block) if report.faults else 0
        values = _json_numbers(block, width)
        if values is None:
            lines = _decoded(block, path).removesuffix("\n").split("\n")
            if number == 1:
                _refuse_text(lines[0], width, path)
            values = []
            for k, line in enumerate(lines, start=number + 1):
                values += _row(line, Place(path, k), findings)
                if report.full:  # reading on would tell nothing more
                    report.raise_if_any()
        number += len(values) // width
        if progress is not None:
            progress(file.tell(), size)
        for i, column in enumerate(table):
            column.extend(values[i::width])
        if number * width > MOST_NUMBERS:
            mend = "log less often, or cut the file into parts"
            raise refuse(Place(path, number), "", f"a table of at most {MOST_NUMBERS} numbers", "a larger one", mend)
    if number == 1:
        report.add(
            Place(path, 1, 1), "", "rows of numbers below the headings", "no rows", "check that it is the right file"
        )
    report.raise_if_any()
    cells = dict(zip(headings, table, strict=True))
    for name, rows in findings.missing.items():
        for row in rows:
            cells[name][row] = math.nan
    text = findings.headings_of_text(number - 1)
    return DataTable(path, cells, findings.columns, findings.missing, findings.gaps, sha.hexdigest(), text)


def csv_blocks(file: IO[bytes], path: str, sha: hashlib._Hash) -> Iterator[bytes]:
    """Blocks of whole lines, each ended by LF whatever ended it in the file; without blank lines at the file's end.

    Args:
        file: The file.
        path: As messages show it.
        sha: Takes the bytes of the file.
    """
    rest = b""  # lines that are not whole, or blank as yet
    while piece := file.read(BLOCK):
        sha.update(piece)
        rest += piece
        settled = rest.removesuffix(b"\r")  # its LF may be to come
        end = max(settled.rfind(b"\n"), settled.rfind(b"\r")) + 1
        block, rest = _with_line_feeds(rest[:end]), rest[end:]
        if said := len(block.rstrip(BLANK)):
            end = block.find(b"\n", said) + 1
            yield block[:end]
            block = block[end:]
        rest = block + rest
        if len(rest) > MOST_LINE:
            mend = "check that it is the right file"
            raise refuse(Place(path), "", f"lines of at most {MOST_LINE} bytes", "more without an end", mend)
    if rest.strip(BLANK):
        yield _with_line_feeds(rest.rstrip(BLANK)) + b"\n"


def csv_rows(block: bytes, headings: Sequence[str], path: str, first: int, strict: bool = False) -> list[float]:
    """The numbers of a block of lines, row by row; NaN where a cell is none.

    Args:
        block: Whole lines, ended by LF; see `csv_blocks`.
        headings: One per cell of a line.
        path: As messages show it.
        first: Number of the first line in the file.
        strict: Whether every cell must be a finite number.

    Raises:
        FileFaults: A line has not as many cells as there are headings, or a cell is no number where all must be.
    """
    values = _json_numbers(block, len(headings))
    if values is None:
        report = Report()
        findings = Findings(headings, report, headings if strict else ())
        lines = _decoded(block, path).removesuffix("\n").split("\n")
        values = [x for k, line in enumerate(lines, first) for x in _row(line, Place(path, k), findings)]
        report.raise_if_any()
        for i in findings.text:  # `_row` skips what is known to be text
            values[i :: len(headings)] = [math.nan] * len(lines)
    return values


def _with_line_feeds(block: bytes) -> bytes:
    """Lines ended by LF instead of CR LF or CR."""
    return block.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in block else block


def csv_headings(line: bytes, path: str) -> list[str]:
    """The cells of the first line."""
    text = _decoded(line, path).removeprefix("\ufeff")
    try:
        headings = _cells(text)
    except csv.Error as error:
        raise refuse(
            Place(path, 1, 1), "", "headings", clipped(str(error)), "check that it is the right file"
        ) from None
    if not headings:
        found, mend = "an empty line" if line else "an empty file", "write the headings in the first line"
        raise refuse(Place(path), "", "a CSV file with headings", found, mend)
    foreign = next((name for mark, name in FOREIGN.items() if len(headings) == 1 and mark in headings[0]), None)
    if foreign is not None:
        mend = "save it with commas between cells, and points in numbers"
        raise refuse(Place(path, 1, 1), "", "headings and cells separated by commas", foreign, mend)
    return headings


def _refuse_text(line: str, width: int, path: str) -> None:
    """Refuse a first row of text without a number, as many cells as headings: of units, or of another kind of file."""
    cells = line.split(",")
    words = [cell for cell in cells if not is_missing(cell)]
    if words and len(cells) == width and all(math.isnan(_number(cell.strip('" \t'))) for cell in words):
        mend = "take out lines of units or of text, or check that it is the right file"
        raise refuse(Place(path, 2, 1), "", "rows of numbers below the headings", "a line without a number", mend)


def _decoded(block: bytes, path: str) -> str:
    """Text in UTF-8."""
    try:
        return block.decode()
    except UnicodeDecodeError:
        raise refuse(Place(path), "", "a CSV file in UTF-8", "other bytes", "save it as text in UTF-8") from None


def _json_numbers(block: bytes, width: int) -> list[float] | None:
    """The numbers of a block of lines, row by row; None where one is not as JSON writes it, or a row has another width."""
    text = block.removesuffix(b"\n")
    if text.translate(None, JSON_NUMBERS) or text.endswith(b"-0") or any(zero in text for zero in WHOLE_MINUS_ZERO):
        return None
    try:
        rows = orjson.loads(b"[[" + text.replace(b"\n", b"],[") + b"]]")
    except orjson.JSONDecodeError:
        return None
    return list(chain.from_iterable(rows)) if set(map(len, rows)) == {width} else None


def _row(line: str, place: Place, findings: Findings) -> list[float]:
    """The numbers of one line; zeros where it is faulty, and in columns of text."""
    width = len(findings.headings)
    try:
        cells = _cells(line) if '"' in line else line.split(",")
        found = f"{len(cells)}"
    except csv.Error as error:
        cells, found = [], clipped(str(error))
    if len(cells) != width:
        findings.lines.add(
            place._replace(column=1), "", f"{width} cells, as many as headings", found, "correct the line"
        )
        return [0.0] * width
    if findings.text:
        for i in findings.text:
            cells[i] = "0"
        line = ",".join(cells)
    try:
        values = list(map(float if NUMERIC.fullmatch(line) else _number, cells))
    except ValueError:
        values = list(map(_number, cells))
    if math.isfinite(sum(values)):
        return values
    at = 1
    for i, (cell, value) in enumerate(zip(cells, values, strict=True)):
        if not math.isfinite(value):
            found = f'"{clipped(cell, SHOWN)}"' if cell.strip() else "an empty cell"
            findings.add(i, place._replace(column=at), cell, found)
        at += len(cell) + 1
    return values


def _number(cell: str) -> float:
    """The number of a cell; NaN if it is none."""
    value = parsed_number(cell.strip(" \t"))
    return math.nan if value is None else value


def _cells(line: str) -> list[str]:
    """The cells of a line, quotes taken off."""
    return [cell.strip() for cell in next(csv.reader([line]), [])]
