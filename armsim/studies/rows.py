"""Rows of a study's table as text: index, values, measures, status, reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from armsim.formulas.values import text_of_value
from armsim.studies.runs import Outcomes

INDEX, STATUS, REASON = "index", "status", "reason"


def heading(paths: Sequence[str], measures: Sequence[str]) -> bytes:
    """The first line of a table."""
    return (",".join(map(quoted, [INDEX, *paths, *measures, STATUS, REASON])) + "\n").encode()


def text_of(first: int, rows: NDArray[Any], found: Outcomes) -> bytes:
    """Lines of runs from index `first` on; cells without a value are empty, decimals the shortest that read back."""
    count = len(rows)
    columns = [b",".join(map(b"%d".__mod__, range(first, first + count))).split(b",")]
    columns += [_cells(rows[:, i]) for i in range(rows.shape[1])]
    columns += [_cells(column) for column in found.measures.T]
    ends = [b"complete,"] * count  # as nearly all
    for i in np.flatnonzero(found.status != "complete").tolist():
        ends[i] = f"{found.status[i]},{quoted(found.reason[i])}".encode()
    columns.append(ends)
    return b"\n".join(map(b",".join, zip(*columns, strict=True))) + b"\n"


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
