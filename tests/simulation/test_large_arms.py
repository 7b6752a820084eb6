"""Arms beyond the number of joints from which recursions are scans: every engine and export has the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from tests.dynamics.test_recursion import large

N, STEPS, DT = 17, 4, 1e-3
COMPUTED = {"law": "computed_torque", "output": "torque", "kp": [90] * N, "kd": [20] * N, "limit": 40}
HOLD = {"law": "pd", "output": "torque", "kp": [9] * N, "kd": [2] * N, "limit": 5}
LOADS = [{"point": [0, 0.1, 0], "force": [0, 2, -5], "from": 1e-3, "to": 3e-3, "link": "J9"}]


def scenario(method="rk4", kind="tree", **more):
    """A large arm with damping and a stop, moving."""
    robot = large(N, kind)
    for joint in robot["joints"]:
        joint["friction"] = {"viscous": 0.05}
    robot["joints"][2]["limits"] = {"lower": -0.2, "upper": 0.0005, "stiffness": 100, "damping": 1}
    integrator = {"method": method} if method == "rk54" else {"method": method, "dt": DT}
    file = {"format": "armsim/scenario/1", "robot": robot, "duration": STEPS * DT, "integrator": integrator}
    control = {"control": {**more.pop("control"), "target": [0.2] * N}} if "control" in more else {}
    return {**file, **control, "initial": {"qd": [0.3] * N}, "log": {"every": DT}, **more}


CASES = {
    "stop": scenario(),
    "external": scenario("semi_implicit_euler", external=LOADS),
    "computed": scenario(control=COMPUTED),
    "sampled": scenario("semi_implicit_euler", "chain", control={**COMPUTED, "period": 2e-3}),
    "adaptive": scenario("rk54", control=HOLD, duration=2 * DT),
    "implicit": scenario("velocity_implicit", control=HOLD),
}
IMPLICIT = {
    "rodas": scenario("rodas", control=HOLD, duration=2 * DT),
    "midpoint": scenario("implicit_midpoint", external=LOADS),
}


def same_bits(asked):
    native, floats = (armsim.simulate(asked, engine=engine, force_step=True) for engine in ("llvm", "python"))
    assert native.status == floats.status == "complete"
    assert native.table.tobytes() == floats.table.tobytes()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.handful(1)
def test_machine_code_has_the_bits_of_floats(name):
    same_bits(CASES[name])


@pytest.mark.parametrize("name", IMPLICIT)
@pytest.mark.slow
def test_machine_code_of_implicit_methods_has_the_bits_of_floats(name):
    same_bits(IMPLICIT[name])


@pytest.mark.slow
def test_lanes_with_numbers_left_open_have_the_bits_of_single_runs():
    paths = "robot.joints[J3].friction.viscous", "robot.joints[J5].bodies[0].inertia.mass"
    values = {paths[0]: [0.1, 0.2, 0.3], paths[1]: [0.5, 0.6, 0.7]}
    asked = scenario("semi_implicit_euler", control=HOLD)
    runs = armsim.simulate_many(asked, values)
    for k in range(3):
        one = armsim.simulate(asked, {path: values[path][k] for path in paths})
        assert [runs[f"q_J{i}_{'m' if i % 5 == 3 else 'rad'}"][k] for i in range(N)] == one.q[-1].tolist()


def test_a_large_arm_answers_first_questions_on_floats_and_compiles_later_with_the_same_bits():
    robot, floats = (armsim.load_robot(large(N, "tree"), engine=engine) for engine in ("llvm", "python"))
    x = np.random.default_rng(2).uniform(-1.0, 1.0, (3, 60, N))
    first = robot.forward_dynamics(*x), robot.mass_matrix(x[0, 0])
    assert not robot._kernels
    later = robot.forward_dynamics(*x)
    assert list(robot._kernels) == ["forward_dynamics"]
    assert first[0].tobytes() == later.tobytes() == floats.forward_dynamics(*x).tobytes()
    assert first[1].tobytes() == floats.mass_matrix(x[0, 0]).tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 64])
def test_the_implicit_midpoint_rule_conserves_the_energy_of_64_joints_as_that_of_5(n):
    robot = {**large(n), "gravity": [0, 0, 0]}
    for joint in robot["joints"]:
        joint["type"] = "revolute"
    errors = []
    for dt in (2e-3, 1e-3):
        file = {"format": "armsim/scenario/1", "robot": robot, "duration": 1, "initial": {"qd": [0.02] * n}}
        run = armsim.simulate({**file, "integrator": {"method": "implicit_midpoint", "dt": dt}, "log": {"every": 0.1}})
        energy = armsim.load_robot(robot).kinetic_energy(run.q, run.qd)
        errors.append(np.abs(energy / energy[0] - 1.0).max())
    assert errors[0] < 2e-8
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)
