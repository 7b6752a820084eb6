"""A study that is on disk, read back: what it asks, and the results that there are."""

from __future__ import annotations

import contextlib
import csv
import os
from os import PathLike

from armsim.errors import UsageError
from armsim.files.document import Place, clipped
from armsim.files.faults import refuse
from armsim.files.regular_file import open_own
from armsim.files.study_folder import PART, RECORD, StudyFolder, check_files, read_record
from armsim.files.study_record import RESTORE, check_table, study_results
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
    results = study_results(os.path.join(folder, RECORD)) if status == COMPLETE else None
    if results is not None:
        check_table(file, results)
    paths = tuple(study.axes)
    names: list[str] = []
    with contextlib.suppress(UnicodeDecodeError, csv.Error):
        names = _headings(file)
    before, after = [INDEX, *paths], [STATUS, REASON]
    measures = tuple(names[len(before) : -len(after)])
    if not measures or names != [*before, *measures, *after]:
        expected = f"the headings {clipped(', '.join(before))}, measures, {STATUS} and {REASON}"
        raise refuse(Place(file, 1, 1), "", expected, clipped(", ".join(names)) or "none", RESTORE)
    done = results.runs if results is not None else StudyFolder(folder, {}, b"", study.table).look()
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
