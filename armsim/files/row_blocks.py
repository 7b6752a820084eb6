"""Tables of numbers in blocks of rows: what is read of a file never has to fit into memory."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import IO

import numpy as np
from numpy.typing import NDArray

from armsim.files.csv_reader import csv_blocks, csv_headings, csv_rows
from armsim.files.document import Place, clipped
from armsim.files.faults import refuse
from armsim.files.parquet import ENDING, check_parquet
from armsim.files.source import open_table

Array = NDArray[np.float64]
AT_ONCE = 2**16  # rows of a Parquet file


class RowBlocks:
    """A CSV or Parquet file that is read block by block, as often as it is asked for.

    Args:
        path: The file; messages show it as given.
        told: Called with the number of bytes of every block that is read.

    Attributes:
        headings: Of its columns, in order.
        size: Of the file [bytes].

    Raises:
        FileFaults: It cannot be read, or has no headings.
        UsageError: pyarrow is missing for a Parquet file.
    """

    def __init__(self, path: str, told: Callable[[int], object] = bool) -> None:
        self.path, self._told = path, told
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
            FileFaults: A line has not as many cells as there are headings, or the file is damaged.
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
                rows = np.array(csv_rows(block, self.headings, self.path, line)).reshape(-1, len(self.headings))
                yield rows[:, places]
                self._told(len(block))
                line += len(rows)

    def _parquet_blocks(self, wanted: Sequence[str]) -> Iterator[Array]:
        import pyarrow as pa

        with self._open() as file:
            try:
                table = self._parquet_file(file)
                for batch in table.iter_batches(AT_ONCE, columns=list(dict.fromkeys(wanted))):
                    columns = [batch[heading].cast(pa.float64()).to_numpy(zero_copy_only=False) for heading in wanted]
                    yield np.column_stack(columns).astype(float)
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


def _top(file: IO[bytes], path: str) -> list[str]:
    """The headings of a CSV file."""
    return csv_headings(next(csv_blocks(file, path, hashlib.sha256()), b"").partition(b"\n")[0], path)
