"""Wall time by part."""

from __future__ import annotations

import time


class Stopwatch:
    """Wall time by part, from when it is made.

    Attributes:
        seconds: Of each part [s].
    """

    def __init__(self) -> None:
        self._began = self._lap = time.perf_counter()
        self.seconds: dict[str, float] = {}

    def lap(self, part: str = "") -> None:
        """Give the time since the last lap to a part; to none where it has no name."""
        now = time.perf_counter()
        if part:
            self.seconds[part] = self.seconds.get(part, 0.0) + now - self._lap
        self._lap = now

    def total(self) -> dict[str, float]:
        """The parts, and the time up to now, as "total_s"."""
        return {**self.seconds, "total_s": time.perf_counter() - self._began}
