"""Files of another kind than was asked for."""

from __future__ import annotations

import shutil

import pytest

import armsim
from armsim.errors import FileFaults
from armsim.files.shipped import shipped_path

ROBOT, SCENARIO = (shipped_path(kind, name) for kind, name in (("robots", "rr"), ("configs", "rr_config1")))
URDF = '<?xml version="1.0"?>\n<robot name="arm"><link name="base"/></robot>\n'


def refusal(command, given) -> str:
    with pytest.raises(FileFaults) as caught:
        command(given)
    return str(caught.value)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROBOT, "my_arm.yaml")
    return tmp_path


def test_a_robot_file_in_place_of_a_scenario_is_called_one(folder, told):
    told(refusal(armsim.simulate, "my_arm.yaml"))


def test_the_name_of_a_robot_without_scenarios_says_so():
    assert "write one with `robot: ur5` in it" in refusal(armsim.simulate, "ur5")


def test_a_robot_file_names_the_scenarios_beside_it_and_those_that_are_shipped(folder):
    with open(SCENARIO) as file:
        text = file.read()
    (folder / "swing.yaml").write_text(text.replace("../robots/rr.yaml", "my_arm.yaml"))
    (folder / "other.yaml").write_text(text.replace("../robots/rr.yaml", "arm5"))
    assert "take one of its scenarios: swing.yaml; " in refusal(armsim.simulate, "my_arm.yaml")
    assert "take one of its scenarios: puma560_fall, puma560_hold, puma560_move; " in refusal(
        armsim.simulate, shipped_path("robots", "puma560")
    )


def test_the_name_of_a_robot_names_its_scenarios(told):
    told(refusal(armsim.simulate, "two_link"))


def test_a_scenario_in_place_of_a_robot_names_its_robot(folder, told):
    told(refusal(armsim.load_robot, "rr_config1"))
    (folder / "swing.yaml").write_text("format: armsim/scenario/1\nrobot: my_arm.yaml\n")
    told(refusal(armsim.load_robot, "swing.yaml"))


def test_a_scenario_whose_robot_is_a_scenario_is_told_the_robot_of_that_one(folder, told):
    (folder / "swing.yaml").write_text("format: armsim/scenario/1\nrobot: my_arm.yaml\n")
    (folder / "twice.yaml").write_text("format: armsim/scenario/1\nrobot: swing.yaml\nduration: 1\n")
    told(refusal(armsim.simulate, "twice.yaml"))


@pytest.mark.parametrize("command", [armsim.load_robot, armsim.simulate])
@pytest.mark.parametrize(("name", "text"), [("arm.xml", URDF), ("arm.yaml", URDF), ("arm.xacro", "")])
def test_a_urdf_file_of_another_name_is_known_as_one_and_told_how_to_come_in(folder, command, name, text):
    (folder / name).write_text(text)
    said = refusal(command, name)
    assert f"found:    {'a URDF file' if text else 'a xacro file of ROS'}\n" in said
    assert f"make a robot file of it: `armsim import {name} -o robot.yaml`" in said


@pytest.mark.parametrize("name", ["my_scenario.yaml", "swing", "arm.urdf", "nothing_like_it"])
def test_a_name_that_is_far_from_all_others_means_none_of_them(folder, name):
    assert "did you mean" not in refusal(armsim.simulate, name)


@pytest.mark.parametrize(("name", "meant"), [("myarm.yaml", "my_arm.yaml"), ("my_arm.yml", "my_arm.yaml")])
def test_a_name_that_is_near_another_means_it(folder, name, meant):
    (folder / "my_arm.txt").write_text("")
    assert refusal(armsim.load_robot, name).endswith(f"\n  mend:     did you mean `{meant}`?")
