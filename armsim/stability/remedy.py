"""The steps and methods that would have been stable where a run began to diverge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armsim.compile import evaluated
from armsim.formulas.formula import FormulaError
from armsim.integrate import METHODS
from armsim.plant import Linearizer, Plant
from armsim.stability.advice import is_judged
from armsim.stability.departure import Remedy
from armsim.stability.step_modes import LinearPlant, largest_stable_step

LOOKS = 8  # states that are linearised, about
FAR = 0.1  # rad or m in a step: for a faster joint the linearisation does not hold


@np.errstate(all="ignore")  # of steps far too long, powers overflow
def remedy(plant: Plant, dt: float, states: Sequence[tuple[float, Sequence[float]]]) -> Remedy | None:
    """The remedy at the first state where the run's step is unstable.

    A stop is linearised as it is at that state, engaged or not.

    Args:
        plant: What diverged.
        dt: Its step [s].
        states: Times [s] and states of the plant, in order; about `LOOKS` of them are linearised.

    Returns:
        None where the step is stable at all of them, or no advice applies (`is_judged`), nor to an adaptive method.
    """
    if plant.integrator.adaptive is not None or not is_judged(plant):
        return None
    linearizer = Linearizer(plant, evaluated)
    n = plant.arm.mechanism.n
    calm = [found for found in states if dt * max(map(abs, found[1][n : 2 * n])) <= FAR]
    for t, state in [*calm[:: max(1, len(calm) // LOOKS)], *calm[-1:]]:
        try:
            small = LinearPlant(linearizer.at(t, state))
            if not np.isfinite(small.matrix).all():
                continue
            found = {name: small.growing(name, dt) for name, method in METHODS.items() if method.step is not None}
        except (ArithmeticError, FormulaError, np.linalg.LinAlgError):
            continue
        unstable = {name: rates for name, rates in found.items() if rates.harms.any()}
        if plant.method in unstable:
            rates = unstable[plant.method]
            _, decays, _ = rates.fastest(rates.harms)
            most = largest_stable_step(small, plant.method, decays=bool(decays))
            return Remedy(most, [name for name in METHODS if name not in unstable])
    return None
