"""What is printed."""

from __future__ import annotations

import errno
import io
import re
from pathlib import Path

import pytest

import armsim
from armsim.errors import UsageError
from armsim.terminal import streams
from armsim.terminal.streams import BOLD, PLAIN, bold, echo

PACKAGE = Path(armsim.__file__).parent


class Stream(io.StringIO):
    """A stream that fails as a file does."""

    def __init__(self, number=None):
        super().__init__()
        self.number = number

    def flush(self):
        if self.number is not None:
            raise OSError(self.number, "no luck")


@pytest.fixture
def dropped(monkeypatch):
    """The streams that were given up."""
    found = []
    monkeypatch.setattr(streams, "drop", found.append)
    return found


def test_control_characters_are_printed_as_escapes_but_for_line_ends_and_bold(monkeypatch, capsys):
    echo("one\ntwo\x1b[2J\r\x1b[31m\u202e")
    assert capsys.readouterr().out == "one\ntwo\\x1b[2J\\x0d\\x1b[31m\\u202e\n"
    echo(f"a robot named {BOLD}bold{PLAIN}")
    assert capsys.readouterr().out == "a robot named \\x1b[1mbold\\x1b[0m\n"
    stream = Stream()
    stream.isatty = lambda: True
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stdout", stream)
    echo(f"{bold(f'title {BOLD}')} of \x1b[5m")
    assert stream.getvalue() == f"{BOLD}title \\x1b[1m{PLAIN} of \\x1b[5m\n"


@pytest.mark.parametrize("number", [errno.EPIPE, errno.EINVAL])
def test_a_reader_that_has_gone_is_no_error(number, monkeypatch, dropped):
    monkeypatch.setattr("sys.stdout", stream := Stream(number))
    echo("text")
    streams.flush()
    assert dropped == [stream, stream]


def test_a_stream_that_cannot_be_written_is_told_unless_it_is_the_one_for_telling(monkeypatch, dropped, told):
    monkeypatch.setattr("sys.stdout", Stream(errno.ENOSPC))
    for write in (lambda: echo("text"), streams.flush):
        with pytest.raises(UsageError) as caught:
            write()
        told(caught.value)
    monkeypatch.setattr("sys.stderr", Stream(errno.ENOSPC))
    echo("text", err=True)
    assert len(dropped) == 3


def test_closed_streams_are_replaced(monkeypatch):
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(f"sys.{name}", None)
    streams.open_streams()
    echo("text")
    echo("text", err=True)
    import sys

    assert sys.stdin.read() == ""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        stream.close()


def test_all_that_armsim_prints_goes_through_echo():
    own = {
        "terminal/streams.py",
        "cli/converge.py",
        "terminal/progress.py",
        "exporting/python.py",
        "importing/mjcf.py",
    }  # two overwrite lines of armsim's own words; the last two write programs that print
    printing = re.compile(r"click\.s?echo\(|(?<![\w.])(?<!def )print\(|std(?:out|err)\.write\(")
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if printing.search(path.read_text(encoding="utf-8")) and path.name != "__main__.py"
    }
    assert found <= own
