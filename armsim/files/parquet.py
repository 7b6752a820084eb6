"""Tables of doubles as Parquet, by pyarrow, which is installed with `armsim[parquet]`.

The schema's metadata have the unit of every column, and what the caller says of the whole table.
"""

from __future__ import annotations

import importlib.util
from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from armsim.errors import UsageError
from armsim.files.csv_reader import MOST_NUMBERS
from armsim.files.faults import Report, refuse
from armsim.files.nodes import Place, clipped
from armsim.files.source import digest, open_table
from armsim.files.table import DataTable

if TYPE_CHECKING:
    from armsim.plant.columns import Heading

ENDING = ".parquet"
GROUP = 4 * 2**20  # bytes of rows that are compressed together


def check_parquet(asked: str) -> None:
    """Refuse to write or read Parquet where pyarrow is missing.

    Args:
        asked: The key or the file that asks for it.

    Raises:
        UsageError: It is missing.
    """
    if importlib.util.find_spec("pyarrow") is None:
        mend = 'pip install "armsim[parquet]"'
        raise UsageError.of(asked, "pyarrow, which writes and reads Parquet", "it is not installed", mend)


class ParquetFile:
    """A Parquet file that is written block by block. Its index is at its end, so what is not closed cannot be read.

    Args:
        path: The file.
        columns: What it holds; a first column is the times.
        about: Metadata of the whole table.
    """

    def __init__(self, path: str, columns: Sequence[Heading], about: Mapping[str, str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path, self._columns = path, columns
        units = {"t_s": "s", **{column.text: column.unit for column in columns}}
        fields = [pa.field(name, pa.float64(), nullable=False, metadata={"unit": unit}) for name, unit in units.items()]
        self._schema = pa.schema(fields, metadata=dict(about))
        self._group: list[Any] = []
        self._rows = 0
        self._writer: Any = pq.ParquetWriter(path, self._schema, use_dictionary=False)

    def add(self, values: memoryview[float], width: int, count: int, times: Sequence[float]) -> None:
        """Write rows.

        Args:
            values: Numbers in row-major order.
            width: Numbers in a row.
            count: Number of rows.
            times: One per row [s].
        """
        import numpy as np
        import pyarrow as pa

        rows = np.frombuffer(values.cast("B"), np.float64, count * width).reshape(count, width)
        taken = [np.array(times), *(rows[:, column.index] * column.factor for column in self._columns)]
        self._group.append(pa.record_batch([pa.array(x) for x in taken], self._schema))
        self._rows += count
        if self._rows * len(taken) * 8 >= GROUP:
            self._flush()

    @property
    def length(self) -> int:
        """0: there is no length to which it can be cut but that without rows."""
        return 0

    def cut(self, length: int) -> None:
        """Begin anew, without rows."""
        import pyarrow.parquet as pq

        self._group, self._rows = [], 0
        try:
            self._writer.close()
        except OSError:
            pass  # the disk is full
        self._writer = pq.ParquetWriter(self._path, self._schema)

    def close(self) -> None:
        """Write what is left, and the index."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._group:
            self._writer.write_table(pa.Table.from_batches(self._group), row_group_size=self._rows)
        self._group, self._rows = [], 0


def read_parquet(path: str) -> DataTable:
    """The columns of a Parquet file, some of which may be no numbers, or have missing cells.

    Args:
        path: The file; messages show it as given.

    Raises:
        FileFaults: It cannot be read; says why.
        UsageError: pyarrow is missing.
    """
    check_parquet(path)
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    place = Place(path)
    try:
        with open_table(path, "a Parquet file") as file:
            raw = file.read()
        file_read = pq.ParquetFile(pa.BufferReader(raw))
        about = file_read.metadata
        if about.num_rows * about.num_columns > MOST_NUMBERS:  # a few bytes can stand for very many
            mend = "log less often, or cut the file into parts"
            raise refuse(place, "", f"a table of at most {MOST_NUMBERS} numbers", "a larger one", mend)
        table = file_read.read()
        names = table.column_names
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        found = getattr(error, "strerror", None) or clipped(str(error).splitlines()[0])
        raise refuse(place, "", "a Parquet file that can be read", found, "write it again") from None
    columns, faults, missing, text = {}, {}, {}, set()
    for name in names:
        try:
            values = np.asarray(table[name].cast(pa.float64()), dtype=np.float64)
        except (pa.ArrowException, ValueError):
            report = faults[name] = Report()
            found = f"{table[name].type}"
            report.add(place, clipped(name), "a column of numbers", found, "take the column out")
            text.add(name)
            values = np.zeros(table.num_rows)
        if np.isinf(values).any():
            report = faults[name] = Report()
            row = int(np.argmax(np.isinf(values)))
            found = f"{float(values[row])!r} in row {row + 1}"
            report.add(place, clipped(name), "finite numbers", found, "correct the cell")
        if np.isnan(values).any():
            missing[name] = array("q", np.flatnonzero(np.isnan(values)).tolist())
        columns[name] = array("d", values.tobytes())
    if not table.num_rows:
        raise refuse(place, "", "rows of numbers", "no rows", "check that it is the right file")
    return DataTable(path, columns, faults, missing, {}, digest(raw), text, lines=False)
