"""A lift on a screw as a user meets it: commands, units, headings and faults."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

G, PITCH, LOAD = 9.81, 0.005, 20.0
HOLDING = LOAD * G * PITCH / (2 * math.pi)
LIFT = """\
format: armsim/robot/1
name: lift
units: {angle: deg}
parameters: {pitch: 0.005, stroke: 0.4}
joints:
  - name: spindle
    type: screw
    pitch: pitch
    mdh: {d: 0.1, theta: 30}
    initial: 720
    limits: {lower: 0, upper: 360*stroke/pitch, stiffness: 2, damping: 0.01}
    friction: {viscous: 0.001}
    bodies: [{cylinder: {axis: z, height: 0.5, radius: 0.01, mass: 20}}]
    motor: {Kp: 0.05, Ra: 1.2, gear: 3, rotor_inertia: 30e-7}
tool: {xyz: [0, 0, 0.25]}
"""
MOVE = """\
format: armsim/scenario/1
robot: lift.yaml
units: {angle: deg}
duration: 0.5
integrator: {method: rk4, dt: 1e-3}
initial: {q: [1080]}
inputs: {voltage: [6*sin(4*t)], period: 0.01}
"""


@pytest.fixture
def lift(empty_folder):
    """The folder with the lift and a scenario."""
    (empty_folder / "lift.yaml").write_text(LIFT)
    (empty_folder / "move.yaml").write_text(MOVE)
    return empty_folder


def answer(run, *args):
    done = run(*args, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def words(text: str) -> str:
    return " ".join(text.split())


def test_check_finds_a_lift_and_its_scenario_sound(armsim, lift):
    done = armsim("check", "lift.yaml", "move.yaml")
    assert (done.code, done.out) == (0, "lift.yaml: a sound robot\nmove.yaml: a sound scenario\n")


def test_info_shows_the_pitch_and_what_holds_the_lift(armsim, lift):
    facts = answer(armsim, "info", "lift.yaml")
    (joint,) = facts["joints"]
    assert (joint["type"], joint["pitch"], joint["initial"]) == ("screw", PITCH, 4 * math.pi)
    assert joint["upper"] == pytest.approx(2 * math.pi * 80, rel=1e-15)
    assert facts["reach"] == pytest.approx(0.4 + 0.25, rel=1e-12)  # from the end of the stroke below to that above
    assert facts["pose"]["torque"] == [pytest.approx(HOLDING, rel=1e-14)]
    assert facts["pose"]["tool"]["position"] == pytest.approx([0, 0, 0.1 + 2 * PITCH + 0.25], rel=1e-14)
    report = armsim("info", "lift.yaml", "--deg").out
    table = words(report)
    assert "joint initial pitch lower upper stop damping viscous deg m deg deg N·m/rad N·m·s/rad N·m·s/rad" in table
    assert f"spindle screw 720 {PITCH} 0 28800 2 0.01 0.001" in table
    assert "Mass matrix there [kg·m²], rotors included" in report
    assert answer(armsim, "info", "arm5")["joints"][0]["pitch"] is None


def test_resolved_gives_every_number_of_a_screw_its_unit(armsim, lift):
    found = {o["path"].removeprefix("joints[spindle]."): o for o in answer(armsim, "info", "lift.yaml", "--resolved")}
    units = {
        **{"pitch": "m", "mdh.d": "m", "mdh.theta": "rad", "initial": "rad", "limits.upper": "rad"},
        **{"limits.stiffness": "N·m/rad", "limits.damping": "N·m·s/rad", "friction.viscous": "N·m·s/rad"},
        **{"friction.coulomb": "N·m", "motor.Kp": "N·m/A"},
    }
    assert {key: found[key]["unit"] for key in units} == units
    assert (found["pitch"]["value"], found["pitch"]["written"]) == (PITCH, "pitch")
    assert (found["initial"]["value"], found["initial"]["converted_from"]) == (4 * math.pi, "720 deg")


def test_inverse_prints_torques_in_newton_metres_and_takes_degrees(armsim, lift):
    inertia = LOAD * 0.01**2 / 2 + LOAD * (PITCH / (2 * math.pi)) ** 2 + 9 * 30e-7
    found = answer(armsim, "inverse", "lift.yaml", "--q", "90", "--qd", "180", "--qdd", "360", "--deg")
    torque = HOLDING + 2 * math.pi * inertia + math.pi * 0.001
    assert found["torque"] == [pytest.approx(torque, rel=1e-13)]
    assert found["current"] == [pytest.approx(torque / 0.15, rel=1e-13)]
    assert found["voltage"] == [pytest.approx(1.2 * torque / 0.15 + 0.15 * math.pi, rel=1e-13)]
    report = armsim("inverse", "lift.yaml", "--deg").out
    assert words(f"spindle 720 deg {HOLDING:.5g} N·m") in words(report)


def test_forward_turns_what_inverse_gives_back_into_accelerations(armsim, lift):
    torque = answer(armsim, "inverse", "lift.yaml", "--qdd", "100", "--deg")["torque"][0]
    found = answer(armsim, "forward", "lift.yaml", "--torque", repr(torque), "--deg")
    assert found["qdd"] == [pytest.approx(100, rel=1e-12)]
    assert "deg/s²" in armsim("forward", "lift.yaml", "--torque", "0.2", "--deg").out


def test_fk_raises_the_tool_by_the_pitch_every_turn(armsim, lift):
    for turns in (0, 1, 2.5, -3):
        tool = answer(armsim, "fk", "lift.yaml", "--q", str(360 * turns), "--deg")["tool"]
        assert tool["position"] == pytest.approx([0, 0, 0.35 + turns * PITCH], rel=1e-13)
        yaw = (30 + 360 * turns + 180) % 360 - 180
        assert tool["rpy"] == pytest.approx([0, 0, yaw], abs=1e-10)


def test_motor_gives_a_screw_torques_and_turns(armsim, lift):
    report = armsim("motor", "lift.yaml", "--voltage", "24").out
    assert "3 N·m" in words(report)  # 24 V / 1.2 ohm, 0.05 N·m/A, 3:1
    assert "rad/s" in report
    curve = armsim("motor", "lift.yaml", "--voltage", "24", "--joint", "spindle", "--deg").out
    assert "deg/s" in curve
    assert "rpm" in curve


@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.handful(1)
def test_simulate_writes_angles_and_torques(armsim, lift, read_table, degrees):
    done = armsim("simulate", "move.yaml", "-o", "run", *(["--deg"] if degrees else []))
    assert done.code == 0
    unit = "deg" if degrees else "rad"
    trajectory, torque = read_table("run/trajectory.csv"), read_table("run/torque.csv")
    assert list(trajectory)[:4] == ["t_s", f"q_spindle_{unit}", f"qd_spindle_{unit}_s", f"qdd_spindle_{unit}_s2"]
    assert list(torque)[:3] == ["t_s", "tau_spindle_Nm", "tau_motor_spindle_Nm"]
    turns = trajectory[f"q_spindle_{unit}"] / (360 if degrees else 2 * math.pi)
    assert np.ptp(turns) > 0.1
    np.testing.assert_allclose(trajectory["z_m"], 0.35 + PITCH * turns, rtol=1e-13)
    assert turns[0] == pytest.approx(3, rel=1e-15)
    assert words(f"spindle {turns[-1] * (360 if degrees else 2 * math.pi):.5g}") in words(done.out)
    again = armsim("simulate", "run/run.yaml", "-o", "again")  # pitch and all are in it
    assert again.code == 0
    compared = armsim("compare", "run", "again")
    assert (compared.code, compared.err) == (0, "")


def test_a_trajectory_of_a_screw_asks_for_the_torques_it_was_made_by(armsim, lift, read_table):
    armsim("simulate", "move.yaml", "-o", "run", "--deg")
    done = armsim("inverse", "lift.yaml", "--trajectory", "run/trajectory.csv", "-o", "demand.csv")
    assert (done.code, done.err) == (0, "")
    asked, made = read_table("demand.csv"), read_table("run/torque.csv")
    np.testing.assert_allclose(asked["tau_motor_spindle_Nm"], made["tau_motor_spindle_Nm"], rtol=0, atol=1e-11)


@pytest.mark.slow
def test_converge_gives_errors_of_screws_in_degrees(armsim, lift):
    one, other = (answer(armsim, "converge", "move.yaml", "--budget", "1", *more) for more in ([], ["--deg"]))
    assert (one["unit"], other["unit"]) == ("rad", "deg")


def test_a_recording_of_a_screw_replays_to_the_bit_and_notices_another_pitch(armsim, lift):
    assert armsim("record", "move.yaml", "-o", "recording").code == 0
    assert armsim("replay", "recording").code == 0
    (lift / "other.yaml").write_text(LIFT.replace("pitch: 0.005", "pitch: 0.006"))
    assert armsim("replay", "recording", "--robot", "other.yaml").code == 1
    (lift / "slide.yaml").write_text(LIFT.replace("screw", "revolute").replace("    pitch: pitch\n", ""))
    refused = armsim("replay", "recording", "--robot", "slide.yaml")
    assert refused.code == 2
    assert "expected: 1 joints as in the recording: screw\n  found:    1: revolute\n" in refused.err


def test_a_pitch_can_be_set_for_one_run_and_is_checked_as_in_a_file(armsim, lift, told):
    doubled = answer(armsim, "info", "lift.yaml", "--set", "joints[spindle].pitch=0.01")
    assert doubled["pose"]["torque"] == [pytest.approx(2 * HOLDING, rel=1e-14)]
    wrong = armsim("info", "lift.yaml", "--set", "joints[spindle].pitch=0")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_positions_beyond_a_stop_are_told_in_the_screws_units(armsim, lift):
    done = armsim("inverse", "lift.yaml", "--q", "-90", "--deg")
    note = (
        f"! spindle is outside its range, 0 to 28800 deg; its stop pushes with {math.pi:.5g} N·m, which is counted in"
    )
    assert note in words(done.out)
