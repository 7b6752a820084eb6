"""How well methods keep the energy of a free swing: `python benchmarks/energy_drift.py`. README.md here says more."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
from arm5_hold import line, processor

import armsim
from armsim.integrate import METHODS

SCENARIO = "two_link_swing"  # without motors and friction
ROWS_EVERY = 0.1  # s
TENTHS = 10  # into which a run is cut to see whether its energy leaves
MOVED = 0.5  # of the scatter within a tenth: a mean energy that moves further has left


@dataclass(frozen=True)
class Drift:
    """What became of the energy.

    Attributes:
        drift: Slope of its straight line, times the duration [J].
        secular: Whether the energy leaves, beyond its ups and downs; see `secular`.
        largest: Largest deviation from the energy at the start [J].
        seconds: Loop time.
    """

    drift: float
    secular: bool
    largest: float
    seconds: float


def drift(method: str, duration: float, dt: float, rtol: float) -> Drift | None:
    """Of one method; None if it diverges."""
    refined = {"dt": dt} if METHODS[method].adaptive is None else {"rtol": rtol, "atol": rtol}
    given = {"integrator": {"method": method, **refined}, "duration": duration, "log.every": ROWS_EVERY}
    run = armsim.simulate(SCENARIO, given, force_step=True)
    if run.status != "complete":
        return None
    energy = run["kinetic_energy_J"] + run["potential_energy_J"]
    return Drift(
        drift=float(np.polyfit(run.t, energy, 1)[0] * duration),
        secular=secular(energy),
        largest=float(np.abs(energy - energy[0]).max()),
        seconds=run.seconds["loop_s"],
    )


def secular(energy: np.ndarray) -> bool:
    """Whether the mean energy of the tenths of a run moves by more than the energy scatters within them.

    It need not move in a straight line, nor always one way: a swing that has gained enough to whirl about is another motion,
    from which a method may take again.
    """
    tenths = np.array_split(energy, TENTHS)
    means = [tenth.mean() for tenth in tenths]
    scatter = np.sqrt(np.mean([tenth.var() for tenth in tenths]))
    return bool(max(means) - min(means) > MOVED * scatter)


def main() -> int:
    """Print the methods, the one that keeps the energy best first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=1000.0, metavar="S", help="how long it swings [1000]")
    parser.add_argument("--dt", type=float, default=1e-3, metavar="S", help="step of the methods that take one [1e-3]")
    parser.add_argument("--rtol", type=float, default=1e-6, metavar="X", help="tolerance of those that take one [1e-6]")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        os.environ["ARMSIM_CACHE_DIR"] = made
        os.environ.setdefault("ARMSIM_OPTIMISATION", "1")  # as long runs have it
        found = {name: drift(name, asked.duration, asked.dt, asked.rtol) for name in METHODS}
    print(f"{SCENARIO} for {asked.duration:g} s, steps of {asked.dt:g} s or rtol {asked.rtol:g}, on {processor()}")
    print()
    line("method", "drift, J", "secular", "largest, J", "ms")
    for name, kept in sorted(found.items(), key=lambda item: np.inf if item[1] is None else abs(item[1].drift)):
        if kept is None:
            line(f"  {name}", "diverges")
            continue
        secular = "yes" if kept.secular else "no"
        line(f"  {name}", f"{kept.drift:.2e}", secular, f"{kept.largest:.2e}", f"{1e3 * kept.seconds:.3g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
