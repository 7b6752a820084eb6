"""Compiled kernels in a content-addressed cache on disk.

An entry's name is the hash of everything its code depends on; it holds magic bytes, a checksum of the code, and the code.
Entries are written to a temporary file and renamed, which is atomic, so that processes can share a folder; one that is corrupt
or foreign is compiled anew. Without a writable folder nothing is cached.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from functools import lru_cache
from pathlib import Path

MAGIC = b"armsim kernel 1\n"
ENTRY = re.compile(r"[0-9a-f]{64}(\.\d+)?")
LIMIT = 256 * 2**20  # bytes; the least recently used entries are evicted first


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
    """The cache key of these texts: the name of an entry that depends on them."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


@lru_cache(maxsize=1)
def sources() -> str:
    """A digest of armsim's own text, for keys of what its code makes from known content."""
    return digest_of(Path(__file__).parent.parent)


def digest_of(package: Path) -> str:
    """A digest of the names and the text of all modules of a package."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        data = path.read_bytes()
        digest.update(f"{path.relative_to(package).as_posix()} {len(data)}\n".encode() + data)
    return digest.hexdigest()


def load(name: str) -> bytes | None:
    """The code of an entry, or None if there is no valid one."""
    try:
        path = folder() / name
        data = path.read_bytes()
    except (OSError, RuntimeError):
        return None
    head = len(MAGIC) + hashlib.sha256().digest_size
    code = data[head:]
    if data[:head] != MAGIC + hashlib.sha256(code).digest():
        return None
    try:
        os.utime(path)  # least recently used entries are evicted first
    except OSError:
        pass
    return code


def store(name: str, code: bytes) -> None:
    """Cache code under a name, if the folder is writable."""
    try:
        where = folder()
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside = where / f"{name}.{os.getpid()}"
        beside.write_bytes(MAGIC + hashlib.sha256(code).digest() + code)
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
    """Whether a file begins with our magic bytes: other programs, too, name files by hashes."""
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
