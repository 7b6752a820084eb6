"""The whole DC motor, part by part, against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest

from armsim import expr
from armsim.actuation import driven
from armsim.actuation import motor as dc
from armsim.clock import Clock
from armsim.control import OpenLoop
from armsim.model import Arm, BrushDrop, Coulomb, Joint, Motor
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.runner import Job, Runner
from armsim.spatial import ZERO, Inertia, Pose, Symmetric, Vector, rotation_x

METHODS = ["explicit_euler", "semi_implicit_euler", "rk4"]
J = 0.7  # of the link about the joint's axis [kg m²]
MOTOR = Motor(Kp=0.05, Ke=0.06, Ra=0.8, gear=-40.0, rotor_inertia=2e-5, viscous=3e-5)
BRUSHES = BrushDrop(max=0.9, half=0.5)
SLIGHTLY = 1e-12  # relative, what the issue asks of breakaway


def wheel(motor: Motor | None, coulomb: Coulomb | None = None, viscous: float = 0.0) -> Arm:
    """One link turning about its axis, without gravity."""
    inertia = Inertia(0.0, ZERO, Symmetric(zz=J))
    return Arm(
        "wheel",
        ZERO,
        Pose(),
        (Joint("J1", "revolute", inertia=inertia, coulomb=coulomb, viscous=viscous, motor=motor),),
    )


def lift(motor: Motor, load: float) -> Arm:
    """A mass on a horizontal axis, held out level: `load` [N·m] at q = 0, with gravity pulling q down."""
    joint = Joint(
        "J1",
        "revolute",
        rotation_x(math.pi / 2),
        inertia=Inertia(1.0, Vector(1.0, 0.0, 0.0), Symmetric(yy=1.0, zz=1.0)),
        motor=motor,
    )
    return Arm("lift", Vector(0.0, 0.0, -load), Pose(), (joint,))


def volts(value) -> OpenLoop:
    return OpenLoop("voltage", (value if callable(value) else lambda t: value,))


def torque(value: float) -> OpenLoop:
    return OpenLoop("torque", (lambda t: value,))


def go(arm: Arm, command, steps: int, dt: float, qd: float = 0.0, q: float = 0.0, method: str = "rk4", current=None):
    """The state after so many steps; many are made by machine code."""
    plant = Plant(arm, command, method=method)
    state = plant.initial_state([q], [qd])
    if current is not None:
        state[-1] = current
    if steps > 60:
        engine = NativeEngine(LoopPlan.of(plant, dt))
        runner = Runner(engine, Job(engine.plan, Clock(1, round(1 / dt), steps, 1), state))
        assert [*runner.until(steps)][-1] == steps
        return runner.state
    for k in range(steps):
        state = plant.step(k * dt, state, dt)
    return state


def inertia(m: Motor) -> float:
    return J + m.gear**2 * m.rotor_inertia


def damping(m: Motor) -> float:
    return m.gear**2 * (m.Kp * m.Ke / m.Ra + m.viscous)


# ---- speed ----


@pytest.mark.parametrize("gear", [30.0, -30.0])
@pytest.mark.handful(1)
def test_under_a_voltage_the_speed_rises_as_1_minus_exp_with_tau_J_Ra_over_Kp_Ke(gear):
    m = replace(MOTOR, gear=gear, viscous=0.0, rotor_inertia=0.0, coulomb=Coulomb(0.04, 0.05))
    tau = J / gear**2 * m.Ra / (m.Kp * m.Ke)
    friction = 0.04 if gear > 0 else 0.05  # the joint turns as the gear says
    steady = (12.0 - m.Ra / m.Kp * friction) / (m.Ke * gear)
    for share in (0.3, 1.0, 2.5):
        v = go(wheel(m), volts(12.0), 200, share * tau / 200)[1]
        assert math.isclose(v, steady * -math.expm1(-share), rel_tol=1e-9)  # RK4: (h/tau)^4 / 120 of it


@pytest.mark.parametrize("method", METHODS)
def test_the_steady_speed_balances_brushes_back_emf_and_both_kinds_of_friction(method):
    m = replace(MOTOR, coulomb=Coulomb(0.01, 0.02), brush_drop=BRUSHES)
    arm = wheel(m, Coulomb(0.3, 0.5), viscous=0.2)
    inner = 9.0 - BRUSHES.max * (1 - 2 ** (-9.0 / BRUSHES.half))
    push = m.gear * m.Kp * inner / m.Ra  # negative: the gear reverses
    steady = (push + 40 * 0.02 + 0.5) / (damping(m) + 0.2)
    tau = inertia(m) / (damping(m) + 0.2)
    v = go(arm, volts(9.0), 4000, tau / 100, method=method)[1]  # 40 time constants
    assert steady < 0
    assert math.isclose(v, steady, rel_tol=1e-12)


def test_the_no_load_speed_is_what_the_no_load_current_leaves_of_the_voltage():
    m = Motor(Kp=0.03, Ke=0.03, Ra=0.3, gear=50.0, coulomb=Coulomb(0.004, 0.004))
    no_load_current = 0.004 / 0.03
    expected = (24 - 0.3 * no_load_current) / 0.03 / 50
    tau = J / 50**2 * m.Ra / (m.Kp * m.Ke)
    assert math.isclose(go(wheel(m), volts(24.0), 4000, tau / 100)[1], expected, rel_tol=1e-12)
    at_speed = driven(wheel(m).joints[0], "voltage", 24.0, 0.0, expected)
    assert math.isclose(at_speed.current, no_load_current, rel_tol=1e-12)


@pytest.mark.parametrize("qd", [0.7, -0.7])
@pytest.mark.handful(1)
def test_shorted_terminals_with_friction_stop_the_joint_at_the_closed_form_time(qd):
    # J v' = -d v - c: v = (v0 + c/d) exp(-t d/J) - c/d, zero at t = J/d ln(1 + v0 d/c)
    m = replace(MOTOR, coulomb=Coulomb(0.05, 0.07))
    c, d = 40 * (0.05 if qd > 0 else 0.07), damping(m)
    time = inertia(m) / d * math.log1p(abs(qd) * d / c)
    dt = time / 500.5
    assert go(wheel(m), volts(0.0), 499, dt, qd)[1] * qd > 0
    assert go(wheel(m), volts(0.0), 502, dt, qd)[1] == 0.0


# ---- standing still ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("gear", [40.0, -40.0])
def test_the_breakaway_voltage_is_friction_over_torque_per_volt(method, sign, gear):
    m = replace(MOTOR, gear=gear, coulomb=Coulomb(0.01, 0.02))
    arm = wheel(m, Coulomb(0.3, 0.5))
    up = sign * gear > 0  # the way the joint would turn
    breakaway = sign * ((0.3 + 40 * 0.01) if up else (0.5 + 40 * 0.02)) * m.Ra / (m.Kp * 40)
    held = go(arm, volts(breakaway * (1 - SLIGHTLY)), 5, 1e-3, method=method)
    moved = go(arm, volts(breakaway * (1 + SLIGHTLY)), 5, 1e-3, method=method)
    assert held == [0.0, 0.0]
    assert (moved[1] > 0) == up
    assert moved[1] != 0


def test_brushes_raise_the_breakaway_voltage_by_their_drop():
    m = replace(MOTOR, brush_drop=BRUSHES, coulomb=Coulomb(0.05, 0.05))
    inner = 0.05 * m.Ra / m.Kp
    breakaway = dc.voltage_for(m, 0.05 / m.Kp, 0.0)
    assert math.isclose(breakaway - inner, BRUSHES.max * (1 - 2 ** (-breakaway / BRUSHES.half)), rel_tol=1e-14)
    assert go(wheel(m), volts(breakaway * (1 - 1e-11)), 5, 1e-3) == [0.0, 0.0]  # the drop's own rounding comes in
    assert go(wheel(m), volts(breakaway * (1 + 1e-11)), 5, 1e-3)[1] < 0


def test_the_stall_torque_is_the_current_through_the_resistance_alone():
    m = replace(MOTOR, brush_drop=BRUSHES)
    stalled = driven(wheel(m).joints[0], "voltage", 12.0, 0.0, 0.0)
    inner = 12 - BRUSHES.max * (1 - 2 ** (-12 / BRUSHES.half))
    assert math.isclose(stalled.motor, m.gear * m.Kp * inner / m.Ra, rel_tol=1e-14)
    assert math.isclose(stalled.power, 12.0 * inner / m.Ra, rel_tol=1e-14)


# ---- brushes ----


def test_the_brush_drop_is_max_times_1_minus_2_to_the_minus_V_over_half():
    m = replace(MOTOR, brush_drop=BRUSHES)
    for V in (0.7, 1.0, 5.0, 30.0):
        for sign in (1, -1):
            left = dc.behind_brushes(m, sign * V)
            assert math.isclose(left, sign * (V - 0.9 * (1 - 2 ** (-V / 0.5))), rel_tol=1e-14)
    assert math.isclose(dc.behind_brushes(replace(m, brush_drop=BrushDrop(0.9, 5.0)), 5.0), 5 - 0.45, rel_tol=1e-15)


def test_brushes_never_take_more_than_there_is():
    m = replace(MOTOR, brush_drop=BrushDrop(max=2.0, half=0.2))
    for V in (0.0, 1e-9, 0.1, 1.0):
        assert dc.behind_brushes(m, V) == dc.behind_brushes(m, -V) == 0
    assert dc.behind_brushes(m, 3.0) > 0


@pytest.mark.parametrize(("most", "half"), [(0.5, 0.3), (1.5, 0.3), (0.9, 0.5), (0.3, 2.0), (1.0, 0.01)])
@pytest.mark.parametrize("qd", [0.0, 3.0, -0.4])
def test_the_voltage_for_a_current_drives_that_current_through_the_brushes(most, half, qd):
    m = replace(MOTOR, brush_drop=BrushDrop(most, half))
    for i in (30.0, 2.0, 0.1, 1e-3, -1e-3, -0.5, -30.0):
        V = dc.voltage_for(m, i, qd)
        # 8 rounds of Newton's method; where the slope is nearly zero, the current is right all the same
        assert math.isclose(dc.steady_current(m, V, qd), i, rel_tol=1e-9, abs_tol=1e-9)


def test_no_voltage_stands_at_terminals_without_current_and_speed():
    for brushes in (None, BRUSHES, BrushDrop(2.0, 0.2), BrushDrop(1.0, math.log(2.0))):
        assert dc.voltage_for(replace(MOTOR, brush_drop=brushes), 0.0, 0.0) == 0.0


# ---- inductance ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dt", [1e-5, 1e-3, 0.1])
@pytest.mark.handful(3)
def test_with_the_rotor_locked_the_current_rises_as_1_minus_exp_t_R_over_L_whatever_the_step(method, dt):
    m = replace(MOTOR, inductance=2e-3, coulomb=Coulomb(9.0, 9.0), brush_drop=BRUSHES)  # friction locks it
    final = dc.steady_current(m, 6.0, 0.0)
    for steps in (1, 7):
        q, qd, i = go(wheel(m), volts(6.0), steps, dt, method=method)
        assert (q, qd) == (0.0, 0.0)
        assert math.isclose(i, final * -math.expm1(-steps * dt * m.Ra / m.inductance), rel_tol=1e-13)


def test_a_current_falls_from_where_it_is():
    m = replace(MOTOR, inductance=2e-3, coulomb=Coulomb(9.0, 9.0))
    i = go(wheel(m), volts(0.0), 5, 1e-3, current=4.0)[-1]
    assert math.isclose(i, 4.0 * math.exp(-5e-3 * m.Ra / m.inductance), rel_tol=1e-14)


def test_a_small_inductance_gives_the_motion_without():
    plain, coil = (go(wheel(replace(MOTOR, inductance=L)), volts(6.0), 2000, 1e-5)[1] for L in (None, 1e-7))
    assert math.isclose(plain, coil, rel_tol=1e-3)  # the current comes a step of 10 µs late: 1/2000 of the time
    assert abs(plain) > 0.3


def test_motor_and_coil_together_approach_the_two_exponentials():
    # J v' = k i, L i' = V - R i - k v with k = gear K: roots of s² + s R/L + k²/(J L); the current lags by a step, order 1
    m = Motor(Kp=0.05, Ke=0.05, Ra=0.8, gear=40.0, inductance=4e-3)
    k, R, L = 2.0, 0.8, 4e-3
    root = math.sqrt((R / L) ** 2 - 4 * k * k / (J * L))
    s1, s2 = (-R / L + root) / 2, (-R / L - root) / 2
    t = 0.05
    exact = 6.0 / k * (1 + (s2 * math.exp(s1 * t) - s1 * math.exp(s2 * t)) / (s1 - s2))
    errors = [abs(go(wheel(m), volts(6.0), n, t / n)[1] - exact) for n in (500, 1000, 2000)]
    assert errors[-1] < 1e-3 * exact
    for coarse, fine in pairwise(errors):
        assert abs(math.log2(coarse / fine) - 1) < 0.1


def test_the_current_is_a_state_only_where_a_voltage_drives_a_coil():
    coil = wheel(replace(MOTOR, inductance=1e-3))
    assert Plant(coil, volts(1.0)).slots == ("q_J1", "qd_J1", "current_J1")
    for command in (None, torque(1.0)):
        assert Plant(coil, command).slots == ("q_J1", "qd_J1")
    assert Plant(wheel(MOTOR), volts(1.0)).slots == ("q_J1", "qd_J1")


# ---- the gear's efficiency ----


@pytest.mark.parametrize("gear", [40.0, -40.0])
def test_a_gear_passes_on_its_efficiency_when_driving_and_brakes_when_driven(gear):
    m = replace(MOTOR, gear=gear, efficiency=0.8, rotor_inertia=0.0, viscous=0.0)
    for tau in (5.0, -5.0):
        plant = Plant(wheel(m), torque(tau))
        for qd in (0.3, -0.3):
            qdd = plant.observe(0.0, plant.initial_state([0.0], [qd]))[2]
            share = 0.8 if qd * tau > 0 else 1.2  # 1 - 0.2 helps the motor when it pushes against the motion
            assert math.isclose(J * qdd, share * tau, rel_tol=1e-14)
        assert math.isclose(J * plant.observe(0.0, [0.0, 0.0])[2], 0.8 * tau, rel_tol=1e-14)  # it starts the joint


@pytest.mark.parametrize("method", METHODS)
def test_a_load_is_held_between_lifting_and_lowering_torque(method):
    # lifting: efficiency tau > load; lowering: (2 - efficiency) tau < load
    load, m = 3.0, replace(MOTOR, efficiency=0.8)
    lifts, lowers = load / 0.8, load / 1.2
    for tau, way in (
        (lifts * (1 + SLIGHTLY), 1),
        (lifts * (1 - SLIGHTLY), 0),
        (load, 0),
        (lowers * (1 + SLIGHTLY), 0),
        (lowers * (1 - SLIGHTLY), -1),
        (0.0, -1),
        (-1.0, -1),
    ):
        v = go(lift(m, load), torque(tau), 1, 1e-3, method=method)[1]
        assert (v > 0) - (v < 0) == way
        assert v == 0 or way


def test_without_torque_a_lossy_gear_does_not_brake():
    m = replace(MOTOR, efficiency=0.5, viscous=0.0)
    assert go(wheel(m), torque(0.0), 20, 1e-3, qd=0.4)[1] == 0.4


# ---- one side of the gear or the other ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_friction_of_the_motor_is_friction_of_the_joint_through_the_gear(method):
    gear = -32.0  # a power of two: the same bits on both sides
    plain = Motor(Kp=0.0625, Ke=0.0625, Ra=0.8, gear=gear)
    inside = wheel(replace(plain, coulomb=Coulomb(0.01, 0.02), viscous=3e-5))
    outside = wheel(plain, Coulomb(0.01 * 32, 0.02 * 32), viscous=3e-5 * gear**2)
    for command in (volts(lambda t: expr.where(t < 0.2, 3.0, -2.0)), volts(0.1), None):
        ends = [go(arm, command, 400, 1e-3, qd=0.3, method=method) for arm in (inside, outside)]
        assert ends[0] == ends[1]


def test_a_mirrored_arm_with_mirrored_friction_moves_as_in_a_mirror():
    m = replace(MOTOR, coulomb=Coulomb(0.01, 0.03))
    mirrored = replace(m, gear=-m.gear, coulomb=Coulomb(0.03, 0.01))
    here = go(wheel(m), volts(1.5), 300, 1e-3, qd=0.4)
    there = go(wheel(mirrored), volts(1.5), 300, 1e-3, qd=-0.4)
    assert there == [-x for x in here]
