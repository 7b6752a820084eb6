"""Documents: made in Python, checked as files are, and written as YAML with the comments of their file."""

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim import document
from armsim.errors import FileFaults, UsageError
from armsim.files.yaml_edit import edited
from armsim.files.yaml_reader import parse_yaml
from armsim.loading import load_robot_file, load_scenario_file, read_robot
from armsim.studies.study_file import load_study_file

ROOT = Path(__file__).parent.parent.parent
ROBOTS = sorted((ROOT / "robots").glob("*.yaml"))
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))
FILE = """\
format: armsim/robot/1
name: pendulum          # one joint
parameters: {length: 0.5}
joints:
  - name: R1
    type: revolute
    mdh: {alpha: -pi/2}   # the axis lies level
    bodies:
      - rod: {axis: x, length: length, mass: 2.50, center: [length/2, 0, 0]}  # of steel
    motor: {Kp: 50 mN·m/A, Ra: 1.0, gear: 1e2}
    # the end
tool: {xyz: [length, 0, 0]}
"""


def pendulum(**motor) -> document.Robot:
    """The arm of `FILE`."""
    return document.Robot(
        name="pendulum",
        parameters={"length": 0.5},
        joints=[
            document.Joint(
                name="R1",
                type="revolute",
                mdh=document.ModifiedDH(alpha="-pi/2"),
                bodies=[document.Rod(axis="x", length="length", mass=2.5, center=["length/2", 0, 0])],
                motor=document.Motor(**{"Kp": "50 mN·m/A", "Ra": 1, "gear": 100} | motor),
            )
        ],
        tool=document.Tool(xyz=["length", 0, 0]),
    )


def read(text: str, tmp_path: Path) -> document.Robot:
    path = tmp_path / "robot.yaml"
    path.write_text(text, encoding="utf-8")
    return load_robot_file(str(path)).document


def test_a_robot_made_in_python_is_that_of_a_file(tmp_path):
    path = tmp_path / "pendulum.yaml"
    path.write_text(FILE, encoding="utf-8")
    made, written = read_robot(pendulum())[0], read_robot(str(path))[0]
    assert made == written
    robot = armsim.load_robot(pendulum())
    assert robot.inverse_dynamics([0.3]) == armsim.load_robot(path).inverse_dynamics([0.3])


def test_a_scenario_made_in_python_runs():
    scenario = document.Scenario(
        robot=pendulum(),
        duration=0.02,
        integrator=document.Integrator(method="rk4", dt=1e-3),
        control=document.Control(law="pd", output="torque", kp=np.array([40.0]), kd=3),
        external=[document.External(link="R1", force=[0, 0, -5], from_=0.01, to=0.015)],
    )
    run = armsim.simulate(scenario, overrides={"control.kd": 4})
    assert run.status == "complete"
    assert [x.start for x in run.scenario.external] == [0.01]


def test_faults_name_the_argument():
    with pytest.raises(FileFaults) as caught:
        armsim.load_robot(pendulum(gear="1O0", Ra=-1))
    assert [(str(fault.where), fault.path) for fault in caught.value.faults] == [
        ("<robot>", "joints[0].motor.Ra"),
        ("<robot>", "joints[0].motor.gear"),
    ]


def test_what_is_left_out_is_said_where_the_document_is_used():
    joint = document.Joint(name="R1", type="screw", mdh={}, bodies=[document.Point(mass=1, center=[0.1, 0, 0])])
    with pytest.raises(FileFaults, match="the pitch of a screw"):
        armsim.load_robot(document.Robot(name="x", joints=[joint]))


def test_unknown_keys_are_refused_at_once():
    with pytest.raises(TypeError, match=r"^Motor has no `torque_constant`; did you mean `Kp`\?$"):
        document.Motor(torque_constant=0.05)
    with pytest.raises(TypeError, match=r"^Joint has no `moter`; did you mean `motor`\?$"):
        document.Joint(moter=None)


def test_documents_are_read_only_and_show_what_they_say(tmp_path):
    motor = document.Motor(Kp=0.05, Ra="1 ohm")
    with pytest.raises(AttributeError, match=r"read-only: `replaced\(Kp=...\)`"):
        motor.Kp = 1.0
    assert (motor.replaced(Kp=0.06).Kp, motor.Kp) == (0.06, 0.05)
    assert list(inspect.signature(document.External).parameters)[:2] == ["from_", "to"]
    assert repr(motor) == "Motor(Kp=0.05, Ra='1 ohm')"
    assert repr(read(FILE, tmp_path).joints[0].motor) == "Motor(Kp=50 mN·m/A, Ra=1.0, gear=1e2)"
    assert pickle.loads(pickle.dumps(motor)).Ra == "1 ohm"


@pytest.mark.parametrize("path", [*ROBOTS, *CONFIGS], ids=lambda path: path.stem)
@pytest.mark.handful(7)
def test_a_file_that_is_read_and_written_is_the_same_to_the_byte(path):
    load = load_robot_file if path.parent.name == "robots" else load_scenario_file
    load = load_study_file if path.name.endswith(".study.yaml") else load
    assert document.text_of(load(str(path)).document) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        ({"gear": 50.0}, "gear: 1e2}", "gear: 50.0}"),
        ({"Ra": "2*1.5"}, "Ra: 1.0,", "Ra: 2*1.5,"),
        ({"viscous": 1e-4}, "gear: 1e2}", "gear: 1e2, viscous: 0.0001}"),
        ({"gear": None}, ", gear: 1e2}", "}"),
        ({"Kp": None, "Ra": None}, "Kp: 50 mN·m/A, Ra: 1.0, gear", "gear"),
        ({"limits": document.MotorLimits(torque=2)}, "gear: 1e2}", "gear: 1e2, limits: {torque: 2}}"),
    ],
)
def test_what_changes_is_written_where_it_stands(change, before, after, tmp_path):
    robot = read(FILE, tmp_path)
    joint = robot.joints[0]
    changed = robot.replaced(joints=(joint.replaced(motor=joint.motor.replaced(**change)),))
    text = document.text_of(changed)
    assert text == FILE.replace(before, after)
    document.save(changed, tmp_path / "other.yaml")
    assert (tmp_path / "other.yaml").read_text(encoding="utf-8") == text
    with pytest.raises(UsageError, match="one that exists"):
        document.save(changed, tmp_path / "other.yaml")


def test_keys_are_added_to_and_taken_out_of_a_list_item(tmp_path):
    robot = read(FILE, tmp_path)
    joint = robot.joints[0]
    with_friction = joint.replaced(friction=document.Friction(viscous=0.1), motor=None, name="R2")
    text = document.text_of(robot.replaced(joints=(with_friction,)))
    assert "  - name: R2\n" in text
    assert "# of steel\n    friction: {viscous: 0.1}\n" in text
    assert "motor" not in text
    assert armsim.load_robot(read(text, tmp_path)).joints == ["R2"]


def test_a_document_made_in_python_is_written_and_reads_back(tmp_path):
    document.save(pendulum(), tmp_path / "made.yaml")
    assert read_robot(str(tmp_path / "made.yaml"))[0] == read_robot(pendulum())[0]


@pytest.mark.parametrize(
    ("text", "data", "expected"),
    [
        ("a: 1 # one\nb:\n  - 2\n  - 3 # three\n", {"a": 1, "b": [2, 4]}, "a: 1 # one\nb:\n  - 2\n  - 4 # three\n"),
        ("a: 1\nb: {c: 2}\n", {"a": 1}, "a: 1\n"),
        ("a: 1\nb: {c: 2}\n", {"b": {"c": 2}}, "b: {c: 2}\n"),
        ("a: 1", {"a": 1, "b": [1, 2]}, "a: 1\nb: [1, 2]"),
        ("a:\nb: 1\n", {"a": "x: y", "b": 1}, "a: 'x: y'\nb: 1\n"),
        ("- {a: 1, b: 2}\n- 3\n", [{"b": 2}, 3], "- {b: 2}\n- 3\n"),
        ("- a: 1\n  b: 2\n", [{"b": 2}], "- b: 2\n"),
        ("a: [1, 2]\n", {"a": [1, 2, 3]}, "a: [1, 2, 3]\n"),
        ("a: &x 1\nb: *x # y\n", {"a": 1, "b": 2}, "a: &x 1\nb: 2 # y\n"),
        ("a: &x 1\nb: *x\n", {"a": 2, "b": 2}, "a: &x 2\nb: *x\n"),
        ("a: &x {c: 1} # x\nb: *x\n", {"a": {"c": 2}, "b": {"c": 1}}, "a: &x {c: 2} # x\nb: {c: 1}\n"),
        ("a: &x\n  c: 1 # x\nb: *x\n", {"a": {"c": 2}, "b": {"c": 2}}, "a: &x\n  c: 2 # x\nb: *x\n"),
        ("- &x {c: 1}\n- *x # x\n- 3\n", [{"c": 2}, {"c": 2}, 4], "- &x {c: 2}\n- *x # x\n- 4\n"),
        ("a: {c: &x 1}\nb: *x\n", {"b": 1}, "b: 1\n"),
        ("a: {}\n", {"a": {"b": 1}}, "a: {b: 1}\n"),
        ("a:\n  b: 1  # x\nc: 2\n", {"a": {"b": 1, "d": None}, "c": 2}, "a:\n  b: 1  # x\n  d: null\nc: 2\n"),
        ("a: >\n  x\nb: 1\n", {"a": "z", "b": 1}, "a: z\nb: 1\n"),
        ("x:\n- a: 1\n  b: 2\n- a: 3\nc: 1\n", {"x": [{"a": 1, "b": 2}], "c": 1}, "x:\n- a: 1\n  b: 2\nc: 1\n"),
        ("x:\n  - a: 1 # one\n  - a: 3 # three\nc: 1\n", {"x": [{"a": 3}], "c": 1}, "x:\n  - a: 3 # three\nc: 1\n"),
        ("x:\n- a: 1 # one\nc: 1\n", {"x": [{"a": 0}, {"a": 1}], "c": 1}, "x:\n- {a: 0}\n- a: 1 # one\nc: 1\n"),
        ("b:\n  - 1 # one\n  - 2 # two\n", {"b": [1, 2, 3]}, "b:\n  - 1 # one\n  - 2 # two\n  - 3\n"),
        ("b: [1, 2, 3] # x\n", {"b": [1, 3]}, "b: [1, 3] # x\n"),
        ("b: [1, 2, 3] # x\n", {"b": [1]}, "b: [1] # x\n"),
        ("b: [1, 2, 3] # x\n", {"b": [0, 1, 2, 3]}, "b: [0, 1, 2, 3] # x\n"),
        ("? a\n: 1\nb: 2\n", {"b": 2}, "b: 2\n"),
        ("a: 1 # one\nb: 2 # two\n", {"a": 1}, "a: 1 # one\n"),
        ("a: 1\r\nb: 2\r\n", {"a": 1, "c": 3}, "a: 1\r\nc: 3\r\n"),
        ("a: 1\n# b\nb: 2\n# c\nc: 3\n", {"a": 1, "c": 3}, "a: 1\n# b\n# c\nc: 3\n"),
        ("a: &x 1 # x\nb: *x\n", {"a": 1, "b": 1}, "a: &x 1 # x\nb: *x\n"),
    ],
)
def test_text_is_edited_where_data_differ(text, data, expected):
    assert edited(text, data) == expected
    assert parse_yaml(edited(text, data), "x") is not None


def test_an_unknown_key_cannot_be_replaced():
    with pytest.raises(TypeError, match=r"^Motor has no `kp`; did you mean `Kp`\?$"):
        document.Motor(Kp=1).replaced(kp=2)
    assert document.External(link="R1").replaced(from_=1.0).from_ == 1.0


CHANGES = {
    "a list": {"gravity": [0, 0, -1.6]},
    "an array": {"gravity": np.array([0, 0, -1.6])},
    "fewer joints": {"joints": slice(0, 3)},
    "a payload": {"payload": document.Point(mass=1)},
    "plain data": {"tool": {"xyz": [0, 0.1, 0]}},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_what_is_changed_in_a_file_is_what_its_text_says(change, tmp_path):
    arm5 = load_robot_file("arm5").document
    change = {key: list(arm5.joints[value]) if isinstance(value, slice) else value for key, value in change.items()}
    changed = arm5.replaced(**change)
    text = document.text_of(changed)
    assert read_robot(changed)[0] == read_robot(str(written(text, tmp_path)))[0] != read_robot("arm5")[0]
    assert text.count("#") > 15


def written(text: str, tmp_path: Path) -> Path:
    path = tmp_path / "written.yaml"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_joints_and_bodies_are_added_below_those_of_the_file(tmp_path):
    arm5 = load_robot_file("arm5").document
    ball = document.Sphere(radius=0.1, mass=1, center=[0.1, 0, 0])
    hand = document.Joint(name="R6", type="revolute", mdh={"d": 0.1}, bodies=[ball], initial=np.int64(-1))
    text = document.text_of(arm5.replaced(joints=(*arm5.joints, hand)))
    lines = [
        line
        for line in text.splitlines()
        if line not in Path(arm5.place.source).read_text(encoding="utf-8").splitlines()
    ]
    assert lines == [
        "  - {name: R6, type: revolute, mdh: {d: 0.1}, bodies: [{sphere: {radius: 0.1, mass: 1, center: [0.1, 0, 0]}}], "
        "initial: -1}"
    ]
    assert read_robot(str(written(text, tmp_path)))[0].n == 6


@pytest.mark.parametrize("name", document.__all__)
def test_every_document_can_be_told_whatever_it_lacks(name):
    of = getattr(document, name)
    if isinstance(of, type) and issubclass(of, document.Document) and of is not document.Document:
        for tell in (document.Document.as_data, document.plain, document.text_of, repr):
            tell(of())


def test_a_byte_order_mark_and_keys_without_a_value_stay(tmp_path):
    text = "\ufeff" + FILE.replace("tool:", "payload:   # none yet\ntool:").replace("\n", "\r\n")
    robot = load_robot_file(str(written(text, tmp_path))).document
    assert document.text_of(robot) == text
    assert document.text_of(robot.replaced(name="other")) == text.replace("pendulum", "other")


def test_a_file_that_says_something_else_by_now_is_not_followed(tmp_path):
    robot = read(FILE, tmp_path)
    (tmp_path / "robot.yaml").write_text("format: [", encoding="utf-8")
    assert read_robot(str(written(document.text_of(robot), tmp_path)))[0].n == 1
    assert document.text_of(robot.joints[0].motor) == "Kp: 50 mN·m/A\nRa: 1.0\ngear: 100.0\n"


def test_a_scenario_that_was_read_runs_and_is_saved_elsewhere(tmp_path):
    scenario = load_scenario_file(str(ROOT / "configs" / "arm5_fall.yaml")).document
    assert armsim.simulate(scenario.replaced(duration=0.01)).status == "complete"
    (tmp_path / "deep").mkdir()
    document.save(scenario, tmp_path / "deep" / "fall.yaml")
    robots = [load_scenario_file(given).robot for given in (str(tmp_path / "deep" / "fall.yaml"), "arm5_fall")]
    assert robots[0].sources[0].sha256 == robots[1].sources[0].sha256


def test_angles_in_degrees_stay_so_in_another_robot():
    two = load_robot_file("two_link").document
    made = read_robot(document.Robot(name="x", parameters=dict(two.parameters), joints=list(two.joints)))[0]
    assert made.initial == pytest.approx(read_robot("two_link")[0].initial, rel=1e-15)


def test_a_signal_of_another_file_is_read_from_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, torque in (("one.csv", 1), ("two.csv", -5)):
        Path(name).write_text(f"t_s,u\n0,{torque}\n1,{torque}\n", encoding="utf-8")
    signal = document.CsvSignal(csv="one.csv", column="u")
    made = document.Scenario(robot=pendulum(), duration=0.1, inputs=document.Inputs(torque=[signal]))
    document.save(made, "scenario.yaml")
    read_back = load_scenario_file("scenario.yaml").document
    ends = [armsim.simulate(made).q[-1, 0], armsim.simulate(read_back).q[-1, 0]]
    other = read_back.inputs.replaced(torque=[read_back.inputs.torque[0].replaced(csv="two.csv")])
    assert ends[0] == ends[1] > armsim.simulate(read_back.replaced(inputs=other)).q[-1, 0]


def test_a_document_of_another_class_is_refused_at_once():
    with pytest.raises(TypeError, match=r"^Joint.mdh takes a ModifiedDH, not a StandardDH$"):
        document.Joint(name="R1", mdh=document.StandardDH(a=1))


def test_documents_that_say_the_same_are_equal(tmp_path):
    assert read(FILE, tmp_path) == read(FILE, tmp_path) != read(FILE.replace("2.50", "2.6"), tmp_path)
    assert document.Motor(Kp=1) == document.Motor(Kp=1) != document.Motor(Kp=2)
    joints = [document.Joint(name="R1")]
    robot = document.Robot(joints=joints)
    joints.append(None)
    assert len(robot.joints) == 1


@pytest.mark.slow
def test_a_study_made_in_python_is_carried_out(tmp_path):
    study = document.Study(scenario="two_link_hold", vary={"control.kp[0]": np.array([90, 120])}, measure=["iae"])
    runs = armsim.sweep(study.replaced(set={"duration": 0.1}), folder=tmp_path / "one")
    assert runs["control.kp[0]"].tolist() == [90.0, 120.0]
    again = armsim.sweep(tmp_path / "one" / "study.yaml", folder=tmp_path / "two")
    assert again["iae"].tolist() == runs["iae"].tolist()
    with pytest.raises(UsageError, match="a study with `tune`"):
        armsim.tune(study)
    with pytest.raises(FileFaults, match=r"<study>: vary\.control\.kq"):
        armsim.sweep(study.replaced(vary={"control.kq": [1]}))
