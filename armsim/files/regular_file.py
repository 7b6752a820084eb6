"""Regular files, opened without waiting: a pipe waits for who writes it, a device may have no end, a link leads elsewhere."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache

from armsim.errors import UsageError
from armsim.files.faults import refuse
from armsim.files.nodes import Place

NEVER_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
STREAM = re.compile(r"/dev/(stdin|fd/[0-9]+)|/proc/self/fd/[0-9]+")  # a shell makes such a name of `<(...)`
STREAMS = 8  # whose bytes are remembered
FOLDER, OTHER, NO_TEXT = "a folder", "a pipe or a device", "a name that is no text in UTF-8"
KINDS = ((stat.S_ISREG, "a file"), (stat.S_ISDIR, FOLDER), (stat.S_ISLNK, "a symbolic link"))


class IrregularFile(OSError):
    """A name that is not of a regular file; `strerror` says of what it is."""

    strerror: str

    def __init__(self, found: str, path: str) -> None:
        super().__init__(errno.EINVAL, found, path)


def open_regular(path: str, flags: int = os.O_RDONLY, links: bool = True, mode: int = 0o644) -> int:
    """The descriptor of a regular file.

    Args:
        path: The file.
        flags: As `os.open` takes them.
        links: Whether it may be a link. If not, a file that is opened for writing must not have a second name either.
        mode: Of a file that is made.

    Raises:
        IrregularFile: It is a folder, a pipe, a device or, without `links`, a link.
        OSError: It cannot be opened.
    """
    alone = not links and bool(flags & (os.O_WRONLY | os.O_RDWR))
    with suppress(FileNotFoundError):  # before it is opened, which devices may notice
        _check(path, os.stat(path, follow_symlinks=links), alone)
    descriptor = os.open(path, flags | NEVER_WAIT | (0 if links else NO_LINKS), mode)
    try:
        _check(path, os.fstat(descriptor), alone)
    except IrregularFile:
        os.close(descriptor)
        raise
    return descriptor


def open_named(path: str) -> int:
    """The descriptor of a file that is read under a name that a user gives, and that armsim can write down.

    Raises:
        IrregularFile: It is no regular file, or its name is no text.
        OSError: It cannot be opened.
    """
    try:
        os.fsencode(path).decode()
    except UnicodeError:
        raise IrregularFile(NO_TEXT, path) from None
    return open_regular(path)


@contextmanager
def readable(path: str, what: str, look: Callable[[str], str] | None = None) -> Iterator[None]:
    """What the system refuses in this block is a fault of a user's file.

    Args:
        path: The file; messages show it as given.
        what: Its kind, for example "a CSV file".
        look: Tells how to find it if it is not there.

    Raises:
        FileFaults: It cannot be read; says why.
    """
    place = Place(path)
    try:
        yield
    except FileNotFoundError:
        mend = "check the name and the folder" if look is None else look(path)
        raise refuse(place, "", what, "no file of this name", mend) from None
    except IrregularFile as error:
        mend = {FOLDER: "name a file in it", NO_TEXT: "rename it"}.get(error.strerror, "write it to a file first")
        raise refuse(place, "", what, error.strerror, mend) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise refuse(place, "", f"{what} that can be read", reason, "check its name and permissions") from None


def open_own(path: str, flags: int = os.O_RDONLY, mode: int = 0o644) -> int:
    """The descriptor of a file in a folder that armsim wrote, or that somebody sent: never of a file outside of it.

    Raises:
        UsageError: It is a link, a pipe, a device or a folder.
        OSError: It cannot be opened.
    """
    try:
        return open_regular(path, flags, links=False, mode=mode)
    except IrregularFile as error:
        raise _not_own(path, error.strerror) from None


def check_own(path: str, folder: bool = False) -> None:
    """Refuse a link, a pipe, a device or a folder under a name of armsim's; with `folder` all but a folder.

    Raises:
        UsageError: It is one.
    """
    with suppress(OSError, ValueError):  # nothing is there
        mode = os.lstat(path).st_mode
        if not (stat.S_ISDIR if folder else stat.S_ISREG)(mode):
            raise _not_own(path, _kind(mode), "folder" if folder else "file")


def read_regular(path: str, most: int, streams: bool = True) -> bytes:
    """The bytes of a file, the first `most` of them.

    Args:
        path: A regular file.
        most: How many are read at most.
        streams: Whether it may be a stream that this process has open, `/dev/stdin` or a shell's `<(...)`, whose bytes come once
            and are remembered.

    Raises:
        IrregularFile: It is neither, or its name is no text.
        OSError: It cannot be read.
    """
    if streams and STREAM.fullmatch(path):
        status = os.stat(path)
        if _kind(status.st_mode) == OTHER:
            return _streamed(path, most, status.st_dev, status.st_ino)
    with open(open_named(path), "rb") as file:
        return file.read(most)


@lru_cache(STREAMS)
def _streamed(path: str, most: int, device: int, inode: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(most)


def _check(path: str, status: os.stat_result, alone: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise IrregularFile(_kind(status.st_mode), path)
    if alone and status.st_nlink > 1:
        raise IrregularFile("a file with a second name (a hard link)", path)


def _kind(mode: int) -> str:
    return next((name for is_one, name in KINDS if is_one(mode)), OTHER)


def _not_own(path: str, found: str, noun: str = "file") -> UsageError:
    mend = f"remove it, or put a copy of the {noun} in its place"
    return UsageError.of(path, f"a {noun} of this folder's own, as armsim writes it", found, mend)
