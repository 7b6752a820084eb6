"""Files written out in full read back to the same bits."""

from dataclasses import replace

import pytest

from armsim.document import plain
from armsim.files.shipped import shipped_names
from armsim.files.yaml_writer import yaml_text
from armsim.loading import read_robot, read_scenario, resolved_robot


def same_command(a, b):
    if hasattr(a, "reference") and a != b:  # tables are compared by their values
        return replace(a, reference=b.reference) == b and a.reference.at(0.3) == b.reference.at(0.3)
    return a == b or (a.output == b.output and [s(0.3) for s in a.signals] == [s(0.3) for s in b.signals])


@pytest.mark.parametrize("name", shipped_names("robots"))
@pytest.mark.handful(4)
def test_a_resolved_robot_builds_the_same_arm(name, tmp_path):
    arm, data = read_robot(name)
    path = tmp_path / "again.yaml"
    path.write_text(yaml_text(plain(resolved_robot(data))), encoding="utf-8")
    again, data_again = read_robot(path)
    assert again == arm
    assert plain(resolved_robot(data_again)) == plain(resolved_robot(data))


@pytest.mark.parametrize("name", shipped_names("configs"))
@pytest.mark.handful(3)
def test_a_resolved_scenario_runs_the_same(name, tmp_path):
    scenario = read_scenario(name)
    path = tmp_path / "again.yaml"
    path.write_text(yaml_text(scenario.scenario_data), encoding="utf-8")
    again = read_scenario(path)
    for part in ("name", "arm", "method", "dt", "clock", "external",
                 "initial_q", "initial_qd"):  # fmt: skip
        assert getattr(again, part) == getattr(scenario, part)
    assert same_command(again.command, scenario.command)
    assert again.scenario_data == scenario.scenario_data


def test_a_run_file_is_a_scenario(tmp_path):
    scenario = read_scenario("arm5_hold_pi", {"control.kp[1]": 33, "payload": {"mass": 0.5}})
    path = tmp_path / "run.yaml"
    path.write_text(yaml_text({"format": "armsim/run/1", "status": "complete", "scenario": scenario.scenario_data}))
    again = read_scenario(path)
    assert (again.name, again.arm, again.command) == (scenario.name, scenario.arm, scenario.command)
    changed = read_scenario(path, {"control.kp[1]": 34, "robot.joints[R2].motor.Kp": 9})
    assert changed.command.law.kp[1] == 34
    assert changed.arm.joints[1].motor.Kp == 9


def test_recorded_inputs_are_kept_by_absolute_path_and_hash(tmp_path, monkeypatch):
    (tmp_path / "in.csv").write_text("t_s,tau\n0,1\n0.5,2\n")
    text = "format: armsim/scenario/1\nrobot: rr\nduration: 1\nintegrator: {method: rk4, dt: 1e-3}\n"
    text += "inputs: {torque: [{csv: in.csv, column: tau, hold: linear}, t]}\n"
    (tmp_path / "s.yaml").write_text(text)
    scenario = read_scenario(tmp_path / "s.yaml")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.yaml").write_text(yaml_text(scenario.scenario_data))
    monkeypatch.chdir(tmp_path / "other")
    again = read_scenario("run.yaml")
    assert [signal(0.25) for signal in again.command.signals] == [1.5, 0.25]
    assert again.scenario_data["inputs"]["torque"][0]["csv"] == str(tmp_path / "in.csv")
    assert len(again.sources) == 2
