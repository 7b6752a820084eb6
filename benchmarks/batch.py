"""Thousands of arms at once: `python benchmarks/batch.py`. README.md here says what each line means."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
from arm5_hold import line, processor
from casadi_step import casadi_step
from hold import OVERRIDES, SCENARIO, read_case
from peers import law_of, mjcf
from ports import bound, operation
from timing import Task, in_turns, process, ratio

import armsim
from armsim.batches.block import final_states
from armsim.batches.variants import ENDS, Variants
from armsim.clock import NEVER
from armsim.compile.target import host
from armsim.loading.open_numbers import open_numbers

LANES, STEPS = 4096, 4000
ARMS = 64  # in MuJoCo, which takes a hundred times as long
PATHS = {"control.kp": 0.3, "robot.joints[R2].bodies[0].cylinder.mass": 0.5}
NO_STOPS = {f"robot.joints[R{i}].limits": None for i in range(1, 6)}
VARIANTS = 1000  # of the whole scenario, 50 000 steps each
STUDY = f"""
import numpy, armsim
random = numpy.random.default_rng(1)
spread = lambda file: file * random.uniform(0.7, 1.3, ({VARIANTS}, *numpy.shape(file)))
values = {{"control.kp": spread(numpy.array([60.0, 60, 60, 20, 20])), "control.kd": spread(numpy.array([1.0, 1, 1, 0.1, 0.1])),
    "robot.joints[R2].bodies[0].cylinder.mass": spread(3.0), "payload.mass": random.uniform(0.0, 0.5, {VARIANTS})}}
"""
SIMULATE = f"many = armsim.simulate_many({str(SCENARIO)!r}, values, {OVERRIDES!r}, measure=['iae'])"


def main() -> int:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="times that each thing is timed [5]")
    rounds = parser.parse_args().rounds
    print(f"{SCENARIO.name} by semi-implicit Euler, {LANES} arms that differ in gains and a mass, {STEPS} steps each")
    print(f"{processor()}, {os.cpu_count()} cores, {host().register} lanes")
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        os.environ["ARMSIM_CACHE_DIR"] = made
        print_steps(rounds)
        print_widths(rounds)
        print_study(rounds)
    return 0


class Case:
    """Variants of the hold, ready to run."""

    def __init__(self, overrides: Mapping[str, Any], audit: bool, lanes: int | None = None) -> None:
        self.opened = open_numbers(os.fspath(SCENARIO), list(PATHS), {**OVERRIDES, **overrides})
        file = np.array([self.opened.number(place) for place in self.opened.places])
        spread = np.concatenate([[PATHS[path]] * len(places) for path, places in self.opened.asked.items()])
        self.values = file * (1 + spread * np.random.default_rng(1).uniform(-1, 1, (LANES, len(file))))
        measure = ["peak_torque", "iae"] if audit else []
        self.variants = Variants(self.opened, {}, file.tolist(), measure, replace(ENDS, work=audit))
        self.engine, self.scalar = self.variants.engine(lanes), self.variants.engine(1)
        self.clock = replace(self.variants.scenario.clock, steps=STEPS, sample_every=None, log_every=NEVER)

    def lanes(self) -> None:
        """All arms in lanes on one core."""
        final_states(self.engine, self.clock, self.values, (), lambda: False)

    def one(self) -> None:
        """One arm by the scalar loop."""
        clock = replace(self.clock, steps=5 * STEPS)
        final_states(self.scalar, clock, self.values[:1], (), lambda: False)

    def threads(self, count: int) -> Task:
        """All arms by so many threads."""
        from concurrent.futures import ThreadPoolExecutor

        parts = np.array_split(self.values, 16)

        def run() -> None:
            with ThreadPoolExecutor(count) as pool:
                list(pool.map(lambda part: final_states(self.engine, self.clock, part, (), lambda: False), parts))

        return run


def print_steps(rounds: int) -> None:
    """A step of one arm, in ns."""
    full, bare = Case({}, audit=True), Case(NO_STOPS, audit=False)
    tasks: dict[str, Task] = {
        "scalar loop, everything on": full.one,
        "lanes, one core": full.lanes,
        "lanes, one thread of the pool": full.threads(1),
        "lanes, two threads": full.threads(2),
        "scalar loop, without audit, stops and measures": bare.one,
        "lanes, without them": bare.lanes,
    }
    arms = {name: LANES * STEPS if "lanes" in name else 5 * STEPS for name in tasks}
    for name, (task, steps) in peers().items():
        tasks[name], arms[name] = task, steps
    times = in_turns(tasks, rounds)
    print()
    line("a step of one arm", "median ns", "least ns", "scalar/this")
    scalar = [t / arms["scalar loop, everything on"] for t in times["scalar loop, everything on"]]
    bare_scalar = [t / (5 * STEPS) for t in times["scalar loop, without audit, stops and measures"]]
    for name, found in times.items():
        steps = [t / arms[name] for t in found]
        base = bare_scalar if "without" in name else scalar
        line(f"  {name}", f"{median(steps) * 1e9:.1f}", f"{min(steps) * 1e9:.1f}", f"{1 / ratio(steps, base):.2f}")
    two = ratio(times["lanes, one thread of the pool"], times["lanes, two threads"])
    line("  two threads are faster than one by", f"{two:.2f}")
    seconds = operation()
    print()
    line(f"bound by vector instructions, {seconds * 1e9:.3f} ns each", "instructions", "ns an arm", "lanes/bound")
    for name, case in (("lanes, one core", full), ("lanes, without them", bare)):
        found = bound(case.engine.loop)
        ns = found.operations * seconds * 1e9 / case.engine.width
        least = min(times[name]) / arms[name] * 1e9
        cells = (f"{found.instructions}", f"{ns:.1f}", f"{least / ns:.2f}")
        line(f"  {name}: {found.registers}", *cells)


def peers() -> dict[str, tuple[Task, int]]:
    """What other programs take for the same: by name, the task and its number of arm-steps."""
    found: dict[str, tuple[Task, int]] = {}
    if find_spec("mujoco") is None:
        print("mujoco: skipped, it is not installed (`pip install mujoco`)")
    else:
        for threads in (1, os.cpu_count() or 1):
            found[f"mujoco.rollout, its pool of {threads}"] = (mujoco_pool(threads), ARMS * STEPS)
    step = casadi_step(read_case())
    if isinstance(step, str):
        print(f"casadi: skipped, {step}")
    else:
        found["C generated by CasADi, -O3 -march=native"] = (lambda: step(5 * STEPS), 5 * STEPS)
    return found


def mujoco_pool(threads: int) -> Task:
    """Some arms in MuJoCo's own pool of threads; they share their gains."""
    import mujoco
    from mujoco import rollout

    case = read_case()
    model = mujoco.MjModel.from_xml_string(mjcf(case.arm, law_of(case), case.dt))
    datas = [mujoco.MjData(model) for _ in range(threads)]
    state = np.zeros((ARMS, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, 1 : 1 + case.arm.n] = case.initial_q
    pool = rollout.Rollout(nthread=threads)
    out = np.zeros((ARMS, STEPS, state.shape[1]))
    return lambda: pool.rollout(model, datas, state, nstep=STEPS, state=out)


def print_widths(rounds: int) -> None:
    """The same by other numbers of lanes."""
    cases = {lanes: Case({}, audit=True, lanes=lanes) for lanes in (2, 4, 8, 16)}
    times = in_turns({str(lanes): case.lanes for lanes, case in cases.items()}, rounds)
    print()
    line("lanes", "median ns", "least ns", "spills")
    for lanes, case in cases.items():
        steps = [t / (LANES * STEPS) * 1e9 for t in times[str(lanes)]]
        line(f"  {lanes}", f"{median(steps):.1f}", f"{min(steps):.1f}", f"{bound(case.engine.loop).spills}")


def print_study(rounds: int) -> None:
    """1000 variants of the whole hold."""
    space: dict[str, Any] = {}
    exec(STUDY, space)
    whole = f"{STUDY}\n{SIMULATE}\nassert many.complete.all()"
    tasks: dict[str, Task] = {
        "in a warm process": lambda: exec(SIMULATE, space),
        "as a process": lambda: process([sys.executable, "-c", whole], env=os.environ),
    }
    times = in_turns(tasks, rounds)
    print()
    line(f"{VARIANTS} variants of the hold, 50 000 steps each", "median s", "least s")
    for name, found in times.items():
        line(f"  {name}", f"{median(found):.2f}", f"{min(found):.2f}")
    print("  of the last: " + ", ".join(f"{name} {t:.3f}" for name, t in space["many"].seconds.items()))
    prepared(rounds)


def prepared(rounds: int) -> None:
    """One run after the other with other numbers."""
    sim = armsim.prepare(os.fspath(SCENARIO), ["control.kp[0]", "payload.mass"], {**OVERRIDES, "payload.mass": 0.1})
    beyond, loops = [], []
    for k in range(20 * rounds):
        began = time.perf_counter()
        run = sim({"control.kp[0]": 60 + k / 10, "payload.mass": 0.2})
        spent = time.perf_counter() - began
        beyond.append(spent - run.seconds["loop_s"])
        loops.append(run.seconds["loop_s"])
    print()
    line("one prepared run after the other", "median ms", "least ms")
    line("  its steps", f"{median(loops) * 1e3:.2f}", f"{min(loops) * 1e3:.2f}")
    line("  all else", f"{median(beyond) * 1e3:.2f}", f"{min(beyond) * 1e3:.2f}")


if __name__ == "__main__":
    sys.exit(main())
