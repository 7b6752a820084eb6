"""Signals that end a process: put off, told apart from one that is pressed twice, and left alone where they are ignored."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from armsim.files import interrupts
from armsim.files.interrupts import ENDING, ended_by, hear_endings, interrupts_later

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended otherwise there")


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Handlers and records as at the start of a process, and a clock that a test sets."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *ENDING)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in ENDING:
        signal.signal(number, signal.SIG_DFL)
    monkeypatch.setattr(interrupts, "_came", {})
    now = [0.0]
    monkeypatch.setattr(interrupts.time, "monotonic", lambda: now[0])
    hear_endings()
    yield now
    for number, handler in before.items():
        signal.signal(number, handler)


def send(number) -> None:
    os.kill(os.getpid(), number)


def half_done(first, second=None, clock=()) -> list[str]:
    """What is reached of something that signals come into, the second two seconds later, before one is heard."""
    reached = []
    try:
        with interrupts_later():
            reached.append("before")
            send(first)
            if second is not None:
                clock[0] += 2.0
                send(second)
            reached.append("after")
    except KeyboardInterrupt:
        return reached
    return [*reached, "not heard"]


@pytest.mark.parametrize("number", [signal.SIGINT, *ENDING])
def test_a_signal_is_put_off_until_what_must_not_be_half_done_is_done(number):
    assert half_done(number) == ["before", "after"]
    assert ended_by() == (None if number == signal.SIGINT else number)


@pytest.mark.parametrize("first", [signal.SIGINT, *ENDING])
@pytest.mark.parametrize("second", [signal.SIGINT, *ENDING])
def test_a_second_signal_later_is_heard_at_once(first, second, clock):
    assert half_done(first, second, clock) == ["before"]


def test_signals_of_the_system_that_come_together_are_one_and_the_first_tells(clock):
    with pytest.raises(KeyboardInterrupt):
        send(signal.SIGTERM)
    with interrupts_later():
        send(signal.SIGTERM)
        send(signal.SIGHUP)
    send(signal.SIGHUP)
    assert ended_by() == signal.SIGTERM
    clock[0] += 2.0
    with pytest.raises(KeyboardInterrupt):
        send(signal.SIGHUP)
    assert ended_by() == signal.SIGTERM


def test_ctrl_c_pressed_twice_is_two(clock):
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)


def test_what_is_ignored_or_handled_by_others_is_left_alone(clock):
    heard = []
    signal.signal(signal.SIGTERM, lambda *of: heard.append(of[0]))
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    hear_endings()
    with interrupts_later():
        send(signal.SIGTERM)
        assert heard == [signal.SIGTERM]
        send(signal.SIGHUP)
    assert ended_by() is None


def test_without_ctrl_c_as_in_the_background_of_a_shell_others_are_put_off():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert half_done(signal.SIGTERM) == ["before", "after"]
    assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
