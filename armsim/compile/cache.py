"""Compiled kernels in a content-addressed cache on disk.

An entry's name is the hash of everything its code depends on; it holds magic bytes, a checksum of name and code, and the code.
Entries are written to a temporary file and renamed, which is atomic, so that processes can share a folder; one that is corrupt,
foreign or copied from another name is compiled anew. What is loaded is executed: a folder or an entry that others own or may
write is not used. The user's own folder that others may write, and that holds entries alone, is closed to them, and its entries
are dropped: older versions left its mode to the umask. Without a folder of the user's own nothing is cached.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from armsim.records import record

VARIABLE = "ARMSIM_CACHE_DIR"
KIND = b"armsim kernel "
MAGIC = KIND + b"2\n"
ENTRY = re.compile(r"[0-9a-f]{64}(\.\d+)?")  # with the number of the process that writes it
LIMIT = 256 * 2**20  # bytes; the least recently used entries are evicted first
LARGEST = 64 * 2**20  # bytes of an entry
STALE = 3600.0  # s after which a temporary file is left over from a process that was killed
SHARERS = 16  # processes that may fill a folder at the same time

_room: dict[tuple[str, int], float] = {}  # bytes that this process may store before it looks through a folder again


def folder() -> str:
    """Where kernels are kept: the environment variable `ARMSIM_CACHE_DIR`, or the user's cache folder of the platform."""
    named = os.environ.get(VARIABLE)
    if named:
        return named
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or _at_home("AppData", "Local")
    elif sys.platform == "darwin":
        base = _at_home("Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or _at_home(".cache")
    return os.path.join(base, "armsim")


def _at_home(*names: str) -> str:
    """A folder within the user's home.

    Raises:
        OSError: The user has none.
    """
    home = os.path.expanduser("~")
    if home == "~":
        raise OSError("the user has no home")
    return os.path.join(home, *names)


def key(*parts: str) -> str:
    """The cache key of these texts: the name of an entry that depends on them."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def refusal() -> str:
    """Why the folder is not used: what is wrong with it, and how to mend it; empty if it is used, or not there yet."""
    try:
        where = folder()
        status = os.stat(where)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"{error.strerror or error}: name another folder in {VARIABLE}"
    if not stat.S_ISDIR(status.st_mode):
        return f"{where} is no folder: name another one in {VARIABLE}"
    if _trusted(status) or _closable(where, status):
        return ""
    return f"{where} belongs to others, or they may write it: chmod go-w, or name another folder in {VARIABLE}"


def load(name: str) -> bytes | None:
    """The code of an entry, or None if there is no valid one that is the user's own."""
    try:
        where = folder()
        if not _is_safe(where):
            return None
        data = _read(os.path.join(where, name))
    except OSError:
        return None
    head = len(MAGIC) + hashlib.sha256().digest_size
    code = data[head:]
    if data[:head] != _head(name, code):
        return None
    with suppress(OSError):
        os.utime(os.path.join(where, name))  # least recently used entries are evicted first
    return code


def store(name: str, code: bytes) -> None:
    """Cache code under a name, if the folder is the user's own and can be written."""
    with suppress(OSError):
        where = folder()
        os.makedirs(where, 0o700, exist_ok=True)
        if not _is_safe(where) or len(code) > LARGEST:
            return
        beside = os.path.join(where, f"{name}.{os.getpid()}")
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _PLAIN, 0o600), "wb") as file:
                file.write(_head(name, code) + code)
            os.replace(beside, os.path.join(where, name))
        except BaseException:  # a full disk, or Ctrl-C
            with suppress(OSError):
                os.remove(beside)
            raise
        _make_room(where, len(code))


def load_json(name: str) -> Any:
    """The data of an entry, or None if there is no valid one."""
    known = load(name)
    if known is not None:
        with suppress(ValueError, RecursionError):
            return json.loads(known)
    return None


def store_json(name: str, data: Any) -> None:
    """Cache plain data under a name; see `store`."""
    store(name, json.dumps(data).encode())


@record
class Contents:
    """What the cache holds.

    Attributes:
        folder: Where it is.
        entries: Number of entries.
        bytes: Their size together.
        refusal: Why it is not used; empty if it is.
    """

    folder: str
    entries: int
    bytes: int
    refusal: str


def contents() -> Contents:
    """What the cache holds."""
    where = folder()
    sizes = [size for _, size, path in _entries(where) if _is_ours(path)]
    return Contents(where, len(sizes), sum(sizes), refusal())


def clear() -> int:
    """Remove all entries, and nothing else; their number."""
    removed = 0
    for _, _, path in _entries(folder()):
        if _is_ours(path):
            with suppress(OSError):
                os.unlink(path)
                removed += 1
    return removed


_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # never waits


def _head(name: str, code: bytes) -> bytes:
    """What an entry begins with."""
    return MAGIC + hashlib.sha256(name.encode() + code).digest()


def _trusted(status: os.stat_result) -> bool:
    """Whether a file or folder is the user's own, or the superuser's, and nobody else may write it."""
    if sys.platform == "win32":  # the user's own folders are closed to others there
        return True
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _is_safe(where: str) -> bool:
    """Whether a folder can be used; one that can be closed to others is, and its entries, which they may have written, go.

    Raises:
        OSError: It is not there.
    """
    status = os.stat(where)
    if _trusted(status):
        return True
    if not _closable(where, status):
        return False
    os.chmod(where, stat.S_IMODE(status.st_mode) & ~(stat.S_IWGRP | stat.S_IWOTH))
    for _, _, path in _entries(where):
        os.unlink(path)
    return True


def _closable(where: str, status: os.stat_result) -> bool:
    """Whether a folder that others may write is the user's own, and holds entries alone; never one like /tmp."""
    if sys.platform == "win32" or status.st_uid != os.geteuid() or status.st_mode & stat.S_ISVTX:
        return False
    with suppress(OSError):
        return all(ENTRY.fullmatch(name) and _is_ours(os.path.join(where, name)) for name in os.listdir(where))
    return False


def _read(path: str) -> bytes:
    """A regular file of the user's own.

    Raises:
        OSError: It is none, or too large to be an entry.
    """
    with open(os.open(path, os.O_RDONLY | _PLAIN), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _trusted(status) or status.st_size > 2 * LARGEST:
            raise PermissionError(path)
        return file.read(2 * LARGEST)


def _entries(where: str) -> Iterator[tuple[float, int, str]]:
    """When they were used last [s], size [bytes] and path of files with names like ours."""
    with suppress(OSError), os.scandir(where) as found:
        for entry in found:
            if ENTRY.fullmatch(entry.name):
                with suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(status.st_mode):
                        yield status.st_mtime, status.st_size, entry.path


def _make_room(where: str, size: int) -> None:
    """Keep a folder in which so many bytes have been stored near its limit; it is looked through only now and then."""
    of = where, LIMIT
    _room[of] = _room.get(of, 0.0) - size
    if _room[of] < 0:
        _room[of] = (LIMIT - _trim(where)) / SHARERS


def _trim(where: str) -> int:
    """Remove what killed processes have left, and the longest unused entries beyond the limit; the bytes that stay."""
    entries = []
    for used, size, path in _entries(where):
        if "." in os.path.basename(path):
            if time.time() - used > STALE and _is_ours(path):
                os.unlink(path)
        else:
            entries.append((used, size, path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= LIMIT:
            break
        if _is_ours(path):
            os.unlink(path)
            total -= size
    return total


def _is_ours(path: str) -> bool:
    """Whether a file begins with our magic bytes, as far as it goes: other programs, too, name files by hashes."""
    try:
        with open(os.open(path, os.O_RDONLY | _PLAIN), "rb") as file:
            begin = file.read(len(KIND))
    except OSError:
        return False
    return begin == KIND or ("." in os.path.basename(path) and KIND.startswith(begin))
