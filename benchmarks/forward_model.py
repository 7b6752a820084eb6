"""What a step of the forward model costs when it is called from Python.

    python benchmarks/forward_model.py [--rounds 20] [--old OLD_PYTHON]

Marks: a single call under 5 microseconds. The batch is per arm.

With OLD_PYTHON, the interpreter of a virtual environment in which an older version is installed, only batches are timed, here and
there in turns.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import median

import numpy as np
from timing import Task, in_turns, ratio, seconds

import armsim

CALLS = 20_000
LANES = 1024
BATCHES = (1, 64, 512, 4096, 65_536)
STEPS = 65_536  # of all arms of a batch together, in a task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--old", metavar="OLD_PYTHON")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve()
    elif given.old:
        compare(given.old, given.rounds)
    else:
        print_calls(given.rounds)


def print_calls(rounds: int) -> None:
    """What calls with a state cost, and with some."""
    print(f"{'semi-implicit Euler':40}{'median':>10}{'least':>10}   us")
    for robot, output, inputs in (
        ("arm5", "voltage", [1.0, -6.0, 2.0, 0.5, 0.1]),
        ("puma560", "torque", [30.0, 20.0, -30.0, 3.0, 2.0, 1.0]),  # with dry friction
    ):
        tasks = questions(armsim.ForwardModel(robot, dt=1e-4, output=output), np.array(inputs))
        for name, found in in_turns(tasks, rounds).items():
            per = 10 * LANES if name.startswith("batch") else CALLS
            label = f"{robot}, {name}"
            print(f"{label:40}{median(found) / per * 1e6:10.3f}{min(found) / per * 1e6:10.3f}")

    arm, volts, values = "arm5", np.array([1.0, -6.0, 2.0, 0.5, 0.1]), np.array([10.0, 1.0, -9.81])
    wrench = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, -5.0]])
    opened = armsim.ForwardModel(
        arm, dt=1e-4, open=["joints[R2].motor.Kp", "joints[1].bodies[0].cylinder.mass", "gravity[2]"]
    )
    laden = armsim.ForwardModel(arm, dt=1e-4, external=[{"link": "R5"}])
    plain = armsim.ForwardModel(arm, dt=1e-4)
    state = plain.state(qd=[0.1] * 5)
    fresh = np.random.default_rng(0).uniform(1.0, 10.0, (CALLS, 3))
    tasks = {
        "plain": lambda: [plain.step(state, volts) for _ in range(CALLS)],
        "three open numbers": lambda: [opened.step(state, volts, values) for _ in range(CALLS)],
        "three open numbers, new in every step": lambda: [opened.step(state, volts, each) for each in fresh],
        "a wrench": lambda: [laden.step(state, volts, wrench=wrench) for _ in range(CALLS)],
    }
    for name, found in in_turns(tasks, rounds).items():
        label = f"arm5, {name}"
        print(f"{label:40}{median(found) / CALLS * 1e6:10.3f}{min(found) / CALLS * 1e6:10.3f}")


def batches() -> dict[str, Task]:
    """Steps of arm5, by how many at once."""
    model = armsim.ForwardModel("arm5", dt=1e-3)
    random = np.random.default_rng(0)
    q, qd, volts = (random.uniform(-x, x, (max(BATCHES), 5)) for x in (1.0, 1.0, 9.0))
    states = model.state(q, qd)

    def task(count: int) -> Task:
        some, inputs = states[:count], volts[:count]
        return lambda: [model.step(some, inputs) for _ in range(STEPS // count)]

    return {str(count): task(count) for count in BATCHES}


def serve() -> None:
    """Time the batch that a line on standard input names, line by line."""
    tasks = batches()
    for line in sys.stdin:
        print(seconds(tasks[line.strip()]), flush=True)


def compare(old: str, rounds: int) -> None:
    """Time the batches in turns in two processes."""
    servers = [
        subprocess.Popen([python, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for python in (old, sys.executable)
    ]

    def ask(server: subprocess.Popen[str], count: str) -> float:
        assert server.stdin is not None
        assert server.stdout is not None
        print(count, file=server.stdin, flush=True)
        return float(server.stdout.readline())

    print(f"{'steps at once':>14}{'old, least':>12}{'new, least':>12}   ns a step{'ratio of least':>16}{'median':>9}")
    for count in map(str, BATCHES):
        times = [[ask(server, count) for server in servers] for _ in range(rounds + 1)][1:]
        before, after = zip(*times, strict=True)
        least = min(before), min(after)
        cells = [f"{t / STEPS * 1e9:12.1f}" for t in least]
        print(f"{count:>14}{''.join(cells)}{least[0] / least[1]:28.2f}{ratio(before, after):9.2f}")
    for server in servers:
        server.communicate()


def questions(model: armsim.ForwardModel, inputs: np.ndarray) -> dict[str, Task]:
    """Ways to ask for a step."""
    state = model.state(qd=[0.1] * len(inputs))
    states, many = np.tile(state, (LANES, 1)), np.tile(inputs, (LANES, 1))
    listed = inputs.tolist()

    def steps() -> None:
        for _ in range(CALLS):
            model.step(state, inputs)

    def steps_of_lists() -> None:
        for _ in range(CALLS):
            model.step(state, listed)

    def batch() -> None:
        for _ in range(10):
            model.step(states, many)

    return {"step(state, array)": steps, "step(state, list)": steps_of_lists, f"batch of {LANES}, per arm": batch}


if __name__ == "__main__":
    main()
