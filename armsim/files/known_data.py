"""What follows from files, kept beside compiled code for as long as all that it follows from is as it was."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from armsim import sources
from armsim.compile import cache
from armsim.files.shipped import is_shipped

if TYPE_CHECKING:
    from armsim.files.source import Source

ABSENT = ""  # in place of the digest of a file


class KnownData:
    """Plain data that follows from files.

    Args:
        asked: All that it follows from besides files, armsim, where it is installed, and Python, each with a text of its own.
    """

    def __init__(self, *asked: Any) -> None:
        self._name = cache.key("known", sources.digest(), sources.PACKAGE, sys.version, repr(asked))

    def data(self) -> Any:
        """The data; None where it is not known, or a file is another than it was, or is there and was not."""
        kept = cache.load_json(self._name)
        known = kept is not None and all(_digest(path) == digest for path, digest in kept["files"].items())
        return kept["data"] if known else None

    def keep(self, data: Any, files: Sequence[Source]) -> None:
        """Keep data that follows from YAML alone.

        Other files would be found instead of these if they were there: beside the first, or in the working folder, with the
        name by which a shipped one was called. So they are absent. Paths are as they were given: in another working folder files
        of the same content are as good.

        Args:
            data: The data; None for none.
            files: What was read, the first one first.
        """
        read = {file.path: file.sha256 for file in files}
        if data is None or not all(path.endswith((".yaml", ".yml")) for path in read):
            return
        called = [os.path.splitext(os.path.basename(path))[0] if is_shipped(path) else path for path in read]
        beside = [os.path.normpath(os.path.join(os.path.dirname(files[0].path), name)) for name in called]
        absent = {path: ABSENT for path in (*called, *beside) if path not in read}
        if not any(map(_digest, absent)):
            cache.store_json(self._name, {"files": {**read, **absent}, "data": data})


def _digest(path: str) -> str:
    """The SHA-256 of a regular file; `ABSENT` where there is none that can be read."""
    with suppress(OSError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return hashlib.sha256(file.read()).hexdigest()
    return ABSENT
