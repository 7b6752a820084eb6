"""How long a sample of predictive control takes, and how much better than a PID it brings an arm back.

    python benchmarks/predictive.py [--stages 50 25 100] [--pushes 32]

Solve times are those that the summary of `armsim simulate` tells. Mark: median 0.5 ms, 99 % within 1 ms, with 50 stages. The
PID's gains minimise ITAE of the same arm under the shipped scenario's push (`armsim tune`, all fifteen open, 2556 trials), and so
do the weights of the tuned plan (880 trials of an evolution strategy, twelve open); the even plan weighs all joints alike. The
laws then meet other pushes.
"""

from __future__ import annotations

import argparse

import numpy as np

import armsim

PID = {
    "control.law": "pid",
    "control.horizon": None,
    "control.stages": None,
    "control.cost": None,
    "control.kp": [1157.9, 1233.6, 800.39, 303.54, 710.24],
    "control.ki": [0.124, 122.85, 568.99, 926.73, 59.705],
    "control.kd": [15.575, 25.312, 3.7251, 0.85775, 0.74722],
}

EVEN = {"control.horizon": 0.3, "control.cost": {"q": 1e5, "qd": 1, "command": 1e-3}}
WEIGHTS = {
    "control.horizon": 0.08,
    "control.cost.q": [1.5e5, 4e6, 4e5, 1e5, 5e7],
    "control.cost.qd": [0.1, 700, 2, 0.1, 10],
    "control.cost.end": 0.12,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stages", type=int, nargs="+", default=[50, 25, 100])
    parser.add_argument("--pushes", type=int, default=32)
    given = parser.parse_args()
    print(f"{'a sample of arm5_predictive':40}{'median':>10}{'99 %':>10}{'most':>10}   us")
    for stages in given.stages:
        timed = {"control.stages": stages, "control.budget": 5e-4, "log.every": 1e-3}
        plans = armsim.simulate("arm5_predictive", timed).facts.plans
        times = (1e6 * x for x in (plans.median, plans.percentile_99, plans.greatest))
        print(f"{f'{stages} stages':40}" + "".join(f"{x:10.1f}" for x in times))
    rng = np.random.default_rng(1)
    pushes = rng.normal(size=(given.pushes, 3))
    pushes *= (rng.uniform(300, 1500, given.pushes) / np.linalg.norm(pushes, axis=1))[:, None]
    laws = {"the shipped plan": {}, "the even plan": EVEN, "the tuned plan": WEIGHTS, "the PID": PID}
    itae = {
        name: armsim.simulate_many("arm5_predictive", {"external[0].force": pushes}, law, measure=["itae"])["itae"]
        for name, law in laws.items()
    }
    for name, law in laws.items():
        own = armsim.simulate("arm5_predictive", law, measure=["itae"]).measures["itae"]
        ratios = np.sort(itae[name] / itae["the PID"])
        print(
            f"{name}: ITAE {own:.4f} at the shipped push; of other pushes by that of the PID {np.median(ratios):.2f} (median), "
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}, less in {(ratios < 1).sum()} of {len(ratios)}; "
            f"their sum {itae[name].sum():.2f}"
        )


if __name__ == "__main__":
    main()
