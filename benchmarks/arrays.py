"""What a question to an arm costs per state when it is asked for many states at once.

python benchmarks/arrays.py [--rounds 20]
"""

from __future__ import annotations

import argparse
from statistics import median

import numpy as np
from timing import Task, in_turns

import armsim

ROWS = (1, 1_000, 100_000)
LEAST = 20_000  # rows of a task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    print(f"{'ns per state':40}{'median':>10}{'least':>10}")
    for robot in ("arm5", "puma560"):
        for rows in ROWS:
            repeats = max(1, LEAST // rows)
            for name, found in in_turns(questions(robot, rows, repeats), rounds).items():
                label = f"{robot}, {rows}, {name}"
                per = rows * repeats * 1e-9
                print(f"{label:40}{median(found) / per:10.1f}{min(found) / per:10.1f}")


def questions(robot: str, rows: int, repeats: int) -> dict[str, Task]:
    """Questions about random states, by name."""
    arm = armsim.load_robot(robot)
    rng = np.random.default_rng(0)
    q, qd, x = (rng.uniform(-1, 1, (rows, len(arm.joints))) for _ in range(3))

    def repeated(ask: Task) -> Task:
        def task() -> None:
            for _ in range(repeats):
                ask()

        return task

    asked = {
        "forward_dynamics": lambda: arm.forward_dynamics(q, qd, x),
        "inverse_dynamics": lambda: arm.inverse_dynamics(q, qd, x),
        "forward_kinematics": lambda: arm.forward_kinematics(q),
        "jacobian": lambda: arm.jacobian(q),
        "mass_matrix": lambda: arm.mass_matrix(q),
    }
    return {name: repeated(ask) for name, ask in asked.items()}


if __name__ == "__main__":
    main()
