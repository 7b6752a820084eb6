"""`armsim tune`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

ASKED = ("tune", "arm5_hold", "--set", "duration=0.3", "--open", "control.kp", "--bounds", "0:200", "--trials", "12")
TEST = ("--test", "payload.mass=0,4")


@pytest.mark.slow
def test_it_prints_where_the_numbers_hold_and_writes_a_scenario_that_runs(armsim, empty_folder):
    ended = armsim(*ASKED, *TEST, "-o", "t")
    assert ended.code == 0
    printed = ended.out
    assert printed.startswith("arm5_hold: iae 0.0")
    for text in (
        "trials   ",
        "1 of 1 case it was tuned at",
        "of 2 cases it was not tuned at",
        "holds with times",
        "control:\n  law: pd",
    ):
        assert text in printed
    assert max(map(len, printed.split("\ncontrol:\n")[0].splitlines())) <= 80
    assert sorted(path.name for path in Path("t").iterdir() if not path.name.startswith(".")) == [
        "results.csv", "study.yaml", "summary.yaml", "test", "tuned.yaml",
    ]  # fmt: skip
    block = yaml.safe_load(printed[printed.index("control:\n") :].split("\n\n")[0])
    tuned = yaml.safe_load(Path("t/tuned.yaml").read_text())["control"]["kp"]
    assert block["control"]["kp"] == [float(f"{gain:.5g}") for gain in tuned] != tuned
    assert armsim("simulate", "t/tuned.yaml", "-q", "-o", "r").code == 0
    assert armsim("check", "t/study.yaml", "t/test/study.yaml").code == 0
    again = armsim("tune", "t/study.yaml", "-o", "t", "--json")  # which is done, and says the same
    assert again.code == 0
    data = json.loads(again.out)
    assert data["status"] == "complete"
    assert data["test"]["cases"] == 2
    assert len(data["margins"]) == 5 + 5 + 7 + 1  # kp, kd, masses, a payload
    assert armsim("sweep", "t/test/study.yaml", "--show", "1", "-q", "-o", "s").code == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--bounds", "1:2"], "1 --open and 2 --bounds"),
        (["--open", "control.kp"], "each path once"),
        (["--open", "control.kq"], "no `kq` in control"),
        (["--stage", "control.kd"], "did you mean `control.kp`?"),
        (["--subject-to", "iae"], "no <= or >="),
        (["--minimise", "peak_torque"], "5 of them"),
        (["--case", "payload.mass=uniform:0:1"], "add --draw-cases 64"),
        (["--case", "payload.mass"], 'write for example --case "control.kp[0]=20:400:20"'),
        (["--trials", "0"], "a whole number from 1"),
        (["--method", "differential_evolution", "--trials", "3"], "a whole number from 8"),
        (["--case", "control.kp[0]=1,2"], "a number that is not sought"),
        (["--test", "control.kp=1,2"], "a number that is not sought"),
        (["--draw-cases", "4"], "something that cases vary"),
        (["--draw-test", "4"], "something that cases vary"),
        (["--open", "control.kd", "--stage", "control.kp"], "a path that a stage has"),
        (["--test", "payload.mas=1"], "payload.mas"),
        (["--holds", "iea < 3"], "did you mean `ise`?"),
    ],
)  # fmt: skip
def test_what_cannot_be_sought_is_refused_before_anything_is_run(armsim, empty_folder, changed, message):
    ended = armsim(*ASKED, *changed, "-o", "t")
    assert ended.code == 2
    assert message in ended.err
    assert not Path("t").exists()


@pytest.mark.slow
def test_a_folder_with_another_tuning_is_kept_unless_it_is_forced(armsim, empty_folder):
    assert armsim(*ASKED, *TEST, "-o", "t", "-q").code == 0
    before = Path("t/summary.yaml").read_bytes()
    ended = armsim(*ASKED, *TEST, "--seed", "1", "-o", "t")
    assert ended.code == 2
    assert "another study: other tune" in ended.err
    assert armsim(*ASKED, "--test", "payload.mass=1,2,3", "--seed", "1", "-o", "t", "-q", "--force").code == 0
    assert Path("t/summary.yaml").read_bytes() != before
    assert yaml.safe_load(Path("t/summary.yaml").read_text())["test"]["cases"] == 3


def test_studies_of_either_kind_say_which_command_takes_them(armsim, empty_folder):
    assert "run `armsim tune arm5_tune_report`" in armsim("sweep", "arm5_tune_report").err
    assert "run `armsim sweep arm5_gains`" in armsim("tune", "arm5_gains").err
    assert "the name of a study" in armsim("simulate", "arm5_gains").err
    ended = armsim("check", "arm5_tune_report", "arm5_tune_robust")
    assert "10 numbers sought over 1 case" in ended.out
    assert "15 numbers sought over 144 cases" in ended.out


@pytest.mark.parametrize(
    ("command", "study", "options"),
    [
        ("sweep", "arm5_gains", [("--vary", "control.kp=1"), ("--measure", "iae"), ("--seed", "0"), ("--force-step",),
                                 ("--random", "5"), ("--latin", "5"), ("--sobol", "5")]),
        ("tune", "arm5_tune_report", [
            ("--open", "control.kp", "--bounds", "0:1"), ("--minimise", "iae"), ("--subject-to", "iae <= 1"),
            ("--over", "mean"), ("--stage", "control.kp"), ("--case", "payload.mass=1"), ("--draw-cases", "4"),
            ("--method", "nelder_mead"), ("--trials", "5"), ("--seed", "0"), ("--holds", "iae <= 1"),
            ("--test", "payload.mass=1"), ("--draw-test", "4"), ("--force-step",),
        ]),
    ],
)  # fmt: skip
def test_what_a_study_file_says_is_not_said_beside_it(armsim, empty_folder, command, study, options, told):
    for option, *value in options:
        ended = armsim(command, study, option, *value, "-o", "t")
        assert ended.code == 2
        told(ended.err)


BAD = """format: armsim/study/1
scenario: arm5_hold
cases: {vary: {payload.mas: [0, 1], payload.mass: uniform:0:1}}
tune:
  open: {control.kp: 3, control.kd: 5:1}
  minimise: {iae: 1, overshoot: x}
  method: newton
"""


def test_all_faults_of_a_study_that_is_tuned_are_told_with_their_places(armsim, empty_folder):
    Path("bad.yaml").write_text(BAD)
    told = armsim("check", "bad.yaml").out
    for place in ("3:51: cases.vary.payload.mass", "5:22: tune.open.control.kp", "5:37: tune.open.control.kd",
                  "6:33: tune.minimise.overshoot", "7:11: tune.method"):  # fmt: skip
        assert f"bad.yaml:{place}\n" in told
    sound = BAD.replace(", payload.mass: uniform:0:1", "").replace("3, control.kd: 5:1", "0:3, control.kq: 0:1")
    Path("bad.yaml").write_text(sound.replace("x}", "2}").replace("newton", "nelder_mead\n  stages: [[control.kd]]"))
    told = armsim("check", "bad.yaml").out
    for place in ("3:16: cases.vary.payload.mas", "5:27: tune.open.control.kq", "8:13: tune.stages[0][0]"):
        assert f"bad.yaml:{place}\n" in told
    Path("bad.yaml").write_text(
        BAD[: BAD.index("cases")] + "tune:\n  open: {control.kp: 0:9}\n  minimise: iae\n  holds: [iea < 3]\n"
    )
    assert "bad.yaml:6:11: measure `iea`" in armsim("check", "bad.yaml").out
