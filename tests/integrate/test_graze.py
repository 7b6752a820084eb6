"""Contacts that are met and left within a step."""

from __future__ import annotations

import math
import random

import pytest
from scipy.integrate import solve_ivp

import armsim
from armsim.integrate import Motion, System
from armsim.integrate.graze import first_graze
from tests.dynamics.test_contact import MASS, block, scene

STIFF, DAMPING = 1e3, 2.0


def through_a_ball(radius, at, off, speed=10.0):
    """The speed lost on a rail that passes through a soft ball, by `solve_ivp`."""

    def rates(t, y):
        x, v = y
        away = math.hypot(x - at, off)
        nx = (x - at) / away
        force = max(0.0, -STIFF * (away - radius) - DAMPING * nx * v) if away < radius else 0.0
        return [v, force * nx / MASS]

    half = math.sqrt(radius**2 - off**2)
    ended = solve_ivp(
        rates, (0, 2.2 * half / speed), [at - 1.05 * half, speed], rtol=1e-10, atol=1e-13, max_step=half / speed / 50
    )
    return speed - ended.y[1, -1]


@pytest.mark.parametrize(("method", "within"), [("rk4", 0.2), ("rk54", 1e-3), ("rodas", 1e-3)])
@pytest.mark.handful(1)
def test_no_ball_is_too_thin_for_a_method_that_locates_events(method, within):
    """A step of 10 ms goes 10 cm. Of rk4 the ball is one step, or two, as the force changes sign in it."""
    pick = random.Random(5)
    for _ in range(4):
        radius = 10 ** pick.uniform(-3.5, -2)
        at, off = pick.uniform(0.02, 0.15), radius * pick.uniform(-0.8, 0.8)
        ball = {"sphere": {"radius": radius}, "xyz": [at, 0, off]}
        asked = scene(block("x"), {"stiffness": STIFF, "damping": DAMPING}, method, 0.02, [0.0], [10.0], 0.01, ball)
        run = armsim.simulate(asked)
        lost = 10.0 - run.qd[-1, 0]
        assert lost == pytest.approx(through_a_ball(radius, at, off), rel=within)
        assert run.summary()["audit"]["relative"] < 1e-6


def test_steps_without_contacts_end_before_a_ball_that_several_of_them_come_to():
    """In one advance, where each of them is shorter than the gap that was seen at the start of them all."""
    for at in (0.31, 0.5, 0.75):
        ball = {"sphere": {"radius": 1e-3}, "xyz": [at, 0, 0], "stiffness": STIFF, "damping": DAMPING}
        touching = {"world": {"ball": ball}, "contacts": [{"frame": "tool", "with": "ball"}]}
        model = armsim.ForwardModel({**block("x"), **touching}, dt=0.5, method="rk54", output="torque")
        end = model.step(model.state([0.0], [10.0]), [0.0])
        assert 10.0 - end[1] == pytest.approx(through_a_ball(1e-3, at, 0.0), rel=1e-3)


def motion(q, v):
    return Motion([q], [v], [], None)


@pytest.mark.parametrize("place", [0.013, 0.3, 0.5, 0.89])
@pytest.mark.parametrize("radius", [1e-6, 1e-3])
@pytest.mark.handful(4)
def test_the_search_finds_the_place_of_a_ball_wherever_in_the_step_it_is(place, radius):
    """And of two balls the first one; none that is passed at a distance."""

    class Passing(System):
        balls = ((0.95, 0.5 * radius), (place, 0.5 * radius), (0.1, 1.01 * radius))

        def gaps(self, y):
            ways = [(y.q[0] - at, math.hypot(y.q[0] - at, off)) for at, off in self.balls]
            return [(away - radius, along / away * y.v[0]) for along, away in ways]

    ends = motion(0.0, 100.0), motion(1.0, 100.0), 0.01, lambda t: motion(100.0 * t, 100.0)
    time, gap = first_graze(Passing(None), *ends)
    assert 100.0 * time == pytest.approx(place, abs=radius)
    assert gap < 0.0
    Passing.balls = Passing.balls[2:]
    assert first_graze(Passing(None), *ends) == (0.01, 1.0)


def test_a_dip_below_the_floor_and_back_within_a_step_is_found():
    """Thrown up from below its top a point is above the floor at both ends of a step, and below it in its middle."""
    asked = scene(block("z", (0, 0, 9.81)), {"stiffness": 1e4}, "rk4", 0.02, [1e-4], [-0.1], 0.02)
    lowest = 1e-4 - 0.1**2 / (2 * 9.81)
    assert lowest < 0.0
    run = armsim.simulate({**asked, "log": {"every": 0.02}}, measure=["contact_time"])
    assert run.measures["contact_time_tool_floor"] > 1e-3
    omega = math.sqrt(1e4 / MASS)
    fall = (0.1 - math.sqrt(0.1**2 - 2 * 9.81 * 1e-4)) / 9.81
    assert run.measures["contact_time_tool_floor"] < math.pi / omega + fall
