"""A study that is killed again and again: `python benchmarks/kill_sweep.py`. README.md here says what each line means."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHON = sys.executable
AT_WORK = 0.7  # of the kills, that come after its first new rows; others come at any moment before
VARY = ("--vary", "control.kp[1]=uniform:40:80", "--vary", "control.kd[1]=uniform:0.5:2", "--seed", "1")


def main() -> int:
    """Compare the bytes of a study that is killed with those of an undisturbed one; 1 if they differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--scenario", default="two_link_hold")
    parser.add_argument("--duration", type=float, default=1.0, help="of a run [s]")
    parser.add_argument("--cluster", action="store_true", help="on two dask workers, one of which is killed, too")
    parser.add_argument("--seed", type=int, default=None, help="of the moments; others each time unless given")
    asked = parser.parse_args()
    random.seed(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        return compared(asked, Path(folder))


def compared(asked: argparse.Namespace, folder: Path) -> int:
    """See `main`."""
    study = ["sweep", asked.scenario, *VARY, "--random", str(asked.runs), "--set", f"duration={asked.duration}", "-q"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    def start(output: str, *options: str) -> subprocess.Popen[bytes]:
        command = [PYTHON, "-m", "armsim", *study, "-o", output, *options]
        return subprocess.Popen(command, cwd=folder, env=environment)

    began = time.perf_counter()
    assert start("whole").wait() == 0
    alone = time.perf_counter() - began
    print(f"undisturbed: {asked.runs} runs in {alone:.1f} s")
    started: list[subprocess.Popen[bytes]] = []
    options: tuple[str, ...] = ()
    if asked.cluster:
        started = cluster(folder, environment)
        options = ("--cluster", address(folder))
    began, killed, late, found = time.perf_counter(), 0, 0, list[int]()
    try:
        while killed < asked.kills:
            process = start("killed", *options)
            before, deadline = rows(folder), time.perf_counter() + 60
            at_work = random.random() < AT_WORK
            while at_work and rows(folder) == before and process.poll() is None and time.perf_counter() < deadline:
                time.sleep(0.01)
            try:
                code = process.wait(random.uniform(0.0, 2.0 * alone / asked.kills))
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            if code == 0:
                late += 1
                break
            killed += 1
            found.append(rows(folder))
            if asked.cluster and killed == asked.kills // 2:
                started[-1].kill()
                print(f"a worker was killed after {rows(folder)} rows")
        assert start("killed", *options).wait() == 0
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
    print(f"killed {killed} times{' (it was done then)' if late else ''}, resumed: {time.perf_counter() - began:.1f} s")
    print(f"rows on disk at the kills: {' '.join(map(str, found))}")
    same = True
    for path in sorted((folder / "whole").iterdir()):
        other = folder / "killed" / path.name
        equal = other.is_file() and other.read_bytes() == path.read_bytes()
        print(f"{path.name}: {path.stat().st_size} bytes, {'equal' if equal else 'DIFFERENT'}")
        same &= equal
    return 0 if same else 1


def rows(folder: Path) -> int:
    """How many rows are on disk, as the journal says."""
    journal = folder / "killed" / "journal"
    lines = journal.read_text().split("\n") if journal.exists() else []
    return int(lines[-2].split()[0]) if len(lines) > 1 else 0


def cluster(folder: Path, environment: dict[str, str]) -> list[subprocess.Popen[bytes]]:
    """A scheduler and two workers."""
    workers = ("--scheduler-file", "scheduler.json", "--no-nanny", "--nthreads", "1")
    asked = [
        ("scheduler", "--port", "0", "--scheduler-file", "scheduler.json"),
        ("worker", *workers),
        ("worker", *workers),
    ]
    log = open(folder / "log", "ab")  # noqa: SIM115  as long as they run
    return [
        subprocess.Popen(
            [PYTHON, "-m", f"distributed.cli.dask_{what}", "--host", "127.0.0.1", "--no-dashboard", *options],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
        )
        for what, *options in asked
    ]


def address(folder: Path) -> str:
    """Of the scheduler, once both workers are there."""
    from distributed import Client

    with Client(scheduler_file=str(folder / "scheduler.json")) as client:
        client.wait_for_workers(2, timeout=60)
        return str(client.scheduler.address)


if __name__ == "__main__":
    sys.exit(main())
