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
    seconds: float = 20.0
    step: float = 1e-3


@dataclass
class Outcome:
    """What came of a log."""

    found: Identification
    truth: dict
    inside: list


def _with_friction(robot, friction):
    for joint, (viscous, coulomb, Kp) in zip(robot["joints"], friction, strict=True):
        joint["friction"] = {"viscous": viscous, "coulomb": coulomb}
        joint.setdefault("motor", {"Ra": 1.0})["Kp"] = Kp
    return robot


def _case(robot, friction, amplitude, start, step=1e-3):
    robot = _with_friction(robot, friction)
    truth = {}
    for joint, (viscous, coulomb, Kp) in zip(robot["joints"], friction, strict=True):
        at = f"joints[{joint['name']}]"
        truth |= {f"{at}.friction.viscous": viscous, f"{at}.friction.coulomb": coulomb, f"{at}.motor.Kp": Kp}
    return Case(robot, truth, amplitude, start, step=step)


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
}


def trial(case, seed):
    """A log of a case, and what is found from it by a file whose numbers are all a third off."""
    amplitude = np.array(case.amplitude)
    log = logged(
        case.robot, case.seconds, 500, amplitude, 3e-4, 12, late=1, seed=seed, start=case.start, step=case.step
    )
    robot = copy.deepcopy(case.robot)
    for joint in robot["joints"]:
        joint["friction"] = {key: x * 1.3 for key, x in joint["friction"].items()}
        joint["motor"]["Kp"] *= 0.8
    found = armsim.identify(log, robot, ["friction", "joints[*].motor.Kp"], delay=True)
    truth = {**case.truth, "delay": 1 / 500}
    return Outcome(found, truth, [*inside(found, truth).values()])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arm", default="rod", choices=CASES)
    parser.add_argument("--cases", type=int, default=200)
    given = parser.parse_args()
    outcomes = [trial(CASES[given.arm], seed) for seed in range(given.cases)]
    covered = np.mean([outcome.inside for outcome in outcomes], axis=0)
    for path, share in zip(outcomes[0].truth, covered, strict=True):
        print(f"{path:32} {share:.1%}")
    explained = np.mean([outcome.found.explained for outcome in outcomes])
    print(
        f"{given.arm}: {covered.mean():.1%} of all intervals cover the truth, {explained:.1%} of the logs are explained"
    )


if __name__ == "__main__":
    main()
