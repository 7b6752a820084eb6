"""Errors of armsim's adaptive methods over random scenarios, against those of scipy's methods with exact events.

python -m tests.surveys.adaptive --cases 200
python -m tests.surveys.adaptive --cases 20 --families "damped stops" "speed limit" --rtols 1e-3 1e-6
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

import armsim
from armsim.loading import read_scenario

from .cases import FAMILIES, Case, case
from .reference import SOLVERS, Motion, predictable, solve, truth

YARDSTICKS = {
    "rk54": ("DOP853", "RK45"),
    "rodas": ("DOP853", "Radau"),
}  # the larger error of the two, less a matter of luck
RTOLS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
SPAWN = multiprocessing.get_context("spawn")
ALLOWED = 5.0  # times the yardstick's error
ALIKE = 0.2  # of rtol: smaller errors are alike, and one within rtol is never held against a method
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
        least = max(ALIKE * self.rtol, ROUNDING)
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


class Patience:
    """Calls in a process of their own, which is ended when one takes too long."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.pool = seconds, SPAWN.Pool(1)

    def error(self, *args: Any) -> float:
        """`error`, infinite if it takes too long."""
        try:
            return self.pool.apply_async(error, args).get(self.seconds)
        except multiprocessing.TimeoutError:
            self.pool.terminate()
            self.pool = SPAWN.Pool(1)
            return inf


def findings(case: Case, folder: Path, rtols: Sequence[float], error: Callable[..., float] = error) -> list[Finding]:
    """A case by methods and tolerances; none if its perturbations grow too much for errors to say anything."""
    if not predictable(case):
        return []
    true, found = truth(case), []
    for rtol in rtols:
        scipy = {name: off(solve(case, rtol, name).states[-1], true) for name in SOLVERS}
        for method, names in YARDSTICKS.items():
            yardstick = max(scipy[name] for name in names)
            found.append(Finding(case, method, rtol, error(case, method, rtol, true, folder), yardstick))
    return found


HEAD = f"{'family':22}{'method':8}{'cases':>6}{'left out':>9}{'median':>8}{'worst':>9}{'above 5':>8}{'error/rtol':>11}  worst is"


def table(families: Iterable[str], seeds: Sequence[int], rtols: Sequence[float], patience: Patience) -> None:
    """Print median and worst ratios by family and method, as each family is done."""
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            made = [findings(case(family, seed), Path(folder), rtols, patience.error) for seed in seeds]
            kept = [some for some in made if some]
            for method in YARDSTICKS if kept else ():
                of = [finding for some in kept for finding in some if finding.method == method]
                print(f"{family:22}{method:8}{len(kept):6}{len(made) - len(kept):9}{line(of)}", flush=True)


def line(of: Sequence[Finding]) -> str:
    """What some findings come to: ratios, how many are above what is allowed, and where the worst is."""
    ratios = [finding.ratio for finding in of]
    worst = of[int(np.argmax(ratios))]
    above = sum(ratio > ALLOWED for ratio in ratios)
    share = max(finding.error / finding.rtol for finding in of)
    counted = f"{np.median(ratios):8.2f}{worst.ratio:9.3g}{above:8}{share:11.3g}"
    return f"{counted}  seed {worst.case.seed} at {worst.rtol:g}"


def main() -> None:
    """The command line."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--cases", type=int, default=20, help="in all, shared among the families")
    parse.add_argument("--first", type=int, default=0, help="the first seed")
    parse.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parse.add_argument("--rtols", type=float, nargs="*", default=RTOLS)
    parse.add_argument("--patience", type=float, default=60, help="s, after which a run of armsim is given up")
    asked = parse.parse_args()
    seeds = range(asked.first, asked.first + max(1, -(-asked.cases // len(asked.families))))
    table(asked.families, seeds, asked.rtols, Patience(asked.patience))


if __name__ == "__main__":
    main()
