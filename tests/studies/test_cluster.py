"""Studies on a cluster: the bytes of a local study, whatever becomes of workers and of who asks them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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


@pytest.mark.slow
def test_a_client_that_is_killed_goes_on_and_the_table_is_that_of_a_local_study(address, whole):
    text = DYING.format(vary=MANY, short=SHORT, address=address)
    ended = subprocess.run([sys.executable, "-c", text], env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert Path("out/results.part").exists()
    seen = []
    told = {"progress": lambda done, total: seen.append((done, total)), "cluster": address}
    found = armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", **told)
    assert found.whole
    assert seen[-1][0] == seen[-1][1] < 800
    assert bytes_in("out") == whole


@pytest.mark.slow
def test_ctrl_c_keeps_rows_and_leaves_nothing_to_do_on_the_cluster(address, whole):
    from distributed import Client

    def progress(done: int, total: int) -> None:
        raise KeyboardInterrupt

    found = armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", progress=progress, cluster=address)
    assert (found.whole, 20 <= found.done < 800) == (False, True)
    with Client(address, set_as_default=False) as client:
        deadline = time.monotonic() + 10
        while left := client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks)):
            assert time.monotonic() < deadline, left
    armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)
    assert bytes_in("out") == whole


@pytest.mark.slow
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


@pytest.mark.slow
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
    assert found.whole
    assert bytes_in("out") == bytes_in("whole")


@pytest.mark.slow
def test_local_workers_give_the_same_bytes_and_end_with_the_study(whole):
    from multiprocessing import active_children

    before = active_children()
    armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster="local", threads=2)
    assert bytes_in("out") == whole
    assert not [child for child in active_children() if "Dask" in child.name and child not in before]


def listening() -> set[tuple[str, int]]:
    """Where this process and its children listen."""
    import psutil

    here = psutil.Process()
    found = [c for of in (here, *here.children(recursive=True)) for c in of.net_connections("inet")]
    return {(c.laddr.ip, c.laddr.port) for c in found if c.status == psutil.CONN_LISTEN}


def why_not(address: str, security: Any) -> str:
    """Why a connection to a scheduler or a worker does not come about; empty if it does."""
    from distributed.comm import connect

    async def attempt() -> None:
        await (await connect(address, timeout=5, **security.get_connection_args("client"))).close()

    try:
        asyncio.run(attempt())
    except OSError as error:
        return str(error)
    return ""


@pytest.fixture(scope="module")
def local():
    """What `--cluster local` starts: where it listens, its address and credentials."""
    before = listening()
    with cluster.connected("local", 1) as found:
        client = found._client
        yield listening() - before, client.scheduler.address, client.security


def test_local_workers_listen_on_the_loopback_interface_alone_without_http(local):
    places, _, _ = local
    assert {ip for ip, _ in places} == {"127.0.0.1"}
    assert len(places) == 3  # scheduler, worker, and what starts the worker again


def test_nobody_else_on_the_machine_reaches_local_workers(local):
    from distributed import Security

    places, address, security = local
    assert address.startswith("tls://")
    for ip, port in places:
        assert "closed" in why_not(f"tcp://{ip}:{port}", Security())
        assert "certificate does not match" in why_not(f"tls://{ip}:{port}", Security.temporary())
        assert why_not(f"tls://{ip}:{port}", security) == ""


def configuration(security: Any, folder: Path) -> dict[str, str]:
    """Credentials as files, and dask's configuration of them."""
    texts = {"ca-file": security.tls_ca_file, "client.cert": security.tls_client_cert}
    found = {}
    for key, text in {**texts, "client.key": security.tls_client_key}.items():
        found[f"distributed.comm.tls.{key}"] = str(folder / key)
        (folder / key).write_text(text, encoding="ascii")
    return found


def test_a_cluster_with_credentials_is_reached_by_those_of_dasks_configuration_alone(local, whole, tmp_path):
    import dask
    from distributed import Security

    _, address, security = local
    with pytest.raises(UsageError, match=r"TLS configuration.*\n.*docs/cluster.md"):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)
    others = configuration(Security.temporary(), tmp_path)
    with dask.config.set(others), pytest.raises(UsageError, match=r"certificate does not match.*\n.*docs/cluster.md"):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)
    with dask.config.set(configuration(security, tmp_path)):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)
    assert bytes_in("out") == whole


@pytest.mark.slow
def test_what_is_not_encrypted_is_refused_where_dasks_configuration_says_so(address):
    import dask

    encrypted = {"distributed.comm.require-encryption": True}
    with dask.config.set(encrypted), pytest.raises(UsageError, match="encryption required"):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address)


REFUSED = {
    "nobody there": ("tcp://127.0.0.1:9", None, r"a dask scheduler that answers"),
    "no address": ("two words", None, r"the address of a dask scheduler"),
    "threads": ("tcp://127.0.0.1:9", 4, r"dask worker --nthreads"),
    "unknown scheme": (
        "foo://10.0.0.5:8786",
        None,
        r"of a scheme that dask knows: .*tcp.*\n  found:    the scheme `foo`",
    ),
    "scheme in capitals": ("TCP://10.0.0.5:8786", None, r"the scheme `TCP`"),
    "no scheme": ("://10.0.0.5:8786", None, r"the scheme ``"),
    "no port": ("tls://here", None, r"no host with a port at its end\n  mend:     write for example tls://here:8786"),
    "no host": ("tcp://:8786", None, r"no host with a port at its end"),
    "within a process": ("inproc://127.0.0.1:9", None, r"a dask scheduler that answers"),
    "open bracket": ("tcp://[::1:9", None, r"a dask scheduler that answers"),
    "no plugin": ("ucx://127.0.0.1:9", None, r"a dask scheduler that answers"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_cluster_that_cannot_be_is_refused(what, monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    address, threads, words = REFUSED[what]
    with pytest.raises(UsageError, match=words):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster=address, threads=threads)


@pytest.mark.parametrize("lacking", ["distributed", "cryptography"])
@pytest.mark.handful(1)
def test_without_what_its_extra_installs_the_extra_is_named(lacking, monkeypatch):
    monkeypatch.setattr(cluster.importlib.util, "find_spec", lambda name: None if name == lacking else name)
    with pytest.raises(UsageError, match=r'pip install "armsim\[cluster\]"'):
        armsim.sweep("two_link_hold", MANY, SHORT, "iae", "out", cluster="local")
    assert not Path("out").exists()
