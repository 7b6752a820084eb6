"""`armsim info` as a user meets it."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import armsim as library


def answer(run, *args) -> dict:
    done = run("info", *args, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def words(text: str) -> str:
    return " ".join(text.split())


def test_the_first_line_says_what_the_robot_is(armsim):
    assert armsim("info", "arm5").out.startswith(
        "arm5: 5 joints, 8 kg, reach 0.975 m from its first joint to the tool\n"
    )
    assert words(armsim("info", "two_link").out).startswith("two_link: 2 joints, 4 kg with its payload, reach 1.8 m")


def test_what_holds_a_robot_is_what_inverse_prints(armsim):
    pose = answer(armsim, "arm5")["pose"]
    held = json.loads(armsim("inverse", "arm5", "--json").out)
    assert {key: pose[key] for key in ("q", "torque", "voltage", "current")} == {
        key: held[key] for key in ("q", "torque", "voltage", "current")
    }
    table = armsim("inverse", "arm5").out.split("\n\n")[1]
    assert table in armsim("info", "arm5").out


def test_the_mass_matrix_and_the_tool_are_the_librarys(armsim):
    pose = answer(armsim, "arm5")["pose"]
    arm = library.load_robot("arm5")
    np.testing.assert_array_equal(pose["mass_matrix"], arm.mass_matrix(arm.initial))
    np.testing.assert_array_equal(pose["tool"]["position"], arm.forward_kinematics(arm.initial).position)


def test_a_geared_motor_is_shown_at_the_joint(armsim, empty_folder):
    (empty_folder / "geared.yaml").write_text(
        "format: armsim/robot/1\nname: geared\njoints:\n  - name: A\n    type: revolute\n    mdh: {}\n"
        "    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]\n"
        "    motor: {Kp: 0.05, Ke: 0.04, Ra: 2, gear: 50, rotor_inertia: 1e-4, viscous: 1e-4}\n"
    )
    motor = answer(armsim, "geared.yaml")["joints"][0]["motor"]
    assert motor["armature"] == pytest.approx(50**2 * 1e-4, rel=1e-15)
    assert motor["torque_per_volt"] == pytest.approx(0.05 * 50 / 2, rel=1e-15)
    assert answer(armsim, "geared.yaml")["pose"]["mass_matrix"] == [[pytest.approx(1.25, rel=1e-15)]]
    report = armsim("info", "geared.yaml").out
    assert "Mass matrix there [kg·m²], rotors included" in report
    assert words("joint Kp Ke Ra gear rotor viscous armature per volt") in words(report)


def test_a_scenario_says_its_method_its_steps_and_its_rows(armsim):
    facts = answer(armsim, "arm5_hold")
    assert (facts["method"], facts["dt"], facts["steps"], facts["duration"]) == ("explicit_euler", 1e-4, 50000, 5)
    assert (facts["rows"], facts["log_every"]) == (501, 0.01)
    report = armsim("info", "arm5_hold").out
    assert report.startswith("arm5_hold: 5 s of arm5, 50000 steps of 0.0001 s by explicit_euler\n")
    assert "log      501 rows, one every 0.01 s\n" in report


def test_voltage_gains_come_with_what_they_are_at_the_joint(armsim):
    joints = answer(armsim, "arm5_hold")["command"]["joints"]
    for joint, Kp in zip(joints, [10, 10, 10, 1, 1]):
        assert joint["stiffness"] == Kp * joint["kp"]  # Ra 1 ohm, no gear
        assert joint["back_emf"] == Kp * Kp
        assert joint["damping"] == pytest.approx(Kp * joint["kd"] + Kp * Kp, rel=1e-15)
    held = json.loads(armsim("inverse", "arm5", "--json").out)["torque"]
    assert [joint["droop"] for joint in joints] == pytest.approx(
        [t / j["stiffness"] for t, j in zip(held, joints)], rel=1e-12
    )
    row = next(line.split() for line in armsim("info", "arm5_hold").out.splitlines() if line.startswith("R2 "))
    assert row == ["R2", "-1.1", "60", "1", "600", "110", "-0.013539"]


def test_torque_gains_are_what_they_are(armsim):
    facts = answer(armsim, "two_link_hold", "--deg")
    assert facts["command"]["output"] == "torque"
    assert [joint["stiffness"] for joint in facts["command"]["joints"]] == [150, 60]
    assert [joint["target"] for joint in facts["command"]["joints"]] == [-60, 45]
    assert facts["initial"]["q"] == [-70, 60]
    report = armsim("info", "two_link_hold", "--deg").out
    assert "stiffness" not in report
    assert "150 N·m/rad" in report  # gains stay per radian
    assert "command  pid control gives joint torques, continuous" in report
    assert "outside  1 force or moments on links" in report


def test_a_target_of_a_law_without_droop_is_turned_into_degrees(armsim):
    control = ("--set", "control.law=computed_torque", "--unset", "control.ki", "--unset", "control.integral_limit")
    report = armsim("info", "two_link_hold", "--deg", *control).out
    assert "shoulder  -60 deg" in report


def test_a_sampled_law_says_its_period_and_its_limits(armsim):
    report = armsim("info", "arm5_hold_pi").out
    assert "command  pi control gives motor voltages, sampled every 0.001 s" in report
    assert "24" in next(line for line in report.splitlines() if line.startswith("R1 "))


def test_inputs_are_shown_as_they_are_written(armsim):
    report = armsim("info", "rr_config2_sine").out
    assert "Inputs, t in s\nR1  5*sin(5*t) [N·m]\nR2  0 [N·m]\n" in report


def test_a_scenario_without_command_says_that_nothing_drives(armsim):
    assert "command  none: no current flows in motors, nothing drives the joints" in armsim("info", "rr_config1").out


def test_the_robot_of_a_scenario_stands_at_the_scenarios_pose_with_its_payload(armsim, empty_folder):
    (empty_folder / "loaded.yaml").write_text(
        "format: armsim/scenario/1\nrobot: rr\nduration: 1\nintegrator: {method: rk4, dt: 1e-3}\n"
        "initial: {q: [0, pi/2]}\npayload: {mass: 1}\n"
    )
    robot = answer(armsim, "loaded.yaml")["robot"]
    assert robot["mass"] == 8
    assert robot["pose"]["q"] == [0, math.pi / 2]
    assert robot["pose"]["torque"][0] == pytest.approx(4 * 9.81 * 0.8 + 9.81 * 0.8, rel=1e-12)


CARRIER = (
    "format: armsim/robot/1\nname: one\ngravity: [0, -9.81, 0]\ntool: {xyz: [1, 0, 0]}\n"
    "joints: [{name: A, type: revolute, mdh: {}, bodies: [{point: {mass: 1}}]}]\n"
    "frames: {elbow: {link: A, xyz: [2, 0, 0]}}\n"
)


def test_payloads_of_a_list_have_rows_by_name(armsim, empty_folder):
    file = empty_folder / "one.yaml"
    several = "[{name: gripper, mass: 0.5, center: [0, 0, 0.1]}, {name: eye, frame: elbow, mass: 0.25}]"
    file.write_text(f"{CARRIER}payload: {several}\n")
    facts = answer(armsim, "one.yaml")
    found = [[of[key] for key in ("name", "frame", "mass", "com")] for of in facts["payloads"]]
    assert found == [["gripper", "tool", 0.5, [0, 0, 0.1]], ["eye", "elbow", 0.25, [0, 0, 0]]]
    assert facts["payload"]["mass"] == 0.5
    report = words(armsim("info", "one.yaml").out)
    assert "1.75 kg with its payload" in report
    assert "gripper, in tool 0.5 kg" in report
    assert "eye, in elbow 0.25 kg" in report
    assert "payload 0.5 kg" not in report
    file.write_text(f"{CARRIER}payload: [{{name: payload, frame: elbow, mass: 0.25}}]\n")  # nothing on the tool
    assert "1.25 kg with its payload" in words(armsim("info", "one.yaml").out)


@pytest.mark.parametrize("payload", ["", "payload: {mass: 0.5}\n"])
def test_a_payload_of_the_tool_alone_is_in_no_list(armsim, empty_folder, payload):
    (empty_folder / "one.yaml").write_text(CARRIER + payload)
    assert "payloads" not in answer(armsim, "one.yaml")
    report = words(armsim("info", "one.yaml").out)
    assert ("payload 0.5 kg" in report) == ("with its payload" in report) == bool(payload)


def test_payloads_whose_times_exclude_each_other_are_not_summed(armsim, empty_folder):
    (empty_folder / "one.yaml").write_text(CARRIER)
    (empty_folder / "run.yaml").write_text(
        "format: armsim/scenario/1\nrobot: one.yaml\nduration: 3\nintegrator: {method: rk4, dt: 1e-3}\npayload:\n"
        "  - {name: first, mass: 0.5, to: 1}\n  - {name: second, mass: 2, from: 1, to: 2}\n"
        "  - {name: third, frame: elbow, mass: 1, from: 2}\n"
    )
    robot = answer(armsim, "run.yaml")["robot"]
    assert robot["pose"]["torque"] == [pytest.approx(0.5 * 9.81, rel=1e-14)]
    assert robot["pose"]["mass_matrix"] == [[pytest.approx(0.5, rel=1e-14)]]
    assert (robot["mass"], robot["payload"]["mass"]) == (3, 2)
    assert [of["mass"] for of in robot["payloads"]] == [0.5, 2, 1]


def test_a_finished_run_is_a_scenario(armsim):
    armsim("simulate", "rr_config1", "-o", "run")
    facts = answer(armsim, "run/run.yaml")
    assert (facts["kind"], facts["scenario"], facts["steps"]) == ("scenario", "rr_config1", 25000)


def test_set_changes_what_is_shown(armsim):
    assert answer(armsim, "arm5_hold", "--set", "control.kp=100")["command"]["joints"][0]["stiffness"] == 1000
    assert answer(armsim, "arm5", "--set", "joints[R5].motor.Kp=3")["joints"][4]["motor"]["Kp"] == 3


def test_elastic_couplings_have_a_table_in_degrees_if_asked_for(armsim):
    given = ("arm5", "--set", "joints[R2].motor.rotor_inertia=0.1")
    given += ("--set", "joints[R2].motor.coupling={stiffness: 3000, backlash: 1deg}")
    out = armsim("info", *given, "--deg").out.partition("Elastic couplings")[2].splitlines()
    assert [line.split()[:5] for line in out[1:3]] == [
        ["joint", "stiffness", "backlash", "inertia", "by"],
        ["R2", "3000", "N·m/rad", "1", "deg"],
    ]
    assert "Elastic" not in armsim("info", "arm5").out


def test_a_slide_without_end_has_no_reach_and_null_in_json(armsim, empty_folder):
    (empty_folder / "slide.yaml").write_text(
        "format: armsim/robot/1\nname: slide\njoints:\n"
        "  - {name: A, type: prismatic, mdh: {}, bodies: [{point: {mass: 2}}]}\n"
    )
    facts = answer(armsim, "slide.yaml")
    assert facts["reach"] is None
    assert facts["pose"]["torque"] == [pytest.approx(2 * 9.81, rel=1e-15)]
    report = armsim("info", "slide.yaml").out
    assert "no end to its reach" in words(report)
    assert "19.62 N" in report
    assert "Mass matrix there [kg·m², kg·m or kg]" in report


def test_a_joint_that_mimics_another_has_what_follows_from_that_one(armsim):
    facts = answer(armsim, "arm5_gripper")
    first, second = facts["joints"][5:]
    assert [first[key] for key in ("name", "initial", "lower", "upper", "parent")] == ["F1", 0.03, 0, 0.035, "R5"]
    assert [second[key] for key in ("name", "initial", "lower", "upper", "parent")] == ["F2", -0.03, -0.035, 0, "R5"]
    assert second["mimic"] == {"joint": "F1", "ratio": -1, "offset": 0}
    assert not {"mimic", "parent"} & set(facts["joints"][4])
    assert "mimic" not in first
    assert [link["name"] for link in facts["links"]] == ["R1", "R2", "R3", "R4", "R5", "F1", "F2"]
    assert [len(facts["pose"][key]) for key in ("q", "torque", "voltage", "mass_matrix")] == [6] * 4
    assert facts["pose"]["mass_matrix"][5][5] == pytest.approx(2 * 0.04 + 1000**2 * 5e-7, rel=1e-12)


def test_parents_and_couplings_stand_below_the_joints(armsim, empty_folder, told):
    def part(text: str, title: str) -> str:
        return text[text.index(title) :].partition("\n\n")[0]

    told(part(armsim("info", "arm5_gripper").out, "F2  prismatic      2 N"))
    told(part(armsim("info", "torso", "--deg").out, "Joints"))
    body = "bodies: [{point: {mass: 1, center: [1, 0, 0]}}]"
    (empty_folder / "own.yaml").write_text(
        f"format: armsim/robot/1\nname: own\nunits: {{angle: deg}}\njoints:\n"
        f"  - {{name: B, type: revolute, mdh: {{}}, {body}, mimic: {{joint: A, ratio: 0.5, offset: -30}}}}\n"
        f"  - {{name: A, type: revolute, parent: base, mdh: {{}}, {body}, initial: 20, limits: {{lower: 0, upper: 90}}}}\n"
    )
    told(part(armsim("info", "own.yaml").out, "Joints"))
    told(part(armsim("info", "own.yaml", "--deg").out, "Joints"))


@pytest.mark.parametrize("control", ["law: pd, output: voltage, kp: 1, kd: 0", "law: none"])
@pytest.mark.handful(1)
def test_commands_are_those_of_joints_that_mimic_none(armsim, empty_folder, control):
    inputs = "inputs: {voltage: [1, 2, 3, 4, 5, 6]}\n" if control == "law: none" else ""
    (empty_folder / "own.yaml").write_text(
        "format: armsim/scenario/1\nrobot: arm5_gripper\nduration: 1\n"
        f"integrator: {{dt: 1e-3}}\n{inputs or f'control: {{{control}}}'}"
    )
    report = armsim("info", "own.yaml").out.partition("arm5_gripper: ")[0]
    assert "\nF1" in report
    assert "F2" not in report


def test_an_initial_pose_beyond_a_stop_is_marked(armsim):
    report = armsim("info", "arm5_hold", "--set", "initial.q=[0,0.8,0,0,0]").out
    assert "! outside their range, the stops counted in: R2" in report


# --resolved


def resolved(run, *args) -> dict[str, dict]:
    done = run("info", *args, "--resolved", "--json")
    assert (done.code, done.err) == (0, "")
    return {origin["path"]: origin for origin in json.loads(done.out)}


def test_resolved_says_line_and_column_of_what_is_written(armsim):
    found = resolved(armsim, "arm5")
    origin = found["joints[R1].mdh.d"]
    assert (origin["value"], origin["unit"], origin["origin"]) == (0.35, "m", "file")
    line = Path(origin["file"]).read_text(encoding="utf-8").splitlines()[origin["line"] - 1]
    assert line[origin["column"] - 1 :].startswith("0.35,")


def test_resolved_points_at_every_number_of_a_file(armsim):
    for name in ("arm5", "two_link", "arm5_hold_pi", "two_link_hold"):
        for path, origin in resolved(armsim, name).items():
            if origin["origin"] == "file":
                line = Path(origin["file"]).read_text(encoding="utf-8").splitlines()[origin["line"] - 1]
                assert line[origin["column"] - 1 :].startswith(origin["written"]), path


def test_resolved_has_the_coupling_of_a_joint_without_an_initial_position(armsim):
    found = resolved(armsim, "arm5_gripper", "--set", "joints[F2].mimic.offset=0.001")
    assert (found["joints[F2].mimic.ratio"]["value"], found["joints[F2].mimic.ratio"]["unit"]) == (-1, "")
    assert (found["joints[F2].mimic.offset"]["value"], found["joints[F2].mimic.offset"]["unit"]) == (0.001, "m")
    assert "joints[F1].initial" in found
    assert "joints[F2].initial" not in found


def test_resolved_shows_expressions_defaults_and_conversions(armsim):
    found = resolved(armsim, "two_link")
    centre = found["joints[shoulder].bodies[0].rod.center[0]"]
    assert (centre["value"], centre["written"], centre["expression"]) == (0.5, "0.5*l1", True)
    friction = found["joints[shoulder].friction.viscous"]
    assert (friction["value"], friction["unit"], friction["origin"]) == (0, "N·m·s/rad", "default")
    initial = found["joints[shoulder].initial"]
    assert (initial["value"], initial["unit"], initial["converted_from"]) == (math.radians(-60), "rad", "-60 deg")
    report = armsim("info", "two_link", "--resolved").out
    assert "joints[shoulder].bodies[0].rod.center[0] = 0.5*l1\n" in report
    assert "-1.0472 rad  joints[shoulder].initial, from -60 deg\n" in report


def test_resolved_marks_overrides(armsim):
    found = resolved(armsim, "arm5_hold", "--set", "control.kp[0]=pi*20", "--set", "robot.joints[R2].motor.Ra=1.2")
    assert (found["control.kp[0]"]["origin"], found["control.kp[0]"]["value"]) == ("override", 20 * math.pi)
    assert found["control.kp[1]"]["origin"] == "file"
    assert (found["robot.joints[R2].motor.Ra"]["origin"], found["robot.joints[R2].motor.Ra"]["value"]) == (
        "override",
        1.2,
    )
    report = armsim("info", "arm5_hold", "--resolved", "--set", "control.kp[0]=pi*20").out
    assert "control.kp[0] = pi*20\n" in report
    assert "\n--set " in report


def test_resolved_takes_units_of_gains_from_the_output(armsim):
    assert resolved(armsim, "arm5_hold")["control.kp[0]"]["unit"] == "V/rad"
    assert resolved(armsim, "two_link_hold")["control.kp[0]"]["unit"] == "N·m/rad"


def test_resolved_of_left_out_keys_says_where_their_values_come_from(armsim, empty_folder):
    (empty_folder / "brief.yaml").write_text(
        "format: armsim/scenario/1\nrobot: two_link\nduration: 2\nintegrator: {method: rk4, dt: 1e-3}\n"
        "control: {law: pd, output: torque, kp: 5, kd: 1}\n"
    )
    found = resolved(armsim, "brief.yaml")
    for path, value, note in [
        ("initial.q[0]", math.radians(-60), "the robot's initial pose"),
        ("initial.qd[1]", 0, "at rest"),
        ("control.target[1]", math.radians(45), "the robot's initial pose"),
        ("log.every", 0.002, "a multiple of dt near a thousandth of the duration"),
    ]:
        assert (found[path]["value"], found[path]["origin"], found[path]["note"]) == (value, "default", note)
    assert found["control.kp[1]"]["value"] == 5


def test_resolved_fills_back_emf_and_mass(armsim, empty_folder):
    (empty_folder / "brief.yaml").write_text(
        "format: armsim/robot/1\nname: brief\njoints:\n  - name: A\n    type: revolute\n    mdh: {}\n"
        "    bodies: [{box: {size: [0.1, 0.2, 0.3], density: 1000}}]\n    motor: {Kp: 0.05, Ra: 2}\n"
    )
    found = resolved(armsim, "brief.yaml")
    assert (found["joints[A].motor.Ke"]["value"], found["joints[A].motor.Ke"]["note"]) == (0.05, "Kp")
    mass = found["joints[A].bodies[0].box.mass"]
    assert (mass["value"], mass["note"]) == (pytest.approx(6, rel=1e-15), "from the density")


def test_resolved_in_degrees_turns_angles_only(armsim):
    found = resolved(armsim, "arm5", "--deg")
    assert (found["joints[R2].mdh.alpha"]["value"], found["joints[R2].mdh.alpha"]["unit"]) == (-90, "deg")
    assert found["joints[R2].limits.stiffness"]["unit"] == "N·m/rad"


def test_expressions_of_time_have_no_value(armsim):
    signal = resolved(armsim, "rr_config2_sine")["inputs.torque[0]"]
    assert (signal["value"], signal["written"]) == (None, "5*sin(5*t)")
    assert "of time  inputs.torque[0] = 5*sin(5*t)" in armsim("info", "rr_config2_sine", "--resolved").out


def test_faults_are_shown_as_everywhere(armsim, empty_folder):
    (empty_folder / "bad.yaml").write_text("format: armsim/robot/1\nname: bad\njoints: 5\n")
    wrong = armsim("info", "bad.yaml")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("bad.yaml:3:9: joints\n  expected: ")


def test_the_whole_motor_is_shown_and_what_is_not_there_takes_no_column(armsim, empty_folder):
    (empty_folder / "whole.yaml").write_text(
        "format: armsim/robot/1\nname: whole\njoints:\n  - name: A\n    type: revolute\n    mdh: {}\n"
        "    friction: {coulomb: 0.7}\n    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]\n"
        "    motor: {Kp: 0.05, Ra: 2, gear: 50, coulomb: {positive: 0.01, negative: 0.02}, efficiency: 0.8,\n"
        "            inductance: 1e-3, brush_drop: {max: 0.5, half: 0.3}, limits: {voltage: 24, torque: 0.3}}\n"
    )
    joint = answer(armsim, "whole.yaml")["joints"][0]
    assert joint["coulomb"] == {"positive": 0.7, "negative": 0.7}
    motor = joint["motor"]
    assert motor["coulomb"] == {"positive": 0.01, "negative": 0.02}
    assert (motor["efficiency"], motor["inductance"], motor["brush_drop"]) == (0.8, 1e-3, {"max": 0.5, "half": 0.3})
    assert motor["limits"] == {"voltage": 24, "current": None, "torque": 0.3, "speed": None}
    report = words(armsim("info", "whole.yaml").out)
    assert "joint initial dry + dry - A revolute 0 rad 0.7 N·m 0.7 N·m" in report
    assert "max voltage max torque" in report
    assert "max current" not in report
    assert "dry" not in armsim("info", "arm5").out


def test_a_drive_by_torque_has_no_constants_to_show(armsim):
    motor = answer(armsim, "puma560")["joints"][0]["motor"]
    assert motor["Kp"] is motor["Ra"] is motor["torque_per_volt"] is None
    assert "Kp" not in armsim("info", "puma560").out


def test_an_adaptive_scenario_has_landings_and_its_steps_are_not_known_yet(armsim):
    facts = json.loads(armsim("info", "two_link_swing", "--json", "--set", "integrator={}").out)
    assert (facts["steps"], facts["landings"]) == (None, 1)
    fixed = json.loads(armsim("info", "two_link_swing", "--json").out)
    assert (fixed["steps"], fixed["landings"]) == (5000, None)
