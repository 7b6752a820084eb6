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
from contextlib import ExitStack, contextmanager, suppress

from armsim.errors import UsageError
from armsim.files.exchange import flush
from armsim.files.regular_file import open_own
from armsim.records import record

PATTERN = re.compile(r"\.(?P<name>.+)\.(?P<token>[0-9a-f]{12})\.(?P<what>new|old|whole|lock)", re.DOTALL)
LONGEST = 230  # bytes of a target's name, beyond which its hidden names, which may have 255, have a digest in its place


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@record
class Remains:
    """What a process has left, by its hidden names.

    Attributes:
        target: Name of its target.
        new: The path of what it wrote; empty where there is none.
        old: Of what that was to replace, likewise.
        whole: Of what it moved into the target, likewise.
    """

    target: str
    new: str = ""
    old: str = ""
    whole: str = ""


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
        self._lock: int | None = None
        while self._lock is None:
            self.token = os.urandom(6).hex()
            self._lock = _held(self.path("lock"))

    def path(self, what: str) -> str:
        """The path of a hidden name: "new", "old" or "whole"."""
        return os.path.join(self.folder, f".{self.name}.{self.token}.{what}")

    @contextmanager
    def settled(self, *written: str) -> Iterator[None]:
        """A block that gives what was written its name: its data are on disk before, the name is afterwards.

        Args:
            written: The paths of what is put on disk.

        Raises:
            OSError: The data cannot be put on disk.
        """
        for path in written:
            flush(path)
        yield
        with suppress(OSError):
            flush(self.folder)

    def release(self) -> None:
        """Give the names back; what is under them is gone already, or is anybody's to recover."""
        _release(self._lock, self.path("lock"))


@contextmanager
def sole(path: str, sure: bool = False) -> Iterator[bool]:
    """Whether this process alone holds a lock file while the block lasts; it is removed then.

    Args:
        path: The file, which is made unless it is there.
        sure: Whether a file system without locks counts as one on which others hold them.

    Raises:
        UsageError: It is no file of its own.
        OSError: It cannot be written.
    """
    descriptor = _held(path, sure)
    try:
        yield descriptor is not None
    finally:
        _release(descriptor, path)


@contextmanager
def abandoned(folder: str) -> Iterator[list[Remains]]:
    """What dead processes left in a folder, locked against all others while the block lasts; nothing if it cannot be read."""
    found: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    with suppress(OSError):
        for entry in os.listdir(folder):
            if match := PATTERN.fullmatch(entry):
                found[match["name"], match["token"]][match["what"]] = os.path.join(folder, entry)
    dead = []
    with ExitStack() as locks:
        for (name, token), left in found.items():
            if "lock" not in left and not any(map(os.path.isdir, left.values())):
                continue  # a file of others that happens to have such a name
            path = left.pop("lock", os.path.join(folder, f".{name}.{token}.lock"))
            with suppress(OSError, UsageError):
                if locks.enter_context(sole(path, sure=True)):
                    there = {what: p for what, p in left.items() if os.path.exists(p) and not os.path.islink(p)}
                    dead.append(Remains(name, **there))
        yield dead


def is_hidden_name(entry: str) -> bool:
    """Whether a name in a folder is one of these."""
    return PATTERN.fullmatch(entry) is not None


def _held(path: str, sure: bool = False) -> int | None:
    """The descriptor of a lock file that this process alone holds from now on, see `sole`; None if another does."""
    while True:
        descriptor = open_own(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(descriptor)
            held = True
        except (BlockingIOError, PermissionError):  # the latter on Windows
            held = False
        except OSError:
            held = not sure
        there = False
        with suppress(OSError):
            there = os.path.samestat(os.fstat(descriptor), os.stat(path))
        if held and there:
            return descriptor
        os.close(descriptor)
        if there:
            return None
        # who held it has removed it meanwhile


def _release(descriptor: int | None, path: str) -> None:
    if descriptor is None:
        return
    if os.name == "nt":  # an open file stays
        os.close(descriptor)
    with suppress(OSError):
        os.remove(path)
    if os.name != "nt":
        os.close(descriptor)
