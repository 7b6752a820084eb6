"""A study's runs on a cluster: blocks go to the workers of a `dask.distributed` scheduler, and come back in order.

What workers are asked is text for `eval`, with bytes: what a worker cannot import in a request ends its connection,
while text that fails is answered by the error. The study goes there as a task's result, which dask makes anew if it is lost.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import logging
import pickle
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from armsim.batches.runs import Runs
from armsim.errors import UsageError, spelled
from armsim.files.nodes import clipped
from armsim.progress import Progress
from armsim.studies.blocks import LANES, Blocks, BlockSize
from armsim.studies.design import Design, Rows
from armsim.studies.runs import StudyRuns
from armsim.studies.worker import Versions, versions

if TYPE_CHECKING:
    from distributed import Client, Future

Tell = Callable[[str], object]
LOCAL = "local"
PATIENCE = 10.0  # s to wait for a scheduler
LOOK = 0.5  # s between looks at which workers there are
BUSY, AHEAD = 2, 6  # blocks for each thread: that are out, and that may be done before one that is not
SILENT = logging.CRITICAL
TRIES = 2  # more of them, for a block that fails
WITHIN = "inproc"  # dask's scheme of a scheduler in the same process
CREDENTIALS = "cryptography"  # makes those of a local cluster
NEEDED = {
    "distributed": "dask.distributed, which takes runs to workers",
    CREDENTIALS: "cryptography, for credentials of its own",
}
MODULE = "__import__('armsim.studies.worker', fromlist=['worker'])"
GO_ON = "the same command goes on with what is done"


class Sent(NamedTuple):
    """Runs first <= i < last, and what is to come of them."""

    first: int
    last: int
    future: Future


class Cluster:
    """The workers of a scheduler.

    Args:
        client: Of the scheduler.
        address: As the user has it.
        tell: Called with what is waited for, in words.
    """

    def __init__(self, client: Client, address: str, tell: Tell | None = None) -> None:
        self._client, self._address, self._versions, self._tell = client, address, versions(), tell
        self._ended = threading.Event()  # of some block
        self._threads, self._seen = 0, 0.0

    def check(self) -> None:
        """Compare versions with those of all workers that are there.

        Raises:
            UsageError: Some differ; names the worker.
        """
        found = self._client.run(eval, f"{MODULE}.versions()", on_error="return")
        for worker, answer in found.items():
            if answer != self._versions:
                raise self._other(worker, answer)

    def blocks(self, runs: StudyRuns, design: Design, first: int, progress: Progress | None = None) -> Blocks:
        """Blocks in the order of their index, from run `first` on; see `armsim.studies.blocks.local_blocks`.

        Raises:
            UsageError: Versions of a worker differ, the scheduler is gone, or a block has ended several workers.
        """
        study = pickle.dumps(runs)
        name = hashlib.sha256(study).hexdigest()
        held = self._client.submit(bytes, study, key=f"armsim-study-{name[:16]}", pure=False)
        about = {"wanted": self._versions, "name": name, "study": held}
        size, at, count = BlockSize(1), first, design.count
        out: deque[Sent] = deque()
        try:
            while out or at < count:
                self._ended.clear()
                threads = self._workers()
                busy = sum(not sent.future.done() for sent in out)
                for _ in range(min(BUSY * threads - busy, AHEAD * threads - len(out))):
                    share = -(-(count - at) // (BUSY * threads))  # so that the last ones end together
                    last = min(at + max(LANES, min(size.runs, share)), count)
                    if at < last:
                        out.append(self._send(about, at, design.rows(at, last)))
                        at = last
                if not (out and out[0].future.done()):
                    self._ended.wait(LOOK)
                while out and out[0].future.done():
                    sent = out.popleft()
                    block = self._result(sent)
                    size.learn(block)
                    yield block
                    if progress is not None:
                        progress(sent.last - first, count - first)
        finally:
            self._client.cancel([sent.future for sent in out], force=True)

    def _send(self, about: Mapping[str, Any], first: int, values: Rows) -> Sent:
        """Have runs carried out."""
        text = f"{MODULE}.simulate(wanted, name, study, request)"
        given = {**about, "request": pickle.dumps((first, values))}
        future = self._client.submit(eval, text, given, pure=False, retries=TRIES)
        future.add_done_callback(lambda _: self._ended.set())
        return Sent(first, first + len(values), future)

    def _workers(self) -> int:
        """Threads of all workers, looked up now and then: workers come and go."""
        now = time.monotonic()
        if now - self._seen > LOOK:
            try:
                self._threads, self._seen = sum(self._client.nthreads().values()), now
            except OSError:
                raise self._gone() from None
            if not self._threads and self._tell is not None:
                self._tell(f"waiting for workers: dask worker {self._client.scheduler.address}")
        return self._threads

    def _result(self, sent: Sent) -> Runs:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        try:
            answer = sent.future.result()
        except (CancelledError, CommClosedError):
            raise self._gone() from None
        except (KilledWorker, MemoryError, OSError) as error:
            found = f"{type(error).__name__}: {error}"
            if isinstance(error, KilledWorker):
                found = f"workers that ended while they carried them out, the last at {error.last_worker.address}"
            where, mend = f"runs {sent.first} to {sent.last - 1}", f"look into the workers' logs; {GO_ON}"
            raise UsageError.of(where, "workers that carry them out", found, mend) from None
        except ModuleNotFoundError as error:
            self.check()  # which names the worker, unless it has left
            raise self._other("that has left", error) from None
        if isinstance(answer, Runs):
            return answer
        who = self._client.who_has([sent.future]).get(sent.future.key, ())
        raise self._other(next(iter(who), "that has left"), answer)

    def _gone(self) -> UsageError:
        mend = f"start it again; {GO_ON}"
        return UsageError.of(_spelled(self._address), "a scheduler that answers", "none any longer", mend)

    def _other(self, worker: str, answer: Versions | BaseException) -> UsageError:
        """The refusal of a worker with other versions."""
        if isinstance(answer, dict):
            differ = [name for name in self._versions if answer.get(name) != self._versions[name]]
            expected = _told({name: self._versions[name] for name in differ})
            found = _told({name: answer.get(name, "") for name in differ})
        else:
            expected, found = _told({"armsim": self._versions["armsim"]}), f"{answer}"
        mend = f"install the same there, and start the worker again; {GO_ON}"
        return UsageError.of(f"worker {worker}", f"{expected}, as here", found, mend)


def _told(found: Versions) -> str:
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _spelled(address: str) -> str:
    return spelled(f"--cluster {address}", f"cluster={address!r}")


def check_cluster(address: object, threads: int | None) -> None:
    """Refuse what is no address of a cluster, before anything is done.

    Raises:
        UsageError: It is none, or dask.distributed is not installed.
    """
    expected = "the address of a dask scheduler, such as tcp://10.0.0.5:8786, or `local`"
    if not isinstance(address, str) or not address or address.split() != [address]:
        raise UsageError.of("cluster", expected, repr(address), "start one: `dask scheduler`, which tells its address")
    for module, what in NEEDED.items():
        if importlib.util.find_spec(module) is None and (address == LOCAL or module != CREDENTIALS):
            raise UsageError.of(_spelled(address), what, "it is not installed", 'pip install "armsim[cluster]"')
    scheme, mark, place = address.rpartition("://")
    if address != LOCAL and not re.search(r"[^:/]:\d+$", place):
        raise UsageError.of(
            _spelled(address), expected, "no host with a port at its end", _example(mark and scheme, place)
        )
    if mark:
        _check_scheme(scheme, address)
    if threads is not None and address != LOCAL:
        mend = f"leave {spelled('--threads', 'threads')} out; say it where workers start: `dask worker --nthreads N`"
        raise UsageError.of(
            _spelled(address), "workers, which have threads of their own", f"{threads} threads too", mend
        )


def _example(scheme: str, place: str) -> str:
    """How an address without a port is written."""
    host = re.sub(r"[:/].*", "", place) or "10.0.0.5"
    return f"write for example {scheme + '://' if scheme else ''}{host}:8786"


def _check_scheme(scheme: str, address: str) -> None:
    from distributed.comm.registry import backends, get_backend

    try:
        get_backend(scheme)
    except ValueError:
        known = ", ".join(sorted(set(backends) - {WITHIN}))
        expected = f"an address of a scheme that dask knows: {known}"
        mend = "write tcp://, or tls:// where the scheduler has credentials: docs/cluster.md"
        raise UsageError.of(_spelled(address), expected, f"the scheme `{clipped(scheme)}`", mend) from None


@contextmanager
def connected(address: str, threads: int, tell: Tell | None = None) -> Iterator[Cluster]:
    """The cluster at an address, its versions compared.

    Args:
        address: Of a scheduler; "local" starts one for as long as the block runs, on this machine and for it alone.
        threads: Workers of a local one, each of one thread.
        tell: See `Cluster`.

    Raises:
        UsageError: There is none, or a worker has other versions.
    """
    from distributed import Client

    with _silent(), ExitStack() as opened:
        if address == LOCAL:
            from armsim.studies.local_cluster import local_cluster

            local = opened.enter_context(local_cluster(threads, SILENT, PATIENCE))
            client = Client(local, timeout=PATIENCE, set_as_default=False)
        else:
            _greet(address)
            client = Client(address, timeout=PATIENCE, set_as_default=False)
        opened.callback(client.close, timeout=PATIENCE)
        made = Cluster(client, address, tell)
        made.check()
        yield made


def _greet(address: str) -> None:
    """Connect to a scheduler once: a client that cannot leaves threads behind, which end in tracebacks of their own.

    Raises:
        UsageError: There is none, or it has other credentials.
    """
    from distributed import Security
    from distributed.comm import connect

    async def greet() -> None:
        credentials = Security().get_connection_args("client")  # as dask's configuration has them, for the client, too
        comm = await connect(address, timeout=PATIENCE, **credentials)
        await comm.close()

    try:
        asyncio.run(greet())
    except (OSError, ValueError, TypeError, RuntimeError, ImportError, MemoryError) as error:
        found = (str(error) or type(error).__name__).splitlines()[0]
        mend = "start one: `dask scheduler`, which tells its address, and `dask worker ADDRESS`"
        if address.startswith("tls") or isinstance(error, RuntimeError):  # which refuses what is not encrypted
            mend += "; credentials for tls:// are in dask's configuration: docs/cluster.md"
        raise UsageError.of(_spelled(address), "a dask scheduler that answers", found, mend) from None


@contextmanager
def _silent() -> Iterator[None]:
    """Keep dask from logging what blocks tell: that workers come, go and are lost."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado.application")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(SILENT)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)
