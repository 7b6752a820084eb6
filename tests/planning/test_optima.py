"""Plans against optima in closed form."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.optimize import brentq, least_squares

import armsim
from armsim.expr import where
from armsim.loading import read_scenario
from armsim.planning.problem import Trajectory
from armsim.planning.rows import RowFunction
from armsim.planning.search import PlanSearch
from armsim.planning.task import PlanTask

MASS, FORCE = 2.0, 2.0


def test_a_mass_is_moved_in_minimum_time_by_one_switch_of_the_force(task):
    found = armsim.plan(task("time", limit=FORCE, intervals=20))
    assert found.status == "solved"
    assert found.time == pytest.approx(2.0 * math.sqrt(1.0 * MASS / FORCE), rel=1e-8)
    assert found.u[:, 0] == pytest.approx(FORCE * np.repeat([1.0, -1.0], 10), abs=1e-6)
    assert found.facts.end_error < 1e-9
    assert max(one.beyond for one in found.facts.margins) < 1e-9


@pytest.mark.parametrize("intervals", [10, 1000])
def test_the_least_square_of_the_force_is_that_of_a_line(task, intervals):
    # in continuous time F is a line, 12 m² D² / T³; of N constant forces the best has that over 1 - 1/N²
    found = armsim.plan(task("torque_squared", duration=1.5, intervals=intervals))
    line = 12.0 * MASS**2 / 1.5**3
    assert found.cost == pytest.approx(line / (1.0 - intervals**-2), rel=1e-8)
    if intervals == 1000:
        assert found.cost == pytest.approx(line, rel=2e-6)
    middles = (found.t[1:] + found.t[:-1]) / 2
    assert np.polyfit(middles, found.u[:, 0], 1) @ [1.5 / 2, 1.0] == pytest.approx(0.0, abs=1e-7)


def test_a_linear_quadratic_problem_takes_one_iteration(task):
    asked = task("q_x*q_x + 0.1*torque_squared + 0.2*qd_x*qd_x", of_joint={"spring": {"stiffness": 3.0}}, intervals=30)
    planned = PlanTask(read_scenario(asked))
    problem = planned.problem(planned.guess())
    search = PlanSearch(problem, planned.guess())
    found, again = search.run(1).trajectory, search.run(1).trajectory
    # the same problem in the forces alone, by its normal equations: states are linear in them
    N, u = problem.N, np.zeros((problem.N, 1))
    S = problem.linearised(found).S[0]
    A, B = S[:, :2], S[:, 2:]
    columns = [np.linalg.matrix_power(A, i) @ B for i in range(N)]
    to_state = np.zeros((N + 1, 2, N))
    for k in range(1, N + 1):
        for i in range(k):
            to_state[k, :, i] = columns[k - 1 - i][:, 0]
    h = 3.0 / N
    weights = h * np.array([0.5] + [1.0] * (N - 1) + [0.5])
    H = sum(w * x.T @ np.diag([1.0, 0.2]) @ x for w, x in zip(weights, to_state, strict=True)) + 0.1 * h * np.eye(N)
    ends = to_state[N]
    whole = np.block([[H, ends.T], [ends, np.zeros((2, 2))]])
    u = np.linalg.solve(whole, [*np.zeros(N), 1.0, 0.0])[:N]
    size = np.abs(u).max()
    assert found.u[:, 0] == pytest.approx(u, abs=1e-8 * size)  # terms of 1e-9 keep the program definite
    assert again.u[:, 0] == pytest.approx(u, abs=1e-11 * size)


@pytest.mark.parametrize("dear", [1e5, 1e7])
def test_dear_ends_are_reached_from_rest_in_few_iterations(task, dear):
    """A pendulum whose cost is a sum of squares, against Gauss and Newton's method in the torques alone."""
    arm, N, goal, weight = 0.5, 20, 2.0, 9.81 * MASS
    h = 1.0 / N
    asked = task("torque_squared", duration=1.0, intervals=N, output="torque", of_joint={"type": "revolute"})
    asked["robot"] |= {"gravity": [0.0, -9.81, 0.0]}
    asked["robot"]["joints"][0]["bodies"][0]["point"]["center"] = [arm, 0.0, 0.0]
    asked["integrator"] = {"method": "semi_implicit_euler", "dt": h}
    planned = PlanTask(read_scenario(asked))

    def half(x, u, index):
        share = where(index[0] < 0.5, h, where(index[0] > N - 0.5, dear, 0.5 * h))
        error = x[0] - goal
        return [0.5 * share * (error * error + 0.1 * x[1] * x[1]) + 0.25e-3 * h * u[0] * u[0]]

    rest = Trajectory(np.zeros((N + 1, 2)), np.full((N, 1), weight * arm))
    problem = replace(planned.problem(planned.guess()), marks={}, steps=1, cost=RowFunction(half, [2, 1, 1], 3, 2))
    search = PlanSearch(problem, rest)
    found = search.run()

    def residuals(tau):
        q, v, rows = 0.0, 0.0, []
        for force in tau:
            rows += [math.sqrt(h) * (q - goal), math.sqrt(0.1 * h) * v, math.sqrt(1e-3 * h) * force]
            v += h * (force - weight * arm * math.cos(q)) / (MASS * arm**2)
            q += h * v
        return [*rows, math.sqrt(dear) * (q - goal), math.sqrt(0.1 * dear) * v]

    least = least_squares(residuals, found.trajectory.u[:, 0], xtol=1e-13, ftol=1e-15, gtol=1e-13)
    assert found.status == "solved"
    assert search.iterations[-1].cost == pytest.approx(least.cost, rel=1e-6)
    assert len(search.iterations) <= 20


@pytest.mark.parametrize(("intervals", "beyond"), [(50, 1e-3), (200, 1e-4)])
def test_a_motor_under_a_voltage_limit_moves_in_the_time_of_two_exponential_arcs(task, intervals, beyond):
    # m v' = (Kp / Ra) (u - Ke v): +U for t1, then -U for t2, D = (U / Ke) (t1 - t2), t2 = τ ln(2 - exp(-t1 / τ))
    motor = {"Kp": 3.0, "Ke": 3.0, "Ra": 1.5, "limits": {"voltage": 6.0}}
    found = armsim.plan(task("time", of_joint={"motor": motor}, intervals=intervals))
    tau, fastest = MASS * motor["Ra"] / (motor["Kp"] * motor["Ke"]), 6.0 / motor["Ke"]

    def second(first):
        return tau * math.log(2.0 - math.exp(-first / tau))

    first = brentq(lambda t: fastest * (t - second(t)) - 1.0, 1e-3, 10.0, xtol=1e-14)
    least = first + second(first)
    # no plan is faster, and one whose switch lies within an interval is slower by its square
    assert -1e-9 < found.time / least - 1.0 < beyond
    assert found.facts.output == "voltage"
    assert max(one.beyond for one in found.facts.margins) < 1e-9


def test_dry_friction_helps_to_brake(task):
    # D = a1 t1² / 2 + a2 t2² / 2 with a1 t1 = a2 t2, a = (F -+ friction) / m
    rub = 0.6
    found = armsim.plan(task("time", limit=FORCE, of_joint={"friction": {"coulomb": rub}}, intervals=60))
    least = math.sqrt(2.0 * MASS * (1.0 / (FORCE - rub) + 1.0 / (FORCE + rub)))
    assert found.status == "solved"
    assert -1e-9 < found.time / least - 1.0 < 1e-3  # the switch lies within an interval
    assert found.facts.end_error < 1e-7


def test_energy_is_the_heat_of_windings_and_friction_which_motors_draw_in_all(task):
    Kp = Ke = 3.0
    Ra, c, N = 1.5, 0.7, 100
    motor = {"Kp": Kp, "Ke": Ke, "Ra": Ra}
    found = armsim.plan(
        task("energy", duration=1.0, of_joint={"motor": motor, "friction": {"viscous": c}}, intervals=N)
    )
    t = np.linspace(0.0, 1.0 / N, 101)
    rate, heat = (Kp * Ke / Ra + c) / MASS, 0.0
    for v, u in zip(found.x[:-1, 1], found.u[:, 0], strict=True):  # m v' = (Kp / Ra) (u - Ke v) - c v
        steady = Kp * u / Ra / (MASS * rate)
        speed = steady + (v - steady) * np.exp(-rate * t)
        heat += simpson((u - Ke * speed) ** 2 / Ra + c * speed**2, x=t)
    assert found.cost == pytest.approx(heat, rel=5e-4)  # trapezoids of the intervals
    # from rest to rest, without gravity, nothing is stored
    drawn, back = found.run.measure("energy_drawn", "energy_fed_back").values()
    assert drawn - back == pytest.approx(heat, rel=1e-2)  # whose trapezoids go over jumps


def test_a_tracked_reference_that_can_be_followed_costs_nothing(task):
    asked = task("tracking", duration=1.0, intervals=40, output="torque")
    asked["control"] = {
        "law": "pd",
        "output": "torque",
        "kp": 1,
        "kd": 1,
        "reference": {"via": [[1.0]], "times": [1.0]},
    }
    found = armsim.plan(asked)
    assert found.cost < 1e-8
    t, x = found.t, found.x[:, 0]
    assert x == pytest.approx(10 * t**3 - 15 * t**4 + 6 * t**5, abs=1e-4)
