"""Which steps would have been stable where a run began to diverge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from armsim.integrate import METHODS
from armsim.linear import Linearizer
from armsim.plant import Plant
from armsim.run.advice import chooses_steps
from armsim.run.stability import LinearPlant, largest_stable_step
from armsim.spec.formula import FormulaError

LOOKS = 8  # states, at most
FAR = 0.1  # rad or m in a step: of a joint that moves so fast small motions tell nothing


def remedy(plant: Plant, dt: float, states: Iterable[tuple[float, Sequence[float]]]) -> dict[str, Any] | None:
    """The largest stable step, "dt" [s], and the "methods" that take this one, at the first state where it is unstable.

    Stops are taken as they are met there.

    Args:
        plant: What diverged.
        dt: Its step [s].
        states: Times and states of the plant to look at, one after the other.

    Returns:
        None where the step is stable at all of them, or does not matter.
    """
    if chooses_steps(plant):
        return None
    linearizer = Linearizer(plant)
    n = plant.arm.n
    for t, state in states:
        if dt * max(map(abs, state[n : 2 * n])) > FAR:
            break
        try:
            small = LinearPlant(linearizer.at(t, state))
            stable = {name: METHODS[name].adaptive is not None or _holds(small, name, dt) for name in METHODS}
        except (ArithmeticError, FormulaError, np.linalg.LinAlgError):
            continue
        if not stable[plant.method]:
            most = largest_stable_step(small, plant.method)
            return {"dt": most, "methods": [name for name, takes in stable.items() if takes]}
    return None


def _holds(small: LinearPlant, method: str, dt: float) -> bool:
    return all(spoiled.is_swing for spoiled in small.spoiled(method, dt))
