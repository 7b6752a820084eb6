"""Tables of numbers in blocks of rows: what is read of a file never has to fit into memory."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain
from typing import IO

import numpy as np

from armsim.arrays import Array
from armsim.files.csv_reader import csv_blocks, csv_headings, csv_rows
from armsim.files.faults import refuse
from armsim.files.nodes import Place, clipped
from armsim.files.parquet import ENDING, check_parquet
from armsim.files.source import open_table

AT_ONCE = 2**16  # rows of a Parquet file


class RowBlocks:
    """A CSV or Parquet file that is read block by block, as often as it is asked for.

    Args:
        path: The file; messages show it as given.
        told: Called with the number of bytes of every block that is read.
        strict: Whether every cell must be a finite number.

    Attributes:
        headings: Of its columns, in order.
        size: Of the file [bytes].

    Raises:
        FileFaults: It cannot be read, or has no headings.
        UsageError: pyarrow is missing for a Parquet file.
    """

    def __init__(self, path: str, told: Callable[[int], object] = bool, strict: bool = False) -> None:
        self.path, self._told, self._strict = path, told, strict
        self._parquet = path.lower().endswith(ENDING)
        if self._parquet:
            check_parquet(path)
        with self._open() as file:
            self.size = os.fstat(file.fileno()).st_size
            self.headings: list[str] = (
                self._parquet_file(file).schema_arrow.names if self._parquet else _top(file, path)
            )

    def blocks(self, wanted: Sequence[str]) -> Iterator[Array]:
        """Rows of some columns, shape (rows, len(wanted)); NaN where a cell is no number.

        Raises:
            FileFaults: A line has not as many cells as there are headings, a cell is no number where all must be, or the file is
                damaged.
        """
        return self._parquet_blocks(wanted) if self._parquet else self._csv_blocks(wanted)

    def _open(self) -> IO[bytes]:
        return open_table(self.path, "a Parquet file" if self._parquet else "a CSV file", math.inf)

    def _csv_blocks(self, wanted: Sequence[str]) -> Iterator[Array]:
        places = [self.headings.index(heading) for heading in wanted]
        with self._open() as file:
            blocks = csv_blocks(file, self.path, hashlib.sha256())
            _, _, beneath = next(blocks, b"").partition(b"\n")
            line = 2
            for block in chain([beneath] if beneath else [], blocks):
                rows = np.array(csv_rows(block, self.headings, self.path, line, self._strict)).reshape(
                    -1, len(self.headings)
                )
                yield rows[:, places]
                self._told(len(block))
                line += len(rows)

    def _parquet_blocks(self, wanted: Sequence[str]) -> Iterator[Array]:
        import pyarrow as pa

        first = 0
        with self._open() as file:
            try:
                table = self._parquet_file(file)
                for batch in table.iter_batches(AT_ONCE, columns=list(dict.fromkeys(wanted))):
                    columns = [batch[heading].cast(pa.float64()).to_numpy(zero_copy_only=False) for heading in wanted]
                    rows = np.column_stack(columns).astype(float)
                    if self._strict and not np.isfinite(rows).all():
                        k, i = np.argwhere(~np.isfinite(rows))[0]
                        place, found = Place(f"{self.path}, row {first + k + 1}"), repr(float(rows[k, i]))
                        raise refuse(place, clipped(wanted[i]), "a finite number", found, "correct the cell")
                    yield rows
                    first += len(rows)
                    self._told(self.size * len(batch) // table.metadata.num_rows)
            except pa.ArrowException as error:
                raise self._damaged(error) from None

    def _parquet_file(self, file: IO[bytes]):
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.ParquetFile(file)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> Exception:
        found = clipped(str(error).splitlines()[0])
        return refuse(Place(self.path), "", "a Parquet file that can be read", found, "write it again")


class FileRows:
    """The rows of a run in the tables of its folder, in SI units; see `armsim.simulation.row_log.Rows`.

    Args:
        tables: The tables.
        columns: Of a row: the headings that each may have, with the factors from SI units to them.
        count: Number of rows that all tables have.
        time: Heading of the times.

    Raises:
        FileFaults: A column is missing.
    """

    def __init__(
        self, tables: Sequence[RowBlocks], columns: Sequence[Mapping[str, float]], count: int, time: str = "t_s"
    ) -> None:
        self.count = count
        factors, chosen = [], []
        for spelled in ({time: 1.0}, *columns):
            found = next(((k, h) for h in spelled for k, table in enumerate(tables) if h in table.headings), None)
            if found is None:
                headings = clipped(", ".join(h for table in tables for h in table.headings))
                mend = "restore the file, or run it again; the robot in run.yaml names the columns"
                raise refuse(Place(tables[0].path, 1, 1), "", f"a column `{next(iter(spelled))}`", headings, mend)
            chosen.append(found)
            factors.append(spelled[found[1]])
        order = sorted(chosen)
        self._tables = [(table, [heading for at, heading in order if at == k]) for k, table in enumerate(tables)]
        self._places = [order.index(one) for one in chosen]
        self._factors = np.array(factors)

    def _rows(self, count: int) -> Iterator[Array]:
        """Blocks of rows, the time first; the first `count` of them."""
        parts = [table.blocks(own) for table, own in self._tables]
        held = [np.empty((0, 0))] * len(parts)
        done = 0
        while done < count:
            held = [rows if len(rows) else next(part, rows) for rows, part in zip(held, parts, strict=True)]
            ready = min(*map(len, held), count - done)
            if not ready:
                short = next(table for (table, own), rows in zip(self._tables, held, strict=True) if not len(rows))
                mend = "restore the file, or run it again"
                raise refuse(Place(short.path), "", f"{self.count} rows, as run.yaml says", f"{done}", mend)
            rows = np.concatenate([rows[:ready] for rows in held], axis=1)[:, self._places]
            yield rows / self._factors
            held, done = [rows[ready:] for rows in held], done + ready

    def blocks(self) -> Iterator[tuple[int, memoryview[float]]]:
        """Blocks of rows: the index of their first row, and their numbers, row by row."""
        first = 0
        for rows in self._rows(self.count):
            yield first, np.ascontiguousarray(rows[:, 1:]).ravel().data.cast("B").cast("d")
            first += len(rows)

    def cut(self, count: int) -> FileRows:
        """The first rows alone."""
        fewer = copy(self)
        fewer.count = count
        for name in ("times", "table"):
            vars(fewer).pop(name, None)
        return fewer

    @cached_property
    def times(self) -> Array:
        """Their times [s], shape (count,)."""
        return np.concatenate([np.empty(0), *(rows[:, 0].copy() for rows in self._rows(self.count))])

    @cached_property
    def table(self) -> Array:
        """All of them, shape (count, columns)."""
        return np.concatenate(
            [np.empty((0, len(self._factors) - 1)), *(rows[:, 1:] for rows in self._rows(self.count))]
        )


def _top(file: IO[bytes], path: str) -> list[str]:
    """The headings of a CSV file."""
    return csv_headings(next(csv_blocks(file, path, hashlib.sha256()), b"").partition(b"\n")[0], path)
