"""Pipes: those of a folder are no files and are not waited for; what a shell hands over, `<(...)` and /dev/stdin, is read."""

from __future__ import annotations

import contextlib
import os
import signal

import pytest

from tests.cli.conftest import ROOT

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")

ROBOT = (ROOT / "robots/two_link.yaml").read_text()
SCENARIO = """format: armsim/scenario/1
robot: two_link
duration: 0.02
integrator: {method: rk4, dt: 1e-3}
"""
STUDY = "format: armsim/study/1\nscenario: two_link_hold\nset: {duration: 0.02}\nvary: {'control.kp[0]': [1, 2]}\n"
NAMING = {
    "robot": SCENARIO.replace("two_link", "./pipe"),
    "model": SCENARIO
    + "control: {law: computed_torque, output: torque, kp: 1, kd: 1, target: [0, 0], model: ./pipe}\n",
    "input": SCENARIO + "inputs: {torque: [{csv: pipe, column: u}, 0]}\n",
    "reference": SCENARIO + "control: {law: pd, output: torque, kp: 1, kd: 1, reference: {csv: pipe}}\n",
    "scenario": STUDY.replace("two_link_hold", "./pipe"),
    "robot of a stream": SCENARIO.replace("two_link", "/dev/stdin"),
}
NAMED = {
    "check": ("check", "pipe"),
    "check of YAML": ("check", "pipe.yaml"),
    "check of a robot of a folder": ("check", "./pipe"),
    "simulate": ("simulate", "./pipe"),
    "info": ("info", "./pipe"),
    "fk": ("fk", "./pipe"),
    "sweep": ("sweep", "./pipe"),
    "tune": ("tune", "./pipe"),
    "linearize": ("linearize", "./pipe"),
    "columns": ("replay", "table.csv", "--robot", "two_link", "--columns", "./pipe"),
    "log": ("replay", "pipe.csv", "--robot", "two_link"),
    "recording": ("replay", "folder"),
    "drawn": ("plot", "pipe.csv"),
    "drawn Parquet": ("plot", "pipe.parquet"),
    "compared": ("compare", "pipe.csv", "table.csv"),
    "target": ("simulate", "two_link_hold", "-o", "folder", "--force"),
    "seen": ("view", "folder", "-o", "page.html"),
}


@pytest.fixture(autouse=True)
def guard():
    """Ends a test that waits for a pipe, after a time in which any machine has done all else."""

    def tell(*_) -> None:
        os._exit(99)  # nothing else is sure to be heard

    before = signal.signal(signal.SIGALRM, tell)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("named", NAMED)
def test_a_pipe_under_a_name_is_refused_and_not_waited_for(named, armsim, empty_folder):
    (empty_folder / "folder").mkdir()
    (empty_folder / "table.csv").write_text("t_s,x\n0,1\n1,2\n")
    for name in ("pipe", "pipe.yaml", "pipe.csv", "pipe.parquet", "folder/run.yaml", "folder/record.csv"):
        os.mkfifo(empty_folder / name)
    ended = armsim(*NAMED[named])
    assert ended.code in (1, 2), ended.err
    assert "expected:" in ended.err + ended.out
    if "folder" not in NAMED[named]:  # of which the pipe is but a part
        assert "a pipe or a device" in ended.err + ended.out
    assert "mend:" in ended.err + ended.out


@pytest.mark.parametrize("key", NAMING)
def test_a_pipe_that_a_file_names_is_refused_at_its_key_and_not_waited_for(key, armsim, empty_folder):
    os.mkfifo(empty_folder / "pipe")
    (empty_folder / "mine.yaml").write_text(NAMING[key])
    with stream(b""):
        checked = armsim("check", "mine.yaml")
    assert checked.code == 1
    assert "a pipe or a device" in checked.out + checked.err
    assert "mine.yaml:" in checked.out + checked.err


@contextlib.contextmanager
def stream(text: bytes):
    """The descriptor of a pipe with a text, as a shell makes it of `<(...)`; it is the standard input, too."""
    reading, writing = os.pipe()
    os.write(writing, text)
    os.close(writing)
    before = os.dup(0)
    os.dup2(reading, 0)
    try:
        yield reading
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(reading)


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/{}", "/proc/self/fd/{}"])
@pytest.mark.parametrize(
    ("words", "text", "said"),
    [
        (("check",), SCENARIO, "sound"),
        (("check",), ROBOT, "sound"),
        (("check",), STUDY, "sound"),
        (("info",), ROBOT, "two_link"),
        (("info",), SCENARIO, "two_link"),
        (("fk",), ROBOT, "two_link"),
        (("simulate", "-o", "out"), SCENARIO, "out"),
        (("sweep", "-o", "out"), STUDY, "out"),
        (("simulate", "two_link_hold", "--set", "duration=0.02", "-o", "out", "--set"), ROBOT, "out"),
    ],
)
@pytest.mark.handful(6)
def test_what_a_shell_hands_over_is_read_however_often_it_is_asked_for(name, words, text, said, armsim):
    if not os.path.exists(name.split("{")[0]):
        pytest.skip(f"the system has no {name}")
    with stream(text.encode()) as number:
        given = name.format(number)
        ended = armsim(*words, f"robot={given}" if words[-1] == "--set" else given)
    assert ended.code == 0, ended.err
    assert said in ended.out + ended.err
