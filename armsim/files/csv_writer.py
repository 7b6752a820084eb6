"""Tables of doubles as CSV: LF, unquoted headings, the shortest decimals that read back to the same double.

orjson formats several million numbers a second, and is the quickest to import of what is as fast.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from typing import IO, TYPE_CHECKING, Any

import orjson

from armsim.files.new_file import output_file

if TYPE_CHECKING:
    import numpy as np

NUMBERS_AT_ONCE = 3_000  # their text stays in the processor's cache


def write_csv(
    path: str | os.PathLike[str], headings: Sequence[str], values: Sequence[float] | ctypes.Array | np.ndarray
) -> None:
    """Write a table.

    Args:
        path: The file; an existing one is replaced once the new one is whole.
        headings: Of the columns.
        values: Numbers in row-major order: a sequence, a ctypes array of doubles, or a flat numpy array.

    Raises:
        UsageError: It cannot be written; says why.
    """
    with output_file(path) as file:
        write_rows(file, headings, values)


def write_rows(file: IO[bytes], headings: Sequence[str], values: Sequence[float] | ctypes.Array | np.ndarray) -> None:
    """Write a table to an open file; see `write_csv`."""
    width = len(headings)
    table = CsvTable(file.write, headings, range(width), (1.0,) * width)
    table.add(values, width, len(values) // max(width, 1))


class CsvTable:
    """A table that is written block by block.

    Args:
        write: Takes text.
        headings: Of the columns that are written, from the first.
        pick: Indices of the numbers of a row that are written, in order.
        factors: Scale factor of each picked number.
    """

    def __init__(
        self, write: Callable[[bytes], Any], headings: Sequence[str], pick: Sequence[int], factors: Sequence[float]
    ) -> None:
        self._write, self._pick = write, pick
        self._factors = factors if any(factor != 1.0 for factor in factors) else None
        write(",".join(headings).encode() + b"\n")

    def add(
        self,
        values: Sequence[float] | ctypes.Array | np.ndarray | memoryview[float],
        width: int,
        count: int,
        lead: Sequence[float] | None = None,
    ) -> None:
        """Write rows.

        Args:
            values: Numbers in row-major order.
            width: Numbers in a row.
            count: Number of rows.
            lead: A first column that is not in `values`, for example the times; one number per row.
        """
        # slices of a memoryview become lists twice as fast as those of a ctypes array
        source: Any = memoryview(values).cast("B").cast("d") if isinstance(values, ctypes.Array) else values
        at_once = max(1, NUMBERS_AT_ONCE // max(width, 1))
        for first in range(0, count, at_once):
            last = min(first + at_once, count)
            flat = source[first * width : last * width]
            flat = flat.tolist() if hasattr(flat, "tolist") else flat
            times = None if lead is None else lead[first:last]
            self._write(_text(_rows(flat, width, self._pick, self._factors, times)))


class CsvFile:
    """A CSV file that is written block by block, and can be cut back to a former length.

    Args:
        path: The file.
        columns: Heading, place in a row and factor of each; a first column is the times.
    """

    def __init__(self, path: str, columns: Sequence[tuple[str, int, float]]) -> None:
        self._path = path
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  see `close`
        headings, places, factors = zip(("t_s", 0, 1.0), *columns, strict=True)
        try:
            self._table = CsvTable(self._all, headings, places[1:], factors[1:])
        except BaseException:
            self._file.close()
            raise

    def add(self, values: memoryview[float], width: int, count: int, times: Sequence[float]) -> None:
        """Write rows; see `CsvTable.add`."""
        self._table.add(values, width, count, times)

    @property
    def length(self) -> int:
        """Its length [bytes]."""
        return self._file.tell()

    def cut(self, length: int) -> None:
        """Cut it back to a length that it had [bytes], also once it is closed."""
        if self._file.closed:
            self._file = open(self._path, "r+b", buffering=0)  # noqa: SIM115  as before
        self._file.truncate(length)
        self._file.seek(length)

    def close(self) -> None:
        """Close it."""
        self._file.close()

    def _all(self, text: bytes) -> None:
        left = memoryview(text)
        while left:
            left = left[self._file.write(left) :]


def _rows(
    flat: Sequence[float],
    width: int,
    chosen: Sequence[int],
    factors: Sequence[float] | None,
    lead: Sequence[float] | None,
) -> list[Any]:
    """Rows of a block of the table: the number of `lead`, then the chosen numbers, scaled."""
    starts = range(0, len(flat), width)
    a, b = (chosen[0], chosen[-1] + 1) if chosen else (0, 0)
    neighbours = list(chosen) == list(range(a, b))
    if neighbours and factors is None and lead is not None:
        return [[t, *flat[i + a : i + b]] for t, i in zip(lead, starts, strict=True)]
    rows: list[Any]
    if neighbours:
        rows = [flat[i + a : i + b] for i in starts]
    else:
        rows = [[flat[i + j] for j in chosen] for i in starts]
    if factors is not None:
        rows = [[x * factor for x, factor in zip(row, factors, strict=True)] for row in rows]
    return rows if lead is None else [[t, *row] for t, row in zip(lead, rows, strict=True)]


def _text(rows: list[Any]) -> bytes:
    """Rows as JSON with brackets turned into line ends, and `1.0` into `1`."""
    text = orjson.dumps(rows)
    if b"null" in text:  # JSON has no infinity and no NaN
        return "\n".join(",".join(_number(x) for x in row) for row in rows).encode() + b"\n"
    text = text[2:-2].replace(b"],[", b"\n") + b"\n"
    return text.replace(b".0,", b",").replace(b".0\n", b"\n")


def _number(x: float) -> str:
    return repr(float(x)).removesuffix(".0")
