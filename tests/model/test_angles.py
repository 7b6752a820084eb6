"""Angles of a summary in degrees."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from armsim.model.angles import FIGURE, POSITION, SQUARE, MotionInstant, in_unit
from armsim.records import as_plain
from armsim.spatial import Frame


@dataclass(frozen=True)
class Figures:
    error: float = field(metadata=FIGURE)
    ise: float | None = field(metadata=SQUARE)
    time: float


@dataclass(frozen=True)
class End:
    joint: str
    q: float = field(metadata=POSITION)
    figures: Figures


@dataclass(frozen=True)
class Joint:
    name: str
    type: str


@dataclass(frozen=True)
class State:
    q: list[float] = field(metadata=POSITION)


JOINTS = Joint("R1", "revolute"), Joint("S", "prismatic")


def test_angles_of_joints_that_turn_go_into_degrees():
    figures = Figures(0.5, 2.0, 3.0)
    first, second = in_unit([End("R1", 1.0, figures), End("S", 1.0, figures)], JOINTS, True)
    square = math.degrees(math.degrees(2.0))
    assert first == End("R1", 57.2957795130823, Figures(math.degrees(0.5), square, 3.0))  # positions to 15 digits
    assert second == End("S", 1.0, figures)


def test_what_is_not_there_has_no_angle():
    assert in_unit(End("R1", 0.0, Figures(0.0, None, 1.0)), JOINTS, True).figures.ise is None


def test_radians_leave_a_result_as_it_is():
    end = End("R1", 1.0, Figures(0.5, 2.0, 3.0))
    assert in_unit(end, JOINTS, False) is end


def test_a_list_has_a_number_for_each_joint_in_its_unit():
    assert in_unit(State([1.0, 1.0]), JOINTS, True) == State([57.2957795130823, 1.0])


def test_numbers_by_name_and_those_of_a_tuple_are_of_their_joints_too():
    assert in_unit(State({"S": 1.0, "R1": 1.0}), JOINTS, True) == State({"S": 1.0, "R1": 57.2957795130823})
    assert in_unit(State((1.0, 1.0)), JOINTS, True) == State((57.2957795130823, 1.0))


def test_whole_degrees_come_back_whole():
    found = in_unit([MotionInstant([math.radians(x)]) for x in range(-360, 361)], JOINTS[:1], True)
    assert [motion.q for motion in found] == [[x] for x in range(-360, 361)]


def test_a_motion_may_lack_a_joint_and_has_no_velocity_that_is_not_asked_for():
    assert in_unit(MotionInstant([None, 1.0]), JOINTS, True) == MotionInstant([None, 1.0])
    motion = in_unit(MotionInstant([1.0, 1.0], qdd=[math.pi, 2.0]), JOINTS, True)
    assert as_plain(motion) == {"q": [57.2957795130823, 1.0], "qdd": [180.0, 2.0]}


def test_a_number_of_no_joint_is_an_angle_where_all_joints_turn():
    figures = Figures(0.5, None, 3.0)
    assert in_unit(figures, JOINTS[:1], True).error == math.degrees(0.5)
    assert in_unit(figures, JOINTS, True).error == 0.5


def test_roll_pitch_and_yaw_are_angles_whatever_the_joints_are():
    frame = Frame([1.0, 2.0, 3.0], [1.0, 0.0, 0.0, 0.0], [math.pi, 0.0, math.pi / 6])
    assert in_unit(frame, JOINTS[1:], True).rpy == [180.0, 0.0, 30.0]
