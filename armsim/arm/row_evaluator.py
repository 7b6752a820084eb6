"""An arm's functions of scalars, evaluated for the rows of arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from armsim.arm.arrays import LEAST, evaluate, joined, row_array, row_count
from armsim.arrays import Array, ArrayLike
from armsim.compile import BatchKernel
from armsim.compile.threads import check_threads
from armsim.dynamics import is_large
from armsim.errors import UsageError
from armsim.expr import Scalars, finite_or_nan, leaves, trace
from armsim.files.faults import suggestion
from armsim.formulas.bounds import BOUNDS
from armsim.model import Arm, LinkFrame
from armsim.simulation.engine import ENGINES

LARGEST_POSITION = BOUNDS["rad or m"].largest  # up to there sine and cosine are exact to 2 ulp
FEW = 100  # rows of a large arm that floats, with the same bits, answer sooner than a kernel is compiled
Body = Callable[..., Scalars]


class RowEvaluator:
    """Traces functions of an arm when they are first asked for, and evaluates them for every row.

    Args:
        arm: The arm, n joints.
        engine: "llvm" or "python"; both give the same bits.
        threads: How many share the rows; as many as there are processors unless given.
    """

    def __init__(self, arm: Arm, engine: Literal["llvm", "python"], threads: int | None) -> None:
        if engine not in ENGINES:
            raise UsageError(f"engine: expected one of {', '.join(ENGINES)}, found {engine!r}")
        self.arm = arm
        self.engine = engine
        check_threads(threads)
        self._threads = threads
        self._kernels: dict[str, BatchKernel] = {}
        self._on_floats: Counter[str] = Counter()  # rows

    def __getstate__(self) -> object:
        """Without its kernels, which are fetched again."""
        return {**vars(self), "_kernels": {}}

    def _frame(self, name: str) -> LinkFrame:
        frames = {one.name: one for one in self.arm.frames}
        if name not in frames:
            mend = suggestion(str(name), frames, "frames are")
            raise UsageError.of("frame", f"the name of a frame of {self.arm.name}", repr(name), mend)
        return frames[name]

    def _of_frame(self, name: str, body: Callable[..., Any], shape: tuple[int, ...], q: ArrayLike, frame: str) -> Array:
        found = self._frame(frame)
        name = name if frame == "tool" else f"{name} of {frame}"
        return self._ask(name, lambda arm, q: body(arm, q, found), shape, q=q)

    def _given(self, name: str, values: ArrayLike | None) -> Array:
        """An argument as an array; zeros for None, but for positions."""
        return np.zeros(self.arm.n) if values is None and name != "q" else self._array(name, values)

    def _array(self, name: str, values: ArrayLike | None) -> Array:
        array = row_array(name, values, self.arm.n)
        if name == "q" and array.size and not -LARGEST_POSITION <= array.min() <= array.max() <= LARGEST_POSITION:
            raise UsageError(f"q: expected positions up to {LARGEST_POSITION:g}, found {np.max(np.abs(array)):g}")
        return array

    def _ask(
        self, name: str, body: Callable[..., Any], shape: tuple[int, ...] | None = None, **given: ArrayLike | None
    ) -> Array:
        """Evaluate `body` for every row of the arrays.

        Args:
            name: Of the method; its kernel is kept under it.
            body: Takes the arm and a list of n scalars per keyword, and returns a tree of scalars.
            shape: What each row's results are reshaped to; (n,) if not given.
            given: The arrays; None stands for zeros, but for q.
        """
        n = self.arm.n
        arrays = {key: self._given(key, x) for key, x in given.items()}
        many = row_count(name, arrays)

        def grouped(*x):
            return leaves(body(self.arm, *(x[i * n : (i + 1) * n] for i in range(len(arrays)))))

        flat = self._evaluate(name, grouped, list(arrays.values()))
        result = flat.reshape((len(flat), *(shape if shape is not None else (n,))))
        return result[0] if many is None else result

    def _evaluate(self, name: str, body: Body, arrays: Sequence[Array], least: int = LEAST) -> Array:
        """`body`, which takes as many scalars as the arrays have columns, for every row; NaN for a row that is not finite.

        Its kernel is kept under its name.
        """

        def sound(*x):
            return finite_or_nan(body(*x), x)

        rows = next((len(array) for array in arrays if array.ndim == 2), 1)
        first = name not in self._kernels and is_large(self.arm)
        self._on_floats[name] += rows if first else 0
        if self.engine == "python" or (first and self._on_floats[name] <= FEW):
            return np.array([[float(y) for y in sound(*row)] for row in joined(arrays).tolist()])
        kernel = self._kernels.get(name)
        if kernel is None:
            widths = [array.shape[-1] for array in arrays]
            names = [f"x{i}" for i in range(sum(widths))]
            kernel = self._kernels[name] = BatchKernel(trace(sound, names, name), widths=widths)
        return evaluate(kernel, arrays, self._threads, least)
