"""Error against time for every method: `python benchmarks/work_precision.py --plot out.png`. README.md here says more."""

from __future__ import annotations

import argparse
import ctypes
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from arm5_hold import line, processor
from truth import SCENARIO, Case, cases

import armsim
from armsim.compile.single import SingleKernel
from armsim.expr import trace
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.plant import make_plant

SCIPY = ("DOP853", "Radau", "LSODA")
TOLERANCES = [10.0**-k for k in range(3, 13)]  # relative and absolute: positions are about 1 rad
SLOWEST = 1.0  # s: after two runs that take longer a method is left
FINER = 50  # rows for each of the truth's, in runs that show what rows cost
GIVEN_UP = 3.0  # s: scipy's runs are broken off then, which counts as such a run
FLOOR = 2e-12  # rad: finer settings than the first that reaches it would show rounding


@dataclass
class Point:
    """A setting of a method.

    Attributes:
        setting: As people write it.
        error: Largest error of a joint position at any row [rad].
        times: Wall times [s].
    """

    setting: str
    error: float
    times: list[float] = field(default_factory=list)


# a task runs once: its joint positions, None where it diverged or was broken off, and its wall time
Task = Callable[[], tuple[np.ndarray | None, float]]


def armsim_tasks(case: Case, method: str, finer: int = 1) -> Iterator[tuple[str, Task]]:
    """Runs of one of armsim's methods from coarse to fine, timed without compilation; `finer` rows for each of the truth's."""
    if METHODS[method].adaptive is not None:
        settings = [(f"rtol {tol:.0e}", {"rtol": tol, "atol": tol}) for tol in TOLERANCES]
    else:
        every = case.overrides["log.every"]
        settings = [(f"dt {every / 2**k:.4g}", {"dt": every / 2**k}) for k in range(24)]
    for name, integrator in settings:
        rows = {"log.every": case.overrides["log.every"] / finer}
        scenario = read_scenario(SCENARIO, {**case.overrides, **rows, "integrator": {"method": method, **integrator}})

        def task(scenario=scenario):
            run = armsim.simulate(scenario, force_step=True)
            return (run.q[::finer] if run.status == "complete" else None), run.seconds["loop_s"]

        yield name, task


def scipy_tasks(case: Case, method: str) -> Iterator[tuple[str, Task]]:
    """Runs of one of scipy's methods on armsim's own right-hand side in machine code."""
    from scipy.integrate import solve_ivp

    scenario = read_scenario(SCENARIO, case.overrides)
    rates, start = right_hand_side(scenario)
    n = scenario.arm.n
    for tol in TOLERANCES:

        def task(tol=tol):
            span, began = (0.0, float(case.t[-1])), time.perf_counter()

            def watched(t, y):
                if time.perf_counter() - began > GIVEN_UP:
                    raise TimeoutError
                return rates(t, y)

            try:
                found = solve_ivp(watched, span, start, method, t_eval=case.t, rtol=tol, atol=tol)
            except TimeoutError:
                return None, GIVEN_UP
            return (found.y[:n].T if found.success else None), time.perf_counter() - began

        yield f"rtol {tol:.0e}", task


def right_hand_side(scenario) -> tuple[Callable[[float, np.ndarray], np.ndarray], list[float]]:
    """What scipy calls, a few hundred nanoseconds of machine code for a call, and the state it starts from."""
    plant = make_plant(scenario)

    def function(t, *state):
        qd, qdd, _ = plant.motion(t, state)
        return [*qd, *qdd]

    names = ["t", *plant.slots]
    call = SingleKernel(trace(function, names, "rates")).call
    args = (ctypes.c_double * len(names))()
    results = (ctypes.c_double * len(plant.slots))()
    into, out = np.frombuffer(args), np.frombuffer(results)
    addresses = ctypes.addressof(args), ctypes.addressof(results)

    def rates(t, y):
        into[0], into[1:] = t, y
        call(*addresses)
        return out.copy()

    return rates, plant.initial_state(scenario.initial_q, scenario.initial_qd)


def measure(case: Case, tasks: Iterator[tuple[str, Task]], rounds: int) -> list[Point]:
    """The settings of a method that do not diverge, from coarse to fine, as far as time and rounding let them go."""
    points: list[Point] = []
    slow = 0
    for setting, task in tasks:
        answer, took = task()
        slow += took > SLOWEST
        if answer is not None:
            point = Point(setting, float(np.abs(answer - case.q).max()), [took])
            points.append(point)
            point.times += [task()[1] for _ in range(rounds - 1 if took < SLOWEST else 0)]
            if point.error < FLOOR:
                break
        if slow == 2:
            break
    return points


def main() -> int:
    """Print everything, and draw it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE", help="draw it")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="times that each setting is timed [3]")
    asked = parser.parse_args()
    results: dict[str, dict[str, list[Point]]] = {}
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        os.environ["ARMSIM_CACHE_DIR"] = made
        os.environ.setdefault("ARMSIM_OPTIMISATION", "1")  # as long runs have it
        print(f"arm5, errors against tests/data, least of {asked.rounds} times, on {processor()}")
        for case in cases():
            tasks = {f"armsim {name}": armsim_tasks(case, name) for name in METHODS}
            adaptive = [name for name in METHODS if METHODS[name].adaptive is not None]
            tasks |= {f"armsim {name}, {FINER} times the rows": armsim_tasks(case, name, FINER) for name in adaptive}
            tasks |= {f"scipy {name}": scipy_tasks(case, name) for name in SCIPY}
            found = results[case.name] = {}
            for name, runs in tasks.items():
                found[name] = measure(case, runs, asked.rounds)
                print()
                line(f"{case.name}, {name}", "error, rad", "ms")
                for point in found[name]:
                    line(f"  {point.setting}", f"{point.error:.2e}", f"{1e3 * min(point.times):.3g}")
    if asked.plot:
        draw(asked.plot, results)
    return 0


def draw(path: str, results: dict[str, dict[str, list[Point]]]) -> None:
    """Error over time, a panel for every case; scipy dashed."""
    from matplotlib.figure import Figure

    from armsim.figures.convergence import COLORS, MARKERS

    figure = Figure(figsize=(11.0, 5.6), layout="constrained")
    titles = {"hold": "hold, 10 s: stiff (back-EMF)", "swing": "swing, 1.5 s: not stiff"}
    axes: Any = figure.subplots(1, len(results))
    for axis, (case, methods) in zip(axes, results.items(), strict=True):
        for name, points in methods.items():
            i = list(methods).index(name.partition(",")[0])  # more rows: the method's colour, dotted
            ours = name.startswith("armsim")
            axis.loglog(
                [1e3 * min(point.times) for point in points],
                [point.error for point in points],
                color=COLORS[i % len(COLORS)],
                marker=MARKERS[i % len(MARKERS)],
                markersize=4,
                linestyle=":" if name.endswith("rows") else "-" if ours else "--",
                linewidth=1.8 if ours else 1.2,
                label=name.removeprefix("armsim ") if axis is axes[0] else None,
            )
        axis.set_title(titles.get(case, case))
        axis.set_xlabel("time [ms]")
        axis.grid(which="major", alpha=0.3)
    axes[0].set_ylabel("largest error of a joint position [rad]")
    figure.suptitle("arm5: what accuracy costs; scipy's methods on the same compiled right-hand side")
    figure.legend(loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sys.exit(main())
