"""How far arms reach, against closed forms."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from armsim.arm.reach import reach
from armsim.arm.robot import Robot
from armsim.dynamics import own_poses
from armsim.loading import build_robot, load_robot_file
from armsim.model import Limit
from tests.trees import tree


def planar(limits: dict | None = None, tool: float = 0.8, second: str = "revolute", **second_row) -> dict:
    joints = [
        {"name": "A", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}]},
        {
            "name": "B",
            "type": second,
            "mdh": {"a": 1, **second_row},
            "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}],
        },
    ]
    if limits is not None:
        joints[1] |= {"limits": limits, "initial": limits["lower"]}
    return {"format": "armsim/robot/1", "name": "planar", "joints": joints, "tool": {"xyz": [tool, 0, 0]}}


def reach_of(data: dict) -> float:
    return reach(build_robot(load_robot_file(data).document))


@pytest.mark.parametrize(("name", "far"), [("rr", 1.6), ("two_link", 1.8), ("arm5", 0.085 + 0.38 + 0.425 + 0.085)])
def test_the_shipped_arms_reach_as_far_as_they_are_long(arms, name, far):
    assert reach(arms.shipped(name)) == pytest.approx(far, rel=1e-9)


def test_a_limited_elbow_follows_the_law_of_cosines():
    far = math.sqrt(1 + 0.8**2 + 2 * 0.8 * math.cos(0.9))
    assert reach_of(planar({"lower": 0.9, "upper": 2.0})) == pytest.approx(far, rel=1e-12)
    assert reach_of(planar({"lower": -2.0, "upper": -0.9})) == pytest.approx(far, rel=1e-12)
    assert reach_of(planar({"lower": -0.1, "upper": 2.0})) == pytest.approx(1.8, rel=1e-12)


def test_a_shoulder_offset_counts_across_a_puma():
    # an offset of 0.15 along the parallel axes stays across the stretched arm
    far = math.hypot(1.8, 0.15)
    assert reach_of(planar(d=0.15)) == pytest.approx(far, rel=1e-12)


def test_a_slide_reaches_as_far_as_its_farther_end():
    slide = planar({"lower": -0.3, "upper": 0.5}, tool=0.0, second="prismatic", alpha="pi/2")
    assert reach_of(slide) == pytest.approx(math.hypot(1, 0.5), rel=1e-12)


def test_a_slide_without_end_reaches_without_end():
    assert reach_of(planar(second="prismatic")) == math.inf


@pytest.mark.parametrize(("pitch", "d"), [(0.005, 0.05), (-0.005, -0.05), (0.3, 0.05), (0.3, -0.6)])
def test_a_screw_reaches_as_far_as_the_best_of_many_turns(pitch, d):
    # parallel axes 1 m apart, the tool 0.8 m from the second: 1 + 0.8 stretched, and the height that its turns slide it to
    upper = 6 * math.pi - 1.0  # so that neither end is the best
    screw = planar({"lower": -1.0, "upper": upper}, second="screw", d=d)
    screw["joints"][1]["pitch"] = pitch
    q = np.linspace(-1.0, upper, 1_000_001)
    square = 1 + 0.8**2 + 1.6 * np.cos(q) + (d + pitch / (2 * math.pi) * q) ** 2
    assert reach_of(screw) == pytest.approx(math.sqrt(square.max()), rel=1e-10)


def test_a_screw_of_many_turns_takes_no_longer_than_one_of_few():
    screw = planar({"lower": 0.0, "upper": 2 * math.pi * 1e5}, second="screw")
    screw["joints"][1]["pitch"] = 1e-5
    began = time.process_time()
    assert reach_of(screw) == pytest.approx(math.hypot(1.8, 1.0), rel=1e-9)
    assert time.process_time() - began < 0.5  # some milliseconds; 32 looks at every turn took minutes


def test_a_screw_without_end_reaches_without_end():
    screw = planar(second="screw")
    screw["joints"][1]["pitch"] = 0.005
    assert reach_of(screw) == math.inf


def test_where_the_arm_stands_does_not_matter(arms):
    moved = planar()
    moved["base"] = {"xyz": [3, 4, 5], "rpy": [0.1, 0.2, 0.3]}
    assert reach_of(moved) == pytest.approx(1.8, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kinds", ["RRRRR", "RSRSR", "SPRSS"])
@pytest.mark.handful(1)
def test_no_random_pose_is_farther(arms, kinds, seed):
    arm = arms.serial(kinds, seed=seed)
    joints = [replace(joint, limit=Limit(-np.pi, np.pi)) if joint.kind.slides else joint for joint in arm.joints]
    arm = replace(arm, links=tuple(joints))
    far = reach(arm)
    start = [float(x) for x in own_poses(arm, [0.0] * 5)[0].position]
    q = np.random.default_rng(seed).uniform(-np.pi, np.pi, (4000, 5))
    distance = np.linalg.norm(Robot(arm).forward_kinematics(q).position - start, axis=1)
    assert distance.max() <= far * (1 + 1e-9)


def levers(*joints: dict, **keys) -> dict:
    """Joints about parallel axes, or slides along x, each 1 m along x from the one that carries it."""
    bodies = [{"point": {"mass": 1, "center": [1, 0, 0]}}]
    made = [{"origin": {"xyz": [float(i > 0), 0, 0], "axis": [0, 0, 1]}, "bodies": bodies} for i in range(len(joints))]
    made = [{"name": "ABCD"[i], "type": "revolute", **one, **joint} for i, (one, joint) in enumerate(zip(made, joints))]
    return {"format": "armsim/robot/1", "name": "levers", "convention": "origin", "joints": made, **keys}


def test_the_branch_of_the_tool_alone_reaches():
    # B swings 1 m from the base; C and D begin there again, and C is where the tool's distance is from
    right = {"parent": "base", "origin": {"xyz": [5, 0, 0], "axis": [0, 0, 1]}}
    two_arms = levers({}, {}, right, {"limits": {"lower": 0.9, "upper": 2}, "initial": 1}, tool={"xyz": [0.8, 0, 0]})
    bent = math.sqrt(1 + 0.8**2 + 1.6 * math.cos(0.9))
    assert reach_of(two_arms) == pytest.approx(bent, rel=1e-12)
    assert reach_of({**two_arms, "tool": {"link": "B", "xyz": [0.8, 0, 0]}}) == pytest.approx(1.8, rel=1e-12)
    assert reach_of({**two_arms, "tool": {"link": "A", "xyz": [0.8, 0, 0]}}) == pytest.approx(0.8, rel=1e-12)


def test_slides_beside_the_tool_may_be_without_end():
    slide = {"type": "prismatic", "parent": "A"}
    assert reach_of(levers({}, {}, slide, tool={"link": "B"})) == pytest.approx(1.0, rel=1e-12)
    assert reach_of(levers({}, {}, slide, tool={"link": "C"})) == math.inf


def test_stages_of_a_telescope_extend_together():
    along = {"type": "prismatic", "origin": {"axis": [1, 0, 0]}}
    first = {**along, "limits": {"lower": 0, "upper": 0.5}}
    stages = {**along, "mimic": {"joint": "B", "ratio": 2, "offset": 0.1}}, {**along, "mimic": {"joint": "B"}}
    far = 0.5 + (2 * 0.5 + 0.1) + 0.5 + 0.2
    assert reach_of(levers({}, first, *stages, tool={"xyz": [0.2, 0, 0]})) == pytest.approx(far, rel=1e-12)


@pytest.mark.parametrize("limited", ["B", "C"])
@pytest.mark.parametrize(("lower", "upper"), [(0.6, 1.0), (-1.0, 1.0)])  # straightest at an end; never straight at both
@pytest.mark.handful(1)
def test_joints_that_bend_together_reach_as_far_as_the_best_of_many_bends(limited, lower, upper):
    limits = {"B": {"lower": lower, "upper": upper}, "C": {"lower": 0.5 - 2 * upper, "upper": 0.5 - 2 * lower}}
    both = {"B": {"initial": 0.8}, "C": {"mimic": {"joint": "B", "ratio": -2, "offset": 0.5}}}
    both[limited]["limits"] = limits[limited]
    folded = levers({}, both["B"], both["C"], tool={"xyz": [1, 0, 0]})
    b = np.linspace(lower, upper, 100_001)
    far = np.abs(1 + np.exp(1j * b) + np.exp(1j * (0.5 - b))).max()
    assert reach_of(folded) == pytest.approx(far, rel=1e-9)


def test_a_finger_reaches_as_far_as_the_one_that_it_follows_lets_it():
    finger = {"type": "prismatic", "parent": "A", "origin": {"xyz": [1, 0, 0], "axis": [0, 1, 0]}}
    led = {**finger, "mimic": {"joint": "B", "ratio": -2, "offset": 0.1}}
    gripper = levers({}, {**finger, "limits": {"lower": 0, "upper": 0.3}}, led, tool={"link": "C"})
    assert reach_of(gripper) == pytest.approx(math.hypot(1, 2 * 0.3 - 0.1), rel=1e-12)


@pytest.mark.parametrize("seed", [28, 55, 106, 158, 178])  # where joints on the tool's path move as one
@pytest.mark.slow
def test_no_random_pose_of_a_tree_is_farther(seed):
    limits = {"lower": -1.5, "upper": 1.0}
    file = tree(seed, most=8)
    for joint in file["joints"]:
        joint |= {} if "mimic" in joint else {"limits": limits}
    arm = build_robot(load_robot_file(file).document)
    first = arm.path(arm.link_of(arm.tool))[-1]
    start = [float(x) for x in own_poses(arm, [0.0] * arm.n)[first].position]
    q = np.random.default_rng(seed).uniform(-1.5, 1.0, (4000, arm.n))
    distance = np.linalg.norm(Robot(arm).forward_kinematics(q).position - start, axis=1)
    assert distance.max() <= reach(arm) * (1 + 1e-9)
