"""Compiled kernels on disk, found again by their content.

An entry's name is the hash of everything its code depends on; it holds a mark, the hash of the code, and the code. Entries
are written beside and moved into place, so that processes can share a folder; one that is damaged or foreign is compiled
anew. Without a folder that can be written to, nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from pathlib import Path

MARK = b"armsim kernel 1\n"
ENTRY = re.compile(r"[0-9a-f]{64}(\.\d+)?")
LIMIT = 256 * 2**20  # bytes kept; the entries unused for longest go first


def folder() -> Path:
    """Where kernels are kept: `ARMSIM_CACHE_DIR`, or the user's cache folder of the platform."""
    named = os.environ.get("ARMSIM_CACHE_DIR")
    if named:
        return Path(named)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "armsim"


def key(*parts: str) -> str:
    """The name of the entry that depends on these texts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load(name: str) -> bytes | None:
    """The code of an entry, or None if there is no sound one."""
    try:
        path = folder() / name
        data = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    head = len(MARK) + hashlib.sha256().digest_size
    code = data[head:]
    if data[:head] != MARK + hashlib.sha256(code).digest():
        return None
    try:
        os.utime(path)  # used now: see LIMIT
    except OSError:
        pass
    return code


def store(name: str, code: bytes) -> None:
    """Keep code under a name, as far as the folder allows it."""
    try:
        where = folder()
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = where / f"{name}.{os.getpid()}"
        beside.write_bytes(MARK + hashlib.sha256(code).digest() + code)
        os.replace(beside, where / name)
        _trim(where)
    except (OSError, RuntimeError):
        pass


def _trim(where: Path) -> None:
    entries = []
    for entry in os.scandir(where):
        if not ENTRY.fullmatch(entry.name):
            continue  # not ours
        status = entry.stat()
        entries.append((status.st_mtime, status.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    for _, size, path in sorted(entries):
        if total <= LIMIT:
            break
        if _is_ours(path):
            os.unlink(path)
            total -= size


def _is_ours(path: str) -> bool:
    """Whether a file bears our mark: other programs, too, name files by hashes."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MARK)) == MARK
    except OSError:
        return False
