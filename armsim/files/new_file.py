"""Output files: written atomically, and not over existing files unless asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from armsim.errors import UsageError, spelled
from armsim.files.claim import Claim, abandoned
from armsim.files.exchange import flush


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing: on disk and renamed to `path` when the block ends well.

    Devices and pipes are written directly. What processes that were killed have left beside the file is removed.

    Raises:
        OSError: It cannot be written.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    path = os.path.realpath(path)  # write through symbolic links
    folder, name = os.path.split(path)
    _tidy(folder)
    claim = Claim(folder, name)
    beside = claim.path("part")
    try:
        with open(beside, "wb") as file:
            yield file
        flush(beside)
        os.replace(beside, path)
        with suppress(OSError):
            flush(folder)
    finally:
        with suppress(OSError):
            os.remove(beside)
        claim.release()


def check_output(path: str, option: str = "-o") -> None:
    """Refuse an output file that cannot be written, before the work begins.

    Args:
        path: The file.
        option: That names it.

    Raises:
        UsageError: It cannot be written; says why.
    """
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(None, "a folder")
        if os.path.exists(path) and not os.path.isfile(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(None, "no permission to write it")
            return
        Claim(*os.path.split(os.path.realpath(path))).release()
    except OSError as error:
        raise unwritable(path, error, option) from None


def unwritable(path: str, error: OSError, option: str = "-o") -> UsageError:
    """The refusal of an output file that cannot be written, and why."""
    found = error.strerror or str(error)
    return UsageError.of(
        spelled(f"{option} {path}", path), "a file that can be written", found, "check the folder and its permissions"
    )


def refuse_to_overwrite(output: str, inputs: Sequence[str], force: bool) -> None:
    """Refuse an output file that is also an input, that exists without `force`, or that cannot be written.

    Raises:
        UsageError: It is refused; says why.
    """
    if os.path.isfile(output):
        for given in inputs:
            if os.path.exists(given) and os.path.samefile(given, output):
                raise UsageError.of(
                    spelled(f"-o {output}", output),
                    "another file than those that are read",
                    f"{given} itself",
                    "choose another name",
                )
        if not force:
            raise UsageError.of(
                spelled(f"-o {output}", output),
                "a new file",
                "one that exists",
                f"choose another name, or add {spelled('--force', 'force=True')} to replace it",
            )
    check_output(output)


def _tidy(folder: str) -> None:
    """Remove files of dead processes that did not become whole."""
    with abandoned(folder) as dead:
        for one in dead:
            if "part" in one.left:
                with suppress(OSError):
                    os.remove(one.left["part"])
