"""Values set and keys taken out by `--set`, `--unset` and `overrides`."""

from __future__ import annotations

import math

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_robot, read_scenario

ROBOT = {
    "format": "armsim/robot/1",
    "name": "two",
    "units": {"angle": "deg"},
    "joints": [
        {
            "name": name,
            "type": "revolute",
            "mdh": {"a": a},
            "initial": initial,
            "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}, {"sphere": {"radius": 0.1, "mass": 2}}],
        }
        for name, a, initial in (("shoulder", 0, 90), ("elbow", 1, -45))
    ],
}
PD = {"law": "pd", "output": "torque", "kp": 10, "kd": [1, 2]}
SCENARIO = {
    "format": "armsim/scenario/1",
    "robot": ROBOT,
    "duration": 1,
    "integrator": {"method": "rk4", "dt": 1e-3},
    "control": PD,
}


def refusal(overrides, **changes) -> str:
    with pytest.raises(FileFaults) as caught:
        read_scenario({**SCENARIO, **changes}, overrides)
    return str(caught.value)


@pytest.mark.parametrize("joint", ["1", "elbow"])
def test_one_joint_is_set_apart_from_a_number_that_stands_for_all(joint):
    assert read_scenario(SCENARIO, {f"control.kp[{joint}]": 80}).command.law.kp == (10, 80)
    assert read_scenario(SCENARIO, {f"control.kd[{joint}]": 80}).command.law.kd == (1, 80)


def test_settings_of_a_list_and_of_its_items_apply_in_their_order():
    assert read_scenario(SCENARIO, {"control.kp": 5, "control.kp[elbow]": "8"}).command.law.kp == (5, 8)
    assert read_scenario(SCENARIO, {"control.kp[elbow]": 8, "control.kp": 5}).command.law.kp == (5, 5)


def test_of_a_list_that_is_left_out_the_other_joints_keep_the_default():
    overrides = {"initial.q[elbow]": 0.5, "initial.qd[shoulder]": 2, "control.target[elbow]": 0.25}
    scenario = read_scenario(SCENARIO, overrides)
    assert scenario.initial_q == (math.radians(90), 0.5)  # radians, though the robot's file has degrees
    assert scenario.initial_qd == (2, 0)
    assert scenario.command.target == (math.radians(90), 0.25)
    turned = read_scenario(SCENARIO, {**overrides, "units.angle": "deg"})
    assert turned.initial_q == pytest.approx((math.radians(90), math.radians(0.5)), rel=1e-15)


def test_names_are_those_of_the_robot_that_is_set_at_the_same_time():
    overrides = {"control.kp[R2]": 80, "robot": "rr", "control.kd[R1]": 3}
    command = read_scenario(SCENARIO, overrides).command
    assert (command.law.kp, command.law.kd) == ((10, 80), (3, 2))


def test_a_list_without_a_default_is_not_made_of_one_item(told):
    told(refusal({"control.limit[elbow]": 3}))
    assert read_scenario(SCENARIO, {"control.limit": 24, "control.limit[elbow]": 3}).command.limit == (24, 3)


def test_none_takes_a_key_out_and_an_item_of_a_list():
    pid = {**PD, "law": "pid", "ki": 3}
    scenario = read_scenario({**SCENARIO, "control": pid}, {"control.law": "pd", "control.ki": None})
    assert (scenario.command.law.name, scenario.command.law.ki) == ("pd", (0, 0))
    assert read_scenario(SCENARIO, {"control": None}).command is None
    arm, _ = read_robot(ROBOT, {"joints[elbow].bodies[0]": None})
    assert [joint.inertia.mass for joint in arm.joints] == [3, 2]


def test_what_is_not_there_may_be_taken_out_if_it_could_be(told):
    assert read_scenario(SCENARIO, {"control.ki": None, "inputs.torque": None}).command.law.kp == (10, 10)
    told(refusal({"control.kj": None}))


def test_one_of_the_joints_alone_is_not_taken_out():
    assert refusal({"control.kd[0]": None}).endswith("unset `control.kd` as a whole")


@pytest.mark.parametrize(
    ("law", "given", "found", "more"),
    [
        ("pi", PD, "`kd` and no `ki`", {"control.kd": None, "control.ki": "10"}),
        ("pid", PD, "no `ki`", {"control.ki": "10"}),
        ("pd", {**PD, "law": "pid", "ki": 3, "integral_limit": 2}, "`ki` and `integral_limit`",
         {"control.ki": None, "control.integral_limit": None}),
    ],
)  # fmt: skip
def test_a_law_that_is_set_says_all_it_asks_for_and_that_works(law, given, found, more):
    said = refusal({"control.law": law}, control=given)
    assert said.count("expected:") == 1
    options = [f"--unset {key}" if value is None else f"--set {key}={value}" for key, value in more.items()]
    assert said.endswith(f"found:    {found}\n  mend:     add {' '.join(options)}")
    assert read_scenario({**SCENARIO, "control": given}, {"control.law": law, **more}).command.law.name == law


def test_faults_of_the_robot_are_told_without_faults_of_what_is_set_for_its_joints():
    robot = {**ROBOT, "joints": [{**ROBOT["joints"][0], "type": "hinge"}]}
    said = refusal({"control.kp[elbow]": 3, "initial.q[0]": 1}, robot=robot)
    assert said.count("expected:") == 1
    assert "joints[0].type" in said
