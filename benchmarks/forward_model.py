"""What a step of the forward model costs when it is called from Python.

    python benchmarks/forward_model.py [--rounds 20]

Marks: a single call under 5 microseconds. The batch is per arm.
"""

from __future__ import annotations

import argparse
from statistics import median

import numpy as np
from timing import in_turns

import armsim

CALLS = 20_000
LANES = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    model = armsim.ForwardModel("arm5", dt=1e-4)
    state, volts = model.state(), np.array([1.0, -6.0, 2.0, 0.5, 0.1])
    states, many = np.tile(state, (LANES, 1)), np.tile(volts, (LANES, 1))
    listed = volts.tolist()

    def steps() -> None:
        for _ in range(CALLS):
            model.step(state, volts)

    def steps_of_lists() -> None:
        for _ in range(CALLS):
            model.step(state, listed)

    def batch() -> None:
        for _ in range(10):
            model.step(states, many)

    tasks = {"step(state, array)": steps, "step(state, list)": steps_of_lists, "batch": batch}
    times = in_turns(tasks, rounds)
    print(f"{'arm5, semi-implicit Euler':28}{'median':>10}{'least':>10}   us")
    for name, found in times.items():
        per = 10 * LANES if name == "batch" else CALLS
        label = f"batch of {LANES}, per arm" if name == "batch" else name
        print(f"{label:28}{median(found) / per * 1e6:10.3f}{min(found) / per * 1e6:10.3f}")


if __name__ == "__main__":
    main()
