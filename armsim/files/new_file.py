"""Output files: written atomically, and not over existing files unless asked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import IO

from armsim.errors import UsageError, refusing, spelled
from armsim.files.claim import Claim, abandoned


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
    beside = claim.path("new")
    try:
        with open(beside, "wb") as file:
            yield file
        with claim.settled(beside):
            os.replace(beside, path)
    finally:
        with suppress(OSError):
            os.remove(beside)
        claim.release()


def write_whole(path: str, text: str) -> None:
    """Write a file atomically; see `whole_file`."""
    with whole_file(path) as file:
        file.write(text.encode())


@contextmanager
def output_file(path: str | os.PathLike[str], option: str = "-o") -> Iterator[IO[bytes]]:
    """A file that a user has named, for atomic writing; see `whole_file`.

    Args:
        path: The file.
        option: That names it.

    Raises:
        UsageError: It cannot be written; says why.
    """
    with _writable(os.fspath(path), option), whole_file(path) as file:
        yield file


@contextmanager
def made_folder(path: str) -> Iterator[None]:
    """Make a folder, and those above it. If the block fails, those that are new, and empty, are gone again.

    Raises:
        OSError: They cannot be made.
    """
    missing, new = [], list[str]()
    while path and not os.path.lexists(path):
        missing.append(path)
        path = os.path.dirname(path)
    try:
        for folder in reversed(missing):
            with suppress(FileExistsError):
                os.mkdir(folder)
                new.insert(0, folder)
        yield
    except BaseException:
        with suppress(OSError):
            for folder in new:
                os.rmdir(folder)
        raise


def write_files(folder: str, contents: Mapping[str, str | Callable[[IO[bytes]], None]]) -> list[str]:
    """Write files into a folder, which is made unless it is there: all of them are whole, or none that is new is there.

    Args:
        folder: The folder.
        contents: Of the files, by name: a text, or what writes to an open file.

    Returns:
        Their paths.

    Raises:
        OSError: They cannot be written; folders that were made for them are gone again.
    """
    paths = {os.path.join(folder, name): content for name, content in contents.items()}
    new = [path for path in paths if not os.path.lexists(path)]
    with made_folder(folder):
        try:
            with ExitStack() as stack:
                for path, content in paths.items():
                    file = stack.enter_context(whole_file(path))
                    if callable(content):
                        content(file)
                    else:
                        file.write(content.encode())
        except BaseException:
            for path in new:
                with suppress(OSError):
                    os.remove(path)
            raise
    return [*paths]


def check_output(output: str, inputs: Sequence[str] = (), force: bool = False, option: str = "-o") -> None:
    """Refuse an output file before the work begins.

    Args:
        output: The file.
        inputs: Files that are read.
        force: Whether it may replace a file.
        option: That names it.

    Raises:
        UsageError: It is also an input, exists without `force`, or cannot be written; says why.
    """
    name = spelled(f"{option} {output}", output)
    stream, folder = _is_stream(output), os.path.isdir(output)
    if os.path.lexists(output) and not stream and not folder:
        for given in inputs:
            if os.path.exists(given) and os.path.samefile(given, output):
                expected = "another file than those that are read"
                raise UsageError.of(name, expected, f"{given} itself", "choose another name")
        if not force:
            mend = f"choose another name, or add {spelled('--force', 'force=True')} to replace it"
            raise UsageError.of(name, "a new file", "one that exists", mend)
    with _writable(output, option):
        if folder:
            raise IsADirectoryError(None, "a folder")
        if not stream:
            Claim(*os.path.split(_in_its_folder(output))).release()
        elif not os.access(output, os.W_OK):
            raise PermissionError(None, "no permission to write it")


def _writable(path: str, option: str) -> AbstractContextManager[None]:
    name = spelled(f"{option} {path}", path)
    return refusing(name, "a file that can be written", "check the folder and its permissions")


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
        for left in dead:
            if left.new:
                with suppress(OSError):  # of a folder
                    os.remove(left.new)
