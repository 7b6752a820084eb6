"""What the folder of a run holds: what run.yaml says, and the tables of its rows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from os import PathLike
from typing import Any, Literal, get_args, get_origin

from armsim.errors import UsageError
from armsim.files.faults import refuse
from armsim.files.folder_kind import ABOUT, RUN_FORMAT, TABLES
from armsim.files.nodes import Map, Node, Scalar, Seq, shown
from armsim.files.yaml_reader import read_yaml
from armsim.records import Mismatch, from_plain, record

WHOLE = re.compile(r"[-+]?\d{1,300}")  # longer ones are no whole numbers of armsim's


@record
class Record:
    """A file that armsim has written, whose values are looked at as they are needed.

    Attributes:
        root: Its content; None where it is none of armsim's, or there is none.
        data: The same as plain data.
    """

    root: Map | None = field(default=None, repr=False)
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    again = "run it again"  # how to have it anew

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def value(self, *keys: str, kind: Any = object, **known: Any) -> Any:
        """A value of run.yaml, or a result that it tells of.

        Args:
            keys: That lead to it.
            kind: That it must be of; see `armsim.records.from_plain`.
            known: Parts of the result that run.yaml does not have, or not under their names.

        Raises:
            FileFaults: There is none, or a part is missing, or of another kind.
        """
        found: Any = self.data
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        try:
            if found is None and kind is object:
                raise Mismatch(keys, kind)
            return from_plain(kind, {**found, **known} if known else found, *keys)
        except Mismatch as mismatch:
            words = (
                " or ".join(get_args(mismatch.kind)) if get_origin(mismatch.kind) is Literal else "a value of its kind"
            )
            expected = "a whole number, 0 or more" if mismatch.kind is int else words
            raise self._refused(mismatch.keys, expected) from None

    def section(self, key: str) -> Mapping[str, Any]:
        """A part of the file; empty where it has none.

        Raises:
            FileFaults: It is of another kind.
        """
        found: Mapping[str, Any] = {} if self.data.get(key) is None else self.value(key, kind=Mapping)
        return found

    def _refused(self, keys: Sequence[str], expected: str) -> Exception:
        assert self.root is not None
        node: Node | None = self.root
        place = self.root.place
        for key in keys:
            if isinstance(node, Seq):
                node = node.items[int(key)] if key.isdigit() else None
            else:
                node = node.get(key) if isinstance(node, Map) else None
            place = place if node is None else node.place
        found = "nothing" if node is None else shown(node)
        return refuse(place, ".".join(keys), expected, found, f"restore the file, or {self.again}")


@record
class RunRecord(Record):
    """The folder of a run or a recording, perhaps of another program's.

    Attributes:
        folder: Its path.
        tables: Paths of its tables.
    """

    folder: str = ""
    tables: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """The path of run.yaml."""
        return os.path.join(self.folder, ABOUT)

    @property
    def commanded(self) -> Literal["voltage", "torque"] | None:
        """What drove the arm: the output of its controller, or inputs; None where nothing did, or run.yaml says nothing of it."""
        scenario = self.section("scenario")
        parts = [part for key in ("control", "inputs") if isinstance(part := scenario.get(key), Mapping)]
        said = [word for part in parts for word in (*part, part.get("output"))]
        return "voltage" if "voltage" in said else "torque" if "torque" in said else None


def folder_of(run: str | PathLike[str]) -> str:
    """The folder of a run that is named by its folder or its run.yaml."""
    name = os.fspath(run)
    return (os.path.dirname(name) or ".") if os.path.basename(name) == ABOUT else name


def run_record(run: str | PathLike[str]) -> RunRecord:
    """What a folder, or the folder of a run.yaml, holds.

    Raises:
        FileFaults: run.yaml cannot be read, or is of another version; says where and why.
    """
    folder = folder_of(run)
    about = os.path.join(folder, ABOUT)
    tables = tuple(path for file in TABLES if os.path.isfile(path := os.path.join(folder, file)))
    root = read_yaml(about)[0] if os.path.isfile(about) else None
    written = root.get("format") if isinstance(root, Map) else None
    form = str(getattr(written, "value", None))
    if not isinstance(root, Map) or not form.startswith(RUN_FORMAT[:-1]):
        return RunRecord(folder=folder, tables=tables)
    if form != RUN_FORMAT:
        assert written is not None
        mend = "take the version of armsim that wrote it, or one that reads it"
        raise refuse(written.place, "format", RUN_FORMAT, shown(written), mend)
    return RunRecord(root, plain_of(root), folder, tables)


def recorded(run: str | PathLike[str]) -> RunRecord:
    """What the folder of a run or a recording holds, tables of rows at least.

    Raises:
        FileFaults: See `run_record`.
        UsageError: It has none.
    """
    record = run_record(run)
    if not record.tables:
        known = " or ".join(file for file in TABLES if file.endswith(".csv"))
        mend = "name a folder that `armsim simulate` or `armsim record` has written, or a CSV file"
        raise UsageError.of(os.fspath(run), "a run or a recording", f"a folder without {known}", mend)
    return record


def plain_of(node: Node) -> Any:
    """A document as plain data, whole numbers as integers where they are written so."""
    if isinstance(node, Map):
        return {key: plain_of(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Seq):
        return [plain_of(item) for item in node.items]
    assert isinstance(node, Scalar)
    return int(node.text) if isinstance(node.value, float) and WHOLE.fullmatch(node.text) else node.value
