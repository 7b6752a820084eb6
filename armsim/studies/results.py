"""The results of a study in its folder, read back."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from typing import Any

from armsim.batches.runs import COMPLETE, Runs
from armsim.batches.table_text import INDEX, REASON, STATUS, TextTable
from armsim.errors import UsageError
from armsim.files.faults import refuse
from armsim.files.nodes import Place, clipped
from armsim.files.regular_file import open_own
from armsim.files.study_folder import RECORD, StudyFolder, check_files, read_record, rows_of
from armsim.files.study_record import RESTORE
from armsim.records import record
from armsim.studies.study import Study, study_of


@record
class StoredRows:
    """The rows of a study's table, as text or as Parquet has them; read anew each time they are asked for.

    Attributes:
        file: The table.
        count: Rows that are sound.
    """

    file: str
    count: int

    def __iter__(self) -> Iterator[Sequence[Any]]:
        if self.file.endswith(".parquet"):
            from armsim.studies.parquet import parquet_rows

            yield from parquet_rows(self.file)
            return
        for _, row in zip(range(self.count), rows_of(self.file), strict=False):
            yield row


def stored_runs(folder: StudyFolder, paths: Iterable[str], measures: Iterable[str], **about: Any) -> Runs:
    """The runs that a folder has, which are read when they are asked for.

    Args:
        folder: The folder.
        paths: What is varied.
        measures: Names of the measures.
        about: Further attributes.
    """
    varied, results = tuple(paths), tuple(measures)
    table = TextTable((INDEX, *varied, *results, STATUS, REASON), StoredRows(folder.table, folder.rows), folder.rows)
    return Runs(
        folder.path,
        varied,
        results,
        table,
        whole=folder.status == COMPLETE,
        folder=folder.path,
        file=folder.table,
        ended=folder.ended,
        **about,
    )


def is_study_folder(path: str | PathLike[str]) -> bool:
    """Whether a folder, or a study.yaml, is of a study that `armsim.sweep` has written."""
    return read_record(folder_of(path)) is not None


def load_study(path: str | PathLike[str]) -> tuple[Study, Runs]:
    """A study and its runs so far; nothing is run.

    Args:
        path: Its folder, or study.yaml there.

    Raises:
        UsageError: It is none, or has no results.
        FileFaults: The study or its scenario cannot be read any more.
    """
    folder = folder_of(path)
    record = read_record(folder)
    if record is None:
        mend = "name a folder that `armsim sweep` has written"
        raise UsageError.of(folder, "the folder of a study", f"none with {RECORD}", mend)
    if "tune" in record:
        mend = f"simulate {folder}/tuned.yaml, which it found, and name the folder of that run"
        raise UsageError.of(folder, "the folder of a study of `armsim sweep`", "one of `armsim tune`", mend)
    study = study_of(os.path.join(folder, RECORD))
    check_files(folder, tuned=False)
    stored = StudyFolder(folder, {}, b"", study.table)
    stored.look(record)
    file = stored.table
    paths = tuple(study.design.axes)
    names: list[str] = []
    with contextlib.suppress(UnicodeDecodeError, csv.Error):
        names = _headings(file)
    before, after = [INDEX, *paths], [STATUS, REASON]
    measures = tuple(names[len(before) : -len(after)])
    if not measures or names != [*before, *measures, *after]:
        expected = f"the headings {clipped(', '.join(before))}, measures, {STATUS} and {REASON}"
        raise refuse(Place(file, 1, 1), "", expected, clipped(", ".join(names)) or "none", RESTORE)
    return study, stored_runs(stored, paths, measures, count=study.design.count)


def folder_of(path: str | PathLike[str]) -> str:
    """The folder of a study, by its own name or that of its study.yaml."""
    name = os.fspath(path)
    return (os.path.dirname(name) or ".") if os.path.basename(name) == RECORD else name.rstrip("/" + os.sep)


def _headings(file: str) -> list[str]:
    if file.endswith(".parquet"):
        from armsim.files.parquet import check_parquet

        check_parquet(file)
        from pyarrow.parquet import read_schema

        with open(open_own(file), "rb") as table:
            return list(read_schema(table).names)
    with open(open_own(file), encoding="utf-8", newline="") as rows:
        return next(csv.reader(rows), [])
