"""The time that advice on many variants takes: `python benchmarks/advice_many.py`. README.md here says what each line means."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from os import environ
from typing import Any

import numpy as np

from armsim.loading import Scenario, build_scenario, load_scenario_file
from armsim.plant import make_plant
from armsim.stability.many import StepAdviser
from armsim.stability.step_check import check_step

OPEN = ("control.kp[0]", "control.kd[1]", "robot.joints[1].bodies[0].cylinder.mass")
CASES = ("arm5_hold", "arm5_hold_pi", "puma560_hold")
ROUNDS = 7


def main() -> None:
    """Print everything."""
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        environ["ARMSIM_CACHE_DIR"] = made
        for name in CASES:
            print_case(name, OPEN if name == "arm5_hold" else OPEN[:1])


def print_case(name: str, paths: Sequence[str]) -> None:
    """The lines of one scenario."""
    file = load_scenario_file(name)

    def make(values: Sequence[Any]) -> Scenario:
        return build_scenario(file, open=dict(zip(paths, values, strict=True)))

    scenario = build_scenario(file)
    chance = np.random.default_rng(1)
    given = [file.data["control"]["kp"][0].value, 1.0, 1.0][: len(paths)]
    values = np.array(given) * np.exp(chance.uniform(-0.7, 0.7, (10_000, len(paths))))
    began = time.perf_counter()
    adviser = StepAdviser(make, len(paths))
    adviser.advice(values[:1])
    print(f"{name}: {len(paths)} open numbers, {scenario.method}")
    print(f"  {'prepared, nothing in the cache':32}{1e3 * (time.perf_counter() - began):9.1f} ms")
    alone = least(lambda: check_step(scenario, make_plant(scenario)))
    print(f"  {'check_step':32}{1e3 * alone:9.3f} ms a variant")
    for count in (1, 10, 1000, 10_000):
        seconds = least(lambda count=count: adviser.advice(values[:count]))
        print(f"  {f'{count} at once':32}{1e3 * seconds / count:9.3f} ms a variant", flush=True)
    found = adviser.advice(values[:1000])
    print(f"  of 1000 {found.refused.sum()} are refused, of {found.speaks.sum()} there is something to say")
    words = least(lambda: found[0])
    print(f"  {'the words of one':32}{1e3 * words:9.3f} ms")


def least(act: Callable[[], object]) -> float:
    """The least of several wall times [s]."""
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        act()
        times.append(time.perf_counter() - began)
    return min(times)


if __name__ == "__main__":
    main()
