"""Derivatives of the forward model's step, against difference quotients of order 8."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import yaml

from armsim import Diverged, ForwardModel, ShapeError, UsageError
from armsim.expr import trace
from armsim.files.shipped import shipped_path
from armsim.integrate import bracket

METHODS = (
    "explicit_euler",
    "semi_implicit_euler",
    "velocity_verlet",
    "velocity_implicit",
    "implicit_midpoint",
    "rk4",
)
# central differences of order 8: Fornberg 1988, Mathematics of Computation 51(184), table 1
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
H = 2e-4  # errors of the quotient: H**8 times a ninth derivative, and a rounding divided by H
POSE = [0.4, -0.9, 0.7, 0.3, -0.5]


def limited(robot):
    """All motors at their limit of voltage, that of R1 of current."""
    for joint in robot["joints"]:
        joint["motor"]["limits"] = {"voltage": 3.0}
    robot["joints"][0]["motor"]["limits"]["current"] = 1.5


def governed(robot):
    """R3 at its motor's limit of speed."""
    robot["joints"][2]["motor"]["limits"] = {"speed": 0.02}


def inductive(robot):
    for joint in robot["joints"][:2]:
        joint["motor"]["inductance"] = 0.02


def geared(robot):
    robot["joints"][1]["motor"] |= {"gear": 3.0, "rotor_inertia": 0.01, "viscous": 0.02}


def stopped(robot):
    """R2 and R3 beyond their stops."""
    robot["joints"][1]["initial"] = 0.0
    robot["joints"][1]["limits"] = {"lower": -0.5, "upper": 2.0, "stiffness": 300, "damping": 3}
    robot["joints"][2]["limits"] = {"lower": -2.0, "upper": 0.5, "stiffness": 200, "damping": 2}


def sprung(robot):
    robot["joints"][1]["spring"] = {"stiffness": 20, "rest": 0.2}


def damped(robot):
    for joint in robot["joints"]:
        joint["friction"] = {"viscous": 0.3}


def laden(robot):
    robot["payload"] = {"mass": 0.7, "center": [0.02, 0.05, 0.1]}


def dry(robot):
    """R1 sticks, R2 slips, R3 comes to rest or starts within a step."""
    for joint, coulomb in zip(robot["joints"], (200.0, 0.3, 3.0), strict=True):
        joint["friction"] = {"coulomb": coulomb, "viscous": joint.get("friction", {}).get("viscous", 0)}


def sticky(robot):
    """The law of friction that falls with speed."""
    falls = {"coulomb": 0.4, "static": 0.9, "stribeck": {"velocity": 0.03}}
    robot["joints"][1]["friction"] = {"viscous": 0.1, **falls}


def lossy(robot):
    robot["joints"][2]["motor"] |= {"gear": 2.0, "rotor_inertia": 0.02, "efficiency": 0.7}


def elastic(robot):
    robot["joints"][1]["motor"] |= {"gear": 5.0, "rotor_inertia": 0.02}
    robot["joints"][1]["motor"]["coupling"] = {"stiffness": 900, "damping": 2, "backlash": 0.002}


FEATURES = {
    change.__name__: change
    for change in (
        limited,
        governed,
        inductive,
        geared,
        stopped,
        sprung,
        damped,
        laden,
        dry,
        sticky,
        lossy,
        elastic,
    )
}
APART = {("dry", "sticky")}  # of one key
PAIRS = [(a, b) for i, a in enumerate(FEATURES) for b in list(FEATURES)[i + 1 :] if (a, b) not in APART]
PLACES = {name: i for i, name in enumerate(FEATURES)}
# every pair with two methods, every feature with all
MET = [(p, m) for p in PAIRS for j, m in enumerate(METHODS) if (PLACES[p[0]] + PLACES[p[1]] + j) % 3 == 0]


@pytest.fixture(scope="module")
def arm5():
    path = shipped_path("robots", "arm5")
    with open(path) as file:
        return yaml.safe_load(file)


@pytest.fixture(scope="module")
def arm3(arm5):
    """Its first three joints, which compile quickly."""
    return {**deepcopy(arm5), "joints": deepcopy(arm5["joints"][:3])}


@pytest.fixture
def exact_events(monkeypatch):
    """Events located to rounding: quotients of a step that is cut at events have their tolerance, divided by H, in them."""
    monkeypatch.setattr(bracket, "EVENT", 1e-17)


def model_of(robot, features, method, **given):
    robot = deepcopy(robot)
    for name in features:
        FEATURES[name](robot)
    return ForwardModel(robot, 5e-4, method, **given)


def states_of(model, rng, m):
    """States near a pose, and inputs; further states at random."""
    n = len(model.joints)
    states = model.state(POSE[:n] + rng.uniform(-0.05, 0.05, (m, n)), rng.uniform(-0.04, 0.04, (m, n)))
    for i, slot in enumerate(model.slots):
        if slot.startswith("current"):
            states[:, i] = rng.uniform(-0.5, 0.5, m)
        elif slot.startswith("q_motor"):
            states[:, i] += rng.uniform(-0.004, 0.004, m)
    return states, rng.uniform(5.0, 9.0, (m, n))


def quotients(step, x, h=H):
    """The derivative of rows by each of the columns x, shape (m, results, columns)."""
    columns = []
    for j in range(x.shape[1]):
        total = 0.0
        for k, weight in WEIGHTS.items():
            shift = np.zeros(x.shape[1])
            shift[j] = k * h
            total = total + weight * (step(x + shift) - step(x - shift))
        columns.append(total / h)
    return np.stack(columns, axis=-1)


def check(model, states, inputs, least=1.0):
    """Derivatives against quotients, of the share of rows in which no kink is near: there quotients of two widths agree."""
    after, A, B = model.derivatives(states, inputs)
    assert after.tobytes() == model.step(states, inputs).tobytes()
    moving = [model.headings.index(heading) for heading in model.state_headings]

    def by_state(x):
        given = states.copy()
        given[:, moving] = x
        return model.step(given, inputs)[:, moving]

    def by_inputs(u):
        return model.step(states, u)[:, moving]

    smooth, pairs = np.ones(len(states), bool), []
    for found, text, x in ((A, by_state, states[:, moving]), (B, by_inputs, inputs)):
        exact = quotients(text, x)
        size = 1e-9 * max(1.0, np.abs(exact).max())
        smooth &= np.abs(exact - quotients(text, x, H / 2)).max(axis=(1, 2)) < size
        pairs.append((found, exact, size))
    assert smooth.mean() >= least
    for found, exact, size in pairs:
        assert found[smooth] == pytest.approx(exact[smooth], rel=0, abs=size)


@pytest.mark.parametrize(("pair", "method"), MET, ids=["-".join([*pair, method]) for pair, method in MET])
@pytest.mark.handful(2)
@pytest.mark.usefixtures("exact_events")
def test_derivatives_are_exact_for_pairs_of_features(arm3, pair, method):
    model = model_of(arm3, pair, method)
    check(model, *states_of(model, np.random.default_rng(7), 8), least=0.5)


@pytest.mark.parametrize("name", ["fd_derivatives", "fd_derivatives_prprr", "fd_derivatives_rspsr"])
@pytest.mark.handful(1)
def test_explicit_euler_has_the_derivatives_of_the_accelerations_that_pinocchio_finds(name, reference, arms):
    points, h = reference(name), 1e-3
    model = ForwardModel(arms.of_reference(points.about), h, "explicit_euler", "torque")
    q, qd, tau = (points.block(kind) for kind in ("q", "qd", "tau"))
    _, A, B = model.derivatives(model.state(q, qd), tau)
    assert (A[:, :5, :5] == np.eye(5)).all()
    assert (A[:, :5, 5:] == h * np.eye(5)).all()
    damped = (A[:, 5:, 5:] - np.eye(5)) / h
    for kind, found in {"dq": A[:, 5:, :5] / h, "dqd": damped, "dtau": B[:, 5:] / h}.items():
        exact = np.array([[points.columns[f"{kind}{i}{j}"] for j in "12345"] for i in "12345"]).transpose(2, 0, 1)
        # some hundred terms, a mass matrix of condition 1e3, and 1 rounded beside h times it
        size = np.abs(exact).max(axis=(1, 2), keepdims=True)
        assert (np.abs(found - exact) <= 1e-11 * size + 1e-12).all(), kind


@pytest.mark.slow
def test_derivatives_under_torques_are_exact(arm5):
    model = model_of(arm5, ("stopped", "laden"), "semi_implicit_euler", output="torque")
    check(model, *states_of(model, np.random.default_rng(8), 3))


@pytest.mark.parametrize("method", ["semi_implicit_euler", "implicit_midpoint"])
@pytest.mark.handful(1)
def test_derivatives_under_wrenches_are_exact(arm3, method):
    model = model_of(arm3, ("damped",), method, external=[{"link": "R3"}, {"link": "R2", "axes": "local"}])
    rng = np.random.default_rng(11)
    states, inputs = states_of(model, rng, 2)
    wrench = rng.uniform(-5.0, 5.0, (2, 2, 6))
    A = model.derivatives(states, inputs, wrench=wrench)[1]

    def step(x):
        given = states.copy()
        given[:, :6] = x
        return model.step(given, inputs, wrench=wrench)[:, :6]

    exact = quotients(step, states[:, :6])
    assert pytest.approx(exact, rel=0, abs=1e-10 * np.abs(exact).max()) == A
    still = model.derivatives(states, inputs)[1]
    assert np.abs(A - still).max() > 1e-6


@pytest.mark.slow
def test_derivatives_by_open_numbers_are_exact(arm5):
    paths = ["joints[R2].motor.Kp", "joints[R3].bodies[0].cylinder.mass", "payload.mass"]
    model = model_of(arm5, ("laden", "geared"), "semi_implicit_euler", open=paths)
    states, inputs = states_of(model, np.random.default_rng(9), 2)
    written = np.array([10.0, 2.0, 0.7])
    *_, C = model.derivatives(states, inputs, values=written, by_values=True)
    exact = quotients(lambda v: model.step(states, inputs, v)[:, :10], np.tile(written, (2, 1)))
    assert pytest.approx(exact, abs=1e-9) == C


def test_a_saturated_motor_takes_no_notice_of_its_voltage(arm5):
    model = model_of(arm5, ("limited",), "semi_implicit_euler")
    states, inputs = states_of(model, np.random.default_rng(3), 1)
    _, _, B = model.derivatives(states[0], inputs[0])
    assert (B == 0.0).all()


def test_derivatives_of_one_state_are_those_of_a_row(arm5):
    model = model_of(arm5, (), "semi_implicit_euler", threads=2)
    states, inputs = states_of(model, np.random.default_rng(4), 3000)
    rows = model.derivatives(states, inputs)
    for found, row in zip(model.derivatives(states[2500], inputs[2500]), rows, strict=True):
        assert found.tobytes() == row[2500].tobytes()
    assert [x.shape[1:] for x in rows] == [(len(model.slots),), (10, 10), (10, 5)]


def test_a_state_that_is_not_finite_has_no_derivatives(arm5):
    model = model_of(arm5, (), "semi_implicit_euler")
    states, inputs = states_of(model, np.random.default_rng(5), 2)
    states[1, 0] = np.nan
    _, A, B = model.derivatives(states, inputs)
    assert np.isnan(A[1]).all()
    assert np.isnan(B[1]).all()
    assert np.isfinite(A[0]).all()
    with pytest.raises(Diverged):
        model.derivatives(states[1], inputs[1])


def test_methods_that_choose_their_steps_are_refused_by_name(arm5):
    model = model_of(arm5, (), "rodas")
    with pytest.raises(UsageError, match="rodas"):
        model.derivatives(np.zeros(len(model.slots)), np.zeros(5))
    with pytest.raises(ShapeError, match="derivatives"):
        model_of(arm5, (), "semi_implicit_euler").derivatives([0.0] * 17, [0.0] * 5)


def test_smoothed_friction_has_the_derivative_of_its_formula():
    """A joint with dry friction, gear losses and a square torque, by complex steps of the formula: at rest, slow, fast."""
    friction, motor = {"coulomb": {"positive": 0.4, "negative": 0.3}, "viscous": 0.1}, {"gear": 1.0, "efficiency": 0.8}
    joint = {"name": "a", "type": "revolute", "mdh": {}, "friction": friction, "motor": motor}
    joint["bodies"] = [{"point": {"mass": 1.0, "center": [0.5, 0, 0]}}]
    robot = {"format": "armsim/robot/1", "name": "pendulum", "gravity": [0, -9.81, 0], "joints": [joint]}
    h, creep = 1e-3, 0.05
    model, exact = (ForwardModel(robot, h, output="torque", creep=x) for x in (creep, None))

    def step(q, v, u):
        bound = (0.3 if v.real < 0 else 0.4) + 0.2 * (u if u.real > 0 else -u)
        torque = u - 0.1 * v - bound * v / np.sqrt(v * v + creep * creep) - 9.81 * 0.5 * np.cos(q)
        after = v + h * torque / 0.25
        return np.array([q + h * after, after])

    for x in ([0.3, 0.0, 0.2], [0.3, 0.02, 4.0], [-0.7, -0.03, -1.0], [0.3, 2.0, -3.0]):
        state, inputs = model.state(x[:1], x[1:2]), x[2:]
        after, A, B = model.derivatives(state, inputs)
        found = np.hstack([A, B])
        by = [step(*(np.array(x) + 1e-30j * np.eye(3)[k])).imag / 1e-30 for k in range(3)]
        assert found == pytest.approx(np.transpose(by), rel=1e-13, abs=1e-16)
        assert after.tobytes() == exact.step(state, inputs).tobytes()
        branch = np.hstack(exact.derivatives(state, inputs)[1:])
        assert (np.abs(found - branch).max() < 1e-5) == (abs(x[1]) > 1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.handful(1)
@pytest.mark.usefixtures("exact_events")
def test_smoothed_steps_have_exact_derivatives_by_all_methods(arm3, method, evaluate):
    robot = {**deepcopy(arm3), "joints": deepcopy(arm3["joints"][:2])}
    robot["joints"][0]["motor"]["efficiency"] = 0.7
    model = model_of(robot, ("sticky",), method, creep=0.1)
    vector, k = model._vector, len(model.state_headings)
    plant = replace(vector.plant, creep=0.1)
    states, inputs = states_of(model, np.random.default_rng(12), 1)
    carried = [i for i, _ in vector.carried]
    _, A, B = model.derivatives(states[0], inputs[0])

    def step(*x):
        given = [0.0] * len(model.slots)
        for i, value in zip(carried, x[:k], strict=True):
            given[i] = value
        after = plant.step(0.0, vector.state(given, x[k:]), model.dt)
        return [after[source] for _, source in vector.carried]

    traced = trace(step, [f"x{i}" for i in range(k + 2)], "step")
    exact = quotients(lambda rows: evaluate(traced, rows.T).T, np.array([[*states[0][carried], *inputs[0]]]))[0]
    assert np.hstack([A, B]) == pytest.approx(exact, rel=0, abs=1e-9 * np.abs(exact).max())


def test_a_velocity_of_smoothing_is_positive(arm3):
    with pytest.raises(UsageError, match="creep"):
        ForwardModel(arm3, 1e-3, creep=0.0)
