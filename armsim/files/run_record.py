"""What the folder of a run holds: what run.yaml says, and the tables of its rows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from armsim.files.document import Map, Node, Scalar, Seq, shown
from armsim.files.faults import refuse
from armsim.files.recovery import TABLES
from armsim.files.run_folder import RUN_FORMAT
from armsim.files.yaml_reader import read_yaml

ABOUT = "run.yaml"
WHOLE = re.compile(r"[-+]?\d+")


@dataclass(frozen=True)
class RunRecord:
    """The folder of a run or a recording, perhaps of another program's.

    Attributes:
        folder: Its path.
        tables: Paths of its tables.
        root: The content of run.yaml; None where it is none of armsim's, or there is none.
        data: The same as plain data.
    """

    folder: str
    tables: tuple[str, ...]
    root: Map | None = field(default=None, repr=False)
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def about(self) -> str:
        """The path of run.yaml."""
        return os.path.join(self.folder, ABOUT)

    def value(self, *keys: str, kind: type | tuple[type, ...] = object) -> Any:
        """A value of run.yaml.

        Args:
            keys: That lead to it.
            kind: That it must be of.

        Raises:
            FileFaults: There is none, or one of another kind.
        """
        found: Any = self.data
        for key in keys:
            found = found.get(key) if isinstance(found, Mapping) else None
        if found is None or not isinstance(found, kind) or (isinstance(found, int) and found < 0):
            raise self._refused(keys, "a whole number, 0 or more" if kind is int else "a value of its kind")
        return found

    def section(self, key: str) -> Mapping[str, Any]:
        """A part of run.yaml; empty where it has none.

        Raises:
            FileFaults: It is of another kind.
        """
        found: Mapping[str, Any] = {} if self.data.get(key) is None else self.value(key, kind=Mapping)
        return found

    def word(self, words: Sequence[str], *keys: str) -> str:
        """A value of run.yaml that is one of some words.

        Raises:
            FileFaults: It is another.
        """
        found: str = self.value(*keys)
        if found not in words:
            raise self._refused(keys, " or ".join(words))
        return found

    def _refused(self, keys: Sequence[str], expected: str) -> Exception:
        assert self.root is not None
        node: Node | None = self.root
        for key in keys:
            node = node.get(key) if isinstance(node, Map) else None
        found, place = ("nothing", self.root.place) if node is None else (shown(node), node.place)
        return refuse(place, ".".join(keys), expected, found, "restore the file, or run it again")


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
        return RunRecord(folder, tables)
    if form != RUN_FORMAT:
        assert written is not None
        mend = "take the version of armsim that wrote it, or one that reads it"
        raise refuse(written.place, "format", RUN_FORMAT, shown(written), mend)
    return RunRecord(folder, tables, root, plain_of(root))


def plain_of(node: Node) -> Any:
    """A document as plain data, whole numbers as integers where they are written so."""
    if isinstance(node, Map):
        return {key: plain_of(value) for key, (_, value) in node.entries.items()}
    if isinstance(node, Seq):
        return [plain_of(item) for item in node.items]
    assert isinstance(node, Scalar)
    return int(node.text) if isinstance(node.value, float) and WHOLE.fullmatch(node.text) else node.value
