"""Single steps in machine code, called from Python.

Closures, as attribute lookups show in a step of some microseconds. Each has a pool of buffers for arguments and results, one for
each concurrent thread. They take plain arrays, whose memory views accept aligned doubles of the right shape only; `other` makes
such arrays of the rest (masked arrays, say, are buffers too, but not without their mask).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from armsim.arrays import Array, ArrayLike
from armsim.recording.open_values import OpenValues

PLAIN = frozenset([np.ndarray, array, memoryview])
Call = Callable[[int, int], int]  # of `armsim.compile.single.SingleKernel`
Refused = Callable[..., Exception | None]  # from a slot out of bounds, its number, the state before and the inputs
Room = tuple[memoryview, memoryview, Array, int, int]  # state, inputs, results, addresses of arguments and results


class StepKernel(NamedTuple):
    """A compiled step.

    Attributes:
        call: Carries it out.
        size: Numbers in a state.
        n: Inputs.
        results: Numbers in the result: the state, and what follows it.
        other: The step from arguments that are not buffers of doubles, or have several rows.
        refused: What is raised of a result out of bounds; None for nothing.
    """

    call: Call
    size: int
    n: int
    results: int
    other: Callable[..., Array]
    refused: Refused


def _plain(values: ArrayLike) -> Any:
    """The array itself, if it is a plain one; raises TypeError otherwise."""
    if type(values) not in PLAIN:
        raise TypeError
    return values


def plain_step(kernel: StepKernel) -> Callable[..., Array]:
    """The step of an arm as a function of its state and inputs."""
    call, size, n, count, other, refused = kernel
    rooms: list[Room] = []

    def room() -> Room:
        arguments, results = np.zeros(size + n), np.zeros(count)
        addresses = arguments.ctypes.data, results.ctypes.data
        # mypy does not know that arrays are buffers
        return memoryview(arguments[:size]), memoryview(arguments[size:]), results, *addresses  # type: ignore[arg-type]

    def once(
        state: ArrayLike, inputs: ArrayLike, values: ArrayLike | None = None, wrench: ArrayLike | None = None
    ) -> Array:
        try:
            own = rooms.pop()
        except IndexError:
            own = room()
        state_in, inputs_in, results, arguments_at, results_at = own
        try:
            if type(state) not in PLAIN or type(inputs) not in PLAIN or values is not None or wrench is not None:
                raise TypeError
            state_in[:] = state  # type: ignore[assignment]  # what is no buffer of doubles of that shape raises
            inputs_in[:] = inputs  # type: ignore[assignment]  # likewise
        except (TypeError, ValueError, OverflowError):
            rooms.append(own)
            return other(state, inputs, values, wrench)
        bad = call(arguments_at, results_at)
        after: Array = results.copy()
        error = refused(bad, after[bad], list(state_in), list(inputs_in)) if bad >= 0 else None
        rooms.append(own)
        if error is not None:
            raise error
        return after

    return once


def open_step(kernel: StepKernel, loads: int, numbers: OpenValues | None) -> Callable[..., Array]:
    """The step as a function of values of open numbers as well, the file's unless given, and of wrenches, zero unless given."""
    call, size, n, count, other, refused = kernel
    rooms: list[tuple[Any, ...]] = []
    known = set() if numbers is None else numbers.known
    written = np.array([] if numbers is None else numbers.robot.written)
    p, shape, nothing = len(written), (loads, 6), np.zeros((loads, 6))

    def room() -> tuple[Any, ...]:
        arguments, results = np.zeros(size + n + p + 6 * loads), np.zeros(count)
        parts = np.split(arguments, np.cumsum([size, n, p]))
        # mypy does not know that arrays are buffers
        views = *(memoryview(part) for part in parts[:3]), parts[3].reshape(shape)  # type: ignore[arg-type]
        return *views, results, arguments.ctypes.data, results.ctypes.data

    def once(
        state: ArrayLike, inputs: ArrayLike, values: ArrayLike | None = None, wrench: ArrayLike | None = None
    ) -> Array:
        try:
            own = rooms.pop()
        except IndexError:
            own = room()
        state_in, inputs_in, values_in, wrench_in, results, arguments_at, results_at = own
        try:
            state_in[:] = _plain(state)
            inputs_in[:] = _plain(inputs)
            values_in[:] = written if values is None else _plain(values)
            if loads or wrench is not None:
                given = nothing if wrench is None else wrench
                if type(given) is not np.ndarray or given.shape != shape or given.dtype != float:
                    raise TypeError
                wrench_in[:] = given
        except (TypeError, ValueError, OverflowError):
            rooms.append(own)
            return other(state, inputs, values, wrench)
        if numbers is not None and (key := values_in.tobytes()) not in known:
            numbers.admit_one(key)
        bad = call(arguments_at, results_at)
        after: Array = results.copy()
        error = refused(bad, after[bad], list(state_in), list(inputs_in)) if bad >= 0 else None
        rooms.append(own)
        if error is not None:
            raise error
        return after

    return once
