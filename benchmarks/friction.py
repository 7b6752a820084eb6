"""What whole motors and dry friction cost a step: `python benchmarks/friction.py`. README.md here says what each line means."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping
from statistics import median
from typing import Any

from arm5_hold import line, print_times, processor
from hold import NativeHold, read_case
from timing import in_turns

from armsim.actuation import any_sticks

MARK = 400.0  # ns, of a step with whole motors and dry friction
VOLTS = (8.0, 3.0, 3.0, 0.6, 0.4)  # of the sines that drive the arm to and fro

# what DynaMechs' motor has, and what it has not; Coulomb torques as in tests/data/full_motor_euler_every_step
MOTOR = {"rotor_inertia": 0.02, "viscous": 0.05, "inductance": 1e-4, "brush_drop": {"max": 0.5, "half": 0.3}}
LIMITS = {"voltage": 48, "current": 40, "torque": 300, "speed": 20}
DRY = {"coulomb": {"positive": 0.4, "negative": 0.3}, "efficiency": 0.9}


def robot(**motor: Any) -> dict[str, Any]:
    """The overrides that give every motor of arm5 these keys."""
    return {f"robot.joints[{i}].motor.{key}": value for i in range(5) for key, value in motor.items()}


def to_and_fro() -> dict[str, Any]:
    """The overrides that drive the arm by sines, in place of the controller."""
    sines = [f"{volts}*sin({3 + 1.3 * i:g}*t)" for i, volts in enumerate(VOLTS)]
    return {"control": None, "inputs": {"voltage": sines}}


def prepared(overrides: Mapping[str, Any]) -> NativeHold:
    """The case with these overrides, compiled."""
    case = NativeHold(read_case(overrides))
    case.engine  # noqa: B018  compiled here, not in what is timed
    return case


def still_share(case: NativeHold) -> str:
    """The share of joints and rows in which a joint is exactly at rest."""
    case.roll_out(case.scenario.clock.steps)
    width = len(case.plant.layout.columns)
    count = case.scenario.clock.steps // case.scenario.clock.log_every
    columns = [i for i, column in enumerate(case.plant.layout.columns) if column.quantity == "qd"]
    still = sum(case.rows[k * width + i] == 0.0 for k in range(count) for i in columns)
    return f"{100 * still / (count * len(columns)):.0f} %"


def main() -> int:
    """Print everything; 1 where the mark is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="times that each thing is timed [11]")
    rounds = parser.parse_args().rounds
    missed = False
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        os.environ["ARMSIM_CACHE_DIR"] = made
        print(f"arm5, 0.1 ms by semi-implicit Euler, on {processor()}")
        for title, drive in (("held by PD control", {}), ("driven to and fro by sines", to_and_fro())):
            cases = {
                "motors of resistance and back-EMF": prepared(drive),
                "whole motors": prepared({**drive, **robot(**MOTOR, limits=LIMITS)}),
                "whole motors and dry friction": prepared({**drive, **robot(**MOTOR, limits=LIMITS, **DRY)}),
            }
            sticking = cases["whole motors and dry friction"]
            assert [any_sticks(case.plant.arm) for case in cases.values()] == [False, False, True]
            steps = sticking.scenario.clock.steps
            times = in_turns({name: lambda c=case, n=steps: c.roll_out(n) for name, case in cases.items()}, rounds)
            print_times(f"{title}, {rounds} rounds", "ns", 1e9 / steps, times, next(iter(cases)))
            line("  joints exactly at rest, of all rows", still_share(sticking))
            found = 1e9 / steps * median(times["whole motors and dry friction"])
            missed = missed or found > MARK
            line(f"  mark {MARK:g} ns", "missed" if found > MARK else "kept")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
