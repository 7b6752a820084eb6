"""Forward dynamics of arm5: exported C, C that CasADi generates from the same text, and Pinocchio's ABA in C++.

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

import numpy as np
from peers import link_frames
from timing import in_turns, process, ratio

import armsim
from armsim.loading import read_robot
from armsim.model import Arm

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
PINOCCHIO = """
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
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
    " aba(model, data, x, v, f); for (int j = 0; j < 5; j++) qdd[j] = data.ddq[j];",
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


def exported(folder: Path, compiler: str) -> Calls:
    """Exported C."""
    armsim.export("arm5", "c", folder, ["fd"], fma="hardware", force=True)
    (folder / "loop.c").write_text(EXPORTED)
    library = folder / f"{compiler}.so"
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


def pinocchio(folder: Path, arm: Arm) -> Calls:
    """Pinocchio's articulated-body algorithm in C++, built from the arm's own numbers."""

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
    (folder / "aba.cpp").write_text(PINOCCHIO.replace("GRAVITY", text([*arm.gravity])).replace("JOINTS", joints))
    prefix = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix"
    found = [f"-I{prefix}/include", "-I/usr/include/eigen3", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
    process(["g++", *READY, *BOOST, *found, "aba.cpp", "-o", "aba.so", "-lpinocchio_default"], cwd=folder)
    return loaded(folder / "aba.so")


def main() -> None:
    """Build what there is, compare the answers, time them in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=400)
    rounds = parser.parse_args().rounds
    arm = read_robot("arm5")[0]
    tasks: dict[str, Calls] = {}
    with tempfile.TemporaryDirectory(prefix="armsim-export-") as name:
        folders = [Path(name) / part for part in ("c", "casadi", "pinocchio")]
        for folder in folders:
            folder.mkdir()
        for compiler in ("gcc", "clang"):
            if shutil.which(compiler):
                tasks[f"exported C, {compiler}"] = exported(folders[0], compiler)
        peers: dict[str, tuple[str, str, Callable[[], Calls]]] = {
            "C by CasADi, gcc": ("casadi", "pip install casadi", lambda: generated(folders[1])),
            "Pinocchio's aba, g++": (
                "pinocchio",
                "pip install pin, apt install libeigen3-dev",
                lambda: pinocchio(folders[2], arm),
            ),
        }
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
            difference = np.abs(answer / answers[base] - 1).max()
            if difference > 1e-9:
                sys.exit(f"{peer} differs by {difference:.1e}")
        calls = {peer: CALLS // 10 if peer.startswith("Pinocchio") else CALLS for peer in tasks}
        took = in_turns({peer: lambda peer=peer: tasks[peer](calls[peer]) for peer in tasks}, rounds)
        times = {peer: [x / calls[peer] for x in seconds] for peer, seconds in took.items()}
        print(f"{'forward dynamics of arm5':28} {'least':>9} {'median':>9} {'ratio':>7}")
        for peer, seconds in times.items():
            least, middle = (f"{1e9 * x:.1f} ns" for x in (min(seconds), median(seconds)))
            print(f"{peer:28} {least:>9} {middle:>9} {ratio(seconds, times[base]):7.2f}")


if __name__ == "__main__":
    main()
