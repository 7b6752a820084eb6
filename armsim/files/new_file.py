"""Output files: written atomically, and not over existing files unless asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from armsim.errors import UsageError


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing: renamed to `path` when the block ends well. Devices and pipes are written directly."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    path = os.path.realpath(path)  # write through symbolic links
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
    """Refuse an output file that is also an input, or exists without `force`.

    Raises:
        UsageError: It is refused; says why.
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
