"""Plants in machine code: hundreds of steps take a hundredth of the time of floats, and have the same bits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from armsim.compile import BatchKernel
from armsim.expr import trace
from armsim.plant import Plant


def compiled(body: Callable[..., Iterable[Any]], names: Sequence[str]) -> Callable[..., list[float]]:
    """A function of as many scalars as there are names, in machine code."""
    function = trace(body, names)
    kernel = BatchKernel(function, lanes=1)
    given, found = np.empty((1, len(names))), np.empty((1, len(function.outputs)))

    def call(*values: float) -> list[float]:
        given[0] = values
        kernel([(given.ctypes.data, given.strides[0])], found.ctypes.data, 1)
        return found[0].tolist()

    return call


def compiled_step(plant: Plant, dt: float) -> Callable[[float, Sequence[float]], list[float]]:
    """`plant.step`, of a time and a state, for steps of that length."""
    step = compiled(lambda t, *state: plant.step(t, state, dt), ["t", *plant.slots])
    return lambda t, state: step(t, *state)
