"""How often 95 % intervals of `armsim identify` cover the truth: logs with noise, 12-bit encoders, delay, sticking.

python -m tests.surveys.identified --arm rod --cases 200
"""

from __future__ import annotations

import argparse
import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

import armsim
from armsim.document.paths import parse_path
from armsim.identification.identification import Identification
from tests.identification.simulated import ROD, inside, logged

ROBOTS = Path(__file__).parents[2] / "robots"


@dataclass
class Case:
    """An arm, its true numbers by path, and how it is driven."""

    robot: dict
    truth: dict
    amplitude: list
    start: list
    step: float = 1e-3
    output: str = "voltage"
    seconds: float = 20.0


@dataclass
class Outcome:
    """What came of a log."""

    found: Identification
    truth: dict
    inside: list


def _case(robot, friction, amplitude, start, step=1e-3):
    """An arm under voltages with friction and torque constants of its own."""
    truth = {}
    for joint, (viscous, coulomb, Kp) in zip(robot["joints"], friction, strict=True):
        joint["friction"] = {"viscous": viscous, "coulomb": coulomb}
        joint.setdefault("motor", {"Ra": 1.0})["Kp"] = Kp
        at = f"joints[{joint['name']}]"
        truth |= {f"{at}.friction.viscous": viscous, f"{at}.friction.coulomb": coulomb, f"{at}.motor.Kp": Kp}
    return Case(robot, truth, amplitude, start, step)


def _puma560():
    """Under torques, with the published friction of its motors, which differs by direction."""
    robot, truth = _shipped("puma560"), {}
    for joint in robot["joints"]:
        at, motor = f"joints[{joint['name']}].motor", joint["motor"]
        truth[f"{at}.viscous"] = motor["viscous"]
        truth |= {f"{at}.coulomb.{side}": x for side, x in motor["coulomb"].items()}
    return Case(robot, truth, [100.0, 60.0, 30.0, 4.0, 3.0, 2.5], [0.0, -1.57, -1.57, 0.0, 0.0, 0.0], 5e-4, "torque")


def _shipped(name):
    robot = yaml.safe_load((ROBOTS / f"{name}.yaml").read_text(encoding="utf-8"))
    robot.pop("visual", None)
    return robot


CASES = {
    "rod": _case(copy.deepcopy(ROD), [(0.05, 0.3, 0.5)], [8.0], [-1.57]),
    "two_link": _case(_shipped("two_link"), [(0.8, 2.0, 4.0), (0.3, 0.6, 2.0)], [6.0, 3.0], [-1.5, 0.2]),
    "arm5": _case(
        _shipped("arm5"),
        [(0.8, 1.5, 10), (1.0, 2.0, 10), (0.6, 1.2, 10), (0.05, 0.15, 1), (0.03, 0.1, 1)],
        [8.0, 2.0, 2.0, 2.0, 1.0],
        [0.1, -0.3, -1.4, 0.2, -0.1],
        2.5e-4,
    ),
    "puma560": _puma560(),
}


def _set(robot, path, x):
    """Replace a number of a robot file."""
    *steps, last = parse_path(path)
    for step in steps:
        names = [joint["name"] for joint in robot] if isinstance(robot, list) else []
        robot = robot[names.index(step) if step in names else step]
    robot[last] = x


def trial(case, seed):
    """A log of a case, and what is found from it by a file whose numbers are all off."""
    log = logged(
        case.robot,
        case.seconds,
        500,
        np.array(case.amplitude),
        3e-4,
        12,
        late=1,
        seed=seed,
        output=case.output,
        start=case.start,
        step=case.step,
    )
    robot = copy.deepcopy(case.robot)
    for path, x in case.truth.items():
        _set(robot, path, x * (0.8 if path.endswith("Kp") else 1.3))
    found = armsim.identify(log, robot, [*case.truth], delay=True)
    truth = {**case.truth, "delay": 1 / 500}
    return Outcome(found, truth, [*inside(found, truth).values()])


def told(name, outcomes):
    """How often intervals cover the truth, of each number and of all."""
    covered = np.mean([outcome.inside for outcome in outcomes], axis=0)
    lines = [f"{path:32} {share:.1%}" for path, share in zip(outcomes[0].truth, covered, strict=True)]
    explained = np.mean([outcome.found.explained for outcome in outcomes])
    of = f"{name}, {len(outcomes)} logs: {covered.mean():.1%} of all intervals cover the truth"
    return "\n".join([*lines, f"{of}, {explained:.1%} of the logs are explained"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arm", default="rod", choices=CASES)
    parser.add_argument("--cases", type=int, default=200)
    given = parser.parse_args()
    outcomes = []
    for seed in range(given.cases):
        outcomes.append(trial(CASES[given.arm], seed))
        if len(outcomes) in (given.cases, *range(0, given.cases, 20)):
            print(told(given.arm, outcomes), flush=True)


if __name__ == "__main__":
    main()
