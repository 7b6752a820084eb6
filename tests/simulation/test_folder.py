"""What a run's files hold, heading by heading."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
import yaml

import armsim

ARM5 = ["R1", "R2", "R3", "R4", "R5"]
POSE = ["x_m", "y_m", "z_m", "qw", "qx", "qy", "qz"]
VELOCITY = ["vx_m_s", "vy_m_s", "vz_m_s", "wx_rad_s", "wy_rad_s", "wz_rad_s"]
ENERGIES = ["kinetic_energy_J", "potential_energy_J"]
SLIDE = {
    "format": "armsim/robot/1",
    "name": "gantry",
    "joints": [
        {"name": "rail", "type": "prismatic", "mdh": {"alpha": "pi/2"}, "bodies": [{"point": {"mass": 2}}]},
        {
            "name": "turn",
            "type": "revolute",
            "mdh": {"a": 0.3},
            "bodies": [{"point": {"mass": 1, "center": [0.4, 0, 0]}}],
        },
    ],
}


def read(path) -> tuple[list[str], np.ndarray]:
    with open(path, newline="") as file:
        headings, *rows = list(csv.reader(file))
    return headings, np.array(rows, dtype=float)


def gantry(**keys) -> dict:
    plain = {
        "format": "armsim/scenario/1",
        "name": "gantry_run",
        "robot": SLIDE,
        "duration": 0.01,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "inputs": {"torque": [1, 2]},
    }
    return {**plain, **keys}


def test_headings_of_an_arm_with_motors_are_those_of_the_design(tmp_path):
    armsim.simulate("arm5_hold", {"duration": 0.01}).save(tmp_path / "run")
    assert read(tmp_path / "run/trajectory.csv")[0] == [
        "t_s",
        *(f"q_{name}_rad" for name in ARM5),
        *(f"qd_{name}_rad_s" for name in ARM5),
        *(f"qdd_{name}_rad_s2" for name in ARM5),
        *POSE,
        *VELOCITY,
        *ENERGIES,
    ]
    assert read(tmp_path / "run/torque.csv")[0] == [
        "t_s",
        *(f"{kind}_{name}_Nm" for kind in ("tau", "tau_motor", "tau_friction", "tau_limit") for name in ARM5),
        *(
            f"{kind}_{name}_{unit}"
            for kind, unit in (("voltage", "V"), ("current", "A"), ("power", "W"))
            for name in ARM5
        ),
    ]


def test_prismatic_joints_have_metres_and_newtons_also_with_degrees(tmp_path):
    run = armsim.simulate(gantry())
    run.save(tmp_path / "rad")
    run.save(tmp_path / "deg", degrees=True)
    assert read(tmp_path / "rad/trajectory.csv")[0][1:7] == [
        "q_rail_m",
        "q_turn_rad",
        "qd_rail_m_s",
        "qd_turn_rad_s",
        "qdd_rail_m_s2",
        "qdd_turn_rad_s2",
    ]
    headings, rows = read(tmp_path / "deg/trajectory.csv")
    assert headings[1:7] == [
        "q_rail_m",
        "q_turn_deg",
        "qd_rail_m_s",
        "qd_turn_deg_s",
        "qdd_rail_m_s2",
        "qdd_turn_deg_s2",
    ]
    np.testing.assert_array_equal(rows[:, 1], run.q[:, 0])
    np.testing.assert_allclose(rows[:, 2], np.degrees(run.q[:, 1]), rtol=1e-15)
    torque = read(tmp_path / "deg/torque.csv")[0]
    kinds = ("tau", "tau_motor", "tau_friction", "tau_limit")
    assert torque == ["t_s", *(f"{kind}_{name}" for kind in kinds for name in ("rail_N", "turn_Nm"))]


def test_every_number_reads_back_to_the_same_double_in_the_fewest_digits(tmp_path):
    run = armsim.simulate("arm5_hold", {"duration": 0.02})
    run.save(tmp_path / "run")
    for name in ("trajectory.csv", "torque.csv"):
        headings, rows = read(tmp_path / "run" / name)
        for heading, column in zip(headings, rows.T):
            np.testing.assert_array_equal(column, run[heading])
        cells = [cell for line in (tmp_path / "run" / name).read_text().splitlines()[1:] for cell in line.split(",")]
        for cell in cells:
            assert len(cell) <= len(repr(float(cell)).removesuffix(".0"))


def test_lines_end_in_lf_and_headings_stand_without_quotes_or_comments(tmp_path):
    armsim.simulate("rr_config1", {"duration": 0.04}).save(tmp_path / "run")
    for name in ("trajectory.csv", "torque.csv"):
        raw = (tmp_path / "run" / name).read_bytes()
        assert raw.endswith(b"\n")
        assert not any(sign in raw for sign in (b"\r", b'"', b"#", b" "))


def test_times_are_k_over_n_so_that_0_0003_prints_as_0_0003(tmp_path):
    armsim.simulate("arm5_hold", {"duration": 0.001, "log.every": 1e-4}).save(tmp_path / "run")
    lines = (tmp_path / "run/trajectory.csv").read_text().splitlines()[1:]
    times = [line.split(",")[0] for line in lines]
    assert times == [
        "0",
        "0.0001",
        "0.0002",
        "0.0003",
        "0.0004",
        "0.0005",
        "0.0006",
        "0.0007",
        "0.0008",
        "0.0009",
        "0.001",
    ]


def test_a_row_is_the_state_with_what_acts_from_then_on(tmp_path):
    # semi-implicit Euler: qd[k+1] = qd[k] + dt qdd[k], q[k+1] = q[k] + dt qd[k+1]
    run = armsim.simulate("rr_config2_sine", {"duration": 0.04, "log.every": 4e-4})
    np.testing.assert_allclose(run.qd[1:], run.qd[:-1] + 4e-4 * run.qdd[:-1], rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(run.q[1:], run.q[:-1] + 4e-4 * run.qd[1:], rtol=1e-14, atol=1e-16)
    np.testing.assert_allclose(run["tau_motor_R1_Nm"], 5 * np.sin(5 * run.t), rtol=1e-15, atol=1e-16)


def test_all_that_acts_is_the_sum_of_its_parts_and_power_is_voltage_times_current():
    run = armsim.simulate("arm5_hold", {"duration": 0.05, "initial.q": [0.2, 0.75, 0.65, 0.3, -0.2]})
    for name in ARM5:
        parts = [run[f"tau_{kind}_{name}_Nm"] for kind in ("motor", "friction", "limit")]
        np.testing.assert_allclose(run[f"tau_{name}_Nm"], sum(parts), rtol=1e-15)
        np.testing.assert_allclose(
            run[f"power_{name}_W"], run[f"voltage_{name}_V"] * run[f"current_{name}_A"], rtol=1e-15
        )
    assert run["tau_limit_R2_Nm"][0] == pytest.approx(-1000 * 0.05, rel=1e-12)


def test_a_sampled_voltage_is_held_between_its_samples():
    run = armsim.simulate("arm5_hold_pi", {"duration": 0.01, "log.every": 1e-4})
    voltage = run["voltage_R2_V"]
    for k in range(0, 100, 10):
        assert len(set(voltage[k : k + 10].tolist())) == 1
    assert len(set(voltage.tolist())) == 11


def test_the_tool_pose_is_that_of_forward_kinematics():
    run = armsim.simulate("arm5_sine", {"duration": 0.1})
    poses = armsim.load_robot("arm5").forward_kinematics(run.q)
    np.testing.assert_allclose(np.stack([run[h] for h in POSE[:3]], axis=1), poses.position, rtol=0, atol=1e-15)
    np.testing.assert_allclose(np.stack([run[h] for h in POSE[3:]], axis=1), poses.quaternion, rtol=0, atol=1e-15)


def test_run_yaml_tells_how_the_run_went_and_holds_all_that_repeats_it(tmp_path):
    run = armsim.simulate("arm5_hold", {"duration": 0.01})
    run.save(tmp_path / "run")
    recorded = yaml.safe_load((tmp_path / "run/run.yaml").read_text())
    assert recorded["format"] == "armsim/run/1"
    assert recorded["status"] == "complete"
    assert recorded["armsim"] == armsim.__version__
    assert (recorded["engine"], recorded["method"], recorded["algorithm"]) == ("llvm", "explicit_euler", "crba")
    assert (recorded["steps"], recorded["rows"], recorded["csv_angles"]) == (100, run.count, "rad")
    assert recorded["tool"]["position"] == [run[h][-1] for h in POSE[:3]]
    energy = recorded["energy"]["end"]
    assert (energy["kinetic"], energy["potential"]) == (run["kinetic_energy_J"][-1], run["potential_energy_J"][-1])
    again = armsim.simulate(tmp_path / "run/run.yaml")
    assert again.table.tobytes() == run.table.tobytes()


def test_plain_data_runs_and_repeats_like_files(tmp_path):
    run = armsim.simulate(gantry(external=[{"link": "turn", "force": [0, 1, 2], "from": 0.002, "to": 0.004}]))
    folder = run.save(tmp_path / "run", degrees=True)
    assert armsim.simulate(folder / "run.yaml").table.tobytes() == run.table.tobytes()


def test_without_a_folder_runs_are_numbered_by_scenario(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = armsim.simulate(gantry())
    assert [str(run.save()) for _ in range(2)] == ["runs/gantry_run-001", "runs/gantry_run-002"]


def test_rounding_of_degrees_is_that_of_one_product(tmp_path):
    run = armsim.simulate(gantry())
    run.save(tmp_path / "run", degrees=True)
    headings, rows = read(tmp_path / "run/trajectory.csv")
    turned = run.q[:, 1] * math.degrees(1)
    np.testing.assert_array_equal(rows[:, headings.index("q_turn_deg")], turned)
    np.testing.assert_array_equal(run["q_turn_deg"], turned)


@pytest.mark.slow
def test_a_run_without_a_column_names_it_and_says_how_to_get_it(tmp_path, told):
    """As of a version that had none."""
    armsim.simulate("press", {"duration": 0.01, "log.every": 0.005}).save(tmp_path / "run")
    rows = (tmp_path / "run" / "torque.csv").read_text().splitlines()
    assert rows[0].endswith(",frictionz_tool_table_N")
    (tmp_path / "run" / "torque.csv").write_text("\n".join(row.rsplit(",", 1)[0] for row in rows) + "\n")
    with pytest.raises(armsim.FileFaults) as caught:
        armsim.load_run(tmp_path / "run")
    told(str(caught.value).replace(f"{tmp_path}/", ""))
    again = armsim.simulate(tmp_path / "run" / "run.yaml")
    assert len(again["frictionz_tool_table_N"]) == 3
