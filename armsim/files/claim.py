"""Hidden names beside a target, `.<name>.<token>.<what>`: what is being written there, and what was left by a process that died.

`.<name>.<token>.lock` is locked for as long as the process lives that made the others, so the system itself tells the dead from
the living, by whatever they ended and however numbers of processes are reused.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from armsim.files.regular_file import open_own, open_regular

PATTERN = re.compile(r"\.(?P<name>.+)\.(?P<token>[0-9a-f]{12})\.(?P<what>new|old|whole|part|lock)", re.DOTALL)
LONGEST = 230  # bytes of a target's name, beyond which its hidden names, which may have 255, have a digest in its place


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


class Claim:
    """This process's hidden names for one target.

    Args:
        folder: Where they are.
        name: Of the target.

    Raises:
        OSError: The folder cannot be written.
    """

    def __init__(self, folder: str, name: str) -> None:
        short = len(os.fsencode(name)) <= LONGEST
        self.folder, self.name = folder, name if short else hashlib.sha256(os.fsencode(name)).hexdigest()
        while True:
            self.token = os.urandom(6).hex()
            path = self.path("lock")
            self._lock: int | None = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            if _held(self._lock, path):
                return
            os.close(self._lock)

    def path(self, what: str) -> str:
        """The path of a hidden name: "new", "old", "whole" or "part"."""
        return os.path.join(self.folder, f".{self.name}.{self.token}.{what}")

    def release(self) -> None:
        """Give the names back; what is under them is gone already, or is anybody's to recover."""
        if self._lock is not None:
            _release(self._lock, self.path("lock"))
            self._lock = None


@contextmanager
def sole(path: str) -> Iterator[bool]:
    """Whether this process alone holds a lock file while the block lasts; it is removed then.

    Raises:
        UsageError: It is no file of its own.
        OSError: It cannot be written.
    """
    while True:
        descriptor = open_own(path, os.O_RDWR | os.O_CREAT, 0o600)
        held = _held(descriptor, path)
        if held or _same(descriptor, path):
            break
        os.close(descriptor)  # who held it has removed it meanwhile
    try:
        yield held
    finally:
        if held:
            _release(descriptor, path)
        else:
            os.close(descriptor)


class Abandoned:
    """What a process that died has left under its hidden names.

    Attributes:
        name: Of the target.
        left: What there is: paths by "new", "old", "whole" and "part".
    """

    def __init__(self, name: str, left: dict[str, str]) -> None:
        self.name, self.left = name, left


@contextmanager
def abandoned(folder: str) -> Iterator[list[Abandoned]]:
    """What dead processes have left in a folder, locked against all others while the block lasts; none if it cannot be read."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    with suppress(OSError):
        for entry in os.listdir(folder):
            if match := PATTERN.fullmatch(entry):
                found[match["name"], match["token"]][match["what"]] = os.path.join(folder, entry)
    locks: dict[str, int] = {}
    dead = []
    for (name, token), left in found.items():
        if "lock" not in left and not any(map(os.path.isdir, left.values())):
            continue  # a file of others that happens to have such a name
        path = left.pop("lock", os.path.join(folder, f".{name}.{token}.lock"))
        with suppress(OSError):
            descriptor = open_regular(path, os.O_RDWR | os.O_CREAT, links=False, mode=0o600)
            if _held(descriptor, path, sure=True):
                locks[path] = descriptor
                dead.append(Abandoned(name, {what: path for what, path in left.items() if os.path.lexists(path)}))
            else:
                os.close(descriptor)
    try:
        yield dead
    finally:
        for path, descriptor in locks.items():
            _release(descriptor, path)


def is_hidden_name(entry: str) -> bool:
    """Whether a name in a folder is one of these."""
    return PATTERN.fullmatch(entry) is not None


def _held(descriptor: int, path: str, sure: bool = False) -> bool:
    """Whether this process holds a lock now, and its file has not been replaced meanwhile.

    Args:
        descriptor: Of the file.
        path: Of the file.
        sure: Whether a file system without locks counts as one on which others hold them.
    """
    try:
        _lock(descriptor)
    except BlockingIOError:
        return False
    except PermissionError:  # as Windows says it
        return False
    except OSError:
        return not sure
    return _same(descriptor, path)


def _same(descriptor: int, path: str) -> bool:
    """Whether a file that is open still has its name."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    return False


def _release(descriptor: int, path: str) -> None:
    if os.name == "nt":  # an open file stays
        os.close(descriptor)
    with suppress(OSError):
        os.remove(path)
    if os.name != "nt":
        os.close(descriptor)
