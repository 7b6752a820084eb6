"""PD, PI and PID control of a unit mass without friction, against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armsim.control import Controller, Kept, Memory, OpenLoop, Seen
from armsim.model import Arm, Joint
from armsim.plant import Plant
from armsim.spatial import ZERO, Inertia, Pose, Vector
from tests.controllers import feedback
from tests.steps import compiled_step

GRAVITY = -3.0


def slide(gravity: float = 0.0) -> Arm:
    """A unit mass on a slide."""
    return Arm("slide", Vector(0.0, 0.0, gravity), Pose(), (Joint("P1", "prismatic", inertia=Inertia(1.0, ZERO)),))


def law(kind="pd", kp=0.0, ki=0.0, kd=0.0, target=0.0, limit=None, integral_limit=None, period=None) -> Controller:
    return feedback(kind, "torque", (kp,), (ki,), (kd,), (target,), (limit,), (integral_limit,), period)


def kept(integral: float) -> Memory:
    return Memory(Kept([integral]))


def integral_rate(controller: Controller, q: float, integral: float) -> float:
    return controller.rates(0.0, Seen([q], [0.0]), kept(integral)).kept.integrals[0]


def follow(plant: Plant, q: float, qd: float, duration: float, steps: int, sample_every: int = 1) -> list[list[float]]:
    state = plant.initial_state([q], [qd])
    states, dt = [state], duration / steps
    step = compiled_step(plant, dt)
    for k in range(steps):
        if plant.sampled and k % sample_every == 0:
            state = plant.sample(k * dt, state)
        state = step(k * dt, state)
        states.append(state)
    return states


# RK4 on linear systems with rates up to 5 1/s and h = 0.005: (5 h)^4 / 120 per unit of time
RK4_ERROR = 1e-8


def test_pd_is_a_damped_spring():
    kp, kd = 25.0, 6.0  # 3 ± 4i
    states = follow(Plant(slide(), law(kp=kp, kd=kd, target=1.0), method="rk4"), 0.0, 0.0, 2.0, 400)
    for k in (50, 200, 400):
        t = 2.0 * k / 400
        expected = 1 - math.exp(-3 * t) * (math.cos(4 * t) + 3 / 4 * math.sin(4 * t))
        assert math.isclose(states[k][0], expected, abs_tol=RK4_ERROR)


def test_pd_droops_by_load_over_gain():
    states = follow(Plant(slide(GRAVITY), law(kp=25.0, kd=10.0), method="rk4"), 0.0, 0.0, 8.0, 800)
    assert math.isclose(states[-1][0], GRAVITY / 25, abs_tol=RK4_ERROR)


@pytest.mark.parametrize("period", [None, 0.01])
@pytest.mark.handful(1)
def test_pid_holds_a_load_without_droop(period):
    controller = law("pid", kp=40.0, ki=60.0, kd=12.0, target=0.5, period=period)
    state = follow(Plant(slide(GRAVITY), controller, method="rk4"), 0.0, 0.0, 10.0, 1000)[-1]
    assert math.isclose(state[0], 0.5, abs_tol=RK4_ERROR)
    assert math.isclose(60.0 * state[2], -GRAVITY, rel_tol=1e-6)  # the integrator alone carries the load


def test_pid_follows_its_closed_form():
    kp, ki, kd = 11.0, 6.0, 6.0  # s³ + 6 s² + 11 s + 6 = (s + 1) (s + 2) (s + 3)
    states = follow(Plant(slide(), law("pid", kp=kp, ki=ki, kd=kd, target=1.0), method="rk4"), 0.0, 0.0, 4.0, 800)
    # error e = 1 - q: e''' + 6 e'' + 11 e' + 6 e = 0 with e = 1, e' = 0, e'' = -11
    a = np.linalg.solve(np.vander([-1.0, -2.0, -3.0], increasing=True).T, [1.0, 0.0, -11.0])
    for k in (100, 400, 800):
        t = 4.0 * k / 800
        assert math.isclose(1 - states[k][0], float(a @ np.exp(np.array([-1.0, -2.0, -3.0]) * t)), abs_tol=RK4_ERROR)
        # the integral of the error, term by term
        integral = float(a @ ((1 - np.exp(np.array([-1.0, -2.0, -3.0]) * t)) / [1.0, 2.0, 3.0]))
        assert math.isclose(states[k][2], integral, abs_tol=RK4_ERROR)


def test_pi_commands_the_error_and_its_integral():
    controller = feedback("pi", "voltage", (2.0, 3.0), (0.5, 4.0), (0.0, 0.0), (1.0, -1.0), (None, None), (None, None))
    seen, memory = Seen([0.25, 1.0], [9.0, 9.0]), Memory(Kept([0.5, 0.125]))
    assert controller.command(0.0, seen, memory) == [2 * 0.75 + 0.25, 3 * -2 + 0.5]
    assert controller.rates(0.0, seen, memory).kept.integrals == [0.75, -2.0]
    assert controller.slots(["a", "b"]) == ["integral_a", "integral_b"]


def test_pd_has_no_integrator():
    assert law().slots(["P1"]) == []
    assert Plant(slide(), law()).slots == ("q_P1", "qd_P1")


@given(st.floats(-100, 100), st.floats(-100, 100), st.floats(-100, 100), st.floats(0, 20))
def test_a_command_stays_within_its_limit(q, qd, integral, limit):
    u = law("pid", kp=3.0, ki=2.0, kd=1.0, limit=limit).command(0.0, Seen([q], [qd]), kept(integral))[0]
    assert abs(u) <= limit
    free = law("pid", kp=3.0, ki=2.0, kd=1.0).command(0.0, Seen([q], [qd]), kept(integral))[0]
    assert u == (free if abs(free) <= limit else math.copysign(limit, free))


def test_a_clamped_integrator_does_not_wind_up():
    # held in a vice (the target far away, the command too weak to move the mass against its stop)
    bound, dt = 2.0, 0.01
    controller = law("pi", ki=5.0, target=1.0, integral_limit=bound)
    integral = 0.0
    for _ in range(10_000):
        integral += dt * integral_rate(controller, 0.0, integral)
    assert bound <= 5.0 * integral <= bound + 5.0 * dt * 1.0  # at most one step beyond
    assert controller.command(0.0, Seen([0.0], [0.0]), kept(integral)) == [bound]
    # the first instant with the error the other way already leads back
    assert integral_rate(controller, 1.5, integral) == -0.5
    for _ in range(3):
        integral += dt * integral_rate(controller, 1.5, integral)
    assert 5.0 * integral < bound


@pytest.mark.parametrize("gain", [5.0, -5.0])
def test_a_clamped_integrator_is_clamped_on_both_sides_whatever_its_gains_sign(gain):
    controller = law("pi", ki=gain, target=0.0, integral_limit=1.0)
    for q in (-1.0, 1.0):
        integral = 0.0
        for _ in range(1000):
            integral += 0.01 * integral_rate(controller, q, integral)
        assert 1.0 <= abs(gain * integral) <= 1.0 + 0.05
        assert abs(controller.command(0.0, Seen([0.0], [0.0]), kept(integral))[0]) == 1.0


def test_sampled_feedback_converges_to_continuous_feedback_as_the_period_shrinks():
    def final(period: float | None, sample_every: int = 1) -> float:
        controller = law("pid", kp=25.0, ki=10.0, kd=6.0, target=1.0, period=period)
        return follow(Plant(slide(), controller, method="rk4"), 0.0, 0.0, 1.0, 256, sample_every)[-1][0]

    dt, continuous = 1.0 / 256, final(None)
    errors = [abs(final(m * dt, m) - continuous) for m in (4, 2)]
    assert errors[1] < 0.01
    assert abs(math.log2(errors[0] / errors[1]) - 1) < 0.1  # holding delays by half a period: first order


def test_a_sampled_command_is_held_between_samples():
    plant = Plant(slide(), law(kp=4.0, target=1.0, period=0.1), method="rk4")
    state = plant.sample(0.0, plant.initial_state([0.0], [0.0]))
    assert state == [0.0, 0.0, 4.0]
    for k in range(10):
        state = plant.step(k * 0.01, state, 0.01)
    # constant force 4 N on 1 kg for 0.1 s, exact for RK4 but for rounding
    assert np.allclose(state, [4 * 0.1**2 / 2, 0.4, 4.0], rtol=1e-14)
    assert plant.sample(0.1, state) == [state[0], state[1], 4.0 * (1.0 - state[0])]


def test_signals_of_time_are_followed_or_sampled():
    ramp = (lambda t: 6.0 * t,)
    continuous = follow(Plant(slide(), OpenLoop("torque", ramp), method="rk4"), 0.0, 0.0, 1.0, 10)[-1]
    assert np.allclose(continuous, [1.0, 3.0], rtol=1e-13)  # t³, 3 t²: RK4 is exact here
    sampled = follow(Plant(slide(), OpenLoop("torque", ramp, period=0.5), method="rk4"), 0.0, 0.0, 1.0, 10, 5)[-1]
    assert np.allclose(sampled, [3.0 * 0.5**2 / 2, 1.5, 3.0], rtol=1e-13)  # 0 N, then 3 N for half a second
