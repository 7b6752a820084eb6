"""Files that are read: where they are, and their hashes."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass

from armsim.files.document import Place
from armsim.files.faults import refuse, suggestion
from armsim.files.shipped import looks_like_a_file, shipped_names, shipped_path


@dataclass(frozen=True)
class Source:
    """A file that was read.

    Attributes:
        path: As messages show it.
        sha256: Of its bytes, in hexadecimal digits.
    """

    path: str
    sha256: str


def find_file(kind: str, path_or_name: str) -> str:
    """The path of a file given by path, or of a shipped one given by name.

    Args:
        kind: "robots" or "configs".
        path_or_name: What the user wrote.

    Raises:
        FileFaults: It is neither; the message names the nearest shipped one.
    """
    if looks_like_a_file(path_or_name) or os.path.isfile(path_or_name):
        return path_or_name
    path = shipped_path(kind, path_or_name)
    if path is None:
        noun = {"robots": "robot", "configs": "scenario"}[kind]
        expected = f"a {noun} file, or the name of a shipped {noun}"
        mend = suggestion(path_or_name, shipped_names(kind), f"shipped {noun}s are")
        raise refuse(Place(path_or_name), "", expected, "neither of them", mend)
    return path


def beside(folder: str, path: str) -> str:
    """A path that is written relative to a file in `folder`, as messages show it."""
    return os.path.normpath(os.path.join(folder, path)) if folder else path


def digest(raw: bytes) -> str:
    """The SHA-256 of bytes, in hexadecimal digits."""
    return hashlib.sha256(raw).hexdigest()
