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
LOADED = (*TRACED, "document", "fastest", "loading", "stability", "simulation", "batches")
EVERYTHING = ("",)
SETS = TRACED, LOADED, EVERYTHING

SETTLED = 2.0  # s since the last change, after which file times tell a later change from it; FAT counts in 2 s


def digest(places: tuple[str, ...] = EVERYTHING) -> str:
    """A digest of the text of armsim's modules that this process runs.

    Args:
        places: One of `SETS`: folders and modules, relative to the package.
    """
    return _digests()[SETS.index(places)]


@lru_cache(maxsize=1)
def _digests() -> list[str]:
    return digests_of(PACKAGE, STARTED)


def digests_of(package: str, imported: float = math.inf) -> list[str]:
    """Digests of the names and the text of the modules of each of `SETS`; another each time if they may not be what was imported.

    They are kept in the cache under the sizes and times of the files, so that they cost no reading: contents are read again
    once a file has been written, replaced, added or removed.

    Args:
        package: The folder of the package.
        imported: Since when its modules are imported [s].
    """
    began = time.time()
    try:
        found = sorted(_modules(package))
    except OSError:  # modules in an archive
        found = []
    latest = {path: max(stamp[1:3]) * 1e-9 for path, stamp in found}
    name = cache.key(repr(found), package)
    digests = cache.load_json(name)
    if not isinstance(digests, list):
        digests = _text_digests(package, latest)
        if max(latest.values(), default=math.inf) + SETTLED < began:
            cache.store_json(name, digests)
    if max(latest.values(), default=math.inf) < imported:
        return digests
    sets = [[latest[path] for path in latest if path.startswith(places)] for places in SETS]
    settled = [max(times, default=math.inf) < imported for times in sets]
    return [known if same else os.urandom(32).hex() for known, same in zip(digests, settled, strict=True)]


Stamp = tuple[int, int, int, int]  # size, times of the last change of content and of the file itself [ns], inode


def _modules(package: str, room: str = "") -> Iterable[tuple[str, Stamp]]:
    """The modules of a folder of the package, by path, with what changes when they do."""
    with os.scandir(os.path.join(package, room)) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                yield room + entry.name, (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _modules(package, f"{room}{entry.name}/")


def _text_digests(package: str, modules: Iterable[str]) -> list[str]:
    """A digest of each of `SETS`."""
    texts = {}
    for path in modules:
        with open(os.path.join(package, path), "rb", buffering=0) as file:
            texts[path] = f"{path} {hashlib.sha256(file.read()).hexdigest()}"
    return [cache.key(*(text for path, text in texts.items() if path.startswith(places))) for places in SETS]
