"""Functions of a state and inputs with their derivatives, in machine code on the rows of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.arm.arrays import Array, evaluate
from armsim.compile import BatchKernel
from armsim.expr import Expr, Scalar, loop, trace, with_jacobian

MOST_STEPS = 4096  # in an interval
Body = Callable[..., Sequence[Scalar]]


class RowFunction:
    """A function of lists of scalars, with its derivatives by all of them.

    Args:
        body: Takes lists of scalars, returns one.
        widths: Of its arguments.
        order: Of the derivatives: 1, or 2 of a function of one number.
    """

    def __init__(self, body: Body, widths: Sequence[int], order: int = 1) -> None:
        self._widths, self._order = tuple(widths), order
        self._kernel = BatchKernel(_flat(body, self._widths, order), widths=list(widths))

    @property
    def pattern(self) -> NDArray[np.bool_]:
        """Which derivatives of first order are not always 0, (r, w)."""
        outputs, w = self._kernel.function.outputs, sum(self._widths)
        r = len(outputs) // (1 + w)
        return np.array([isinstance(x, Expr) or x != 0.0 for x in outputs[r:]]).reshape(r, w)

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Values (m, r) and derivatives (m, r, w), w the sum of the widths; of order 2 (m,), (m, w) and (m, w, w)."""
        found, w = evaluate(self._kernel, list(arrays)), sum(self._widths)
        if self._order == 2:
            return found[:, 0], found[:, 1 : 1 + w], found[:, 1 + w :].reshape(-1, w, w)
        r = found.shape[1] // (1 + w)
        return found[:, :r], found[:, r:].reshape(-1, r, w)


def _flat(body: Body, widths: Sequence[int], order: int) -> Any:
    bounds = [0, *accumulate(widths)]

    def whole(x: list[Scalar]) -> Sequence[Scalar]:
        return body(*(x[a:b] for a, b in pairwise(bounds)))

    def gradient(x: list[Scalar]) -> Sequence[Scalar]:
        return list(with_jacobian(whole, (0,), "cost")(x)[1][0][0])

    def every(*x: Scalar) -> list[Scalar]:
        values, slopes = with_jacobian(whole, (0,), "rows")(list(x))
        rows = [row[0] for row in slopes]
        if order == 2:
            rows = [rows[0], *(row[0] for row in with_jacobian(gradient, (0,), "gradient")(list(x))[1])]
        return [*values, *(value for row in rows for value in row)]

    return trace(every, [f"x{i}" for i in range(bounds[-1])], "rows")


class IntervalFunction:
    """Several steps under the same inputs, with the derivatives by state, inputs and length of the interval.

    Args:
        step: Takes a state, inputs and a list with the length of a step [s], returns the state after it.
        k: Numbers of a state.
        n: Inputs.
    """

    def __init__(self, step: Body, k: int, n: int) -> None:
        self.k, w = k, k + n + 1
        derived = with_jacobian(step, (0, 1, 2), "step")

        def every(*z: Scalar) -> list[Scalar]:
            x, u, (length, steps) = list(z[:k]), list(z[k : k + n]), z[-2:]
            dt, share = [length / steps], 1.0 / steps

            def one(count: Scalar, x: list[Scalar], S: list[list[Scalar]]) -> list[Any]:
                after, slopes = derived(x, u, dt)
                own = [[0.0] * k + [*B, share * C[0]] for _, B, C in slopes]
                return [count + 1.0, after, [_chained(A, E, S) for (A, _, _), E in zip(slopes, own, strict=True)]]

            S = [[1.0 if i == j else 0.0 for j in range(w)] for i in range(k)]
            _, after, S = loop([0.0, x, S], one, lambda count, *_: count > steps - 0.5, MOST_STEPS)
            return [*after, *(value for row in S for value in row)]

        names = [f"z{i}" for i in range(w + 1)]
        self._kernel = BatchKernel(trace(every, names, "interval"), widths=[k, n, 1, 1])

    def __call__(self, x: Array, u: Array, lengths: Array, steps: int) -> tuple[Array, Array]:
        """The states after intervals (m, k), and their derivatives by states, inputs and lengths (m, k, k + n + 1).

        Args:
            x: States at the beginning, (m, k).
            u: Inputs, (m, n).
            lengths: Of the intervals [s], (m,).
            steps: In each interval.
        """
        found = evaluate(self._kernel, [x, u, lengths[:, None], np.array([float(steps)])])
        return found[:, : self.k], found[:, self.k :].reshape(len(x), self.k, -1)


def _chained(A: Sequence[Scalar], own: Sequence[Scalar], S: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    """A row of A S plus the step's own derivatives."""
    return [reduce(lambda sum, pair: pair[0] * pair[1][j] + sum, zip(A, S), own[j]) for j in range(len(own))]


def semidefinite(H: Array) -> Array:
    """Symmetric matrices (m, w, w) with their negative eigenvalues as zeros."""
    size = np.abs(H).max(initial=0.0)
    if size == 0.0:
        return H
    try:
        np.linalg.cholesky(H + 1e-12 * size * np.eye(H.shape[-1]))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(H)
        return np.einsum("mij,mj,mkj->mik", vectors, np.maximum(values, 0.0), vectors)
    return H


def products(matrices: Array, vectors: Array) -> Array:
    """The product of each of m matrices with each of m vectors."""
    return (matrices @ vectors[:, :, None])[:, :, 0]
