"""The command line as a user meets it: in an empty folder, in this process or in one of its own."""

from __future__ import annotations

import csv
import os
import pty
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def armsim(empty_folder, capsys):
    """Runs armsim in this process: exit code, standard output, standard error."""
    from armsim.cli.main import main

    def run(*args) -> SimpleNamespace:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=ended.value.code, out=out, err=err)

    return run


@pytest.fixture
def start(empty_folder):
    """Starts armsim in a process of its own."""

    def begin(
        *args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, python=("-m", "armsim"), **env
    ) -> subprocess.Popen:
        settings = {**os.environ, "PYTHONPATH": str(ROOT), **env}
        command = [sys.executable, *python, *map(str, args)]
        return subprocess.Popen(command, stdout=stdout, stderr=stderr, env=settings, cwd=empty_folder, text=True)

    return begin


@pytest.fixture
def process(start):
    """Runs armsim in a process of its own."""

    def run(*args, **options) -> SimpleNamespace:
        started = start(*args, **options)
        out, err = started.communicate(timeout=60)
        return SimpleNamespace(code=started.returncode, out=out, err=err)

    return run


@pytest.fixture
def on_a_terminal(start):
    """Runs armsim with its standard output on a terminal; what it wrote there."""

    def run(*args, **env) -> str:
        ours, theirs = pty.openpty()
        started = start(*args, stdout=theirs, **env)
        os.close(theirs)
        written = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end has gone
                break
            if not piece:
                break
            written += piece
        os.close(ours)
        started.communicate(timeout=60)
        return written.decode().replace("\r\n", "\n")

    return run


@pytest.fixture
def read_table():
    """The columns of a CSV file, by heading."""

    def read(path) -> dict[str, np.ndarray]:
        with open(path, newline="") as file:
            headings, *rows = list(csv.reader(file))
        values = np.array(rows, dtype=float).reshape(len(rows), len(headings))
        return dict(zip(headings, values.T))

    return read
