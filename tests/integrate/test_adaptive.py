"""Steps that an error estimate decides: tolerance, landings, events, counters; by Dormand and Prince's pair."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from armsim.control import OpenLoop
from armsim.dynamics import bias
from armsim.expr import cos, sin, trace
from armsim.integrate import METHODS, Motion, System, Tolerance
from armsim.integrate.rk54 import DORMAND_PRINCE, FIFTH, FOURTH, trial
from armsim.model import Arm, Coulomb, Joint, Limit
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine, PythonEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.spatial import Inertia, Pose, Symmetric, Vector, rotation_x
from tests.controllers import feedback

START = (0.0, 0.0, 0.0, 0.0)


def advance(system: System, t: float, y: Motion, h: float, memory=START, rtol=1e-6, atol=1e-9):
    """The state at t + h, and what is remembered: next step, last error, steps taken and refused."""
    return METHODS["rk54"].advance(system, t, y, h, memory, Tolerance(rtol, atol))


def pendulum(t, y):
    """A driven pendulum with friction and one further state: nothing about it is linear or decoupled."""
    (q,), (v,), (z,), _ = y
    return Motion([v], [-9.0 * sin(q) - 0.1 * v + cos(2 * t) + 0.2 * z], [q - z * v], [])


def slide(mass: float = 2.0, pull: float = 0.0, **joint) -> Arm:
    """A mass that slides along a line; `pull` [m/s²] is gravity along it."""
    return Arm("slide", Vector(0.0, 0.0, pull), Pose(), (Joint("P1", "prismatic", inertia=Inertia(mass), **joint),))


def landings(plant: Plant, q, qd, times) -> list[list[float]]:
    """States at times, by the text on numbers."""
    states = [plant.initial_state(list(q), list(qd))]
    for t, after in itertools.pairwise(times):
        states.append(plant.step(t, states[-1], after - t))
    return states[1:]


# ---- the pair ----


def test_the_pair_meets_the_conditions_of_orders_five_and_four():
    # Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, table 2.2 of section II.2
    A = np.array([[*row, *[0.0] * (7 - len(row))] for row in DORMAND_PRINCE.A])
    c = np.array(DORMAND_PRINCE.c)
    one = np.ones(7)

    def conditions(b: np.ndarray, order: int) -> list[tuple[float, float]]:
        found = [(b @ one, 1), (b @ c, 1 / 2), (b @ c**2, 1 / 3), (b @ A @ c, 1 / 6)]
        found += [(b @ c**3, 1 / 4), (b @ (c * (A @ c)), 1 / 8), (b @ A @ c**2, 1 / 12), (b @ A @ A @ c, 1 / 24)]
        if order == 5:
            found += [(b @ c**4, 1 / 5), (b @ (c**2 * (A @ c)), 1 / 10), (b @ (c * (A @ c**2)), 1 / 15)]
            found += [(b @ (c * (A @ A @ c)), 1 / 30), (b @ (A @ c) ** 2, 1 / 20), (b @ A @ c**3, 1 / 20)]
            found += [(b @ A @ (c * (A @ c)), 1 / 40), (b @ A @ A @ c**2, 1 / 60), (b @ A @ A @ A @ c, 1 / 120)]
        return found

    # rounding of products of coefficients up to 12
    assert np.allclose(*zip(*conditions(np.array(FIFTH), 5), strict=True), rtol=0, atol=2e-15)
    assert np.allclose(*zip(*conditions(np.array(FOURTH), 4), strict=True), rtol=0, atol=2e-15)
    off = np.array([a - b for a, b in conditions(np.array(FOURTH), 5)])
    assert np.abs(off).max() > 1e-5  # or it would estimate nothing


def test_its_error_estimate_falls_with_the_fifth_power_of_the_step():
    y = Motion([0.5], [0.3], [0.1], [])
    sizes = [np.abs(np.concatenate(trial(System(pendulum), 0.2, y, h).error)).max() for h in (0.1, 0.05, 0.025)]
    assert np.abs(np.log2(np.divide(sizes[:-1], sizes[1:])) - 5).max() < 0.2


# ---- tolerance ----


@pytest.mark.slow
def test_the_error_of_a_pendulum_follows_the_tolerance_over_six_decades():
    start = Motion([0.5], [0.3], [0.1], [])
    true = start
    for k in range(5000):
        true = METHODS["rk4"].step(System(pendulum), k / 1000, true, 1 / 1000)  # 1e-13
    tolerances = (10.0 ** -np.arange(4, 11, 2)).tolist()
    errors, counts = [], []
    for rtol in tolerances:
        end, memory = advance(System(pendulum), 0.0, start, 5.0, rtol=rtol, atol=rtol)
        errors.append(np.abs(np.subtract(np.concatenate(end), np.concatenate(true))).max())
        counts.append(memory[2])
    assert all(tolerance / 100 < error < 10 * tolerance for error, tolerance in zip(errors, tolerances, strict=True))
    assert abs(np.polyfit(np.log(tolerances), np.log(errors), 1)[0] - 1) < 0.1
    assert abs(np.polyfit(np.log(tolerances), np.log(counts), 1)[0] + 1 / 5) < 0.03


@pytest.mark.slow
def test_the_error_of_the_free_swing_of_arm5_follows_the_tolerance_over_six_decades(arms, reference, drive):
    table = reference("swing_truth")
    arm = arms.bare(arms.shipped("arm5"))
    rows = table.columns["t_s"] <= 1.5
    count = int(rows.sum()) - 1
    assert table.columns["t_s"][count] == 1.5
    tolerances = (10.0 ** -np.arange(5, 12, 2)).tolist()
    errors = []
    for rtol in tolerances:
        plant = Plant(arm, None, method="rk54", tolerance=Tolerance(rtol, rtol))
        engine = NativeEngine(LoopPlan.of(plant, 1.5 / count))
        states = drive(engine, plant, table.block("q")[0], [0.0] * 5, count + 1, (1, count / 1.5))
        errors.append(np.abs(states.rows[:, :5] - table.block("q")[rows]).max())
    # an error of the first moments has grown a hundredfold by then
    assert all(error < 1000 * tolerance for error, tolerance in zip(errors, tolerances, strict=True))
    assert abs(np.polyfit(np.log(tolerances), np.log(errors), 1)[0] - 1) < 0.15


@pytest.mark.slow
def test_absolute_tolerance_alone_leaves_small_motions_to_long_steps():
    swing = System(lambda t, y: Motion(y.v, [-9.0 * y.q[0]], [], []))
    counts = [advance(swing, 0.0, Motion([x], [0.0], [], []), 10.0, rtol=0.0, atol=1e-8)[1][2] for x in (1.0, 1e-6)]
    assert counts[0] > 4 * counts[1]


# ---- landing and counting ----


class Watched(System):
    """Keeps the times at which it is asked for rates, and how often."""

    def __init__(self, rates) -> None:
        self.times: list[float] = []

        def kept(t, y):
            self.times.append(t)
            return rates(t, y)

        super().__init__(kept)


@pytest.mark.parametrize("backwards", [False, True], ids=["from zero", "to zero"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e5])
@pytest.mark.handful(1)
def test_a_step_is_taken_if_its_error_is_within_atol_and_rtol_of_the_larger_end(size, backwards):
    # z' = 6 t⁵ z1 leads from 0 to z1 in a second, or from -z1 to 0; the pair's error estimate of it is a share r of z1
    def quadrature(t, y):
        return Motion([0.0], [0.0], [6.0 * size * t**5], [])

    def refused(rtol, atol):
        start = Motion([0.0], [0.0], [-size if backwards else 0.0], [])
        _, memory = advance(System(quadrature), 0.0, start, 1.0, (1.0, 0.0, 0.0, 0.0), rtol, atol)
        return memory[3]

    c = np.array(DORMAND_PRINCE.c)
    r = float(abs((np.array(FIFTH) - np.array(FOURTH)) @ (6 * c**5)))
    assert 1e-4 < r < 1e-1
    # the end is itself off by a thousandth of z1, a tenth of the margins that follow
    for rtol, atol, taken in ((1.01, 0, True), (0.99, 0, False), (0, 1.01, True), (0, 0.99, False), (0.6, 0.6, True)):
        assert (refused(rtol * r, atol * r * size + 1e-300) == 0) == taken, (rtol, atol)


def test_it_lands_on_the_end_and_never_looks_beyond():
    system = Watched(lambda t, y: Motion(y.v, [-9.0 * sin(y.q[0])], [1.0], [1.0]))
    y, memory = Motion([0.5], [0.3], [0.0], [0.0]), START
    for k in range(10):
        y, memory = advance(system, k / 10, y, 0.1, memory)
        assert math.isclose(max(system.times), k / 10 + 0.1, rel_tol=4e-16)
    # the steps' lengths add up to the time, up to their roundings
    assert math.isclose(y.z[0], 1.0, rel_tol=1e-15)
    assert math.isclose(y.w[0], 1.0, rel_tol=1e-15)


def test_a_time_is_cut_into_landings_without_a_loss_of_precision():
    start = Motion([0.5], [0.3], [0.1], [])
    whole, counted = advance(System(pendulum), 0.0, start, 2.0, rtol=1e-9)
    y, memory = start, START
    for k in range(50):
        y, memory = advance(System(pendulum), k / 25, y, 1 / 25, memory, rtol=1e-9)
    assert np.allclose(np.concatenate(y), np.concatenate(whole), rtol=0, atol=1e-8)
    assert memory[2] > counted[2] > 50


def test_the_next_advance_begins_with_the_step_that_the_last_one_found():
    start = Motion([0.5], [0.3], [0.1], [])
    _, memory = advance(System(pendulum), 0.0, start, 2.0)
    fresh, warm = (advance(System(pendulum), 0.0, start, 2.0, m)[1] for m in (START, memory))
    assert warm[2] - memory[2] + 2 <= fresh[2]  # it need not find the step again, from a thousandth of the time
    assert 0.02 < memory[0] < 2.0


def test_steps_taken_and_refused_are_all_that_were_tried():
    # a kick at t = 1 that is over in hundredths: steps that come from outside are refused there
    system = Watched(lambda t, y: Motion(y.v, [1e4 / (1.0 + 1e6 * (t - 1.0) * (t - 1.0))], [], []))
    _, memory = advance(system, 0.0, Motion([0.0], [0.0], [], []), 2.0)
    assert len(system.times) == 7 * (memory[2] + memory[3])
    assert memory[2] > 50
    assert memory[3] > 3


def test_a_step_that_must_vanish_is_told_by_velocities_out_of_all_bounds():
    pole = System(lambda t, y: Motion(y.v, [1 / ((0.5 - t) * (0.5 - t))], [], []))
    end, memory = advance(pole, 0.0, Motion([0.0], [0.0], [], []), 1.0)
    assert end.v[0] > 1e9
    assert memory[3] > 10
    fine, _ = advance(pole, 0.0, Motion([0.0], [0.0], [], []), 0.4)
    assert math.isclose(fine.v[0], 1 / 0.1 - 1 / 0.5, rel_tol=1e-5)


# ---- events ----


@pytest.mark.parametrize("rtol", [1e-4, 1e-9])
def test_a_sliding_joint_stops_when_and_where_the_closed_form_says(rtol):
    v0, mass, friction = 1.3, 2.0, 3.0
    stop, place = mass * v0 / friction, mass * v0**2 / (2 * friction)
    plant = Plant(slide(mass, coulomb=Coulomb(friction, 5.0)), None, method="rk54", tolerance=Tolerance(rtol, rtol))
    before, at, long_after = landings(plant, [0.0], [v0], [0.0, stop - 1e-9, stop + 1e-9, 5.0])
    assert 0 < before[1] < 2e-9 * friction / mass
    assert at[1] == long_after[1] == 0.0
    assert math.isclose(at[0], place, rel_tol=1e-12)
    assert long_after[0] == at[0]


def test_a_joint_that_is_pulled_back_harder_than_friction_holds_turns_round_on_time():
    up, down, v0 = 9.81 + 1.5, 9.81 - 1.5, 2.0
    plant = Plant(slide(2.0, -9.81, coulomb=Coulomb(3.0, 3.0)), None, method="rk54")
    (end,) = landings(plant, [0.0], [v0], [0.0, 1.0])
    after = 1.0 - v0 / up
    assert math.isclose(end[1], -down * after, rel_tol=1e-9)
    assert math.isclose(end[0], v0**2 / (2 * up) - down * after**2 / 2, rel_tol=1e-9)


def test_a_push_that_grows_sets_a_joint_free_on_time():
    # 4 t N against 3 N: free from t = 0.75, and then v = 4 t²/2 - 3 t over the mass
    plant = Plant(slide(2.0, coulomb=Coulomb(3.0, 3.0)), OpenLoop("torque", (lambda t: 4.0 * t,)), method="rk54")
    before, end = landings(plant, [0.0], [0.0], [0.0, 0.75, 2.0])
    assert before[:2] == [0.0, 0.0]
    assert math.isclose(end[1], 2 * 1.25**2 / 2.0, rel_tol=1e-9)
    assert math.isclose(end[0], 2 * 1.25**3 / 3 / 2.0, rel_tol=1e-9)


@pytest.mark.slow
def test_a_mass_that_drops_on_a_stop_rebounds_as_its_spring_and_damper_say():
    # free fall to the stop, then half a swing m x'' = -k x - d x' - m g until the stop lets go, then up and down again
    m, g, k, d, height = 2.0, 9.81, 800.0, 6.0, 0.3
    limit = Limit(0.0, math.inf, stiffness=k, damping=d)
    plant = Plant(slide(m, -g, limit=limit), None, method="rk54", tolerance=Tolerance(1e-10, 1e-12))
    fall = math.sqrt(2 * height / g)
    v = -g * fall
    a, w = d / (2 * m), math.sqrt(k / m - (d / (2 * m)) ** 2)
    rest = -m * g / k

    def within(t: float) -> tuple[float, float]:
        """Place and velocity t seconds after contact."""
        A, B = -rest, (v - a * rest) / w
        x = math.exp(-a * t) * (A * math.cos(w * t) + B * math.sin(w * t))
        dx = math.exp(-a * t) * ((B * w - a * A) * math.cos(w * t) - (A * w + a * B) * math.sin(w * t))
        return x + rest, dx

    # the stop lets go where it would pull: k x + d x' = 0
    low, high = math.pi / (2 * w), 1.5 * math.pi / w
    for _ in range(100):
        middle = (low + high) / 2
        x, dx = within(middle)
        low, high = (low, middle) if k * x + d * dx > 0 else (middle, high)
    contact, (x1, v1) = low, within(low)
    assert x1 < 0 < v1
    t1 = fall + contact
    touching, free = landings(plant, [height], [0.0], [0.0, fall + contact / 2, t1 + 0.1])
    assert np.allclose(touching[:2], within(contact / 2), rtol=1e-8)
    assert np.allclose(free[:2], [x1 + v1 * 0.1 - g * 0.005, v1 - g * 0.1], rtol=1e-8)


def test_a_load_that_is_at_the_bound_of_friction_up_to_rounding_costs_no_steps():
    # within the rounding that lets a joint hold it counts as held to the step's end, or every step would end where it began
    inertia = Inertia.about_com(3.0, Vector(0.4, 0.1, 0.05), Symmetric(0.1, 0.2, 0.15))

    def hanging(friction: float) -> Arm:
        joint = Joint("R1", "revolute", rotation_x(math.pi / 2), inertia=inertia, coulomb=Coulomb(friction, friction))
        return Arm("hanging", Vector(0.0, 0.0, -9.81), Pose(), (joint,))

    load = abs(bias(hanging(0.0), [0.3], [0.0])[0])
    for share, held in ((1 + 1e-12, True), (1, True), (1 - 1e-16, True), (1 - 5e-14, True), (1 - 1e-12, False)):
        (end,) = landings(Plant(hanging(load * share), None, method="rk54"), [0.3], [0.0], [0.0, 1.0])
        assert (end[1] == 0.0) is held
        assert end[4] < 30


@pytest.mark.slow
def test_several_joints_stick_and_slide_through_many_events(arms, drive):
    arm = arms.serial("RPR", seed=5)
    friction = [Coulomb(c, c) for c in (2.0, 20.0, 1.0)]
    arm = replace(arm, links=tuple(replace(j, coulomb=c) for j, c in zip(arm.joints, friction, strict=True)))
    waves = OpenLoop("torque", tuple(lambda t, i=i: 9.0 * sin((9 + i) * t) for i in range(3)))

    def rows(method: str, rtol: float, per_second: int) -> np.ndarray:
        plant = Plant(arm, waves, method=method, tolerance=Tolerance(rtol, rtol))
        engine, every = NativeEngine(LoopPlan.of(plant, 1 / per_second)), per_second // 10
        count = 5 * every + 1
        return drive(engine, plant, [0.1, 0.2, 0.3], [0.0, 0.5, -0.5], count, (1, per_second), every).rows[:, :6]

    precise = rows("rk54", 1e-9, 10)
    assert len(precise) == 6
    assert (precise[1:, 3:] == 0).any()
    assert (precise[1:, 3:] != 0).any()
    assert np.allclose(rows("rk54", 1e-6, 10), precise, rtol=0, atol=1e-4)
    assert np.allclose(rows("rk4", 1.0, 4000), precise, rtol=0, atol=5e-3)  # first order at its events


# ---- the same bits ----


@pytest.mark.parametrize("name", ["sampled", "pi", "outside", "prismatic"])
@pytest.mark.handful(1)
def test_machine_code_equals_the_text_on_floats(name, plants, drive):
    plant, q, qd, sample_every = plants(name)
    plant = replace(plant, method="rk54", tolerance=Tolerance(1e-5, 1e-8))
    native, text = (
        drive(engine(LoopPlan.of(plant, 1 / 200)), plant, q, qd, 9, (1, 200), 3, sample_every)
        for engine in (NativeEngine, PythonEngine)
    )
    assert native.reached == text.reached == 9
    for part in ("state", "rows", "peaks"):
        assert getattr(native, part).tolist() == getattr(text, part).tolist()


@pytest.mark.slow
def test_every_lane_of_a_batch_has_steps_and_events_of_its_own(evaluate):
    limit = Limit(-0.5, 0.5, stiffness=300.0, damping=3.0)
    law = feedback("pd", "torque", (20.0,), (0.0,), (0.5,), (0.1,), (None,), (None,))
    plant = Plant(slide(2.0, coulomb=Coulomb(1.0, 2.0), limit=limit), law, method="rk54")
    f = trace(lambda *state: plant.step(0.0, state, 0.3), [f"x{i}" for i in range(6)])
    rng = np.random.default_rng(4)
    columns = np.zeros((6, 32))
    columns[0], columns[1] = rng.uniform(-0.6, 0.6, 32), rng.uniform(-4, 4, 32)
    columns[1, ::4] = 0.0
    by_lane = [evaluate(f, columns, lanes=lanes) for lanes in (1, 4, 16)]
    for found in by_lane[1:]:
        assert found.tolist() == by_lane[0].tolist()
    text = [plant.step(0.0, column, 0.3) for column in columns[:, :2].T.tolist()]
    assert by_lane[0][:, :2].T.tolist() == text
    assert len(set(by_lane[0][4].tolist())) > 5
    assert (by_lane[0][1] == 0).any()
