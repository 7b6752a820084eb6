"""What rows of adaptive methods cost, and their error: `python benchmarks/dense_output.py`. README.md here says more."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

import numpy as np
from arm5_hold import line, processor
from truth import SCENARIO, Case, cases

import armsim
from armsim.loading import read_scenario

TOLERANCES = [10.0**-k for k in range(4, 11)]
FINER = 50  # rows for each of the truth's
METHODS = {"hold": "rodas", "swing": "rk54"}


def run(case: Case, method: str, tolerance: float, every: float, rounds: int) -> tuple[armsim.Run, float]:
    """A run with rows `every` seconds, and the least time of its loop [s]."""
    integrator = {"method": method, "rtol": tolerance, "atol": tolerance}
    scenario = read_scenario(SCENARIO, {**case.overrides, "integrator": integrator, "log.every": every})
    runs = [armsim.simulate(scenario) for _ in range(rounds)]
    return runs[-1], min(one.seconds["loop_s"] for one in runs)


def main() -> int:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="times that each setting is timed [5]")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        os.environ["ARMSIM_CACHE_DIR"] = made
        os.environ.setdefault("ARMSIM_OPTIMISATION", "1")  # as long runs have it
        print(f"arm5, largest errors of a joint position, least of {rounds} times, on {processor()}")
        for case in cases():
            method = METHODS[case.name]
            every, duration = case.overrides["log.every"], case.overrides["duration"]
            precise, _ = run(case, method, 1e-12, every / FINER, 1)
            off = np.abs(precise.q[::FINER] - case.q).max()
            print(
                f"\n{case.name}, {method}: reference at rtol 1e-12, {off:.1e} rad from the truth; {precise.count} rows"
            )
            line("  rtol", "steps", "end, rad", "rows, rad", "ms", "two rows, ms")
            for tolerance in TOLERANCES:
                dense, took = run(case, method, tolerance, every / FINER, rounds)
                bare, least = run(case, method, tolerance, duration, rounds)
                assert bare.q[-1].tolist() == dense.q[-1].tolist()
                end = np.abs(bare.q[-1] - precise.q[-1]).max()
                rows = np.abs(dense.q - precise.q).max()
                counted = dense.steps_chosen
                assert counted is not None
                texts = (str(counted[0]), f"{end:.1e}", f"{rows:.1e}", f"{1e3 * took:.2f}", f"{1e3 * least:.2f}")
                line(f"  {tolerance:.0e}", *texts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
