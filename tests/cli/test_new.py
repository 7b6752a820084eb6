"""`armsim new`"""

import pytest


def test_what_it_writes_runs_as_it_stands(armsim, empty_folder):
    made = armsim("new", "my_arm", "--joints", "2", "--convention", "dh")
    assert made.code == 0
    assert made.out == (
        "my_arm/robot.yaml     the arm: change its numbers to yours\n"
        "my_arm/scenario.yaml  what happens to it\n"
        "\n"
        "next: armsim simulate my_arm/scenario.yaml\n"
    )
    checked = armsim("check", "my_arm/robot.yaml", "my_arm/scenario.yaml")
    assert checked.code == 0
    assert checked.out == "my_arm/robot.yaml: a sound robot\nmy_arm/scenario.yaml: a sound scenario\n"
    ran = armsim("simulate", "my_arm/scenario.yaml")
    assert (ran.code, ran.err) == (0, "")
    assert (empty_folder / "runs" / "my_arm-001" / "trajectory.csv").exists()


def test_it_overwrites_nothing(armsim, empty_folder, told):
    assert armsim("new", "my_arm", "-q").out == ""
    before = {path: path.read_bytes() for path in (empty_folder / "my_arm").iterdir()}
    again = armsim("new", "my_arm", "--joints", "7")
    assert again.code == 2
    told(again.err)
    assert before == {path: path.read_bytes() for path in (empty_folder / "my_arm").iterdir()}


def test_more_joints_than_it_knows_are_refused(armsim, empty_folder):
    assert armsim("new", "my_arm", "--joints", "11").code == 2
    assert list(empty_folder.iterdir()) == []


@pytest.mark.slow
def test_an_arm_in_a_plane_and_one_of_a_table_run_as_they_stand(armsim, empty_folder):
    (empty_folder / "table.csv").write_text("a,alpha,d,theta\n0,90,0.16,q1\n0.25,0,0,q2\n")
    for options in (["--planar", "2"], ["--dh", "table.csv", "--deg", "--convention", "dh"]):
        assert armsim("new", "mine", *options, "-q").code == 0
        ran = armsim("simulate", "mine/scenario.yaml", "-q")
        assert (ran.code, ran.err) == (0, "")
        (empty_folder / "mine").rename(empty_folder / options[0].strip("-"))


def test_a_plane_and_a_table_at_once_are_refused(armsim, empty_folder, told):
    both = armsim("new", "mine", "--planar", "2", "--dh", "table.csv")
    assert both.code == 2
    told(both.err)
