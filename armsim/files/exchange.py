"""Renames that replace nothing, or exchange two names at once, where the system has them; data that are on disk."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from contextlib import suppress
from functools import lru_cache
from typing import Any

# renameat2 of Linux, renamex_np of macOS: the function, its leading arguments for a path, and its flags
EXCLUSIVE, SWAP = ("exclusive", "swap")
FLAGS = {"linux": {EXCLUSIVE: 1, SWAP: 2}, "darwin": {EXCLUSIVE: 4, SWAP: 2}}
LACKING = (
    errno.ENOSYS,
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EPERM,
)  # of systems and file systems without
HERE = -100  # AT_FDCWD


@lru_cache(maxsize=1)
def _renamer() -> Any:
    """Renames (source, target, flag) with C's result, and errno for ctypes; None where the system has none."""
    with suppress(OSError, AttributeError):
        if sys.platform == "linux":
            native = ctypes.CDLL(None, use_errno=True).renameat2
            native.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            return lambda source, target, flag: native(HERE, source, HERE, target, flag)
        if sys.platform == "darwin":
            native = ctypes.CDLL(None, use_errno=True).renamex_np
            native.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint)
            return native
    return None


def _renamed(source: str, target: str, how: str) -> bool:
    """Rename in one of the ways of `FLAGS`; False where there is no such way.

    Raises:
        OSError: It cannot be done here.
    """
    rename = _renamer()
    if rename is None:
        return False
    if rename(os.fsencode(source), os.fsencode(target), FLAGS[sys.platform][how]) == 0:
        return True
    reason = ctypes.get_errno()
    if reason in LACKING:
        return False
    raise OSError(reason, os.strerror(reason), source, None, target)


def exchanged(a: str, b: str) -> bool:
    """Exchange what is under two names, at once; False, and nothing done, where the system cannot.

    Raises:
        OSError: It cannot be done here.
    """
    return _renamed(a, b, SWAP)


def rename_onto_nothing(source: str, target: str) -> None:
    """Rename a file or a folder to a name that nothing has.

    Raises:
        FileExistsError: Something has it.
        OSError: It cannot be done.
    """
    if _renamed(source, target, EXCLUSIVE):
        return
    if os.name == "nt":  # where rename replaces nothing
        os.rename(source, target)
        return
    folder = os.path.isdir(source)
    if folder:  # take the name first: an empty folder, or file, is replaced
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    try:
        os.rename(source, target)
    except OSError:
        (os.rmdir if folder else os.remove)(target)
        raise


def rename_numbered(source: str, prefix: str, digits: int = 1, first: int = 1) -> str:
    """Rename a folder to the first free one of the names that a prefix and a number make; its path.

    Raises:
        OSError: It cannot be done.
    """
    while True:
        path = f"{prefix}{first:0{digits}d}"
        with suppress(FileExistsError):
            rename_onto_nothing(source, path)
            return path
        first += 1


def flush(path: str) -> None:
    """Have a file's data, or a folder's names, on disk when this returns, as far as the system promises that.

    Raises:
        OSError: The data could not be written.
    """
    folder = os.path.isdir(path)
    if folder and os.name == "nt":
        return  # Windows writes names by itself
    descriptor = os.open(path, os.O_RDONLY if folder else os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        flush_open(descriptor)
    except OSError as error:
        if not folder or error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # some cannot flush folders
            raise
    finally:
        os.close(descriptor)


def flush_open(descriptor: int) -> None:
    """Have the data of a file that is open on disk when this returns.

    Raises:
        OSError: They could not be written.
    """
    if sys.platform == "darwin":  # where fsync leaves data in the drive's own cache
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)
