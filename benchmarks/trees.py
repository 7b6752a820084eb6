"""What branches save, `python benchmarks/trees.py`: the torso's two arms of four joints, and the same nine joints as a chain."""

from __future__ import annotations

import os
from functools import partial
from statistics import median

from hold import ROOT, NativeHold
from timing import in_turns, ratio

from armsim import document
from armsim.loading import load_robot_file, read_scenario

METHODS = ("semi_implicit_euler", "rk4", "implicit_midpoint")
DT, STEPS, ROUNDS = 1e-4, 20_000, 15


def main() -> None:
    """Print nanoseconds a step of the tree and of the chain, and the median of their ratios."""
    os.environ.setdefault("ARMSIM_OPTIMISATION", "1")  # as long runs have it: short ones do without
    robot = load_robot_file(str(ROOT / "robots" / "torso.yaml")).document
    chain = robot.replaced(name="chain", joints=tuple(joint.replaced(parent=None) for joint in robot.joints))
    for method in METHODS:
        tree, whole = (NativeHold(read_scenario(scenario(one, method))) for one in (robot, chain))
        tasks = {"tree": partial(tree.roll_out, STEPS), "chain": partial(whole.roll_out, STEPS)}
        times = in_turns(tasks, ROUNDS)
        steps = [median(times[name]) / STEPS * 1e9 for name in times]
        share = ratio(times["tree"], times["chain"])
        print(f"{method:20} torso {steps[0]:5.0f} ns a step, chain of nine {steps[1]:5.0f}; ratio {share:.2f}")


def scenario(robot: document.Robot, method: str) -> document.Scenario:
    """Its initial pose, held by PD control of voltages."""
    control = {"law": "pd", "output": "voltage", "kp": 80, "kd": 2}
    integrator = {"method": method, "dt": DT}
    return document.Scenario(
        robot=robot, duration=STEPS * DT, integrator=integrator, control=control, log={"every": 0.1}
    )


if __name__ == "__main__":
    main()
