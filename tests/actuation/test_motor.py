"""DC motors and their gears."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from armsim.actuation import driven, unpowered
from armsim.actuation import motor as dc
from armsim.expr import trace
from armsim.model import Arm, Joint, Motor
from armsim.plant import Plant
from armsim.spatial import ZERO, Inertia, Pose, Symmetric, Z
from tests.steps import compiled_step

MOTOR = Motor(Kp=0.05, Ke=0.06, Ra=0.8, gear=-40.0, rotor_inertia=2e-5, viscous=3e-5)
J = 0.7  # of the link about the joint's axis [kg m²]


def wheel(motor: Motor | None, viscous: float = 0.0) -> Arm:
    """One link turning about its axis, without gravity."""
    joint = Joint("J1", "revolute", inertia=Inertia(0.0, ZERO, Symmetric(zz=J)), viscous=viscous, motor=motor)
    return Arm("wheel", ZERO, Pose(), (joint,))


def final_speed(arm: Arm, command, qd: float, duration: float, steps: int = 400) -> float:
    plant = Plant(arm, command, method="rk4")
    state = plant.initial_state([0.0], [qd])
    dt = duration / steps
    step = compiled_step(plant, dt)
    for k in range(steps):
        state = step(k * dt, state)
    return state[1]


def voltage(*volts: float):
    from armsim.control import OpenLoop

    return OpenLoop("voltage", tuple((lambda t, v=v: v) for v in volts))


# 400 RK4 steps of 0.0075 time constants each: error (h/tau)^4 / 120, far below
RK4_ERROR = 1e-10


def test_back_emf_alone_brakes_with_time_constant_J_Ra_over_Kp_Ke():
    motor = Motor(Kp=10.0, Ke=8.0, Ra=2.0)
    time_constant = J * motor.Ra / (motor.Kp * motor.Ke)
    speed = final_speed(wheel(motor), voltage(0.0), 1.5, 3 * time_constant)
    assert math.isclose(speed, 1.5 * math.exp(-3), rel_tol=RK4_ERROR)


def test_gear_rotor_and_friction_make_the_time_constant_of_the_data_sheet():
    m, b = MOTOR, 0.4
    inertia = J + m.gear**2 * m.rotor_inertia
    damping = m.gear**2 * (m.Kp * m.Ke / m.Ra + m.viscous) + b
    speed = final_speed(wheel(m, viscous=b), voltage(0.0), -2.0, 2 * inertia / damping)
    assert math.isclose(speed, -2.0 * math.exp(-2), rel_tol=RK4_ERROR)


@pytest.mark.parametrize("gear", [1.0, 30.0, -30.0])
def test_the_steady_speed_under_a_constant_voltage_balances_motor_and_friction(gear):
    m, b, volts = replace(MOTOR, gear=gear), 0.02, 12.0
    steady = m.Kp * gear * volts / m.Ra / (gear**2 * (m.Kp * m.Ke / m.Ra + m.viscous) + b)
    at_rest = driven(wheel(m, b).joints[0], "voltage", volts, 0.0, steady)
    assert math.isclose(at_rest.total, 0, abs_tol=1e-12)
    assert math.copysign(1, steady) == math.copysign(1, gear)  # a reversing gear turns the joint the other way


def test_without_friction_the_steady_speed_is_the_voltage_over_the_back_emf_constant():
    m = replace(MOTOR, viscous=0.0)
    assert math.isclose(dc.steady_current(m, 12.0, 12.0 / (m.Ke * m.gear)), 0, abs_tol=1e-15)


def test_the_rotor_is_felt_through_the_gear_squared():
    assert wheel(MOTOR).joints[0].armature == MOTOR.gear**2 * MOTOR.rotor_inertia
    assert wheel(None).joints[0].armature == 0
    plant = Plant(wheel(MOTOR), voltage(5.0))
    row = dict(zip(plant.layout.columns, plant.observe(0.0, plant.initial_state([0.0], [0.3])), strict=True))
    by = {column.quantity + column.of: value for column, value in row.items()}
    assert math.isclose(by["qddJ1"], by["tauJ1"] / (J + MOTOR.gear**2 * MOTOR.rotor_inertia), rel_tol=1e-14)
    assert math.isclose(by["energykinetic"], (J + MOTOR.gear**2 * MOTOR.rotor_inertia) * 0.3**2 / 2, rel_tol=1e-14)


@pytest.mark.parametrize(("qd", "volts"), [(0.0, 5.0), (3.0, 12.0), (-2.0, 7.0), (4.0, 0.0)])
def test_electrical_power_is_heat_and_mechanical_power(qd, volts):
    m = replace(MOTOR, Ke=MOTOR.Kp)  # the same constant in the same units, or energy would come from nowhere
    torque = driven(wheel(m).joints[0], "voltage", volts, 0.0, qd)
    assert math.isclose(torque.power, m.Ra * torque.current**2 + torque.motor * qd, rel_tol=1e-12, abs_tol=1e-12)
    assert torque.power == torque.voltage * torque.current


@pytest.mark.parametrize("qd", [0.0, 3.0, -2.0])
@pytest.mark.parametrize("volts", [5.0, -12.0])
def test_asking_for_the_torque_that_a_voltage_gives_asks_for_that_voltage(qd, volts):
    joint = wheel(MOTOR, viscous=0.1).joints[0]
    by_voltage = driven(joint, "voltage", volts, 0.0, qd)
    by_torque = driven(joint, "torque", by_voltage.motor, 0.0, qd)
    assert math.isclose(by_torque.voltage, volts, rel_tol=1e-14)
    assert math.isclose(by_torque.current, by_voltage.current, rel_tol=1e-14)
    assert (by_torque.motor, by_torque.friction, by_torque.total) == (
        by_voltage.motor,
        by_voltage.friction,
        by_voltage.total,
    )


def test_a_joint_without_a_motor_takes_the_torque_as_it_is():
    torque = driven(wheel(None, viscous=0.5).joints[0], "torque", 3.0, 0.0, 2.0)
    assert (torque.motor, torque.friction, torque.total) == (3.0, -1.0, 2.0)
    assert torque.voltage is torque.current is torque.power is None


def test_open_terminals_brake_only_by_friction():
    torque = unpowered(wheel(MOTOR, viscous=0.1).joints[0], 0.0, 2.0)
    assert torque.motor == torque.current == 0
    assert math.isclose(torque.friction, -(0.1 + MOTOR.gear**2 * MOTOR.viscous) * 2, rel_tol=1e-15)
    assert math.isclose(torque.voltage, MOTOR.Ke * MOTOR.gear * 2)  # what a voltmeter shows
    assert torque.power == 0


def test_the_voltage_gain_is_the_torque_per_volt_at_rest():
    assert math.isclose(dc.voltage_gain(MOTOR), driven(wheel(MOTOR).joints[0], "voltage", 1.0, 0.0, 0.0).motor)


def test_a_prismatic_joint_slides_by_its_motor():
    joint = Joint("P1", "prismatic", inertia=Inertia(4.0), motor=replace(MOTOR, rotor_inertia=0.0, viscous=0.0))
    plant = Plant(Arm("slide", Z * 0.0, Pose(), (joint,)), voltage(8.0))
    qdd = plant.observe(0.0, plant.initial_state([0.0], [0.0]))[2]
    assert math.isclose(qdd, MOTOR.Kp * MOTOR.gear * 8.0 / MOTOR.Ra / 4.0, rel_tol=1e-14)


def test_a_motor_costs_no_branch_in_the_graph():
    joint = wheel(MOTOR).joints[0]
    f = trace(lambda u, qd: [driven(joint, "voltage", u, 0.0, qd).total], ["u", "qd"])
    assert "where" not in f.counts()
