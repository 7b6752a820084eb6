"""`armsim record`, `replay` and `compare` as a user meets them."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
from types import SimpleNamespace

import pytest
import yaml

RECORD = ("record", "arm5_hold", "--set", "control.period=1e-3", "--set", "duration=0.5")


@pytest.fixture
def ask(tmp_path, monkeypatch, capsys):
    """Runs armsim in this process, in an empty folder: exit code, standard output, standard error."""
    from armsim.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*args) -> SimpleNamespace:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        out, err = capsys.readouterr()
        return SimpleNamespace(code=ended.value.code, out=out, err=err)

    return run


def test_a_recording_is_made_and_replayed(ask):
    made = ask(*RECORD, "-o", "out")
    assert (made.code, made.err) == (0, "")
    assert made.out.splitlines() == [
        "arm5_hold: 0.5 s of arm5, 5000 steps of 0.0001 s by explicit_euler",
        "samples  501, each with 18 numbers of state and 5 voltages",
        "work     motors +0.0439 J",
        "residual +3.6e-06 J, 0.0013 % of the energy exchanged",
        "written  out: record.csv, run.yaml",
    ]
    again = ask("replay", "out")
    assert (again.code, again.err) == (0, "")
    assert again.out.splitlines() == [
        "out: 501 samples over 0.5 s, replayed on arm5 by explicit_euler, dt 0.0001 s",
        "equal to the bit: 18 numbers at 501 instants",
    ]
    assert ask("replay", "out/run.yaml", "-q").out == ""


def test_without_a_folder_it_is_numbered_like_a_run(ask):
    assert "runs/arm5_hold-001" in ask(*RECORD).out
    assert os.path.isfile("runs/arm5_hold-001/record.csv")
    refused = ask(*RECORD, "-o", "runs/arm5_hold-001")
    assert refused.code == 2
    assert "an earlier run" in refused.err
    assert ask(*RECORD, "-o", "runs/arm5_hold-001", "--force").code == 0


def test_a_recording_takes_no_options_of_logs(ask):
    for option in (["--columns", "{}"], ["--interpolate"], ["--feedback", "arm5_hold"]):
        refused = ask("replay", "out", *option)
        assert refused.code == 2
        assert option[0] in refused.err


@pytest.mark.slow
def test_a_log_is_replayed_under_the_controller_that_sees_it(ask):
    ask(*RECORD, "-o", "out", "-q")
    told = ask("replay", "out/record.csv", "--feedback", "out/run.yaml")
    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    at = lines.index("feedback pd of arm5_hold, every 0.001 s, which sees the measured positions; its")
    assert lines[at + 1].strip() == "commands: off the logged ones by R1 0, R2 0, R3 0, R4 0, R5 0 V (rms)"
    drifts = [line for line in lines if line.startswith("R3 ")]
    assert drifts[0] == drifts[1]
    data = json.loads(ask("replay", "out/record.csv", "--feedback", "out/run.yaml", "--json").out)
    assert data["fed"]["commands_off"] == [0.0] * 5
    assert data["fed"]["horizons"] == data["horizons"]


def test_a_continuous_command_makes_nothing(ask):
    refused = ask("record", "arm5_hold", "-o", "out")
    assert refused.code == 2
    assert "  mend:     set `control.period`, for example `--set control.period=0.001`" in refused.err
    assert not os.path.exists("out")


def test_another_integrator_differs_and_exits_with_1(ask):
    ask(*RECORD, "-o", "out", "-q")
    differs = ask("replay", "out", "--method", "rk4")
    assert differs.code == 1
    lines = differs.out.splitlines()
    assert lines[1] == "differs from 0.001 s on"
    assert lines[3].split() == ["difference", "final", "rms", "largest", "began"]
    assert [line.split()[:2] for line in lines[4:6]] == [["R1", "q"], ["R2", "q"]]
    assert all(len(line) <= 80 for line in lines)
    assert lines[14:] == ["also differing: qdd, tool", "(-v shows every column)"]
    assert len(ask("replay", "out", "--method", "rk4", "-v").out.splitlines()) == 4 + 18
    within = ask("replay", "out", "--method", "rk4", "--tolerance", "q=1e-3,qd=1")
    assert within.code == 0
    assert "within the tolerance: 10 of 18 numbers at 501 instants" in within.out


def test_json_holds_every_column(ask):
    ask(*RECORD, "-o", "out", "-q")
    data = json.loads(ask("replay", "out", "--method", "semi_implicit_euler", "--json").out)
    assert (data["equal"], data["differs"], data["method"]) == (False, True, "semi_implicit_euler")
    assert len(data["columns"]) == 18
    assert set(data["columns"]["q_R1_rad"]) == {"final", "rms", "largest", "at", "began", "tolerance"}
    assert json.loads(ask("compare", "out", "out", "--json").out)["equal"] is True
    assert json.loads(ask(*RECORD, "-o", "two", "--json").out)["samples"] == 501


@pytest.mark.slow
def test_angles_are_shown_and_judged_in_degrees_if_that_is_wanted(ask):
    ask(*RECORD, "-o", "out", "-q")
    options = ("replay", "out", "--method", "rk4")
    radians, degrees = (json.loads(ask(*options, *more, "--json").out)["columns"] for more in ((), ("--deg",)))
    for heading, turned in (
        ("q_R1_rad", "q_R1_deg"),
        ("qd_R2_rad_s", "qd_R2_deg_s"),
        ("qdd_R5_rad_s2", "qdd_R5_deg_s2"),
    ):
        for key in ("final", "rms", "largest"):
            assert degrees[turned][key] == pytest.approx(math.degrees(radians[heading][key]), rel=1e-12)
        assert degrees[turned]["at"] == radians[heading]["at"]
    assert degrees["x_m"] == radians["x_m"]
    largest = max(column["largest"] for heading, column in degrees.items() if heading.startswith("q_"))
    assert largest > 1e-3  # so that the same number in radians would allow all of it
    assert ask(*options, "--deg", "--tolerance", f"q={0.9 * largest!r}").code == 1
    assert ask(*options, "--deg", "--tolerance", f"q={1.1 * largest!r}").code == 0
    shown = ask(*options, "--deg").out.splitlines()
    assert shown[4].startswith("R1 q [deg] ")
    assert ask("replay", "out", "--deg").out.splitlines()[1] == "equal to the bit: 18 numbers at 501 instants"


@pytest.mark.slow
def test_the_drift_from_a_log_is_shown_in_degrees_if_that_is_wanted(ask):
    ask(*RECORD, "-o", "out", "-q")
    options = ("replay", "out/record.csv", "--robot", "arm5")
    radians, degrees = (json.loads(ask(*options, *more, "--json").out)["horizons"] for more in ((), ("--deg",)))
    for one, other in zip(radians, degrees, strict=True):
        for key in ("final", "largest"):
            for joint, drift in one[key].items():
                assert other[key][joint] == pytest.approx(math.degrees(drift), rel=1e-12)
    first = ask(*options, "--deg").out.splitlines()[6].split()
    assert (first[0], first[2], first[4]) == ("R1", "deg", "deg")


@pytest.mark.slow
def test_a_replay_that_diverges_exits_with_3(ask):
    ask(*RECORD, "-o", "out", "-q")
    lost = ask("replay", "out", "--dt", "1e-3")
    assert lost.code == 3
    assert lost.err.startswith("the replay diverged after t = ")
    assert json.loads(ask("replay", "out", "--dt", "1e-3", "--json").out)["diverged"].startswith("qd_")


def test_an_adaptive_recording_counts_its_steps_and_its_landings(ask, tmp_path):
    settings = ("--set", "integrator={method: rk54}", "--set", "duration=0.5")
    told = json.loads(ask("record", "two_link_swing", "-o", "counted", "--json", *settings).out)
    written = yaml.safe_load((tmp_path / "counted/run.yaml").read_text())
    assert told["landings"] == written["landings"] == 50
    assert told["steps"] == written["steps"] != 50
    assert f" {told['steps']} steps" in ask("record", "two_link_swing", "-o", "again", *settings).out


@pytest.mark.slow
def test_an_adaptive_method_tells_the_error_of_a_recordings_steps(ask):
    ask(*RECORD, "-o", "out", "-q")
    replayed = ask("replay", "out", "--method", "rk54", "--rtol", "1e-8", "--tolerance", "q=1e-2")
    assert replayed.code == 0
    assert replayed.out.splitlines()[0].endswith("replayed on arm5 by rk54, rtol 1e-08")
    wrong = ask("replay", "out", "--rtol", "1e-8")
    assert wrong.code == 2
    assert "expected: no tolerance with explicit_euler, whose steps have a given length" in wrong.err
    followed = ask("replay", "out/record.csv", "--robot", "arm5", "--method", "rk54")
    assert followed.out.splitlines()[1] == "model    arm5 by rk54, rtol 1e-06"


def test_a_recording_that_diverges_exits_with_3_and_names_the_joint(ask):
    lost = ask(
        "record",
        "arm5_hold",
        "-o",
        "out",
        "--set",
        "integrator.dt=1e-3",
        "--set",
        "control.period=1e-3",
        "--force-step",
    )
    assert lost.code == 3
    assert (
        ": the velocity of joint R4 grew without bound\n  expected: a velocity within 1e+09 rad/s or m/s\n"
        "  found:    2.6-fold a step, with alternating sign; "
    ) in lost.err


def test_a_log_is_followed_without_judgement(ask):
    ask(*RECORD, "-o", "out", "-q")
    asked = ask("replay", "out/record.csv")
    assert asked.code == 2
    assert "--robot ROBOT" in asked.err
    followed = ask("replay", "out/record.csv", "--robot", "arm5")
    assert followed.code == 0
    lines = followed.out.splitlines()
    assert lines[1:4] == [
        "model    arm5 by semi_implicit_euler, steps of at most 0.0001 s",
        "inputs   voltage, each row's held until the next",
        "qd       from the log",
    ]
    assert lines[5].split() == ["joint", "0.1", "s", "largest", "all,", "0.5", "s", "largest"]
    assert ask("replay", "out/record.csv", "--robot", "arm5", "--tolerance", "q=1e-9").code == 1
    assert ask("replay", "out/record.csv", "--robot", "arm5", "--tolerance", "q=0.1").code == 0
    data = json.loads(ask("replay", "out/record.csv", "--robot", "arm5", "--json").out)
    assert [horizon["windows"] for horizon in data["horizons"]] == [5, 1]


@pytest.mark.slow
def test_a_log_with_text_and_gaps_is_followed_and_compared_and_that_is_said(ask, tmp_path):
    ask(*RECORD, "-o", "out", "-q")
    head, *rows = (tmp_path / "out/record.csv").read_text().splitlines()
    rows = [f"{row},auto,{'' if k % 50 else 21.5}" for k, row in enumerate(rows)]
    rows[7] = rows[7].partition(",")[0] + "," + rows[7].partition(",")[2].partition(",")[2].join(["nan,", ""])
    (tmp_path / "log.csv").write_text("\n".join([head.replace("t_s", "time_us") + ",mode,temperature", *rows]))
    refused = ask("replay", "log.csv", "--robot", "arm5")
    assert refused.err.endswith('mend:     rename columns, or add --columns "{t_s: time_us*1e-6}"\n')
    (tmp_path / "map.yaml").write_text("t_s: time_us\n")
    said = "rows skipped, with a cell missing: line 9"
    followed = ask("replay", "log.csv", "--robot", "arm5", "--columns", "map.yaml")
    assert said in followed.out
    assert (
        said
        in json.loads(ask("replay", "log.csv", "--robot", "arm5", "--columns", "{t_s: time_us}", "--json").out)[
            "notes"
        ][0]
    )
    compared = ask("compare", "out", "log.csv", "--columns", "map.yaml", "--interpolate", "--tolerance", "q=1e-3")
    assert compared.code == 0
    assert said in compared.out
    assert ask("compare", "out", "out", "--columns", "map.yaml").code == 2


@pytest.mark.slow
def test_runs_are_compared(ask):
    for name, gain in (("a", 60), ("b", 60), ("c", 61)):
        ask("simulate", "arm5_hold", "--set", "duration=0.5", "--set", f"control.kp[0]={gain}", "-o", name, "-q")
    same = ask("compare", "a", "b")
    assert same.code == 0
    assert same.out.splitlines()[1].startswith("equal to the bit: ")
    other = ask("compare", "a", "c")
    assert other.code == 1
    assert "differs from 0 s on" in other.out
    assert ask("compare", "a", "c", "--tolerance", "q=0.1").code == 0


def test_differences_and_tolerances_may_be_in_degrees(ask):
    for name, q in (("a", "0.9"), ("b", "0.901")):
        ask("simulate", "rr_config1", "--set", "duration=0.002", "--set", f"initial.q=[0.5,{q}]", "-o", name)
    columns = json.loads(ask("compare", "a", "b", "--deg", "--json").out)["columns"]
    names = [name for name in columns if name.startswith("q_")]
    assert all(name.endswith("_deg") for name in names)
    assert columns[names[1]]["largest"] == pytest.approx(math.degrees(1e-3), rel=1e-3)
    assert ask("compare", "a", "b", "--deg", "--tolerance", "q=0.06").code == 0  # of 0.0573 deg
    assert ask("compare", "a", "b", "--deg", "--tolerance", "q=0.05").code == 1


def test_runs_in_degrees_and_radians_are_compared_and_that_is_said(ask):
    options = ("simulate", "arm5_hold", "-q")
    ask(*options, "-o", "a")
    ask(*options, "-o", "b", "--deg")
    same = ask("compare", "a", "b")
    assert same.code == 0
    assert same.out.splitlines() == [
        "b against a: 501 instants to 5 s",
        "18 columns of b taken from degrees to radians; what differs by the rounding of",
        "  that alone counts as equal",
        "equal: 65 numbers at 501 instants",
    ]
    assert "18 columns of a taken from radians to degrees" in ask("compare", "b", "a").out
    assert len(json.loads(ask("compare", "a", "b", "--json").out)["converted"]) == 18
    assert json.loads(ask("compare", "a", "a", "--json").out)["converted"] == []


@pytest.mark.parametrize(
    "args",
    [
        ("replay", "nothing"),
        ("replay", "nothing.csv", "--robot", "arm5"),
        ("replay", "out", "--columns", "map.yaml"),
        ("replay", "out", "--tolerance", "q"),
        ("replay", "out", "--tolerance", "q=,qd=1"),
        ("replay", "out", "--tolerance", "speed=1"),
        ("replay", "out", "--dt", "0"),
        ("replay", "out", "--method", "euler"),
        ("replay", "out", "--robot", "nobody"),
        ("compare", "out", "nothing"),
    ],
)
@pytest.mark.handful(3)
def test_what_cannot_be_done_is_refused_with_a_mend(args, ask):
    ask(*RECORD, "-o", "out", "-q")
    refused = ask(*args)
    assert (refused.code, refused.out) == (2, "")
    assert len(refused.err.splitlines()) == 4
    assert refused.err.splitlines()[3].startswith("  mend:  ")


def test_without_matplotlib_a_plot_is_refused_before_anything_is_done(ask, monkeypatch, told):
    ask(*RECORD, "-o", "out", "-q")
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    refused = ask("replay", "out", "--plot", "out.png")
    assert (refused.code, refused.out) == (2, "")
    told(refused.err)


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
@pytest.mark.filterwarnings("default")  # matplotlib's own are not ours to mend
@pytest.mark.slow
def test_both_courses_are_drawn(ask):
    ask(*RECORD, "-o", "out", "-q")
    for command in (
        ("replay", "out", "--method", "rk4"),
        ("replay", "out/record.csv", "--robot", "arm5"),
        ("compare", "out", "out"),
    ):
        assert "drawn    out.png" in ask(*command, "--plot", "out.png", "--force").out
        with open("out.png", "rb") as file:
            assert file.read(8) == b"\x89PNG\r\n\x1a\n"
        os.remove("out.png")
    refused = ask("replay", "out", "--plot", "out.xyz")
    assert refused.code == 2
    assert "write for example --plot out.png" in refused.err
    assert ask("replay", "out", "--plot", "no/out.png").code == 2
