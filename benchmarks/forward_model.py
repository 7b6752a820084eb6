"""What a step of the forward model costs when it is called from Python.

    python benchmarks/forward_model.py [--rounds 20]

Marks: a single call under 5 microseconds. The batch is per arm.
"""

from __future__ import annotations

import argparse
from statistics import median

import numpy as np
from timing import Task, in_turns

import armsim

CALLS = 20_000
LANES = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
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
