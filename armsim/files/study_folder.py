"""The folder of a study: results.csv, or results.parquet, and study.yaml; rows are durable as they come.

While it is carried out its rows are in `results.part`, which only grows, and `journal` says up to where it is on disk: a line for
each block, with the rows and bytes so far and the SHA-256 of them. What a kill, or a power cut, left beyond the last whole line
of the journal is cut off. The file gets its name once it is whole, and study.yaml then says `status: complete`.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any

from armsim.errors import FileFaults, UsageError, spelled
from armsim.files.claim import is_hidden_name, sole
from armsim.files.document import Map, Node, Scalar
from armsim.files.exchange import flush
from armsim.files.new_file import whole_file
from armsim.files.recovery import OF_THE_SYSTEM, named
from armsim.files.regular_file import check_own, open_own
from armsim.files.study_record import check_table, file_digest, study_results
from armsim.files.yaml_reader import read_yaml
from armsim.files.yaml_writer import yaml_text

STUDIES = "studies"  # folder of the numbered studies
RECORD, PART, JOURNAL, LOCK = "study.yaml", "results.part", "journal", ".study.lock"
SUMMARY, TUNED, TEST = "summary.yaml", "tuned.yaml", "test"  # of a tuning; the last is the folder of another study
ENDINGS = ("csv", "parquet")
FILES = (RECORD, PART, JOURNAL, LOCK, *(f"results.{ending}" for ending in ENDINGS))
GRAIN = 2**20  # bytes that are read at a time
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
        self.path, self._definition, self._heading, self._ending = path, dict(definition), heading, ending
        self.rows, self.status = 0, "new"
        self.ended: Mapping[str, int] | None = None
        self._hash = hashlib.sha256()
        self._length = 0
        self._descriptor: int | None = None

    @property
    def results(self) -> str:
        """The path of the whole table."""
        return self._file(f"results.{self._ending}")

    @property
    def table(self) -> str:
        """The path of the rows that are there."""
        return self.results if self.status == "complete" else self._file(PART)

    @property
    def _comment(self) -> str:
        return OF_TUNING if "tune" in self._definition else COMMENT

    def open(self) -> None:
        """Take up what is there, or begin.

        Raises:
            OSError: It cannot be written.
        """
        found = read_record(self.path)
        if found is not None and _asked(found) == self._definition:
            self.status = "complete" if (found.get("results") or {}).get("status") == "complete" else "running"
        if self.status == "complete" and os.path.isfile(self.results):
            self._read_results()
            self._forget()
            return
        if (
            self.status != "new" and os.path.isfile(self.results) and self._ending == "csv"
        ):  # stopped just before the end
            os.replace(self.results, self._file(PART))
        if self.status == "new":
            with whole_file(self._file(RECORD)) as file:
                file.write(yaml_text({**self._definition, "results": {"status": "running"}}, self._comment).encode())
        self.status = "running"
        self._descriptor = open_own(self._file(PART), os.O_RDWR | os.O_CREAT)
        self.rows, self._length, kept = self._sound() if found is not None else (0, 0, 0)
        os.ftruncate(self._descriptor, self._length)
        os.lseek(self._descriptor, 0, os.SEEK_END)
        with self._journal() as journal:
            journal.truncate(kept)
        if not self._length:
            self.append(self._heading, 0)

    def _sound(self) -> tuple[int, int, int]:
        """Rows and bytes that are there as the journal says, and the length of the journal up to there."""
        lines = []
        with contextlib.suppress(OSError), open(open_own(self._file(JOURNAL)), "rb") as journal:
            at = 0
            for line in journal:
                at += len(line)
                words = line.decode("ascii", "replace").split()
                if not line.endswith(b"\n") or len(words) != 3 or not (words[0] + words[1]).isdigit():
                    break
                lines.append((int(words[0]), int(words[1]), words[2], at))
        assert self._descriptor is not None
        size, found = os.fstat(self._descriptor).st_size, (0, 0, 0)
        digest, kept, length = hashlib.sha256(), hashlib.sha256(), 0
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        for rows, end, wanted, at in lines:
            if not length < end <= size:
                break
            while length < end:
                text = os.read(self._descriptor, min(GRAIN, end - length))
                digest.update(text)
                length += len(text)
            if digest.hexdigest() != wanted:
                break
            found, kept = (rows, end, at), digest.copy()
        self._hash = kept
        return found

    def append(self, text: bytes, rows: int) -> None:
        """Add rows; they are on disk when this returns.

        Raises:
            OSError: There is no room.
        """
        assert self._descriptor is not None
        left = memoryview(text)
        while left:
            left = left[os.write(self._descriptor, left) :]
        os.fsync(self._descriptor)
        self._hash.update(text)
        self._length += len(text)
        self.rows += rows
        with self._journal() as journal:
            journal.write(f"{self.rows} {self._length} {self._hash.hexdigest()}\n".encode())
            journal.flush()
            os.fsync(journal.fileno())

    def finish(self, convert: Callable[[str, str], None] | None = None) -> None:
        """Give the table its name, and say that it is whole.

        Args:
            convert: Makes of the rows as CSV a table of another format.

        Raises:
            OSError: It cannot be written.
        """
        self.close()
        tally = Counter(row[-2] for row in rows_of(self._file(PART)))
        if convert is None:
            os.replace(self._file(PART), self.results)
            flush(self.path)
        else:
            convert(self._file(PART), self.results)
        results: dict[str, Any] = {
            "status": "complete",
            "file": os.path.basename(self.results),
            "runs": self.rows,
            "sha256": self._hash.hexdigest() if convert is None else file_digest(self.results),
            "ended": {status: tally[status] for status in sorted(tally)},
        }
        with whole_file(self._file(RECORD)) as file:
            file.write(yaml_text({**self._definition, "results": results}, self._comment).encode())
        self._forget()
        self.status, self.ended = "complete", results["ended"]

    def look(self) -> None:
        """Find which rows are there, of an unfinished study as the journal says; nothing is changed.

        Raises:
            FileFaults: study.yaml does not tell of the results of a finished one, or the table is another one.
        """
        if self.status == "complete":
            self._read_results()
            return
        self._descriptor = open_own(self._file(PART))
        try:
            self.rows = self._sound()[0]
        finally:
            self.close()

    def _read_results(self) -> None:
        """What study.yaml says of the whole table, which must be that one."""
        results = study_results(self._file(RECORD))
        check_table(self.results, results)
        self.rows, self.ended = results.runs, results.ended

    def close(self) -> None:
        """Close the table."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _forget(self) -> None:
        for name in (PART, JOURNAL):
            with contextlib.suppress(OSError):
                os.remove(self._file(name))

    def _journal(self) -> IO[bytes]:
        return open(open_own(self._file(JOURNAL), os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab")

    def _file(self, name: str) -> str:
        return os.path.join(self.path, name)


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
    path = _numbered(name, definition) if folder is None else os.fspath(folder)
    try:
        check_study_folder(path, definition, force)
        os.makedirs(path, exist_ok=True)
        with sole(os.path.join(path, LOCK)) as alone:
            if not alone:
                mend = "wait for it, or name another folder with -o"
                raise UsageError.of(path, "a study that no other process is at", "one that is being carried out", mend)
            found = read_record(path)
            if force and found is not None and _asked(found) != definition:
                for file in FILES:
                    with contextlib.suppress(FileNotFoundError):
                        if file != LOCK:
                            os.remove(os.path.join(path, file))
            made = StudyFolder(path, definition, heading, ending)
            try:
                made.open()
                yield made
            finally:
                made.close()
    except OSError as error:
        found_there = error.strerror or str(error)
        mend = "make room, or name another with -o; the same command goes on with what is done"
        raise UsageError.of(path, "a folder that can be written", found_there, mend) from None


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
    names = sorted(n for n in os.listdir(path) if n not in OF_THE_SYSTEM and not is_hidden_name(n) and n != LOCK)
    found = read_record(path)
    check_files(path, "tune" in definition)
    if found is None and names:
        raise UsageError.of(path, expected, f"other files: {named(names)}", "name another folder with -o")
    if found is not None and _asked(found) != definition and not force:
        differ = [key for key in {**definition, **_asked(found)} if found.get(key) != definition.get(key)]
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


def read_record(folder: str) -> dict[str, Any] | None:
    """What study.yaml in a folder says; None if there is none that armsim wrote.

    Raises:
        UsageError: It is a link, a pipe, a device or a folder.
    """
    path = os.path.join(folder, RECORD)
    check_own(path)
    try:
        found = _plain(read_yaml(path)[0])
    except FileFaults:
        return None
    return found if isinstance(found, dict) and isinstance(found.get("results"), dict) else None


def _plain(node: Node) -> Any:
    """Nodes as plain data."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Map):
        return {key: _plain(value) for key, (_, value) in node.entries.items()}
    return [_plain(item) for item in node.items]


def _asked(record: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key != "results"}


def _numbered(name: str, definition: Mapping[str, Any]) -> str:
    """The numbered folder that has a study, or the next free one."""
    number = 1
    while True:
        path = os.path.join(STUDIES, f"{name}-{number:03d}")
        if not os.path.lexists(path):
            return path
        found = read_record(path)
        if found is not None and _asked(found) == definition:
            return path
        number += 1


def rows_of(path: str) -> Iterator[list[str]]:
    """The rows of results.csv, or of its part, as text, one by one."""
    with open(open_own(path), encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        next(reader, [])
        yield from reader
