"""Ctrl-C, and the signals by which a system ends processes, which are heard as Ctrl-C is; put off while they would leave
something half done."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
TOGETHER = 1.0  # s within which further ones are the same: `timeout` sends them to a process and to its group

Handler = Callable[[int, FrameType | None], object]

_came: dict[int, float] = {}  # when each came last [s], the first one first


def hear_endings() -> None:
    """Raise KeyboardInterrupt at signals by which the system ends a process; those that it was started to ignore stay ignored."""
    for number in ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _hear)


def ended_by() -> int | None:
    """The number of the first such signal; None before there is one."""
    return next(iter(_came), None)


def _hear(number: int, frame: FrameType | None) -> None:
    if not _again(number):
        _end(number, frame)


def _again(number: int) -> bool:
    """Whether a signal is one that has just come; notes that it comes."""
    if number not in ENDING:
        return False
    now = time.monotonic()
    before = max(_came.values(), default=-TOGETHER)
    if now - before < TOGETHER:
        return True
    _came[number] = now
    return False


def _end(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(number)


@contextmanager
def interrupts_later() -> Iterator[None]:
    """Have the first Ctrl-C heard when the block ends; a second one, as at a disk that does not answer, is heard at once.

    Raises:
        KeyboardInterrupt: There was one.
    """
    before = signal.getsignal(signal.SIGINT)
    acts: dict[int, Handler] = {signal.SIGINT: before} if callable(before) else {}
    acts |= {number: _end for number in ENDING if signal.getsignal(number) is _hear}
    if threading.current_thread() is not threading.main_thread() or not acts:
        yield
        return
    heard: list[tuple[int, FrameType | None]] = []

    def note(number: int, frame: FrameType | None) -> None:
        if _again(number):
            return
        if heard:
            acts[number](number, frame)
        heard.append((number, frame))

    whose = {number: signal.signal(number, note) for number in acts}
    try:
        yield
    finally:
        for number, handler in whose.items():
            signal.signal(number, handler)
    if heard:
        number, frame = heard[0]
        acts[number](number, frame)
