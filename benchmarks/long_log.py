"""Time and peak memory of long logs and inputs: `python benchmarks/long_log.py`. README.md here says more."""

from __future__ import annotations

import argparse
import math
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from arm5_hold import processor
from hold import ROOT

MARKS = {"log": (None, 300), "input": (3.0, 200)}  # s, MB
STEPS_A_ROW = 100
INPUT_ROWS = 1_000_000
PLAN = """format: armsim/scenario/1
name: long_input
robot: two_link
duration: 10
integrator: {method: rk4, dt: 1e-3}
inputs: {torque: [{csv: tau.csv, column: tau_Nm, hold: linear}, 0]}
"""


class Cost(NamedTuple):
    """What a process took.

    Attributes:
        seconds: Wall time.
        megabytes: Peak of its resident memory.
    """

    seconds: float
    megabytes: float


def cost(*args: str) -> Cost:
    """What armsim takes in a process of its own."""
    began = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = os.posix_spawn(sys.executable, [sys.executable, "-m", "armsim", *args], environment)
    _, status, used = os.wait4(process, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit("armsim failed")
    return Cost(time.perf_counter() - began, _megabytes(used))


def _megabytes(used: resource.struct_rusage) -> float:
    return used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def log(folder: Path, rows: int, kind: str) -> Cost:
    """The swing of the two-link arm with that many rows, `STEPS_A_ROW` steps each."""
    given = {"duration": rows * 1e-3, "log.every": 1e-3, "integrator.dt": 1e-3 / STEPS_A_ROW, "log.format": kind}
    settings = [part for key, value in given.items() for part in ("--set", f"{key}={value}")]
    return cost("simulate", "two_link_swing", *settings, "-q", "--force", "-o", str(folder / "run"))


def inputs(folder: Path) -> Cost:
    """A run of which a torque is a column of `INPUT_ROWS` rows, with code that is compiled for it."""
    with open(folder / "tau.csv", "w") as file:
        file.write("t_s,tau_Nm\n")
        file.writelines(f"{k / 100_000!r},{5 * math.sin(k / 100_000)!r}\n" for k in range(INPUT_ROWS))
    (folder / "input.yaml").write_text(PLAN)
    return cost("simulate", str(folder / "input.yaml"), "-q", "--force", "-o", str(folder / "driven"))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rows", type=lambda text: int(float(text)), default=10_000_000, metavar="N", help="of the log (default 1e7)"
    )
    parser.add_argument("--format", choices=["csv", "parquet"], default="csv", help="of the log (default csv)")
    given = parser.parse_args()
    print(f"on {processor()}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, kind, found in (
            (f"a column of {INPUT_ROWS:g} rows as input", "input", inputs(folder)),
            (f"{given.rows:g} rows, {given.rows * STEPS_A_ROW:g} steps", "log", log(folder, given.rows, given.format)),
        ):
            seconds, megabytes = MARKS[kind]
            mark = ", ".join([*([f"{seconds:g} s"] if seconds else []), f"{megabytes} MB"])
            print(f"{what:<36} {found.seconds:8.1f} s {found.megabytes:6.0f} MB   (mark: {mark})")
        size = sum(path.stat().st_size for path in (folder / "run").iterdir())
        print(f"{'its tables':<36} {size / 1e9:8.2f} GB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
