"""Arrays of numbers within a page: little-endian, in base 64, each content once."""

from __future__ import annotations

import base64
from typing import Literal

import numpy as np

from armsim.arrays import ArrayLike

LARGEST = 3e38  # of single precision, about


class Arrays:
    """Arrays of a page; `packed` has them as texts, by the numbers that `add` gives."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, bytes], int] = {}

    def add(self, values: ArrayLike, kind: Literal["f4", "f8", "u2"] = "f4") -> int:
        """Keep an array, row by row, and give its number.

        Args:
            values: The array; infinities become very large numbers.
            kind: Single or double precision, or whole numbers below 65536.
        """
        bounded = np.clip(np.asarray(values, float), -LARGEST, LARGEST)
        key = kind, bounded.astype(f"<{kind}").tobytes()
        return self._numbers.setdefault(key, len(self._numbers))

    @property
    def packed(self) -> list[dict[str, str]]:
        """The arrays in order: kind, and bytes in base 64."""
        return [{"kind": kind, "bytes": base64.b64encode(data).decode()} for kind, data in self._numbers]
