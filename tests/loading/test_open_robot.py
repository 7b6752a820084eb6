"""The condition on open numbers says what the check of a file with these numbers says."""

from __future__ import annotations

import math

import pytest

from armsim.document.base import numbers
from armsim.errors import ArmsimError, UsageError
from armsim.expr import replay, trace, where
from armsim.loading import load_robot_file
from armsim.loading.open_robot import OpenRobot

VALUES = (-1e7, -1.0, -0.1, 0.0, 0.04, 0.3, 1.0, 3.0, 1e7, math.inf, -math.inf, math.nan)
HEAD = {"format": "armsim/robot/1", "name": "arm", "parameters": {"length": 0.3, "dry": 0.1}}
TUBE = {"axis": "z", "height": "length", "outer_radius": 0.3, "inner_radius": 0.04, "density": 2700}
MOTOR = {
    "Kp": 1,
    "Ra": 2,
    "Ke": 0.5,
    "gear": -3,
    "rotor_inertia": 0.01,
    "viscous": 0.1,
    "coulomb": {"positive": 0.1, "negative": "dry"},
    "efficiency": 0.3,
    "inductance": 0.04,
    "brush_drop": {"max": 1, "half": 0.3},
    "limits": {"voltage": 10, "current": 5, "torque": 3, "speed": 100},
}
ROBOT = {
    **HEAD,
    "units": {"angle": "deg"},
    "joints": [
        {
            "name": "J1",
            "type": "revolute",
            "mdh": {"alpha": 0},
            "initial": 0.3,
            "limits": {"lower": -0.1, "upper": 1, "stiffness": 100, "damping": 1},
            "friction": {"viscous": 0.1, "coulomb": "2*dry"},
            "bodies": [{"tube": TUBE}, {"box": {"size": [0.1, "length", 0.2], "mass": 1, "center": [0.3, 0, 0]}}],
            "motor": MOTOR,
        },
        {
            "name": "J2",
            "type": "screw",
            "pitch": 0.04,
            "mdh": {"a": "length", "alpha": 90},
            "bodies": [{"inertia": {"mass": 1, "center": [0.1, 0, 0], "about": "com", "xx": 1, "yy": 1, "zz": 1}}],
        },
    ],
    "payload": {"mass": 0.3, "center": [0, 0, 0.1]},
}


def accepted(robot: OpenRobot, values) -> bool:
    try:
        robot.refuse(values)
    except ArmsimError:
        return False
    return True


PATHS = [path for path, _ in numbers(load_robot_file(ROBOT).document)]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.handful(7)
def test_the_condition_on_a_number_holds_where_the_file_with_it_is_accepted(path):
    robot = OpenRobot(ROBOT, [path])
    sound = trace(lambda x: [where(robot.sound([x]), 1.0, 0.0)], ["x"])
    assert replay(sound, robot.written) == [
        float(path != "joints[1].friction.coulomb")
    ]  # 0, which means that there is none
    for value in VALUES:
        assert replay(sound, [value]) == [float(accepted(robot, [value]))], value


def test_a_range_of_nothing_is_refused_though_the_initial_position_lies_in_it():
    paths = ["joints[0].limits.lower", "joints[0].limits.upper"]
    robot = OpenRobot(ROBOT, paths)
    sound = trace(lambda *x: [where(robot.sound(x), 1.0, 0.0)], paths)
    for values in ([0.2, 0.4], [0.3, 0.3], [0.4, 0.2]):
        assert replay(sound, values) == [float(accepted(robot, values))] == [float(values == [0.2, 0.4])]


def test_friction_of_which_one_direction_is_open_may_vanish_there_alone():
    robot = OpenRobot(ROBOT, ["joints[0].motor.coulomb.positive", "parameters.dry"])
    assert accepted(robot, [0.0, 0.1])
    with pytest.raises(UsageError, match=r"joints\[0\]\.friction\.coulomb\n"):
        robot.refuse([0.1, 0.0])


def test_a_number_that_the_file_has_not_can_be_left_open_where_there_may_be_one():
    robot = OpenRobot("arm5", ["joints[R1].motor.limits.current"])
    assert math.isnan(robot.written[0])
    assert robot.of([5.0]).joints[0].motor.limits.current == 5.0
    assert accepted(robot, [5.0])
    assert not accepted(robot, robot.written)
    for path in ("joints[R1].pitch", "joints[R1].bodies[0].cylinder.density"):
        with pytest.raises(ArmsimError):
            OpenRobot("arm5", [path])


def test_open_numbers_have_the_units_of_the_file():
    opened = OpenRobot(
        "two_link", ["joints[shoulder].initial", "joints[1].mdh.a", "payload.mass", "joints[0].mdh.alpha"]
    )
    assert opened.units == ["deg or m", "m", "kg", "deg"]
    assert OpenRobot("arm5", ["joints[R2].initial", "joints[0].motor.Ra"]).units == ["rad or m", "ohm"]
