"""What takes long, on a terminal: that it is being prepared, and a progress bar."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import click

from armsim.progress import Progress
from armsim.terminal.streams import status_line

PATIENCE = 1.0  # seconds before a progress bar appears
REDRAWN = 0.05  # seconds between redraws


_open: list[ProgressBar] = []  # the bars whose blocks run


class ProgressBar:
    """A progress bar on standard error, which appears after `PATIENCE`; where nothing has begun by then, a line says so.

    Args:
        label: What is being done.
        preparing: What is done before it.
    """

    def __init__(self, label: str, preparing: str = "") -> None:
        self._label = label
        self._due = time.monotonic() + PATIENCE
        self._bar: Any = None
        self._shown = 0
        self._before: ProgressBar | None = None
        self._note, self._begun = "", False
        self.said = ""  # behind the bar
        self._lock = threading.Lock()
        self._preparing = f"{preparing} ..."
        self._timer = threading.Timer(PATIENCE, self._prepare)
        self._timer.daemon = True
        if preparing:
            self._timer.start()

    def then(self, label: str) -> ProgressBar:
        """The bar of what comes next, with the first call of which this one is closed."""
        bar = ProgressBar(label)
        bar._before = self
        return bar

    def _prepare(self) -> None:
        with self._lock:
            if not self._begun:
                self._note = self._preparing
                with status_line() as line:
                    line.write(self._note)

    def _begin(self) -> None:
        """With the first call, take back what was said of preparations, and close the bar before this one."""
        if self._before is not None:
            self._before.close()
            self._before, self._due = None, time.monotonic() + PATIENCE
        self._timer.cancel()
        with self._lock:
            self._begun = True
            if self._note:
                with status_line() as line:
                    line.write("\r" + " " * len(self._note) + "\r")
                self._note = ""

    def __call__(self, done: int, total: int) -> None:
        self._begin()
        now = time.monotonic()
        if now < self._due and (self._bar is None or done < total):
            return
        with status_line() as line:
            if self._bar is None:
                self._bar = click.progressbar(
                    length=total, label=self._label, file=line, item_show_func=lambda _: self.said or None
                )
                self._bar.__enter__()
            self._bar.update(done - self._shown)
        self._shown, self._due = done, now + REDRAWN

    def tell(self, said: str) -> None:
        """Say something behind the bar; where nothing has begun, in place of what is said of preparations."""
        self.said = said
        with self._lock:
            if self._note and not self._begun and said != self._note:
                with status_line() as line:
                    line.write("\r" + said.ljust(len(self._note)))
                self._note = said.ljust(len(self._note))

    @contextmanager
    def part(self, label: str) -> Iterator[Progress]:
        """Tell of a part of the preparations."""
        try:
            yield lambda done, total: self.tell(f"{label} ... {100 * done // max(total, 1)} %")
        finally:
            self.tell(self._preparing)
            self.said = ""

    def close(self) -> None:
        """Leave the terminal on a line of its own."""
        self._begin()
        with status_line():
            if self._bar is not None:
                self._bar.__exit__(None, None, None)
                self._bar = None


@contextmanager
def progress_bar(
    label: str,
    wanted: bool = True,
    preparing: str = "preparing the equations of motion, and compiling them if they are new",
) -> Iterator[ProgressBar | None]:
    """A bar for as long as the block runs; None where it is not wanted, or standard error is no terminal.

    Args:
        label: What is being done.
        wanted: Whether it is.
        preparing: What is done before; said if it takes more than `PATIENCE`.
    """
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    bar = ProgressBar(label, preparing)
    _open.append(bar)
    try:
        yield bar
    finally:
        _open.remove(bar)
        bar.close()


def work_bar(label: str) -> AbstractContextManager[Progress | None]:
    """Shows how far work is: among the preparations of a bar that is there, or by a bar of its own."""
    if _open:
        return _open[-1].part(label)
    context = click.get_current_context(silent=True)
    given = {} if context is None else context.params
    return progress_bar(label, not given.get("quiet") and not given.get("as_json"), preparing="")


@contextmanager
def progress_bars(
    label: str, next: str, wanted: bool = True
) -> Iterator[tuple[ProgressBar | None, ProgressBar | None]]:
    """A bar, and one of what comes next; see `progress_bar`."""
    with progress_bar(label, wanted) as first:
        second = None if first is None else first.then(next)
        try:
            yield first, second
        finally:
            if second is not None:
                second.close()
