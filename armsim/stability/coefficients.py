"""The coefficients of linearised plants as arrays: of one plant, or of many that differ in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from armsim.plant import Linearization
from armsim.stability.closed_loop import Array, Gains, gains


@dataclass(frozen=True)
class Coefficients:
    """M dv = Fq dq + Fv dv + Fi di + Fu du, di/dt = I (q, v, i, u), for n joints, k currents and m commands.

    Arrays may have leading axes, the same for all: one entry for each plant. For what they mean see `armsim.plant.Linearization`.

    Attributes:
        M: Mass matrix, shape (..., n, n).
        Fq: Shape (..., n, n).
        Fv: Shape (..., n, n).
        Fi: Shape (..., n, k).
        Fu: Shape (..., n, m).
        I: Shape (..., k, 2 n + k + m).
        law: The feedback; None for plants without.
        sampled: Whether it acts on samples.
    """

    M: Array
    Fq: Array
    Fv: Array
    Fi: Array
    Fu: Array
    I: Array  # noqa: E741  the field's letter for a current
    law: Gains | None
    sampled: bool

    @classmethod
    def of(cls, about: Linearization, dtype: type = float) -> Coefficients:
        """Those of one linearisation; of one by expressions as arrays of objects."""
        n, k, m = about.n, len(about.currents), len(about.u)
        blocks = (about.M, about.Fq, about.Fv, about.Fi, about.Fu, about.I)
        widths = ((n, n), (n, n), (n, n), (n, k), (n, m), (k, 2 * n + k + m))
        arrays: list[Array] = [
            np.array(rows, dtype=dtype).reshape(size) for rows, size in zip(blocks, widths, strict=True)
        ]
        law = None if about.law is None else gains(about.law, m, 2 * n + k, dtype)
        return cls(*_six(arrays), law, about.law is not None and about.plant.sampled)

    @classmethod
    def shaped(cls, shapes: Sequence[Sequence[int]], sampled: bool) -> Coefficients:
        """Zeros of these shapes, in the order of `arrays`."""
        arrays = [np.zeros(shape) for shape in shapes]
        return cls(*_six(arrays), Gains(*arrays[6:]) if arrays[6:] else None, sampled)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All arrays, those of the law last."""
        return (self.M, self.Fq, self.Fv, self.Fi, self.Fu, self.I, *(self.law or ()))

    def with_arrays(self, arrays: Sequence[Array]) -> Coefficients:
        """The same structure with other arrays."""
        law = None if self.law is None else Gains(*arrays[6:])
        return Coefficients(*_six(arrays), law, self.sampled)

    def __getitem__(self, which: Any) -> Coefficients:
        """Some of the plants, by an index or mask of the leading axes."""
        return self.with_arrays([array[which] for array in self.arrays])

    def unflattened(self, rows: Array) -> Coefficients:
        """Coefficients of this structure from rows of numbers, shape (..., size), in the order of `arrays`."""
        return self.with_arrays(
            [rows[..., first:end].reshape(*rows.shape[:-1], *like.shape) for like, first, end in self._places()]
        )

    def _places(self) -> Iterator[tuple[Array, int, int]]:
        ends = np.cumsum([0, *(array.size for array in self.arrays)]).tolist()
        return ((like, first, end) for like, (first, end) in zip(self.arrays, pairwise(ends), strict=True))


def _six(arrays: Sequence[Array]) -> tuple[Array, Array, Array, Array, Array, Array]:
    """The arrays of the plant, without those of its feedback."""
    M, Fq, Fv, Fi, Fu, rates = arrays[:6]
    return M, Fq, Fv, Fi, Fu, rates
