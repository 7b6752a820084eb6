"""From a scenario to what is simulated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armsim.actuation import any_sticks
from armsim.dynamechs import DynaMechsPlant, emulates
from armsim.dynamics import fewest_operations
from armsim.dynamics.forward import Algorithm
from armsim.plant import Plant

if TYPE_CHECKING:
    from armsim.run.state_vector import Driven
    from armsim.spec import Scenario


def make_plant(scenario: Scenario | Driven) -> Plant:
    """The plant of a scenario, with the algorithm that its motors and friction ask for, else that of fewest operations."""
    arm = scenario.arm
    parts = (arm, scenario.command, scenario.external, scenario.method)
    if emulates(arm):
        return DynaMechsPlant(*parts, algorithm="aba")
    algorithm: Algorithm = "crba" if any_sticks(arm) else fewest_operations(arm)
    return Plant(*parts, algorithm, scenario.tolerance)
