"""Output files: written atomically, and not over existing files unless asked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from armsim.errors import UsageError, spelled
from armsim.files.claim import Claim, abandoned
from armsim.files.exchange import flush


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file for atomic writing: on disk and renamed to `path` when the block ends well.

    Devices and pipes are written directly. A symbolic link is replaced: it may have come with a folder from elsewhere, and lead
    anywhere. What processes that were killed have left beside the file is removed.

    Raises:
        OSError: It cannot be written.
    """
    if _is_stream(path):
        with open(path, "wb") as file:
            yield file
        return
    path = _in_its_folder(path)
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


def write_files(folder: str, texts: Mapping[str, str]) -> list[str]:
    """Write files into a folder, which is made unless it is there: all of them, or none that is new.

    Args:
        folder: The folder.
        texts: Of the files, by name.

    Returns:
        Their paths.

    Raises:
        OSError: They cannot be written; folders that were made for them are gone again.
    """
    paths = [os.path.join(folder, name) for name in texts]
    made, above = [], folder
    while above and not os.path.lexists(above):
        made.append(above)
        above = os.path.dirname(above)
    new = [path for path in paths if not os.path.lexists(path)]
    try:
        os.makedirs(folder, exist_ok=True)
        for path, text in zip(paths, texts.values(), strict=True):
            with whole_file(path) as file:
                file.write(text.encode())
    except BaseException:
        for path in new:
            with suppress(OSError):
                os.remove(path)
        for path in made:
            with suppress(OSError):
                os.rmdir(path)
        raise
    return paths


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
        if _is_stream(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(None, "no permission to write it")
            return
        Claim(*os.path.split(_in_its_folder(path))).release()
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
    if os.path.lexists(output) and not (os.path.isdir(output) or _is_stream(output)):
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


def _in_its_folder(path: str | os.PathLike[str]) -> str:
    """A path whose folder is no link; the file itself may be one."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path is a device or a pipe, or a link of the system's own to an open file, as /dev/stdout is."""
    if os.path.islink(path):
        folder = os.path.dirname(_in_its_folder(path))
        return folder == "/dev" or folder.startswith("/proc/")
    return os.path.exists(path) and not os.path.isfile(path)


def _tidy(folder: str) -> None:
    """Remove files of dead processes that did not become whole."""
    with abandoned(folder) as dead:
        for one in dead:
            if "part" in one.left:
                with suppress(OSError):
                    os.remove(one.left["part"])
