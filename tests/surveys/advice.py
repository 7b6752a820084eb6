"""What armsim says of random scenarios around their limits, and whether it is true: no wrong answer without a word.

python -m tests.surveys.advice --cases 200
python -m tests.surveys.advice --cases 20 --families limits "damped stops"
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import armsim
from armsim.errors import ArmsimError, UsageError

from .cases import FAMILIES, Case, case
from .limits import ROWS, integrator, limits
from .reference import predictable, truth

OFF = 0.05  # of a joint's motion: an answer farther from the truth is wrong
AGREED = 0.01  # of it: what two tight runs may differ by
SMALL = 0.1  # of the largest motion of a joint: one that moves less is compared with that
LEAST = 1e-6  # rad or m: smaller motions count as this
TIGHT = {"rtol": 1e-8, "atol": 1e-11}


@dataclass(frozen=True)
class Finding:
    """What became of a scenario.

    Attributes:
        case: The scenario.
        integrator: Its method and step.
        off: Largest error of a joint's position over its motion; infinite if the run diverged.
        refused: Whether its step is refused.
        said: What is said of the run's accuracy; of one that is refused, by force.
    """

    case: Case
    integrator: dict[str, Any]
    off: float
    refused: bool
    said: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """In three words at most; "silent wrong" and "refused right" must not be."""
        spoken = "refused" if self.refused else "said" if self.said else "silent"
        return f"{spoken} {'wrong' if self.off > OFF else 'right'}"


BAD = ("silent wrong", "refused right")


def drawn(family: str, seed: int) -> Case:
    """A case around the limits, or of a family with events."""
    return limits(seed) if family == "limits" else case(family, seed)


def finding(of: Case, folder: Path) -> Finding | None:
    """What armsim says of a case; None where no truth is known, as of a chaotic motion."""
    method, every = integrator(of), of.scenario["duration"] / ROWS
    true = reference(of, folder, every)
    if true is None:
        return None
    scenario, refused = of.written(folder, method, every), False
    try:
        run = armsim.simulate(scenario)
    except UsageError:
        refused, run = True, armsim.simulate(scenario, force_step=True)
    if run.status != "complete":
        return Finding(of, method, math.inf, refused, ("diverged",))
    summary = run.summary()
    notes = [*summary["advice"], summary["audit"]["note"], summary.get("step_error", {}).get("note")]
    return Finding(of, method, share(run.q, true), refused, tuple(note for note in notes if note))


def reference(of: Case, folder: Path, every: float) -> np.ndarray | None:
    """Joint positions every so many seconds, shape (rows, n): event-driven, or by two tight runs, if they agree."""
    if of.family in FAMILIES:
        return truth(of, [k * every for k in range(ROWS)]).q if predictable(of) else None
    tight = [{"method": method, **TIGHT} for method in ("rodas", "rk54")]
    runs = [armsim.simulate(of.written(folder, method, every), force_step=True) for method in tight]
    if any(run.status != "complete" for run in runs):
        return None
    first, second = (run.q for run in runs)
    return first if share(first, second) < AGREED else None


def share(q: np.ndarray, true: np.ndarray) -> float:
    """The largest error of a joint over its motion."""
    motion = np.ptp(true, axis=0)
    scale = np.maximum(np.maximum(motion, SMALL * motion.max()), LEAST)
    return float((np.abs(q - true) / scale).max())


def table(families: Sequence[str], seeds: Sequence[int]) -> int:
    """Print how often each verdict is met, family by family, and all that must not be; how many these are."""
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for family in families:
            of: Counter[str] = Counter()
            for seed in seeds:
                try:
                    found = finding(drawn(family, seed), Path(folder))
                except ArmsimError as error:
                    print(f"{family} {seed}: {error}")
                    continue
                verdict = "no truth" if found is None else found.verdict
                of[verdict] += 1
                if found is not None and verdict in BAD:
                    print(
                        f"{family} {seed}: {verdict}, off by {found.off:.3g}, {found.integrator}, {found.said}",
                        flush=True,
                    )
            print(
                f"{family:22} " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(of.items())), flush=True
            )
            total += of
    print(f"{'all':22} " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(total.items())))
    return sum(total[verdict] for verdict in BAD)


def main() -> None:
    """The command line."""
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("--cases", type=int, default=20, help="of each family")
    parse.add_argument("--first", type=int, default=0, help="the first seed")
    parse.add_argument("--families", nargs="*", default=["limits"], choices=["limits", *FAMILIES])
    asked = parse.parse_args()
    raise SystemExit(1 if table(asked.families, range(asked.first, asked.first + asked.cases)) else 0)


if __name__ == "__main__":
    main()
