"""Reference values for test programs: the exported functions, as traced, on Python's floats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from armsim.exporting.interface import Argument, Case, Entry, Model
from armsim.expr import divided, replay
from armsim.expr.replay import OPERATIONS

IEEE = {**OPERATIONS, "div": divided}
STEPS = 2  # of a scenario, or of a forward model
TRIALS = 2  # of a question
Numbers = tuple[float, ...]


def with_cases(model: Model) -> Model:
    """The model with calls of all its functions, whose results the machine code has to the bit."""
    cases: list[Case] = []
    states: list[Numbers] = []
    for entry in model.entries:
        if any(argument.name == "state" for argument in entry.arguments):
            cases += _walked(model, entry, states)
        else:
            cases += [called(model, entry, [_given(a, trial) for a in entry.arguments]) for trial in range(TRIALS)]
        if entry.name == "begin":
            states.append(cases[-1].found)
    sound = [case for case in cases if not any(map(math.isnan, case.found))]
    return replace(model, cases=tuple(sound))


def _walked(model: Model, entry: Entry, states: list[Numbers]) -> list[Case]:
    """Calls at states that follow from each other, and at a sample of an arm that is elsewhere; `states` takes the former."""
    found = []
    stepping = entry.result.name == "next"
    every = (None if model.clock is None else model.clock.sample_every) or 1
    for k in (*range(STEPS), STEPS * every):
        state = states[k] if k < len(states) else states[-1] if k < STEPS else _elsewhere(entry, states[0])
        given = [
            state if a.name == "state" else (float(k),) if a.kind == "clock" else _given(a, k) for a in entry.arguments
        ]
        found.append(called(model, entry, given))
        if stepping and k < STEPS:
            states.append(found[-1].found)
    return found


def _elsewhere(entry: Entry, state: Numbers) -> Numbers:
    """A state with other joint positions and velocities: no whole number of an encoder's counts, and not at rest."""
    items = next(argument.items for argument in entry.arguments if argument.name == "state")
    moved = [item.name.startswith(("q_", "qd_")) for item in items]
    return tuple(x + ((7 * i + 3) % 11 - 5) / 8 if move else x for i, (x, move) in enumerate(zip(state, moved)))


def called(model: Model, entry: Entry, given: Sequence[Numbers]) -> Case:
    """A call with its result."""
    flat: list[Any] = []
    for argument, numbers in zip(entry.arguments, given, strict=True):
        if argument.kind == "clock":
            assert model.clock is not None
            k = int(numbers[0])
            flat += model.clock.at(k), float(model.clock.samples_at(k))
        else:
            flat += numbers
    found = replay(entry.function, flat, IEEE)
    return Case(entry, tuple(given), tuple(float(x) for x in found))


def _given(argument: Argument, trial: int) -> Numbers:
    """Numbers for an argument: those of the file for open ones, else some within a joint's range of motion."""
    if argument.kind == "numbers":
        return tuple(item.value for item in argument.items)
    return tuple(((7 * i + 5 * trial + 3) % 11 - 5) / 8 for i, _ in enumerate(argument.items))
