"""Tables of runs as text: index, values, measures, status, reason; and back."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from armsim.arrays import Indices
from armsim.formulas.values import text_of_value

INDEX, STATUS, REASON = "index", "status", "reason"
GROUP = 2**14  # rows that are in memory at once


def heading(paths: Sequence[str], measures: Sequence[str]) -> bytes:
    """The first line of a table."""
    return (",".join(map(quoted, [INDEX, *paths, *measures, STATUS, REASON])) + "\n").encode()


def lines(first: int, columns: Sequence[NDArray[Any]], status: NDArray[Any], reason: NDArray[np.object_]) -> bytes:
    """Lines of runs from index `first` on; cells without a value are empty, decimals the shortest that read back."""
    count = len(status)
    if not count:
        return b""
    cells = [b",".join(map(b"%d".__mod__, range(first, first + count))).split(b","), *map(_cells, columns)]
    ends = [b"complete,"] * count  # as nearly all
    for i in np.flatnonzero(status != "complete").tolist():
        ends[i] = f"{status[i]},{quoted(reason[i])}".encode()
    return b"\n".join(map(b",".join, zip(*cells, ends, strict=True))) + b"\n"


def _cells(column: NDArray[Any]) -> list[bytes]:
    """A column as text."""
    if column.dtype == object and all(isinstance(x, float) for x in column):  # beside words
        column = column.astype(float)
    if column.dtype == object:
        return [
            quoted(text_of_value(x)).encode() if not isinstance(x, float) else _cells(np.array([x]))[0] for x in column
        ]
    cells = orjson.dumps((column + 0.0).tolist())[1:-1].split(b",")
    if not np.isfinite(column).all():  # JSON has neither
        for i in np.flatnonzero(~np.isfinite(column)):
            cells[i] = b"" if np.isnan(column[i]) else b"inf" if column[i] > 0 else b"-inf"
    return [cell.removesuffix(b".0") for cell in cells]


def quoted(text: str) -> str:
    """A cell of text, in quotes where it needs them."""
    if any(sign in text for sign in ',"\n\r'):
        return '"' + text.replace('"', '""') + '"'
    return text


class TextTable(Mapping[str, NDArray[Any]]):
    """The columns of rows as text, or as Parquet has them; each becomes an array when it is asked for.

    Args:
        names: Of the columns.
        rows: The rows, which may be asked for several times.
        count: How many there are.
    """

    def __init__(self, names: Sequence[str], rows: Iterable[Sequence[Any]], count: int) -> None:
        self._names, self._rows, self.count = tuple(names), rows, count
        self._arrays: dict[str, NDArray[Any]] = {}

    @cached_property
    def _cells(self) -> dict[str, Sequence[Any]]:
        columns = list(zip(*self._rows, strict=True)) or [()] * len(self._names)
        return dict(zip(self._names, columns, strict=True))

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._arrays:
            self._arrays[name] = _array(name, self._cells[name])
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def taken(self, which: slice | Indices) -> TextTable:
        """Some of the rows as a table of their own."""
        rows, places = list(self._rows), np.arange(self.count)[which].tolist()
        return TextTable(self._names, [rows[i] for i in places], len(places))

    def parts(self) -> Iterator[TextTable]:
        """The table in parts of `GROUP` rows."""
        rows = iter(self._rows)
        while part := list(islice(rows, GROUP)):
            yield TextTable(self._names, part, len(part))


def _array(name: str, cells: Sequence[Any]) -> NDArray[Any]:
    if name in (STATUS, REASON):
        return np.array(cells, dtype=object)
    if name == INDEX:
        return np.array(cells, dtype=np.int64)
    with contextlib.suppress(ValueError):  # neither words nor cells without a value
        return np.array(cells, dtype=float)
    values = [_value(cell) for cell in cells]
    return np.array(values, dtype=object if any(isinstance(x, str) for x in values) else float)


def _value(cell: Any) -> Any:
    """A cell as a number, NaN for none; as it is if it is a word."""
    if cell is None or cell == "":
        return math.nan
    try:
        return float(cell)
    except ValueError:
        return cell
