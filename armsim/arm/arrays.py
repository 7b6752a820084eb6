"""Array arguments, and a kernel evaluated on rows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from threading import Thread

import numpy as np

from armsim.arrays import Array, ArrayLike
from armsim.compile import BatchKernel
from armsim.compile.threads import check_threads
from armsim.errors import ShapeError, UsageError
from armsim.files.nodes import quoted

LEAST = 8192  # rows worth a thread: starting one takes as long as some thousand rows
SHARE = 8  # parts of the rows for each thread: one that others hold up leaves some of its own to the rest
NUMERIC = "fiub"  # numpy's kinds of real numbers


def number_array(name: str, values: ArrayLike | None) -> Array:
    """Values as an array of aligned doubles; the same array if they are one already.

    Args:
        name: The argument's, for the message.
        values: Numbers, or lists of them.

    Raises:
        UsageError: They are None or not real numbers, the lists are ragged, or a number is masked.
    """
    if type(values) is np.ndarray and values.dtype == float and values.flags.aligned:
        return values
    rows = values if isinstance(values, (list, tuple)) else [values]
    if any(map(np.ma.is_masked, rows)):
        mend = "fill it in with values.filled(...), or take its row out"
        raise UsageError.of(name, "numbers, none of them masked", "a masked one", mend)
    try:
        array = np.asarray(values)
        if array.dtype.kind in NUMERIC:
            return np.require(array, float, "A")
        if array.dtype.kind == "O" and all(hasattr(x, "__float__") for x in array.flat):  # fractions, for example
            return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError.of(
        name,
        "real numbers, an array of them or lists of equal length",
        quoted(values),
        "give one number per joint, for example [0.0, 0.5]",
    )


def brief(array: Array) -> str:
    """A vector as its numbers to a few digits, rows of them as their shape; in one line."""
    if array.ndim == 1:
        return f"[{', '.join(f'{x:.5g}' for x in array.tolist())}]"
    return f"array of shape {array.shape}"


def row_array(name: str, values: ArrayLike | None, width: int) -> Array:
    """Values as an array of doubles of shape (width,) or (m, width); see `number_array`.

    Raises:
        UsageError: They are no numbers.
        ShapeError: The array has another shape; says both.
    """
    array = number_array(name, values)
    if array.ndim not in (1, 2) or array.shape[-1] != width:
        raise ShapeError(f"{name}: expected shape ({width},) or (m, {width}), found {array.shape}")
    return array


def row_count(name: str, arrays: Mapping[str, Array], one: bool = False) -> int | None:
    """The number of rows of the arrays that have rows; None if none has, as must be where there is only one state.

    Raises:
        ShapeError: They differ.
    """
    rows = {len(array) for array in arrays.values() if array.ndim == 2}
    if len(rows) > 1 or (one and rows):
        shapes = ", ".join(f"{key} {array.shape}" for key, array in arrays.items())
        raise ShapeError(f"{name}: expected as many rows in each array, found {shapes}")
    return rows.pop() if rows else None


def evaluate(
    kernel: BatchKernel,
    arrays: Sequence[Array],
    threads: int | None = None,
    least: int = LEAST,
    steps: int = 1,
    every: bool = False,
) -> Array:
    """A kernel's results for every row of arguments, shape (m, results); (1, results) if no array has rows.

    Rows are shared out among threads; the results do not depend on how many there are.

    Args:
        kernel: Takes as many columns from each array as its `widths` say.
        arrays: Doubles, each of shape (m, width), or (width,) for one row that all share.
        threads: How many at most; as many as there are processors unless given.
        least: Number of rows worth a thread.
        steps: Of a kernel that repeats its function, how often.
        every: Whether a row of results has those of all steps one after the other, the first array of arguments before them.
    """
    arrays = [x if x.strides[-1] == x.itemsize and x.flags.aligned else np.array(x, order="C") for x in arrays]
    count = next((len(x) for x in arrays if x.ndim == 2), 1)
    width = len(kernel.function.outputs)
    results = np.empty((count, width * (steps + 1 if every else 1)))
    begin = results.ctypes.data
    if every:
        results[:, :width] = arrays[0]
        begin += width * results.itemsize
    strides = [x.strides[0] if x.ndim == 2 else 0 for x in arrays]
    several = 1 if count < 2 * least else min(check_threads(threads), count // least)
    part = max(1, count if several == 1 else -(-count // (SHARE * several * kernel.lanes)) * kernel.lanes)
    firsts = iter(range(0, count, part))

    def work() -> None:  # holds the arrays: where Ctrl-C ends this call, threads that were started still work on them
        for first in firsts:
            rest = [(x.ctypes.data + first * stride, stride) for x, stride in zip(arrays, strides, strict=True)]
            kernel(rest, begin + first * results.strides[0], min(part, count - first), steps, every)

    kernel.code  # noqa: B018  compiled once
    others = [Thread(target=work) for _ in range(1, several)]
    for other in others:
        other.start()
    try:
        work()
    finally:
        for other in others:
            other.join()
    return results


def joined(arrays: Sequence[Array]) -> Array:
    """Arrays side by side, shape (m, sum of widths); those of one row repeat it."""
    rows = np.broadcast_shapes(*(x.shape[:-1] for x in arrays)) or (1,)
    return np.concatenate([np.broadcast_to(x, (*rows, x.shape[-1])) for x in arrays], axis=1)
