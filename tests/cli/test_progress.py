"""Which commands show a progress bar."""

from __future__ import annotations

import io
import sys

import pytest

from armsim.files.known_data import KnownData
from armsim.terminal import progress

RECORD = ("record", "arm5_hold", "--set", "control.period=1e-3", "--set", "duration=0.5", "-q", "-o", "out")


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard error a terminal, on which bars are drawn at once, from the call on; no run is known, as it needs no bar."""

    def make() -> Terminal:
        made = Terminal()
        monkeypatch.setattr(sys, "stderr", made)
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        monkeypatch.setattr(KnownData, "data", lambda known: None)
        return made

    return make


@pytest.mark.parametrize(
    ("label", "command"),
    [
        ("simulating", ("simulate", "arm5_hold")),
        ("saving", ("simulate", "arm5_hold")),
        ("running", ("sweep", "two_link_hold", "--vary", "control.kp[0]=100:200:80", "--set", "duration=0.02")),
        ("best: run", ("sweep", "two_link_hold", "--vary", "control.kp[0]=100:200:80", "--set", "duration=0.02")),
        ("recording", ("record", "arm5_hold", "--set", "control.period=1e-3")),
        ("saving", ("record", "arm5_hold", "--set", "control.period=1e-3")),
        ("replaying", ("replay", "out")),
        ("replaying", ("replay", "out/record.csv", "--robot", "arm5")),
    ],
)
@pytest.mark.handful(1)
def test_commands_that_may_take_long_show_one_unless_they_are_to_be_quiet(label, command, armsim, terminal):
    armsim(*RECORD)
    made = terminal()
    assert armsim(*command).code == 0
    assert label in made.getvalue()
    drawn = len(made.getvalue())
    assert armsim(*command, "-q").code == 0
    assert armsim(*command, "--json").code == 0
    assert len(made.getvalue()) == drawn


def test_what_is_waited_for_takes_the_place_of_preparations_and_is_gone_once_something_begins(terminal):
    made = terminal()
    with progress.progress_bar("running", preparing="compiling it all") as bar:
        assert bar is not None
        bar._timer.join()  # which says so
        bar.tell("waiting")
        assert made.getvalue() == "compiling it all ...\rwaiting" + " " * 13
        bar(1, 2)
    assert "waiting" + " " * 13 + "\r" + " " * 20 + "\r" in made.getvalue()
