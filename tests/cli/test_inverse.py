"""`armsim inverse` as a user meets it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import armsim as library

G = 9.81


def answer(run, *args) -> dict:
    done = run("inverse", *args, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_without_a_pose_it_prints_what_holds_the_arm_at_its_initial_pose(armsim):
    done = armsim("inverse", "rr")
    assert (done.code, done.err) == (0, "")
    # both links level: 3 kg at the first axis, 4 kg at 0.8 + 0.4 m; the second joint carries 4 kg at 0.4 m
    assert done.out == (
        "rr: torques that hold it at its initial pose\n\n"
        "joint      q      torque\n"
        f"R1     0 rad  {4 * G * 1.2:.3f} N·m\n"
        f"R2     0 rad  {4 * G * 0.4:.3f} N·m\n"
    )


def test_json_has_the_keys_it_promises_and_null_where_there_is_no_motor(armsim):
    found = answer(armsim, "rr")
    assert list(found) == [
        "robot",
        "joints",
        "q",
        "torque",
        "voltage",
        "current",
        "slipping",
        "exceeded",
        "above_nominal",
    ]
    assert (found["robot"], found["joints"], found["q"]) == ("rr", ["R1", "R2"], [0, 0])
    assert found["torque"] == pytest.approx([4 * G * 1.2, 4 * G * 0.4], rel=1e-14)
    assert found["voltage"] == found["current"] == [None, None]


def test_a_motor_at_rest_takes_the_torque_over_its_constant_as_current(armsim):
    found = answer(armsim, "arm5")
    for torque, Kp, current, voltage in zip(found["torque"], [10, 10, 10, 1, 1], found["current"], found["voltage"]):
        assert current == pytest.approx(torque / Kp, rel=1e-15)
        assert voltage == pytest.approx(current * 1.0, rel=1e-15)  # 1 ohm, no back-EMF at rest


def test_a_turning_motor_needs_back_emf_as_well(armsim):
    found = answer(armsim, "arm5", "--qd", "0.1,0.2,0.3,0.4,0.5")
    for i, (Ke, rate) in enumerate(zip([10, 10, 10, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5])):
        assert found["voltage"][i] == pytest.approx(found["current"][i] + Ke * rate, rel=1e-14)


def test_degrees_give_the_thesis_torques_of_two_link(armsim, reference):
    thesis = reference("thesis_two_link").columns
    scale = [np.abs(thesis[f"tau{i}_Nm"]).max() for i in (1, 2)]
    for k in range(0, len(thesis["tau1_Nm"]), 7):
        pairs = {
            option: f"{float(thesis[f'{option}1_deg{unit}'][k])!r},{float(thesis[f'{option}2_deg{unit}'][k])!r}"
            for option, unit in (("q", ""), ("qd", "_s"), ("qdd", "_s2"))
        }
        found = answer(
            armsim, "two_link", "--deg", *(x for option, pair in pairs.items() for x in (f"--{option}", pair))
        )
        for i in (0, 1):
            assert found["torque"][i] == pytest.approx(thesis[f"tau{i + 1}_Nm"][k], abs=1e-12 * scale[i])


def test_a_trajectory_in_degrees_gives_the_thesis_torques_row_by_row(armsim, reference, empty_folder, read_table):
    thesis = reference("thesis_two_link").columns
    names = {"1": "shoulder", "2": "elbow"}
    headings = {
        f"{x}{i}_deg{u}": f"{x}_{names[i]}_deg{u}" for x, u in (("q", ""), ("qd", "_s"), ("qdd", "_s2")) for i in names
    }
    rows = np.stack([thesis[key] for key in headings], axis=1)
    lines = [",".join(["t_s", *headings.values()])]
    lines += [",".join(map(repr, [float(k), *map(float, row)])) for k, row in enumerate(rows)]
    (empty_folder / "thesis.csv").write_text("\n".join(lines) + "\n")
    done = armsim("inverse", "two_link", "--trajectory", "thesis.csv", "-o", "tau.csv")
    assert (done.code, done.err) == (0, "")
    assert done.out == f"tau.csv: {len(rows)} rows of t_s, tau_motor_shoulder_Nm, tau_motor_elbow_Nm\n"
    found = read_table(empty_folder / "tau.csv")
    for i, name in names.items():
        expected = thesis[f"tau{i}_Nm"]
        np.testing.assert_allclose(found[f"tau_motor_{name}_Nm"], expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_what_is_shown_in_degrees_is_what_was_given(armsim):
    assert answer(armsim, "two_link", "--deg")["q"] == [-60, 45]
    assert answer(armsim, "two_link", "--deg", "--q", "-61,59.5")["q"] == [-61, 59.5]
    assert "-60 deg" in armsim("inverse", "two_link", "--deg").out


def test_numbers_may_be_formulas_but_for_names(armsim, told):
    assert answer(armsim, "rr", "--q", "-pi/2,0.5*pi")["q"] == [-math.pi / 2, math.pi / 2]
    wrong = armsim("inverse", "rr", "--q", "upper,0")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


@pytest.mark.parametrize("option", ["q", "qd", "qdd"])
def test_a_wrong_number_of_joints_names_them(armsim, option, told):
    wrong = armsim("inverse", "two_link", f"--{option}", "1,2,3")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_a_payload_hangs_at_the_tool_in_place_of_the_robots_own(armsim):
    bare = answer(armsim, "two_link", "--payload", "0", "--q", "0,0")["torque"]
    loaded = answer(armsim, "two_link", "--payload", "0.25", "--q", "0,0")["torque"]
    assert loaded[0] - bare[0] == pytest.approx(0.25 * G * 1.8, rel=1e-12)
    assert loaded[1] - bare[1] == pytest.approx(0.25 * G * 0.8, rel=1e-12)
    assert bare[1] == pytest.approx(1.5 * G * 0.4, rel=1e-14)


def test_a_payload_hangs_in_place_of_all_that_a_list_carries(armsim, empty_folder):
    text = (
        "format: armsim/robot/1\nname: one\ngravity: [0, -9.81, 0]\n"
        "joints: [{name: A, type: revolute, mdh: {}, bodies: [{point: {mass: 1}}]}]\n"
        "tool: {xyz: [1, 0, 0]}\nframes: {camera: {link: A, xyz: [2, 0, 0]}}\n"
    )
    payload = "payload: [{name: gripper, mass: 0.5}, {name: eye, frame: camera, mass: 0.25}]\n"
    (empty_folder / "one.yaml").write_text(text + payload)
    assert answer(armsim, "one.yaml")["torque"] == [pytest.approx((0.5 * 1 + 0.25 * 2) * G, rel=1e-14)]
    assert answer(armsim, "one.yaml", "--payload", "0.125")["torque"] == [pytest.approx(0.125 * G, rel=1e-14)]
    assert "in place of all that the robot carries" in " ".join(armsim("inverse", "--help").out.split())


@pytest.mark.parametrize("payload", ["-1", "heavy"])
def test_a_payload_that_is_no_mass_is_refused(armsim, payload, told):
    wrong = armsim("inverse", "rr", "--payload", payload)
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_a_pose_beyond_a_stop_says_that_the_stop_is_counted_in(armsim):
    done = armsim("inverse", "arm5", "--q", "0,0.8,0,0,0")
    # 1000 N·m/rad, 0.1 rad beyond
    assert done.out.splitlines()[-2:] == [
        "! R2 is outside its range, -1.2 to 0.7 rad; its stop pushes with -100 N·m, which",
        "  is counted in",
    ]


ELASTIC = ("--set", "joints[R2].motor.rotor_inertia=0.1", "--set", "joints[R2].motor.coupling={stiffness: 2000}")


def test_forward_takes_an_elastic_coupling_as_rigid_and_a_line_says_so(armsim):
    (line,) = [line for line in armsim("forward", "arm5", *ELASTIC).out.splitlines() if line.startswith("!")]
    assert "coupling of R2" in line
    assert "coupling" not in armsim("forward", "arm5").out


def test_behind_an_elastic_coupling_the_rotor_is_told_and_why_where_it_is_not(armsim):
    found = answer(armsim, "arm5", *ELASTIC)
    assert found["q_motor"] == [None, found["q"][1] + found["torque"][1] / 2000, None, None, None]
    assert "!" not in armsim("inverse", "arm5", *ELASTIC).out
    moving = armsim("inverse", "arm5", *ELASTIC, "--qd", "0,1,0,0,0").out
    assert "of R2 are those of a rigid gear" in moving
    assert "q motor" in moving
    play = ("--set", "joints[R2].motor.coupling.backlash=1e-3", "--qd", "0,1,0,0,0")
    assert "! R2 has backlash" in armsim("inverse", "arm5", *ELASTIC, *play).out


def test_a_trajectory_has_the_motions_and_torques_of_motors_behind_elastic_couplings(armsim, tmp_path):
    t = np.linspace(0.0, 1.0, 201)
    q = np.zeros((len(t), 5))
    q[:, 1] = 0.2 * np.sin(2.0 * t)
    heading = "t_s," + ",".join(f"q_R{i}_rad" for i in range(1, 6))
    np.savetxt(tmp_path / "m.csv", np.c_[t, q], delimiter=",", header=heading, comments="")
    files = ("--trajectory", str(tmp_path / "m.csv"), "-o", str(tmp_path / "tau.csv"))
    done = armsim("inverse", "arm5", *ELASTIC, *files)
    assert done.code == 0
    assert "qd, qdd, jerk and snap follow from q" in done.out
    found = np.genfromtxt(tmp_path / "tau.csv", delimiter=",", names=True)
    arm = library.load_robot(
        "arm5", {"joints[R2].motor.rotor_inertia": 0.1, "joints[R2].motor.coupling": {"stiffness": 2000}}
    )
    motion = [np.zeros((len(t), 5)) for _ in range(5)]
    for order, x in enumerate(motion):
        x[:, 1] = 0.2 * 2.0**order * np.sin(2.0 * t + order * math.pi / 2)
    wanted = arm.motor_motion(*motion)
    assert found["q_motor_R2_rad"] == pytest.approx(wanted.q[:, 1], abs=1e-8)
    assert found["tau_motor_R2_Nm"][5:-5] == pytest.approx(wanted.torque[5:-5, 1], abs=2e-3)
    assert found["torque_coupling_R2_Nm"] == pytest.approx(wanted.coupling[:, 1], abs=1e-4)


def test_a_joint_at_the_end_of_its_range_is_within_it_and_one_without_limits_always_is(armsim):
    notes = [line for line in armsim("inverse", "arm5", "--q", "9,0.7,0,0,-1.2").out.splitlines() if "outside" in line]
    assert notes == ["! R5 is outside its range, -1.1 to 1.1 rad; its stop pushes with 100 N·m, which"]


def test_verbose_shows_more_digits(armsim):
    assert "24.19073236 N·m" in armsim("inverse", "two_link", "-v").out


def test_the_command_says_what_the_library_says(armsim):
    q, qd, qdd = [0.1, -0.4, 0.2, 0.6, -0.7], [0.3, -0.2, 0.1, 0.4, -0.5], [1.0, -1.0, 0.5, -0.5, 0.25]
    options = [
        x for key, values in (("q", q), ("qd", qd), ("qdd", qdd)) for x in (f"--{key}", ",".join(map(repr, values)))
    ]
    found = answer(armsim, "arm5", *options)
    arm = library.load_robot("arm5")
    tau = arm.inverse_dynamics(q, qd, qdd)
    assert found["torque"] == tau.tolist()
    voltage, current = arm.motor_demand(qd, tau)
    assert (found["voltage"], found["current"]) == (voltage.tolist(), current.tolist())


# wrenches


def test_wrenches_have_a_line_each_for_base_joints_and_frames_that_carry_something(armsim):
    done = armsim("inverse", "rr", "--wrenches", "--payload", "0.5")
    assert (done.code, done.err) == (0, "")
    first, _, lines = done.out.rpartition("\n\n")
    assert first + "\n" == armsim("inverse", "rr", "--payload", "0.5").out
    # both links level, y up: 3, 4 and 0.5 kg at 0.8, 1.2 and 1.6 m
    forces = {"base": 7.5, "R1": 7.5, "R2": 4.5, "tool": 0.5}
    rows = {line.split()[0]: line.split()[1::2] for line in lines.splitlines()[1:]}
    assert lines.splitlines()[0].split() == ["at", "fx", "fy", "fz", "mx", "my", "mz"]
    assert list(rows) == list(forces)
    for name, mass in forces.items():
        assert float(rows[name][1]) == pytest.approx(mass * G, rel=1e-4)


def test_wrenches_of_the_command_are_the_librarys(armsim, empty_folder, read_table):
    robot = library.load_robot("arm5", {"payload.mass": 0.4})
    motion = [[0.1, -0.4, 0.2, 0.6, -0.7], [0.3, -0.2, 0.1, 0.4, -0.5], [1.0, -1.0, 0.5, -0.5, 0.25]]
    options = [f"--{key}={','.join(map(str, values))}" for key, values in zip(("q", "qd", "qdd"), motion)]
    found = answer(armsim, "arm5", "--payload", "0.4", "--wrenches", *options)["wrenches"]
    names = ["base", *robot.joints, "tool"]
    assert list(found) == names
    expected = robot.wrenches(*motion, at=names)
    assert [[*of["moment"], *of["force"]] for of in found.values()] == expected.tolist()


def test_a_trajectory_has_the_wrenches_as_columns(armsim, empty_folder, read_table):
    armsim("simulate", "arm5_hold", "-o", "run", "--set", "duration=0.02", "--set", "log.every=1e-2")
    ask = ("inverse", "arm5", "--trajectory", "run/trajectory.csv", "-o")
    for file, more in (("tau.csv", ()), ("all.csv", ("--wrenches",))):
        assert armsim(*ask, file, *more).code == 0
    plain, found, run = (read_table(empty_folder / file) for file in ("tau.csv", "all.csv", "run/trajectory.csv"))
    names = ["base", "R1", "R2", "R3", "R4", "R5"]
    units = {"fx": "N", "fy": "N", "fz": "N", "mx": "Nm", "my": "Nm", "mz": "Nm"}
    assert list(found) == [*plain, *(f"{part}_{name}_{unit}" for name in names for part, unit in units.items())]
    q, qd, qdd = (
        np.stack([run[f"{key}_R{i}_{unit}"] for i in range(1, 6)], axis=1)
        for key, unit in (("q", "rad"), ("qd", "rad_s"), ("qdd", "rad_s2"))
    )
    expected = library.load_robot("arm5").wrenches(q, qd, qdd, names)
    for k, name in enumerate(names):
        for i, part in enumerate(("mx", "my", "mz", "fx", "fy", "fz")):
            np.testing.assert_array_equal(found[f"{part}_{name}_{units[part]}"], expected[:, k, i])


# the assignment's own check


@pytest.mark.parametrize("name", ["rr_config2_sigmoid", "rr_config2_sine", "rr_config1"])
@pytest.mark.handful(1)
def test_inverse_dynamics_of_a_run_gives_back_the_torques_that_made_it(armsim, empty_folder, read_table, name):
    armsim("simulate", name, "-o", "run", "--set", "duration=0.8", "--set", "log.every=4e-4")
    done = armsim("inverse", "rr", "--trajectory", "run/trajectory.csv", "-o", "tau.csv")
    assert (done.code, done.err) == (0, "")
    applied, found = read_table(empty_folder / "run/torque.csv"), read_table(empty_folder / "tau.csv")
    assert len(found["t_s"]) == 2001
    np.testing.assert_array_equal(found["t_s"], applied["t_s"])
    # 1e-10 of the largest torque; where none is applied, of the largest that gravity asks for
    most = max(np.abs(applied["tau_motor_R1_Nm"]).max(), 4 * G * 1.2 if name == "rr_config1" else 0)
    for heading in ("tau_motor_R1_Nm", "tau_motor_R2_Nm"):
        np.testing.assert_allclose(found[heading], applied[heading], rtol=0, atol=1e-10 * most)


@pytest.mark.slow
def test_simulating_with_the_torques_of_inverse_dynamics_repeats_the_run(armsim, empty_folder, read_table):
    cut = ("--set", "duration=2", "--set", "log.every=4e-4")
    armsim("simulate", "rr_config2_sigmoid", "-o", "run", *cut)
    armsim("inverse", "rr", "--trajectory", "run/trajectory.csv", "-o", "tau.csv")
    (empty_folder / "again.yaml").write_text(
        "format: armsim/scenario/1\nrobot: rr\nduration: 2\nintegrator: {method: semi_implicit_euler, dt: 4e-4}\n"
        "initial: {q: [-pi/2, 0]}\nlog: {every: 4e-4}\n"
        "inputs:\n  torque:\n"
        "    - {csv: tau.csv, column: tau_motor_R1_Nm}\n"
        "    - {csv: tau.csv, column: tau_motor_R2_Nm}\n"
    )
    assert armsim("simulate", "again.yaml", "-o", "again").code == 0
    first, second = (read_table(empty_folder / name / "trajectory.csv") for name in ("run", "again"))
    for heading, column in first.items():
        np.testing.assert_allclose(second[heading], column, rtol=0, atol=1e-10 * max(np.abs(column).max(), 1e-6))


def test_the_torques_of_a_run_are_inputs_that_repeat_it_to_the_bit(armsim, empty_folder):
    cut = ("--set", "duration=0.4", "--set", "log.every=4e-4")
    armsim("simulate", "rr_config2_sine", "-o", "run", *cut)
    (empty_folder / "again.yaml").write_text(
        "format: armsim/scenario/1\nrobot: rr\nduration: 0.4\nintegrator: {method: semi_implicit_euler, dt: 4e-4}\n"
        "initial: {q: [-pi/2, 0]}\nlog: {every: 4e-4}\n"
        "inputs: {torque: [{csv: run/torque.csv, column: tau_motor_R1_Nm}, {csv: run/torque.csv, column: tau_motor_R2_Nm}]}\n"
    )
    armsim("simulate", "again.yaml", "-o", "again")
    for name in ("trajectory.csv", "torque.csv"):
        assert (empty_folder / "again" / name).read_bytes() == (empty_folder / "run" / name).read_bytes()


# trajectories as files


def test_a_trajectory_writes_voltages_and_currents_of_motors(armsim, empty_folder, read_table):
    armsim("simulate", "arm5_hold", "-o", "run", "--set", "duration=0.02", "--set", "log.every=1e-3")
    armsim("inverse", "arm5", "--trajectory", "run/trajectory.csv", "-o", "tau.csv")
    found, run = read_table(empty_folder / "tau.csv"), read_table(empty_folder / "run/torque.csv")
    joints = ["R1", "R2", "R3", "R4", "R5"]
    assert list(found) == [
        "t_s",
        *(f"tau_motor_{name}_Nm" for name in joints),
        *(f"voltage_{name}_V" for name in joints),
        *(f"current_{name}_A" for name in joints),
    ]
    for heading, column in found.items():
        np.testing.assert_allclose(column, run[heading], rtol=0, atol=1e-10 * max(np.abs(run[heading]).max(), 1))


@pytest.mark.parametrize(("given", "order"), [("q", 3), ("q and qd", 4)])
def test_missing_velocities_and_accelerations_are_differentiated_as_well_at_the_ends_and_that_is_said(
    given, order, armsim, empty_folder, read_table
):
    # a pendulum of one moving joint: tau_2 = (Izz + m c²) qdd + m c g cos(q) about the level of the second link
    errors = []
    for count in (100, 200, 400):
        t = np.linspace(0, 2, count + 1)
        q, qd, qdd = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
        columns = {"t_s": t, "q_R1_rad": 0 * t, "q_R2_rad": q}
        if given == "q and qd":
            columns |= {"qd_R1_rad_s": 0 * t, "qd_R2_rad_s": qd}
        lines = [",".join(columns), *(",".join(map(repr, map(float, row))) for row in zip(*columns.values()))]
        (empty_folder / "planned.csv").write_text("\n".join(lines))
        ask = ("inverse", "rr", "--trajectory", "planned.csv", "-o", "tau.csv", "--force")
        exact = (2 + 4 * 0.4**2) * qdd + 4 * 0.4 * G * np.cos(q)
        told = json.loads(armsim(*ask, "--json").out)["derived"]
        errors.append(np.abs(read_table(empty_folder / "tau.csv")["tau_motor_R2_Nm"] - exact).max())
        assert errors[-1] < told["error"][1] < 0.1 * abs(exact).max()
        derived = (["qd", "qdd"], "q") if given == "q" else (["qdd"], "qd")
        assert (told["quantities"], told["source"], told["rows"]) == (*derived, 5)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)  # the next order's share at these steps
    assert math.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.12)
    said = " ".join(armsim(*ask).out.split())
    what = "qd and qdd follow from q" if given == "q" else "qdd follows from qd"
    assert f"* {what}, as derivatives of polynomials through 5 rows; estimated error of the torques" in said


def test_a_trajectory_skips_rows_with_missing_cells_and_passes_over_text(armsim, empty_folder, read_table):
    t = np.linspace(0, 1, 21)
    rows = [f"{x!r},{x * x!r},{1 - x!r},2026-01-01T00:00:{k:02d}" for k, x in enumerate(map(float, t))]
    rows[7] = rows[7].replace(f",{float(1 - t[7])!r},", ",,")
    (empty_folder / "log.csv").write_text("\n".join(["t_s,q_R1_rad,q_R2_rad,stamp", *rows]))
    told = armsim("inverse", "rr", "--trajectory", "log.csv", "-o", "tau.csv")
    assert "* 1 of 21 rows skipped, with a cell missing" in told.out
    found = read_table(empty_folder / "tau.csv")
    assert found["t_s"].tolist() == np.delete(t, 7).tolist()
    model = library.load_robot("rr")
    exact = [model.inverse_dynamics([x * x, 1 - x], [2 * x, -1.0], [2.0, 0.0])[0] for x in found["t_s"]]
    np.testing.assert_allclose(found["tau_motor_R1_Nm"], exact, rtol=1e-9)


@pytest.mark.parametrize(
    "text",
    ["t_s,q_R1_rad\n0,1\n", "q_R1_rad,q_R2_rad\n0,1\n", "t_s,q_R1_rad,q_R2_rad\n0,1,oops\n", "t_s,q_R1_rad,q_R2_rad\n"],
)
def test_a_trajectory_that_cannot_be_read_says_why(armsim, empty_folder, text, told):
    (empty_folder / "bad.csv").write_text(text)
    wrong = armsim("inverse", "rr", "--trajectory", "bad.csv", "-o", "tau.csv")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)
    assert not (empty_folder / "tau.csv").exists()


@pytest.mark.parametrize(
    "text", ["t_s,q_R1_rad,q_R2_rad\n0,1,1\n0.5,1,1\n0.5,1,1\n", "t_s,q_R1_rad,q_R2_rad\n0,1,1\n1,1,1\n"]
)
def test_a_trajectory_that_cannot_be_differentiated_is_refused(armsim, empty_folder, text, told):
    (empty_folder / "bad.csv").write_text(text)
    wrong = armsim("inverse", "rr", "--trajectory", "bad.csv", "-o", "tau.csv")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_a_trajectory_that_is_not_there_is_refused(armsim, told):
    wrong = armsim("inverse", "rr", "--trajectory", "none.csv", "-o", "tau.csv")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--trajectory", "x.csv"), "add for example -o torques.csv"),
        (("--trajectory", "x.csv", "-o", "y.csv", "--q", "0,0"), "leave them out"),
        (("-o", "y.csv"), "take --json > y.csv"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_four_lines(armsim, options, words):
    wrong = armsim("inverse", "rr", *options)
    assert (wrong.code, wrong.out) == (2, "")
    assert words in wrong.err.splitlines()[3]


def test_a_file_that_cannot_be_written_is_refused(armsim, empty_folder, told):
    armsim("simulate", "rr_config1", "-o", "run")
    wrong = armsim("inverse", "rr", "--trajectory", "run/trajectory.csv", "-o", "nowhere/tau.csv")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_it_says_which_joints_dry_friction_would_not_hold(armsim):
    done = armsim("inverse", "puma560")
    assert done.out.endswith("\n* with nothing driving, J2 would move, and the others stay\n")
    assert answer(armsim, "puma560")["slipping"] == ["J2"]
    upright = ("--deg", "--q=0,90,-90,0,0,0")
    assert armsim("inverse", "puma560", *upright).out.endswith("\n* friction alone holds all joints there\n")
    assert answer(armsim, "puma560", *upright)["slipping"] == []


def test_a_joint_that_moves_needs_torque_against_its_dry_friction(armsim):
    at_rest = answer(armsim, "puma560")["torque"]
    up = answer(armsim, "puma560", "--qd", "0,1e-9,0,0,0,0")
    down = answer(armsim, "puma560", "--qd", "0,-1e-9,0,0,0,0")
    # 0.126 and 0.071 N·m at the motor, gear 107.815; what viscous friction and Coriolis add at 1e-9 rad/s is below 1e-7
    assert up["torque"][1] - at_rest[1] == pytest.approx(0.126 * 107.815, abs=1e-6)
    assert down["torque"][1] - at_rest[1] == pytest.approx(-0.071 * 107.815, abs=1e-6)
    assert up["slipping"] is None


# what it must not overwrite


@pytest.fixture
def run_of_rr(armsim):
    """The trajectory of a short run, and options that ask for its torques."""
    armsim("simulate", "rr_config1", "-o", "run", "--set", "duration=0.02", "--set", "log.every=4e-4")
    return "inverse", "rr", "--trajectory", "run/trajectory.csv"


def test_an_existing_file_is_replaced_only_if_that_is_asked_for(armsim, empty_folder, run_of_rr, told):
    (empty_folder / "tau.csv").write_text("precious\n")
    wrong = armsim(*run_of_rr, "-o", "tau.csv")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)
    assert (empty_folder / "tau.csv").read_text() == "precious\n"
    assert armsim(*run_of_rr, "-o", "tau.csv", "--force").code == 0
    assert (empty_folder / "tau.csv").read_text().startswith("t_s,tau_motor_R1_Nm,")
    assert sorted(path.name for path in empty_folder.iterdir()) == ["run", "tau.csv"]


def test_what_is_read_is_never_overwritten(armsim, empty_folder, run_of_rr, told):
    before = (empty_folder / "run/trajectory.csv").read_bytes()
    (empty_folder / "link.csv").symlink_to("run/trajectory.csv")
    for output in ("run/trajectory.csv", "./run/../run/trajectory.csv", "link.csv"):
        wrong = armsim(*run_of_rr, "-o", output, "--force")
        assert (wrong.code, wrong.out) == (2, "")
        told(wrong.err)
    assert (empty_folder / "run/trajectory.csv").read_bytes() == before
    (empty_folder / "arm.yaml").write_text("refused before it is read\n")
    refused = armsim("inverse", "arm.yaml", *run_of_rr[2:], "-o", "arm.yaml", "--force")
    assert refused.err.splitlines()[2] == "  found:    arm.yaml itself"


def test_a_trajectory_in_the_units_of_its_columns_refuses_deg(armsim, run_of_rr, told):
    wrong = armsim(*run_of_rr, "-o", "tau.csv", "--deg")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_verbose_says_between_what_bounds_the_torques_are(armsim, empty_folder, run_of_rr, read_table):
    plain, verbose = (armsim(*run_of_rr, "-o", name, *more) for name, more in (("a.csv", ()), ("b.csv", ("-v",))))
    first, rest = verbose.out.split("\n\n")
    assert first == plain.out.strip().replace("a.csv", "b.csv")
    found = read_table(empty_folder / "b.csv")
    lines = rest.splitlines()
    assert lines[0].split() == ["column", "least", "at", "greatest", "at"]
    assert [line.split()[0] for line in lines[1:]] == list(found)[1:]
    for line in lines[1:]:
        heading, least, since, _, most, until, _ = line.split()
        column = found[heading]
        assert [float(least), float(most)] == pytest.approx([column.min(), column.max()], rel=1e-9, abs=1e-12)
        for when, value in ((since, column.min()), (until, column.max())):
            assert column[np.argmin(np.abs(found["t_s"] - float(when)))] == value


@pytest.mark.parametrize("option", ["q", "qd", "qdd"])
def test_an_empty_list_is_no_list_of_zeros(armsim, option, told):
    wrong = armsim("inverse", "rr", f"--{option}", "")
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (("inverse", "rr"), "torque"),
        (("forward", "rr"), "qdd"),
        (("advance", "rr", "--for", "0.01"), "end"),
        (("fk", "rr"), "links"),
        (("motor", "arm5", "--voltage", "24"), "motors"),
    ],
)
def test_questions_about_an_arm_take_other_numbers_of_its_file(armsim, words, key):
    number = "joints[0].motor.gear" if words[0] == "motor" else "joints[R2].initial"
    as_it_is, changed = (json.loads(armsim(*words, "--json", *more).out) for more in ((), ("--set", f"{number}=1.25")))
    assert changed[key] != as_it_is[key]


def test_a_payload_adds_to_what_is_set(armsim):
    shorter = answer(armsim, "rr", "--set", "joints[R2].initial=0.5", "--payload", "2")["torque"]
    arm = library.load_robot("rr", {"joints[R2].initial": 0.5, "payload": {"mass": 2}})
    assert shorter == pytest.approx(arm.gravity_torque(arm.initial).tolist(), rel=1e-12)


def test_a_trajectory_of_other_names_and_units_has_the_torques_of_one_with_armsims(armsim, tmp_path):
    t = [k / 100 for k in range(50)]
    rows = [(x, math.sin(x), 0.5 * math.cos(x)) for x in t]
    plain = "t_s,q_shoulder_rad,q_elbow_rad\n" + "".join(f"{x!r},{a!r},{b!r}\n" for x, a, b in rows)
    counts = "ms,enc1,enc2\n" + "".join(f"{1000 * x!r},{2 * a!r},{2 * b!r}\n" for x, a, b in rows)
    (tmp_path / "plain.csv").write_text(plain)
    (tmp_path / "other.csv").write_text(counts)
    columns = "{t_s: ms/1000, q_shoulder_rad: enc1/2, q_elbow_rad: enc2/2}"
    given = ["inverse", "two_link", "--trajectory"]
    assert armsim(*given, "plain.csv", "-o", "plain_tau.csv").code == 0
    assert armsim(*given, "other.csv", "-o", "tau.csv", "--columns", columns).code == 0
    one, other = (np.loadtxt(tmp_path / name, delimiter=",", skiprows=1) for name in ("plain_tau.csv", "tau.csv"))
    assert np.abs(one - other).max() < 1e-6  # milliseconds are rounded, and differentiated twice
    assert armsim("inverse", "two_link", "--columns", columns).code == 2
