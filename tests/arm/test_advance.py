"""Motions under constant torques over an exact time, against closed forms and a fine Runge-Kutta integration."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim import ForwardModel
from armsim.document.scenario import ADAPTIVE
from armsim.errors import Diverged, ShapeError, UsageError

G = 9.81
LENGTH, MASS = 0.5, 2.0
LINK = {"name": "swing", "type": "revolute", "mdh": {}, "bodies": [{"point": {"mass": MASS, "center": [LENGTH, 0, 0]}}]}
PENDULUM = {"format": "armsim/robot/1", "name": "pendulum", "gravity": [0, -G, 0], "joints": [LINK]}
DOWN = -math.pi / 2


def slide(**joint):
    """2 kg on one axis, without gravity."""
    link = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 2}}], **joint}
    robot = {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [link]}
    return armsim.load_robot(robot)


@pytest.fixture(scope="module")
def pendulum():
    return armsim.load_robot(PENDULUM)


@pytest.fixture(scope="module")
def two_link():
    return armsim.load_robot("two_link")


@pytest.fixture(scope="module")
def arm5():
    return armsim.load_robot("arm5")


def agm(a: float, b: float) -> float:
    """Arithmetic-geometric mean."""
    while abs(a - b) > 1e-15 * a:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return a


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.parametrize("amplitude", [0.1, 1.0, 3.0])
def test_a_swing_has_the_period_of_the_elliptic_integral(pendulum, amplitude, method):
    # T = 4 sqrt(l/g) K(sin(a/2)) = 2 pi sqrt(l/g) / agm(1, cos(a/2))
    period = 2 * math.pi * math.sqrt(LENGTH / G) / agm(1.0, math.cos(amplitude / 2))
    start = [DOWN + amplitude]
    for share, q in [(1.0, DOWN + amplitude), (0.5, DOWN - amplitude), (0.25, DOWN), (0.75, DOWN)]:
        end = pendulum.advance(start, None, None, share * period, rtol=1e-10, method=method)
        assert end.q[0] == pytest.approx(q, abs=1e-7)  # some hundred steps, errors of which grow near the top
        top = math.sqrt(2 * G / LENGTH * (1 - math.cos(amplitude)))  # of the speed, at the bottom
        assert abs(end.qd[0]) == pytest.approx(top if q == DOWN else 0, abs=1e-6)


def test_a_small_oscillation_about_a_static_equilibrium_has_the_linearised_frequencies(two_link):
    # below the horizontal both links are held stably by constant torques: M x'' = -K x about there
    rest = np.radians([-60, 45])
    torque = two_link.gravity_torque(rest)
    step = 1e-5
    K = np.stack(
        [
            (two_link.gravity_torque(rest + e) - two_link.gravity_torque(rest - e)) / (2 * step)
            for e in step * np.eye(2)
        ],
        axis=1,
    )
    M = two_link.mass_matrix(rest)
    squares, modes = np.linalg.eig(np.linalg.solve(M, K))
    assert (squares > 0).all()
    small = 1e-5
    for square, mode in zip(squares, modes.T):
        period = 2 * math.pi / math.sqrt(square)
        for share, sign in [(1.0, 1), (0.5, -1), (0.25, 0)]:
            end = two_link.advance(rest + small * mode, None, torque, share * period, rtol=1e-10)
            # the next term is of second order
            np.testing.assert_allclose((end.q - rest) / small, sign * mode, rtol=0, atol=100 * small)
    still = two_link.advance(rest, None, torque, 1.0)
    np.testing.assert_allclose(still.q, rest, rtol=0, atol=1e-13)


@pytest.mark.parametrize("duration", [0.1, 1 / 3, 1e-6, 0.123456789, 7.0])
def test_the_motion_takes_exactly_the_given_time(duration):
    end = slide().advance([1.0], [0.5], [6.0], duration)
    assert end.q[0] == pytest.approx(1 + 0.5 * duration + 1.5 * duration**2, rel=1e-14)
    assert end.qd[0] == pytest.approx(0.5 + 3 * duration, rel=1e-14)
    assert end.qdd[0] == 3


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.slow
def test_it_is_what_fine_runge_kutta_steps_come_to(arm5, method):
    q, qd, tau = [0.1, -0.9, 0.2, 0.05, -0.05], [0.5, -0.2, 1, -1, 0.5], [1.0, -9, -4, 0.01, -0.02]
    duration, steps = 0.1, 4000
    model = ForwardModel("arm5", dt=duration / steps, method="rk4", output="torque")
    state = model.state(q, qd)
    for _ in range(steps):
        state = model.step(state, tau)
    assert np.abs(state[:5] - q).max() > 0.1
    end = arm5.advance(q, qd, tau, duration, rtol=1e-10, method=method)
    for found, exact in zip(end, (state[:5], state[5:10], state[10:15])):
        np.testing.assert_allclose(found, exact, rtol=1e-7, atol=1e-8)


def test_the_error_follows_the_tolerance(arm5):
    args = ([0.1, -0.9, 0.2, 0.05, -0.05], [0.5, -0.2, 1, -1, 0.5], [1.0, -9, -4, 0.01, -0.02], 0.1)
    exact = arm5.advance(*args, rtol=1e-13)
    errors = [np.abs(arm5.advance(*args, rtol=rtol).q - exact.q).max() for rtol in (1e-3, 1e-5, 1e-7, 1e-9)]
    assert errors == sorted(errors, reverse=True)
    assert [error < 10 * rtol for error, rtol in zip(errors, (1e-3, 1e-5, 1e-7, 1e-9))] == [True] * 4


def test_no_time_gives_the_state_itself_and_its_accelerations(arm5):
    rng = np.random.default_rng(1)
    q, qd, tau = (rng.uniform(-1, 1, (9, 5)) for _ in range(3))
    end = arm5.advance(q, qd, tau, 0.0)
    assert end.q.tolist() == q.tolist()
    assert end.qd.tolist() == qd.tolist()
    assert end.qdd.tolist() == arm5.forward_dynamics(q, qd, tau).tolist()


def test_accelerations_are_those_at_the_end(two_link):
    end = two_link.advance([0.3, 0.4], [1, -1], [5, 2], 0.37)
    assert end.qdd.tolist() == two_link.forward_dynamics(end.q, end.qd, [5, 2]).tolist()


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_batch_is_its_motions_one_by_one_to_the_bit(two_link, method):
    rng = np.random.default_rng(2)
    q, qd, tau = (rng.uniform(-2, 2, (13, 2)) for _ in range(3))
    times = rng.uniform(0, 1, 13)
    times[4] = 0.0
    many = two_link.advance(q, qd, tau, times, method=method)
    for k in range(13):
        one = two_link.advance(q[k], qd[k], tau[k], times[k], method=method)
        for few, all_of_them in zip(one, many):
            assert few.tolist() == all_of_them[k].tolist()
    assert many.q.shape == many.qd.shape == many.qdd.shape == (13, 2)


def test_what_is_single_goes_with_every_row(two_link):
    times = [0.0, 0.1, 0.2]
    many = two_link.advance([0.1, 0.2], None, [1, 2], times)
    assert many.q.shape == (3, 2)
    assert many.q[2].tolist() == two_link.advance([0.1, 0.2], [0, 0], [1, 2], 0.2).q.tolist()
    spread = two_link.advance([[0.1, 0.2], [0.3, 0.4]], None, None, 0.1)
    assert spread.q[1].tolist() == two_link.advance([0.3, 0.4], None, None, 0.1).q.tolist()
    assert two_link.advance(np.empty((0, 2)), None, None, 0.1).q.shape == (0, 2)


def test_both_engines_give_the_same_bits(two_link):
    floats = armsim.load_robot("two_link", engine="python")
    args = ([0.3, 0.4], [1, -1], [5, 2], 0.2)
    for native, slow in zip(two_link.advance(*args), floats.advance(*args)):
        assert native.tolist() == slow.tolist()


@pytest.mark.parametrize("method", ADAPTIVE)
@pytest.mark.handful(1)
def test_friction_holds_exactly_and_stops_at_the_closed_forms_place(method):
    rough = slide(friction={"coulomb": 6})
    held = rough.advance([0.7], [0.0], [5.9], 3.0, method=method)
    assert (held.q[0], held.qd[0], held.qdd[0]) == (0.7, 0.0, 0.0)
    stopped = rough.advance([0.7], [3.0], None, 2.0, method=method)  # after 1 s and 1.5 m
    assert stopped.q[0] == pytest.approx(2.2, abs=1e-9)
    assert (stopped.qd[0], stopped.qdd[0]) == (0.0, 0.0)
    slipping = rough.advance([0.7], [0.0], [10.0], 1.0, method=method)
    assert slipping.q[0] == pytest.approx(0.7 + 1.0, abs=1e-9)  # 4 N on 2 kg


@pytest.mark.parametrize("method", ADAPTIVE)
def test_a_stop_throws_back_what_meets_it(method):
    wall = slide(limits={"upper": 1.0, "stiffness": 800})
    end = wall.advance(
        [0.0], [2.0], None, 0.5 + math.pi / 20 + 0.5, rtol=1e-9, method=method
    )  # half a swing at 20 rad/s
    assert end.q[0] == pytest.approx(0.0, abs=1e-7)
    assert end.qd[0] == pytest.approx(-2.0, abs=1e-7)


def test_torques_of_drives_know_no_limits_of_motors():
    motor = {"Kp": 1, "Ra": 1, "limits": {"torque": 0.5}}
    free, emulated = (slide(motor={"Kp": 1, "Ra": 1, **more}) for more in ({}, {"model": "dynamechs"}))
    (q,) = free.advance([0.0], None, [4.0], 1.0).q
    assert q == pytest.approx(1, rel=1e-15)
    for arm in (slide(motor=motor), emulated):
        assert arm.advance([0.0], None, [4.0], 1.0).q.tolist() == [q]


REFUSED = {
    "backwards": ([0, 0], None, None, -0.1),
    "not a number": ([0, 0], [0, math.nan], None, 0.1),
    "infinite": ([0, 0], None, [[1, 2], [math.inf, 0]], 0.1),
    "fixed steps": ([0, 0], None, None, 0.1, 1e-5, None, "rk4"),
    "tolerance": ([0, 0], None, None, 0.1, 0.0),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_refused_with_the_mend(two_link, name, told):
    with pytest.raises(UsageError) as caught:
        two_link.advance(*REFUSED[name])
    told(caught.value)


def test_shapes_that_do_not_fit_are_refused(two_link):
    with pytest.raises(ShapeError, match=r"^torque: expected shape \(2,\) or \(m, 2\), found \(3,\)$"):
        two_link.advance([0, 0], None, [1, 2, 3], 0.1)
    with pytest.raises(ShapeError, match=r"^advance: expected as many durations as rows, found 2 and 3$"):
        two_link.advance(np.zeros((3, 2)), None, None, [0.1, 0.2])
    with pytest.raises(ShapeError, match=r"^duration: expected shape \(\) or \(m,\), found \(1, 1\)$"):
        two_link.advance([0, 0], None, None, [[0.1]])


def test_a_motion_that_leaves_all_bounds_says_so_and_among_many_is_nan(told):
    block = slide()
    with pytest.raises(Diverged) as caught:
        block.advance([0.0], None, [1e6], 100.0)
    told(caught.value)
    many = block.advance([0.0], None, [[1e6], [2.0]], 100.0)
    assert np.isnan([x[0, 0] for x in many]).all()
    assert many.q[1, 0] == pytest.approx(5000, rel=1e-14)
