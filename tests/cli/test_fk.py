"""`armsim fk` as a user meets it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import armsim as library


def answer(run, *args) -> dict:
    done = run("fk", *args, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_the_planar_arm_stands_where_trigonometry_says(armsim):
    a, b = 0.3, -1.1
    found = answer(armsim, "rr", "--q", f"{a},{b}")
    elbow = [0.8 * math.cos(a), 0.8 * math.sin(a), 0]
    assert [link["name"] for link in found["links"]] == ["R1", "R2"]
    assert found["links"][0]["position"] == [0, 0, 0]
    assert found["links"][1]["position"] == pytest.approx(elbow, abs=1e-15)
    tip = [elbow[0] + 0.8 * math.cos(a + b), elbow[1] + 0.8 * math.sin(a + b), 0]
    assert found["tool"]["position"] == pytest.approx(tip, abs=1e-15)
    assert found["tool"]["quaternion"] == pytest.approx([math.cos((a + b) / 2), 0, 0, math.sin((a + b) / 2)], abs=1e-15)
    assert found["tool"]["rpy"] == pytest.approx([0, 0, a + b], abs=1e-15)


def test_it_says_what_the_library_says(armsim):
    q = [0.1, -0.4, 0.2, 0.6, -0.7]
    found = answer(armsim, "arm5", "--q", ",".join(map(repr, q)))
    arm = library.load_robot("arm5")
    links, tool = arm.link_poses(q), arm.forward_kinematics(q)
    np.testing.assert_array_equal([link["position"] for link in found["links"]], links.position)
    np.testing.assert_array_equal([link["quaternion"] for link in found["links"]], links.quaternion)
    np.testing.assert_array_equal(found["tool"]["position"], tool.position)
    np.testing.assert_array_equal(found["tool"]["quaternion"], tool.quaternion)


def test_degrees_are_taken_and_printed(armsim):
    found = answer(armsim, "two_link", "--deg", "--q", "30,-45")
    assert found["q"] == [30, -45]
    assert found["tool"]["rpy"] == pytest.approx([0, 0, -15], abs=1e-13)
    assert found["tool"]["position"][0] == pytest.approx(math.cos(math.radians(30)) + 0.8 * math.cos(math.radians(15)))


def test_the_table_shows_every_frame_and_the_tool_without_minus_zeros(armsim):
    lines = armsim("fk", "arm5").out.splitlines()
    assert [line.split()[0] for line in lines[3:9]] == ["R1", "R2", "R3", "R4", "R5", "tool"]
    assert "-0.00000 " not in armsim("fk", "arm5").out
    assert lines[0] == "arm5: frames in the world at its initial pose"


def test_the_frames_of_the_robot_come_after_the_tool(armsim, tmp_path):
    robot = library.load_robot("arm5").document.replaced(frames={"left-tip": {"link": "R3", "xyz": [0.1, 0, 0]}})
    library.document.save(robot, str(tmp_path / "own.yaml"))
    lines = armsim("fk", str(tmp_path / "own.yaml")).out.splitlines()
    assert [line.split()[0] for line in lines[9:11]] == ["tool", "left-tip"]
    found, plain = (answer(armsim, name) for name in (str(tmp_path / "own.yaml"), "arm5"))
    (frame,) = found.pop("frames")
    pose = library.load_robot(robot).forward_kinematics(found["q"], frame="left-tip")
    assert (frame["name"], frame["position"]) == ("left-tip", pose.position.tolist())
    assert frame["quaternion"] == pose.quaternion.tolist()
    assert plain.pop("frames") == []
    assert found == plain
    told = answer_of_info(armsim, tmp_path)
    assert told["frames"] == [{"name": "left-tip", "link": "R3", "position": [0.1, 0, 0]}]
    table = armsim("info", str(tmp_path / "own.yaml")).out.partition("Frames, in their links\n")[2].splitlines()
    assert [line.split() for line in table[:2]] == [
        ["frame", "link", "x", "y", "z"],
        ["left-tip", "R3", "0.10000", "m", "0.00000", "m", "0.00000", "m"],
    ]


def test_links_of_joints_that_mimic_others_have_frames_too(armsim):
    found = answer(armsim, "arm5_gripper", "--q", "0.1,-1,0.2,0,0.3,0.02")
    robot = library.load_robot("arm5_gripper")
    assert [link["name"] for link in found["links"]] == robot.link_names
    assert found["joints"] == robot.joints
    poses = robot.link_poses(found["q"])
    assert [link["position"] for link in found["links"]] == poses.position.tolist()
    assert found["tool"]["position"] == robot.forward_kinematics(found["q"]).position.tolist()
    first, second = poses.position[-2:]
    assert np.linalg.norm(first - second) == pytest.approx(2 * (0.005 + 0.02))


def answer_of_info(run, folder) -> dict:
    return json.loads(run("info", str(folder / "own.yaml"), "--json").out)


def test_verbose_shows_ten_decimals(armsim):
    assert "0.6232181325" in armsim("fk", "arm5", "-v").out


def test_a_wrong_number_of_joints_is_refused(armsim):
    wrong = armsim("fk", "rr", "--q", "1")
    assert (wrong.code, wrong.out) == (2, "")
    assert "expected: 2 numbers separated by commas, one per joint (R1, R2)" in wrong.err


def test_angles_and_lengths_of_joints_may_have_units(armsim):
    turned = answer(armsim, "two_link", "--deg", "--q", "30,-45")["tool"]["position"]
    assert answer(armsim, "two_link", "--deg", "--q", "30 deg,-0.125rev")["tool"]["position"] == pytest.approx(turned)
    both = [("--q", "90deg,0", "--qd", "360deg/s,-60rpm"), ("--q", "pi/2,0", "--qd", "2*pi,-2*pi")]
    first, second = (json.loads(armsim("inverse", "rr", *state, "--json").out)["torque"] for state in both)
    assert first == pytest.approx(second)
    wrong = armsim("fk", "rr", "--q", "0.1m,0")
    assert (wrong.code, wrong.out) == (2, "")
    assert "`m` measures something else\n  mend:     write the number in `rad` or `deg`\n" in wrong.err
    assert "write * for products" in armsim("fk", "rr", "--q", "2pi,0").err


def test_a_joint_that_would_turn_many_times_is_doubted(armsim):
    doubted = armsim("fk", "rr", "--q", "90,0")
    assert doubted.code == 0
    assert doubted.err == "! --q: R1 at 90 rad is 14.3 turns; write 90deg, or --deg if all are degrees\n"
    for sure in (("90deg,0",), ("6.28,-2*pi",), ("9*pi,0",), ("90,0", "--deg"), ("90,0", "-q")):
        assert armsim("fk", "rr", "--q", *sure).err == ""
