"""A progress bar on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

PATIENCE = 1.0  # seconds before a progress bar appears
REDRAWN = 0.05  # seconds between redraws


class ProgressBar:
    """A progress bar on standard error, which appears after `PATIENCE`.

    Args:
        label: What is being done.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._due = time.monotonic() + PATIENCE
        self._bar: Any = None
        self._shown = 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._due and (self._bar is None or done < total):
            return
        if self._bar is None:
            self._bar = click.progressbar(length=total, label=self._label, file=sys.stderr)
            self._bar.__enter__()
        self._bar.update(done - self._shown)
        self._shown, self._due = done, now + REDRAWN

    def close(self) -> None:
        """Leave the terminal on a line of its own."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None


@contextmanager
def progress_bar(label: str, wanted: bool = True) -> Iterator[ProgressBar | None]:
    """A bar for as long as the block runs; None where it is not wanted, or standard error is no terminal."""
    bar = ProgressBar(label) if wanted and sys.stderr.isatty() else None
    try:
        yield bar
    finally:
        if bar is not None:
            bar.close()
