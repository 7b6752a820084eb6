"""`armsim sweep` against the bare lanes: `python benchmarks/sweep_rate.py`. README.md here says what each line means."""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from timing import in_turns, process, ratio

import armsim
from armsim.batches.block import final_states
from armsim.batches.variants import Variants
from armsim.clock import NEVER
from armsim.compile.threads import check_threads
from armsim.loading.open_numbers import open_numbers
from armsim.studies.request import StudyRequest
from armsim.studies.study import study_of

ROOT = Path(__file__).parents[1]
CASES = {"two_link_hold": ("iae", None), "arm5_hold": ("iae_R2", 0.5)}  # with a duration [s], or the file's
VARY = {"control.kp[1]": "uniform:40:80", "control.kd[1]": "uniform:0.5:2"}
PART = 256  # runs that a thread takes at a time


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--case", choices=CASES, action="append")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for case in asked.case or CASES:
            compared(case, asked.runs, asked.rounds)


def compared(case: str, runs: int, rounds: int) -> None:
    """Times of one scenario."""
    measure, duration = CASES[case]
    overrides = {} if duration is None else {"duration": duration}
    threads = check_threads(None)
    values = study_of(case, StudyRequest(VARY, (measure,), random=runs, overrides=overrides)).design.rows(0, runs)
    given = dict(zip(VARY, values.T, strict=True))
    opened = open_numbers(case, given, overrides)
    matrix = opened.matrix(given)
    variants = Variants(opened, {}, matrix[0].tolist(), (measure,))
    engine, scenario = variants.engine(), variants.scenario
    clock = replace(scenario.clock, log_every=NEVER)
    folders = itertools.count()

    def lanes() -> None:
        parts = [matrix[first : first + PART] for first in range(0, runs, PART)]
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda part: final_states(engine, clock, part, (), lambda: False), parts))

    def sweep() -> None:
        armsim.sweep(case, VARY, overrides, measure, f"{case} {next(folders)}", random=runs)

    command = [sys.executable, "-m", "armsim", "sweep", case, "--random", str(runs), "--measure", measure]
    for path, of in VARY.items():
        command += ["--vary", f"{path}={of}"]
    command += [] if duration is None else ["--set", f"duration={duration}"]

    def whole() -> None:
        process([*command, "-o", f"{case} {next(folders)}"], env={**os.environ, "PYTHONPATH": str(ROOT)})

    tasks = {
        "bare lanes": lanes,
        "simulate_many": lambda: armsim.simulate_many(case, given, overrides, measure),
        "armsim.sweep": sweep,
        "armsim sweep, a process": whole,
    }
    times = in_turns(tasks, rounds)
    print(f"{case}: {runs} runs of {scenario.clock.steps} steps, {threads} threads, {rounds} rounds")
    for name, found in times.items():
        least = min(found)
        step = least / runs / scenario.clock.steps * threads * 1e9
        slower = ratio(found, times["bare lanes"])
        print(f"  {name:24} least {least:6.2f} s  {step:5.1f} ns an arm-step and thread  ratio {slower:.2f}")


if __name__ == "__main__":
    main()
