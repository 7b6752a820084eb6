"""`armsim sweep`, and studies that are killed at any call: the finished table is that of an undisturbed study, byte by byte.

`ARMSIM_KILLS=1000` takes that many kills in place of five or so, other ones each time.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
KILLS = int(os.environ.get("ARMSIM_KILLS", "0"))
GRID = (
    "--vary",
    "control.kp[1]=20:80:25",
    "--vary",
    "control.kd[1]=0:4:16",
    "--measure",
    "iae",
    "--set",
    "duration=0.02",
)
STUDY = """format: armsim/study/1
scenario: two_link_hold
set: {duration: 0.02}
vary:
  control.kp[1]: 20:80:4
  integrator.dt: [1e-3, 2e-3]
measure: [iae, overshoot]
"""


DYING = """
import itertools, os, signal, sys
from armsim.cli.main import main
calls = itertools.count(1)
def counted(native):
    def call(*args, **options):
        if next(calls) == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
        return native(*args, **options)
    return call
for name in ("write", "fsync", "replace", "remove", "open", "ftruncate"):
    setattr(os, name, counted(getattr(os, name)))
main(sys.argv[2:])
"""
CALLS = 40  # of the system, of an undisturbed study: as many, or more, at any of which it may be killed


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system cannot kill without a word")
@pytest.mark.slow
def test_a_study_that_is_killed_at_any_call_comes_to_the_bytes_of_an_undisturbed_one(empty_folder):
    def run(folder: str, call: int) -> int:
        command = [sys.executable, "-c", DYING, str(call), "sweep", "two_link_hold", *GRID, "-q", "-o", folder]
        return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=60).returncode

    assert run("whole", 0) == 0
    whole = {path.name: path.read_bytes() for path in Path("whole").iterdir()}
    rng = random.Random(random.SystemRandom().random() if KILLS else "ten")
    killed = study = 0
    while killed < (KILLS or 3):
        study += 1
        for call in (rng.randint(1, CALLS), rng.randint(1, CALLS), rng.randint(1, CALLS), 0):
            code = run(f"study {study}", call)
            assert code in (0, -signal.SIGKILL)
            killed += code != 0
        assert {path.name: path.read_bytes() for path in Path(f"study {study}").iterdir()} == whole


def test_a_sweep_says_how_it_ended_where_it_is_and_what_is_best(armsim):
    ended = armsim("sweep", "two_link_hold", *GRID, "-o", "out", "--top", 2)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[:3] == ["runs     400 of 400: 400 complete", "results  out/results.csv", "least iae, of 400 runs"]
    assert lines[3].split() == ["run", "control.kp[1]", "control.kd[1]", "iae"]
    assert len(lines) == 6
    shown = armsim("sweep", "out/study.yaml", "--show", int(lines[4].split()[0]), "-o", "best", "--json")
    assert str(json.loads(shown.out)["index"]) == lines[4].split()[0]
    assert Path("best/run.yaml").is_file()
    again = json.loads(armsim("sweep", "out/study.yaml", "-o", "out", "--json", "--largest", "--top", 1).out)
    assert (again["status"], again["ended"], again["top"][0]["status"]) == ("complete", {"complete": 400}, "complete")


def test_a_study_file_is_the_same_study_as_its_options(armsim):
    Path("gains.study.yaml").write_text(STUDY)
    options = ("--vary", "control.kp[1]=20:80:4", "--vary", "integrator.dt=1e-3,2e-3", "--measure", "iae")
    assert armsim("check", "gains.study.yaml").out.splitlines()[-1] == "gains.study.yaml: a sound study"
    assert armsim("sweep", "gains.study.yaml", "-q", "-o", "by file").code == 0
    told = armsim(
        "sweep", "two_link_hold", *options, "--measure", "overshoot", "--set", "duration=0.02", "-o", "by options"
    )
    assert "grouped by integrator.dt" in told.out
    assert Path("by file/results.csv").read_bytes() == Path("by options/results.csv").read_bytes()
    assert yaml.safe_load(Path("by file/study.yaml").read_text())["vary"]["integrator.dt"] == [0.001, 0.002]
    both = armsim("sweep", "gains.study.yaml", *options)
    assert (both.code, both.err.splitlines()[0]) == (2, "--vary")


BAD = {  # what is wrong: the file's line in place of another, and what is said of it
    "path": (
        "  control.kp[1]: 20:80:4",
        "  control.kpp: 20:80:4",
        "bad.yaml:5:3: vary.control.kpp",
        "did you mean `kp`?",
    ),
    "values": ("20:80:4", "20:80", "bad.yaml:5:18: vary.control.kp[1]", "expected: 3 numbers"),
    "distribution": ("20:80:4", "normal:1:2", "bad.yaml:5:18: vary.control.kp[1]", "sobol, runs: 1024"),
    "measure": ("overshoot", "overshot", "bad.yaml:7:16: measure `overshot`", "did you mean `overshoot`?"),
    "scenario": ("two_link_hold", "two_link_hol", "bad.yaml:2:11: scenario", "did you mean `two_link_hold`?"),
    "key": ("measure", "measures", "bad.yaml:7:1: measures", "did you mean `measure`?"),
    "list": ("20:80:4", "[[1, 2, 3]]", "bad.yaml:5:3: control.kp[1]", "values for 1 number found: 3 in each"),
    "lists": ("20:80:4", "[[1], [2, 3]]", "bad.yaml:5:18: vary.control.kp[1]", "lists of 1 and 2 numbers"),
    "set": ("duration: 0.02", "duration: -1", "bad.yaml:3:7: set.duration", "a positive number of s"),
    "structure drawn": (
        "[1e-3, 2e-3]",
        "uniform:1e-4:1e-3\nsample: {method: sobol, runs: 8}",
        "bad.yaml:6:3: vary",
        "one by",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_study_is_a_fault_with_its_line_and_a_mend_in_check_and_in_sweep(armsim, what):
    old, new, place, words = BAD[what]
    Path("bad.yaml").write_text(STUDY.replace(old, new))
    found = armsim("check", "bad.yaml")
    assert found.code == 1
    assert found.out.startswith(place)
    assert words in " ".join(found.out.split())
    ended = armsim("sweep", "bad.yaml")
    assert (ended.code, ended.out) == (2, "")
    assert not Path("studies").exists()


def test_a_study_where_a_scenario_is_expected_is_refused_with_its_command(armsim):
    Path("gains.study.yaml").write_text(STUDY)
    ended = armsim("simulate", "gains.study.yaml")
    assert ended.code == 2
    assert "run it: `armsim sweep gains.study.yaml`" in ended.err


REFUSED = {  # options, and what is said of them
    "nothing varied": ((), "--vary", "or name a study file"),
    "a word": (
        ("--vary", "integrator.method=rk5"),
        "--vary integrator.method: integrator.method",
        "did you mean `rk54`?",
    ),
    "no number": (("--vary", "control.kp[0]=1,nan"), "--vary control.kp[0]=1,nan", "correct the number"),
    "top": (("--vary", "control.kp[0]=1,2", "--top", -1), "--top -1", "0 or more"),
    "no port": (("--vary", "control.kp[0]=1,2", "--cluster", "here"), "--cluster here", "write for example here:8786"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_options_that_make_no_study_are_refused_by_name_with_a_mend(armsim, what):
    options, where, words = REFUSED[what]
    ended = armsim("sweep", "two_link_hold", "--set", "duration=0.02", "-o", "out", *options)
    assert ended.code == 2
    assert ended.err.splitlines()[0] == where
    assert words in ended.err


def test_a_study_file_that_is_not_there_is_said_to_be_missing(armsim):
    assert "no file of this name" in armsim("sweep", "gone.study.yaml").err


def test_the_shipped_study_is_sound(armsim):
    assert armsim("check", "arm5_gains").out.splitlines()[-1] == "arm5_gains: a sound study"
