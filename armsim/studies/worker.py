"""What a worker of a cluster does: says what it runs, and carries out blocks of studies."""

from __future__ import annotations

import pickle
import threading
from collections import OrderedDict

from armsim import sources
from armsim.batches.runs import Runs
from armsim.studies.blocks import block_of
from armsim.studies.runs import StudyRuns
from armsim.version import __version__

HELD = 4  # studies whose machine code a worker keeps
Versions = dict[str, str]

_held: OrderedDict[str, StudyRuns] = OrderedDict()
_lock = threading.Lock()


def versions() -> Versions:
    """Versions of what decides the bits of a study here; "modules" is a digest of armsim's own text."""
    import numpy
    import scipy

    text = sources.digest()[:12]
    return {"armsim": __version__, "modules": text, "numpy": numpy.__version__, "scipy": scipy.__version__}


def simulate(wanted: Versions, name: str, study: bytes, request: bytes) -> Runs | Versions:
    """A block of a study, on one thread; where versions differ nothing is run, and those of this worker are the answer.

    Args:
        wanted: Versions of who asks.
        name: Of the study, a digest.
        study: `StudyRuns`, pickled; read only where the versions are the same, as the next.
        request: Index of the first run, and the values of all, shape (runs, paths), pickled.
    """
    here = versions()
    if here != wanted:
        return here
    first, values = pickle.loads(request)
    return block_of(_runs(name, study), first, values)


def _runs(name: str, study: bytes) -> StudyRuns:
    """A study that all threads of this worker share, so that it is compiled once."""
    with _lock:
        if name not in _held:
            _held[name] = pickle.loads(study)
        _held.move_to_end(name)
        while len(_held) > HELD:
            _held.popitem(last=False)
        return _held[name]
