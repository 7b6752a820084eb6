"""Rollouts of the forward model: sequences of steps in lanes, against single steps and recorded runs."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from armsim import ForwardModel, ShapeError, UsageError

T = 12


def given(model, rng, m):
    n = len(model.joints)
    states = model.state(rng.uniform(-0.5, 0.5, (m, n)), rng.uniform(-0.5, 0.5, (m, n)))
    return states, rng.uniform(-8.0, 8.0, (m, T, n))


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.handful(1)
def test_a_rollout_has_the_bits_of_steps(method, threads):
    model = ForwardModel("two_link", 1e-3, method, output="torque", threads=threads)
    m = 3001 if threads == 2 else 7
    states, inputs = given(model, np.random.default_rng(1), m)
    found = model.rollout(states, inputs)
    assert found.shape == (m, T + 1, len(model.slots))
    assert found[:, 0].tobytes() == states.tobytes()
    for k in range(T):
        states = model.step(states, inputs[:, k])
        assert found[:, k + 1].tobytes() == states.tobytes()


def test_a_rollout_of_one_state_and_of_the_same_state_for_all_inputs():
    model = ForwardModel("two_link", 1e-3, output="torque")
    states, inputs = given(model, np.random.default_rng(2), 5)
    every = model.rollout(np.tile(states[0], (5, 1)), inputs)
    assert model.rollout(states[0], inputs).tobytes() == every.tobytes()
    assert model.rollout(states[0], inputs[3]).tobytes() == every[3].tobytes()
    energies = model.rollout(states[0], inputs, measure="energy")
    assert [x.shape for x in energies.values()] == [(5,), (5,)]
    one = pickle.loads(pickle.dumps(model)).rollout(states[0], inputs[3], measure="energy")
    assert [x.tobytes() for x in one.values()] == [x[3].tobytes() for x in energies.values()]


def test_open_numbers_and_wrenches_hold_for_all_steps():
    model = ForwardModel("two_link", 1e-3, output="torque", open=["payload.mass"], external=[{"link": "elbow"}])
    rng = np.random.default_rng(3)
    states, inputs = given(model, rng, 4)
    values, wrench = rng.uniform(0.5, 1.0, (4, 1)), rng.uniform(-3, 3, (4, 1, 6))
    found = model.rollout(states, inputs, values, wrench)
    for k in range(T):
        states = model.step(states, inputs[:, k], values, wrench)
    assert found[:, -1].tobytes() == states.tobytes()
    measured = model.rollout(found[:, 0], inputs, values, wrench, measure="final(q_elbow)")
    assert measured["final(q_elbow)"].tolist() == found[:, -1, 1].tolist()


def test_measures_of_a_rollout_are_those_of_its_states():
    model = ForwardModel("two_link", 1e-3, output="torque")
    states, inputs = given(model, np.random.default_rng(4), 6)
    q = model.rollout(states, inputs)[:, :, 0]
    asked = ["integral(q_shoulder)", "max(q_shoulder)", "max(t - 1)", "final(t)", "integral(tau_motor_shoulder)"]
    found = model.rollout(states, inputs, measure=asked)
    assert found["integral(q_shoulder)"] == pytest.approx(np.trapezoid(q, dx=1e-3, axis=1), rel=1e-13)
    assert found["max(q_shoulder)"].tolist() == q.max(axis=1).tolist()
    assert found["max(t - 1)"] == pytest.approx(T * 1e-3 - 1, rel=1e-15)  # below 0 all the time
    assert found["final(t)"] == pytest.approx(T * 1e-3, rel=1e-15)
    torques = inputs[:, [*range(T), -1], 0]  # the last input acts at the end, too
    assert found["integral(tau_motor_shoulder)"] == pytest.approx(np.trapezoid(torques, dx=1e-3, axis=1), rel=1e-13)


def test_works_of_a_rollout_balance_its_energies():
    model = ForwardModel("two_link", 1e-3, "rk4", output="torque")
    states, inputs = given(model, np.random.default_rng(5), 3)
    end = model.rollout(states, inputs, measure=["energy", "work_motors"])
    start = model.rollout(states, 0.0 * inputs[:, :1], measure=["energy"])  # a step without torque keeps it
    gained = sum(end[name] - start[name] for name in start)
    assert np.abs(gained).min() > 1e-4
    assert gained == pytest.approx(end["work_motors"], rel=1e-6)


def test_a_row_that_diverges_is_not_a_number_from_then_on():
    model = ForwardModel("two_link", 1e-3, output="torque")
    states, inputs = given(model, np.random.default_rng(6), 3)
    inputs[1, 4] = np.inf
    found = model.rollout(states, inputs)
    assert np.isfinite(found[[0, 2]]).all()
    assert np.isfinite(found[1, :5]).all()
    assert np.isnan(found[1, 5:]).all()
    measured = model.rollout(states, inputs, measure="integral(q_shoulder)")["integral(q_shoulder)"]
    assert np.isnan(measured).tolist() == [False, True, False]


def test_shapes_and_measures_that_do_not_fit_are_refused():
    model = ForwardModel("two_link", 1e-3, output="torque")
    states, inputs = given(model, np.random.default_rng(7), 3)
    for wrong in (inputs[0, 0], inputs[:, :0], inputs[:, :, :1]):
        with pytest.raises(ShapeError, match="rollout"):
            model.rollout(states, wrong)
    for one, some in ((states[:2], inputs), (states, inputs[0])):
        found = re.escape(f"found states {one.shape} with inputs {some.shape}")
        with pytest.raises(ShapeError, match=f"rollout: .*{found}"):
            model.rollout(one, some)
    with pytest.raises(UsageError, match="feedback law"):
        model.rollout(states, inputs, measure="iae")
