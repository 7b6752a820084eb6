"""Motors and dry friction: what a robot file says of them, and what the arm has then."""

import pytest

from armsim.errors import FileFaults
from armsim.expr import trace
from armsim.loading import build_robot, load_robot_file, read_robot, read_scenario, resolved_robot
from armsim.model import BrushDrop, Coulomb, MotorLimits


def file_with(motor=None, friction=None, type="revolute"):
    joint = {
        "name": "R1",
        "type": type,
        "mdh": {},
        "bodies": [{"point": {"mass": 1, "center": [0.5, 0, 0]}}],
        **({} if motor is None else {"motor": motor}),
        **({} if friction is None else {"friction": friction}),
    }
    return {"format": "armsim/robot/1", "name": "one", "joints": [joint]}


def joint_of(**parts):
    return read_robot(file_with(**parts))[0].joints[0]


def test_all_of_a_motor_reaches_the_model():
    motor = joint_of(
        motor={
            **{"Kp": 0.05, "Ke": 0.04, "Ra": 2, "gear": -50, "rotor_inertia": 1e-5, "viscous": 1e-6},
            **{"coulomb": {"positive": 0.01, "negative": 0.02}, "efficiency": 0.8, "inductance": 1e-3},
            **{
                "brush_drop": {"max": 0.5, "half": 0.3},
                "limits": {"voltage": 24, "current": 5, "torque": 0.2, "speed": 600},
            },
        }
    ).motor
    assert (motor.Kp, motor.Ke, motor.Ra, motor.gear) == (0.05, 0.04, 2, -50)
    assert (motor.rotor_inertia, motor.viscous) == (1e-5, 1e-6)
    assert motor.coulomb == Coulomb(0.01, 0.02)
    assert (motor.efficiency, motor.inductance) == (0.8, 1e-3)
    assert motor.brush_drop == BrushDrop(0.5, 0.3)
    assert motor.limits == MotorLimits(voltage=24, current=5, torque=0.2, speed=600)
    assert motor.model == "dc"


def test_one_number_of_dry_friction_counts_in_both_directions():
    assert joint_of(friction={"coulomb": 0.5}).coulomb == Coulomb(0.5, 0.5)
    assert joint_of(friction={"coulomb": {"positive": 0, "negative": 0.4}}).coulomb == Coulomb(0, 0.4)


def test_values_that_mean_not_there_leave_the_plain_arm():
    neutral = {"coulomb": 0, "efficiency": 1, "inductance": 0, "brush_drop": {"max": 0, "half": 1}, "limits": {}}
    plain = joint_of(motor={"Kp": 10, "Ra": 1})
    written_out = joint_of(
        motor={"Kp": 10, "Ra": 1, **neutral, "model": "dc"}, friction={"coulomb": {"positive": 0, "negative": 0}}
    )
    assert written_out == plain
    assert (plain.coulomb, plain.motor.coulomb, plain.motor.efficiency) == (None, None, None)
    assert (plain.motor.inductance, plain.motor.brush_drop) == (None, None)


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("joints[R1].friction.coulomb", lambda joint: joint.coulomb.positive),
        ("joints[R1].motor.coulomb", lambda joint: joint.motor.coulomb.negative),
        ("joints[R1].motor.efficiency", lambda joint: joint.motor.efficiency),
        ("joints[R1].motor.inductance", lambda joint: joint.motor.inductance),
        ("joints[R1].motor.limits.current", lambda joint: joint.motor.limits.current),
    ],
)
def test_what_is_left_open_is_there_whatever_the_file_says(path, part):
    data = load_robot_file(file_with(motor={"Kp": 10, "Ra": 1})).document
    found = []

    def body(x):
        found.append((part(build_robot(data, {path: x}).joints[0]), x))
        return [x]

    trace(body, ["x"])
    assert all(scalar is x for scalar, x in found)


def test_one_side_of_dry_friction_can_be_left_open():
    data = load_robot_file(file_with(friction={"coulomb": {"positive": 0, "negative": 0}})).document

    def body(x):
        coulomb = build_robot(data, {"joints[0].friction.coulomb.negative": x}).joints[0].coulomb
        assert coulomb.positive == 0
        return [coulomb.negative]

    assert trace(body, ["x"]).outputs[0].op == "input"


def test_a_motor_without_torque_constant_and_resistance_is_a_drive_by_torque():
    joint = joint_of(motor={"gear": 60, "rotor_inertia": 2e-4, "limits": {"torque": 2}})
    assert (joint.motor.Kp, joint.motor.Ke, joint.motor.Ra, joint.electric_motor) == (None, None, None, None)
    assert joint.motor.limits == MotorLimits(torque=2)
    assert resolved_robot(read_robot(file_with(motor={"gear": 60}))[1]).joints[0].motor.Ke is None


def test_a_voltage_for_a_drive_by_torque_is_refused_and_names_it(told):
    scenario = {
        "format": "armsim/scenario/1",
        "robot": file_with(motor={"gear": 60}),
        "duration": 1,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "inputs": {"voltage": [1]},
    }
    with pytest.raises(FileFaults) as refused:
        read_scenario(scenario)
    told(refused.value.faults[0])


def test_the_dynamechs_motor_is_told_apart():
    motor = {"Kp": 10, "Ra": 1, "model": "dynamechs", "coulomb": 0.4, "brush_drop": {"max": 0.5, "half": 0.3}}
    assert joint_of(motor=motor).motor.model == "dynamechs"
    with pytest.raises(FileFaults, match=r"nothing: the key is missing, and `model: dynamechs` needs it"):
        joint_of(motor={"model": "dynamechs"})


def test_the_schema_knows_what_a_torque_constant_is_needed_for():
    jsonschema = pytest.importorskip("jsonschema")
    from armsim.authoring.json_schema import json_schema

    validator = jsonschema.Draft7Validator(json_schema("robot"))
    constants = {"Kp": 1, "Ra": 1}
    sound = [
        constants,
        {},
        {"gear": 60, "inductance": 0, "limits": {"torque": 2}},
        {**constants, "limits": {"current": 2}},
        {**constants, "efficiency": 0.5, "coulomb": {"positive": 0, "negative": 1}},
        {**constants, "coulomb": 0.4, "gear": 1, "limits": {}, "model": "dynamechs"},
    ]
    faulty = [
        {"Kp": 1},
        {"Ra": 1},
        {"inductance": 1e-3},
        {"limits": {"current": 2}},
        {"model": "dynamechs"},
        {**constants, "efficiency": 1.1},
        {**constants, "efficiency": 0},
        {"coulomb": {"positive": 1}},
        {**constants, "brush_drop": {"max": 1}},
        {"limits": {"torque": 0}},
        {**constants, "model": "dynamechs", "gear": 50},
        {**constants, "model": "dynamechs", "limits": {"torque": 2}},
        {**constants, "model": "dynamechs", "coulomb": {"positive": 0, "negative": 1}},
    ]
    for motor in sound:
        read_robot(file_with(motor=motor))
        assert validator.is_valid(file_with(motor=motor)), motor
    for motor in faulty:
        with pytest.raises(FileFaults):
            read_robot(file_with(motor=motor))
        assert not validator.is_valid(file_with(motor=motor)), motor
