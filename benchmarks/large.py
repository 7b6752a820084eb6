"""Arms of many joints, `python benchmarks/large.py`: what it takes until they run, and how fast they do.

Each case is a process of its own with an empty cache, in which numpy's linear algebra has one thread. Seconds are of
all processors. Pinocchio's articulated-body algorithm is called from Python; the time of the cheapest call is told beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

COUNTS = (5, 10, 20, 40, 64)
METHODS = ("semi_implicit_euler", "rk4", "rodas", "implicit_midpoint")
DT, STEPS, ROUNDS = 1e-4, 2000, 5
AHEAD = ("mass_matrix", "inverse_dynamics", "linearize")


def robot(count: int, kind: str) -> dict[str, Any]:
    """A robot file: revolute joints with axes in all directions, a chain, or four branches on three joints."""
    from random import Random

    random = Random(count)
    joints = []
    for i in range(count):
        a, alpha, d = (random.uniform(-x, x) for x in (0.1, 1.5, 0.1))
        inertia = {"about": "com", "xx": 2e-3, "yy": 1.5e-3, "zz": 1e-3, "mass": random.uniform(0.3, 0.8)}
        body = {"inertia": {**inertia, "center": [random.uniform(-0.05, 0.05) for _ in range(3)]}}
        joint = {"name": f"J{i}", "type": "revolute", "mdh": {"a": a, "alpha": alpha, "d": d, "theta": 0}}
        parent = {"parent": f"J{max(i - 4, min(i - 1, 2))}"} if kind == "tree" and i else {}
        joints.append({**joint, **parent, "bodies": [body], "friction": {"viscous": 0.05}})
    return {"format": "armsim/robot/1", "name": kind, "joints": joints}


def case(count: int, kind: str, method: str) -> dict[str, Any]:
    """What one case came to."""
    from hold import NativeHold

    from armsim.expr import trace
    from armsim.loading import scenario_of
    from armsim.simulation.engine import NativeEngine
    from armsim.stability.step_advice import advice_on

    integrator = {"method": method, "dt": DT} if method != "rodas" else {"method": method}
    file = {"format": "armsim/scenario/1", "robot": robot(count, kind), "duration": STEPS * DT}
    scenario = scenario_of({**file, "integrator": integrator, "log": {"every": STEPS * DT / 2}}, None)
    marks = [spent()]
    hold = NativeHold(scenario)
    NativeEngine(hold.plan)
    size = sum(path.stat().st_size for path in Path(os.environ["ARMSIM_CACHE_DIR"]).rglob("*") if path.is_file())
    marks.append(spent())
    advice_on(scenario)
    marks.append(spent())
    code, advice = (after - before for before, after in pairwise(marks))
    times = [taken(lambda: hold.roll_out(scenario.clock.steps)) for _ in range(ROUNDS)]
    step = trace(lambda *x: hold.plant.step(0.0, x, DT), [str(i) for i in range(len(hold.plant.slots))])
    found = {"code_s": code, "advice_s": advice, "ns": min(times) / scenario.clock.steps * 1e9, "bytes": size}
    return {**found, "operations": sum(step.counts().values())}


def spent() -> float:
    """Processor time of this process and those that it waited for [s]."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(of.ru_utime + of.ru_stime for of in used)


def taken(task: Any) -> float:
    """Processor time of a call [s]."""
    began = time.process_time()
    task()
    return time.process_time() - began


def first_answers(count: int, kind: str) -> dict[str, float]:
    """Processor time [s] until the first answer to questions about an arm."""
    import armsim

    file = robot(count, kind)
    asked = armsim.load_robot(file)
    q = [0.1 * i for i in range(count)]
    scenario = {"format": "armsim/scenario/1", "robot": file, "duration": 1, "integrator": {"method": "rk4", "dt": DT}}
    tasks = (lambda: asked.mass_matrix(q), lambda: asked.inverse_dynamics(q, q, q), lambda: armsim.linearize(scenario))
    found = {}
    for name, task in zip(AHEAD, tasks, strict=True):
        began = spent()
        task()
        found[name] = spent() - began
    return found


def peer(count: int, kind: str) -> dict[str, float]:
    """Pinocchio's ABA for the same arm [ns], without the call from Python."""
    import numpy as np
    import pinocchio
    from peers import pinocchio_model

    import armsim

    model = pinocchio_model(armsim.load_robot(robot(count, kind)).arm)
    data, x = model.createData(), np.zeros(count)

    def lasting(call: Any) -> float:
        def many() -> None:
            for _ in range(1000):
                call(model, data, x, x, x)

        return min(taken(many) for _ in range(ROUNDS)) * 1e6

    return {"aba_ns": lasting(pinocchio.aba), "call_ns": lasting(lambda *given: None)}


def apart(limit: float, *asked: Any) -> Any:
    """What a process of its own prints for a question; None where it takes longer than the limit [s]."""
    with tempfile.TemporaryDirectory() as cache:
        env = {**os.environ, "ARMSIM_CACHE_DIR": cache, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, __file__, "--ask", json.dumps(asked)]
        try:
            return json.loads(subprocess.run(command, env=env, timeout=limit, capture_output=True, check=True).stdout)
        except subprocess.TimeoutExpired:
            return None


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--joints", type=int, nargs="*", default=COUNTS)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a case may take")
    parser.add_argument("--ask", help="(of its own processes)")
    given = parser.parse_args()
    if given.ask:
        what, *rest = json.loads(given.ask)
        print(json.dumps({"case": case, "first": first_answers, "peer": peer}[what](*rest)))
        return
    print(f"{'':33} {'code s':>7} {'advice s':>8} {'ns a step':>10} {'operations':>10} {'bytes':>9}")
    for kind in ("chain", "tree"):
        for count in given.joints:
            for method in given.methods:
                found = apart(given.limit, "case", count, kind, method)
                name = f"{kind} of {count:2} {method:20}"
                if found is None:
                    print(f"{name:33} more than {given.limit:g} s")
                    continue
                times = f"{found['code_s']:7.2f} {found['advice_s']:8.2f} {found['ns']:10.0f}"
                print(f"{name:33} {times} {found['operations']:10} {found['bytes']:9}", flush=True)
            first = apart(given.limit, "first", count, kind)
            print(
                f"{'':4} first answers: {first and ', '.join(f'{k} {x:.2f} s' for k, x in first.items())}", flush=True
            )
            aba = apart(given.limit, "peer", count, kind)
            print(f"{'':4} Pinocchio's ABA: {aba['aba_ns']:.0f} ns in a call, less {aba['call_ns']:.0f} for the call")


if __name__ == "__main__":
    main()
