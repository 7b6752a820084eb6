"""The folder of a study: results.csv, or results.parquet, and study.yaml; rows are durable as they come.

While it is carried out its rows are in `results.part`, which only grows, and `journal` says up to where it is on disk: a line for
each block, with the rows and bytes so far and the SHA-256 of them. What a kill, or a power cut, left beyond the last whole line
of the journal is cut off. The file gets its name once it is whole, and study.yaml then says `status: complete`.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import itertools
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from armsim.errors import FileFaults, UsageError, refusing, spelled
from armsim.files.claim import sole
from armsim.files.exchange import flush, flush_open
from armsim.files.folder_kind import entries
from armsim.files.interrupts import interrupts_later
from armsim.files.new_file import made_folder, write_whole
from armsim.files.nodes import Map
from armsim.files.recovery import named
from armsim.files.regular_file import check_own, open_own
from armsim.files.run_record import plain_of
from armsim.files.study_record import StudyRecord, check_table, file_digest
from armsim.files.yaml_reader import read_yaml
from armsim.files.yaml_writer import yaml_text

STUDIES = "studies"  # folder of the numbered studies
RECORD, PART, JOURNAL, LOCK = "study.yaml", "results.part", "journal", ".study.lock"
SUMMARY, TUNED, TEST = "summary.yaml", "tuned.yaml", "test"  # of a tuning; the last is the folder of another study
ENDINGS = ("csv", "parquet")
RESULTS = tuple(f"results.{ending}" for ending in ENDINGS)
FILES = (RECORD, PART, JOURNAL, LOCK, *RESULTS)
GRAIN = 2**20  # bytes that are read at a time
MARK = re.compile(rb"(\d{1,18}) (\d{1,18}) (\w+)\n")  # a line of the journal: rows, bytes, hash
COMMENT = """An armsim study. `armsim sweep study.yaml -o DIR` repeats it, and with --show INDEX carries out one of its runs."""
OF_TUNING = (
    """An armsim study. `armsim tune study.yaml -o DIR` repeats it; tuned.yaml is the scenario with what was found."""
)


class StudyFolder:
    """The folder of a study that is carried out.

    Args:
        path: The folder.
        definition: What study.yaml says besides its `results`.
        heading: First line of results.csv, with its line end.
        ending: "csv" or "parquet".

    Attributes:
        rows: How many it has.
        status: "new", "running" or "complete".
        ended: Of a complete study, how many runs there are of each status.
    """

    def __init__(self, path: str, definition: Mapping[str, Any], heading: bytes, ending: str) -> None:
        self.path, self._definition, self._heading = path, dict(definition), heading
        self.rows, self.status = 0, "new"
        self.ended: Mapping[str, int] | None = None
        self.results = self._file(f"results.{ending}")  # the path of the whole table
        self._hash, self._length = hashlib.sha256(), 0
        self._descriptors: list[int] = []  # of the rows and the journal

    @property
    def table(self) -> str:
        """The path of the rows that are there."""
        return self.results if self.status == "complete" else self._file(PART)

    def open(self) -> None:
        """Take up what is there, or begin.

        Raises:
            OSError: It cannot be written.
        """
        found = read_record(self.path)
        if found is None or found.asked != self._definition:
            if found is not None:  # another study, which may be replaced
                self._forget(*RESULTS)
                found = None
            self._tell({"status": "running"})
        elif os.path.isfile(self.results):
            if found.whole:
                self.look(found)
                self._forget()
                return
            if self.results.endswith(".csv"):  # stopped just before the end
                os.replace(self.results, self._file(PART))
        self.status = "running"
        part = self._open(PART, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        journal = self._open(JOURNAL, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        kept = 0 if found is None else self._sound()
        os.ftruncate(part, self._length)
        os.ftruncate(journal, kept)
        if not self._length:
            self.append(self._heading, 0)

    def _sound(self) -> int:
        """Find which rows are there as the journal says; the length of the journal up to there."""
        digest, length, kept = hashlib.sha256(), 0, 0
        rows, marks = self._descriptors
        with open(rows, "rb", closefd=False) as part, open(marks, "rb", closefd=False) as journal:
            for line in journal:
                mark = MARK.fullmatch(line)
                if mark is None or int(mark[2]) <= length:
                    break
                while length < int(mark[2]) and (text := part.read(min(GRAIN, int(mark[2]) - length))):
                    digest.update(text)
                    length += len(text)
                if digest.hexdigest() != mark[3].decode():
                    break
                kept += len(line)
                self.rows, self._length, self._hash = int(mark[1]), length, digest.copy()
        return kept

    def append(self, text: bytes, rows: int) -> None:
        """Add rows; they are on disk when this returns.

        Raises:
            OSError: There is no room.
        """
        part, journal = self._descriptors
        _write(part, text)
        self._hash.update(text)
        self._length += len(text)
        self.rows += rows
        _write(journal, f"{self.rows} {self._length} {self._hash.hexdigest()}\n".encode())

    def finish(self, convert: Callable[[str, str], None] | None = None) -> None:
        """Give the table its name, and say that it is whole; Ctrl-C waits.

        Args:
            convert: Makes of the rows as CSV a table of another format.

        Raises:
            OSError: It cannot be written.
        """
        self.close()
        part = self._file(PART)
        with interrupts_later():
            tally = Counter(row[-2] for row in rows_of(part))
            if convert is None:
                os.replace(part, self.results)
                flush(self.path)
            else:
                convert(part, self.results)
            self.ended = {status: tally[status] for status in sorted(tally)}
            results = {
                "status": "complete",
                "file": os.path.basename(self.results),
                "runs": self.rows,
                "sha256": self._hash.hexdigest() if convert is None else file_digest(self.results),
                "ended": self.ended,
            }
            self._tell(results)
            self._forget()
            self.status = "complete"

    def look(self, found: StudyRecord) -> None:
        """Find which rows are there, of an unfinished study as the journal says; nothing is changed.

        Args:
            found: What study.yaml says.

        Raises:
            UsageError: The table is gone.
            FileFaults: It does not tell of the results of a finished one, or the table is another one.
        """
        self.status = "complete" if found.whole else "running"
        if not os.path.isfile(self.table):
            mend = f"run `armsim sweep {self.path}/{RECORD}` again"
            raise UsageError.of(self.table, "the rows of the study", "no such file", mend)
        if found.whole:
            self.ended = found.ended
            self.rows = found.value("results", "runs", kind=int)
            check_table(self.results, found.value("results", "sha256", kind=str))
            return
        try:
            self._open(PART, os.O_RDONLY)
            with contextlib.suppress(FileNotFoundError):
                self._open(JOURNAL, os.O_RDONLY)
                self._sound()
        finally:
            self.close()

    def close(self) -> None:
        """Close the table."""
        while self._descriptors:
            os.close(self._descriptors.pop())

    def _tell(self, results: Mapping[str, Any]) -> None:
        """Write study.yaml."""
        comment = OF_TUNING if "tune" in self._definition else COMMENT
        write_whole(self._file(RECORD), yaml_text({**self._definition, "results": results}, comment))

    def _forget(self, *results: str) -> None:
        for name in (PART, JOURNAL, *results):
            with contextlib.suppress(OSError):
                os.remove(self._file(name))

    def _open(self, name: str, flags: int) -> int:
        self._descriptors.append(open_own(self._file(name), flags))
        return self._descriptors[-1]

    def _file(self, name: str) -> str:
        return os.path.join(self.path, name)


def _write(descriptor: int, text: bytes) -> None:
    """Add to a file, and have it on disk."""
    left = memoryview(text)
    while left:
        left = left[os.write(descriptor, left) :]
    flush_open(descriptor)


@contextlib.contextmanager
def study_folder(
    folder: str | os.PathLike[str] | None,
    name: str,
    definition: Mapping[str, Any],
    heading: bytes,
    ending: str,
    force: bool = False,
) -> Iterator[StudyFolder]:
    """The folder of a study, for this process alone.

    Args:
        folder: Where it is; `studies/<name>-001` and so on, the one that has this study or the next free number, if None.
        name: Of the study.
        definition: What study.yaml says besides its `results`.
        heading: First line of results.csv, with its line end.
        ending: "csv" or "parquet".
        force: Whether another study may be replaced.

    Raises:
        UsageError: It has something else, cannot be written, or another process is at it.
    """
    mend = "make room, or name another with -o; the same command goes on with what is done"
    for number in itertools.count(1):
        path = os.path.join(STUDIES, f"{name}-{number:03d}") if folder is None else os.fspath(folder)
        with refusing(path, "a folder that can be written", mend):
            if folder is None and os.path.lexists(path) and not _has(path, definition):
                continue
            check_study_folder(path, definition, force)
            with made_folder(path), sole(os.path.join(path, LOCK)) as alone:
                if folder is None and not _has(path, definition) and (not alone or read_record(path)):
                    continue  # another study has taken it meanwhile
                if not alone:
                    expected, mend = (
                        "a study that no other process is at",
                        "wait for it, or name another folder with -o",
                    )
                    raise UsageError.of(path, expected, "one that is being carried out", mend)
                check_study_folder(path, definition, force)
                with contextlib.closing(StudyFolder(path, definition, heading, ending)) as made:
                    made.open()
                    yield made
                return


def _has(path: str, definition: Mapping[str, Any]) -> bool:
    """Whether a folder has this study."""
    found = read_record(path)
    return found is not None and found.asked == definition


def check_study_folder(path: str, definition: Mapping[str, Any], force: bool) -> None:
    """Refuse a folder that has something else than this study.

    Raises:
        UsageError: It has, or a file of the study's names is none of its own.
    """
    if not os.path.lexists(path):
        return
    expected = "a folder that is absent, empty, or has this study"
    if not os.path.isdir(path):
        raise UsageError.of(path, expected, "a file", "name another folder with -o")
    names = [name for name in entries(path) if name != LOCK]
    found = read_record(path)
    check_files(path, "tune" in definition)
    if found is None and names:
        raise UsageError.of(path, expected, f"other files: {named(names)}", "name another folder with -o")
    if found is not None and found.asked != definition and not force:
        asked = found.asked
        differ = [key for key in {**definition, **asked} if asked.get(key) != definition.get(key)]
        mend = f"name another folder with -o, or add {spelled('--force', 'force=True')} to replace the study"
        raise UsageError.of(path, expected, f"another study: other {', '.join(differ)}", mend)


def check_files(folder: str, tuned: bool) -> None:
    """Refuse a folder in which one of the names of a study's files is that of a link, a pipe, a device or a folder.

    Args:
        folder: The folder.
        tuned: Whether the study is a tuning, which has further files.

    Raises:
        UsageError: It is refused.
    """
    for name in (*FILES, *((SUMMARY, TUNED) if tuned else ())):
        check_own(os.path.join(folder, name))
    if tuned:
        check_own(os.path.join(folder, TEST), folder=True)


def read_record(folder: str) -> StudyRecord | None:
    """What study.yaml in a folder says; None if there is none that armsim wrote.

    Raises:
        UsageError: It is a link, a pipe, a device or a folder.
    """
    path = os.path.join(folder, RECORD)
    check_own(path)
    with contextlib.suppress(FileFaults):
        root = read_yaml(path)[0]
        if isinstance(root, Map) and isinstance(root.get("results"), Map):
            return StudyRecord(root, plain_of(root))
    return None


def rows_of(path: str) -> Iterator[list[str]]:
    """The rows of results.csv, or of its part, as text, one by one."""
    with open(open_own(path), encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        next(reader, [])
        yield from reader
