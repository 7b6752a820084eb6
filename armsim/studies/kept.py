"""A study that is on disk, read back: what it asks, and the results that there are."""

from __future__ import annotations

import csv
import os
from os import PathLike

from armsim.errors import UsageError
from armsim.files.regular_file import open_own
from armsim.files.study_folder import JOURNAL, PART, RECORD, check_files, read_record
from armsim.studies.results import COMPLETE, Sweep
from armsim.studies.rows import INDEX, REASON, STATUS
from armsim.studies.study import Study, study_of


def is_study_folder(path: str | PathLike[str]) -> bool:
    """Whether a folder, or a study.yaml, is of a study that `armsim.sweep` has written."""
    return read_record(folder_of(path)) is not None


def kept_study(path: str | PathLike[str]) -> tuple[Study, Sweep]:
    """A study and its results so far; nothing is run.

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
    status = COMPLETE if record["results"].get("status") == COMPLETE else "interrupted"
    file = os.path.join(folder, PART if status != COMPLETE else f"results.{study.table}")
    if not os.path.isfile(file):
        raise UsageError.of(
            file, "the rows of the study", "no such file", f"run `armsim sweep {folder}/{RECORD}` again"
        )
    paths = tuple(study.axes)
    known = {INDEX, *paths, STATUS, REASON}
    measures = tuple(name for name in _headings(file) if name not in known)
    done = int(record["results"]["runs"]) if status == COMPLETE else _journaled(folder)
    return study, Sweep(folder, status, done, study.design.count, paths, measures, study.table)


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


def _journaled(folder: str) -> int:
    """Rows that the journal of an unfinished study knows to be whole."""
    try:
        with open(open_own(os.path.join(folder, JOURNAL)), encoding="ascii", errors="replace") as journal:
            lines = [line.split() for line in journal if line.endswith("\n")]
    except OSError:
        return 0
    return max((int(words[0]) for words in lines if len(words) == 3 and words[0].isdigit()), default=0)
