"""Keys as others call them."""

from __future__ import annotations

import pytest

from armsim.document import other_words
from armsim.document.robot import read_robot_node
from armsim.errors import FileFaults
from armsim.files.faults import Fault, Report
from armsim.files.yaml_reader import parse_yaml
from armsim.formulas.quantity import Context
from armsim.loading import read_robot, read_scenario

JOINT = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": 1, "center": [1, 0, 0]}}]}
ROBOT = {"format": "armsim/robot/1", "name": "one", "joints": [JOINT]}


def mend_of(key: str, joint=None, robot=None) -> str:
    with pytest.raises(FileFaults) as caught:
        read_robot({**ROBOT, **(robot or {}), "joints": [{**JOINT, **(joint or {})}]})
    (fault,) = [fault for fault in caught.value.faults if fault.found == f"the unknown key `{key}`"]
    return fault.mend


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("torque_constant", "Kp"),
        ("Kt", "Kp"),
        ("back_emf", "Ke"),
        ("resistance", "Ra"),
        ("gear-ratio", "gear"),
        ("Jm", "rotor_inertia"),
    ],
)
def test_a_data_sheets_word_for_a_key_of_the_motor_is_known(word, key):
    assert mend_of(word, {"motor": {word: 1}}) == f"did you mean `{key}`?"


@pytest.mark.parametrize("key", ["mass", "com", "inertia"])
def test_mass_and_inertia_at_a_joint_mean_its_bodies(key):
    mend = mend_of(key, {key: 1})
    assert mend.startswith("a link's mass is in its `bodies`: write `bodies: [{")
    written = mend.split("`")[3].removeprefix("bodies: ")
    bodies = parse_yaml(written, "hint")
    read_robot({**ROBOT, "joints": [{**JOINT, "bodies": bodies}]})  # it is what can be pasted


def test_a_body_without_a_shape_is_told_to_name_one():
    assert mend_of("com", {"bodies": [{"com": [0, 0, 0]}]}).startswith("name the body first: `point: {")


def test_words_of_scenarios_are_known():
    scenario = {"format": "armsim/scenario/1", "robot": "rr", "duration": 1, "dt": 1e-3}
    with pytest.raises(FileFaults, match=r"mend:     write `integrator: \{method: rk4, dt: 1e-3\}`"):
        read_scenario(scenario)


def test_every_word_means_a_key_of_a_record_that_knows_it_or_says_more():
    from armsim.document import bodies, motor, robot, scenario

    known: dict[int, set[str]] = {}
    tables = {}
    for module in (bodies, motor, robot, scenario):
        for record in vars(module).values():
            if isinstance(record, type) and getattr(record, "other_words", None):
                tables[id(record.other_words)] = record.other_words
                known.setdefault(id(record.other_words), set()).update(record.fields)
    assert len(tables) >= 10
    for i, words in tables.items():
        assert [key for key in words.values() if " " not in key and key not in known[i]] == []


def fault_of(body: str) -> Fault:
    text = f"format: armsim/robot/1\nname: one\njoints: [{{name: R1, type: revolute, mdh: {{}}, bodies: [{body}]}}]\n"
    report = Report()
    read_robot_node(parse_yaml(text, "one.yaml", report), Context(report))
    (fault,) = report.faults
    return fault


@pytest.mark.parametrize(
    "body",
    [
        "{point: {mass: '1,5', center: [1, 0, 0]}}",
        "{point: {mass: 1,25, center: [1, 0, 0]}}",
        "{point: {mass: 1, center: [0,5, 0, 0]}}",
    ],
)
def test_a_decimal_comma_is_recognised(body, told):
    told(fault_of(body))


def test_a_word_that_is_spelled_as_no_one_does_is_not_known():
    assert other_words.meant("torque", other_words.MOTOR, ["Kp"]) == "write `limits: {torque: 0.3}`"
    assert other_words.meant("colour", other_words.MOTOR, ["Kp"]) is None
    assert other_words.meant("kt", other_words.MOTOR, ["Ra"]) is None
