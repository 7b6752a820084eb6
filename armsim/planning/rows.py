"""Functions of states and inputs with their derivatives, in machine code on the rows of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from itertools import accumulate, pairwise

import numpy as np

from armsim.arm.arrays import evaluate
from armsim.arrays import Array, Mask
from armsim.compile import BatchKernel
from armsim.expr import Expr, Scalar, Scalars, differentiable, jacobian, trace


class RowFunction:
    """A function of lists of scalars, with its derivatives.

    Args:
        body: Takes lists of scalars, returns one.
        widths: Of its arguments.
        by: By how many numbers it is differentiated, from the first; all unless given.
        order: Of the derivatives: 1, or 2 of a function of one number.
    """

    def __init__(
        self, body: Callable[..., Scalars], widths: Sequence[int], by: int | None = None, order: int = 1
    ) -> None:
        bounds = [0, *accumulate(widths)]
        w = self._w = bounds[-1] if by is None else by

        def flat(*x: Scalar) -> Scalars:
            return body(*(list(x[a:b]) for a, b in pairwise(bounds)))

        with differentiable() if w else nullcontext():
            function = trace(flat, [f"x{i}" for i in range(bounds[-1])], "rows")
        self._r = len(function.outputs)
        function = jacobian(function, range(w))
        if order == 2:
            function = jacobian(function, range(w), range(1, 1 + w))
        self._kernel = BatchKernel(function, widths=list(widths))

    def __call__(self, *arrays: Array) -> tuple[Array, ...]:
        """Values (m, r) and derivatives (m, r, w); of order 2 (m, 1), (m, 1, w) and (m, w, w)."""
        found, r, w = evaluate(self._kernel, list(arrays)), self._r, self._w
        first, second = (
            found[:, r : r + r * w].reshape(len(found), r, w),
            found[:, r + r * w :].reshape(len(found), -1, w or 1),
        )
        return (found[:, :r], first, second) if second.size else (found[:, :r], first)

    @property
    def pattern(self) -> Mask:
        """Which derivatives of first order are not always 0, (r, w)."""
        slopes = self._kernel.function.outputs[self._r :]
        return np.array([isinstance(x, Expr) or x != 0.0 for x in slopes]).reshape(self._r, self._w)


def definite(H: Array) -> bool:
    """Whether symmetric matrices (m, w, w) have no negative eigenvalues but by rounding."""
    try:
        np.linalg.cholesky(H + 1e-12 * np.abs(H).max(initial=0.0) * np.eye(H.shape[-1]))
    except np.linalg.LinAlgError:
        return False
    return True


def semidefinite(H: Array) -> Array:
    """Symmetric matrices (m, w, w) with their negative eigenvalues as zeros."""
    if definite(H):
        return H
    values, vectors = np.linalg.eigh(H)
    return (vectors * np.maximum(values, 0.0)[:, None]) @ vectors.transpose(0, 2, 1)


def products(matrices: Array, vectors: Array) -> Array:
    """The product of each of m matrices with each of m vectors."""
    return (matrices @ vectors[:, :, None])[:, :, 0]
