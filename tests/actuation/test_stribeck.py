"""Static friction that falls to Coulomb's with the speed: in files, in runs, in arms of many joints."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import armsim
from armsim import FileFaults
from armsim.actuation import dry_bounds
from armsim.arm.robot_overview import robot_overview
from armsim.dynamics import bias, crba
from armsim.expr import trace
from armsim.model import Coulomb, Joint, Mimic, Motor, Stribeck
from armsim.plant.stiction import accelerations

COULOMB, STATIC, SPEED, SPRING, PULL = 1.0, 2.0, 0.05, 40.0, 0.1
FRICTION = {"coulomb": COULOMB, "static": STATIC, "stribeck": {"velocity": SPEED, "exponent": 2}}


def on_motor(gear):
    """The same friction on the motor's side of a gear."""
    size = abs(gear)
    falls = {"velocity": SPEED * size, "exponent": 2}
    return {"gear": gear, "coulomb": COULOMB / size, "static": STATIC / size, "stribeck": falls}


def scenario(friction=FRICTION, method="rk54", joint="prismatic", units=None, motor=None, **more):
    body = {"point": {"mass": 1, "center": [0.0, 0.0, 0.0] if joint == "prismatic" else [1.0, 0.0, 0.0]}}
    zero = {"a": 0, "alpha": 0, "d": 0, "theta": 0}
    part = {"name": "J", "type": joint, "mdh": zero, "bodies": [body], "friction": friction}
    part |= {} if motor is None else {"motor": motor}
    robot = {"format": "armsim/robot/1", "name": "block", "gravity": [0, 0, 0], "joints": [part]}
    control = {"law": "pd", "output": "torque", "kp": [SPRING], "kd": [0], "reference": {"q": [f"{PULL}*t"]}}
    steps = {"rtol": 1e-11, "atol": 1e-13} if method == "rk54" else {"dt": 1e-3}
    if units:
        robot["units"] = units
    return {
        "format": "armsim/scenario/1",
        "robot": robot,
        "duration": 3,
        "integrator": {"method": method, **steps},
        "control": control,
        "log": {"every": 0.05},
    } | more


def drawn_along(times):
    """Positions of the block that a spring draws along, with its events located by an integrator of order 8."""
    t, x, found = 0.0, 0.0, np.zeros(len(times))

    def law(t, y):
        friction = COULOMB + (STATIC - COULOMB) * exp(-((max(y[1], 0.0) / SPEED) ** 2))
        return [y[1], SPRING * (PULL * t - y[0]) - friction]

    def rest(t, y):
        return y[1]

    rest.terminal, rest.direction = True, -1
    starts = []
    while t < times[-1]:
        away = (STATIC / SPRING + x) / PULL
        found[(times >= t) & (times <= away)] = x
        if away >= times[-1]:
            break
        starts.append(away)
        # at rest the force is balanced: a velocity of 0 is an event at once, and one of 1e-13 grows out of it
        options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}
        ran = solve_ivp(law, (away, away + 5), [x, 0.0], events=_after(rest), dense_output=True, **options)
        t, x = ran.t_events[0][0], ran.y_events[0][0][0]
        sliding = (times > away) & (times < t)
        found[sliding] = ran.sol(times[sliding])[0]
    return found, np.array(starts)


def _after(event):
    """An event that the start is not."""

    def later(t, y):
        return event(t, y) if y[1] != 0.0 else 1e-300

    later.terminal, later.direction = True, -1
    return later


@pytest.mark.parametrize("gear", [None, -20.0])
@pytest.mark.handful(1)
def test_a_block_on_a_belt_sticks_and_slips_with_the_period_of_an_event_exact_reference(gear):
    """The spring's end moves against the ground as the ground, a belt, does against a spring's end that is fixed."""
    sides = {} if gear is None else {"friction": {}, "motor": on_motor(gear)}
    run = armsim.simulate(scenario(duration=5, **sides))
    t, q = np.asarray(run["t_s"]), np.asarray(run["q_J_m"])
    wanted, starts = drawn_along(t)
    assert len(starts) >= 3
    assert np.ptp(np.diff(starts)) < 1e-9
    assert q == pytest.approx(wanted, abs=1e-8)
    stuck = np.unique(q[np.asarray(run["qd_J_m_s"]) == 0.0])  # released where the spring has STATIC, at this time
    released = (STATIC / SPRING + stuck) / PULL
    assert np.diff(released)[:2] == pytest.approx(np.diff(starts)[:2], abs=1e-8)
    assert len(stuck) >= 3


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("semi_implicit_euler", 1), ("implicit_midpoint", 2)])
@pytest.mark.handful(1)
def test_smooth_sliding_keeps_the_order_of_the_method(method, order):
    def end(dt):
        given = scenario(method=method, duration=0.4, initial={"q": [0], "qd": [0.3]}, log={"every": 0.4})
        drawn = given["control"] | {"reference": {"q": ["0.4*t + 0.05"]}}
        return armsim.simulate(given | {"integrator": {"method": method, "dt": dt}, "control": drawn})["q_J_m"][-1]

    def law(t, y):
        friction = COULOMB + (STATIC - COULOMB) * exp(-((y[1] / SPEED) ** 2))
        return [y[1], SPRING * (0.4 * t + 0.05 - y[0]) - friction]

    exact = solve_ivp(law, (0.0, 0.4), [0.0, 0.3], method="DOP853", rtol=1e-13, atol=1e-15)
    assert exact.y[1].min() > 0.0
    errors = [abs(end(dt) - exact.y[0][-1]) for dt in (4e-3, 2e-3)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("method", ["rk4", pytest.param("rodas", marks=pytest.mark.slow), "semi_implicit_euler"])
@pytest.mark.handful(1)
def test_floats_give_the_bits_of_machine_code(method):
    steps = {"rtol": 1e-4} if method == "rodas" else {"dt": 2e-3}
    given = scenario(duration=0.16, integrator={"method": method, **steps}, log={"every": 0.01})
    given |= {"initial": {"q": [0.0], "qd": [0.05]}}
    given["control"]["reference"] = {"q": ["0.5*t"]}
    compiled, plain = (armsim.simulate(given, engine=engine, force_step=True) for engine in ("llvm", "python"))
    assert compiled.q.tobytes() == plain.q.tobytes()
    assert [v != 0.0 for v in compiled.qd[[0, 9, 16], 0]] == [True, False, True]  # it slides, sticks and breaks away


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("robot.joints[0].friction.stribeck.velocity", [0.02, 0.05, 0.2]),
        ("robot.joints[0].friction.stribeck.exponent", [1.0, 2.0, 3.5]),
        ("robot.joints[0].friction.static", [1.2, 1.5, 2.5]),
    ],
)
@pytest.mark.slow
def test_runs_of_a_sweep_have_the_bits_of_single_runs(path, values):
    given = scenario(method="rk4", duration=1)
    many = armsim.simulate_many(given, {path: values})
    ends = []
    for k, value in enumerate(values):
        one = armsim.simulate(given, {path: value})
        assert many.q[k].tobytes() == one.q[-1].tobytes()
        ends.append(one.q[-1, 0])
    assert len(set(ends)) == len(values)


def test_a_velocity_is_in_the_files_unit_of_angles():
    bent = FRICTION | {"stribeck": {"velocity": np.degrees(SPEED), "exponent": 2}}
    radians = armsim.simulate(scenario(joint="revolute", duration=1))
    degrees = armsim.simulate(scenario(bent, joint="revolute", units={"angle": "deg"}, duration=1))
    assert degrees.q == pytest.approx(radians.q, abs=1e-9)
    assert radians.q[-1, 0] > 0.0


def test_energy_balances_while_a_block_sticks_and_slips():
    run = armsim.simulate(scenario())
    assert abs(run.summary()["audit"]["residual"]) < 1e-8


def test_bounds_fall_with_the_speed_in_their_own_direction():
    peaks = (Stribeck(1.0, 3.0, 0.1, 2.0),)
    joint = Joint("J", "revolute", coulomb=Coulomb(2.0, 4.0, peaks))
    assert dry_bounds(joint, 0.0) == dry_bounds(joint, 0.0, 0.0) == (-3.0, 7.0)
    lower, upper = dry_bounds(joint, 0.0, 0.1)
    assert (lower, upper) == (pytest.approx(-2.0 - exp(-1.0), rel=1e-14), 7.0)
    lower, upper = dry_bounds(joint, 0.0, -0.2)
    assert (lower, upper) == (-3.0, pytest.approx(4.0 + 3.0 * exp(-4.0), rel=1e-14))


@pytest.mark.parametrize("both_sides", [False, True])
@pytest.mark.handful(1)
def test_random_states_of_an_arm_satisfy_the_law_at_every_joint(arms, evaluate, both_sides):
    arm, n, count = arms.bare(arms.serial("RPRR", seed=1)), 4, 2000
    peaks = [(1.5, 2.0, 0.3, 2.0), (0.5, 4.0, 0.1, 1.0), (3.0, 1.0, 0.5, 1.5), (2.0, 2.0, 0.2, 2.0)]
    sliding = [(1.0, 2.0), (2.0, 1.0), (0.5, 3.0), (1.0, 1.0)]
    frictions = [Coulomb(*c, (Stribeck(*x),)) for c, x in zip(sliding, peaks, strict=True)]
    links = [replace(link, coulomb=x) for link, x in zip(arm.links, frictions, strict=True)]
    gears, lossy = [-3.0, 2.0, 5.0, 0.5], 0.9
    on_shafts = [(0.2, 0.1, 0.3, 0.2, 0.4, 1.5), (0.0, 0.3, 0.4, 0.5, 0.6, 2.0)] * 2 if both_sides else []
    for i, (plus, minus, more, less, fall, exponent) in enumerate(on_shafts):
        rubs = Coulomb(plus, minus, (Stribeck(more, less, fall, exponent),))
        links[i] = replace(links[i], motor=Motor(gear=gears[i], coulomb=rubs, efficiency=lossy))
    arm = replace(arm, links=tuple(links))

    def body(*x):
        q, qd, tau = x[:n], x[n : 2 * n], x[2 * n :]
        M = [entry for row in crba(arm, q) for entry in row]
        return [*accelerations(arm, q, qd, tau), *M, *bias(arm, q, qd)]

    rng = np.random.default_rng(4)
    q, qd, tau = rng.uniform(-2, 2, (n, count)), rng.normal(size=(n, count)) * 0.3, rng.normal(size=(n, count)) * 10
    qd[rng.random((n, count)) < 0.5] = 0.0
    found = evaluate(trace(body, [f"x{i}" for i in range(3 * n)]), [*q, *qd, *tau])
    a, entries, rest = found[:n], found[n : n + n * (n + 1) // 2], found[n + n * (n + 1) // 2 :]
    M = np.zeros((count, n, n))
    i, j = np.tril_indices(n)
    M[:, i, j] = M[:, j, i] = entries.T
    dry = np.einsum("cij,jc->ic", M, a) + rest - tau
    size = np.einsum("cij,jc->ic", np.abs(M), np.abs(a)) + np.abs(rest) + np.abs(tau) + 10.0
    plus, minus, fall, exponent = (np.array(column)[:, None] for column in zip(*peaks, strict=True))
    left = np.exp(-((np.abs(qd) / fall) ** exponent))
    positive, negative = (np.array(column)[:, None] for column in zip(*sliding, strict=True))
    lower, upper = -(positive + plus * left), negative + minus * left
    for i, (a_plus, a_minus, more, less, on_shaft, power) in enumerate(on_shafts):
        size_of = abs(gears[i])
        gone = np.exp(-((size_of * np.abs(qd[i]) / on_shaft) ** power))
        lower[i] -= size_of * (a_plus + more * gone) + (1 - lossy) * np.abs(tau[i])
        upper[i] += size_of * (a_minus + less * gone) + (1 - lossy) * np.abs(tau[i])
    way = np.where(qd == 0.0, a, qd)  # a joint at rest that accelerates has set out
    wrong = np.where(way > 0, np.abs(dry - lower), np.where(way < 0, np.abs(dry - upper), 0.0))
    wrong = np.where(way == 0, np.maximum(np.maximum(lower - dry, dry - upper), 0.0), wrong)
    assert (wrong / size).max() < 1e-12
    assert 0.05 < (way == 0).mean() < 0.45


def test_random_states_satisfy_the_law_on_both_sides_of_elastic_couplings(evaluate):
    def part(name, gear):
        rubs = {"coulomb": 0.5, "static": {"positive": 1.0, "negative": 0.8}, "stribeck": {"velocity": 0.2}}
        turns = {"coulomb": 0.5 / abs(gear), "static": 1.5 / abs(gear), "stribeck": {"velocity": 5.0, "exponent": 1}}
        coupling = {"stiffness": 20.0, "damping": 0.1, "backlash": 0.05}
        motor = {"gear": gear, "rotor_inertia": 1e-3, "coupling": coupling, **turns}
        body = {"point": {"mass": 1, "center": [0.4, 0, 0]}}
        return {"name": name, "type": "revolute", "mdh": {"a": 0.4}, "bodies": [body], "friction": rubs, "motor": motor}

    robot = {"format": "armsim/robot/1", "name": "pair", "joints": [part("A", 10), part("B", -20)]}
    given = {"format": "armsim/scenario/1", "robot": robot, "duration": 0.1, "inputs": {"torque": [0.7, -1.2]}}
    plant = armsim.simulate(given | {"integrator": {"method": "rk4", "dt": 1e-3}}).plant
    moving, n, count = plant.arm.mechanism, 4, 2000

    def body(*x):
        state = list(x) + plant.initial_state([0.0, 0.0], [0.0, 0.0])[2 * n :]
        _, qdd, torques = plant.motion(0.0, state)
        M = [entry for row in crba(moving, x[:n]) for entry in row]
        return [*qdd, *(of.dry for of in torques), *(of.total for of in torques), *M, *bias(moving, x[:n], x[n:])]

    rng = np.random.default_rng(5)
    q = rng.uniform(-0.1, 0.1, (n, count))
    qd = rng.normal(size=(n, count)) * 0.2
    qd[rng.random((n, count)) < 0.6] = 0.0
    found = evaluate(trace(body, [f"x{i}" for i in range(2 * n)]), [*q, *qd])
    a, dry, total, entries, rest = np.split(found, [4, 8, 12, 22])
    M = np.zeros((count, n, n))
    i, j = np.tril_indices(n)
    M[:, i, j] = M[:, j, i] = entries.T
    assert np.einsum("cij,jc->ic", M, a) + rest == pytest.approx(total, abs=1e-11)
    joints, shafts = np.exp(-((qd[:2] / 0.2) ** 2)), np.exp(-np.abs(qd[2:]) * np.array([[10.0], [20.0]]) / 5.0)
    lower = -np.concatenate([0.5 + 0.5 * joints, 0.5 + 1.0 * shafts])
    upper = np.concatenate([0.5 + 0.3 * joints, 0.5 + 1.0 * shafts])
    way = np.where(qd == 0.0, a, qd)
    assert dry[way > 0] == pytest.approx(lower[way > 0], rel=1e-12)
    assert dry[way < 0] == pytest.approx(upper[way < 0], rel=1e-12)
    still = way == 0
    assert (dry[still] >= lower[still] - 1e-12).all()
    assert (dry[still] <= upper[still] + 1e-12).all()
    assert all(0.02 < part.mean() < 0.6 for part in still)


def test_friction_of_a_follower_is_that_of_its_own_speed():
    follower = Coulomb(1.0, 2.0, (Stribeck(0.5, 0.25, 0.3, 2.0),))
    felt = Mimic("J", -3.0).dry(follower).through(-3.0)
    assert (felt.positive, felt.negative) == (6.0, 3.0)
    assert felt.peaks == (Stribeck(0.75, 1.5, 0.3 / 3.0, 2.0),)
    both = replace(Joint("J", "revolute", coulomb=follower), motor=Motor(gear=2.0, coulomb=Coulomb(0.1, 0.1)))
    assert dry_bounds(both, 0.0) == (-1.7, 2.45)


@pytest.mark.parametrize(
    ("friction", "path", "found"),
    [
        ({"coulomb": 1, "static": 2}, "stribeck", "`static` needs it"),
        ({"coulomb": 1, "stribeck": {"velocity": 1}}, "static", "`stribeck` needs it"),
        ({"coulomb": 3, "static": 2, "stribeck": {"velocity": 1}}, "static", "2, and coulomb 3"),
        (
            {"coulomb": {"positive": 1, "negative": 3}, "static": 2, "stribeck": {"velocity": 1}},
            "static",
            "2, and coulomb 3",
        ),
        ({"coulomb": 1, "static": 2, "stribeck": {"velocity": 0}}, "stribeck.velocity", "0"),
        ({"coulomb": 1, "static": 2, "stribeck": {"velocity": 1, "exponent": 0.5}}, "stribeck.exponent", "0.5"),
    ],
)
def test_a_file_is_told_what_static_friction_needs(friction, path, found):
    with pytest.raises(FileFaults) as told:
        armsim.simulate(scenario(friction))
    text = str(told.value)
    assert f"joints[0].friction.{path}" in text
    assert found in text


@pytest.mark.slow
def test_a_sweep_takes_coulomb_friction_that_the_file_lacks_beside_static_friction():
    given = scenario({"static": 0.3, "stribeck": {"velocity": 0.1}}, method="rk4", duration=0.1)
    runs = armsim.simulate_many(given, {"robot.joints[0].friction.coulomb": [0.1, 0.2]})
    given["robot"]["joints"][0]["friction"]["coulomb"] = 0.2
    assert list(runs.status) == ["complete", "complete"]
    assert runs.q[1, 0] == armsim.simulate(given).q[-1, 0]


@pytest.mark.parametrize(
    ("friction", "path", "found"),
    [
        ({"static": 2}, "stribeck", "`static` needs it"),
        ({"coulomb": 3, "static": 2, "stribeck": {"velocity": 1}}, "static", "2, and coulomb 3"),
        ({"static": 2, "stribeck": {"velocity": 0}}, "stribeck.velocity", "0"),
        ({"Kp": 1, "Ra": 1, "model": "dynamechs", "static": 2, "stribeck": {"velocity": 1}}, "static", "DynaMechs"),
    ],
)
def test_a_file_is_told_what_static_friction_of_a_motor_needs(friction, path, found):
    with pytest.raises(FileFaults) as told:
        armsim.simulate(scenario({}, joint="revolute", motor=friction))
    text = str(told.value)
    assert f"joints[0].motor.{path}" in text
    assert found in text


@pytest.mark.slow
def test_static_friction_of_a_motor_is_varied_and_told():
    given = scenario({}, method="rk4", duration=1, motor=on_motor(20.0))
    runs = armsim.simulate_many(given, {"robot.joints[0].motor.static": [0.06, 0.1, 0.04]})
    assert list(runs.status) == ["complete", "complete", "refused"]
    assert runs.q[1].tobytes() == armsim.simulate(given).q[-1].tobytes()
    (joint,) = robot_overview(given["robot"]).joints
    assert joint.motor.coulomb.peaks == (Stribeck(0.05, 0.05, 1.0, 2.0),)


def test_a_sweep_refuses_static_friction_below_coulombs():
    runs = armsim.simulate_many(scenario(method="rk4", duration=0.1), {"robot.joints[0].friction.static": [0.5, 2.0]})
    assert list(runs.status) == ["refused", "complete"]


def test_a_motor_of_dynamechs_is_offered_no_key_that_it_has_not():
    given = scenario({"static": 2, "stribeck": {"velocity": 1}})
    given["robot"]["joints"][0] |= {"type": "revolute", "motor": {"Kp": 1, "Ra": 1, "model": "dynamechs"}}
    with pytest.raises(FileFaults, match="take `stribeck` out"):
        armsim.simulate(given)
