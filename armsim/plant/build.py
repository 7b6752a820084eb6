"""The plant of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from armsim.actuation import any_sticks
from armsim.control import Command
from armsim.dynamics import ExternalWrench, fastest_algorithm
from armsim.integrate import Tolerance
from armsim.model import Arm
from armsim.plant.columns import RowExtras
from armsim.plant.dynamechs import DynaMechsPlant, emulates
from armsim.plant.plant import Plant


class Asked(Protocol):
    """What a plant is made of, as in `armsim.loading.Scenario`."""

    @property
    def arm(self) -> Arm: ...

    @property
    def command(self) -> Command | None: ...

    @property
    def external(self) -> Sequence[ExternalWrench]: ...

    @property
    def method(self) -> str: ...

    @property
    def tolerance(self) -> Tolerance: ...

    @property
    def logged(self) -> RowExtras: ...


def plant_type(arm: Arm) -> type[Plant]:
    """The class of an arm's plant, by the model of its motors.

    Raises:
        UsageError: Only some of them are emulated.
    """
    return DynaMechsPlant if emulates(arm) else Plant


def make_plant(asked: Asked) -> Plant:
    """The plant of a scenario, with the algorithm that its motors and friction require, else the faster one."""
    arm, made = asked.arm, plant_type(asked.arm)
    algorithm = "crba" if any_sticks(arm) else fastest_algorithm(arm)
    if made.step_rule is not None:
        algorithm = made.step_rule.algorithm
    return made(arm, asked.command, asked.external, asked.method, algorithm, asked.tolerance, logged=asked.logged)
