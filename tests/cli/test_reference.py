"""`armsim reference` as a user meets it."""

from __future__ import annotations

import json
import math

import pytest


@pytest.mark.slow
def test_it_prints_where_joints_go_and_how_fast(armsim):
    done = armsim("reference", "arm5_move")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "arm5_move: the reference of arm5 holds from 1.5 s on"
    # 0.8 rad in 1.5 s by minimum jerk: speed 15/8, acceleration 10/sqrt(3)
    assert lines[4].split()[:4] == ["R1", "0", "0.8", "1"]
    assert float(lines[4].split()[5]) == pytest.approx(10 / math.sqrt(3) * 0.8 / 1.5**2, rel=1e-4)
    assert lines[-1] == "* within all limits of joints and motors that there are"


def test_what_is_beyond_a_joint_or_a_motor_is_told_line_by_line(armsim):
    done = armsim(
        "reference", "arm5_move", "--set", "control.reference.via[0][1]=0.9", "--set", "control.reference.times=[0.3]",
        "--set", "control.limit=24",
    )  # fmt: skip
    assert done.code == 0
    text = " ".join(done.out.split())
    assert "! R2 leaves its range: 0.9 rad, beyond 0.7, at t = 0.3 s, from t = 0.2" in text
    assert "! R1 needs " in text
    assert " at most with 24 V, at t = " in text


@pytest.mark.slow
def test_a_motion_that_comes_back_is_told_by_its_extremes(armsim):
    done = armsim("reference", "arm5_move", "--set", "control.reference.via=[[1,0,0,0,0],[0,-1.1,0.3,0,0]]",
                  "--set", "control.reference.times=[1,2]", "--set", "control.reference.profile=quintic", "--deg")  # fmt: skip
    lines = done.out.splitlines()
    assert lines[2].split()[:3] == ["joint", "least", "greatest"]
    assert lines[4].split()[:3] == ["R1", "0", "57.296"]


@pytest.mark.slow
def test_a_reference_that_the_run_cuts_short_is_told(armsim):
    done = armsim("reference", "arm5_move", "--set", "control.reference.times=[2.6]")
    assert "! the run ends before it, at 2 s: `--set duration=3`" in done.out


@pytest.mark.slow
def test_an_arm_that_begins_beside_its_reference_is_told(armsim):
    done = armsim("reference", "arm5_move", "--set", "initial.q[R1]=0.1", "--set", "control.reference.times=[0.0, 1]",
                  "--set", "control.reference.via=[[0,-1.1,0.3,0,0],[0,0,0,0,0]]")  # fmt: skip
    assert "* R1 begins 0.1 rad beside it" in done.out


@pytest.mark.slow
def test_json_has_all_of_it_and_degrees_where_they_are_asked_for(armsim):
    plain, turned = (json.loads(armsim("reference", "arm5_move", "--json", *more).out) for more in ((), ("--deg",)))
    assert list(plain) == ["scenario", "end", "duration", "joints", "exceeded", "file", "doubts"]
    (first, *_) = plain["joints"]
    keys = ["joint", "first", "last", "least", "greatest", "beside", "peak_speed", "peak_acceleration", "peak_torque"]
    assert list(first) == keys
    assert turned["joints"][0]["last"] == pytest.approx(math.degrees(first["last"]))
    assert turned["joints"][0]["peak_torque"] == first["peak_torque"]


@pytest.mark.slow
def test_its_file_is_refused_where_one_is_there(armsim, empty_folder):
    (empty_folder / "reference.csv").write_text("mine")
    done = armsim("reference", "arm5_move", "-o", "reference.csv")
    assert done.code == 2
    assert (empty_folder / "reference.csv").read_text() == "mine"
    done = armsim("reference", "arm5_move", "-o", "reference.csv", "--force")
    assert done.out.splitlines()[-1] == "written reference.csv: 151 rows"


def test_a_scenario_without_a_reference_is_refused(armsim, told):
    done = armsim("reference", "arm5_hold")
    assert done.code == 2
    told(done.err)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("{via: [[0,0,0,0,0],[0,0.1,0,0,0]], times: [0.5,1]}", "minimum jerk, 2 points, until 1 s"),
        (
            "{via: [[0,0,0,0,0]], speed: 100, acceleration: 1e6, jerk: 1e12}",
            "jerk limited, 1 point within limits, until ",
        ),
        ("{profile: chirp, amplitude: 0, frequency: 1, end_frequency: 2, duration: 1.5}", "chirp, until 1.5 s"),
        ("[0,0,0,0,sin(t)]", "formulas of the time"),
    ],
)
@pytest.mark.handful(2)
def test_info_says_what_a_scenario_follows(reference, said, armsim, empty_folder):
    text = (
        "format: armsim/scenario/1\nrobot: arm5\nduration: 2\n"
        f"control: {{law: pd, output: voltage, kp: 10, kd: 1, reference: {reference}}}\n"
    )
    (empty_folder / "s.yaml").write_text(text)
    assert f"\nfollows  {said}" in armsim("info", "s.yaml").out


@pytest.mark.slow
def test_a_reference_is_drawn_with_what_it_asks_for(armsim, empty_folder, drawn):
    pytest.importorskip("matplotlib")
    drawn = armsim("reference", "arm5_move", "--plot", "move.png")
    assert (drawn.code, drawn.err) == (0, "")
    assert drawn.out.rstrip().endswith("drawn    move.png")
    assert (empty_folder / "move.png").stat().st_size > 10_000
    again = armsim("reference", "arm5_move", "--plot", "move.png")
    assert again.code != 0
    assert "--force" in again.err


@pytest.mark.slow
def test_a_formula_without_finite_derivatives_is_told_and_where_it_stops_a_run(armsim, empty_folder):
    start = ["--set", "control.reference=[0.3*sqrt(t), -1.1, 0.3, 0, 0]"]
    planned = armsim("reference", "arm5_move", *start)
    assert planned.out.splitlines()[-1] == "! R1: no finite velocity or acceleration at times"
    ended = armsim("simulate", "arm5_move", *start, "--set", "control.feedforward=none")
    assert ended.code == 3
    assert "a negative number, in `control.reference`, also of its derivatives" in " ".join(ended.err.split())


@pytest.mark.slow
def test_parts_of_what_is_told_of_a_fastest_line_stand_one_empty_line_apart(armsim):
    line = "control.reference={line: [1.2, -0.8, 0], orientation: free, fastest: true}"
    done = armsim("reference", "two_link_hold", "--unset", "control.target", "--set", line)
    assert done.code == 0, done.err
    assert "\n\nlimit that binds" in done.out
    assert "\n\n\n" not in done.out
