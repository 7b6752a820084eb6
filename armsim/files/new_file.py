"""Files that results go to: written whole or not at all, and not over what is there already."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from armsim.errors import UsageError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file that takes its name when it is complete; devices and pipes are written as they are."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    path = os.path.realpath(path)  # a link stays one
    folder, name = os.path.split(path)
    beside = os.path.join(folder, f".{name[:200]}.{os.getpid()}.part")
    try:
        with open(beside, "wb") as file:
            yield file
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.remove(beside)
        raise


def refuse_to_overwrite(output: str, inputs: Sequence[str], force: bool) -> None:
    """Refuse a file that is read as well, and one that exists unless its replacement was asked for.

    Raises:
        UsageError: It is not to be written; says why.
    """
    if not os.path.isfile(output):  # nothing to lose; devices and pipes are written to
        return
    for given in inputs:
        if os.path.exists(given) and os.path.samefile(given, output):
            raise UsageError.of(
                f"-o {output}", "another file than those that are read", f"{given} itself", "choose another name"
            )
    if not force:
        raise UsageError.of(
            f"-o {output}", "a new file", "one that exists", "choose another name, or add --force to replace it"
        )
