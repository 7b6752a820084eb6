"""Tables of numbers, CSV or Parquet by the ending of their name."""

from __future__ import annotations

from armsim.files.csv_reader import read_csv_columns
from armsim.files.table import DataTable


def read_table(path: str) -> DataTable:
    """The columns of a file; see `read_csv_columns` and `armsim.files.parquet.read_parquet` for the errors."""
    if not path.lower().endswith(".parquet"):
        return read_csv_columns(path)
    from armsim.files.parquet import read_parquet

    return read_parquet(path)
