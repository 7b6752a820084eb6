"""What motors can do at their joints, against the data sheet's closed forms."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from armsim.arm.motor_curve import Stall, motor_curve, motors
from armsim.control import OpenLoop
from armsim.errors import UsageError
from armsim.model import Arm, BrushDrop, Coulomb, Joint, Motor, MotorLimits
from armsim.plant import Plant
from armsim.spatial import Inertia, Pose, Symmetric, Vector
from tests.steps import compiled_step

MOTOR = Motor(Kp=0.05, Ke=0.06, Ra=0.8, gear=-40.0)
V = 24.0
CLOSE = 1e-12  # a few roundings


def lever(motor, mass=0.0, viscous=0.0, coulomb=None, type="revolute"):
    """One joint, with a mass 1 m from its axis that gravity pulls with -9.81 mass N·m (or N)."""
    h = Vector(mass, 0.0, 0.0)
    joint = Joint("A", type, inertia=Inertia(mass, h, Symmetric(zz=1.0)), viscous=viscous, coulomb=coulomb, motor=motor)
    gravity = Vector(0.0, -9.81, 0.0) if type == "revolute" else Vector(0.0, 0.0, -9.81)
    return Arm("lever", gravity, Pose(), (joint,))


@pytest.mark.parametrize("gear", [1.0, 40.0, -40.0])
def test_without_friction_the_curve_is_the_straight_line_of_the_data_sheet(gear):
    m, n = replace(MOTOR, gear=gear), abs(gear)
    found = motor_curve(lever(m), "A", V)
    stall, free = n * m.Kp * V / m.Ra, V / (n * m.Ke)
    assert found.stall == Stall(pytest.approx(stall, rel=CLOSE), pytest.approx(V / m.Ra, rel=CLOSE))
    assert found.no_load.speed == pytest.approx(free, rel=CLOSE)
    assert found.no_load.current == pytest.approx(0.0, abs=CLOSE)
    assert not found.no_load.limited
    # the top of a parabola is flat: its place is known to the root of the rounding
    assert found.most_power.power == pytest.approx(stall * free / 4, rel=CLOSE)
    assert found.most_power.speed == pytest.approx(free / 2, rel=1e-7)
    assert [point.speed for point in found.curve] == pytest.approx([free * k / 8 for k in range(9)], rel=CLOSE)
    for point in found.curve:
        assert point.torque == pytest.approx(stall * (1 - point.speed / free), abs=CLOSE * stall)
        assert point.electrical == pytest.approx(V * point.current, abs=CLOSE * V * V / m.Ra)


def test_friction_of_motor_gear_and_joint_is_taken_off():
    m = replace(MOTOR, viscous=2e-4, coulomb=Coulomb(0.02, 0.03), efficiency=0.8)
    arm = lever(m, viscous=0.1, coulomb=Coulomb(0.4, 0.5))
    found = motor_curve(arm, "A", V)
    n, dry = 40.0, 40.0 * 0.02 + 0.4
    stall = 0.8 * n * m.Kp * V / m.Ra - dry
    per_speed = 0.8 * n * n * m.Kp * m.Ke / m.Ra + n * n * 2e-4 + 0.1
    assert found.stall.torque == pytest.approx(stall, rel=CLOSE)
    assert found.no_load.speed == pytest.approx(stall / per_speed, rel=CLOSE)
    assert found.no_load.current > 0


def test_the_no_load_speed_is_where_a_simulated_joint_ends_up():
    m = replace(MOTOR, viscous=2e-4, coulomb=Coulomb(0.02, 0.03), brush_drop=BrushDrop(0.5, 0.3))
    arm = lever(m, viscous=0.1, coulomb=Coulomb(0.4, 0.5))
    free = motor_curve(arm, "A", V).no_load.speed
    plant = Plant(arm, OpenLoop("voltage", (lambda t: -V,)))  # the gear reverses
    state, step = plant.initial_state([0.0], [0.0]), compiled_step(plant, 4e-3)
    for k in range(1500):  # 38 time constants: nothing is left of the beginning
        state = step(k * 4e-3, state)
    assert state[1] == pytest.approx(free, rel=1e-10)


def test_brushes_take_their_voltage():
    m = replace(MOTOR, brush_drop=BrushDrop(max=0.5, half=0.3))
    drop = 0.5 * (1 - 2 ** (-V / 0.3))
    assert motor_curve(lever(m), "A", V).stall.current == pytest.approx((V - drop) / m.Ra, rel=CLOSE)


def test_limits_of_current_and_torque_cut_the_top_off():
    by_current = motor_curve(lever(replace(MOTOR, limits=MotorLimits(current=5.0))), "A", V)
    assert by_current.stall == Stall(pytest.approx(40 * 0.05 * 5, rel=CLOSE), 5.0)
    assert by_current.curve[0].electrical == pytest.approx(0.8 * 25, rel=CLOSE)  # the amplifier gives no more than that
    by_torque = motor_curve(lever(replace(MOTOR, limits=MotorLimits(torque=0.2))), "A", V)
    assert by_torque.stall.torque == pytest.approx(40 * 0.2, rel=CLOSE)
    free = V / (40 * MOTOR.Ke)
    for found in (by_current, by_torque):
        assert found.no_load.speed == pytest.approx(free, rel=CLOSE)


def test_the_limit_of_speed_ends_the_curve_while_there_is_torque_left():
    found = motor_curve(lever(replace(MOTOR, limits=MotorLimits(speed=200.0))), "A", V)
    assert found.no_load.speed == pytest.approx(200.0 / 40, rel=CLOSE)
    assert found.no_load.limited
    assert found.curve[-1].torque == pytest.approx(40 * 0.05 * (V - 0.06 * 200) / 0.8, rel=CLOSE)


def test_the_most_power_lies_at_the_corner_where_a_limit_ends():
    found = motor_curve(lever(replace(MOTOR, limits=MotorLimits(torque=0.2))), "A", V)
    corner = (V - 0.2 / 0.05 * 0.8) / (0.06 * 40)  # from here on the voltage bounds the current
    assert found.most_power.speed == pytest.approx(corner, rel=1e-9)
    assert found.most_power.power == pytest.approx(8.0 * corner, rel=1e-9)


def test_holding_is_given_as_shares_of_stall_and_of_the_limits():
    limits = MotorLimits(voltage=V, current=10.0, torque=0.4)
    found = motor_curve(lever(replace(MOTOR, limits=limits), mass=1.0), "A")
    holding, current = found.holding, 9.81 / (40 * 0.05)
    assert found.voltage == V
    assert holding.torque == pytest.approx(9.81, rel=CLOSE)
    assert abs(holding.current) == pytest.approx(current, rel=CLOSE)
    assert holding.heat == pytest.approx(0.8 * current**2, rel=CLOSE)
    assert holding.of_stall == pytest.approx(9.81 / (40 * 0.4), rel=CLOSE)  # torque is cut first
    shares = {"voltage": 0.8 * current / V, "current": current / 10, "torque": 9.81 / 40 / 0.4}
    assert holding.of_limits == pytest.approx(shares, rel=CLOSE)


def test_friction_counts_in_the_direction_in_which_the_joint_is_held():
    m = replace(MOTOR, coulomb=Coulomb(0.02, 0.05))
    up, down = (motor_curve(lever(m, mass=mass), "A", V) for mass in (1.0, -1.0))
    assert (up.direction, down.direction) == (1, -1)
    gross = 40 * 0.05 * V / 0.8
    assert up.stall.torque == pytest.approx(gross - 40 * 0.02, rel=CLOSE)
    assert down.stall.torque == pytest.approx(gross - 40 * 0.05, rel=CLOSE)


def test_a_motor_that_friction_holds_has_no_curve():
    found = motor_curve(lever(replace(MOTOR, coulomb=Coulomb(2.0, 2.0)), mass=1.0), "A", V)
    assert (found.stall.torque, found.no_load, found.most_power, found.curve) == (0.0, None, None, [])
    assert found.holding.of_stall is None


def test_a_motor_that_nothing_bounds_has_no_greatest_speed():
    found = motor_curve(lever(replace(MOTOR, Ke=0.0)), "A", V)
    assert found.stall.torque > 0
    assert (found.no_load, found.curve) == (None, [])


def test_a_prismatic_joint_counts_in_newtons_and_metres():
    found = motor_curve(lever(replace(MOTOR, gear=2000.0), mass=3.0, type="prismatic"), "A", V)  # 2000 rad/m
    assert found.type == "prismatic"
    assert found.holding.torque == pytest.approx(3 * 9.81, rel=CLOSE)
    assert found.no_load.speed == pytest.approx(V / (2000 * 0.06), rel=CLOSE)


def test_all_motors_of_an_arm_are_listed_and_bare_joints_passed_over(arms):
    arm = arms.shipped("arm5")
    assert [found.joint for found in motors(arm, 12.0)] == ["R1", "R2", "R3", "R4", "R5"]
    joints = (*arm.joints[:4], replace(arm.joints[4], motor=None))
    assert [found.joint for found in motors(replace(arm, links=joints), 12.0)] == ["R1", "R2", "R3", "R4"]


@pytest.mark.parametrize(
    ("arm", "joint", "voltage"),
    [
        (lever(MOTOR), "A", None),
        (lever(MOTOR), "A", 0.0),
        (lever(MOTOR), "A", math.inf),
        (lever(MOTOR), "B", V),
        (lever(None), "A", V),
        (lever(Motor(gear=50.0)), "A", V),
        (lever(replace(MOTOR, limits=MotorLimits(voltage=12.0))), "A", V),
    ],
    ids=["no voltage", "zero", "infinite", "joint", "no motor", "no constants", "limit"],
)
def test_what_cannot_be_answered_says_why(arm, joint, voltage, told):
    with pytest.raises(UsageError) as refused:
        motor_curve(arm, joint, voltage)
    told(refused.value)


def test_an_arm_without_such_motors_says_so():
    with pytest.raises(UsageError, match="no motor on any joint"):
        motors(lever(None), V)
    with pytest.raises(UsageError, match="no Kp and Ra for any motor"):
        motors(lever(Motor(gear=50.0)), V)
