"""`armsim new`"""


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


def test_it_overwrites_nothing(armsim, empty_folder):
    assert armsim("new", "my_arm", "-q").out == ""
    before = {path: path.read_bytes() for path in (empty_folder / "my_arm").iterdir()}
    again = armsim("new", "my_arm", "--joints", "7")
    assert again.code == 2
    assert again.err == (
        "my_arm\n  expected: a new folder\n  found:    one that exists\n  mend:     choose another name, or move it away\n"
    )
    assert before == {path: path.read_bytes() for path in (empty_folder / "my_arm").iterdir()}


def test_more_joints_than_it_knows_are_refused(armsim, empty_folder):
    assert armsim("new", "my_arm", "--joints", "11").code == 2
    assert list(empty_folder.iterdir()) == []
