"""The estimated error of runs by fixed steps over random scenarios with events, against the true error.

python -m tests.surveys.estimates --cases 5
python -m tests.surveys.estimates --cases 20 --families "gear losses" friction --methods velocity_verlet
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import armsim
from armsim.integrate import METHODS

from .advice import TIGHT, share
from .cases import FAMILIES, Case, case

FIXED = [name for name, method in METHODS.items() if method.step is not None]
STEPS = (0.01, 0.005, 0.002)  # s
INSTANTS = 24  # at which states are compared, the estimate's own
ALLOWED = 3.0  # times the estimate, or the estimate times the error
KNOWN = 10.0  # times what the truth is known to: smaller errors say nothing
ROUNDING = 1e-9  # of the motion


@dataclass(frozen=True)
class Finding:
    """A run's estimated error against the true one.

    Attributes:
        case: Its scenario.
        method: Of the run.
        dt: Its step [s].
        true: Largest error of a joint's position over its motion, at the instants of the estimate.
        estimate: What is said of it.
        at_least: Whether it is said to be a lower bound.
    """

    case: Case
    method: str
    dt: float
    true: float
    estimate: float
    at_least: bool

    @property
    def ratio(self) -> float:
        """The true error over the estimate."""
        return self.true / self.estimate if self.estimate else math.inf

    @property
    def holds(self) -> bool:
        """Whether the error is within `ALLOWED` of the estimate; above it if that is said."""
        return self.ratio >= 1 / ALLOWED and (self.at_least or self.ratio <= ALLOWED)


def findings(
    of: Case, folder: Path, methods: Sequence[str] = tuple(FIXED), steps: Sequence[float] = STEPS
) -> Iterator[Finding]:
    """A case by methods and steps; none where two tight adaptive runs do not agree well enough."""
    every = of.scenario["duration"] / INSTANTS
    tight = [
        armsim.simulate(of.written(folder, {"method": name, **TIGHT}, every), force_step=True)
        for name in ("rodas", "rk54")
    ]
    if any(run.status != "complete" for run in tight):
        return
    true, doubt = tight[0].q, share(tight[1].q, tight[0].q)
    for method in methods:
        for dt in steps:
            run = armsim.simulate(of.written(folder, {"method": method, "dt": dt}, every), force_step=True)
            found = run.step_error
            if found is None:
                continue  # it diverged
            off = share(run.q, true)
            if off > max(KNOWN * doubt, ROUNDING):
                yield Finding(of, method, dt, off, found.share, found.at_least)


def table(families: Sequence[str], seeds: Sequence[int], methods: Sequence[str]) -> int:
    """Print ratios by method, and all that do not hold; how many these are."""
    found: list[Finding] = []
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            for seed in seeds:
                new = list(findings(case(family, seed), Path(folder), methods))
                found += new
                for one in new:
                    if not one.holds:
                        line = f"{family} {seed} {one.method} {one.dt}: {one.true:.3g}, estimated {one.estimate:.3g}"
                        print(f"{line}{' at least' * one.at_least}", flush=True)
    print(f"{'method':22}{'runs':>6}{'at least':>10}{'median':>8}{'smallest':>10}{'largest':>9}{'beyond 3':>10}")
    for method in methods:
        of = [one for one in found if one.method == method]
        if not of:
            continue
        stated = [one.ratio for one in of if not one.at_least] or [math.nan]
        least = sum(one.at_least for one in of)
        ratios = f"{np.median(stated):8.2f}{min(stated):10.2f}{max(stated):9.2f}"
        print(f"{method:22}{len(of):6}{least:10}{ratios}{sum(not one.holds for one in of):10}")
    return sum(not one.holds for one in found)


def main() -> None:
    """The command line."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--cases", type=int, default=5, help="of each family")
    parse.add_argument("--first", type=int, default=0, help="the first seed")
    parse.add_argument("--families", nargs="*", default=list(FAMILIES), choices=list(FAMILIES))
    parse.add_argument("--methods", nargs="*", default=FIXED, choices=FIXED)
    asked = parse.parse_args()
    seeds = range(asked.first, asked.first + asked.cases)
    raise SystemExit(1 if table(asked.families, seeds, asked.methods) else 0)


if __name__ == "__main__":
    main()
