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
WINDOWS = 10  # into which a run is cut to see whether its energy goes one way
CERTAIN = 5.0  # times the uncertainty of a slope


@dataclass(frozen=True)
class Drift:
    """What became of the energy.

    Attributes:
        drift: Slope of its straight line, times the duration [J].
        secular: Whether that line stands out from the ups and downs.
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
    means = np.array([part.mean() for part in np.array_split(energy, WINDOWS)])
    middles = (np.arange(WINDOWS) + 0.5) * duration / WINDOWS
    (slope, _), covariance = np.polyfit(middles, means, 1, cov=True)
    return Drift(
        drift=float(slope * duration),
        secular=bool(abs(slope) > CERTAIN * np.sqrt(covariance[0, 0])),
        largest=float(np.abs(energy - energy[0]).max()),
        seconds=run.seconds["loop_s"],
    )


def main() -> int:
    """Print the methods, the one that keeps the energy best first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, default=1000.0, metavar="S", help="how long it swings [1000]")
    parser.add_argument("--dt", type=float, default=1e-3, metavar="S", help="step of the methods that take one [1e-3]")
    parser.add_argument("--rtol", type=float, default=1e-6, metavar="X", help="tolerance of those that take one [1e-6]")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="armsim-benchmark-") as made:
        os.environ["ARMSIM_CACHE_DIR"] = made
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
