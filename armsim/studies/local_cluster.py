"""A scheduler and workers on this machine, for this process alone: what `--cluster local` starts.

Who reaches a scheduler or a worker may run any code there. So they speak TLS on the loopback interface, with credentials that are
made for the study and kept in memory; and they have no HTTP server, which would answer every user of the machine.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Nanny, Scheduler, SpecCluster, Worker
from distributed.security import Security

LOOPBACK = "127.0.0.1"


class LoopbackScheduler(Scheduler):
    """A scheduler without an HTTP server, which dask starts with an empty dashboard, too."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Start none."""


class LoopbackWorker(Worker):
    """A worker without an HTTP server."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Start none."""


@contextmanager
def local_cluster(workers: int, silence: int, patience: float) -> Iterator[SpecCluster]:
    """Workers of one thread each, and their scheduler, for as long as the block runs.

    Args:
        workers: How many.
        silence: Level below which they log nothing.
        patience: Seconds to wait for their end.
    """
    common = {"host": LOOPBACK, "protocol": "tls://", "security": Security.temporary(), "dashboard": False}
    # a scratch folder that others may write to would be one they put modules into: workers import from it
    with tempfile.TemporaryDirectory(prefix="armsim-workers-") as folder:
        options = {
            **common, "worker_class": LoopbackWorker, "nthreads": 1, "local_directory": folder, "silence_logs": silence,
        }  # fmt: skip
        made = SpecCluster(
            workers={i: {"cls": Nanny, "options": options} for i in range(workers)},
            scheduler={"cls": LoopbackScheduler, "options": {**common, "port": 0}},
            security=common["security"],
            silence_logs=silence,
        )
        try:
            yield made
        finally:
            made.close(timeout=patience)
