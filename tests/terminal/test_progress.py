"""The progress bar: on a terminal only, and for what takes a second."""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
import time
from types import SimpleNamespace

import click
import pytest

from armsim.compile import compiler
from armsim.compile.target import host
from armsim.files import csv_reader
from armsim.files.csv_reader import read_csv_columns
from armsim.progress import shown, work_shown_by
from armsim.terminal import progress


class Terminal(io.StringIO):
    """A terminal that keeps what is written to it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Makes standard error a terminal, from the call on."""

    def make(patience: float = 0.0) -> Terminal:
        made = Terminal()
        monkeypatch.setattr(sys, "stderr", made)
        monkeypatch.setattr(progress, "PATIENCE", patience)
        return made

    return make


def test_nothing_is_drawn_before_its_time(terminal):
    made = terminal(patience=1000.0)
    with progress.progress_bar("waiting") as bar:
        for k in range(1, 11):
            bar(k, 10)
    assert made.getvalue() == ""


def test_a_bar_ends_full_and_on_a_line_of_its_own(terminal, monkeypatch):
    made = terminal()
    clock = itertools.count()
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: 1e-3 * next(clock)))
    with progress.progress_bar("waiting") as bar:
        for k in range(1, 1001):
            bar(k, 1000)
    text = made.getvalue()
    assert "waiting" in text
    assert "100%" in text
    assert text.endswith("\n")
    assert text.count("\r") < 100  # in this second it is not drawn a thousand times


def test_a_bar_that_is_broken_off_leaves_the_line(terminal):
    made = terminal()

    def broken_off() -> None:
        with progress.progress_bar("waiting") as bar:
            bar(3, 10)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    assert "waiting" in made.getvalue()
    assert made.getvalue().endswith("\n")


def test_preparations_are_told_of_after_their_time_and_taken_back(terminal):
    made = terminal()
    with progress.progress_bar("waiting", preparing="boiling water") as bar:
        while not made.getvalue():  # from a thread of its own, as LLVM may have this one
            time.sleep(0.001)
        assert made.getvalue() == "boiling water ..."
        bar(1, 10)
        assert made.getvalue().startswith("boiling water ...\r                 \r")


def test_what_comes_next_has_a_bar_of_its_own(terminal):
    made = terminal()
    with progress.progress_bars("cooking", "serving") as (first, second):
        first(10, 10)
        second(10, 10)
    cooking, serving = made.getvalue().rstrip("\n").split("\n")
    for label, line in (("cooking", cooking), ("serving", serving)):
        assert label in line
        assert "100%" in line


def test_what_is_not_wanted_or_no_terminal_has_no_bar(terminal, monkeypatch):
    terminal()
    with progress.progress_bar("waiting", wanted=False) as bar:
        assert bar is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.progress_bar("waiting") as bar:
        assert bar is None


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Reads a file of many blocks while it shows how far it is."""
    monkeypatch.setattr(csv_reader, "BLOCK", 1000)
    path = tmp_path / "log.csv"
    path.write_text("t_s,u\n" + "".join(f"{k},1\n" for k in range(10_000)), encoding="ascii")

    def read() -> None:
        with work_shown_by(progress.work_bar):
            assert len(read_csv_columns(str(path))["u"]) == 10_000

    return read


def test_a_long_table_has_a_bar_of_its_own(terminal, table):
    made = terminal()
    table()
    assert "reading log.csv" in made.getvalue()
    assert made.getvalue().endswith("\n")


def test_a_short_table_and_one_that_nobody_watches_have_none(terminal, table, monkeypatch):
    made = terminal(patience=1000.0)
    table()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    table()
    assert made.getvalue() + sys.stderr.getvalue() == ""


@pytest.mark.parametrize("param", ["quiet", "as_json"])
def test_a_quiet_command_shows_no_table(terminal, table, param):
    made = terminal()
    with click.Context(click.Command("check")) as context:
        context.params[param] = True
        table()
    assert made.getvalue() == ""


def test_a_table_among_preparations_is_told_of_in_their_place_and_they_come_back(terminal, table):
    made = terminal()
    with progress.progress_bar("waiting", preparing="boiling water") as bar:
        while not made.getvalue():
            time.sleep(0.001)
        table()
        said = made.getvalue().split("\r")
        assert any(text.startswith("reading log.csv ... 5") for text in said)
        assert said[-1].rstrip() == "boiling water ..."
        bar(1, 10)
    assert "reading" not in made.getvalue().split("\r")[-1]


def test_a_compilation_moves_and_says_about_how_long_it_takes_once(terminal, monkeypatch):
    made = terminal()
    with progress.progress_bar("simulating", preparing="preparing") as bar, work_shown_by(progress.work_bar):
        while not made.getvalue():
            time.sleep(0.001)
        with shown("compiling the equations of motion, once, about 4 s") as told:
            for looks in range(1, 41):
                told(looks, 40)
        bar(1, 10)
    text = made.getvalue()
    assert "\rcompiling the equations of motion, once, about 4 s ... 50 %" in text
    assert text.index("... 50 %") < text.index("... 75 %") < text.index("simulating")


def test_llvm_is_looked_at_while_it_compiles_a_long_text(terminal, monkeypatch):
    seen = []

    @contextlib.contextmanager
    def watched(label):
        yield lambda done, total: seen.append((label, done, total))

    def apart(ir, order, looked):
        looked(1, 10)
        return b"code"

    monkeypatch.setattr(compiler, "LONG", 10)
    monkeypatch.setattr(compiler, "compiled_apart", apart)
    with work_shown_by(watched):
        assert host().object_code(" " * int(2 * compiler.QUICKER * compiler.RATE)) == b"code"
    assert seen == [("compiling the equations of motion, once, about 2 s", 1, 10)]


def test_a_quiet_command_shows_no_compilation_and_nor_does_one_without_a_terminal(terminal, monkeypatch):
    made = terminal()
    for param in ("quiet", "as_json"):
        with click.Context(click.Command("simulate")) as context, work_shown_by(progress.work_bar):
            context.params[param] = True
            with shown("compiling") as told:
                assert told is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with work_shown_by(progress.work_bar), shown("compiling") as told:
        assert told is None
    assert made.getvalue() + sys.stderr.getvalue() == ""
