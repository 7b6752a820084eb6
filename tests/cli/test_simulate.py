"""`armsim simulate` as a user meets it."""

from __future__ import annotations

import hashlib
import json
import math
import os
import pty
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest
import yaml

from armsim.files.shipped import shipped_names

FILES = ["run.yaml", "torque.csv", "trajectory.csv"]
SHORT = ("--set", "duration=0.02", "--set", "log.every=1e-3")
ENDLESS = ("--set", "duration=100000", "--set", "log.every=10")  # minutes, in machine code


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("trajectory.csv", "torque.csv")}


def test_a_shipped_scenario_makes_a_numbered_run_folder(armsim, empty_folder):
    first = armsim("simulate", "arm5_hold", *SHORT)
    assert (first.code, first.err) == (0, "")
    armsim("simulate", "arm5_hold", *SHORT)
    assert sorted(os.listdir(empty_folder / "runs")) == ["arm5_hold-001", "arm5_hold-002"]
    assert sorted(os.listdir(empty_folder / "runs/arm5_hold-001")) == FILES
    assert first.out.splitlines()[-1] == "written  runs/arm5_hold-001: trajectory.csv (21 rows), torque.csv, run.yaml"


def test_the_report_says_where_the_arm_ended_and_how_far_off(armsim, read_table, empty_folder):
    report = armsim("simulate", "arm5_hold", "-o", "run").out
    end = {key: column[-1] for key, column in read_table(empty_folder / "run/trajectory.csv").items()}
    row = next(line.split() for line in report.splitlines() if line.startswith("R2 "))
    assert row[1:4] == [f"{end['q_R2_rad']:.5g}", "-1.1", f"{-1.1 - end['q_R2_rad']:.3g}"]
    # at rest the motor holds gravity: Kp/Ra kp droop = tau_gravity, to first order in the droop
    assert float(row[4]) == pytest.approx(-8.1234 / 600, abs=5e-5)  # three digits are shown
    assert "the steady droop that gravity leaves under pd control" in report
    assert "x 0.620960  y 0.000000  z 0.324010 m" in report


def test_what_went_wrong_stands_before_the_table_of_joints(armsim, empty_folder):
    weak = ("--set", "control.kp=2", "--set", "control.target[4]=1.3", "--set", "duration=2")
    for words in (
        ("arm5_fall",),  # whose step is near its limit
        ("arm5_hold", *weak),
    ):
        lines = armsim("simulate", *words).out.splitlines()
        (table,) = (k for k, line in enumerate(lines) if line.startswith("joint "))
        wrong = [k for k, line in enumerate(lines) if line.startswith("! ")]
        assert wrong
        assert max(wrong) < table
    assert any(lines[k].startswith("! R5 was outside its range") for k in wrong)


def test_pi_control_has_no_droop_to_speak_of(armsim):
    report = armsim("simulate", "arm5_hold_pi", *SHORT).out
    assert "droop" not in report


def test_a_log_of_one_row_is_told_by_the_run_and_by_check(armsim, empty_folder):
    report = armsim("simulate", "two_link_swing", "--set", "log.every=20").out
    assert "! one row was written, of the start: `log.every` is longer than the duration\n" in report
    whole = armsim("simulate", "two_link_swing", "--set", "log.every=5").out
    assert "(2 rows)" in whole
    assert "!" not in whole
    text = "format: armsim/scenario/1\nrobot: rr\nduration: 1\nlog: {every: 2}\n"
    (empty_folder / "s.yaml").write_text(text)
    assert (
        "a time between rows of 1 s at most, the duration\n  found:    2 s: only the first row"
        in armsim("check", "s.yaml").out
    )


def test_times_of_seconds_are_not_told_in_thousands_of_milliseconds():
    from armsim.clock import seconds

    assert [seconds(x) for x in (5.25, 0.9999, 0.9994, 0.00068)] == ["5.25 s", "1 s", "999 ms", "680 µs"]


def test_gains_are_set_by_joint_and_keys_taken_out(armsim, empty_folder):
    by_joint = ("--set", "control.kp=60", "--set", "control.kp[R2]=80", "--unset", "control.target")
    assert armsim("simulate", "arm5_hold", *SHORT, *by_joint, "-o", "run").code == 0
    made = yaml.safe_load((empty_folder / "run/run.yaml").read_text())["scenario"]["control"]
    assert (made["kp"], made["target"]) == ([60, 80, 60, 60, 60], [0, -1.1, 0.3, 0, 0])
    pi = ("--set", "control.law=pi")
    asked = armsim("simulate", "arm5_hold", *SHORT, *pi)
    assert asked.code == 2
    more = asked.err.splitlines()[-1].removeprefix("  mend:     add ").split()
    assert armsim("simulate", "arm5_hold", *SHORT, *pi, *more).code == 0  # as the message has it


def test_a_path_cannot_be_set_and_unset(armsim):
    wrong = armsim("simulate", "arm5_hold", "--set", "control.kp=1", "--unset", "control.kp")
    assert wrong.code == 2
    assert "expected: either --set or --unset\n  found:    both" in wrong.err


def test_energies_and_steps_are_reported(armsim):
    report = armsim("simulate", "two_link_swing").out
    assert "two_link_swing: 5 s of two_link, 5000 steps of 0.001 s by rk4" in report
    energy = next(line.split() for line in report.splitlines() if line.startswith("energy"))
    assert energy[1] == energy[6]  # rk4 keeps it to the six digits shown
    assert "steps a second" in report


def test_work_and_what_it_leaves_unexplained_are_reported(armsim, empty_folder):
    report = armsim("simulate", "two_link_swing", "-o", "run", "--set", "integrator.method=explicit_euler").out
    audit = yaml.safe_load((empty_folder / "run/run.yaml").read_text())["audit"]
    lines = report.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("work"))
    assert lines[at - 1].endswith(f" J at the end: {audit['change']:+.3g} J")
    share = f"{100 * audit['relative']:.2g} % of the energy exchanged"
    assert lines[at : at + 4] == [
        "work     none",
        f"residual {audit['residual']:+.3g} J, {share}",
        "! the residual is energy that the integrator made or lost, and it is large: take",
        "  a shorter step than 0.001 s, or a method of higher order",
    ]
    rubbing = ("--set", "robot.joints[0].friction={viscous: 1}")
    settled = armsim("simulate", "two_link_swing", *rubbing).out
    assert "work     friction -" in settled
    assert "!" not in settled


@pytest.mark.parametrize(
    ("part", "text"),
    [(0.0, "0 %"), (3.5e-12, "less than 1e-6 %"), (6.28e-8, "6.3e-6 %"), (1.2e-5, "0.0012 %"), (0.0321, "3.2 %"),
     (0.5, "50 %"), (0.999, "100 %"), (1.234, "123 %")],
)  # fmt: skip
def test_shares_read_well(part, text):
    from armsim.notebook import percent

    assert percent(part) == text


def test_what_lasts_for_the_whole_run_lasts_for_100_percent_of_it(armsim):
    held = armsim("simulate", "arm5_hold_pi", "--set", "control.target=[1, -1.1, 0.3, 0, 0]", "--set", "duration=0.01")
    assert "! R1 saturated for 0.01 s (100 %, and at the end), first at 0 s" in held.out


def test_the_speed_is_that_of_the_loop_and_says_so(armsim):
    summary = json.loads(armsim("simulate", "arm5_hold", *SHORT, "--json").out)
    assert summary["steps_per_second"] == pytest.approx(summary["steps"] / summary["seconds"]["loop_s"])
    last = armsim("simulate", "arm5_hold", *SHORT).out.splitlines()[-2]
    assert last.startswith("speed ")
    assert last.endswith("s in its loop")


def test_fixed_steps_have_neither_landings_nor_unseen_peaks(armsim):
    assert "landings" not in armsim("simulate", "arm5_hold", *SHORT).out
    assert "landings" not in json.loads(armsim("simulate", "arm5_hold", *SHORT, "--json").out)


def test_json_says_in_numbers_what_the_report_says_in_words(armsim, empty_folder):
    summary = json.loads(armsim("simulate", "arm5_hold", *SHORT, "--json").out)
    assert summary["status"] == "complete"
    assert (summary["steps"], summary["rows"], summary["dt"]) == (200, 21, 1e-4)
    assert [joint["name"] for joint in summary["joints"]] == ["R1", "R2", "R3", "R4", "R5"]
    assert Path(summary["folder"]) == Path("runs/arm5_hold-001")
    recorded = yaml.safe_load((empty_folder / "runs/arm5_hold-001/run.yaml").read_text())
    finite = [{k: None if v == math.inf else v for k, v in joint.items()} for joint in recorded["joints"]]
    assert finite == summary["joints"]
    assert recorded["figures"] == summary["figures"]


def test_quiet_prints_nothing_and_writes_all(armsim, empty_folder):
    done = armsim("simulate", "rr_config1", "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert sorted(os.listdir(empty_folder / "runs/rr_config1-001")) == FILES


@pytest.mark.usefixtures("no_kernels")
def test_verbose_names_algorithm_engine_and_times(armsim):
    report = armsim("simulate", "rr_config1", *SHORT, "-v", "--set", "integrator.dt=1e-3").out
    assert "detail   crba forward dynamics, llvm engine" in report
    assert "times    trace " in report


def test_degrees_reach_the_files_the_report_and_the_json(armsim, read_table, empty_folder):
    armsim("simulate", "arm5_hold", *SHORT, "-o", "rad")
    report = armsim("simulate", "arm5_hold", *SHORT, "-o", "deg", "--deg").out
    as_json = json.loads(armsim("simulate", "arm5_hold", *SHORT, "-o", "json", "--deg", "--json").out)
    radians, degrees = (read_table(empty_folder / name / "trajectory.csv") for name in ("rad", "deg"))
    for quantity, unit in (("q", ""), ("qd", "_s"), ("qdd", "_s2")):
        expected = np.degrees(radians[f"{quantity}_R2_rad{unit}"])
        np.testing.assert_allclose(degrees[f"{quantity}_R2_deg{unit}"], expected, rtol=1e-15)
    assert contents(empty_folder / "rad")["torque.csv"] == contents(empty_folder / "deg")["torque.csv"]
    end = degrees["q_R2_deg"][-1]
    assert as_json["joints"][1]["q"] == pytest.approx(end, rel=1e-14)
    assert as_json["joints"][1]["target"] == pytest.approx(math.degrees(-1.1), rel=1e-14)
    assert f"{end:.5g}" in report
    assert " deg" in report


def test_set_changes_scenario_and_robot(armsim, empty_folder):
    settings = ["control.kp[0]=80", "robot.joints[R2].motor.Ra=1.2", "initial.q=[0,-1.1,0.3,0,0]", "duration=0.01"]
    armsim("simulate", "arm5_hold", "-o", "run", *(x for setting in settings for x in ("--set", setting)))
    scenario = yaml.safe_load((empty_folder / "run/run.yaml").read_text())["scenario"]
    assert scenario["control"]["kp"][0] == 80
    assert scenario["robot"]["joints"][1]["motor"]["Ra"] == 1.2
    assert scenario["initial"]["q"] == [0, -1.1, 0.3, 0, 0]
    assert scenario["duration"] == 0.01


@pytest.mark.parametrize("setting", ["control.kp", "contol.kp=80", "joints[R2].motor.gear=50"])
def test_a_setting_that_leads_nowhere_is_refused_before_anything_is_written(armsim, empty_folder, setting, told):
    wrong = armsim("simulate", "arm5_hold", "--set", setting)
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)
    assert os.listdir(empty_folder) == []


def test_a_scenario_with_faults_is_refused_with_all_of_them(armsim, empty_folder, told):
    (empty_folder / "bad.yaml").write_text(
        "format: armsim/scenario/1\nrobot: rr\nduration: -1\nintegrator: {method: rk4, dt: 1e-3}\nlog: {evry: 0.1}\n"
    )
    wrong = armsim("simulate", "bad.yaml")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)
    assert os.listdir(empty_folder) == ["bad.yaml"]


def test_an_earlier_run_is_replaced_with_force_only(armsim, empty_folder, told):
    armsim("simulate", "rr_config1", "-o", "run")
    before = contents(empty_folder / "run")
    again = armsim("simulate", "rr_config2_sine", "-o", "run")
    assert (again.code, again.out) == (2, "")
    told(again.err)
    assert contents(empty_folder / "run") == before
    assert armsim("simulate", "rr_config2_sine", "-o", "run", "--force").code == 0
    assert contents(empty_folder / "run") != before
    assert os.listdir(empty_folder) == ["run"]


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_folder_with_other_files_is_never_written(armsim, empty_folder, force):
    (empty_folder / "mine").mkdir()
    (empty_folder / "mine/thesis.txt").write_text("years of work")
    wrong = armsim("simulate", "rr_config1", "-o", "mine", *force)
    assert (wrong.code, wrong.out) == (2, "")
    assert "found:    a folder with other files in it" in wrong.err
    assert os.listdir(empty_folder / "mine") == ["thesis.txt"]


def test_a_run_yaml_repeats_its_run_to_the_bit(armsim, empty_folder):
    armsim("simulate", "arm5_hold_pi", "-o", "first", "--set", "duration=0.2", "--set", "control.kp[1]=pi*20")
    done = armsim("simulate", "first/run.yaml", "-o", "second")
    assert done.code == 0
    assert contents(empty_folder / "second") == contents(empty_folder / "first")


def test_a_run_with_degrees_and_parameters_repeats_to_the_bit_too(armsim, empty_folder):
    armsim("simulate", "two_link_hold", "-o", "first", "--set", "robot.parameters.l1=1.1", "--set", "duration=1")
    armsim("simulate", "first/run.yaml", "-o", "second")
    assert contents(empty_folder / "second") == contents(empty_folder / "first")


def test_run_yaml_names_the_files_it_was_made_from_with_their_hashes(armsim, empty_folder):
    armsim("simulate", "rr_config1", "-o", "run")
    sources = yaml.safe_load((empty_folder / "run/run.yaml").read_text())["sources"]
    assert [Path(source["path"]).name for source in sources] == ["rr_config1.yaml", "rr.yaml"]
    for source in sources:
        assert source["sha256"] == hashlib.sha256(Path(source["path"]).read_bytes()).hexdigest()


@pytest.mark.parametrize("name", sorted(shipped_names("configs"), key=lambda name: name != "rr_config1"))
@pytest.mark.handful(1)
def test_the_python_engine_writes_the_same_bytes_as_machine_code(armsim, empty_folder, name):
    from armsim.loading import read_scenario

    scenario = read_scenario(name)
    adaptive = (
        scenario.method == "auto"
    )  # then steps take half a second on floats: two rows between which there are ten
    slow = {"arm5_gripper_pick": 8e-4, "hold": 0.04, "torso_reach": 8e-3}  # those that begin at rest take longer steps
    slow |= {"press": 4e-3, "drop": 0.03, "grip": 0.06, "pendubot_swingup": 0.04}
    dt, rows = (slow.get(name, 4e-4), 1) if adaptive else (scenario.dt, 30)
    brief = ("--set", f"duration={rows * dt!r}", "--set", f"log.every={dt!r}")
    moving = {"hold": "0.5, 0, 0, 0, 0", "pendubot_swingup": "0.5, 0"}  # those that would not move at all
    brief += ("--set", f"initial.qd=[{moving[name]}]") if name in moving else ()
    brief += ("--set", "control.stages=3") if name == "arm5_predictive" else ()
    for engine in ("llvm", "python"):
        done = armsim("simulate", name, *brief, "--engine", engine, "-o", engine)
        assert (done.code, done.err) == (0, "")
    assert contents(empty_folder / "python") == contents(empty_folder / "llvm")
    assert contents(empty_folder / "llvm")["trajectory.csv"].count(b"\n") == rows + 2
    assert yaml.safe_load((empty_folder / "llvm/run.yaml").read_text())["steps"] >= 10


def test_an_unknown_engine_is_refused(armsim):
    wrong = armsim("simulate", "rr_config1", "--engine", "fortran")
    assert (wrong.code, wrong.out) == (2, "")
    assert "'llvm', 'python'" in wrong.err


def test_a_step_that_is_too_large_diverges_with_3_and_keeps_the_rows_it_has(armsim, read_table, empty_folder):
    # explicit Euler is unstable above 0.58 ms on this arm: its back-EMF damps with 3449 1/s (reference README)
    done = armsim("simulate", "arm5_hold", "-o", "run", "--force-step", "--set", "integrator.dt=1e-3")
    assert done.code == 3
    recorded = yaml.safe_load((empty_folder / "run/run.yaml").read_text())
    where = recorded["diverged"]
    assert done.err.startswith(f"the simulation diverged at t = {where['time']:.6g} s: the velocity of joint R4 grew")
    assert recorded["status"] == "diverged"
    assert "(diverged)" in done.out
    table = read_table(empty_folder / "run/trajectory.csv")
    assert len(table["t_s"]) == recorded["rows"] > 1
    assert table["t_s"][-1] <= where["time"]
    assert all(np.isfinite(column).all() for column in table.values())


def test_the_same_arm_at_half_the_stable_step_does_not_diverge(armsim):
    assert armsim("simulate", "arm5_hold", "--set", "integrator.dt=2.5e-4").code == 0


def test_a_scenario_without_an_integrator_says_what_was_picked_and_how_many_steps_it_took(armsim, empty_folder):
    (empty_folder / "fall.yaml").write_text("format: armsim/scenario/1\nrobot: two_link\nduration: 1\n")
    done = armsim("simulate", "fall.yaml", "-o", "run")
    recorded = yaml.safe_load((empty_folder / "run/run.yaml").read_text())
    taken, refused = recorded["steps"], recorded["adaptive"]["refused"]
    counts = f"{taken} steps" + (f" ({refused} refused)" if refused else "")
    title = f"fall: 1 s of two_link, {counts} of {1 / taken:.3g} s on average by rk54, rtol 1e-06"
    said = " ".join(done.out.split())
    assert said.startswith(f"{title} method rk54, picked because it chooses its steps, and nothing decays by itself")
    assert (recorded["method"], recorded["landings"]) == ("rk54", 1)
    assert "* peaks are those of 1000 moments, one every 0.001 s; true peaks may be higher" in said
    assert recorded["scenario"]["integrator"] == {"method": "rk54", "rtol": 1e-6, "atol": 1e-9}
    again = armsim("simulate", "run/run.yaml", "-o", "again").out
    assert "picked" not in again
    assert contents(empty_folder / "run") == contents(empty_folder / "again")


def test_a_step_that_curbs_an_adaptive_method_is_pointed_out(armsim):
    curbed = armsim("simulate", "two_link_swing", "--set", "integrator.method=rk54")
    assert "! it lands every 0.001 s, more often than samples and forces need, and takes no" in curbed.out
    free = armsim("simulate", "two_link_swing", "--set", "integrator={method: rk54}")
    assert "lands" not in free.out


def test_an_adaptive_method_that_finds_no_step_is_explained(armsim):
    settings = ("--set", "integrator={}", "--set", "inputs={torque: [1/(0.5-t)**2, 0]}")
    stalled = armsim("simulate", "rr_config1", *settings)
    assert stalled.code == 3
    title, *found, mend, _ = stalled.err.splitlines()
    assert found == ["  expected: a step whose error is within it", "  found:    none, however short"]
    assert title.startswith("the simulation stopped at t = 0.4")
    assert title.endswith(" s: rk54 found no step short enough for rtol 1e-06")
    assert mend == "  mend:     take a greater integrator.rtol, or check gains, stops and inputs"


# whatever the shell that started the tests does with Ctrl-C: what it ignores, its children would ignore too
HEEDING_CTRL_C = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\nfrom armsim.cli.main import main; main()"
)


def running(start) -> tuple[subprocess.Popen, int, bytes]:
    """A long run that a terminal shows a hundredth of, or more, to be done, that terminal, and what was written to it."""
    ours, theirs = pty.openpty()
    begun = start("simulate", "rr_config1", "-o", "run", *ENDLESS, stderr=theirs, python=("-c", HEEDING_CTRL_C))
    os.close(theirs)
    seen = b""
    while not re.search(rb"simulating.* [1-9]\d*%", seen):  # one of 0 % may be drawn behind the first few steps
        seen += os.read(ours, 1000)
    return begun, ours, seen


def interrupted_run(start) -> tuple[int, str, str]:
    """A long run on a terminal, interrupted once its progress shows: exit code, standard output, standard error."""
    begun, ours, seen = running(start)
    begun.send_signal(signal.SIGINT)
    out, _ = begun.communicate(timeout=60)
    try:
        while piece := os.read(ours, 1000):
            seen += piece
    except OSError:  # the other end has gone
        pass
    os.close(ours)
    return begun.returncode, out, seen.decode()


@pytest.mark.slow
def test_ctrl_c_keeps_the_rows_and_marks_the_run(start, armsim, read_table, empty_folder):
    code, out, err = interrupted_run(start)
    assert code == 130
    assert "Traceback" not in err
    assert "(interrupted)" in out
    recorded = yaml.safe_load((empty_folder / "run/run.yaml").read_text())
    assert recorded["status"] == "interrupted"
    table = read_table(empty_folder / "run/trajectory.csv")
    assert len(table["t_s"]) == recorded["rows"] > 1
    assert len(read_table(empty_folder / "run/torque.csv")["t_s"]) == recorded["rows"]
    # the rows it has are those of the whole run
    armsim("simulate", "rr_config1", "-o", "short", "--set", "duration=20", "--set", "log.every=10")
    whole = (empty_folder / "short/trajectory.csv").read_text().splitlines()
    assert (empty_folder / "run/trajectory.csv").read_text().splitlines()[: len(whole)] == whole


@pytest.mark.slow
def test_a_killed_run_leaves_nothing_that_looks_complete(start, empty_folder):
    begun, terminal, _ = running(start)
    assert begun.poll() is None
    begun.kill()
    begun.communicate(timeout=60)
    os.close(terminal)
    assert [name for name in os.listdir(empty_folder) if not name.startswith(".")] == []


@pytest.mark.slow
def test_a_short_run_shows_no_progress_and_a_piped_one_never_does(on_a_terminal, process):
    hasty = "from armsim.terminal import progress; progress.PATIENCE = 0.0; from armsim.cli.main import main; main()"
    piped = process("simulate", "rr_config1", "--set", "duration=0.4", python=("-c", hasty))
    assert (piped.code, piped.err) == (0, "")


def test_a_robot_with_voltage_inputs_and_no_motor_is_refused(armsim, empty_folder):
    (empty_folder / "bad.yaml").write_text(
        "format: armsim/scenario/1\nrobot: rr\nduration: 1\nintegrator: {method: rk4, dt: 1e-3}\ninputs: {voltage: [1, 2]}\n"
    )
    wrong = armsim("simulate", "bad.yaml")
    assert (wrong.code, wrong.out) == (2, "")
    assert "found:    no motor on R1, R2" in wrong.err


def test_it_says_which_joints_friction_holds_at_the_end(armsim):
    fall = armsim("simulate", "puma560_fall", "--set", "duration=0.1", "-o", "fall")
    assert "\n* at the end friction holds J1, J4, J5, J6 exactly at rest\n" in fall.out
    hold = armsim("simulate", "puma560_hold", "-o", "hold")
    assert "\n* at the end friction holds all joints exactly at rest\n" in hold.out
    assert "friction" not in armsim("simulate", "rr_config1", "--set", "duration=0.1", "-o", "rr").out
