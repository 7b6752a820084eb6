"""Array arguments, and a kernel evaluated on rows of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armsim.compile import BatchKernel
from armsim.errors import UsageError
from armsim.files.document import clipped

NUMERIC = "fiub"  # numpy's kinds of real numbers


def number_array(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Values as an array of doubles; the same array if they are one already.

    Args:
        name: The argument's, for the message.
        values: Numbers, or lists of them.

    Raises:
        UsageError: They are not real numbers, or the lists are ragged.
    """
    if type(values) is np.ndarray and values.dtype == float:
        return values
    try:
        array = np.asarray(values)
        if array.dtype.kind in NUMERIC:
            return array.astype(float, copy=False)
        if array.dtype.kind == "O" and all(hasattr(x, "__float__") for x in array.flat):  # fractions, for example
            return array.astype(float)
    except (TypeError, ValueError):
        pass
    raise UsageError.of(
        name,
        "real numbers, an array of them or lists of equal length",
        clipped(repr(values)),
        "give one number per joint, for example [0.0, 0.5]",
    )


def evaluate(kernel: BatchKernel, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """A kernel's results for every row of arguments, shape (rows, results)."""
    count, width = rows.shape
    padded = -(-count // kernel.lanes) * kernel.lanes
    args = np.empty((width, padded))
    args[:, :count] = rows.T
    args[:, count:] = rows[-1:].T if count else 0.0
    results = np.empty((len(kernel.function.outputs), padded))
    kernel(args.ctypes.data, results.ctypes.data, padded)
    return np.ascontiguousarray(results[:, :count].T)
