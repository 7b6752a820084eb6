"""Which steps would have been stable where a run began to diverge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armsim.integrate import METHODS
from armsim.plant import Linearizer, Plant
from armsim.spec.formula import FormulaError
from armsim.stability.advice import chooses_steps
from armsim.stability.step_modes import LinearPlant, Spoiled, largest_stable_step

LOOKS = 8  # states that are looked at, about
FAR = 0.1  # rad or m in a step: of a joint that moves so fast small motions tell nothing


def remedy(plant: Plant, dt: float, states: Sequence[tuple[float, Sequence[float]]]) -> dict[str, Any] | None:
    """The largest stable step, "dt" [s], and the "methods" that take this one, at the first state where it is unstable.

    dt is 0 where the method takes no step.

    Stops are taken as they are met there.

    Args:
        plant: What diverged.
        dt: Its step [s].
        states: Times and states of the plant, one after the other; a few of them are looked at.

    Returns:
        None where the step is stable at all of them, or does not matter.
    """
    if chooses_steps(plant):
        return None
    linearizer = Linearizer(plant)
    n = plant.arm.n
    calm = [found for found in states if dt * max(map(abs, found[1][n : 2 * n])) <= FAR]
    for t, state in [*calm[:: max(1, len(calm) // LOOKS)], *calm[-1:]]:
        try:
            small = LinearPlant(linearizer.at(t, state))
            unstable = {name: _unstable(small, name, dt) for name, method in METHODS.items() if method.step is not None}
        except (ArithmeticError, FormulaError, np.linalg.LinAlgError):
            continue
        worst = unstable[plant.method]
        if worst is not None:
            hopeless = not worst.decays and small.feeds(plant.method)
            most = 0.0 if hopeless else largest_stable_step(small, plant.method)
            return {"dt": most, "methods": [name for name in METHODS if unstable.get(name) is None]}
    return None


def _unstable(small: LinearPlant, method: str, dt: float) -> Spoiled | None:
    """The fastest growing of the modes that a step makes grow, swings left aside."""
    return next((spoiled for spoiled in small.spoiled(method, dt) if not spoiled.is_swing), None)
