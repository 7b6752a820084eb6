"""Tables of numbers, CSV or Parquet by the ending of their name."""

from __future__ import annotations

from armsim.files.csv_reader import Csv, read_csv


def read_table(path: str) -> Csv:
    """The columns of a file; see `read_csv` and `armsim.files.parquet.read_parquet` for the errors."""
    if not path.lower().endswith(".parquet"):
        return read_csv(path)
    from armsim.files.parquet import read_parquet

    return read_parquet(path)
