"""Which method integrates a scenario that leaves it to armsim."""

from __future__ import annotations

from dataclasses import dataclass, replace

from armsim.dynamechs import emulates
from armsim.errors import UsageError
from armsim.spec import Scenario
from armsim.spec.scenario import AUTO


@dataclass(frozen=True)
class Choice:
    """A method, and why it was picked.

    Attributes:
        method: Name, of `armsim.integrate.METHODS`.
        why: In words that follow "picked because".
    """

    method: str
    why: str


def with_method(scenario: Scenario) -> Scenario:
    """The scenario with its method picked, and the reason in `picked`, where it leaves it open; else as it is.

    Raises:
        UsageError: No method suits it.
    """
    if scenario.method != AUTO:
        return scenario
    choice = choose(scenario)
    return replace(scenario, method=choice.method, picked=choice.why)


def choose(scenario: Scenario) -> Choice:
    """The method for a scenario that names none: one that chooses its own steps, or one for the step that is given.

    Raises:
        UsageError: DynaMechs' motors, which come with their own method, and no step for it.
    """
    given = scenario.file.data["integrator"]["dt"] is not None
    if emulates(scenario.arm):
        if not given:
            raise UsageError(
                "integrator.dt\n  expected: the step that DynaMechs took\n  found:    nothing\n"
                "  mend:     write for example `integrator: {method: explicit_euler, dt: 5e-4}`"
            )
        return Choice("explicit_euler", "DynaMechs' motor comes with it")
    if not given:
        return Choice("rk54", "no `dt` was given, and it chooses its steps")
    command = scenario.command
    if command is not None and command.output == "voltage":
        return Choice(
            "semi_implicit_euler", "motors damp the joints, and for its cost it is stable at the longest steps"
        )
    return Choice("rk4", "no motor damps the joints, and it is the most precise at a given step")
