"""How long a sample of predictive control takes, and how much better than a PID it brings an arm back.

    python benchmarks/predictive.py [--stages 50 25 100] [--pushes 32]

Solve times are those of the compiled sample (measurement, plan, command) on the states of a run of arm5_predictive, one call
after the other. Mark: median 0.5 ms, 99 % within 1 ms, with 50 stages. The PID's gains minimise ITAE of the same arm under the
shipped scenario's push (`armsim tune`, all fifteen open, 2556 trials); both laws then meet other pushes.
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import seconds

import armsim
from armsim.compile.single import SingleKernel
from armsim.expr import trace
from armsim.loading import scenario_of
from armsim.plant import make_plant

PID = {
    "control.law": "pid",
    "control.horizon": None,
    "control.stages": None,
    "control.cost": None,
    "control.kp": [1157.9, 1233.6, 800.39, 303.54, 710.24],
    "control.ki": [0.124, 122.85, 568.99, 926.73, 59.705],
    "control.kd": [15.575, 25.312, 3.7251, 0.85775, 0.74722],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", type=int, nargs="+", default=[50, 25, 100])
    parser.add_argument("--pushes", type=int, default=32)
    given = parser.parse_args()
    print(f"{'a sample of arm5_predictive':40}{'median':>10}{'99 %':>10}{'most':>10}   us")
    for stages in given.stages:
        times = solve_times({"control.stages": stages, "duration": 1}) * 1e6
        print(f"{f'{stages} stages':40}{np.median(times):10.1f}{np.quantile(times, 0.99):10.1f}{times.max():10.1f}")
    rng = np.random.default_rng(1)
    pushes = rng.normal(size=(given.pushes, 3))
    pushes *= (rng.uniform(300, 1500, given.pushes) / np.linalg.norm(pushes, axis=1))[:, None]
    itae = [
        armsim.simulate_many("arm5_predictive", {"external[0].force": pushes}, law, measure=["itae"])["itae"]
        for law in ({}, PID)
    ]
    ratios = np.sort(itae[0] / itae[1])
    print(
        f"ITAE of other pushes, by that of the PID: median {np.median(ratios):.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f}"
    )
    print(f"less in {(ratios < 1).sum()} of {len(ratios)}")


def solve_times(overrides: dict) -> np.ndarray:
    """Of the samples along a run, one after the other, each with the plan of the one before [s]."""
    run = armsim.simulate("arm5_predictive", {**overrides, "log.every": 1e-3})
    plant = make_plant(scenario_of("arm5_predictive", overrides))
    kernel = SingleKernel(trace(lambda t, *x: plant.sample(t, list(x)), ["t", *plant.slots], "sample"))
    n = run.q.shape[1]
    x = np.array([0.0, *plant.initial_state(run.q[0].tolist(), run.qd[0].tolist())])
    first, after = x.copy(), np.empty(len(x))
    kernel.call(first.ctypes.data, after.ctypes.data)  # compiled
    times = []
    for t, q, qd in zip(run.t, run.q, run.qd, strict=True):
        x[0], x[1 : n + 1], x[n + 1 : 2 * n + 1] = t, q, qd
        times.append(seconds(lambda: kernel.call(x.ctypes.data, x[1:].ctypes.data)))
    return np.array(times)


if __name__ == "__main__":
    main()
