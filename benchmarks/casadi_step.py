"""The same step as C that CasADi generates from armsim's graph, compiled by the system's compiler."""

from __future__ import annotations

import ctypes
import operator
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from armsim.expr import replay
from armsim.expr.replay import OPERATIONS
from armsim.loading import Scenario
from armsim.plant import make_plant
from armsim.simulation.loop_plan import LoopPlan

LOOP = """
#include <string.h>
int arm_step(const double** arg, double** res, long long int* iw, double* w, int mem);
void run(double* x, long n, double dt) {
  double y[SIZE], t, w[WORK];
  long long int iw[WORK];
  const double* arg[ARGS] = {&t, x};
  double* res[ARGS] = {y};
  for (long k = 0; k < n; ++k) { t = k*dt; arm_step(arg, res, iw, w, 0); memcpy(x, y, sizeof y); }
}
"""


def casadi_step(scenario: Scenario) -> Callable[[int], None] | str:
    """A function that carries out so many steps of one arm; or why there is none."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if find_spec("casadi") is None:
        return "it is not installed (`pip install casadi`)"
    if compiler is None:
        return "there is no C compiler"
    import casadi

    plant = make_plant(scenario)
    n = len(plant.slots)
    body = LoopPlan(plant, scenario.dt, rows=False).body()
    t, x = casadi.SX.sym("t"), casadi.SX.sym("x", n)
    machine = {
        **OPERATIONS,
        "add": operator.add,
        "fma": lambda a, b, c: a * b + c,
        "sin": casadi.sin,
        "cos": casadi.cos,
        "sqrt": casadi.sqrt,
        "abs": casadi.fabs,
        "and": casadi.logic_and,
        "not": casadi.logic_not,
        "where": casadi.if_else,
        "lt": operator.lt,
        "le": operator.le,
    }
    after = replay(body.cycle, [t, *casadi.vertsplit(x)], machine)
    function = casadi.Function("arm_step", [t, x], [casadi.vertcat(*after[:n])])
    folder = Path(tempfile.mkdtemp(prefix="armsim-casadi-"))
    generated = casadi.CodeGenerator("step.c")
    generated.add(function)
    generated.generate(f"{folder}/")
    work = max(function.sz_w(), function.sz_iw(), 1)
    text = LOOP.replace("SIZE", str(n)).replace("WORK", str(work))
    text = text.replace("ARGS", str(max(function.sz_arg(), function.sz_res(), 2)))
    (folder / "loop.c").write_text(text)
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-o", "step.so", "step.c", "loop.c", "-lm"]
    done = subprocess.run([compiler, *flags], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"the compiler refused it: {done.stderr[:200]}"
    library = ctypes.CDLL(str(folder / "step.so"))
    start = plant.initial_state(scenario.initial_q, scenario.initial_qd)

    def run(steps: int) -> None:
        state = (ctypes.c_double * n)(*start)
        library.run(state, ctypes.c_long(steps), ctypes.c_double(scenario.dt))

    return run
