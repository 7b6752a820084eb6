"""Fastest motions along random splines of shipped arms beside toppra's, with limits of speed, acceleration and torque.

    pip install toppra
    python -m tests.surveys.toppra --count 200 --first 0

prints for each spline both times, by how much limits are exceeded between points, and the processor time; and in the end how many
of either exceed a limit by more than 1e-6. The arms are without friction and gear losses, which toppra has no words for. Its time
is of the first order in the number of its points: with twice as many its error is half, which tells what it tends to.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import numpy as np
import toppra
import yaml
from toppra.constraint import DiscretizationType, JointAccelerationConstraint, JointTorqueConstraint
from toppra.constraint import JointVelocityConstraint as Speeds

from armsim.arm.robot import Robot
from armsim.loading import read_scenario
from armsim.loading.fastest_reference import FastestReference
from tests.surveys.fastest import HELD, of, sampled, shares

ROBOTS = Path(__file__).parents[2] / "robots"
TORQUE = {"panda": [87.0] * 4 + [12.0] * 3, "puma560": [97.0, 186.0, 89.0, 24.0, 20.0, 21.0]}  # N·m
SPEED = {"panda": [2.175] * 4 + [2.61] * 3, "puma560": [8.0] * 6}  # rad/s
MIDDLE = {"panda": [0, 0, 0, -1.5, 0, 1.8, 0], "puma560": [0] * 6}  # rad
ACCELERATION = 10.0  # rad/s²
USUAL, FINE = 200, 2000  # points of toppra


class Comparison:
    """An arm without friction, and its limits in both libraries."""

    def __init__(self, name: str) -> None:
        data = yaml.safe_load((ROBOTS / f"{name}.yaml").read_text())
        for joint in data["joints"]:
            for part in (joint, joint.get("motor", {})):
                for key in ("friction", "viscous", "coulomb"):
                    part.pop(key, None)
        self.middle, torque, speed = np.array(MIDDLE[name]), TORQUE[name], SPEED[name]
        bounds = {"speed": speed, "acceleration": [ACCELERATION] * len(speed)}
        asked = {"via": [(self.middle + 0.1).tolist()], "times": [1]}
        self.given = of(data, self.middle.tolist(), asked, limit=torque)
        read = read_scenario(self.given)
        self.given["control"]["reference"] = bounds
        x = read.file.document.control.reference.replaced(**bounds, fastest=True)
        self.robot, self.fastest = Robot(read.arm), FastestReference(x, read.arm, "torque", torque)
        both, between = (lambda most: np.column_stack([-np.array(most), most])), DiscretizationType.Interpolation

        def needed(q, v, a):
            return self.robot.inverse_dynamics(q[None], v[None], a[None])[0]

        self.limits = [
            Speeds(both(speed)),
            JointAccelerationConstraint(both(bounds["acceleration"]), discretization_scheme=between),
            JointTorqueConstraint(needed, both(torque), np.zeros(len(torque)), discretization_scheme=between),
        ]

    def points(self, seed: int) -> np.ndarray:
        """Those of a spline."""
        return self.middle + np.random.default_rng(seed).uniform(-0.8, 0.8, (5, len(self.middle)))

    def excess(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> float:
        """By how much a motion exceeds the limit that it exceeds most, relative."""
        return max(shares(self.given, self.robot, q, qd, qdd).values()) - 1.0

    def ours(self, points: np.ndarray) -> tuple[float, float, float]:
        """The time of the motion through points, by how much it exceeds a limit, and the processor time."""
        began = time.process_time()
        motion = self.fastest.along(points.tolist(), True, None)
        spent = time.process_time() - began
        return motion.knots[-1], self.excess(*sampled(motion)), spent

    def theirs(self, points: np.ndarray, count: int) -> tuple[float, float, float]:
        """The same of toppra with so many points, closer to the ends."""
        s = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
        path = toppra.SplineInterpolator(s, points, "natural")
        grid = s[-1] * np.sin(np.linspace(0, math.pi / 2, count + 1)) ** 2
        began = time.process_time()
        solver = toppra.algorithm.TOPPRA(self.limits, path, gridpoints=grid, parametrizer="ParametrizeConstAccel")
        motion = solver.compute_trajectory()
        spent = time.process_time() - began
        t = np.linspace(0, motion.duration, 10 * count + 1)[1:-1]
        return motion.duration, self.excess(*(motion(t, k) for k in range(3))), spent


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--count", type=int, default=20)
    asked.add_argument("--first", type=int, default=0)
    asked = asked.parse_args()
    toppra.setup_logging("ERROR")
    arms = [Comparison(name) for name in TORQUE]
    for arm in arms:
        arm.ours(arm.points(0))  # what is compiled
    rows = []
    for seed in range(asked.first, asked.first + asked.count):
        arm = arms[seed % len(arms)]
        points = arm.points(seed)
        ours, usual, fine = arm.ours(points), arm.theirs(points, USUAL), arm.theirs(points, FINE)
        tends = 2 * fine[0] - arm.theirs(points, FINE // 2)[0]
        rows.append([ours[0] / tends - 1, usual[0] / tends - 1, *ours[1:], *usual[1:], *fine[1:]])
        print(seed, *(f"{x:.3g}" for x in rows[-1]), flush=True)
    late, behind, excess, spent, beside, usual, between, fine = np.array(rows).T
    print(f"{len(rows)} splines; from what toppra tends to: ours {np.abs(late).max():.2g} at most,")
    print(f"{np.median(np.abs(late)):.2g} in the median; toppra with {USUAL} points {np.median(behind):.2g}")
    for name, over in (("ours", excess), (f"toppra, {USUAL}", beside), (f"toppra, {FINE}", between)):
        print(f"{name}: limits exceeded by {over.max():.2g}, by more than {HELD} in {(over > HELD).sum()}")
    print(f"processor time: {np.median(spent):.3g}, {np.median(usual):.3g}, {np.median(fine):.3g} s in the median")


if __name__ == "__main__":
    main()
