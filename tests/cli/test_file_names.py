"""Scenario files under any name that a file can have: what armsim makes of them it also reads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from armsim.document.kinds import LONGEST_NAME, NAME
from armsim.loading.scenario_file import name_of_file

SCENARIO = """format: armsim/scenario/1
robot: two_link
duration: 0.02
integrator: {method: rk4, dt: 1e-3}
initial: {q: [0.1, 0.2]}
control: {law: pd, output: torque, kp: [9, 9], kd: [1, 1], target: [0, 0], period: 2e-3}
"""
NAMES = {
    "my scenario.yaml": "my_scenario",
    "2nd.yaml": "_2nd",
    "x:y.yaml": "x_y",
    "ä.yaml": "ä",
    "a\u0308.yaml": "ä",  # as macOS writes it
    "-o.yaml": "_-o",
    "null.yaml": "null",
    "1e3.yaml": "_1e3",
    "#{}[],&*!|>'\"%@`.yaml": "________________",
    ".hidden.yaml": "_.hidden",
    "two\nlines.yaml": "two_lines",
    "$(touch it).yaml": "__touch_it_",
    "n" * 200 + ".yaml": "n" * LONGEST_NAME,
    "no ending": "no_ending",
}


@pytest.mark.parametrize("file", NAMES)
def test_a_name_is_made_of_any_file_name(file):
    assert name_of_file(f"folder/{file}") == NAMES[file]
    assert NAME.fullmatch(NAMES[file])


@pytest.mark.parametrize(
    "file", [file for file in NAMES if file not in ("ä.yaml", "null.yaml", "1e3.yaml", ".hidden.yaml")]
)
@pytest.mark.slow
def test_what_is_made_of_a_scenario_of_any_name_is_read_again(file, armsim, empty_folder):
    Path("in").mkdir()
    Path("in", file).write_text(SCENARIO)
    name, given = NAMES[file], f"./in/{file}"

    def do(*words):
        ended = armsim(*words)
        assert ended.code == 0, ended.err
        return ended

    do("check", given)
    do("info", given)
    do("simulate", given)
    run = f"runs/{name}-001"
    assert yaml.safe_load(Path(run, "run.yaml").read_text())["scenario"]["name"] == name
    do("simulate", f"{run}/run.yaml", "-o", "again")
    assert Path("again/trajectory.csv").read_bytes() == Path(run, "trajectory.csv").read_bytes()
    do("compare", run, "again")
    do("plot", run, "-o", "run.svg")
    do("report", run, "-o", "run.html")
    do("record", given, "-o", "recorded")
    do("replay", "recorded")
    do("sweep", given, "--vary", "control.kp[0]=8,9")
    study = f"studies/{name}-001"
    do("sweep", f"{study}/study.yaml", "-o", "swept")
    assert Path("swept/results.csv").read_bytes() == Path(study, "results.csv").read_bytes()
    do("check", f"{study}/study.yaml")
    do("report", study, "-o", "study.html")


def test_a_name_that_is_no_text_is_refused_and_a_folder_of_such_a_name_hinders_nothing(
    armsim, empty_folder, monkeypatch
):
    folder, file = os.fsdecode(b"\xfe"), os.fsdecode(b"\xff.yaml")
    try:
        Path(folder).mkdir()
    except OSError:
        pytest.skip("the system has no such names")
    Path(folder, file).write_text(SCENARIO)
    monkeypatch.chdir(folder)
    refused = armsim("simulate", file)
    assert refused.code == 2
    assert "found:    a name that is no text in UTF-8\n  mend:     rename it" in refused.err
    csv = "inputs: {torque: [{csv: u.csv, column: u}, 0]}\n"
    Path("mine.yaml").write_text(SCENARIO[: SCENARIO.index("control")] + csv)
    Path("u.csv").write_text("t_s,u\n0,1\n1,2\n")
    assert armsim("simulate", "mine.yaml", "-o", "out").code == 0
    assert "\\xfe" in Path("out/run.yaml").read_text()


@pytest.mark.slow
def test_what_is_tuned_of_a_scenario_of_any_name_is_read_again(armsim, empty_folder):
    Path("2nd try.yaml").write_text(SCENARIO)
    tuned = ("tune", "2nd try.yaml", "--open", "control.kp[0]", "--bounds", "8:10", "--trials", "2")
    asked = (*tuned, "--test", "payload.mass=0.1,0.2", "--holds", "iae < 9")
    for _ in range(2):  # again, from what is there
        ended = armsim(*asked)
        assert ended.code == 0, ended.err
    for words in (
        ("simulate", "studies/_2nd_try-001/tuned.yaml"),
        ("check", "studies/_2nd_try-001/study.yaml"),
        ("tune", "studies/_2nd_try-001/study.yaml", "-o", "again"),
        ("report", "again"),
    ):
        ended = armsim(*words)
        assert ended.code == 0, ended.err
    both = (Path(folder, "tuned.yaml").read_text() for folder in ("again", "studies/_2nd_try-001"))
    assert len({text.replace("../../", "../") for text in both}) == 1
