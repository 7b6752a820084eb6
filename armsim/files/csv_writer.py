"""Tables of doubles as CSV: LF, unquoted headings, the shortest decimals that read back to the same double.

orjson formats several million numbers a second, and is the quickest to import of what is as fast.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any

import orjson

from armsim.files.new_file import whole_file

if TYPE_CHECKING:
    import numpy as np

NUMBERS_AT_ONCE = 3_000  # their text stays in the processor's cache


def write_csv(
    path: str | os.PathLike[str],
    headings: Sequence[str],
    values: Sequence[float] | ctypes.Array | np.ndarray,
    *,
    width: int | None = None,
    count: int | None = None,
    pick: Sequence[int] | slice | None = None,
    factors: Sequence[float] | None = None,
    lead: Sequence[float] | None = None,
) -> None:
    """Write a table.

    Args:
        path: The file; an existing one is replaced once the new one is whole.
        headings: Of the columns that are written, from the first.
        values: Numbers in row-major order: a sequence, a ctypes array of doubles, or a flat numpy array.
        width: Numbers in a row of `values`; as many as headings unless given.
        count: Rows to write; all of them unless given.
        pick: Indices of the numbers of a row that are written, in order; all of them unless given.
        factors: Scale factor of each picked number; 1 unless given.
        lead: A first column that is not in `values`, for example the times; one number per row.
    """
    if width is None:
        width = len(headings) - (lead is not None)
    if count is None:
        count = len(values) // max(width, 1)
    # slices of a memoryview become lists twice as fast as those of a ctypes array
    source: Any = memoryview(values).cast("B").cast("d") if isinstance(values, ctypes.Array) else values
    chosen = range(width) if pick is None else range(width)[pick] if isinstance(pick, slice) else tuple(pick)
    at_once = max(1, NUMBERS_AT_ONCE // max(width, 1))
    with whole_file(path) as file:
        file.write(",".join(headings).encode() + b"\n")
        for first in range(0, count, at_once):
            last = min(first + at_once, count)
            flat = source[first * width : last * width]
            flat = flat.tolist() if hasattr(flat, "tolist") else flat
            times = None if lead is None else lead[first:last]
            _write_rows(file, _rows(flat, width, chosen, factors, times))


def _rows(
    flat: Sequence[float],
    width: int,
    chosen: Sequence[int],
    factors: Sequence[float] | None,
    lead: Sequence[float] | None,
) -> list[Any]:
    """Rows of a block of the table: the number of `lead`, then the chosen numbers, scaled."""
    starts = range(0, len(flat), width)
    scaled = factors is not None and any(factor != 1.0 for factor in factors)
    a, b = (chosen[0], chosen[-1] + 1) if chosen else (0, 0)
    neighbours = list(chosen) == list(range(a, b))
    if neighbours and not scaled and lead is not None:
        return [[t, *flat[i + a : i + b]] for t, i in zip(lead, starts, strict=True)]
    rows: list[Any]
    if neighbours:
        rows = [flat[i + a : i + b] for i in starts]
    else:
        rows = [[flat[i + j] for j in chosen] for i in starts]
    if scaled:
        assert factors is not None  # or nothing would be scaled
        rows = [[x * factor for x, factor in zip(row, factors, strict=True)] for row in rows]
    return rows if lead is None else [[t, *row] for t, row in zip(lead, rows, strict=True)]


def _write_rows(file: IO[bytes], rows: list[Any]) -> None:
    """Write rows as JSON with brackets turned into line ends, and `1.0` into `1`."""
    if not rows:
        return
    text = orjson.dumps(rows)
    if b"null" in text:  # JSON has no infinity and no NaN
        text = "\n".join(",".join(_number(x) for x in row) for row in rows).encode() + b"\n"
    else:
        text = text[2:-2].replace(b"],[", b"\n") + b"\n"
        text = text.replace(b".0,", b",").replace(b".0\n", b"\n")
    file.write(text)


def _number(x: float) -> str:
    return repr(float(x)).removesuffix(".0")
