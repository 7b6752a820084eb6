"""Whole arms, step for step against other engines, and as a plant should behave."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from armsim import expr
from armsim.control import Controller, OpenLoop
from armsim.dynamics import ExternalWrench
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.spatial import Vector
from tests.controllers import feedback

WAVES = [(8.0, 0.5, 0.3), (3.0, 0.8, 0.6), (3.0, 1.1, 0.9), (0.6, 1.7, 1.2), (0.4, 2.3, 1.5)]  # V, Hz, rad


def constant(value: float):
    return lambda t: value


def volts(*signals) -> OpenLoop:
    return OpenLoop("voltage", tuple(s if callable(s) else constant(s) for s in signals))


def torques(*signals) -> OpenLoop:
    return OpenLoop("torque", tuple(s if callable(s) else constant(s) for s in signals))


def pd(kp, kd, target, output="voltage", period=None) -> Controller:
    none = (None,) * len(kp)
    return feedback("pd", output, tuple(kp), (0.0,) * len(kp), tuple(kd), tuple(target), none, none, period)


@pytest.fixture(scope="module")
def arm5(arms):
    return arms.shipped("arm5")


def deviation(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference as a share of the column's maximum; of 1 where a column is smaller than 1e-3."""
    scale = np.abs(expected).max(axis=0)
    return float((np.abs(found - expected) / np.where(scale < 1e-3, 1.0, scale)).max())


def compare(plant, steps, ratio, log_every, table, drive, column, n=5):
    """Deviations of q, qd and qdd from the rows of a reference table, by row."""
    said_q, said_qd = table.block("q", n)[0].tolist(), table.block("qd", n)[0].tolist()
    dt = ratio[0] / ratio[1]
    result = drive(NativeEngine(LoopPlan.of(plant, dt)), plant, said_q, said_qd, steps + 1, ratio, log_every)
    rows = {round(float(k)): i for i, k in enumerate(table.columns["step"])}
    picked = [(k // log_every, i) for k, i in rows.items() if k % log_every == 0]
    mine, theirs = map(list, zip(*picked, strict=True))
    assert len(theirs) == table.count
    return {
        kind: (result.rows[mine][:, column(plant, kind)], table.block(kind, n)[theirs]) for kind in ("q", "qd", "qdd")
    }


@pytest.mark.parametrize(
    ("name", "method", "ratio", "log_every", "command"),
    [
        ("passive_fall_euler_500us", "explicit_euler", (1, 2000), 4, volts(0.0, 0.0, 0.0, 0.0, 0.0)),
        ("passive_fall_rk4_500us", "rk4", (1, 2000), 4, volts(0.0, 0.0, 0.0, 0.0, 0.0)),
        (
            "pd_hold_nostick_fresh",
            "explicit_euler",
            (1, 10000),
            50,
            pd((60.0, 60.0, 60.0, 20.0, 20.0), (1.0, 1.0, 1.0, 0.1, 0.1), (0.0, -1.1, 0.3, 0.0, 0.0)),
        ),
        (
            "sine_nostick_euler",
            "explicit_euler",
            (1, 5000),
            5,
            volts(*(lambda t, wave=wave: wave[0] * expr.sin(2 * math.pi * wave[1] * t + wave[2]) for wave in WAVES)),
        ),
    ],
)
@pytest.mark.handful(2)
def test_arm5_with_motors_moves_step_for_step_as_in_dynamechs(
    name, method, ratio, log_every, command, arm5, reference, drive, column
):
    table = reference(name)
    plant = Plant(arm5, command, method=method)
    blocks = compare(plant, table.about["steps"], ratio, log_every, table, drive, column)
    for kind in ("q", "qd", "qdd"):
        assert deviation(*blocks[kind]) <= 1e-12, kind  # what the reference promises


@pytest.mark.parametrize("algorithm", ["crba", "aba"])
@pytest.mark.parametrize(
    ("name", "ratio", "log_every"), [("free_swing_rk4", (1, 10000), 10), ("free_swing_rk4_1ms", (1, 1000), 1)]
)
@pytest.mark.handful(2)
def test_the_free_swing_of_arm5_is_that_of_dynamechs(
    algorithm, name, ratio, log_every, arms, arm5, reference, drive, column
):
    table = reference(name)
    plant = Plant(arms.bare(arm5), None, method="rk4", algorithm=algorithm)
    blocks = compare(plant, table.about["steps"], ratio, log_every, table, drive, column)
    early = table.columns["t"] <= 1.5
    for kind in ("q", "qd"):  # rounding grows to 6e-8 by 3 s: the swing is chaotic
        found, expected = blocks[kind]
        assert deviation(found[early], expected[early]) <= 1e-10
        assert deviation(found, expected) <= 1e-6


@pytest.mark.parametrize(
    ("name", "q", "qd", "command"),
    [
        ("rr_config1", (-math.pi / 2, math.pi / 2), (0.0, 0.0), None),
        ("rr_config2_vel", (-math.pi / 2, 0.0), (0.5, 0.0), None),
        ("rr_config2_sigmoid", (-math.pi / 2, 0.0), (0.0, 0.0), torques(lambda t: 1 / (1 + expr.exp(-t)), 0.0)),
        ("rr_config5", (0.0, 0.0), (0.0, 0.0), None),
    ],
)
@pytest.mark.handful(2)
def test_the_2r_arm_of_the_assignment_moves_step_for_step_as_there(
    name, q, qd, command, arms, reference, drive, column
):
    table = reference(name)
    plant = Plant(arms.shipped("rr"), command, method="semi_implicit_euler")
    assert np.allclose([*q, *qd], [*table.block("q", 2)[0], *table.block("qd", 2)[0]], rtol=0, atol=0)
    result = drive(NativeEngine(LoopPlan.of(plant, 4e-4)), plant, q, qd, 25_001, (1, 2500))
    picked = table.columns["step"].astype(int)
    assert deviation(result.rows[picked][:, column(plant, "q")], table.block("q", 2)) <= 1e-11
    assert deviation(result.rows[picked][:, column(plant, "qd")], table.block("qd", 2)) <= 1e-11
    # their acceleration in row k led to it, so it is the one of our row before
    led = result.rows[picked[1:] - 1][:, column(plant, "qdd")]
    assert deviation(led, table.block("qdd", 2)[1:]) <= 1e-11


def hold(arm5) -> Plant:
    target = (0.3, -0.8, 0.0, 0.5, -0.4)
    return Plant(arm5, pd((100.0, 100.0, 100.0, 20.0, 20.0), (1.0, 1.0, 1.0, 0.1, 0.1), target), method="rk4")


def test_rk4_follows_the_hold_to_its_order(arm5, reference, drive, column):
    # the truth is good to 2.7e-14; the fastest motion, 3449/s, makes RK4 fourth order only well below 0.3 ms
    table, plant = reference("hold_truth"), hold(arm5)
    target = np.array([0.3, -0.8, 0.0, 0.5, -0.4])
    assert np.allclose(target, table.block("q")[0] + (0.3, 0.3, -0.3, 0.5, -0.4), atol=1e-15)
    errors = []
    for steps in (20_000, 40_000):  # of the first second
        result = drive(
            NativeEngine(LoopPlan.of(plant, 1 / steps)),
            plant,
            table.block("q")[0],
            [0.0] * 5,
            steps + 1,
            (1, steps),
            steps // 20,
        )
        errors.append(np.abs(result.rows[:, column(plant, "q")] - table.block("q")[:21]).max())
        motor = result.rows[:, column(plant, "motor")]
        assert deviation(motor, table.block("tau")[:21]) < 1e-8
    assert errors[1] < 1e-10
    assert abs(math.log2(errors[0] / errors[1]) - 4) < 0.3 or errors[1] < 1e-13  # or rounding shows


def test_rk4_follows_the_swing_within_its_own_error(arms, arm5, reference, drive, column):
    table = reference("swing_truth")
    plant = Plant(arms.bare(arm5), None, method="rk4")
    result = drive(
        NativeEngine(LoopPlan.of(plant, 1e-4)), plant, table.block("q")[0], [0.0] * 5, 10_001, (1, 10_000), 250
    )
    assert (
        np.abs(result.rows[:, column(plant, "q")] - table.block("q")[:41]).max() < 1e-10
    )  # 1 s; grows 1e24-fold by 10 s


def orders(plant, q, qd, steps, drive, duration=1.0) -> float:
    def final(n: int, method: str) -> np.ndarray:
        p = replace(plant, method=method)
        return drive(NativeEngine(LoopPlan.of(p, duration / n)), p, q, qd, n, (1, round(n / duration)), n).state

    true = final(20_000, "rk4")
    errors = [np.abs(final(n, plant.method) - true).max() for n in steps]
    return -float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


@pytest.mark.parametrize(
    ("method", "steps", "order"),
    [
        ("explicit_euler", (1000, 2000, 4000, 8000), 1),
        ("semi_implicit_euler", (1000, 2000, 4000, 8000), 1),
        ("rk4", (100, 200, 400, 800), 4),
    ],
)
@pytest.mark.handful(2)
def test_methods_converge_at_their_order_on_the_two_link_swing(method, steps, order, arms, drive):
    arm = arms.shipped("two_link")
    plant = Plant(arm, torques(lambda t: expr.sin(3 * t), 0.5), method=method)
    found = orders(plant, arm.initial, (0.5, -0.2), steps, drive)
    assert abs(found - order) < 0.1


def energy(plant, result, column) -> np.ndarray:
    return result.rows[:, column(plant, "energy")].sum(axis=1)


def test_a_free_swing_keeps_its_energy(arms, arm5, drive, column):
    plant = Plant(arms.bare(arm5), None, method="rk4")
    result = drive(
        NativeEngine(LoopPlan.of(plant, 1e-3)), plant, (0.3, -0.4, 0.2, 0.5, -0.3), [0.0] * 5, 1000, (1, 1000)
    )
    total = energy(plant, result, column)
    assert np.abs(total - total[0]).max() < 1e-6 * abs(total[0])  # RK4 at 1 ms: the reference drifts as much


def test_electrical_energy_in_is_heat_and_mechanical_energy(arms, drive, column):
    # prismatic and revolute joints, geared motors with Ke = Kp, friction, an outside force; RK4 and Simpson's rule, fourth order
    arm = arms.serial("RPR", motors=True)
    joints = tuple(replace(j, viscous=0.3, motor=replace(j.motor, Ke=j.motor.Kp)) for j in arm.joints)
    arm = replace(arm, links=joints)
    plant = Plant(arm, volts(lambda t: 5 * expr.sin(8 * t), lambda t: 4 * expr.cos(5 * t), 3.0), method="rk4")
    n = 2000
    result = drive(
        NativeEngine(LoopPlan.of(plant, 0.5 / n)), plant, (0.1, 0.2, 0.3), (0.4, -0.1, 0.2), n + 1, (1, 2 * n)
    )
    rows = {kind: result.rows[:, column(plant, kind)] for kind in ("qd", "current", "power", "friction")}
    losses = sum((joint.motor.Ra * rows["current"][:, i] ** 2) for i, joint in enumerate(joints))
    net = rows["power"].sum(axis=1) - losses + (rows["friction"] * rows["qd"]).sum(axis=1)
    weights = np.ones(n + 1)
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    total = energy(plant, result, column)
    assert math.isclose(total[-1] - total[0], (weights * net).sum() * 0.5 / n / 3, rel_tol=1e-7)
    assert abs(total[-1] - total[0]) > 0.01


def test_a_constant_force_between_its_times_gives_its_impulse(drive):
    from armsim.model import Arm, Joint
    from armsim.spatial import ZERO, Inertia, Pose

    slide = Arm("slide", ZERO, Pose(), (Joint("P1", "prismatic", inertia=Inertia(2.0)),))
    push = ExternalWrench(slide.frame_at(0), Vector(0.0, 0.0, 6.0), start=0.25, end=0.75)
    plant = Plant(slide, None, external=(push,))
    result = drive(NativeEngine(LoopPlan.of(plant, 1 / 64)), plant, [0.0], [0.0], 64, (1, 64))
    assert math.isclose(result.state[1], 6 * 0.5 / 2, rel_tol=1e-14)  # steps that begin from 0.25 s to before 0.75 s


def test_slots_and_columns_say_what_they_are(arm5):
    sampled = Plant(arm5, feedback("pi", "voltage", *[(1.0,) * 5] * 3, (0.0,) * 5, *[(None,) * 5] * 2, 1e-3))
    names = [joint.name for joint in arm5.joints]
    kinds = ("q", "qd", "integral", "held")
    assert sampled.slots == tuple(f"{kind}_{name}" for kind in kinds for name in names)
    state = sampled.initial_state([0.1] * 5, [0.2] * 5)
    assert state[10:] == [0.0] * 10
    assert len(sampled.observe(0.0, state)) == len(sampled.layout.columns)
    mixed = replace(arm5, links=(*arm5.joints[:2], replace(arm5.joints[2], motor=None)))
    plant = Plant(mixed, None)
    assert [c.joint for c in plant.layout.columns if c.quantity == "voltage"] == [0, 1]
    assert len(plant.observe(0.0, plant.initial_state([0.0] * 3, [0.0] * 3))) == len(plant.layout.columns)


def test_a_row_shows_the_forces_and_accelerations_that_act_from_then_on(arm5, column):
    plant = Plant(arm5, pd((60.0,) * 5, (1.0,) * 5, arm5.initial), method="explicit_euler")
    state = plant.initial_state([0.2, -1.3, 0.5, 0.3, -0.2], [0.1, 0.2, -0.3, 0.4, 0.5])  # R2 is in its stop
    row = np.array(plant.observe(0.0, state))
    after = plant.step(0.0, state, 1e-3)
    part = {kind: row[column(plant, kind)] for kind in ("q", "qd", "qdd", "tau", "motor", "friction", "limit")}
    assert [*part["q"], *part["qd"]] == state
    assert np.allclose(np.array(after[5:]), part["qd"] + 1e-3 * part["qdd"], rtol=1e-15)
    assert np.allclose(part["tau"], part["motor"] + part["friction"] + part["limit"], rtol=1e-15)
    assert (part["limit"] > 0).tolist() == [False, True, False, False, False]
    assert np.abs(part["motor"]).tolist() == [abs(torque.motor) for torque in plant.torques(0.0, state)]


def test_what_has_died_away_is_zero_and_all_else_stays_to_the_bit():
    from armsim.plant.plant import calmed

    assert calmed([1e-98, -1e-98, 5e-324, 0.0]) == [0.0] * 4
    kept = [1e-64, -3.3e-20, 0.1, -1.0, 1e9]
    assert calmed(kept) == kept


def test_a_motion_that_decays_for_ever_does_not_end_among_subnormal_numbers():
    import armsim

    run = armsim.simulate("arm5_hold", {"duration": 120, "log.every": 120})
    small = [abs(x) for x in run.state[:10] if x != 0.0 and abs(x) < 1e-20]
    assert small  # two joints are decoupled, and have nothing to do
    assert min(small) > 1e-98
