"""Studies on a cluster: the bytes of a local study, whatever becomes of workers and of who asks them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import armsim
from armsim.errors import UsageError
from armsim.files.shipped import shipped_path
from armsim.studies import blocks, cluster

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills"),
    pytest.mark.filterwarnings("ignore"),  # of what dask itself leaves behind
]

ROOT = Path(__file__).parents[2]
SHORT = {"duration": 0.02}
MANY = {"control.kp[1]": "20:80:25", "control.kd[1]": "0:4:16", "integrator.method": "rk4,semi_implicit_euler"}
ADDRESS = ("--host", "127.0.0.1", "--no-dashboard")
DYING = """
import armsim, os, signal, sys
def progress(done, total):
    if done >= 100:
        os.kill(os.getpid(), signal.SIGKILL)
armsim.sweep("two_link_hold", {vary!r}, {short!r}, "iae", "out", progress=progress, cluster={address!r})
"""


class Workers:
    """A scheduler and workers of it, processes in a folder without any file."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.started = folder, []
        patience = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s"}  # with workers that are gone, in place of 30 s
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT), **patience}
        self._start("scheduler", "--port", "0", "--scheduler-file", "scheduler.json")
        self.workers = [self.start(), self.start()]

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *ADDRESS, *options]
        with open(self.folder / "log", "ab") as log:
            made = subprocess.Popen(command, cwd=self.folder, env=self.environment, stdout=log, stderr=log)
        self.started.append(made)
        return made

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        return self._start("worker", "--scheduler-file", "scheduler.json", "--no-nanny", "--nthreads", "1", *options)

    @property
    def address(self) -> str:
        from distributed import Client

        with Client(scheduler_file=str(self.folder / "scheduler.json"), set_as_default=False) as client:
            client.wait_for_workers(2, timeout=30)
            return str(client.scheduler.address)

    def end(self) -> None:
        for process in reversed(self.started):
            process.kill()
        for process in self.started:
            process.wait()


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    import dask

    made = Workers(tmp_path_factory.mktemp("cluster"))
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        yield made
    made.end()


@pytest.fixture(scope="module")
def address(workers):
    return workers.address


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "MOST", 20)
    monkeypatch.setattr(blocks, "LANES", 20)


@pytest.fixture
def whole():
    armsim.sweep("two_link_hold", MANY, SHORT, "iae", "whole")
    return {path.name: path.read_bytes() for path in Path("whole").iterdir()}


def bytes_in(folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def test_a_client_that_is_killed_goes_on_and_the_table_is_that_of_a_local_study(address, whole):
    text = DYING.format(vary=MANY, short=SHORT, address=address)
    ended = subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert Path("out/results.part").exists()
    seen = []
    told = {"progress": lambda done, total: seen.append((done, total)), "cluster": address}
    found = armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", **told)
    assert found.status == "complete"
    assert seen[-1][0] == seen[-1][1] < 800
    assert bytes_in("out") == whole


def test_ctrl_c_keeps_rows_and_leaves_nothing_to_do_on_the_cluster(address, whole):
    from distributed import Client

    def progress(done: int, total: int) -> None:
        raise KeyboardInterrupt

    found = armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", progress=progress, cluster=address)
    assert (found.status, 20 <= found.done < 800) == ("interrupted", True)
    with Client(address, set_as_default=False) as client:
        deadline = time.monotonic() + 10
        while left := client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)):
            assert time.monotonic() < deadline, left
    armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)
    assert bytes_in("out") == whole


def test_a_worker_with_other_versions_is_refused_by_name(address, monkeypatch):
    here = cluster.versions()
    monkeypatch.setattr(cluster, "versions", lambda: {**here, "armsim": "9.9", "numpy": "7.0"})
    words = rf"worker tcp://127.0.0.1:\d+\n  expected: armsim 9.9, numpy 7.0, as here\n  found:    armsim {here['armsim']}, numpy"
    with monkeypatch.context() as patched:
        patched.setattr(cluster.Cluster, "blocks", None)  # before any is sent
        with pytest.raises(UsageError, match=words):
            armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)
    monkeypatch.setattr(cluster.Cluster, "check", lambda self: None)  # as if it had come later
    with pytest.raises(UsageError, match=words):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)


def test_a_worker_that_is_killed_costs_no_rows_and_workers_need_no_files(workers, address):
    for kind, name in (("configs", "two_link_hold"), ("robots", "two_link")):
        text = Path(shipped_path(kind, name)).read_text(encoding="utf-8")
        Path(f"my_{name}.yaml").write_text(
            text.replace("../robots/two_link.yaml", "my_two_link.yaml"), encoding="utf-8"
        )
    killed = []

    def progress(done: int, total: int) -> None:
        if not killed:
            killed.append(workers.workers.pop())
            killed[0].kill()

    armsim.sweep("my_two_link_hold.yaml", MANY, SHORT, "iae", "whole")
    found = armsim.sweep("my_two_link_hold.yaml", MANY, SHORT, "iae", "out", progress=progress, cluster=address)
    assert killed[0].wait(10) == -signal.SIGKILL
    assert found.status == "complete"
    assert bytes_in("out") == bytes_in("whole")


def test_local_workers_give_the_same_bytes_and_end_with_the_study(whole):
    from multiprocessing import active_children

    armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster="local", threads=2)
    assert bytes_in("out") == whole
    assert not [child for child in active_children() if "Dask" in child.name]


REFUSED = {
    "nobody there": ("tcp://127.0.0.1:9", None, r"a dask scheduler that answers"),
    "no address": ("two words", None, r"the address of a dask scheduler"),
    "threads": ("tcp://127.0.0.1:9", 4, r"dask worker --nthreads"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_cluster_that_cannot_be_is_refused(what, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    address, threads, words = REFUSED[what]
    with pytest.raises(UsageError, match=words):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address, threads=threads)


def test_without_distributed_its_extra_is_named(monkeypatch):
    monkeypatch.setattr(cluster.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r'pip install "armsim\[cluster\]"'):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster="local")
    assert not Path("out").exists()
