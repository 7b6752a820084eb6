"""The time that advice on many variants takes: `python benchmarks/advice_many.py`. README.md here says what each line means."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from os import environ

import numpy as np

from armsim.batches.variants import Variants
from armsim.loading import build_scenario, load_scenario_file
from armsim.loading.open_numbers import open_numbers
from armsim.plant import make_plant
from armsim.stability.wording import check_step

OPEN = ("control.kp[0]", "control.kd[1]", "robot.joints[1].bodies[0].cylinder.mass")
LONG = {"integrator.dt": 2e-3, "log.every": 1e-2}  # a step that is refused
CASES = {
    "arm5_hold": (OPEN, {}),
    "arm5_hold, semi-implicit": (OPEN, {"integrator.method": "semi_implicit_euler"}),
    "arm5_hold, 2 ms": (OPEN, LONG),
    "arm5_hold, semi-implicit, 2 ms": (OPEN, {"integrator.method": "semi_implicit_euler", **LONG}),
    "arm5_hold_pi": (OPEN[:1], {}),
    "puma560_hold": (OPEN[:1], {}),
}
PREPARED = """
import time
import armsim
began = time.perf_counter()
armsim.prepare({name!r}, open={open!r})
print(time.perf_counter() - began)
"""
ROUNDS = 7


def main() -> None:
    """Print everything."""
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        environ["ARMSIM_CACHE_DIR"] = made
        for title in CASES:
            print_case(title)


def print_case(title: str) -> None:
    """The lines of one scenario."""
    name = title.partition(",")[0]
    paths, overrides = CASES[title]
    scenario = build_scenario(load_scenario_file(name, overrides))
    opened = open_numbers(name, paths, overrides)
    given = np.array([opened.number(place) for place in opened.places])
    chance = np.random.default_rng(1)
    values = given * np.exp(chance.uniform(-0.7, 0.7, (10_000, len(given))))
    ((written, _),) = opened.groups(values)
    began = time.perf_counter()
    adviser = Variants(opened, written, values[0].tolist()).adviser
    adviser.refuses(values[:1])
    print(f"{title}: {len(paths)} open numbers, {scenario.method}, dt = {scenario.dt:g} s")
    print(f"  {'prepared, nothing in the cache':32}{1e3 * (time.perf_counter() - began):9.1f} ms")
    known = least(lambda: Variants(opened, written, values[0].tolist()).adviser.refuses(values[:1]))
    print(f"  {'prepared, all in the cache':32}{1e3 * known:9.1f} ms")
    alone = least(lambda: check_step(scenario, make_plant(scenario)))
    print(f"  {'check_step':32}{1e3 * alone:9.3f} ms a variant")
    for count in (1, 10, 1000, 10_000):
        seconds = least(lambda count=count: adviser.refuses(values[:count]))
        print(f"  {f'{count} at once':32}{1e3 * seconds / count:9.3f} ms a variant", flush=True)
    refused = adviser.refuses(values)
    print(f"  of {len(values)} {refused.sum()} are refused")
    words = least(lambda: adviser.one(values[0]))
    print(f"  {'the words of one':32}{1e3 * words:9.3f} ms")
    if not overrides:
        print(f"  {'prepare, a new process':32}{1e3 * min(process(name, paths) for _ in range(ROUNDS)):9.1f} ms")


def process(name: str, paths: Sequence[str]) -> float:
    """Wall time of `armsim.prepare` in a process of its own [s]; from the second on, all is in the cache."""
    command = [sys.executable, "-c", PREPARED.format(name=name, open=list(paths))]
    return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


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
