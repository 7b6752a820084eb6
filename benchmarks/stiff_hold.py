"""The stiff hold by implicit methods, beside MuJoCo's: `python benchmarks/stiff_hold.py`. README.md here says more."""

from __future__ import annotations

import argparse
import sys

import numpy as np
from arm5_hold import line, processor
from hold import SCENARIO, NativeHold
from peers import INSTALL, installed, law_of, mjcf
from timing import in_turns, ratio
from truth import Case, cases

import armsim
from armsim.loading import Scenario, read_scenario

DT = 1e-3  # s; every step is a row
ONE_AFTER_THE_OTHER = {"method": "velocity_implicit", "dt": DT}
MARK_STEPS, MARK_STIFF = 1.2e-3, 4e-3  # s
WANTED = 3e-7  # rad


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, metavar="N", help="times each is measured (default 21)")
    rounds = parser.parse_args().rounds
    (case,) = (case for case in cases() if case.name == "hold")
    print(f"the hold of tests/data/hold_truth.csv, {case.t[-1]:g} s, on {processor()}")

    every = {**case.overrides, "log.every": DT, "integrator": ONE_AFTER_THE_OTHER}
    bare = every | {f"robot.joints[{i}].limits": None for i in range(5)}
    with_stops, without = (NativeHold(read_scenario(SCENARIO, overrides)) for overrides in (every, bare))
    steps = with_stops.scenario.clock.steps
    tasks = {
        "velocity_implicit, its stops as laws": lambda: with_stops.roll_out(steps),
        "velocity_implicit, without stops": lambda: without.roll_out(steps),
    }
    if "mujoco" in installed():
        tasks["mujoco.rollout, implicitfast"] = mujoco_task(without.scenario)
    else:
        print(f"mujoco: skipped, it is not installed (`{INSTALL['mujoco']}`)")
    times = in_turns(tasks, rounds)
    base = times["velocity_implicit, without stops"]
    line(f"\n{steps} steps of {DT:g} s, a row each", "median, ms", "least, ms", "ratio")
    for name, taken in times.items():
        middle = sorted(taken)[len(taken) // 2]
        line(f"  {name}", f"{1e3 * middle:.3g}", f"{1e3 * min(taken):.3g}", f"{ratio(taken, base):.3g}")
    line("  error [rad]", f"{error(case, ONE_AFTER_THE_OTHER)[0]:.2e}")
    line(f"  mark {1e3 * MARK_STEPS:g} ms", "kept" if min(base) <= MARK_STEPS else "missed")

    line(f"\nrodas, {len(case.t)} rows", "error, rad", "least, ms")
    least = np.inf
    for rtol in (1e-3, 1e-4, 1e-5, 1e-6):
        wrong, took = error(case, {"method": "rodas", "rtol": rtol, "atol": rtol}, rounds)
        least = min(least, took) if wrong <= WANTED else least
        line(f"  rtol {rtol:g}", f"{wrong:.2e}", f"{1e3 * took:.3g}")
    line(f"  mark {1e3 * MARK_STIFF:g} ms for {WANTED:g} rad", "kept" if least <= MARK_STIFF else "missed")
    return 0


def error(case: Case, integrator: dict, rounds: int = 1) -> tuple[float, float]:
    """The largest error of a joint position at the truth's rows [rad], and the least time of the loop [s]."""
    runs = [
        armsim.simulate(read_scenario(SCENARIO, {**case.overrides, "integrator": integrator})) for _ in range(rounds)
    ]
    return float(np.abs(runs[0].q - case.q).max()), min(run.seconds["loop_s"] for run in runs)


def mujoco_task(scenario: Scenario):
    """The same steps by MuJoCo's method that is implicit in velocity, every state kept."""
    import mujoco
    import mujoco_hold

    text = mjcf(scenario.arm, law_of(scenario), DT).replace('integrator="Euler"', 'integrator="implicitfast"')
    model = mujoco.MjModel.from_xml_string(text.replace('eulerdamp="disable" ', ""))
    data = mujoco.MjData(model)
    return lambda: mujoco_hold.roll_out(model, data, list(scenario.initial_q), scenario.clock.steps)


if __name__ == "__main__":
    sys.exit(main())
