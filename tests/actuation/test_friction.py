"""How much a joint can hold by dry friction, on both sides of the gear and in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from armsim.actuation import any_sticks, dry_bounds, sticks
from armsim.expr import replay, trace
from armsim.model import Arm, Coulomb, Joint, Motor
from armsim.spatial import ZERO, Pose

MOTOR = Motor(Kp=0.05, Ke=0.05, Ra=0.8, gear=40.0)


def joint(coulomb: Coulomb | None = None, motor: Motor | None = None) -> Joint:
    return Joint("J1", "revolute", coulomb=coulomb, motor=motor)


def test_a_bound_is_against_the_joints_direction():
    # the least torque resists motion in the positive direction, the greatest in the negative
    assert dry_bounds(joint(Coulomb(positive=2.0, negative=3.0)), 0.0) == (-2.0, 3.0)


def test_the_motors_friction_comes_through_the_gear():
    assert dry_bounds(joint(None, replace(MOTOR, coulomb=Coulomb(0.02, 0.03))), 0.0) == (-40 * 0.02, 40 * 0.03)


def test_a_gear_that_reverses_does_not_exchange_the_directions():
    # they are the joint's, whichever way the motor turns
    ahead, reversed_ = (joint(None, replace(MOTOR, gear=gear, coulomb=Coulomb(0.02, 0.03))) for gear in (40.0, -40.0))
    assert dry_bounds(reversed_, 0.0) == dry_bounds(ahead, 0.0)


def test_both_sides_of_the_gear_add_up():
    both = joint(Coulomb(2.0, 3.0), replace(MOTOR, coulomb=Coulomb(0.5, 0.25)))
    assert dry_bounds(both, 0.0) == (-22.0, 13.0)


@pytest.mark.parametrize("torque", [10.0, -10.0])
@pytest.mark.parametrize("gear", [40.0, -40.0])
def test_a_gear_loses_its_share_of_the_motors_torque_in_either_direction(torque, gear):
    lossy = joint(Coulomb(2.0, 3.0), replace(MOTOR, gear=gear, efficiency=0.75))
    assert dry_bounds(lossy, torque) == (-4.5, 5.5)
    assert dry_bounds(lossy, 0.0) == (-2.0, 3.0)


def test_an_efficiency_of_one_loses_nothing():
    assert dry_bounds(joint(None, replace(MOTOR, efficiency=1.0)), 7.0) == (0.0, 0.0)


def test_a_joint_without_dry_friction_has_no_bounds_to_speak_of():
    assert dry_bounds(joint(), 5.0) == dry_bounds(joint(None, MOTOR), 5.0) == (0.0, 0.0)


def test_any_part_of_it_makes_a_joint_stick():
    parts = [
        joint(Coulomb(0.0, 0.0)),
        joint(None, replace(MOTOR, coulomb=Coulomb(1.0, 1.0))),
        joint(None, replace(MOTOR, efficiency=0.9)),
    ]
    assert all(sticks(part) for part in parts)
    assert not sticks(joint())
    assert not sticks(joint(None, replace(MOTOR, viscous=1.0)))
    for part in parts:
        assert any_sticks(Arm("a", ZERO, Pose(), (joint(), part)))
    assert not any_sticks(Arm("a", ZERO, Pose(), (joint(), joint(None, MOTOR))))


def test_friction_numbers_may_be_left_open():
    def bounds(c, eta, torque):
        return list(dry_bounds(joint(Coulomb(c, 2.0 * c), replace(MOTOR, efficiency=eta)), torque))

    f = trace(bounds, ["c", "eta", "torque"])
    assert replay(f, [1.5, 0.8, -4.0]) == bounds(1.5, 0.8, -4.0)
