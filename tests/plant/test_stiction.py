"""Joints that stick and slide: the law at work in whole arms, with every method."""

from __future__ import annotations

import math
import platform
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from armsim import expr
from armsim.actuation import dry_bounds, sticks
from armsim.compile.target import Target
from armsim.control import Controller, OpenLoop
from armsim.dynamics import ExternalWrench, bias, crba, forward_dynamics
from armsim.dynamics.kinematics import joint_poses
from armsim.expr import trace
from armsim.model import Arm, BrushDrop, Coulomb, Joint, Limit, Motor, MotorLimits
from armsim.plant import Plant
from armsim.simulation.engine import NativeEngine, PythonEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.spatial import ZERO, Inertia, Matrix, Pose, Symmetric, Vector, rotation_x
from tests.controllers import feedback

METHODS = ["explicit_euler", "semi_implicit_euler", "rk4", "implicit_midpoint"]
EULER = METHODS[:2]
SLIGHTLY = 1e-12  # relative, what the issue asks of breakaway


def bits(values) -> list[int]:
    return np.ascontiguousarray(values, dtype=float).view(np.int64).ravel().tolist()


def block(friction: float | Coulomb, mass: float = 2.0, pull: float = 0.0) -> Arm:
    """A mass that slides along a line; `pull` [m/s²] is gravity along it."""
    coulomb = friction if isinstance(friction, Coulomb) else Coulomb(friction, friction)
    joint = Joint("P1", "prismatic", inertia=Inertia(mass), coulomb=coulomb)
    return Arm("block", Vector(0.0, 0.0, pull), Pose(), (joint,))


def pendulum(friction: float) -> Arm:
    """A body on a horizontal axis."""
    inertia = Inertia.about_com(3.0, Vector(0.4, 0.1, 0.05), Symmetric(0.1, 0.2, 0.15))
    joint = Joint("R1", "revolute", rotation_x(math.pi / 2), inertia=inertia, coulomb=Coulomb(friction, friction))
    return Arm("pendulum", Vector(0.0, 0.0, -9.81), Pose(), (joint,))


def rubbing(arm: Arm, friction, **motor) -> Arm:
    """The same arm with dry friction of its joints, None for none, and further properties of its motors."""
    joints = []
    for joint, c in zip(arm.joints, friction, strict=True):
        made = replace(joint.motor, **motor) if joint.motor is not None and motor else joint.motor
        joints.append(replace(joint, coulomb=None if c is None else Coulomb(c, 1.2 * c), motor=made))
    return replace(arm, links=tuple(joints))


def signals(output, *made, period=None) -> OpenLoop:
    return OpenLoop(output, tuple((lambda t, s=s: s) if isinstance(s, float) else s for s in made), period)


def pd(kp, kd, target, output="voltage", period=None) -> Controller:
    none = (None,) * len(kp)
    return feedback("pd", output, tuple(kp), (0.0,) * len(kp), tuple(kd), tuple(target), none, none, period)


def steps(plant: Plant, q, qd, count: int, dt: float) -> list[list[float]]:
    """States by the text on numbers."""
    states = [plant.initial_state(list(q), list(qd))]
    for k in range(count):
        states.append(plant.step(k * dt, states[-1], dt))
    return states


@pytest.fixture(scope="module")
def go(drive, column):
    """Runs a plant by machine code from the start; columns by quantity, one row a step."""

    def run(plant, q, qd, count, per_second, sample_every=1, log_every=1):
        engine = NativeEngine(LoopPlan.of(plant, 1 / per_second))
        result = drive(engine, plant, list(q), list(qd), count, (1, per_second), log_every, sample_every)
        assert result.reached == count
        kinds = ("q", "qd", "qdd", "tau", "motor", "friction", "limit", "energy")
        return SimpleNamespace(
            state=result.state, rows=result.rows, **{kind: result.rows[:, column(plant, kind)] for kind in kinds}
        )

    return run


FULL = {
    "efficiency": 0.9,
    "brush_drop": BrushDrop(0.5, 0.3),
    "inductance": 1e-3,
    "coulomb": Coulomb(0.01, 0.02),
    "viscous": 0.01,
    "rotor_inertia": 1e-3,
    "limits": MotorLimits(voltage=10.0, current=8.0, torque=70.0, speed=3.0),
}
PLANTS = [
    "arm5 on springs",
    "sampled, full motors",
    "continuous, outside forces",
    "rk4, full motors, integral",
    "rk4, sampled torque",
    "open terminals",
]


@pytest.fixture(scope="module")
def make(arms):
    """Plants with dry friction that between them use every way it is reached: (plant, q, qd, sample_every)."""

    def made(name: str):
        arm5 = arms.shipped("arm5")
        q, qd = [0.02, -1.15, 0.55, 0.3, -0.2], [-1.0, 0.0, 1.0, 0.0, -2.0]
        kp, kd, target = (60.0, 60.0, 60.0, 20.0, 20.0), (1.0, 1.0, 1.0, 0.1, 0.1), (0.0, -1.1, 0.3, 0.0, 0.0)
        whole = rubbing(arm5, (20.0, 20.0, None, 3.0, 0.2), **FULL)
        if name == "arm5 on springs":
            law = pd((60.0, 60.0, 60.0, 3.0, 2.0), (0.5, 0.5, 0.5, 0.01, 0.01), target, "torque")
            return Plant(rubbing(arms.bare(arm5), (2.0, 8.0, 3.0, 0.2, 0.1)), law), q, qd, 1
        if name == "sampled, full motors":
            return Plant(whole, pd(kp, kd, target, period=0.002)), q, qd, 4
        rpr = arms.serial("RPR", seed=5, motors=True)
        if name == "continuous, outside forces":
            pushes = (
                ExternalWrench(rpr.frame_at(2, Vector(0.0, 0.0, 0.05)), Vector(0.0, 9.0, -5.0), start=0.02, end=0.1),
                ExternalWrench(
                    rpr.frame_at(1, Vector(0.1, 0.0, 0.0)), Vector(9.0, 0.0, 0.0), Vector(0.1, 0.2, 0.3), "local"
                ),
            )
            waves = [lambda t, i=i: 9.0 * expr.sin((9 + i) * t) for i in range(3)]
            plant = Plant(rubbing(rpr, (5.0, 30.0, 3.0)), signals("voltage", *waves), pushes, "explicit_euler")
            return plant, [0.1, 0.2, 0.3], [0.0, 0.5, -0.5], 1
        if name == "rk4, full motors, integral":
            geared = {**FULL, "coulomb": Coulomb(1e-3, 2e-3), "viscous": 1e-5, "rotor_inertia": 1e-5}
            geared["limits"] = MotorLimits(voltage=10.0, current=3.0, torque=0.5, speed=100.0)
            arm = rubbing(rpr, (3.0, None, 1.0), **geared)
            gains = (30.0,) * 3, (9.0,) * 3, (1.0,) * 3
            law = feedback("pid", "voltage", *gains, (0.3, 0.1, -0.3), *[(None,) * 3] * 2)
            return Plant(arm, law, method="rk4"), [0.1, 0.2, 0.3], [0.0, 0.5, -0.5], 1
        if name == "rk4, sampled torque":
            waves = [lambda t, i=i: 30.0 * expr.sin((9 + i) * t) for i in range(3)]
            arm = rubbing(rpr, (9.0, 30.0, 5.0))
            return Plant(arm, signals("torque", *waves, period=0.005), method="rk4"), [0.1, 0.2, 0.3], [0.0] * 3, 10
        assert name == "open terminals"
        return Plant(rubbing(arm5, (None, 3.0, None, None, 0.1)), None), q, [0.0] * 5, 1

    return made


# ---- one joint ----


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("q", [0.3, 2.4])
@pytest.mark.handful(2)
def test_gravity_is_held_below_the_breakaway_torque_and_wins_above_it(method, q):
    load = bias(pendulum(0.0), [q], [0.0])[0]  # what must be supplied
    for share, way in ((1 + SLIGHTLY, 0.0), (1 - SLIGHTLY, -math.copysign(1.0, load))):
        friction = Coulomb(abs(load) * share, abs(load) * share)
        joint = replace(pendulum(0.0).joints[0], coulomb=friction)
        arm = replace(pendulum(0.0), links=(joint,))
        for state in steps(Plant(arm, None, method=method), [q], [0.0], 20, 1e-3)[1:]:
            if way:
                assert state[1] * way > 0
            else:
                assert state == [q, 0.0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_row_says_that_friction_balances_what_it_holds(method):
    load = bias(pendulum(0.0), [0.3], [0.0])[0]
    plant = Plant(pendulum(2 * abs(load)), None, method=method)
    row = dict(zip(((c.quantity, c.of) for c in plant.layout.columns), plant.observe(0.0, [0.3, 0.0]), strict=True))
    assert row["qdd", "R1"] == 0
    assert row["friction", "R1"] == row["tau", "R1"] == load


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("v0", [1.3, -0.7])
@pytest.mark.handful(4)
def test_a_sliding_joint_stops_when_and_where_the_closed_form_says_and_stays(method, v0, go):
    mass, friction, per_second = 2.0, Coulomb(3.0, 5.0), 1000
    force = friction.positive if v0 > 0 else friction.negative
    stop, place = mass * abs(v0) / force, mass * v0 * abs(v0) / (2 * force)
    run = go(Plant(block(friction, mass), None, method=method), [0.0], [v0], 2000, per_second)
    still = run.qd[:, 0] == 0
    first = int(np.argmax(still))
    dt = 1 / per_second
    assert abs(first * dt - stop) <= dt * (1 + 1e-9)
    assert abs(run.q[first, 0] - place) <= abs(v0) * dt
    assert still[first:].all()
    assert len(set(bits(run.q[first + 1 :, 0]))) == 1
    assert (run.friction[: first - 1, 0] == -math.copysign(force, v0)).all()
    assert (run.friction[first:, 0] == 0).all()  # nothing to hold: nothing held


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_joint_that_is_pulled_back_harder_than_friction_holds_turns_round(method, go):
    # up a slope that friction cannot hold: -(g + F/m) on the way up, -(g - F/m) on the way down
    up, down = 9.81 + 1.5, 9.81 - 1.5
    run = go(Plant(block(3.0, 2.0, pull=-9.81), None, method=method), [0.0], [2.0], 1000, 1000)
    top, after = 2.0 / up, 1.0 - 2.0 / up
    assert abs(run.state[1] + down * after) <= 2 * up * 1e-3  # within two steps' change
    assert abs(run.state[0] - (2.0 * top / 2 - down * after**2 / 2)) <= 2 * up * 1e-3
    assert (run.qd[:, 0] * run.friction[:, 0] <= 0).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_rest_is_rest_to_the_bit_however_long_and_whatever_the_place(method, go):
    load = bias(pendulum(0.0), [0.123456789], [0.0])[0]
    run = go(Plant(pendulum(1.5 * abs(load)), None, method=method), [0.123456789], [0.0], 5000, 1000, log_every=100)
    assert bits(run.q[:, 0]) == bits([0.123456789] * 50)
    assert bits(run.state) == bits([0.123456789, 0.0])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_push_that_grows_sets_a_joint_free_when_it_exceeds_friction(method, go):
    # 4 t N against 3 N: free from t = 0.75; v = 4 t²/2 - 3 t over the mass since then
    plant = Plant(block(3.0, 2.0), signals("torque", lambda t: 4.0 * t), method=method)
    run = go(plant, [0.0], [0.0], 1001, 1000)
    assert (run.qd[:751, 0] == 0).all()
    assert (run.qd[753:, 0] > 0).all()
    assert abs(run.qd[1000, 0] - 2 * 0.25**2 / 2.0) <= 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_stick_and_slip_of_a_block_on_a_spring_are_those_of_the_closed_form(method, go):
    # a spring (PD without D) pulls a block back; every half swing the turning point comes 2 F/k nearer to the middle
    k, mass, friction, start = 200.0, 2.0, 3.0, 0.1
    plant = Plant(block(friction, mass), pd((k,), (0.0,), (0.0,), "torque"), method=method)
    run = go(plant, [start], [0.0], 30_000, 10_000)
    turns = [start]
    while k * abs(turns[-1]) > friction:
        turns.append(-math.copysign(abs(turns[-1]) - 2 * friction / k, turns[-1]))
    assert [round(x, 9) for x in turns] == [0.1, -0.07, 0.04, -0.01]
    half = math.pi * math.sqrt(mass / k)
    for i, place in enumerate(turns[1:], start=1):
        assert abs(run.q[round(i * half * 10_000), 0] - place) < 1e-3  # explicit Euler gains 2 % by then
    assert run.state[1] == 0
    assert (run.qd[round(3.1 * half * 10_000) :, 0] == 0).all()


# ---- the law in whole arms ----


def needed_friction(plant: Plant, run, dt: float) -> np.ndarray:
    """Dry friction that the velocities of one row and the next tell of, by the equation of motion."""
    arm, told = plant.arm, []
    viscous = np.array([j.viscous + (j.motor.gear**2 * j.motor.viscous if j.motor else 0.0) for j in arm.joints])
    for k in range(len(run.q) - 1):
        q, qd = run.q[k].tolist(), run.qd[k].tolist()
        M = np.tril([[*row, *[0.0] * (arm.n - len(row))] for row in crba(arm, q)])
        M = M + np.tril(M, -1).T
        others = run.motor[k] + run.limit[k] - viscous * run.qd[k] - np.array(bias(arm, q, qd))
        told.append(M @ (run.qd[k + 1] - run.qd[k]) / dt - others)
    return np.array(told)


@pytest.mark.parametrize("name", ["arm5 on springs", "sampled, full motors", "open terminals"])
@pytest.mark.parametrize("method", EULER)
@pytest.mark.handful(1)
def test_in_every_step_friction_is_within_its_bounds_and_against_the_new_velocity(name, method, make, go):
    plant, q, qd, sample_every = make(name)
    plant = replace(plant, method=method)
    run = go(plant, q, qd, 400, 2000, sample_every)
    found = needed_friction(plant, run, 1 / 2000)
    new, size = run.qd[1:], 1e-9 * (1 + np.abs(run.motor[:-1]).max())  # rounding of v times M/dt
    viscous = np.array([j.viscous + (j.motor.gear**2 * j.motor.viscous if j.motor else 0.0) for j in plant.arm.joints])
    row = run.friction[:-1] + viscous * run.qd[:-1]
    held_some = slid_some = 0
    for i, joint in enumerate(plant.arm.joints):
        if not sticks(joint):
            assert np.abs(found[:, i]).max() < size
            continue
        lower, upper = np.array([dry_bounds(joint, tau) for tau in run.motor[:-1, i]]).T
        assert (found[:, i] <= upper + size).all()
        assert (found[:, i] >= lower - size).all()
        forward, back = new[:, i] > 0, new[:, i] < 0
        assert np.abs(found[forward, i] - lower[forward]).max(initial=0) < size
        assert np.abs(found[back, i] - upper[back]).max(initial=0) < size
        held_some += (~forward & ~back).sum()
        slid_some += (forward | back).sum()
    assert held_some > 50
    assert slid_some > 50
    # where no joint starts, stops or turns within the step, the row had said so
    kept = (np.sign(run.qd[1:]) == np.sign(run.qd[:-1])).all(axis=1)
    assert np.abs(found[kept] - row[kept]).max() < size
    assert kept.sum() > 100


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_in_every_row_friction_only_takes_power(name, method, make, go):
    plant, q, qd, sample_every = make(name)
    run = go(replace(plant, method=method), q, qd, 400, 2000, sample_every)
    assert (run.friction * run.qd <= 0).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_joints_stick_slip_and_release_at_different_times_and_together(method, make, go):
    plant, q, qd, _ = make("continuous, outside forces")
    run = go(replace(plant, method=method), q, qd, 2000, 2000)
    still = run.qd == 0
    for i in range(3):
        changes = np.diff(still[:, i].astype(int))
        assert (changes == 1).sum() >= 1, i  # it sticks
        assert (changes == -1).sum() >= 1, i  # and is released
    together = still.sum(axis=1)
    assert {0, 1, 2} <= set(together.tolist())
    # all the while a joint is still its place does not change by a bit
    moved = np.diff(run.q, axis=0) != 0
    assert not (moved & still[:-1] & still[1:]).any()


def welded(arm: Arm, k: int, q: float) -> Arm:
    """The arm with joint k fixed at q, its link made one with the link before it."""
    R, p = joint_poses(arm, [q] * arm.n)[k]
    R = R if isinstance(R, Matrix) else R.matrix
    joints = list(arm.joints)
    fixed = joints.pop(k)
    inertia = fixed.inertia
    if k == len(joints):  # the last link carries the payload
        inertia = arm.inertias[k]
    else:
        after = joints[k]
        tilt, position = R @ after.tilt, p + R @ after.position
        joints[k] = replace(after, tilt=tilt, position=position)
    if k > 0:
        before = joints[k - 1]
        joints[k - 1] = replace(before, inertia=before.inertia + inertia.moved(R, p))
    last = k == len(joints)
    return replace(arm, links=tuple(joints), payloads=() if last else arm.payloads)


@pytest.mark.parametrize("kinds", ["RRRR", "RPRR", "PRRP"])
@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(20)
def test_with_one_joint_stuck_the_others_accelerate_as_with_that_joint_welded(kinds, k, method, arms):
    arm = arms.serial(kinds, seed=11)
    rng = np.random.default_rng(k)
    q, qd, tau = (rng.uniform(-1, 1, 4).tolist() for _ in range(3))
    qd[k] = 0.0
    others = [i for i in range(4) if i != k]
    firm = rubbing(arm, [1e6 if i == k else None for i in range(4)])
    plant = Plant(firm, signals("torque", *[5 * x for x in tau]), method=method)
    row = np.array(plant.observe(0.0, [*q, *qd]))
    fixed = welded(arm, k, q[k])
    expected = forward_dynamics(fixed, [q[i] for i in others], [qd[i] for i in others], [5 * tau[i] for i in others])
    assert row[8 + k] == 0
    assert np.allclose(row[8:12][others], expected, rtol=1e-11, atol=1e-11)
    h = 1e-7
    after = plant.step(0.0, [*q, *qd], h)
    assert after[k] == q[k]
    assert after[4 + k] == 0
    assert np.allclose((np.array(after[4:])[others] - np.array(qd)[others]) / h, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_an_arm_with_a_stuck_joint_swings_as_the_welded_arm_does(method, arms, go):
    arm = arms.serial("RRR", seed=3)
    q, qd = [0.3, -0.2, 0.5], [0.5, 0.0, -1.0]
    stuck = go(Plant(rubbing(arm, (None, 1e6, None)), None, method=method), q, qd, 500, 2000)
    fixed = go(Plant(welded(arm, 1, q[1]), None, method=method), [q[0], q[2]], [qd[0], qd[2]], 500, 2000)
    assert (stuck.qd[:, 1] == 0).all()
    assert np.allclose(stuck.q[:, [0, 2]], fixed.q, rtol=0, atol=1e-10)  # a quarter of a second of rounding
    assert np.abs(fixed.q[-1] - fixed.q[0]).max() > 0.1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_an_unpowered_arm_falls_unless_friction_holds_it(method, arms, go):
    arm5 = arms.shipped("arm5")
    q = [0.2, -0.9, 0.1, 0.3, -0.2]
    loads = np.abs(bias(arm5, q, [0.0] * 5))
    held = go(Plant(rubbing(arm5, (loads * 1.0001 + 1e-9).tolist()), None, method=method), q, [0.0] * 5, 2000, 2000)
    assert bits(held.state) == bits([*q, *[0.0] * 5])
    slipping = go(Plant(rubbing(arm5, (loads * 0.7).tolist()), None, method=method), q, [0.0] * 5, 400, 2000)
    assert (np.abs(slipping.state[:5] - q) > 1e-4).any()
    # motors with shorted terminals do not hold it up either: they only brake
    shorted = go(Plant(arm5, signals("voltage", *[0.0] * 5), method=method), q, [0.0] * 5, 2000, 2000)
    assert np.abs(shorted.state[1:3] - q[1:3]).max() > 1e-3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_limit_counts_once_with_a_motor_and_friction(method, go):
    # a mass of 5 kg on a stop of 1000 N/m sinks in by m g / k; friction too weak to matter decides the last bit of it
    motor = Motor(Kp=0.05, Ke=0.05, Ra=0.8, gear=40.0)
    limit = Limit(-0.5, math.inf, stiffness=1000.0, damping=100.0)
    joint = Joint("P1", "prismatic", inertia=Inertia(5.0), coulomb=Coulomb(1e-6, 1e-6), limit=limit, motor=motor)
    arm = Arm("slide", Vector(0.0, 0.0, -9.81), Pose(), (joint,))
    run = go(Plant(arm, signals("voltage", 0.0), method=method), [-0.5], [0.0], 20_000, 2000, log_every=100)
    assert run.state[1] == 0
    assert math.isclose(run.state[0], -0.5 - 5 * 9.81 / 1000, abs_tol=1e-6 / 1000 * 1.01)
    assert math.isclose(run.limit[-1, 0], 5 * 9.81, rel_tol=1e-7)


@pytest.mark.parametrize("period", [None, 0.002])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_a_settled_arm_under_feedback_is_exactly_still_and_does_not_chatter(method, period, make, go):
    plant, q, qd, _ = make("arm5 on springs")
    plant = replace(plant, method=method, command=replace(plant.command, period=period))
    run = go(plant, q, qd, 16_000, 4000, 8)
    settled = slice(12_000, None)
    assert (run.qd[settled] == 0).all()
    assert all(len(set(bits(run.q[settled, i]))) == 1 for i in range(5))
    assert (run.qdd[settled] == 0).all()
    # on the way there each joint swings through, sticks, or is torn off a few times, at the springs' own pace
    for i in range(5):
        changes = np.flatnonzero(np.diff(np.sign(run.qd[:, i])))
        assert len(changes) <= 60
        assert (np.abs(run.q[:, i] - run.q[-1, i]) > 1e-3).any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_joint_that_creeps_towards_its_bound_neither_stops_nor_turns(method, go):
    # an overdamped joint under PD approaches the place where friction would hold it, v = v0 exp(-t k/d), and never gets there
    motor = Motor(Kp=10.0, Ke=10.0, Ra=1.0)
    joint = Joint(
        "R1", "revolute", inertia=Inertia(0.0, ZERO, Symmetric(zz=0.01)), coulomb=Coulomb(6.0, 6.0), motor=motor
    )
    arm = Arm("creep", ZERO, Pose(), (joint,))
    run = go(Plant(arm, pd((60.0,), (0.0,), (0.0,)), method=method), [0.2], [0.0], 20_000, 20_000, log_every=20)
    assert (run.qd[1:, 0] < 0).all()
    assert (np.diff(run.qd[5:, 0]) > 0).all()
    assert 0 < run.state[0] - 6.0 / 600 < 0.19 * math.exp(-5.9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(2)
def test_a_joint_that_stops_does_not_disturb_one_that_does_not_feel_it(method, go):
    # two slides at right angles: each loses F/m of its speed a second, one of them for longer
    first = Joint("P1", "prismatic", inertia=Inertia(1.0), coulomb=Coulomb(3.0, 3.0))
    second = Joint("P2", "prismatic", rotation_x(math.pi / 2), inertia=Inertia(2.0), coulomb=Coulomb(4.0, 4.0))
    arm = Arm("cross", ZERO, Pose(), (first, second))
    run = go(Plant(arm, None, method=method), [0.0, 0.0], [0.2, 1.5], 601, 1000)
    assert run.state[2] == 0
    assert np.allclose(run.qd[:, 1], 1.5 - 2.0 * np.arange(601) / 1000, rtol=0, atol=1e-12)


def test_a_step_on_which_nothing_starts_or_stops_needs_no_search(monkeypatch, arms):
    from armsim.dynamics import clipped

    searched = []

    def counting(state, body, until, at_most):
        searched.append(not until(*state))
        return expr.loop(state, body, until, at_most)

    monkeypatch.setattr(clipped, "loop", counting)
    arm = rubbing(arms.serial("RPR", seed=5), (3.0, 50.0, 1.0))
    plant = Plant(arm, None)
    state = [0.1, 0.2, 0.3, 2.0, 0.0, -2.0]  # two slide, one is held
    after = steps(plant, state[:3], state[3:], 5, 1e-4)[-1]
    assert [np.sign(x) for x in after[3:]] == [1.0, 0.0, -1.0]
    assert searched == [False] * 5


# ---- accuracy ----


def finals(plant, q, qd, counts, duration, go) -> list[np.ndarray]:
    return [go(replace(plant), q, qd, n, round(n / duration), log_every=n).state for n in counts]


@pytest.mark.parametrize(
    ("method", "counts", "order"), [(m, (400, 800, 1600, 3200), 1) for m in EULER] + [("rk4", (40, 80, 160, 320), 4)]
)
@pytest.mark.handful(1)
def test_methods_keep_their_order_while_joints_slide(method, counts, order, arms, go):
    # both joints of the swing go one way for half a second, their friction constant, direction by direction
    arm = rubbing(arms.shipped("two_link"), (1.0, 0.5))
    plant = Plant(arm, signals("torque", lambda t: 30 + 3 * expr.sin(9 * t), 12.0), method=method)
    q, qd = (0.1, 0.2), (1.5, 2.0)
    true = go(Plant(arm, plant.command, method="rk4"), q, qd, 4000, 8000)
    assert (true.qd > 0.1).all()
    errors = [np.abs(x - true.state).max() for x in finals(plant, q, qd, counts, 0.5, go)]
    assert abs(-np.polyfit(np.log(counts), np.log(errors), 1)[0] - order) < 0.1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_methods_converge_through_stops_at_order_one(method, arms, go):
    # joints stop, stick and start again: when within a step they do is not resolved, so errors jump about a line
    arm = rubbing(arms.shipped("two_link"), (4.0, 2.0))
    plant = Plant(arm, signals("torque", lambda t: 25 * expr.sin(9 * t), lambda t: 6 * expr.cos(7 * t)), method=method)
    q, qd = (-1.2, 0.4), (0.5, -1.0)
    true = go(Plant(arm, plant.command, method="rk4"), q, qd, 64_000, 64_000, log_every=16)
    assert ((true.qd == 0).sum(axis=0) > 20).all()  # of 4000 rows
    counts = (250, 500, 1000, 2000, 4000)
    errors = [np.abs(x - true.state).max() for x in finals(plant, q, qd, counts, 1.0, go)]
    assert -np.polyfit(np.log(counts), np.log(errors), 1)[0] > 0.8
    assert errors[-1] < 1e-2


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
def test_friction_that_is_zero_gives_the_motion_without(method, arms, go):
    arm = arms.serial("RPR", seed=5, motors=True)
    command = signals("voltage", lambda t: 9 * expr.sin(9 * t), 3.0, -2.0)
    none, zero = (
        go(Plant(a, command, method=method), [0.1, 0.2, 0.3], [0.0, 0.5, -0.5], 500, 2000)
        for a in (arm, rubbing(arm, (0.0, 0.0, 0.0)))
    )
    assert np.allclose(zero.q, none.q, rtol=1e-10, atol=1e-12)
    assert np.allclose(zero.qdd, none.qdd, rtol=1e-8, atol=1e-8)
    assert np.abs(zero.friction - none.friction).max() < 1e-12


def test_friction_takes_the_energy_that_a_fall_loses(arms, go):
    # RK4 and Simpson's rule, but first order at the stops
    arm = rubbing(arms.bare(arms.shipped("arm5")), (2.0, 2.0, 1.0, 0.1, 0.05))
    n = 4000
    run = go(Plant(arm, None, method="rk4"), [0.2, -0.9, 0.1, 0.3, -0.2], [0.0] * 5, n + 1, 4000)
    total = run.energy.sum(axis=1)
    power = (run.friction * run.qd).sum(axis=1)
    lost = np.concatenate([[0.0], np.cumsum(power[1:] + power[:-1]) / 2 / 4000])
    assert np.abs(total - total[0] - lost).max() < 2e-3 * -lost[-1]
    assert lost[-1] < -1.0
    assert (np.diff(total) <= 1e-9 * np.abs(total[0])).all()


@pytest.mark.parametrize("method", ["velocity_verlet", "rk4"])
def test_the_work_of_friction_that_stops_a_joint_at_a_steps_end_is_counted(method, go):
    # up to the step in which it stops every method is exact, and then the impulse takes what energy is left
    plant = Plant(block(3.0, 2.0), None, method=method, audit=True)
    run = go(plant, [0.0], [1.3], 1000, 1000)
    assert run.state[1] == 0
    assert math.isclose(run.state[3], -2.0 * 1.3**2 / 2, rel_tol=1e-12)


# ---- the same bits ----


@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.handful(1)
def test_machine_code_equals_the_text_on_floats_over_100_steps(name, make, drive):
    plant, q, qd, sample_every = make(name)
    native, text = (
        drive(engine(LoopPlan.of(plant, 1 / 600)), plant, q, qd, 100, (1, 600), 10, sample_every)
        for engine in (NativeEngine, PythonEngine)
    )
    assert native.reached == text.reached == 100
    assert native.state.tolist() == text.state.tolist()
    assert native.rows.tolist() == text.rows.tolist()
    assert native.peaks.tolist() == text.peaks.tolist()


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="is about x86-64 processors")
@pytest.mark.parametrize("name", PLANTS)
@pytest.mark.slow
def test_a_processor_without_avx_or_fma_gives_the_same_bits_during_a_transient(name, make, drive):
    plant, q, qd, sample_every = make(name)
    engines = [NativeEngine(LoopPlan.of(plant, 1 / 2000), target) for target in (None, Target("x86-64", ""))]
    for count in (50, 300, 2000):
        host, plain = (drive(engine, plant, q, qd, count, (1, 2000), 50, sample_every) for engine in engines)
        assert host.reached == plain.reached == count
        for part in ("state", "rows", "peaks"):
            assert bits(getattr(host, part)) == bits(getattr(plain, part))


@pytest.mark.slow
def test_every_width_of_lanes_gives_the_same_bits(make, evaluate):
    for name in ("continuous, outside forces", "rk4, full motors, integral"):
        plant, *_ = make(name)
        count = len(plant.slots)
        f = trace(lambda *state, plant=plant: plant.step(0.03, state, 5e-4), [f"x{i}" for i in range(count)])
        rng = np.random.default_rng(9)
        columns = rng.uniform(-0.3, 0.3, (count, 64))
        columns[3:6] = np.where(rng.random((3, 64)) < 0.5, 0.0, columns[3:6])  # half of the joints at rest
        found = [evaluate(f, columns, lanes=lanes) for lanes in (1, 4, 16)]
        for other in found[1:]:
            assert bits(other) == bits(found[0])
        text = [list(plant.step(0.03, column, 5e-4)) for column in columns[:, :12].T.tolist()]
        assert found[0][:, :12].T.tolist() == text
        assert 0.1 < (found[0][3:6] == 0).mean() < 0.6


@pytest.mark.parametrize("name", ["sampled, full motors", "rk4, sampled torque"])
@pytest.mark.handful(1)
def test_a_run_in_pieces_equals_one_go(name, make, drive):
    plant, q, qd, sample_every = make(name)
    engine = NativeEngine(LoopPlan.of(plant, 1 / 2000))
    whole = drive(engine, plant, q, qd, 100, (1, 2000), 7, sample_every)
    pieces = drive(engine, plant, q, qd, 100, (1, 2000), 7, sample_every, cuts=(1, 2, 13, 14, 40, 77))
    for part in ("state", "rows", "peaks"):
        assert bits(getattr(pieces, part)) == bits(getattr(whole, part))


# ---- many ----


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.handful(1)
def test_ten_thousand_random_states_of_an_arm_satisfy_the_law(n, arms, evaluate):
    # the whole kick of a random arm, against its mass matrix and bias
    arm = rubbing(arms.serial("RPRRRPRR"[:n], seed=1), [1.0] * n)

    def body(*x):
        q, qd, tau, c, h = x[:n], x[n : 2 * n], x[2 * n : 3 * n], x[3 * n : 4 * n], x[4 * n]
        joints = tuple(replace(j, coulomb=Coulomb(b, 1.5 * b)) for j, b in zip(arm.joints, c, strict=True))
        plant = Plant(replace(arm, links=joints), signals("torque", *[lambda t, u=u: u for u in tau]))
        after = plant.step(0.0, [*q, *qd], h)[n:]
        return [*after, *[x for row in crba(arm, q) for x in row], *bias(arm, q, qd)]

    rng, count = np.random.default_rng(n), 10_240
    q, qd, tau = rng.uniform(-2, 2, (n, count)), rng.uniform(-2, 2, (n, count)), rng.normal(size=(n, count)) * 20
    qd[rng.random((n, count)) < 0.5] = 0.0
    c, h = 10 ** rng.uniform(-2, 2, (n, count)), 10 ** rng.uniform(-5, -2, count)
    found = evaluate(trace(body, [f"x{i}" for i in range(4 * n + 1)]), [*q, *qd, *tau, *c, h])
    v, entries, rest = found[:n], found[n : n + n * (n + 1) // 2], found[n + n * (n + 1) // 2 :]
    M = np.zeros((count, n, n))
    i, j = np.tril_indices(n)
    M[:, i, j] = M[:, j, i] = entries.T
    impulse = np.einsum("cij,jc->ic", M, v - qd) - h * (tau - rest)
    size = np.einsum("cij,jc->ic", np.abs(M), np.abs(v) + np.abs(qd)) + h * (np.abs(tau) + np.abs(rest) + 1.5 * c)
    lower, upper = -h * c, 1.5 * h * c
    wrong = np.where(
        v > 0,
        np.abs(impulse - lower),
        np.where(v < 0, np.abs(impulse - upper), np.maximum(np.maximum(lower - impulse, impulse - upper), 0)),
    )
    assert (wrong / size).max() < 1e-10
    assert 0.05 < (v == 0).mean() < 0.95
