"""Errors of armsim's adaptive methods over random scenarios, against those of scipy's methods with exact events.

    python -m tests.surveys.adaptive --cases 200
    python -m tests.surveys.adaptive --cases 20 --families "damped stops" "speed limit" --rtols 1e-3 1e-6
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

import armsim
from armsim.loading import read_scenario

from .cases import FAMILIES, Case, case
from .reference import METHODS as REFERENCES
from .reference import Motion, growth, solve, truth

YARDSTICKS = {"rk54": ("DOP853", "RK45"), "rodas": ("DOP853", "Radau")}  # the larger error of the two, less a matter of luck
RTOLS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
ALLOWED = 5.0  # times the yardstick's error
PREDICTABLE = 10.0  # growth of perturbations beyond which errors say little of a method
NONE = 0.02  # of rtol: errors below it are alike
ROUNDING = 2e-12  # of truth and of runs


@dataclass(frozen=True)
class Finding:
    """A run against the truth: largest errors of joint positions and velocities at the end [rad, m; a second].

    Attributes:
        case: Its scenario.
        method: Of armsim.
        rtol: Relative tolerance, the same for both.
        error: Of armsim; infinite for a run that ended early.
        yardstick: Of scipy's methods with exact events.
    """

    case: Case
    method: str
    rtol: float
    error: float
    yardstick: float

    @property
    def ratio(self) -> float:
        """Of the errors."""
        least = max(NONE * self.rtol, ROUNDING)
        return max(self.error, least) / max(self.yardstick, least)


def error(case: Case, method: str, rtol: float, true: Motion, folder: Path) -> float:
    """The error of armsim's run at its end, one row logged."""
    run = armsim.simulate(read_scenario(case.written(folder, {"method": method, "rtol": rtol})))
    if run.status != "complete":
        return inf
    return off(np.concatenate([run.q[-1], run.qd[-1]]), true)


def off(state: np.ndarray, true: Motion) -> float:
    """How far joint positions and velocities are off at the end."""
    return float(np.abs(state[: 2 * true.n] - true.states[-1, : 2 * true.n]).max())


def findings(case: Case, folder: Path, rtols: Sequence[float], methods: Iterable[str] = YARDSTICKS) -> list[Finding]:
    """A case by methods and tolerances; none if its perturbations grow too much for errors to say anything."""
    if growth(case) > PREDICTABLE:
        return []
    true, found = truth(case), []
    for rtol in rtols:
        scipy = {name: off(solve(case, rtol, name).states[-1], true) for name in REFERENCES}
        for method in methods:
            yardstick = max(scipy[name] for name in YARDSTICKS[method])
            found.append(Finding(case, method, rtol, error(case, method, rtol, true, folder), yardstick))
    return found


def table(families: Iterable[str], seeds: Iterable[int], rtols: Sequence[float]) -> None:
    """Print worst and median ratios by family and method."""
    print(f"{'family':22}{'method':8}{'cases':>6}{'left out':>9}{'median':>8}{'worst':>9}{'over 5':>7}{'error/rtol':>12}  worst is")
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            made = [findings(case(family, seed), Path(folder), rtols) for seed in seeds]
            kept = [some for some in made if some]
            for method in YARDSTICKS:
                of = [finding for some in kept for finding in some if finding.method == method]
                if not of:
                    continue
                worst = max(of, key=lambda finding: finding.ratio)
                over = sum(finding.ratio > ALLOWED for finding in of)
                median = np.median([finding.ratio for finding in of])
                share = max(finding.error / finding.rtol for finding in of)
                head = f"{family:22}{method:8}{len(kept):6}{len(made) - len(kept):9}"
                print(f"{head}{median:8.2f}{worst.ratio:9.3g}{over:7}{share:12.3g}  seed {worst.case.seed} at {worst.rtol:g}", flush=True)


def main() -> None:
    """The command line."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--cases", type=int, default=20, help="in all, shared among the families")
    parse.add_argument("--first", type=int, default=0, help="the first seed")
    parse.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parse.add_argument("--rtols", type=float, nargs="*", default=RTOLS)
    asked = parse.parse_args()
    seeds = range(asked.first, asked.first + max(1, -(-asked.cases // len(asked.families))))
    table(asked.families, seeds, asked.rtols)


if __name__ == "__main__":
    main()
