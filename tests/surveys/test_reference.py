"""The event-driven reference against closed forms, laws and itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import expm

from .cases import FAMILIES, Case, case
from .newton_euler import Chain
from .reference import growth, solve, truth

TIGHT = 1e-11  # DOP853 at rtol 1e-12, over a second


def slider(
    mass: float = 1.0, pull: float = 0.0, start=(0.0, 0.0), duration: float = 1.0, scenario=None, **joint
) -> Case:
    """A mass on a line; `pull` is gravity along it [m/s²]."""
    still = {f"{c}{c}": 1.0 for c in "xyz"}
    body = {"inertia": {"mass": mass, "center": [0.0, 0.0, 0.0], "about": "com", **still}}
    listed = [{"name": "P", "type": "prismatic", "mdh": {}, "bodies": [body], **joint}]
    robot = {"gravity": [0.0, 0.0, pull], "joints": listed}
    initial = {"q": [start[0]], "qd": [start[1]]}
    return Case("slider", 0, {"robot": robot, "duration": duration, "initial": initial, **(scenario or {})})


def end(of: Case) -> tuple[float, float]:
    """Position and velocity at the end."""
    made = truth(of)
    return made.q[-1, 0], made.qd[-1, 0]


# ---- dry friction ----


def test_a_slider_stops_where_coulomb_friction_has_taken_its_energy_and_stays():
    q, v = end(slider(2.0, start=(0.1, 1.5), friction={"coulomb": 6.0}))
    assert q == pytest.approx(0.1 + 1.5**2 / (2 * 6.0 / 2.0), abs=TIGHT)
    assert v == 0.0


@pytest.mark.parametrize("way", ["positive", "negative"])
def test_a_slider_breaks_away_when_a_growing_push_equals_friction(way):
    sign = 1 if way == "positive" else -1
    pushed = {"inputs": {"torque": [f"{sign * 5}*t"]}, "duration": 1.5}
    made = truth(slider(friction={"coulomb": {"positive": 9.0, "negative": 9.0, way: 3.0}}, scenario=pushed))
    assert made.q[-1, 0] == pytest.approx(sign * 5 * (1.5 - 0.6) ** 3 / 6, abs=TIGHT)
    (t, kind) = made.events[0]
    assert (t, kind) == (pytest.approx(0.6, abs=1e-13), "slip")


def test_a_push_that_friction_holds_moves_nothing():
    assert end(slider(pull=-2.0, friction={"coulomb": 3.0})) == (0.0, 0.0)


def test_a_slider_that_turns_round_slides_back_under_what_pulls_it():
    q, v = end(slider(pull=-5.0, start=(0.0, 1.4994), friction={"coulomb": 1.0}))
    up = 1.4994 / 6.0
    assert v == pytest.approx(-4.0 * (1.0 - up), abs=TIGHT)
    assert q == pytest.approx(1.4994 * up / 2 - 2.0 * (1.0 - up) ** 2, abs=TIGHT)


def test_gear_losses_take_their_share_of_what_the_motor_gives_and_of_what_holds_it_back():
    lossy = {"gear": 20.0, "efficiency": 0.7}
    for torque, net in ((10.0, 7.0), (-10.0, -13.0)):
        driven = slider(2.0, start=(0.0, 4.0), duration=0.5, scenario={"inputs": {"torque": [torque]}}, motor=lossy)
        assert end(driven)[1] == pytest.approx(4.0 + 0.5 * net / 2.0, abs=TIGHT)


# ---- stops ----


def test_a_damped_stop_lets_go_where_its_damper_would_pull():
    k, d, v0 = 400.0, 12.0, 1.3
    limits = {"lower": -9.0, "upper": 0.2, "stiffness": k, "damping": d}
    made = truth(slider(start=(0.0, v0), limits=limits))
    zeta, wd = d / 2, math.sqrt(k - d**2 / 4)  # of one kilogram
    # depth = v0/wd exp(-zeta t) sin(wd t), k depth + d rate = 0
    tau = (math.pi - math.atan2(d * wd, k - d * zeta)) / wd
    swing = math.exp(-zeta * tau) * v0
    depth, rate = swing / wd * math.sin(wd * tau), swing * (math.cos(wd * tau) - zeta / wd * math.sin(wd * tau))
    assert [kind for _, kind in made.events] == ["stop", "release", "stop"]
    assert [t for t, _ in made.events[:2]] == pytest.approx([0.2 / v0, 0.2 / v0 + tau], abs=1e-12)
    assert made.qd[-1, 0] == pytest.approx(rate, abs=TIGHT)
    assert made.q[-1, 0] == pytest.approx(0.2 + depth + rate * (1.0 - 0.2 / v0 - tau), abs=TIGHT)


def test_a_weight_on_a_spring_of_a_stop_bounces_with_the_period_of_flight_and_half_swing():
    k, g, v0 = 900.0, 9.0, 1.8
    limits = {"lower": 0.0, "upper": 99.0, "stiffness": k}
    flight = 2 * v0 / g
    wn = math.sqrt(k)
    contact = (2 * math.pi - 2 * math.atan2(v0 * wn, g)) / wn
    bounced = slider(pull=-g, start=(0.0, v0), duration=3 * (flight + contact), limits=limits)
    assert end(bounced) == (pytest.approx(0.0, abs=10 * TIGHT), pytest.approx(v0, abs=10 * TIGHT))


# ---- motors ----


def test_a_motor_at_its_limit_of_speed_gives_what_keeps_that_speed():
    motor = {"gear": 10.0, "limits": {"speed": 5.0}}
    q, v = end(slider(2.0, scenario={"inputs": {"torque": ["4"]}}, motor=motor))
    assert v == 0.5
    assert q == pytest.approx(0.5 - 0.5 * 0.5**2 / 2.0, abs=TIGHT)


def test_a_load_drives_a_motor_beyond_its_limit_of_speed_and_only_the_load_does():
    motor = {"gear": 10.0, "limits": {"speed": 5.0}}
    v = end(slider(2.0, pull=3.0, scenario={"inputs": {"torque": ["4"]}}, motor=motor))[1]
    assert v == pytest.approx(0.5 + 3.0 * (1.0 - 0.1), abs=TIGHT)


def test_a_motor_turned_beyond_its_limit_of_speed_brakes_and_its_gear_with_it():
    motor = {"gear": 10.0, "efficiency": 0.6, "limits": {"speed": 5.0}}
    braked = slider(2.0, start=(0.0, 3.0), duration=0.5, scenario={"inputs": {"torque": ["-4"]}}, motor=motor)
    assert end(braked)[1] == pytest.approx(3.0 - 4.0 * 1.4 / 2.0 * 0.5, abs=TIGHT)


def test_a_supply_takes_away_current_as_the_back_emf_grows():
    # 2 A by the limit of current until (12 - 3 v)/1.5 is less, then a decay to 4 m/s
    motor = {"Kp": 0.1, "Ra": 1.5, "gear": 30.0, "limits": {"current": 2.0, "voltage": 12.0}}
    _, v = end(slider(3.0, scenario={"inputs": {"voltage": ["20"]}}, duration=2.0, motor=motor))
    knee, rate = 3.0 / 2.0, 9.0 / 1.5 / 3.0
    assert v == pytest.approx(4.0 - (4.0 - 3.0) * math.exp(-rate * (2.0 - knee)), abs=TIGHT)


def test_an_inductive_motor_is_a_linear_system_of_second_order():
    motor = {"Kp": 0.1, "Ke": 0.12, "Ra": 1.5, "gear": -30.0, "inductance": 0.06}
    made = truth(slider(3.0, scenario={"inputs": {"voltage": ["7"]}}, motor=motor))
    A = np.array([[0, 1, 0, 0], [0, 0, -3.0 / 3.0, 0], [0, 3.6 / 0.06, -1.5 / 0.06, 7.0 / 0.06], [0, 0, 0, 0]])
    assert made.states[-1] == pytest.approx((expm(A) @ [0.0, 0.0, 0.0, 1.0])[:3], abs=TIGHT)


def test_an_inductive_current_at_its_limit_stays_there_until_the_voltage_is_less():
    # a rotor too heavy to turn; at 8 V the current would settle at 4 A
    motor = {"Kp": 0.1, "Ra": 2.0, "inductance": 0.2, "limits": {"current": 1.0}}
    turned = {"inputs": {"voltage": ["max(8 - 10*t, 0)"]}, "duration": 0.7}
    made = truth(slider(1e9, scenario=turned, motor=motor))
    assert made.kinds["clamp"] == 2
    # held until 8 - 10 t = 2, at 0.6 s; then di/dt = (8 - 10 t)/L - i Ra/L
    past = 0.1
    assert made.states[-1, 2] == pytest.approx(1.0 - 5 * past + 0.5 * (1 - math.exp(-10 * past)), abs=1e-9)


def test_brushes_take_all_of_a_voltage_below_their_knee():
    motor = {"Kp": 1.0, "Ra": 2.0, "brush_drop": {"max": 2.0, "half": 0.5}}
    ramp = {"inputs": {"voltage": ["3*t"]}}
    made = truth(slider(1e6, scenario=ramp, motor=motor))
    ((t, kind),) = made.events
    assert kind == "brushes"
    assert 3 * t == pytest.approx(2.0 * (1 - 2 ** (-3 * t / 0.5)), abs=1e-12)
    assert truth(slider(1e6, scenario=ramp, motor=motor, duration=round(t, 2))).qd[-1, 0] == pytest.approx(
        0.0, abs=1e-10
    )


# ---- the arm ----


def test_mass_matrix_and_bias_are_those_of_the_planar_two_link_arm():
    # Craig, section 6.7, with point masses at the links' ends
    l1, l2, m1, m2, g = 0.5, 0.3, 2.0, 1.5, 9.81

    def link(name: str, a: float, mass: float, at: float):
        body = {"inertia": {"mass": mass, "center": [at, 0.0, 0.0], "about": "com", "xx": 0.0, "yy": 0.0, "zz": 0.0}}
        return {"name": name, "type": "revolute", "mdh": {"a": a}, "bodies": [body]}

    chain = Chain({"gravity": [0.0, -g, 0.0], "joints": [link("A", 0.0, m1, l1), link("B", l1, m2, l2)]})
    (q1, q2), (v1, v2) = (0.4, -0.9), (1.3, -0.7)
    M, h = chain.equations([q1, q2], [v1, v2])
    c2, s2 = math.cos(q2), math.sin(q2)
    m12 = l2**2 * m2 + l1 * l2 * m2 * c2
    assert np.allclose(
        M, [[l2**2 * m2 + 2 * l1 * l2 * m2 * c2 + l1**2 * (m1 + m2), m12], [m12, l2**2 * m2]], rtol=1e-14
    )
    falls = m2 * l2 * g * math.cos(q1 + q2)
    expected = [-m2 * l1 * l2 * s2 * (v2**2 + 2 * v1 * v2) + falls + (m1 + m2) * l1 * g * math.cos(q1)]
    assert np.allclose(h, [*expected, m2 * l1 * l2 * s2 * v1**2 + falls], rtol=1e-14)


@pytest.mark.parametrize("seed", [2, 9, 20, 21, 23])  # of three joints, in several orders of turning and sliding
@pytest.mark.handful(1)
def test_an_arm_that_nothing_damps_or_drives_keeps_its_energy_and_without_gravity_its_first_momentum(seed):
    # M and h together, by laws that neither was written from; gyroscopic moments do no work, but change the momentum
    scenario = case("smooth", seed).scenario
    joints = [{**joint, "friction": {}} for joint in scenario["robot"]["joints"]]
    for gravity in (scenario["robot"]["gravity"], [0.0, 0.0, 0.0]):
        robot = {"gravity": gravity, "joints": joints}
        made = truth(Case("free", seed, {"robot": robot, "initial": scenario["initial"], "duration": 1.0}), [0.0])
        chain = Chain(robot)
        before, after = (chain.energy(q, qd) for q, qd in zip(made.q, made.qd))
        assert after == pytest.approx(before, abs=1e-10)
    before, after = (np.dot(chain.equations(q, qd)[0][0], qd) for q, qd in zip(made.q, made.qd))
    assert after == pytest.approx(before, abs=1e-10)


def test_forces_on_a_link_do_work_as_they_move():
    still = {"xx": 0.1, "yy": 0.1, "zz": 0.1}
    body = {"inertia": {"mass": 1.0, "center": [0.0, 0.0, 0.0], "about": "com", **still}}
    robot = {"gravity": [0, 0, 0], "joints": [{"name": "A", "type": "revolute", "mdh": {}, "bodies": [body]}]}
    push = {"link": "A", "point": [0.5, 0, 0], "force": [0, 2.0, 0], "axes": "local", "from": 0.2, "to": 0.7}
    made = truth(
        Case("push", 0, {"robot": robot, "initial": {"q": [0.3], "qd": [0.0]}, "duration": 1.0, "external": [push]})
    )
    assert made.qd[-1, 0] == pytest.approx(10.0 * 0.5, abs=TIGHT)
    turned = {**push, "axes": "world", "from": 0.0, "to": 1.0}
    made = truth(
        Case("push", 0, {"robot": robot, "initial": {"q": [0.3], "qd": [0.0]}, "duration": 1.0, "external": [turned]})
    )
    work = 2.0 * 0.5 * (math.sin(made.q[-1, 0]) - math.sin(0.3))
    assert 0.5 * 0.1 * made.qd[-1, 0] ** 2 == pytest.approx(work, abs=TIGHT)


# ---- the scenarios ----


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.handful(4)
def test_events_happen_in_every_family_and_methods_of_scipy_agree_on_them(family):
    made = case(family, 1)
    coarse, fine = solve(made, 1e-4, "RK45"), solve(made, 1e-8, "DOP853")
    assert bool(fine.kinds) == (family != "smooth")
    assert np.abs(coarse.states[-1, : 2 * fine.n] - fine.states[-1, : 2 * fine.n]).max() < 100 * 1e-4


def test_perturbations_of_a_damped_slider_shrink_and_of_an_unstable_one_grow():
    assert growth(slider(friction={"viscous": 5.0}, start=(0.0, 1.0))) < 1.5
    pushed = slider(scenario={"control": {"law": "pd", "output": "torque", "kp": [-25.0], "target": [0.0]}})
    assert growth(pushed) == pytest.approx(math.cosh(5) + math.sinh(5) / 5, rel=1e-3)  # both perturbations of one sign
