"""Regulators of scenarios whose commands arrive late, and whose joints are measured by encoders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml
from scipy.linalg import solve_discrete_are

import armsim
from armsim.document import plain
from armsim.errors import UsageError
from armsim.files.yaml_writer import yaml_text
from armsim.linear.feedback import delayed, delayed_cost, predictive_gains
from armsim.linear.lqr import Cost, cost_of, gains_of
from tests.planar import planar

PERIOD = 2e-3
POSE = [0.5, -0.9]
MOTORS = ({"Kp": 0.05, "Ra": 0.8, "gear": 30, "rotor_inertia": 2e-5}, {"Kp": 0.03, "Ra": 1.7, "gear": 50})
COILS = tuple({**motor, "inductance": 2e-3} for motor in MOTORS)
ENCODER = {"counts": 40_000, "filter": 1e-3, "on": "motor"}


def scenario(control: dict[str, Any], motors=MOTORS, **more: Any) -> dict[str, Any]:
    """Two rods in a vertical plane, under PD control that needs not be good."""
    own = {"law": "pd", "output": "torque", "kp": 30, "kd": 3, "target": POSE, "period": PERIOD}
    return {
        "format": "armsim/scenario/1",
        "name": "swing",
        "robot": planar(*motors),
        "duration": 3,
        "integrator": {"method": "rk4", "dt": 2e-4},
        "initial": {"q": POSE},
        "control": {**own, **control},
        **more,
    }


def regulator_of(given: dict[str, Any], **weights: Any):
    return armsim.linearize(given, target=True).at_rest.lqr(**{"q": 100, "r": 0.1, "qd": 1, **weights})


@pytest.mark.parametrize("delay", [1, 2, 5])
@pytest.mark.parametrize(("output", "motors"), [("torque", MOTORS), ("voltage", MOTORS), ("voltage", COILS)])
@pytest.mark.handful(4)
def test_late_gains_are_those_of_the_riccati_equation_with_the_queue_as_states(output, motors, delay):
    late = scenario({"delay": delay * PERIOD, "output": output}, motors)
    found, plain = regulator_of(late), regulator_of(scenario({"output": output}, motors))
    plant = plain.model.sampled(PERIOD)
    cost = plain.weights.sampled(plain.model, PERIOD)
    (n, m), late_size = plant.B.shape, plant.B.shape[1] * delay
    # by hand: x at the next sample is A x + B z1, the queue moves up, u is its last; a command costs when it is given
    A, B = np.zeros((n + late_size,) * 2), np.zeros((n + late_size, m))
    A[:n, :n], A[:n, n : n + m], B[-m:] = plant.A, plant.B, np.eye(m)
    A[n:-m, n + m :] = np.eye(late_size - m)
    Q = np.zeros_like(A)
    Q[:n, :n], Q[:n, n : n + m], Q[n : n + m, :n] = cost.Q, cost.N, cost.N.T
    P = solve_discrete_are(A, B, Q, cost.R)
    K = np.linalg.solve(cost.R + B.T @ P @ B, B.T @ P @ A)
    assert pytest.approx(K, rel=1e-6, abs=1e-8 * np.abs(K).max()) == found.K
    assert found.states == (*plant.states, *(f"queued_R{i + 1}_{k}" for k in range(delay) for i in range(m)))


def test_no_gains_cost_less_than_the_late_ones_and_the_cost_is_that_of_the_commands_that_arrive(system):
    plant = system([[0, 1], [4, -0.3]], [[0], [2.0]])
    cost, plant = Cost.of(np.array([5.0, 1.0]), np.array([0.1])).sampled(plant, 0.05), plant.sampled(0.05)
    K, late = predictive_gains(plant, gains_of(plant, cost), 3), (delayed(plant, 3), delayed_cost(cost, 3))
    best = cost_of(*late, K)
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert np.trace(cost_of(*late, K * (1 + 0.02 * rng.normal(size=K.shape)))) > np.trace(best)
    begin, queue = np.array([0.3, -0.2]), [0.4, -0.1, 0.2]
    x, spent, waiting = begin, 0.0, [*queue]
    for _ in range(1200):
        u = -K @ [*x, *waiting]
        now, *waiting = [*waiting, *u]
        spent += x @ cost.Q @ x + 2 * (x @ cost.N)[0] * now + cost.R[0, 0] * now * now
        x = plant.A @ x + plant.B[:, 0] * now
    whole = np.array([*begin, *queue])
    assert whole @ best @ whole == pytest.approx(spent, rel=1e-10)


ASPECTS = [
    pytest.param({}, id="in time"),
    pytest.param({"delay": PERIOD}, id="late"),
    pytest.param({"delay": 3 * PERIOD}, id="very late"),
    pytest.param({"encoder": ENCODER}, id="encoder"),
    pytest.param({"delay": 2 * PERIOD, "encoder": {**ENCODER, "noise": 1e-6, "seed": 3}, "limit": 60}, id="all"),
]


@pytest.mark.parametrize("kind", ["control", "full_control"])
@pytest.mark.parametrize(("output", "motors"), [("torque", MOTORS), ("voltage", MOTORS), ("voltage", COILS)])
@pytest.mark.parametrize("around", ASPECTS)
@pytest.mark.handful(2)
def test_a_block_that_is_pasted_has_the_loop_that_was_promised(around, output, motors, kind):
    given = scenario({**around, "output": output}, motors)
    regulator = regulator_of(given)
    block = yaml.safe_load(yaml_text(plain(getattr(regulator, kind))))
    assert {key: block.get(key) for key in ("delay", "period")} == {"delay": around.get("delay"), "period": PERIOD}
    pasted = {**given, "control": block, "initial": {"q": [0.45, -0.85]}}
    found = armsim.linearize(pasted, at=3)
    promised = regulator.closed() if kind == "full_control" else regulator.closed_by_joints
    assert np.abs(np.array(found.about.q) - POSE).max() < 1e-4  # where it comes to rest; a count is 3e-6 rad
    assert found.closed_loop.states == promised.states
    # gains are written to six digits, and the arm is 1e-4 rad from the pose
    size = np.abs(promised.A).max(axis=0)
    assert np.abs((found.closed_loop.A - promised.A) / size).max() < 1e-4
    assert promised.stable


def test_gains_of_joints_are_those_of_late_commands_too():
    # joints without damping under stiff weights: what holds in time does not hold late
    late = scenario({"delay": 10e-3})
    weights = {"q": 1e3, "r": 0.1, "qd": 0.0}
    found, hasty = regulator_of(late, **weights), regulator_of(scenario({}), **weights)
    assert found.closed_by_joints.stable
    assert found.closed().stable
    assert 0 < found.extra_cost < 1
    pasted = armsim.linearize({**late, "control": {**hasty.control, "delay": 10e-3}}, target=True).closed_loop
    assert not pasted.stable


def test_a_delay_that_is_no_whole_number_of_the_regulators_periods_is_refused():
    rest = armsim.linearize(scenario({"delay": 3 * PERIOD}), target=True).at_rest
    assert rest.lqr(q=1, r=1, period=3e-3).control["delay"] == 6e-3
    with pytest.raises(UsageError, match=r"a time of which the delay of commands, 0\.006 s, is 40 periods at most"):
        _ = rest.lqr(q=1, r=1, period=4e-3).K


@pytest.mark.parametrize("width", [6, 10])
def test_gains_of_commands_on_their_way_are_as_many_as_there_are(width):
    control = {"law": "state_feedback", "K": [[1.0] * width] * 2, "delay": 2 * PERIOD, "kp": None, "kd": None}
    with pytest.raises(
        armsim.FileFaults, match="4 numbers: gains of positions and velocities, or 8 with those of commands"
    ):
        armsim.simulate(scenario(control))
