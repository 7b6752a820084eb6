"""Tables of doubles as CSV: wide, LF, unquoted headings, the fewest digits that read back to the same double.

orjson prints the numbers, several million a second; it is lighter to import than anything that does it as fast.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from typing import IO, Any

import orjson

NUMBERS_AT_ONCE = 10_000  # their text stays in the processor's cache


def write_csv(
    path: str | os.PathLike[str],
    headings: Sequence[str],
    values: Sequence[float] | ctypes.Array,
    *,
    width: int | None = None,
    count: int | None = None,
    pick: Sequence[int] | slice | None = None,
    factors: Sequence[float] | None = None,
    lead: Sequence[float] | None = None,
) -> None:
    """Write a table.

    Args:
        path: The file; an existing one is replaced.
        headings: Of the columns that are written, from the first.
        values: Numbers row by row: a sequence, or a ctypes array of doubles.
        width: Numbers in a row of `values`; as many as headings unless given.
        count: Rows to write; all of them unless given.
        pick: Which numbers of a row are written, in which order; all of them unless given.
        factors: What each of the picked numbers is multiplied by; nothing unless given.
        lead: A first column that is not in `values`, for example the times; one number per row.
    """
    if width is None:
        width = len(headings) - (lead is not None)
    if count is None:
        count = len(values) // max(width, 1)
    # slices of a memoryview become lists twice as fast as those of a ctypes array
    source: Any = memoryview(values).cast("B").cast("d") if isinstance(values, ctypes.Array) else values
    row = _row_maker(pick, factors)
    at_once = max(1, NUMBERS_AT_ONCE // max(width, 1))
    with open(path, "wb") as file:
        file.write(",".join(headings).encode() + b"\n")
        for first in range(0, count, at_once):
            last = min(first + at_once, count)
            flat = source[first * width : last * width]
            flat = flat.tolist() if isinstance(flat, memoryview) else flat
            rows = [row(flat[i : i + width]) for i in range(0, len(flat), width)]
            if lead is not None:
                rows = [(t, *r) for t, r in zip(lead[first:last], rows, strict=True)]
            _write_rows(file, rows)


def _row_maker(pick: Sequence[int] | slice | None, factors: Sequence[float] | None) -> Callable[[Any], Any]:
    """What turns a row of the values into a row of the file."""
    if isinstance(pick, slice):
        chosen: Callable[[Any], Any] = lambda row: row[pick]  # noqa: E731  # one of three shapes of one small function
    elif pick is None:
        chosen = _as_it_is
    else:
        indices = tuple(pick)
        if indices and indices == tuple(range(indices[0], indices[0] + len(indices))):
            return _row_maker(slice(indices[0], indices[-1] + 1), factors)
        chosen = lambda row: [row[i] for i in indices]  # noqa: E731  # as above
    if factors is None or all(factor == 1.0 for factor in factors):
        return chosen
    scales = tuple(factors)
    return lambda row: [x * scale for x, scale in zip(chosen(row), scales, strict=True)]


def _as_it_is(row: Any) -> Any:
    return row


def _write_rows(file: IO[bytes], rows: list[Any]) -> None:
    """Print rows: what JSON makes of them, with its brackets turned into line ends and `1.0` into `1`."""
    if not rows:
        return
    text = orjson.dumps(rows)
    if b"null" in text:  # JSON has no infinity and no NaN
        text = "\n".join(",".join(_number(x) for x in row) for row in rows).encode() + b"\n"
    else:
        text = text[2:-2].replace(b"],[", b"\n") + b"\n"
        if b".0" in text:
            text = text.replace(b".0,", b",").replace(b".0\n", b"\n")
    file.write(text)


def _number(x: float) -> str:
    return repr(float(x)).removesuffix(".0")
