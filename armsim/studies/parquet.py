"""The table of a study as Parquet, by pyarrow, which is installed with `armsim[parquet]`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from armsim.batches.table_text import INDEX, REASON, STATUS
from armsim.files.new_file import whole_file
from armsim.files.regular_file import open_own
from armsim.files.study_folder import rows_of
from armsim.formulas.values import Drawn, Values

GROUP = 2**16  # rows that are compressed together


def parquet_writer(axes: Mapping[str, Values], measures: Sequence[str]) -> Callable[[str, str], None]:
    """What makes of a study's rows as CSV a Parquet file: numbers as doubles, words and lists as text, null for nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    words = {path for path, of in axes.items() if not isinstance(of, Drawn) and (of.words or of.lists)}
    types = {path: pa.string() if path in words else pa.float64() for path in axes}
    names = [(INDEX, pa.int64()), *types.items(), *((name, pa.float64()) for name in measures)]
    schema = pa.schema([*names, (STATUS, pa.string()), (REASON, pa.string())])

    def write(part: str, path: str) -> None:
        rows = rows_of(part)
        with whole_file(path) as file, pq.ParquetWriter(file, schema) as writer:
            while block := list(islice(rows, GROUP)):
                columns = list(zip(*block, strict=True))
                arrays = [_array(column, field.type) for column, field in zip(columns, schema, strict=True)]
                writer.write_batch(pa.record_batch(arrays, schema))

    return write


def _array(cells: Sequence[str], type: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_string(type):
        return pa.array(cells, type)
    made = int if pa.types.is_integer(type) else float
    return pa.array([made(cell) if cell else None for cell in cells], type)


def parquet_rows(path: str) -> Iterator[list[Any]]:
    """The rows of a Parquet file, one by one."""
    import pyarrow.parquet as pq

    with open(open_own(path), "rb") as file:
        for batch in pq.ParquetFile(file).iter_batches(GROUP):
            yield from map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))
