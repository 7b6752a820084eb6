"""Exported steps of many scenarios against machine code's, to the bit: pairs of features under every method.

python -m tests.surveys.exports --cases 60        # about a second each; takes gcc, and gfortran with --to fortran
"""

from __future__ import annotations

import argparse
import ctypes
import random
import sys
import tempfile
from array import array
from pathlib import Path

import yaml

import armsim
from armsim.integrate import METHODS
from tests.exporting.conftest import Steps, c_library, fortran_library
from tests.test_feature_pairs import ALONE, FEATURES, PAIRS, H, written

STEPS = 400


def survey(cases: int, seed: int, to: str) -> int:
    """Compare random cases; print those that differ, and return how many."""
    rng = random.Random(seed)
    wrong = 0
    for case in range(cases):
        pair, method = rng.choice(PAIRS), list(METHODS)[case % len(METHODS)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            content = written({**ALONE, **FEATURES[pair[0]], **FEATURES[pair[1]]}, folder, STEPS)
            content |= {"name": "pair", "integrator": {"method": method}}
            if METHODS[method].adaptive is None:
                content["integrator"]["dt"] = H
            path = folder / "pair.yaml"
            path.write_text(yaml.safe_dump(content))
            found = compared(str(path), folder / "made", to)
        wrong += bool(found)
        print(f"{'DIFFERS' if found else 'same'}  {method}: {pair[0]}, {pair[1]}  {found}", flush=True)
    print(f"{cases} cases, {wrong} differ")
    return wrong


def compared(path: str, folder: Path, to: str) -> str:
    """What is different about a scenario; empty if nothing is."""
    armsim.export(path, to, folder)
    steps = Steps.of(path)
    if to == "c":
        library = c_library(folder, "pair", "gcc", "-O1", "-march=native")
        step, observe = library.pair_step, library.pair_observe
    else:
        library = fortran_library(folder, "pair")
        step, observe = library.__getattr__("__pair_MOD_pair_step"), library.__getattr__("__pair_MOD_pair_observe")
    state = (ctypes.c_double * len(steps.start))(*steps.start)
    after = (ctypes.c_double * len(steps.start))()
    row = (ctypes.c_double * len(steps.plant.layout.columns))()
    for k in range(STEPS):
        whole = ctypes.c_int64(k) if to == "c" else ctypes.byref(ctypes.c_int64(k))
        if k % 7 == 0:
            reached = steps.reach(k)
            if not reached:
                return f"diverged at {k}"
            if bytes(state) != bytes(array("d", reached)):
                return f"state at {k}"
            observe(whole, state, row)
            if [x + 0.0 for x in row] != steps.row():
                return f"row {k}"
        step(whole, state, after)
        state[:] = after  # type: ignore[assignment]  # ctypes takes arrays
    return ""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", choices=["c", "fortran"], default="c")
    given = parser.parse_args()
    sys.exit(survey(given.cases, given.seed, given.to) > 0)
