"""What study.yaml says, and whether the table of a finished study is the one that it tells of."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Mapping
from typing import IO, Any

from armsim.files.faults import refuse
from armsim.files.nodes import Place
from armsim.files.run_record import Record
from armsim.files.source import open_table

WHAT = "the table of a study"
RESTORE = "restore it, or remove it and carry the study out again"


class StudyRecord(Record):
    """study.yaml: what was asked for, and what came of it."""

    again = "carry the study out again"

    @property
    def asked(self) -> dict[str, Any]:
        """What it says besides its `results`."""
        return {key: value for key, value in self.data.items() if key != "results"}

    @property
    def whole(self) -> bool:
        """Whether it says that the study is at its end."""
        return self.data["results"].get("status") == "complete"

    @property
    def ended(self) -> dict[str, int]:
        """How many runs there are of each status, at the end of the study."""
        return {
            key: self.value("results", "ended", key, kind=int) for key in self.value("results", "ended", kind=Mapping)
        }


def check_table(path: str, sha256: str) -> None:
    """Compare a study's table with its hash.

    Raises:
        FileFaults: It is another one; says in which line, where a line is none of a table.
    """
    expected = f"the table as it was written, sha256 {sha256[:12]}..."
    found = file_digest(path)
    if found == sha256:
        return
    with open_table(path, WHAT, math.inf) as file:
        line = None if path.endswith(".parquet") else _broken_line(file)
    place, told = Place(path), f"other bytes, sha256 {found[:12]}..."
    if line is not None:
        place, told = Place(path, line[0], 1), line[1]
    raise refuse(place, "", expected, told, RESTORE)


def file_digest(path: str) -> str:
    """The SHA-256 of a table's bytes."""
    with open_table(path, WHAT, math.inf) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _broken_line(file: IO[bytes]) -> tuple[int, str] | None:
    """The first line of a table that is no UTF-8, or has other cells than the first, and what it is."""
    width = 0
    for number, line in enumerate(file, start=1):
        try:
            cells = next(csv.reader([line.decode()]), [])
        except (UnicodeDecodeError, csv.Error):
            return number, "a line that is no text in UTF-8"
        width = width or len(cells)
        if len(cells) != width or not line.endswith(b"\n"):
            return number, f"a line of {len(cells)} cells, cut short" if len(cells) <= width else f"{len(cells)} cells"
    return None
