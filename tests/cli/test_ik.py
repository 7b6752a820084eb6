"""`armsim ik` as a user meets it."""

from __future__ import annotations

import json
import math

import pytest

import armsim as library

POSE = ("ur5e", "--xyz", "0.4,0.2,0.3")


def answer(run, *args) -> dict:
    done = run("ik", *args, "--json")
    assert (done.code, done.err) == (0, "")
    return json.loads(done.out)


def test_what_it_finds_leads_fk_back_to_the_pose(armsim):
    found = answer(armsim, *POSE, "--rpy", "180deg,0,pi/2")
    q = ",".join(map(repr, found["solutions"][0]["q"]))
    there = json.loads(armsim("fk", "ur5e", f"--q={q}", "--json").out)["tool"]
    assert there["position"] == pytest.approx([0.4, 0.2, 0.3], abs=1e-11)
    assert abs(there["quaternion"][1]) == pytest.approx(math.sqrt(0.5), abs=1e-11)
    assert found["distance"] < 1e-11
    assert found["solutions"][0]["margin"] > 0


def test_degrees_are_taken_and_printed(armsim):
    plain = answer(armsim, *POSE, "--rpy", "pi,0,0", "--near", "0,0,0,0,0,0.5")
    found = answer(armsim, *POSE, "--rpy", "180,0,0", "--deg", "--near", f"0,0,0,0,0,{math.degrees(0.5)}")
    assert found["solutions"][0]["q"] == pytest.approx([math.degrees(x) for x in plain["solutions"][0]["q"]], abs=1e-9)


def test_it_says_what_the_library_says(armsim):
    robot = library.load_robot("ur5e")
    q = robot.inverse_kinematics([0.4, 0.2, 0.3], axis=("z", [0, 0, -1]))
    assert answer(armsim, *POSE, "--axis", "z=0,0,-1")["solutions"][0]["q"] == q.tolist()
    q = robot.inverse_kinematics(([0.4, 0.2, 0.3], [0, 1, 0, 0]))
    assert answer(armsim, *POSE, "--quat", "0,1,0,0")["solutions"][0]["q"] == q.tolist()


def test_the_table_names_joints_and_units(armsim):
    lines = armsim("ik", *POSE, "--deg").out.splitlines()
    assert lines[0].startswith("ur5e: joint positions that bring tool there")
    assert [line.split()[0] for line in lines[3:9]] == ["J1", "J2", "J3", "J4", "J5", "J6"]
    assert all(line.endswith("deg") for line in lines[3:9])


def test_all_solutions_are_named_and_each_leads_to_the_pose(armsim):
    args = ("puma560", "--xyz", "0.5,0.1,0.2", "--rpy", "pi,0.4,0", "--no-limits", "--all")
    found = answer(armsim, *args)["solutions"]
    assert len(found) == len({one["branch"] for one in found}) == 8
    robot = library.load_robot("puma560")
    places = robot.forward_kinematics([one["q"] for one in found]).position
    assert places.ravel() == pytest.approx([0.5, 0.1, 0.2] * 8, abs=1e-11)
    told = armsim("ik", *args).out
    assert all(one["branch"] in told for one in found)


def test_many_poses_of_a_file_become_rows_of_joint_positions(armsim, tmp_path):
    places, out = tmp_path / "places.csv", tmp_path / "q.csv"
    places.write_text("x_m,y_m,z_m,qw,qx,qy,qz\n0.4,0.2,0.3,0,1,0,0\n3,0,0,0,1,0,0\n")
    done = armsim("ik", "ur5e", "--csv", str(places), "-o", str(out))
    assert done.code == 1
    assert "2 rows, 1 of them without a solution" in done.out
    heading, first, second = out.read_text().splitlines()
    assert heading == "q_J1_rad,q_J2_rad,q_J3_rad,q_J4_rad,q_J5_rad,q_J6_rad,distance_m,angle_rad"
    q = library.load_robot("ur5e").inverse_kinematics(([0.4, 0.2, 0.3], [0, 1, 0, 0]))
    assert [float(x) for x in first.split(",")[:6]] == q.tolist()
    assert second.startswith("nan,nan")


def test_no_solution_is_told_with_the_nearest_pose(armsim, told):
    done = armsim("ik", "two_link", "--xyz", "2.5,0,0")
    assert (done.code, done.out) == (1, "")
    told(done.err)


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("--xyz", "0.4,0.2"),
        ("--xyz", "0.4,0.2,0.3", "--rpy", "0,0,0", "--axis", "z=0,0,1"),
        ("--xyz", "0.4,0.2,0.3", "--axis", "z"),
        ("--xyz", "0.4,0.2,0.3", "--axis", "w=0,0,1"),
        ("--csv", "places.csv"),
    ],
    ids=lambda args: " ".join(args) or "nothing",
)
def test_a_pose_that_is_not_one_is_refused(armsim, told, args):
    done = armsim("ik", "ur5e", *args)
    assert (done.code, done.out) == (2, "")
    told(done.err)


def test_a_file_without_positions_is_refused(armsim, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "places.csv").write_text("x_m,y_m,qw\n0.4,0.2,1\n")
    done = armsim("ik", "ur5e", "--csv", "places.csv", "-o", "q.csv")
    assert done.code == 2
    told(done.err)


@pytest.mark.parametrize(
    ("args", "content"),
    [
        (("--csv", "places.csv", "-o", "q.csv"), "x_m,y_m,z_m,qx\n0.4,0.2,0.3,1\n"),
        (("--csv", "places.csv", "-o", "q.csv", "--axis", "z=0,0,1"), "x_m,y_m,z_m,qw,qx,qy,qz\n0.4,0.2,0.3,1,0,0,0\n"),
        (("--csv", "places.csv", "-o", "q.csv"), "x_m,y_m,z_m,roll_rad\n0.4,0.2,0.3,1\n"),
        (("--xyz", "0.4,0.2,0.3", "--turns"), ""),
        (("--xyz", "0.4,0.2,0.3", "-o", "q.csv"), ""),
    ],
    ids=["some", "axis", "roll", "turns", "output"],
)
def test_no_orientation_and_no_option_is_dropped_silently(armsim, told, tmp_path, monkeypatch, args, content):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "places.csv").write_text(content)
    done = armsim("ik", "ur5e", *args)
    assert (done.code, done.out) == (2, "")
    told(done.err)


def test_near_prints_the_nearest_of_all_solutions_of_a_pose(armsim):
    near = [0.5, 1.0, 1.5, -1.0, -0.5, 2.0]
    args = (*POSE, "--rpy", "pi,0.3,0", "--near", ",".join(map(str, near)))
    found, listed = answer(armsim, *args)["solutions"][0]["q"], answer(armsim, *args, "--all")["solutions"]
    assert math.dist(found, near) <= min(math.dist(one["q"], near) for one in listed) + 1e-9


def test_the_room_to_a_limit_is_in_the_unit_of_the_joint(armsim):
    args = (*POSE, "--rpy", "180deg,0,0", "--near", "0,0,0,0,0,0")
    plain, found = answer(armsim, *args), answer(armsim, *args, "--deg")
    assert found["solutions"][0]["margin"] == pytest.approx(math.degrees(plain["solutions"][0]["margin"]), rel=1e-12)


def test_no_solution_is_json_too_with_angles_in_degrees(armsim):
    done = armsim("ik", "two_link", "--xyz", "0,2.5,0", "--json", "--deg")
    found = json.loads(done.out)
    assert done.code == 1
    assert found.keys() == {"reason", "q", "distance", "angle", "beyond", "singular"}
    assert (found["reason"], found["singular"], found["beyond"]) == ("reach", True, {})
    assert found["q"] == pytest.approx([90, 0], abs=1e-2)
    assert found["distance"] == pytest.approx(0.7, abs=1e-9)
