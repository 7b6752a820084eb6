"""The implicit midpoint rule on arms, in positions and momenta."""

from __future__ import annotations

import math
import platform
from dataclasses import replace

import numpy as np
import pytest

from armsim import expr
from armsim.compile.target import Target
from armsim.control import Controller, OpenLoop
from armsim.dynamics import ExternalWrench, crba
from armsim.expr import trace
from armsim.model import Arm, Coulomb, Joint, Limit, Motor
from armsim.plant import Linearizer, Plant
from armsim.recording.forward_model import ForwardModel
from armsim.simulation.engine import NativeEngine, PythonEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.spatial import ZERO, Inertia, Pose, Vector, Z
from armsim.stability.step_modes import LinearPlant
from tests.controllers import feedback

from ..conftest import PLANTS

SWING = (0.3, -0.4, 0.2, 0.5, -0.3)


def bits(values) -> list[int]:
    return np.ascontiguousarray(values, dtype=float).view(np.int64).ravel().tolist()


def midpoint(plant: Plant) -> Plant:
    return replace(plant, method="implicit_midpoint")


def torques(*signals) -> OpenLoop:
    return OpenLoop("torque", tuple(s if callable(s) else (lambda t, s=s: s) for s in signals))


def pd(kp, kd, target, output="torque", period=None, ki=None) -> Controller:
    none = (None,) * len(kp)
    law, ki = ("pd", (0.0,) * len(kp)) if ki is None else ("pid", tuple(ki))
    return feedback(law, output, tuple(kp), ki, tuple(kd), tuple(target), none, none, period)


@pytest.fixture(scope="module")
def final(drive):
    """The state after a time, by n steps of machine code."""

    def run(plant, q, qd, n, duration=1.0):
        result = drive(NativeEngine(LoopPlan.of(plant, duration / n)), plant, q, qd, n, (1, round(n / duration)), n)
        assert result.reached == n
        return result.state

    return run


@pytest.fixture(scope="module")
def order(final):
    """The order at which a plant's states at a time converge to those of RK4."""

    def fitted(plant, q, qd, counts, duration=1.0, best=40_000) -> float:
        true = final(replace(plant, method="rk4"), q, qd, best, duration)
        errors = [np.abs(final(midpoint(plant), q, qd, n, duration) - true).max() for n in counts]
        return -float(np.polyfit(np.log(counts), np.log(errors), 1)[0])

    return fitted


# ---- accuracy ----


def test_it_converges_at_order_two_on_a_driven_two_link_arm(arms, order):
    arm = arms.shipped("two_link")
    plant = Plant(arm, torques(lambda t: expr.sin(3 * t), 0.5))
    assert abs(order(plant, arm.initial, (0.5, -0.2), (100, 200, 400, 800)) - 2) < 0.1


@pytest.mark.slow
def test_it_converges_at_order_two_on_the_swing_of_arm5(arms, order):
    assert abs(order(Plant(arms.bare(arms.shipped("arm5")), None), SWING, (0.0,) * 5, (1000, 2000, 4000)) - 2) < 0.1


def everything(arms) -> tuple[Plant, list[float], list[float]]:
    """Sliding joints, gears with losses, viscous friction, a spring that the arm leans on, an integral, a force in the world."""
    arm = arms.serial("RPR", seed=5, motors=True)
    joints = [
        replace(
            joint,
            viscous=0.4,
            coulomb=Coulomb(1.0, 1.5),
            limit=Limit(-9.0, 9.0, 50.0, 3.0) if i else Limit(3.0, 9.0, 50.0, 3.0),
            motor=replace(joint.motor, efficiency=0.8),
        )
        for i, joint in enumerate(arm.joints)
    ]
    push = ExternalWrench(arm.frame_at(2, Vector(0.1, 0.0, 0.0)), Vector(0.0, 3.0, -5.0), Vector(0.1, 0.2, 0.3))
    law = pd((9.0, 9.0, 9.0), (0.3, 0.3, 0.3), (9.0, 9.0, 9.0), "voltage", ki=(4.0, 4.0, 4.0))
    plant = Plant(replace(arm, links=tuple(joints)), law, (push,), audit=True)
    return plant, [0.1, 0.2, 0.3], [0.5, 0.6, 0.7]


@pytest.mark.slow
def test_it_converges_at_order_two_with_all_that_can_act_on_an_arm(arms, order, final):
    plant, q, qd = everything(arms)
    true = final(replace(plant, method="rk4"), q, qd, 8000, 0.25)
    assert (true[3:6] > 0).all()
    assert (np.abs(true[-5:-1]) > 1e-2).all()  # all four do work
    assert abs(order(plant, q, qd, (250, 500, 1000, 2000), 0.25, 8000) - 2) < 0.1


@pytest.mark.slow
def test_at_a_millisecond_it_holds_arm5_to_a_hundredth_of_a_milliradian(arms, reference, drive, column):
    # explicit methods blow up at this step; the error of velocity_implicit is 1.7e-3 rad
    table, target = reference("hold_truth"), (0.3, -0.8, 0.0, 0.5, -0.4)
    law = pd((100.0, 100.0, 100.0, 20.0, 20.0), (1.0, 1.0, 1.0, 0.1, 0.1), target, "voltage")
    plant = midpoint(Plant(arms.shipped("arm5"), law))
    assert np.allclose(table.block("q")[0] + (0.3, 0.3, -0.3, 0.5, -0.4), target, atol=1e-15)
    errors = []
    for per_second in (500, 1000):
        every = per_second // 20
        result = drive(
            NativeEngine(LoopPlan.of(plant, 1 / per_second)),
            plant,
            table.block("q")[0],
            [0.0] * 5,
            10 * per_second + 1,
            (1, per_second),
            every,
        )
        errors.append(np.abs(result.rows[:, column(plant, "q")] - table.block("q")).max())
    assert errors[1] < 1e-5
    assert abs(math.log2(errors[0] / errors[1]) - 2) < 0.1


@pytest.mark.parametrize(("kd", "period"), [(1.0, None), (0.0, 0.1)])
@pytest.mark.handful(1)
def test_a_stiff_arm_decays_at_any_step(kd, period, arms, drive, column):
    # at 0.1 s the back-EMF of arm5, up to 3449 1/s, is 172 times what the step can follow
    law = pd((10.0,) * 5, (kd,) * 5, (0.3, -0.8, 0.0, 0.5, -0.4), "voltage", period)
    plant = midpoint(Plant(arms.shipped("arm5"), law))
    result = drive(NativeEngine(LoopPlan.of(plant, 0.1)), plant, [0.0, -1.1, 0.3, 0.0, 0.0], [0.0] * 5, 5000, (1, 10))
    assert result.reached == 5000
    qd = np.abs(result.rows[:, column(plant, "qd")]).max(axis=1)
    assert qd.max() < 20.0
    assert qd[-1] < 1e-6  # at worst every step takes off 4/(h λ), a two-hundredth


# ---- geometry ----


@pytest.fixture(scope="module")
def canonical_map(evaluate):
    """The map of one step in (q, p), on columns of states."""

    def made(plant: Plant, h: float):
        n = plant.arm.n
        names = [f"x{i}" for i in range(2 * n)]
        step = trace(lambda *x: plant.step(0.0, x, h)[: 2 * n], names)
        mass = trace(lambda *q: [x for row in crba(plant.arm, q) for x in row], names[:n])

        def full(q: np.ndarray) -> np.ndarray:
            entries = evaluate(mass, q)
            M = np.zeros((q.shape[1], n, n))
            i, j = np.tril_indices(n)
            M[:, i, j] = M[:, j, i] = entries.T
            return M

        def map_(x: np.ndarray) -> np.ndarray:
            q, p = x[:n], x[n:]
            v = np.linalg.solve(full(q), p.T[..., None])[..., 0].T
            after = evaluate(step, np.concatenate([q, v]))
            return np.concatenate([after[:n], np.einsum("cij,jc->ic", full(after[:n]), after[n:])])

        return map_

    return made


def jacobian_of(map_, x: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """By central differences of order eight, each entry of x moved by so much of its own."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    columns = [x + s * k * e for e in np.diag(apart) for k in weights for s in (1, -1)]
    found = map_(np.array(columns).T).T.reshape(len(x), len(weights), 2, len(x))
    odd = found[:, :, 0] - found[:, :, 1]
    return np.einsum("k,iko->oi", np.array([*weights.values()]), odd) / apart


def defect(J: np.ndarray) -> float:
    """How far a matrix is from symplectic."""
    n = len(J) // 2
    omega = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    return float(np.abs(J.T @ omega @ J - omega).max())


def springs(arm: Arm) -> Controller:
    return pd((30.0,) * arm.n, (0.0,) * arm.n, (0.5,) * arm.n)


@pytest.mark.parametrize("kinds", ["two_link", "arm5", "RPR", "PRRP"])
@pytest.mark.handful(1)
def test_its_step_is_symplectic_in_positions_and_momenta(kinds, arms, canonical_map):
    arm = arms.serial(kinds, seed=4, motors=True) if kinds[0] in "RP" else arms.bare(arms.shipped(kinds))
    if kinds[0] in "RP":  # rotors, but no friction
        bare = [replace(joint.motor, viscous=0.0) for joint in arm.joints]
        arm = replace(arm, links=tuple(replace(j, motor=m) for j, m in zip(arm.joints, bare, strict=True)))
    rng = np.random.default_rng(3)
    plant = Plant(arm, springs(arm))
    q, v = rng.uniform(-1, 1, arm.n), rng.uniform(-2, 2, arm.n)
    M = np.tril([[*row, *[0.0] * (arm.n - len(row))] for row in crba(arm, q.tolist())])
    x = np.concatenate([q, (M + np.tril(M, -1).T) @ v])
    apart = 0.02 * np.concatenate([np.ones(arm.n), np.diag(M)])  # 0.02 rad, about 0.02 rad/s
    defects = {
        method: defect(jacobian_of(canonical_map(replace(plant, method=method), 0.02), x, apart))
        for method in ("implicit_midpoint", "rk4", "velocity_verlet")
    }
    assert defects["implicit_midpoint"] < 1e-10
    assert defects["velocity_verlet"] > 1e-7  # of order two as well, but not symplectic with Coriolis forces
    assert defects["rk4"] > 1e-9


@pytest.mark.parametrize("kinds", ["RPR", "RRRRR"])
def test_a_step_back_undoes_a_step(kinds, arms):
    arm = arms.serial(kinds, seed=4)
    plant = midpoint(Plant(arm, springs(arm)))
    rng = np.random.default_rng(1)
    for _ in range(5):
        start = rng.uniform(-1, 1, 2 * arm.n).tolist()
        there = plant.step(0.0, start, 0.02)
        back = plant.step(0.0, there, -0.02)
        assert np.abs(np.subtract(there, start)).max() > 0.02
        # rounding of momenta through the mass matrix
        assert np.allclose(back, start, rtol=0, atol=1e-12)


def test_a_momentum_that_nothing_changes_is_kept(arms, drive, column):
    arm = arms.serial("RRRR", seed=2)
    axis = (arm.base.rotation @ arm.joints[0].tilt) @ Z
    plant = midpoint(Plant(replace(arm, gravity=9.81 * axis), None))
    result = drive(
        NativeEngine(LoopPlan.of(plant, 1e-3)), plant, arm.initial, [1.0, -0.5, 0.3, 2.0], 20_000, (1, 1000), 200
    )
    momenta = []
    for row in result.rows:
        M = crba(plant.arm, row[:4].tolist())
        momenta.append(sum((M[i][0]) * v for i, v in enumerate(row[4:8])))
    assert np.abs(np.subtract(momenta, momenta[0])).max() < 1e-11 * abs(momenta[0])  # 20 000 steps of rounding
    assert np.ptp(result.rows[:, 4]) > 0.5


@pytest.fixture(scope="module")
def energies(drive, column):
    """The energy of a motion, row by row."""

    def run(plant, q, qd, seconds, per_second, every):
        result = drive(
            NativeEngine(LoopPlan.of(plant, 1 / per_second)),
            plant,
            q,
            qd,
            seconds * per_second + 1,
            (1, per_second),
            every,
        )
        assert result.reached == seconds * per_second + 1
        return result.rows[:, column(plant, "energy")].sum(axis=1)

    return run


def test_the_energy_of_a_two_link_swing_does_not_drift(arms, energies):
    # a hundred seconds, some seventy swings, energies every 50 ms
    arm = arms.shipped("two_link")
    runs = {
        method: energies(Plant(arm, None, method=method), arm.initial, [0.0, 0.0], 100, 250, 12)
        for method in ("implicit_midpoint", "velocity_verlet", "rk4", "semi_implicit_euler")
    }
    t = np.linspace(0, 1, len(runs["rk4"]))
    drifts = {method: abs(np.polyfit(t, E, 1)[0]) for method, E in runs.items()}
    swings = {method: np.ptp(E - np.polyval(np.polyfit(t, E, 1), t)) for method, E in runs.items()}
    assert drifts["implicit_midpoint"] < 0.03 * swings["implicit_midpoint"]
    assert swings["implicit_midpoint"] < swings["semi_implicit_euler"] / 10
    assert drifts["implicit_midpoint"] < drifts["velocity_verlet"] / 5


# ---- what acts on joints ----


def block(**joint) -> Arm:
    """A mass of 2 kg that slides along a line."""
    return Arm("block", ZERO, Pose(), (Joint("P1", "prismatic", inertia=Inertia(2.0), **joint),))


def test_work_is_the_change_of_energy_to_rounding_where_the_mass_is_constant(final):
    # a motor, friction, a stop that is met and a push: (v1² - v0²)/2 is (v1 - v0) times the velocity at mid-step
    motor = Motor(Kp=0.05, Ke=0.05, Ra=0.8, gear=40.0, rotor_inertia=1e-4)
    arm = block(viscous=0.5, coulomb=Coulomb(1.0, 2.0), limit=Limit(-1.0, 0.2, 500.0, 4.0), motor=motor)
    push = ExternalWrench(arm.frame_at(0), Vector(0.0, 0.0, 6.0))
    command = OpenLoop("voltage", (lambda t: 3.0 * expr.sin(9 * t),))
    plant = midpoint(Plant(arm, command, (push,), audit=True))
    end = final(plant, [0.0], [1.0], 500)
    mass = 2.0 + 1600 * 1e-4
    assert math.isclose(end[2:].sum(), mass * (end[1] ** 2 - 1.0) / 2, abs_tol=1e-12)
    assert (np.abs(end[2:-1]) > 0.05).all()


@pytest.mark.slow
def test_work_approaches_the_change_of_energy_at_order_two(arms, drive, column):
    plant, q, qd = everything(arms)
    plant = midpoint(plant)
    left = []
    for n in (250, 500, 1000):
        result = drive(NativeEngine(LoopPlan.of(plant, 0.25 / n)), plant, q, qd, n + 1, (1, 4 * n), n)
        E = result.rows[:, column(plant, "energy")].sum(axis=1)
        before = drive(NativeEngine(LoopPlan.of(plant, 0.25 / n)), plant, q, qd, n, (1, 4 * n), n).state
        left.append(abs(E[1] - E[0] - before[-5:-1].sum()))
    orders = np.log2(np.divide(left[:-1], left[1:]))
    assert np.abs(orders - 2).max() < 0.1


@pytest.mark.parametrize("dt", [1e-4, 1e-3, 1e-2])
@pytest.mark.handful(1)
def test_stops_stiffer_than_the_step_hold_what_is_thrown_against_them(dt, arms, drive, column):
    # arm5 between stops whose dampers alone would stop its last joints within 0.05 ms
    arm = arms.bare(arms.shipped("arm5"))
    arm = replace(arm, links=tuple(replace(j, limit=Limit(-0.6, 0.6, 1000.0, 10.0)) for j in arm.joints))
    plant = midpoint(Plant(arm, None, audit=True))
    steps, ratio = round(10 / dt), (1, round(1 / dt))
    q, qd = (0.5, -0.5, 0.4, 0.3, -0.2), (3.0, -2.0, 1.0, 5.0, -4.0)
    result = drive(NativeEngine(LoopPlan.of(plant, dt)), plant, q, qd, steps + 1, ratio, steps // 100)
    assert result.reached == steps + 1
    E = result.rows[:, column(plant, "energy")].sum(axis=1)
    assert E.max() < E[0] + 0.05
    assert np.abs(result.rows[:, :5]).max() < 0.75
    taken = -result.state[-3]
    assert taken > 10.0
    assert abs(E[-1] - E[0] + taken) < 0.02 * taken


@pytest.mark.parametrize("inductance", [None, 1e-3])
def test_the_advice_on_steps_speaks_of_the_step_that_is_taken(inductance):
    # everything is linear about rest at the target, so the step itself is the matrix
    motor = Motor(Kp=0.05, Ke=0.05, Ra=0.8, gear=40.0, inductance=inductance)
    law = pd((30.0,), (2.0,), (0.0,), "voltage", ki=(50.0,))
    plant = midpoint(Plant(block(viscous=0.5, motor=motor), law))
    size = len(plant.slots)
    columns = [plant.step(0.0, unit, 0.02) for unit in np.eye(size).tolist()]
    told = LinearPlant(Linearizer(plant).at(0.0, [0.0] * size)).step_matrix("implicit_midpoint", 0.02)
    assert np.allclose(told, np.transpose(columns), rtol=1e-12, atol=1e-13)


# ---- the same bits ----


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.handful(1)
def test_machine_code_equals_the_text_on_floats_over_20_steps(name, plants, drive):
    plant, q, qd, sample_every = plants(name)
    plant = midpoint(plant)
    native, text = (
        drive(engine(LoopPlan.of(plant, 1 / 600)), plant, q, qd, 20, (1, 600), 10, sample_every)
        for engine in (NativeEngine, PythonEngine)
    )
    assert native.reached == text.reached == 20
    for part in ("state", "rows", "peaks"):
        assert getattr(native, part).tolist() == getattr(text, part).tolist()


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="is about x86-64 processors")
@pytest.mark.parametrize("name", ["continuous", "prismatic", "outside"])
@pytest.mark.slow
def test_a_processor_without_avx_or_fma_gives_the_same_bits_during_a_transient(name, plants, drive):
    plant, q, qd, sample_every = plants(name)
    plant = midpoint(plant)
    engines = [NativeEngine(LoopPlan.of(plant, 1 / 2000), target) for target in (None, Target("x86-64", ""))]
    for count in (50, 300, 2000):
        host, plain = (drive(engine, plant, q, qd, count, (1, 2000), 50, sample_every) for engine in engines)
        assert host.reached == plain.reached == count
        for part in ("state", "rows", "peaks"):
            assert bits(getattr(host, part)) == bits(getattr(plain, part))


@pytest.mark.slow
def test_every_width_of_lanes_gives_the_same_bits(arms, evaluate):
    plant, *_ = everything(arms)
    plant, count = midpoint(plant), len(plant.slots)
    f = trace(lambda *state: plant.step(0.03, state, 2e-3), [f"x{i}" for i in range(count)])
    rng = np.random.default_rng(9)
    columns = rng.uniform(-1, 1, (count, 64))
    columns[3:6] = np.where(rng.random((3, 64)) < 0.3, 0.0, 3 * columns[3:6])  # some joints at rest
    found = [evaluate(f, columns, lanes=lanes) for lanes in (1, 4, 16)]
    for other in found[1:]:
        assert bits(other) == bits(found[0])
    text = [list(plant.step(0.03, column, 2e-3)) for column in columns[:, :6].T.tolist()]
    assert found[0][:, :6].T.tolist() == text


def test_the_forward_model_takes_the_steps_of_a_run_one_by_one_and_many_at_once():
    model = ForwardModel("arm5", dt=1e-3, method="implicit_midpoint")
    rng = np.random.default_rng(2)
    states = model.state(rng.uniform(-0.3, 0.3, (9, 5)), rng.uniform(-2, 2, (9, 5)))
    inputs = rng.uniform(-5, 5, (9, 5))
    for _ in range(20):
        one_by_one = np.array([model.step(state, u) for state, u in zip(states, inputs, strict=True)])
        states = model.step(states, inputs)
        assert bits(states) == bits(one_by_one)
    assert np.isfinite(states).all()
