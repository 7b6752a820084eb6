"""What the limits of motor, amplifier and supply leave of a command, against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import pytest

from armsim.actuation import driven
from armsim.actuation import motor as dc
from armsim.control import OpenLoop
from armsim.model import Arm, BrushDrop, Coulomb, Joint, Motor, MotorLimits
from armsim.plant import Plant
from armsim.spatial import ZERO, Inertia, Pose, Symmetric
from tests.steps import compiled_step

METHODS = ["explicit_euler", "semi_implicit_euler", "rk4"]
J = 0.7  # of the link about the joint's axis [kg m²]
MOTOR = Motor(Kp=0.05, Ke=0.06, Ra=0.8, gear=-40.0, rotor_inertia=2e-5, viscous=3e-5)
SAME = replace(MOTOR, Ke=MOTOR.Kp, gear=1.0, rotor_inertia=0.0, viscous=0.0)  # one constant: energy is conserved
BRUSHES = BrushDrop(max=0.9, half=0.5)
DRY = Coulomb(9.0, 9.0)  # locks the rotor
LIMITS = {"voltage": 24.0, "current": 10.0, "torque": 0.3, "speed": 500.0}
SUBSETS = [
    {key: LIMITS[key] for key, taken in zip(LIMITS, chosen, strict=True) if taken}
    for chosen in product([False, True], repeat=4)
]
# of the rotor [rad/s]; where 24 V drive SAME, it turns at 480 without load
SPEEDS = [0.0, 100.0, 300.0, 479.0, 499.0, 501.0, 650.0, 900.0]


def joint_of(motor: Motor) -> Joint:
    return Joint("J1", "revolute", inertia=Inertia(0.0, ZERO, Symmetric(zz=J)), motor=motor)


def wheel(motor: Motor) -> Arm:
    """One link turning about its axis, without gravity."""
    return Arm("wheel", ZERO, Pose(), (joint_of(motor),))


def command(output: str, value) -> OpenLoop:
    return OpenLoop(output, (value if callable(value) else lambda t: value,))


def torques(motor: Motor, volts, count: int, dt: float, qd: float = 0.0, current: float = 0.0, method: str = "rk4"):
    """What acts at every step, of a motor whose current is a state."""
    plant = Plant(wheel(motor), command("voltage", volts), method=method)
    state = plant.initial_state([0.0], [qd])
    state[-1] = current
    rows = []
    for k in range(count):
        rows.append(plant.motion(k * dt, state)[2][0])
        state = plant.step(k * dt, state, dt)
    return rows


# ---- one limit at a time ----


def test_the_supply_limits_the_voltage():
    joint = joint_of(replace(MOTOR, limits=MotorLimits(voltage=10.0)))
    for u, given in ((25.0, 10.0), (-25.0, -10.0), (9.0, 9.0)):
        assert driven(joint, "voltage", u, 0.0, 0.4) == driven(joint_of(MOTOR), "voltage", given, 0.0, 0.4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("limits", [MotorLimits(current=3.0), MotorLimits(torque=3.0 * 0.05)])
def test_an_amplifier_keeps_its_limit_of_current_or_torque_by_the_voltage_on_the_terminals(sign, limits):
    joint = joint_of(replace(MOTOR, limits=limits))
    for qd in (0.0, 0.4, -0.4):  # back-EMF 0.96 V, either way
        given = driven(joint, "voltage", sign * 25.0, 0.0, qd)
        assert math.isclose(given.current, sign * 3.0, rel_tol=1e-15)
        assert math.isclose(given.motor, -40.0 * 0.05 * sign * 3.0, rel_tol=1e-15)
        assert math.isclose(given.voltage, 0.8 * sign * 3.0 - 0.06 * 40.0 * qd, rel_tol=1e-14)
        assert given.power == given.voltage * given.current


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_brushes_take_their_share_of_the_lowered_voltage(sign):
    joint = joint_of(replace(MOTOR, brush_drop=BRUSHES, limits=MotorLimits(current=3.0)))
    volts = sign * driven(joint, "voltage", sign * 25.0, 0.0, 0.0).voltage
    assert math.isclose(volts - 0.9 * (1.0 - 2.0 ** (-volts / 0.5)), 0.8 * 3.0, rel_tol=1e-12)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_shorted_terminals_brake_with_no_more_than_the_limit_of_current(sign):
    joint = joint_of(replace(MOTOR, limits=MotorLimits(voltage=24.0, current=3.0)))
    for qd, current in ((0.5, 1.5), (1.5, 3.0)):  # back-EMF 1.2 and 3.6 V through 0.8 ohm
        braking = driven(joint, "voltage", 0.0, 0.0, sign * qd)
        assert math.isclose(braking.current, sign * current, rel_tol=1e-14)  # the gear reverses
        assert braking.motor * sign < 0
        left = -0.06 * 40.0 * qd + 0.8 * current  # of the back-EMF the amplifier has to leave this on the terminals
        assert math.isclose(braking.voltage, sign * left, rel_tol=1e-14, abs_tol=1e-15)


@pytest.mark.parametrize("output", ["voltage", "torque"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_shaft_limits_the_torque(output, sign):
    m = replace(MOTOR, limits=MotorLimits(torque=0.1))
    given = driven(joint_of(m), output, sign * 99.0, 0.0, 0.0)
    assert math.isclose(abs(given.motor), 0.1 * 40, rel_tol=1e-15)
    assert math.isclose(abs(given.current), 0.1 / 0.05, rel_tol=1e-15)
    assert math.isclose(abs(given.voltage), 0.8 * 0.1 / 0.05, rel_tol=1e-14)
    assert given.motor * sign * (m.gear if output == "voltage" else 1) > 0


def test_a_drive_without_a_torque_constant_keeps_its_limits_of_torque_and_speed():
    bare = joint_of(Motor(gear=-40.0, limits=MotorLimits(torque=0.1, speed=80.0)))
    for sign in (1.0, -1.0):
        assert math.isclose(driven(bare, "torque", sign * 99.0, 0.0, 0.0).motor, sign * 4.0, rel_tol=1e-15)
        assert driven(bare, "torque", sign * 99.0, 0.0, sign * 2.1).motor == 0.0
        assert driven(bare, "torque", -sign * 2.0, 0.0, sign * 2.1).motor == -sign * 2.0


@pytest.mark.parametrize("gear", [40.0, -40.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("output", ["voltage", "torque"])
def test_at_its_greatest_speed_a_motor_is_not_driven_further_but_may_brake(gear, sign, output):
    m = replace(MOTOR, gear=gear, limits=MotorLimits(speed=80.0))
    joint, way = joint_of(m), math.copysign(1.0, gear) if output == "voltage" else 1.0
    for speed, blocked in ((79.999, False), (80.0, True), (95.0, True)):
        qd = sign * speed / 40.0
        ahead, back = (driven(joint, output, way * sign * u, 0.0, qd) for u in (20.0, -20.0))
        assert (ahead.motor == 0.0) == (ahead.current == 0.0) == blocked
        assert ahead.motor * sign >= 0.0
        assert back.motor * sign < 0.0
        if blocked:  # the rotor turns freely: a voltmeter shows its back-EMF
            assert math.isclose(ahead.voltage, m.Ke * gear * qd, rel_tol=1e-15)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_a_motor_that_runs_away_stays_at_its_greatest_speed_within_a_step(method):
    m = Motor(Kp=0.05, Ke=0.05, Ra=0.8, gear=40.0, limits=MotorLimits(speed=80.0))
    dt = 1e-3
    plant = Plant(wheel(m), command("torque", 3.0), method=method)
    state, step = plant.initial_state([0.0], [0.0]), compiled_step(plant, dt)
    for k in range(1000):
        state = step(k * dt, state)
    assert 80 / 40 - 3.0 / J * dt <= state[1] <= 80 / 40 + 3.0 / J * dt * (1 + 1e-9)


# ---- all limits together ----


def test_the_torque_speed_curve_of_a_limited_motor_has_its_corners():
    # flat at the current limit, then down the line of the full voltage to the no-load speed, both ways of asking
    m = Motor(Kp=0.05, Ke=0.05, Ra=0.8, limits=MotorLimits(voltage=24.0, current=10.0))
    corner, no_load = (24 - 8.0) / 0.05, 24 / 0.05
    for speed, expected in (
        (0.0, 0.5),
        (corner * 0.99, 0.5),
        (corner, 0.5),
        ((corner + no_load) / 2, 0.25),
        (no_load, 0.0),
    ):
        by_voltage = driven(joint_of(m), "voltage", 99.0, 0.0, speed).motor
        by_torque = driven(joint_of(m), "torque", 99.0, 0.0, speed).motor
        assert math.isclose(by_voltage, expected, rel_tol=1e-12, abs_tol=1e-14)
        assert math.isclose(by_torque, expected, rel_tol=1e-12, abs_tol=1e-14)


@pytest.mark.parametrize("output", ["voltage", "torque"])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_driven_beyond_its_no_load_speed_a_motor_gives_back_what_its_supply_cannot_hold_off(output, sign):
    # the current is at its limit, 10 A, while the supply can keep it there, and (24 V - back-EMF) / Ra beyond
    joint = joint_of(replace(SAME, limits=MotorLimits(voltage=24.0, current=10.0)))
    for speed, current, volts in (
        (480.0 + 160.0 * 0.9, -10.0, 0.05 * (480.0 + 160.0 * 0.9) - 8.0),
        (480.0 + 160.0, -10.0, 24.0),
        (480.0 + 160.0 * 1.5, -15.0, 24.0),
    ):
        braking = driven(joint, output, -sign * 99.0, 0.0, sign * speed)
        assert math.isclose(braking.current, sign * current, rel_tol=1e-13)
        assert math.isclose(braking.voltage, sign * volts, rel_tol=1e-13)
        assert braking.motor == 0.05 * braking.current
    for u in (99.0, 0.0, -99.0):  # whatever it is told
        assert math.isclose(driven(joint, output, u, 0.0, sign * 720.0).current, -sign * 15.0, rel_tol=1e-13)


@pytest.mark.parametrize("brushes", [None, BRUSHES])
@pytest.mark.parametrize("gear", [1.0, -40.0])
@pytest.mark.parametrize("limits", SUBSETS, ids=lambda limits: "-".join(limits) or "none")
@pytest.mark.handful(6)
def test_current_torque_voltage_and_power_agree_whatever_limits_act(limits, gear, brushes):
    m = replace(SAME, gear=gear, brush_drop=brushes, limits=MotorLimits(**limits))
    inf = math.inf
    most = min(limits.get("current", inf), limits.get("torque", inf) / m.Kp)
    full = dc.behind_brushes(m, limits["voltage"]) if "voltage" in limits else inf
    for speed, output, u in product(SPEEDS, ["voltage", "torque"], [60.0, 20.0, 2.0, 0.0, -2.0, -20.0, -60.0]):
        back = m.Ke * speed
        got = driven(joint_of(m), output, u, 0.0, speed / gear)
        i, volts = got.current, got.voltage
        assert math.isclose(got.motor, gear * m.Kp * i, rel_tol=1e-14)
        inside = dc.behind_brushes(m, volts)  # 1e-9: Newton's method through the brushes
        assert math.isclose(inside, m.Ra * i + back, rel_tol=1e-9, abs_tol=1e-9)
        assert abs(volts) <= limits.get("voltage", inf)
        forced = max(0.0, back - full) / m.Ra  # braking current that no voltage of the supply prevents
        assert -max(most, forced) * (1 + 1e-14) <= i <= most
        if speed >= limits.get("speed", inf):
            assert i <= 0.0
        mirrored = driven(joint_of(m), output, -u, 0.0, -speed / gear)
        assert (mirrored.motor, mirrored.current, mirrored.voltage) == (-got.motor, -i, -volts)
        heat = m.Ra * i * i + (volts - inside) * i
        assert math.isclose(got.power, heat + got.motor * speed / gear, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("limits", SUBSETS, ids=lambda limits: "-".join(limits) or "none")
@pytest.mark.handful(4)
def test_the_torque_that_a_limited_voltage_gives_is_given_when_it_is_asked_for(limits):
    m = replace(MOTOR, brush_drop=BRUSHES, limits=MotorLimits(**limits))
    joint = joint_of(m)
    for speed, u in product(SPEEDS, [60.0, 20.0, 2.0, 0.0, -2.0, -20.0, -60.0]):
        by_voltage = driven(joint, "voltage", u, 0.0, speed / m.gear)
        by_torque = driven(joint, "torque", by_voltage.motor, 0.0, speed / m.gear)
        assert math.isclose(by_torque.motor, by_voltage.motor, rel_tol=1e-13)
        assert math.isclose(by_torque.current, by_voltage.current, rel_tol=1e-13)
        if abs(by_voltage.current) > 1e-9:  # brushes: without a current any small voltage is right
            assert math.isclose(by_torque.voltage, by_voltage.voltage, rel_tol=1e-9)


@pytest.mark.parametrize("limits", SUBSETS, ids=lambda limits: "-".join(limits) or "none")
def test_a_voltage_that_no_limit_lowers_stands_at_the_terminals_to_the_bit(limits):
    joint = joint_of(replace(MOTOR, brush_drop=BRUSHES, limits=MotorLimits(**limits)))
    for u, speed in ((5.0, 60.0), (-5.0, -30.0), (0.0, 20.0), (3.7, 0.0)):
        free = driven(joint_of(replace(MOTOR, brush_drop=BRUSHES)), "voltage", u, 0.0, speed / -40.0)
        assert driven(joint, "voltage", u, 0.0, speed / -40.0) == free
        assert free.voltage == u


def test_a_torque_within_all_limits_is_given_as_it_is_asked_for():
    m = Motor(Kp=0.05, Ke=0.05, Ra=0.8, gear=-40.0, brush_drop=BRUSHES, limits=MotorLimits(24.0, 10.0, 0.4, 300.0))
    for tau in (5.0, -12.0, 0.0):
        assert math.isclose(driven(joint_of(m), "torque", tau, 0.0, 0.5).motor, tau, rel_tol=1e-14)
    asked = driven(joint_of(m), "torque", 5.0, 0.0, 0.5)
    given = driven(joint_of(m), "voltage", asked.voltage, 0.0, 0.5)
    assert math.isclose(given.motor, 5.0, rel_tol=1e-12)  # the voltage it reports is one that does it


# ---- with an inductance ----


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.handful(1)
def test_a_current_rises_under_the_full_voltage_and_is_then_held_at_its_limit(sign):
    m = replace(MOTOR, inductance=2e-3, coulomb=DRY, brush_drop=BRUSHES, limits=MotorLimits(current=3.0))
    dt = 2e-5
    final = dc.behind_brushes(m, 24.0) / 0.8
    reached = -m.inductance / m.Ra * math.log1p(-3.0 / final)
    rows = torques(m, sign * 24.0, 60, dt)
    for k, row in enumerate(rows):
        assert row.motor == m.gear * (m.Kp * row.current)
        if k * dt < reached:
            assert math.isclose(sign * row.current, final * -math.expm1(-k * dt * 0.8 / 2e-3), rel_tol=1e-12)
            assert row.voltage == sign * 24.0
        else:  # not a bit off in any row: the amplifier does not flicker
            assert row.current == sign * 3.0
            assert row.voltage == sign * dc.voltage_for(m, 3.0, 0.0)
    assert 5 * dt < reached < 50 * dt


@pytest.mark.slow
def test_a_limited_current_through_a_coil_falls_as_soon_as_the_voltage_does():
    # it does not first wind down from what it would have been without the limit
    m = replace(MOTOR, inductance=2e-3, coulomb=DRY, limits=MotorLimits(current=3.0))
    dt = 1e-4
    rows = torques(m, 24.0, 201, dt)
    assert rows[-1].current == 3.0
    after = torques(m, -24.0, 2, dt, current=3.0)
    assert after[0].voltage == -24.0
    assert math.isclose(after[1].current, -30 + 33 * math.exp(-dt * m.Ra / m.inductance), rel_tol=1e-13)
    exact = [min(30 * -math.expm1(-n * dt * m.Ra / m.inductance), 3.0) for n in range(5)]
    assert all(math.isclose(row.current, i, rel_tol=1e-13) for row, i in zip(rows, exact, strict=False))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.handful(1)
def test_a_supply_brings_the_current_of_a_coil_to_its_limit_no_faster_than_it_can(sign):
    # 9 A in the coil and an amplifier for 3: with 24 V at most it takes the current down along an exponential to -30 A
    m = replace(MOTOR, inductance=2e-3, coulomb=DRY, limits=MotorLimits(voltage=24.0, current=3.0))
    dt = 1e-5
    rows = torques(m, sign * 20.0, 60, dt, current=sign * 9.0)
    for k, row in enumerate(rows):
        assert math.isclose(sign * row.current, max(3.0, -30.0 + 39.0 * math.exp(-k * dt * 400.0)), rel_tol=1e-12)
    assert rows[-1].current == sign * 3.0
    assert rows[30].current * sign > 3.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.handful(1)
def test_beyond_its_no_load_speed_a_coil_settles_at_the_current_that_the_supply_cannot_hold_off(sign):
    m = replace(MOTOR, inductance=2e-3, viscous=0.0, limits=MotorLimits(voltage=24.0, current=3.0))
    fly = replace(wheel(m).joints[0], inertia=Inertia(0.0, ZERO, Symmetric(zz=1e9)))  # nothing slows it
    plant = Plant(Arm("fly", ZERO, Pose(), (fly,)), command("voltage", 0.0), method="rk4")
    speed = -sign * 600.0 / 40.0  # of the joint; back-EMF 36 V
    state, step = plant.initial_state([0.0], [speed]), compiled_step(plant, 5e-5)
    for k in range(400):
        state = step(k * 5e-5, state)
    row = plant.motion(0.0, state)[2][0]
    assert math.isclose(row.current, sign * (24.0 - 36.0) / 0.8, rel_tol=1e-3)  # 8 time constants: exp(-8)
    assert row.voltage == sign * 24.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.handful(1)
def test_at_its_greatest_speed_a_coil_loses_its_current_and_shows_the_back_emf(sign):
    m = replace(MOTOR, inductance=2e-3, viscous=0.0, limits=MotorLimits(voltage=24.0, speed=80.0))
    fly = replace(wheel(m).joints[0], inertia=Inertia(0.0, ZERO, Symmetric(zz=1e9)))
    plant = Plant(Arm("fly", ZERO, Pose(), (fly,)), command("voltage", sign * 24.0), method="rk4")
    state = [*plant.initial_state([0.0], [-sign * 80.0 / 40.0])[:-1], sign * 5.0]
    dt, back = 1e-5, 0.06 * 80.0
    falls = [sign * 5.0]
    for k in range(60):
        state = plant.step(k * dt, state, dt)
        falls.append(state[-1])
    settled = -(24.0 + back) / 0.8  # where full reverse voltage would take it
    for k, i in enumerate(falls):
        assert math.isclose(
            sign * i, max(0.0, settled + (5.0 - settled) * math.exp(-k * dt * 400.0)), rel_tol=1e-6, abs_tol=1e-12
        )
    row = plant.motion(0.0, state)[2][0]
    assert (row.current, row.motor) == (0.0, 0.0)
    assert math.isclose(row.voltage, sign * back, rel_tol=1e-6)
