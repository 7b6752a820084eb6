"""Digests of armsim's own text, for keys of what is cached: an edit elsewhere keeps everybody's code."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterable
from functools import lru_cache

from armsim.compile import cache

PACKAGE = os.path.dirname(os.path.abspath(__file__))
STARTED = time.time()

# what machine code follows from, once the content of its plant is known: the text of the traced functions and of the printer
TRACED = (
    "clock.py",
    "records.py",
    "expr",
    "spatial.py",
    "geometry",
    "model",
    "dynamics",
    "inverse_kinematics",
    "actuation",
    "control",
    "references",
    "integrate",
    "measures",
    "plant",
    "compile",
    "formulas",
    "simulation/accuracy.py",
    "simulation/loop_plan.py",
    "simulation/content.py",
)
# what follows from the content of a file: also how it becomes a plant, with open numbers too, and what is said of its step
LOADED = (*TRACED, "document", "loading", "stability", "simulation", "batches")
EVERYTHING = (".",)

SETTLED = 2.0  # s since the last change, after which file times tell a later change from it; FAT counts in 2 s


@lru_cache(maxsize=3)
def digest(places: tuple[str, ...] = EVERYTHING) -> str:
    """A digest of the text of armsim's modules that this process runs.

    Args:
        places: Folders and modules, relative to the package.
    """
    return digest_of(PACKAGE, places, STARTED)


def digest_of(package: str, places: tuple[str, ...], imported: float = math.inf) -> str:
    """A digest of the names and the text of modules; another one each time if the text may not be what was imported.

    The digest is kept in the cache under the sizes and times of the files, so that it costs no reading: contents are
    read again once a file has been written, replaced, added or removed.

    Args:
        package: The folder of the package.
        places: Folders and modules, relative to it.
        imported: Since when its modules are imported [s].
    """
    began = time.time()
    try:
        found = sorted(_modules(package, places))
    except FileNotFoundError:  # modules in an archive
        return os.urandom(32).hex()
    latest = max(max(stamp[1:3]) for _, stamp in found) * 1e-9
    if latest > imported:
        return os.urandom(32).hex()
    name = cache.key(*(f"{path} {' '.join(map(str, stamp))}" for path, stamp in found), package)
    known = cache.load_json(name)
    if isinstance(known, str):
        return known
    made = _text_digest(package, [path for path, _ in found])
    if latest + SETTLED < began:
        cache.store_json(name, made)
    return made


Stamp = tuple[int, int, int, int]  # size, times of the last change of content and of the file itself [ns], inode


def _modules(package: str, places: Iterable[str]) -> Iterable[tuple[str, Stamp]]:
    """The modules at these places, by path, with what changes when they do."""
    for place in places:
        path = os.path.join(package, place)
        if place.endswith(".py"):
            yield place, _stamp(os.stat(path))
        else:
            with os.scandir(path) as entries:
                for entry in entries:
                    inner = entry.name if place == "." else f"{place}/{entry.name}"
                    if inner.endswith(".py"):
                        yield inner, _stamp(entry.stat())
                    elif entry.name != "__pycache__" and entry.is_dir():
                        yield from _modules(package, [inner])


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _text_digest(package: str, modules: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for path in modules:
        with open(os.path.join(package, path), "rb") as file:
            data = file.read()
        digest.update(f"{path} {len(data)}\n".encode() + data)
    return digest.hexdigest()
