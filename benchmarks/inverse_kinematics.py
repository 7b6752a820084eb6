"""Poses a second that inverse kinematics solves on one core, from a near start and without, and the share that it solves.

python benchmarks/inverse_kinematics.py [--poses 10000] [ROBOT ...]
python benchmarks/inverse_kinematics.py --peer      # ik_LM of roboticstoolbox-python, on its own models
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

NEAR = 0.1  # rad or m, standard deviation of the start from the solution
ROBOTS = ("arm5", "puma560", "ur5", "ur5e", "panda", "iiwa14", "torso")
ROUNDS = 5
TOLERANCE = 1e-12  # of the peer, half a squared residual: 1.4e-6 m and rad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("robots", nargs="*", default=ROBOTS)
    parser.add_argument("--poses", type=int, default=10_000)
    parser.add_argument("--peer", action="store_true")
    arguments = parser.parse_args()
    print(f"{'':12}{'':10}{'poses/s':>12}{'solved':>10}{'worst m':>10}{'worst rad':>10}")
    (peer if arguments.peer else ours)(arguments.robots, arguments.poses)


def ours(robots: list[str], poses: int) -> None:
    """Arrays of poses on one thread: the best of some rounds."""
    import armsim
    from armsim.arm.reach import usable_range

    rng = np.random.default_rng(1)
    for name in robots:
        robot = armsim.load_robot(name, threads=1)
        low, high = np.array([usable_range(joint) for joint in robot.arm.joints]).T
        q = rng.uniform(low, high, (poses, len(low)))
        near = np.clip(q + rng.normal(0, NEAR, q.shape), low, high)
        pose = robot.forward_kinematics(q)
        for what, start in (("near", near), ("without", None)):

            def solve(pose: Any = pose, start: Any = start, robot: Any = robot) -> Any:
                return robot.inverse_kinematics(pose, near=start, report=True)

            took, found = best(solve)
            solved = ~np.isnan(found.q).any(axis=1)
            row(name, what, poses / took, solved.mean(), found.distance[solved].max(), found.angle[solved].max())


def peer(robots: list[str], poses: int) -> None:
    """Pose by pose, as the peer takes them."""
    import roboticstoolbox as rtb

    rng = np.random.default_rng(1)
    models = {"panda": rtb.models.ETS.Panda, "ur5": rtb.models.DH.UR5, "puma560": rtb.models.DH.Puma560}
    for name in robots:
        if name not in models:
            continue
        chain = models[name]().ets()
        low, high = chain.qlim
        q = rng.uniform(low, high, (poses, chain.n))
        near = np.clip(q + rng.normal(0, NEAR, q.shape), low, high)
        wanted = [chain.fkine(x).A for x in q]
        for what, starts in (("near", near), ("without", [None] * poses)):

            def solve(chain: Any = chain, wanted: Any = wanted, starts: Any = starts) -> Any:
                return [chain.ik_LM(T, q0=start, tol=TOLERANCE) for T, start in zip(wanted, starts)]

            took, found = best(solve, rounds=1)
            missing = np.array([residual(chain.fkine(one[0]).A, T) for one, T in zip(found, wanted)])
            solved = np.array([bool(one[1]) for one in found])
            row(name, what, poses / took, solved.mean(), *missing[solved].max(axis=0))


def residual(there: np.ndarray, wanted: np.ndarray) -> tuple[float, float]:
    """Distance and angle between two homogeneous matrices."""
    turn = there[:3, :3].T @ wanted[:3, :3]
    return float(np.linalg.norm(there[:3, 3] - wanted[:3, 3])), math.asin(
        min(1.0, float(np.linalg.norm(turn - turn.T)) / math.sqrt(8))
    )


def best(solve: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    """Least wall time [s] of some calls after the first, and the result."""
    found = solve() if rounds > 1 else None
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        found = solve()
        times.append(time.perf_counter() - began)
    return min(times), found


def row(name: str, what: str, rate: float, share: float, distance: float, angle: float) -> None:
    print(f"{name:12}{what:10}{rate:12.0f}{share:10.2%}{distance:10.1e}{angle:10.1e}", flush=True)


if __name__ == "__main__":
    main()
