"""SIGTERM and SIGHUP end commands as Ctrl-C does: with what they have, and an exit code that tells the signal."""

from __future__ import annotations

import os
import signal
import sys
import urllib.request
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended otherwise there")

# a command whose process sends itself a signal at a call of a function, and once more at each call of another one
PROGRAM = """
import importlib, itertools, os, signal, sys
from armsim.files import interrupts, known_data
interrupts.TOGETHER = 1e9
known_data.KnownData.data = lambda self: None
def sending(place, calls, number):
    module, owner, name = place.split(":")
    owner = getattr(importlib.import_module(module), owner) if owner else importlib.import_module(module)
    method, count = getattr(owner, name), itertools.count(1)
    def call(*args, **more):
        if next(count) in calls:
            os.kill(os.getpid(), number)
        return method(*args, **more)
    setattr(owner, name, call)
first, call, number, again, *sys.argv[1:] = sys.argv[1:]
sending(first, {int(call)}, int(number))
if again:
    sending(again, range(1, 10**6), int(number))
from armsim.__main__ import main
main()
"""
STEPS = "armsim.simulation.runner:Runner:_advance"
ROWS = "armsim.files.study_folder:StudyFolder:append"
SWEEP = ("sweep", "two_link_hold", "--vary", "control.kp[1]=20:80:25", "--vary", "control.kd[1]=0:4:16", "--set",
         "duration=0.02", "--measure", "iae", "-o", "out")  # fmt: skip
TUNE = ("tune", "two_link_hold", "--open", "control.kp", "--bounds", "20:200", "--set", "duration=0.02", "--minimise",
        "iae", "--holds", "iae < 9", "--test", "payload.mass=0.1,0.2", "--trials", "30", "-o", "out")  # fmt: skip
SHORT = ("--set", "duration=10", "--set", "control.period=0.01")


@pytest.fixture
def ended(process):
    """Runs a command that gets a signal at a call, and again at each call of another function."""

    def run(number, place, call, *args, again=""):
        return process(*args, python=("-c", PROGRAM, place, str(call), str(int(number)), again))

    return run


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("command", "table", "call"), [("simulate", "trajectory.csv", 2), ("record", "record.csv", 2)])
@pytest.mark.handful(1)
def test_a_run_keeps_the_rows_that_it_has(number, command, table, call, ended, armsim):
    done = ended(number, STEPS, call, command, "two_link_hold", *SHORT, "-o", "out")
    assert done.code == 128 + number
    assert "(interrupted)" in done.out
    record = yaml.safe_load(Path("out/run.yaml").read_text())
    assert record["status"] == "interrupted"
    rows = Path("out", table).read_bytes().splitlines()
    assert armsim(command, "two_link_hold", *SHORT, "-o", "whole").code == 0
    assert Path("whole", table).read_bytes().splitlines()[: len(rows)] == rows
    assert len(rows) > 2


@pytest.mark.parametrize(
    "saving", ["armsim.simulation.run_files:RunFiles:write", "armsim.files.new_folder:NewFolder:_put"]
)
@pytest.mark.slow
def test_a_signal_that_comes_twice_as_timeout_sends_it_is_one(saving, ended, armsim):
    done = ended(signal.SIGTERM, STEPS, 2, "simulate", "two_link_hold", *SHORT, "-o", "out", again=saving)
    assert (done.code, done.err) == (143, "")
    record = yaml.safe_load(Path("out/run.yaml").read_text())
    assert len(Path("out/trajectory.csv").read_bytes().splitlines()) == record["rows"] + 1
    assert armsim("simulate", "two_link_hold", *SHORT, "-o", "whole").code == 0
    whole = Path("whole/trajectory.csv").read_bytes()
    assert whole.startswith(Path("out/trajectory.csv").read_bytes())


@pytest.mark.parametrize("command", [SWEEP, TUNE])
@pytest.mark.handful(1)
def test_a_study_goes_on_where_it_was(command, ended, armsim):
    done = ended(signal.SIGTERM, ROWS, 2, *command)
    assert done.code == 143, done.err
    assert "Traceback" not in done.err
    assert yaml.safe_load(Path("out/study.yaml").read_text())["results"]["status"] == "running"
    assert armsim(*command).code == 0
    assert armsim(*command[:-1], "whole").code == 0
    assert Path("out/results.csv").read_bytes() == Path("whole/results.csv").read_bytes()


@pytest.mark.slow
def test_a_study_of_convergence_says_what_it_has(ended):
    done = ended(signal.SIGHUP, STEPS, 10, "converge", "two_link_hold", *SHORT)
    assert done.code == 129
    assert "interrupted" in done.out


@pytest.mark.parametrize(
    ("place", "command"),
    [
        (STEPS, ("linearize", "two_link_hold", "--at", "0.5")),
        ("armsim.exporting.export::check_folder", ("export", "two_link", "--to", "c", "-o", "out")),
        ("armsim.files.yaml_reader::parse_yaml", ("check", "two_link")),
    ],
)
@pytest.mark.slow
def test_what_has_no_part_ends_without_any(place, command, ended, empty_folder):
    done = ended(signal.SIGTERM, place, 1, *command)
    assert (done.code, done.out, done.err.strip()) == (143, "", "interrupted")
    assert os.listdir(empty_folder) == []


def test_what_is_served_ends(start, empty_folder):
    served = start("view", "rr", "--port", "0")
    address = served.stdout.readline().split()[1]
    with urllib.request.urlopen(address, timeout=60) as page:
        assert page.read()
    served.send_signal(signal.SIGTERM)
    out, err = served.communicate(timeout=60)
    assert (served.returncode, out, err) == (143, "", "")
    assert list(empty_folder.iterdir()) == []


@pytest.mark.parametrize("name", ["SIGHUP", "SIGTERM"])
@pytest.mark.slow
def test_a_signal_that_is_ignored_from_the_start_as_nohup_has_it_stays_ignored(name, process):
    number = getattr(signal, name)
    program = f"import signal; signal.signal({int(number)}, signal.SIG_IGN)\n{PROGRAM}"
    args = ("simulate", "two_link_hold", *SHORT, "-o", "out")
    done = process(*args, python=("-c", program, STEPS, "2", str(int(number)), ""))
    assert done.code == 0
    assert yaml.safe_load(Path("out/run.yaml").read_text())["status"] == "complete"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_an_import_ends_with_its_code(number, process):
    code = (
        "import os, sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'armsim.cli.main': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from armsim.__main__ import main\n"
        "main()"
    )
    done = process("list", python=("-c", code))
    assert (done.code, done.out, done.err.strip()) == (128 + number, "", "interrupted")


@pytest.mark.slow
def test_a_terminal_that_hangs_up_loses_no_rows(start, empty_folder):
    import pty

    ours, theirs = pty.openpty()
    program = PROGRAM.replace("os.kill(os.getpid(), number)", "hang_up(number)").replace(
        "first, call", "def hang_up(number):\n    input()\n    os.kill(os.getpid(), number)\nfirst, call", 1
    )
    python = ("-c", program, STEPS, "2", str(int(signal.SIGHUP)), "")
    reading, writing = os.pipe()
    before = os.dup(0)
    os.dup2(reading, 0)  # says when the terminal has gone
    try:
        begun = start("simulate", "two_link_hold", *SHORT, "-o", "out", stdout=theirs, stderr=theirs, python=python)
    finally:
        os.dup2(before, 0)
    os.close(theirs)
    os.close(ours)
    os.write(writing, b"gone\n")
    begun.wait(timeout=60)
    for descriptor in (before, reading, writing):
        os.close(descriptor)
    assert begun.returncode == 129
    assert yaml.safe_load((empty_folder / "out/run.yaml").read_text())["status"] == "interrupted"
