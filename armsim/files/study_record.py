"""What study.yaml says of a finished study's results, and whether the table is the one that it says."""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO

from armsim.errors import FileFaults
from armsim.files.document import Map, Node, Place, Scalar, shown
from armsim.files.faults import refuse
from armsim.files.source import open_table
from armsim.files.yaml_reader import read_yaml

GRAIN = 2**20  # bytes that are read at a time
WHAT = "the table of a study"
RESTORE = "restore it, or remove it and carry the study out again"


@dataclass(frozen=True)
class StudyResults:
    """The results of a finished study.

    Attributes:
        runs: Rows of the table.
        sha256: Of its bytes.
        ended: How many runs there are of each status.
    """

    runs: int
    sha256: str
    ended: Mapping[str, int]


def study_results(path: str) -> StudyResults:
    """The results that a study.yaml tells of.

    Raises:
        FileFaults: They are not as armsim writes them; says in which line.
    """
    root, _ = read_yaml(path)
    results = root.get("results") if isinstance(root, Map) else None
    if not isinstance(results, Map):
        raise _damaged(Place(path), "results", "what came of the study", results)
    ended = results.get("ended")
    if not isinstance(ended, Map):
        raise _damaged(results.place, "results.ended", "how many runs ended how", ended)
    sha256 = results.get("sha256")
    if not isinstance(sha256, Scalar) or not isinstance(sha256.value, str):
        raise _damaged(results.place, "results.sha256", "the SHA-256 of the table", sha256)
    counts = {key: _count(ended, key, "results.ended") for key in ended.entries}
    return StudyResults(_count(results, "runs", "results"), sha256.text, counts)


def check_table(path: str, results: StudyResults) -> None:
    """Compare a study's table with its hash.

    Raises:
        FileFaults: It is another one; says in which line, where a line is none of a table.
    """
    expected = f"the table as it was written, sha256 {results.sha256[:12]}..."
    found = file_digest(path)
    if found == results.sha256:
        return
    with open_table(path, WHAT, math.inf) as file:
        line = None if path.endswith(".parquet") else _broken_line(file)
    place, told = Place(path), f"other bytes, sha256 {found[:12]}..."
    if line is not None:
        place, told = Place(path, line[0], 1), line[1]
    raise refuse(place, "", expected, told, RESTORE)


def file_digest(path: str) -> str:
    """The SHA-256 of a table's bytes."""
    digest = hashlib.sha256()
    with open_table(path, WHAT, math.inf) as file:
        while piece := file.read(GRAIN):
            digest.update(piece)
    return digest.hexdigest()


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


def _count(of: Map, key: str, path: str) -> int:
    node = of.get(key)
    value = getattr(node, "value", None)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (value >= 0 and value == value // 1):
        raise _damaged(of.place if node is None else node.place, f"{path}.{key}", "a whole number", node)
    return int(value)


def _damaged(place: Place, path: str, expected: str, node: Node | None) -> FileFaults:
    found = "nothing" if node is None else shown(node)
    return refuse(
        place if node is None else node.place, path, expected, found, "restore the file, or carry the study out again"
    )
