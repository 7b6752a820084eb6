"""Control by a Python function: traced where it can be, else called at every sample, between which machine code goes on."""

from __future__ import annotations

from dataclasses import replace

from armsim.control import Controller, FunctionLaw, LawFunction
from armsim.errors import UsageError
from armsim.loading import Scenario
from armsim.plant import Plant


def under_function(scenario: Scenario, function: LawFunction) -> Scenario:
    """The scenario, whose law is `python`, with its function.

    Raises:
        UsageError: Its law is another, or the function is none.
    """
    if not callable(function):
        raise UsageError.of("law", "a Python function", repr(function), "write for example `law=my_law`")
    command = scenario.command
    if not isinstance(command, Controller) or not isinstance(command.law, FunctionLaw):
        found = command.law.name if isinstance(command, Controller) else "no feedback"
        raise UsageError.of(
            "law", "a scenario with `control: {law: python, output: ...}`", found, "write `law: python`"
        )
    return replace(scenario, command=replace(command, law=replace(command.law, function=function)))


def law_of(plant: Plant) -> FunctionLaw | None:
    """A plant's law where it is a Python function."""
    law = getattr(plant.command, "law", None)
    return law if isinstance(law, FunctionLaw) else None


def is_called(plant: Plant) -> bool:
    """Whether a plant's law is a function that cannot be traced.

    Raises:
        UsageError: It is one, and the control is continuous; or the function does not repeat its answers.
    """
    law = law_of(plant)
    if law is None or law.traceable:
        return False
    if plant.sampled:
        return True
    found = "continuous control by a function that branches on numbers, or calls what takes numbers alone"
    mend = "set `control.period`; or write it with armsim.expr's where, clip, sin, ..., so that it can be traced"
    raise UsageError.of("control.period", "a sample time, at which the function is called", found, mend)
