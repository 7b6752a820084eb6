"""What motors behind elastic couplings do for a motion of the joints, against closed forms and the motion that follows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

import armsim
from armsim import ShapeError, UsageError
from armsim.actuation import coupling_torque
from armsim.plant.stiction import accelerations
from tests.steps import compiled

MASS, LEVER, G, K, GEAR, ROTOR, VISCOUS = 1.5, 0.4, 9.81, 800.0, 20.0, 2e-4, 0.3
ARMATURE, LINK = GEAR**2 * ROTOR, MASS * LEVER**2


def part(name, gear=GEAR, k=K, friction=None, **coupling):
    motor = {"Kp": 0.1, "Ra": 1, "gear": gear, "rotor_inertia": ROTOR, "viscous": 1e-4, "coulomb": 2e-3}
    return {
        "name": name,
        "type": "revolute",
        "mdh": {"a": LEVER} if name != "A" else {},
        "bodies": [{"point": {"mass": MASS, "center": [LEVER, 0, 0]}}],
        "friction": {"viscous": VISCOUS, **(friction or {})},
        "motor": {**motor, "coupling": {"stiffness": k, **coupling}},
    }


def robot(*parts):
    given = {"format": "armsim/robot/1", "name": "arm", "gravity": [0, -G, 0], "joints": [*parts]}
    return armsim.load_robot(given)


def swing(t, order, size=0.5, pace=3.0, phase=0.4):
    """The derivative of a sine, of any order."""
    return size * pace**order * np.sin(pace * t + phase + order * math.pi / 2)


def test_motors_behind_springs_do_what_the_closed_form_says():
    t = np.linspace(0.0, 1.5, 40)
    q, qd, qdd, jerk, snap = (swing(t, order) for order in range(5))
    found = robot(part("A")).motor_motion(*(x[:, None] for x in (q, qd, qdd, jerk, snap)))
    weight = MASS * G * LEVER
    sine, cosine = np.sin(q), np.cos(q)
    torque = LINK * qdd + VISCOUS * qd + weight * cosine
    rate = LINK * jerk + VISCOUS * qdd - weight * sine * qd
    second = LINK * snap + VISCOUS * jerk - weight * (cosine * qd**2 + sine * qdd)
    speed = qd + rate / K
    motor = torque + ARMATURE * (qdd + second / K) + GEAR**2 * 1e-4 * speed + GEAR * 2e-3 * np.sign(speed)
    wanted = (q + torque / K, speed, motor, torque)
    for x, y in zip((found.q, found.qd, found.torque, found.coupling), wanted, strict=True):
        assert x[:, 0] == pytest.approx(y, rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("damping", [0.0, 0.6])
@pytest.mark.handful(1)
def test_an_arm_follows_its_motion_under_the_torques_of_its_motors(damping):
    given = [part("A", 10.0, 900.0, damping=damping), part("B", -15.0, 500.0, damping=damping)]
    for one in given:
        del one["motor"]["coulomb"]
    arm, t = robot(*given), np.linspace(0.0, 0.4, 401)
    motion = [np.array([swing(t, k), swing(t, k, -0.4, 4.0, 1.0)]).T for k in range(5)]
    found = arm.motor_motion(*motion, t=t)
    moving, torque = arm.arm.mechanism, CubicSpline(t, found.torque)

    def law(*x):
        q, v, drives = x[:4], x[4:8], x[8:]
        passed = [
            coupling_torque(joint.coupling, q[2 + i] - q[i], v[2 + i] - v[i]) for i, joint in enumerate(arm.arm.joints)
        ]
        return [*v, *accelerations(moving, [*q], [*v], [*passed, drives[0] - passed[0], drives[1] - passed[1]])]

    rates = compiled(law, [f"x{i}" for i in range(10)])

    start = [*motion[0][0], *found.q[0], *motion[1][0], *found.qd[0]]
    ran = solve_ivp(lambda s, x: rates(*x, *torque(s)), (0.0, t[-1]), start, method="DOP853", rtol=1e-10, atol=1e-12)
    error = np.abs(ran.y[:4, -1] - [*motion[0][-1], *found.q[-1]]).max()
    assert error < (1e-10 if damping == 0.0 else 1e-8)  # with damping second derivatives are straight between rows


def test_stiff_couplings_tend_to_the_rigid_arm_at_first_order():
    motion = [np.array([0.3, -0.2]), np.array([1.0, 2.0]), np.array([3.0, -1.0]), np.ones(2), np.ones(2)]
    arms = [robot(part("A", k=k), part("B", k=k)) for k in (1e6, 1e7)]
    rigid = arms[0].inverse_dynamics(*motion[:3])
    errors = [np.abs(arm.motor_motion(*motion).torque - rigid) for arm in arms]
    assert errors[0] / errors[1] == pytest.approx([10.0, 10.0], rel=1e-3)


@pytest.mark.parametrize("coupling", [{"damping": 0.5}, {"damping": 0.5, "backlash": 0.01}])
@pytest.mark.handful(1)
def test_at_rest_rotors_stand_where_a_run_begins(coupling):
    arm = robot(part("A", **coupling), part("B", friction={"coulomb": 0.4}, **coupling))
    found = arm.motor_motion([0.3, -1.0])
    given = {"format": "armsim/scenario/1", "robot": arm.document, "duration": 0.01, "initial": {"q": [0.3, -1.0]}}
    run = armsim.simulate({**given, "integrator": {"method": "rk4", "dt": 1e-3}})
    assert found.q == pytest.approx([run["q_motor_A_rad"][0], run["q_motor_B_rad"][0]], abs=1e-15)
    assert found.torque == pytest.approx(arm.inverse_dynamics([0.3, -1.0]), rel=1e-13)


@pytest.mark.parametrize("change", [{"backlash": 0.01}, {"friction": {"coulomb": 0.4}}, {"damping": 0.5}])
def test_a_coupling_whose_rotor_the_motion_does_not_decide_is_rigid(change):
    arm, q, qd, qdd = robot(part("A", **change)), [0.3], [1.0], [2.0]
    found = arm.motor_motion(q, qd, qdd)
    assert found.q == q
    assert found.torque == pytest.approx(arm.inverse_dynamics(q, qd, qdd), rel=1e-13)


def test_a_damped_twist_forgets_how_it_began():
    t = np.linspace(0.0, 1.0, 501)
    motion = [swing(t, order)[:, None] for order in range(5)]
    arm = robot(part("A", damping=20.0))
    whole, late = (arm.motor_motion(*(x[k:] for x in motion), t=t[k:]) for k in (0, 100))
    assert np.abs(late.q - whole.q[100:]).max() < 1e-5
    assert np.abs(late.q - whole.q[100:])[-1] < 1e-10


def test_times_that_do_not_fit_are_refused():
    arm, rows = robot(part("A", damping=1.0)), np.zeros((3, 1))
    with pytest.raises(ShapeError, match="t \\(m,\\)"):
        arm.motor_motion(rows, rows, t=[0.0, 1.0])
    with pytest.raises(UsageError, match="increase"):
        arm.motor_motion(rows, rows, t=[0.0, 1.0, 1.0])
