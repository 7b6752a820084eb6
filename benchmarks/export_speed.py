"""Forward dynamics of arm5: exported C, C that CasADi generates from the same text, and Pinocchio's ABA in C++.

    python benchmarks/export_speed.py [--derivatives]

With --derivatives a step of semi-implicit Euler under torques and its derivatives by state and torques, beside those of
Pinocchio's ABA in C++ and of Crocoddyl's integrated action model, 100 of them in its own loop; and both in lanes. Mark: the
derivatives at most 6 times the time of the step.

Each is compiled by the system's compiler with -O3 -march=native into a library that calls it in a loop, with another angle every
time; Pinocchio's algorithm is the one that its wheel has compiled. Peers that are not there are skipped, with the line that
installs them.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from peers import link_frames, pinocchio_model
from timing import in_turns, process, ratio

import armsim
from armsim.loading import read_robot
from armsim.model import Arm

DT = 1e-3  # s
CALLS = 10_000  # a round: two milliseconds, within the time that a busy machine leaves a program alone
FAST = ["-O3", "-march=native", "-fPIC", "-shared"]
STATE = {"q": [0.1, -0.4, 0.2, 0.3, -0.2], "qd": [0.3, -0.2, 0.4, 0.1, -0.5], "tau": [1.0, -8.0, -3.0, 0.2, 0.1]}
LOOP = """
#ifdef __cplusplus
extern "C"
#endif
void calls(long n, double *q, double *qd, double *tau, double *qdd)
{
    for (long i = 0; i < n; i++) {
        q[1] = -0.4 + 1e-6 * (double)(i % 1000);
        CALL
    }
}
"""
EXPORTED = '#include "arm5.h"\n' + LOOP.replace("CALL", "arm5_fd(q, qd, tau, qdd);")
GENERATED = """
int fd(const double **arg, double **res, long long int *iw, double *w, int mem);
""" + LOOP.replace(
    "CALL",
    "const double *arg[3] = {q, qd, tau}; double *res[1] = {qdd}; double w[2000]; long long iw[1]; fd(arg, res, iw, w, 0);",
)
STATE_OF = "static double x[18]; for (int j = 0; j < 5; j++) { x[j] = q[j]; x[5 + j] = qd[j]; } "
STEP = '#include "arm5.h"\n' + LOOP.replace(
    "CALL",
    STATE_OF + "static double y[18]; arm5_step(x, tau, y); for (int j = 0; j < 5; j++) qdd[j] = y[5 + j];",
)
DERIVATIVES = '#include "arm5.h"\n' + LOOP.replace(
    "CALL",
    STATE_OF
    + "static double y[168]; arm5_derivatives(x, tau, y); for (int j = 0; j < 5; j++) qdd[j] = y[18 + 10 * (5 + j) + 1];",
)
PINOCCHIO = """
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
using namespace pinocchio;
static Model made()
{
    Model model;
    model.gravity.linear() = Eigen::Vector3d(GRAVITY);
    JointIndex parent = 0;
    Eigen::Matrix3d R, J;
JOINTS    return model;
}
static Model model = made();
static Data data(model);
""" + LOOP.replace(
    "CALL",
    "static Eigen::VectorXd x(5), v(5), f(5); for (int j = 0; j < 5; j++) { x[j] = q[j]; v[j] = qd[j]; f[j] = tau[j]; }"
    " ALGORITHM(model, data, x, v, f); for (int j = 0; j < 5; j++) qdd[j] = RESULT;",
)
JOINT = """\
    R << ROTATION;
    J << TENSOR;
    parent = model.addJoint(parent, JointModelRZ(), SE3(R, Eigen::Vector3d(PLACE)), "NAME");
    model.appendBodyToJoint(parent, Inertia(MASS, Eigen::Vector3d(CENTRE), J), SE3::Identity());
"""
READY = [
    "-O3",
    "-fPIC",
    "-shared",
    "-DNDEBUG",
    "-std=c++17",
    "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
]  # its own build
BOOST = [
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
]  # Pinocchio has 25 kinds of joints
Calls = Callable[[int], list[float]]


def loaded(library: Path) -> Calls:
    """The accelerations after so many calls of a library."""
    function = ctypes.CDLL(str(library)).calls

    def calls(n: int) -> list[float]:
        q, qd, tau = (np.array(values) for values in STATE.values())
        qdd = np.zeros(len(q))
        function(ctypes.c_long(n), *(ctypes.c_void_p(x.ctypes.data) for x in (q, qd, tau, qdd)))
        return qdd.tolist()

    return calls


def exported(folder: Path, compiler: str, what: str = "fd", text: str = EXPORTED, **options: Any) -> Calls:
    """A function of exported C."""
    armsim.export("arm5", "c", folder, [what], fma="hardware", force=True, **options)
    (folder / "loop.c").write_text(text)
    library = folder / f"{compiler}-{what}.so"
    flags = [*FAST, "-std=c99", "-ffp-contract=off", "-fno-math-errno"]
    process([compiler, *flags, "arm5.c", "loop.c", "-o", str(library), "-lm"], cwd=folder)
    return loaded(library)


def generated(folder: Path) -> Calls:
    """C that CasADi generates."""
    armsim.export("arm5", "casadi", folder, ["fd"])
    sys.path.insert(0, str(folder))
    import casadi

    code = casadi.CodeGenerator("fd.c")
    code.add(import_module("arm5").fd())
    code.generate(f"{folder}/")
    (folder / "loop.c").write_text(GENERATED)
    process(["gcc", *FAST, "-fno-math-errno", "fd.c", "loop.c", "-o", "fd.so", "-lm"], cwd=folder)
    return loaded(folder / "fd.so")


def pinocchio(folder: Path, arm: Arm, algorithm: str = "aba", result: str = "data.ddq[j]") -> Calls:
    """Pinocchio's articulated-body algorithm in C++, or its derivatives, built from the arm's own numbers."""

    def text(numbers: Sequence[float]) -> str:
        return ", ".join(repr(float(x)) for x in numbers)

    joints = ""
    for joint, frame, inertia in zip(arm.joints, link_frames(arm), arm.inertias, strict=True):
        words = {
            "ROTATION": text([x for row in frame.rotation for x in row]),
            "TENSOR": text([x for row in inertia.tensor_about_com().rows() for x in row]),
            "PLACE": text([*frame.position]),
            "CENTRE": text([*inertia.com()]),
            "MASS": text([inertia.mass]),
            "NAME": joint.name,
        }
        filled = JOINT
        for word, value in words.items():
            filled = filled.replace(word, value)
        joints += filled
    whole = PINOCCHIO.replace("ALGORITHM", algorithm).replace("RESULT", result)
    (folder / "aba.cpp").write_text(whole.replace("GRAVITY", text([*arm.gravity])).replace("JOINTS", joints))
    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
    found = [f"-I{prefix}/include", "-I/usr/include/eigen3", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
    process(["g++", *READY, *BOOST, *found, "aba.cpp", "-o", "aba.so", "-lpinocchio_default"], cwd=folder)
    return loaded(folder / "aba.so")


def crocoddyl(arm: Arm) -> Calls:
    """Crocoddyl's integrated action model with its derivatives, of as many states in its own loop."""
    import crocoddyl as croc

    q, qd, tau = (np.array(values) for values in STATE.values())
    state = croc.StateMultibody(pinocchio_model(arm))
    free = croc.DifferentialActionModelFreeFwdDynamics(
        state, croc.ActuationModelFull(state), croc.CostModelSum(state, arm.n)
    )
    stages, torques = CALLS // 100, [tau] * (CALLS // 100)
    stage, last = (croc.IntegratedActionModelEuler(free, dt) for dt in (DT, 0.0))
    problem = croc.ShootingProblem(np.zeros(2 * arm.n), [stage] * stages, last)
    problem.nthreads = 1
    states = [np.concatenate([q + [0, 1e-6 * (i % 1000), 0, 0, 0], qd]) for i in range(stages + 1)]

    def calls(n: int) -> list[float]:
        problem.calc(states, torques)
        problem.calcDiff(states, torques)
        return problem.runningDatas[n % stages - 1].Fx[5:, 1].tolist()

    return calls


def lanes(step: bool) -> Calls:
    """Steps of `ForwardModel` in lanes, or their derivatives, on one thread."""
    model = armsim.ForwardModel("arm5", DT, output="torque", threads=1)
    q, qd, tau = (np.tile(values, (CALLS // 10, 1)) for values in STATE.values())
    q[:, 1] += 1e-6 * (np.arange(len(q)) % 1000)
    states = model.state(q, qd)

    def calls(n: int) -> list[float]:
        if step:
            return model.step(states, tau)[n % len(q) - 1, 5:10].tolist()
        return model.derivatives(states, tau)[1][n % len(q) - 1, 5:, 1].tolist()

    return calls


def main() -> None:
    """Build what there is, compare the answers, time them in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    parser.add_argument("--derivatives", action="store_true", help="of a step, in place of forward dynamics")
    asked = parser.parse_args()
    rounds, arm = asked.rounds, read_robot("arm5")[0]
    tasks: dict[str, Calls] = {}
    with tempfile.TemporaryDirectory(prefix="armsim-export-") as name:
        folders = [Path(name) / part for part in ("c", "casadi", "pinocchio")]
        for folder in folders:
            folder.mkdir()
        peers: dict[str, tuple[str, str, Callable[[], Calls]]] = {}
        pin = "pip install pin, apt install libeigen3-dev"
        if asked.derivatives:
            for what, text in (("step", STEP), ("derivatives", DERIVATIVES)):
                tasks[f"{what}, exported C, gcc"] = exported(folders[0], "gcc", what, text, dt=DT, inputs="torque")
                tasks[f"{what}, in lanes"] = lanes(what == "step")
            found = "computeABADerivatives", f"{DT} * data.ddq_dq(j, 1)"
            peers["derivatives, Pinocchio's aba"] = "pinocchio", pin, lambda: pinocchio(folders[2], arm, *found)
            peers["derivatives, Crocoddyl"] = "crocoddyl", "pip install crocoddyl", lambda: crocoddyl(arm)
        else:
            for compiler in filter(shutil.which, ("gcc", "clang")):
                tasks[f"exported C, {compiler}"] = exported(folders[0], compiler)
            peers["C by CasADi, gcc"] = "casadi", "pip install casadi", lambda: generated(folders[1])
            peers["Pinocchio's aba, g++"] = "pinocchio", pin, lambda: pinocchio(folders[2], arm)
        for peer, (module, install, make) in peers.items():
            try:
                if find_spec(module) is None:
                    raise RuntimeError(f"it is not installed ({install})")
                tasks[peer] = make()
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                print(f"{peer}: skipped, {str(error)[:300]}")
        base = next(iter(tasks))
        answers = {peer: np.array(task(1)) for peer, task in tasks.items()}
        for peer, answer in answers.items():
            like = next(other for other in answers if other[:4] == peer[:4] or not asked.derivatives)
            difference = np.abs(answer / answers[like] - 1).max()
            if difference > 1e-9:
                sys.exit(f"{peer} differs by {difference:.1e}")
        calls = {peer: CALLS // 10 if asked.derivatives or peer.startswith("Pinocchio") else CALLS for peer in tasks}
        if "derivatives, Crocoddyl" in calls:
            calls["derivatives, Crocoddyl"] = CALLS // 100
        took = in_turns({peer: lambda peer=peer: tasks[peer](calls[peer]) for peer in tasks}, rounds)
        times = {peer: [x / calls[peer] for x in seconds] for peer, seconds in took.items()}
        print(f"{'arm5':29} {'least':>9} {'median':>9} {'ratio':>7}")
        for peer, seconds in times.items():
            least, middle = (f"{1e9 * x:.1f} ns" for x in (min(seconds), median(seconds)))
            print(f"{peer:29} {least:>9} {middle:>9} {ratio(seconds, times[base]):7.2f}")


if __name__ == "__main__":
    main()
