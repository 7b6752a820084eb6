"""Random tasks for `armsim plan`: solved within all limits when simulated, or infeasible by the limit that is named.

python -m tests.surveys.plans --cases 200
"""

from __future__ import annotations

import argparse
from collections import Counter

import numpy as np

import armsim
from armsim.planning.result import MotionPlan

INTERVALS = 30
PASSED = 2e-4  # share of a limit that a motion may pass between knots: 1e-4 of what counts as much, which is 1 rad of positions
WIDER, TIMES = 2.0, 6  # by how much a limit that is named is widened, and at most how often


def random_task(seed):
    """A pose to reach by an arm of five joints, by motors of random limits, in a random time."""
    rng = np.random.default_rng(seed)
    robot = armsim.load_robot("arm5").arm
    lower, upper = (np.array([-1.5 if b is None else b for b in (j.bounds[i] for j in robot.joints)]) for i in (0, 1))
    lower, upper = np.maximum(lower, -1.5), np.where(upper <= lower, 1.5, np.minimum(upper, 1.5))
    middle, half = (lower + upper) / 2, 0.9 * (upper - lower) / 2
    start, end = (middle + half * rng.uniform(-1, 1, 5) for _ in range(2))
    limits = {"voltage": float(rng.uniform(10, 30))}
    for quantity, low, high in (("current", 4, 12), ("speed", 1, 4)):
        if rng.random() < 0.4:
            limits[quantity] = float(rng.uniform(low, high))
    overrides = {f"robot.joints[{i}].motor.limits": limits for i in range(5)}
    minimise = str(rng.choice(["energy", "torque_squared", "time + 1e-3*torque_squared"]))
    plan = {"to": {"q": end.tolist()}, "minimise": minimise, "intervals": INTERVALS}
    overrides |= {"initial": {"q": start.tolist()}, "plan": plan, "duration": round(float(rng.uniform(0.4, 1.5)), 2)}
    return overrides


def verdict(overrides) -> tuple[str, MotionPlan]:
    """What came of a task: "solved", "infeasible", or what is wrong with it."""
    found = armsim.plan("arm5_sine", {"inputs": None, **overrides})
    if found.status == "infeasible":
        return _widened(overrides, found), found
    if found.run is None:
        return f"{found.status}, but not simulated", found
    for one in found.facts.margins:
        size = max(abs(x) for x in (one.lower, one.upper) if x is not None)
        if one.beyond > PASSED * size:
            return f"beyond {one.quantity} {one.of}", found
    return found.status, found


def _widened(overrides, found):
    """Whether a task becomes possible where the limits that it names are widened, each of which has to bring it nearer."""
    overrides = {key: dict(value) if "limits" in key else value for key, value in overrides.items()}
    joints = [joint.name for joint in armsim.load_robot("arm5").arm.joints]
    times: Counter[tuple[str, str]] = Counter()
    while found.status != "solved":
        stop, lack = found.facts.obstruction, _lack(found)
        if stop is None or stop.quantity not in ("voltage", "current", "speed"):
            return f"infeasible, then {found.status} by {stop and stop.quantity}"
        times[stop.quantity, stop.of] += 1
        if times[stop.quantity, stop.of] > TIMES:
            return "infeasible, whatever is widened"
        overrides[f"robot.joints[{joints.index(stop.of)}].motor.limits"][stop.quantity] *= WIDER
        found = armsim.plan("arm5_sine", {"inputs": None, **overrides})
        if _lack(found) >= lack:
            return f"infeasible, and no nearer by more {stop.quantity} of {stop.of}"
    return "infeasible"


def _lack(found):
    """By how much targets are missed in all [rad, rad/s]."""
    return sum(one.by for one in found.facts.missed if one.quantity == "target")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    asked = parser.parse_args()
    tally: Counter[str] = Counter()
    for seed in range(asked.first, asked.first + asked.cases):
        said, found = verdict(random_task(seed))
        tally[said] += 1
        print(seed, said, found, found.facts.end_error, flush=True)
    print(dict(tally))


if __name__ == "__main__":
    main()
