"""Laws of feedback and what stands around them, against closed forms and exact sampled solutions."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.linalg import expm

import armsim
from armsim.control import Desired, Kept, Now, Pid, Seen
from armsim.errors import FileFaults
from armsim.loading import scenario_of
from armsim.plant import make_plant
from tests.steps import compiled_step

INERTIA = 0.5 + 2.0 * 0.3**2  # kg·m², of the axis below
STEP = {"method": "rk4", "dt": 1e-3}

TICKS = itertools.count()


def axis(
    control: dict[str, Any], duration: float = 1.0, motor: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    """A scenario of one vertical axis: gravity does not act on it."""
    body = {"inertia": {"mass": 2.0, "center": [0.3, 0, 0], "about": "com", "xx": 0.5, "yy": 0.5, "zz": 0.5}}
    joint = {"name": "R1", "type": "revolute", "mdh": {"a": 0, "alpha": 0, "d": 0, "theta": 0}, "bodies": [body]}
    joint |= {"motor": motor} if motor else {}
    robot = {"format": "armsim/robot/1", "name": "axis", "joints": [joint]}
    run = {"format": "armsim/scenario/1", "name": "axis", "robot": robot, "duration": duration, "integrator": STEP}
    return {**run, "control": {"output": "torque", **control}, **more}


def pose(q: float, qd: float = 0.0) -> dict[str, Any]:
    return {"q": [q], "qd": [qd]}


def linear(A, x0, t):
    """Solutions of dx/dt = A x at equal times t from 0 on."""
    step, found = expm(np.array(A) * (t[1] - t[0])), [np.array(x0)]
    for _ in t[1:]:
        found.append(step @ found[-1])
    return np.array(found)


# RK4 at 1 ms on rates up to 30 1/s: (0.03)^4 / 120 a step's rate
RK4 = 1e-8


def test_a_filtered_derivative_is_the_third_state_of_a_linear_system():
    kp, kd, slow = 60.0, 4.0, 0.05
    run = armsim.simulate(
        axis({"law": "pd", "kp": kp, "kd": kd, "derivative_filter": slow, "target": [0]}, initial=pose(1.0))
    )
    A = [[0, 1, 0], [-kp / INERTIA, 0, kd / INERTIA], [0, -1 / slow, -1 / slow]]
    assert np.allclose(run.q[:, 0], linear(A, [1.0, 0.0, 0.0], run.t)[:, 0], rtol=0, atol=RK4)


def test_a_sampled_filter_relaxes_by_its_exact_exponential():
    control = {"law": "pd", "kp": 30, "kd": 3, "target": [0.4], "period": 1e-2, "derivative_filter": 0.02}
    run = armsim.simulate(axis(control, 0.5))
    q, v, x, u = 0.0, 0.0, 0.0, 0.0
    decay = math.exp(-1e-2 / 0.02)
    for k, t in enumerate(run.t):
        assert math.isclose(run.q[k, 0], q, abs_tol=1e-12), t
        if k % 10 == 0:
            x = -v + (x + v) * decay
            u = 30 * (0.4 - q) + 3 * x
        q, v = q + 1e-3 * v + 1e-6 * u / INERTIA / 2, v + 1e-3 * u / INERTIA  # constant torque


def test_back_calculation_drives_an_integral_back_with_its_tracking_time():
    # a stiff spring of the arm's stop holds the axis far from its target: u saturates, and the integral relaxes
    from armsim.control import Constant, Controller, Kept, Memory, Pid, Seen

    kp, ki, limit, tracking = 2.0, 5.0, 1.0, 0.2
    law = Pid("pi", (kp,), (ki,), (0.0,), (None,), (tracking,))
    controller = Controller(law, "torque", Constant((1.0,)), (limit,))
    integral, dt = 0.0, 1e-4
    for _ in range(5000):
        rates = controller.rates(0.0, Seen([0.0], [0.0]), Memory(Kept([integral])))
        integral += dt * rates.kept.integrals[0]
    # dI/dt = e + (limit - kp e - ki I) / (ki T): rate 1 / T towards I∞
    end = tracking + (limit - kp) / ki
    assert math.isclose(integral, end * (1 - math.exp(-0.5 / tracking)), rel_tol=1e-3)


def test_a_motor_without_windup_settles_where_a_clamped_one_overshoots_more():
    common = {"law": "pid", "kp": 40, "ki": 60, "kd": 8, "limit": 3, "target": [2.0], "integral_limit": 50}
    wound = armsim.simulate(axis(common, 6.0)).q.max()
    common.pop("integral_limit")
    tracked = armsim.simulate(axis({**common, "anti_windup": "back_calculation", "tracking_time": 0.1}, 6.0)).q.max()
    assert tracked < 2.05 < wound


@pytest.mark.parametrize("delay", [0, 1, 3])
def test_delayed_samples_follow_the_exact_recursion(delay):
    period, kp, kd = 1e-2, 20.0, 3.0
    control = {"law": "pd", "kp": kp, "kd": kd, "target": [0.3], "period": period, "delay": delay * period}
    run = armsim.simulate(axis(control, 1.0, log={"every": period}))
    q, v, waiting = 0.0, 0.0, [0.0] * delay
    for k in range(len(run.t)):
        assert math.isclose(run.q[k, 0], q, abs_tol=1e-13)
        u, *waiting = [*waiting, kp * (0.3 - q) - kd * v]
        q, v = q + period * v + period**2 * u / INERTIA / 2, v + period * u / INERTIA


def test_an_encoder_reads_whole_counts_and_differences_of_them():
    period, counts, slow, kp, kd = 1e-2, 400, 0.02, 20.0, 3.0
    encoder = {"counts": counts, "filter": slow}
    control = {"law": "pd", "kp": kp, "kd": kd, "target": [0.3], "period": period, "encoder": encoder}
    run = armsim.simulate(axis(control, 1.0, log={"every": period}, initial=pose(0.1)))
    q, v, last, speed = 0.1, 0.0, None, 0.0
    count, decay = 2 * math.pi / counts, math.exp(-period / slow)
    for k in range(len(run.t)):
        assert math.isclose(run.q[k, 0], q, abs_tol=1e-12)
        read = count * round(q / count)
        if last is not None:
            raw = (read - last) / period
            speed = raw + (speed - raw) * decay
        last, u = read, kp * (0.3 - read) - kd * speed
        q, v = q + period * v + period**2 * u / INERTIA / 2, v + period * u / INERTIA


def test_an_encoder_on_the_motor_has_the_gears_resolution():
    motor = {"Kp": 0.05, "Ra": 1.0, "gear": 50}
    control = {
        "law": "pd",
        "kp": 20,
        "kd": 2,
        "target": [0.3],
        "period": 1e-2,
        "encoder": {"counts": 500, "on": "motor"},
    }
    on_motor = armsim.simulate(axis(control, 0.3, motor))
    control["encoder"] = {"counts": 25000}
    assert np.array_equal(on_motor.q, armsim.simulate(axis(control, 0.3, motor)).q)


@pytest.mark.slow
def test_noise_is_normal_and_that_of_seeds_joints_and_samples_independent():
    from armsim.control.noise import normal

    x = np.array(
        [[[normal(float(seed), joint, float(k)) for k in range(1500)] for joint in (0, 1)] for seed in (0, 1, 2**40)]
    )
    m = x.size
    assert abs(x.mean()) < 4 / math.sqrt(m)
    assert abs(x.var() - 1) < 4 * math.sqrt(2 / m)
    assert abs((x**4).mean() - 3) < 4 * math.sqrt(96 / m)
    flat = x.reshape(6, -1)
    pairs = np.corrcoef(flat)[np.triu_indices(6, 1)]
    assert np.abs(pairs).max() < 4.5 / math.sqrt(flat.shape[1])
    for lag in (1, 2, 7):
        assert abs((flat[:, lag:] * flat[:, :-lag]).mean()) < 4.5 / math.sqrt(m)
    # no word is far more frequent than another: chi-square of 64 bins of the distribution function
    counts, _ = np.histogram([0.5 * (1 + math.erf(v / math.sqrt(2))) for v in flat.ravel()], 64, (0, 1))
    assert ((counts - m / 64) ** 2 / (m / 64)).sum() < 63 + 4.5 * math.sqrt(2 * 63)


NOISY = {"law": "pd", "kp": 30, "kd": 3, "target": [0.3], "period": 1e-2, "encoder": {"counts": 4096, "noise": 1e-3}}


def test_noise_has_the_same_bits_in_lanes_on_threads_and_in_a_replay(tmp_path):
    scenario = axis(NOISY, 0.5)
    seeds = [0, 1, 7, 3, 123456789]
    many = armsim.simulate_many(scenario, {"control.encoder.seed": seeds}, threads=2)
    runs = [armsim.simulate(scenario, overrides={"control.encoder.seed": seed}) for seed in seeds]
    assert np.array_equal(many.q[:, 0], [run.q[-1, 0] for run in runs])
    assert len(set(many.q[:, 0].tolist())) == len(seeds)
    python = armsim.simulate(axis(NOISY, 0.1), overrides={"control.encoder.seed": 7}, engine="python")
    assert np.array_equal(python.q, runs[2].q[: len(python.q)])
    recording = armsim.record(scenario)
    assert armsim.replay(recording).comparison.equal


def test_a_seed_is_a_whole_number():
    with pytest.raises(FileFaults, match="a whole number from 0"):
        armsim.simulate(axis({**NOISY, "encoder": {"noise": 1e-3, "seed": 1.5}}))


def test_commands_of_current_are_torques_by_the_motors_constant():
    motor = {"Kp": 0.05, "Ra": 1.0, "gear": 50}
    current = armsim.simulate(
        axis({"law": "pd", "output": "current", "kp": 8, "kd": 0.8, "target": [0.3]}, motor=motor)
    )
    torque = armsim.simulate(axis({"law": "pd", "kp": 20, "kd": 2, "target": [0.3]}, motor=motor))  # 2.5 N·m/A
    assert np.allclose(current.q, torque.q, rtol=0, atol=1e-13)
    assert np.allclose(current["current_R1_A"], torque["current_R1_A"], rtol=0, atol=1e-12)
    limited = {**motor, "limits": {"current": 1.0}}
    held = armsim.simulate(axis({"law": "pd", "output": "current", "kp": 8, "kd": 0.8, "target": [0.3]}, motor=limited))
    assert np.abs(held["current_R1_A"]).max() == 1.0
    assert math.isclose(held["tau_motor_R1_Nm"][0], 2.5, rel_tol=1e-15)


def test_inputs_are_added_to_feedback():
    control = {"law": "pd", "kp": 20, "kd": 3, "target": [0.3]}
    pushed = armsim.simulate(axis(control, 3.0, inputs={"torque": [1.5]}))
    shifted = armsim.simulate(axis({**control, "target": [0.3 + 1.5 / 20]}, 3.0))
    assert np.allclose(pushed.q, shifted.q, rtol=0, atol=1e-12)


def test_an_expression_is_a_law():
    control = {"law": "expression", "command": ["stiffness*e + 3*ed_R1 + 5*integral + 0*t*q"], "target": [0.3]}
    own = armsim.simulate(axis(control, parameters={"stiffness": 20}))
    pid = armsim.simulate(axis({"law": "pid", "kp": 20, "ki": 5, "kd": 3, "target": [0.3]}))
    assert np.allclose(own.q, pid.q, rtol=0, atol=1e-12)
    many = armsim.simulate_many(axis(control, parameters={"stiffness": 20}), {"parameters.stiffness": [20, 25]})
    assert many.q[0, 0] == own.q[-1, 0]
    with pytest.raises(FileFaults, match="there is no `stifness`"):
        armsim.simulate(axis({**control, "command": ["stifness*e"]}, parameters={"stiffness": 20}))


def test_full_state_feedback_closes_the_loop_that_its_matrix_promises():
    K = [[30.0, 4.0]]
    run = armsim.simulate(axis({"law": "state_feedback", "K": K, "target": [0.2]}, initial=pose(1.0, -0.5)))
    A = [[0, 1], [-30 / INERTIA, -4 / INERTIA]]
    assert np.allclose(run.q[:, 0] - 0.2, linear(A, [0.8, -0.5], run.t)[:, 0], rtol=0, atol=RK4)


ARM = "puma560"  # six coupled joints, geared motors driven by torque, friction of both kinds


def arm5(control: dict[str, Any], duration: float = 0.5, **more: Any) -> dict[str, Any]:
    """A scenario of the five-joint arm, off its target; its stops are far."""
    initial = {"q": [0.1, -0.9, 0.4, 0.2, -0.1], "qd": [0.5, 0, -0.5, 1, 0]}
    run = {"format": "armsim/scenario/1", "name": "arm5", "robot": "arm5", "duration": duration}
    run["integrator"] = {"method": "rk4", "dt": 2e-4}
    return {**run, "initial": initial, "control": {"output": "voltage", **control}, **more}


TARGET = [0, -1.0, 0.3, 0, 0]


@pytest.mark.parametrize("output", ["voltage", "current", "torque"])
@pytest.mark.handful(1)
def test_computed_torque_leaves_every_joint_its_own_linear_error(output):
    kp, kd = [100, 64, 36, 25, 400], [20, 4, 12, 6, 10]
    run = armsim.simulate(arm5({"law": "computed_torque", "output": output, "kp": kp, "kd": kd, "target": TARGET}))
    for i in range(5):
        start = [run.q[0, i] - TARGET[i], run.qd[0, i]]
        expected = linear([[0, 1], [-kp[i], -kd[i]]], start, run.t)[:, 0]
        assert np.allclose(run.q[:, i] - TARGET[i], expected, rtol=0, atol=2e-8), i


@pytest.mark.slow
def test_computed_torque_with_a_wrong_payload_leaves_the_error_that_the_difference_of_models_predicts():
    control = {"law": "computed_torque", "kp": 400, "kd": 40, "target": TARGET, "model": "arm5"}
    run = armsim.simulate(arm5(control, 10.0, payload={"mass": 0.3}))
    q, model = run.q[-1], armsim.load_robot("arm5")
    loaded = armsim.load_robot("arm5", overrides={"payload.mass": 0.3})
    assert np.abs(run.qd[-1]).max() < 1e-6
    # at rest M kp e = true less modelled gravity, M of the model
    left = np.linalg.solve(model.mass_matrix(q), loaded.gravity_torque(q) - model.gravity_torque(q)) / 400
    assert np.abs(left).max() > 1e-3
    assert np.allclose(np.array(TARGET) - q, left, rtol=0, atol=1e-7)


@pytest.mark.parametrize("kind", ["gravity", "inverse_dynamics"])
@pytest.mark.slow
def test_feedforward_carries_gravity_so_that_pd_does_not_droop(kind):
    control = {"law": "pd", "kp": 60, "kd": 2, "target": TARGET, "feedforward": kind}
    run = armsim.simulate(arm5(control, 12.0))
    assert np.abs(run.q[-1] - TARGET).max() < 1e-6
    control.pop("feedforward")
    assert np.abs(armsim.simulate(arm5(control, 12.0)).q[-1] - TARGET).max() > 1e-3


LAWS = {
    "filtered pid": {"law": "pid", "kp": 60, "ki": 20, "kd": 2, "derivative_filter": 4e-3, "limit": 9},
    "tracked pi": {"law": "pi", "kp": 30, "ki": 9, "limit": 6, "anti_windup": "back_calculation"},
    "measured pd": {"law": "pd", "kp": 60, "kd": 2, "derivative": "measurement", "feedforward": "gravity"},
    "state feedback": {"law": "state_feedback", "K": [[0, 1, 0, 0, 0, 0, 0.1, 0, 0, 0]] * 5, "output": "current"},
    "computed torque": {"law": "computed_torque", "kp": 100, "kd": 20, "limit": 20},
    "expression": {"law": "expression", "command": ["20*e + where(e_R2 > 0, 1, -1)*qd + integral"] * 5},
    "inverse dynamics": {"law": "pd", "kp": 60, "kd": 2, "feedforward": "inverse_dynamics"},
}
EULER = {"method": "semi_implicit_euler", "dt": 2e-4}
SAMPLED = {"period": 2e-3, "delay": 4e-3, "encoder": {"counts": 20000, "noise": 1e-5, "filter": 1e-2}}


@pytest.mark.parametrize("more", [{}, SAMPLED], ids=["continuous", "sampled"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.handful(1)
def test_both_engines_have_the_same_bits(law, more):
    scenario = arm5({"target": TARGET, **LAWS[law], **more}, 0.01, integrator=EULER)
    run = armsim.simulate(scenario)
    assert np.array_equal(run.q, armsim.simulate(scenario, engine="python").q)


@pytest.mark.parametrize("more", [{}, SAMPLED], ids=["continuous", "sampled"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.handful(2)
def test_lanes_have_the_bits_of_single_runs(law, more):
    one = {
        "K": [[9.0, 1.0]],
        "command": ["20*e + where(e_R1 > 0, 1, -1)*qd + integral"],
    }  # of the axis, which is one joint
    control = {**LAWS[law], **{key: value for key, value in one.items() if key in LAWS[law]}, **more, "target": [0.1]}
    scenario = axis(control, 0.1, {"Kp": 0.05, "Ra": 1.0, "gear": 50}, integrator=EULER)
    many = armsim.simulate_many(scenario, {"control.target[0]": [0.1, 0.12], "robot.joints[R1].motor.Kp": [0.05, 0.06]})
    assert many.q[0, 0] == armsim.simulate(scenario).q[-1, 0]
    assert many.q[1, 0] != many.q[0, 0]


@pytest.mark.parametrize("law", ["filtered pid", "tracked pi", "computed torque", "expression"])
@pytest.mark.handful(1)
def test_a_recording_of_any_sampled_law_replays_to_the_bit(law):
    assert armsim.replay(
        armsim.record(arm5({"target": TARGET, **LAWS[law], **SAMPLED}, 0.1, integrator=EULER))
    ).comparison.equal


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.handful(1)
def test_what_is_written_out_in_full_runs_the_same(law, tmp_path):
    run = armsim.simulate(
        arm5({"target": TARGET, **LAWS[law], **SAMPLED}, 0.01, parameters={"unused": 3}, integrator=EULER)
    )
    run.save(tmp_path / "run")
    again = armsim.simulate(tmp_path / "run" / "run.yaml")
    assert np.array_equal(run.q, again.q)


def told_pd(told):
    return [60 * e + 0.5 * ed for e, ed in zip(told.e, told.ed, strict=True)]


def branching_pd(told):
    return [60 * e + 0.5 * ed if abs(e) < 1e9 else math.nan for e, ed in zip(told.e, told.ed, strict=True)]


@pytest.mark.slow
def test_a_python_function_is_traced_or_called_and_either_way_it_is_the_law():
    python = arm5({"law": "python", "target": TARGET, **SAMPLED}, 0.1, integrator=EULER, log={"every": 1e-3})
    compiled = armsim.simulate(python, law=told_pd, measure=["iae"])
    called = armsim.simulate(python, law=branching_pd, measure=["iae"])
    assert np.array_equal(compiled.q, called.q)
    assert compiled.measures == called.measures
    pd = armsim.simulate(arm5({"law": "pd", "kp": 60, "kd": 0.5, "target": TARGET, **SAMPLED}, 0.1, integrator=EULER))
    assert np.allclose(pd.q[-1], called.q[-1], rtol=0, atol=1e-6)  # but for rounding, which the encoder may amplify


def test_what_cannot_be_done_with_a_python_function_is_told():
    continuous = arm5({"law": "python", "target": TARGET}, 0.1, integrator=EULER)
    assert armsim.simulate(continuous, law=told_pd).status == "complete"
    for given, law, message in (
        (continuous, branching_pd, "a sample time, at which the function is called"),
        (continuous, lambda told: [1.0], "a function that returns 5 numbers"),
        (continuous, None, "a Python function, as this law is one"),
        (arm5({"law": "pd", "kp": 1, "kd": 1, "target": TARGET}), told_pd, "write `law: python`"),
    ):
        with pytest.raises(armsim.UsageError, match=message):
            armsim.simulate(given, law=law)


SMOOTH = {"period": 4e-4, "delay": 4e-4, "encoder": {"filter": 1e-2}}  # counts have no derivative


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.handful(1)
def test_the_linear_loop_is_the_derivative_of_a_period_of_the_run(law):
    from armsim.loading import read_scenario
    from armsim.plant import linearize, make_plant
    from armsim.stability.step_modes import LinearPlant

    scenario = read_scenario(arm5({"target": TARGET, **LAWS[law], **SMOOTH}, 0.1, integrator=EULER))
    plant, h, n = make_plant(scenario), 2e-4, 5
    start = plant.initial_state([1e-3, -0.999, 0.301, 1e-3, -1e-3], [0.0] * n)
    for _ in range(3):  # until the delayed command is that of this pose
        start = plant.sample(0.0, start)
    linear_plant = LinearPlant(linearize(plant, 0.0, start))
    slots, moving = plant.slots, [slot for slot in plant.slots if not slot.startswith("held") and slot != "samples"]
    at = [slots.index(slot) for slot in moving]

    def period(x):
        state = [*start]
        for i, value in zip(at, x, strict=True):
            state[i] = value
        state = plant.sample(0.0, state)
        for _ in range(2):
            state = plant.step(0.0, state, h)
        return np.array([state[i] for i in at])

    def column(i, d):
        down, up = (period([start[j] + k * d * (j == at[i]) for j in at]) for k in (-1, 1))
        return (up - down) / (2 * d)

    found = linear_plant.loop(np.linalg.matrix_power(linear_plant.step_matrix("semi_implicit_euler", h), 2))
    expected = np.array([column(i, 1e-4) for i in range(len(at))]).T
    # away from equilibrium the linear equations age within a period
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert np.abs(found - expected).max() < 0.02 * scale.max()
    assert np.abs((found - expected) / scale).max() < 0.05


def test_the_matrix_of_a_regulator_holds_the_pose_in_a_scenario():
    K = armsim.linearize("two_link_hold", target=True).lqr(q=100, r=1).full_control
    run = armsim.simulate(
        "two_link_hold", overrides={"control": {**K, "limit": [500, 500]}, "external": [], "duration": 40}
    )
    assert np.abs(run.q[-1] - np.radians(K["target"])).max() < 1e-6


def test_what_no_arm_has_is_refused_where_it_is_written(told):
    pd = {"law": "pd", "kp": 30, "kd": 3, "period": 1e-2}
    motor = {"Kp": 0.05, "Ra": 1.0, "gear": 50, "inductance": 1e-3}
    K = {"law": "state_feedback", "K": [[30, 4, 1]]}
    for control, more in (
        ({**K, "output": "voltage"}, {"motor": {**motor, "inductance": 0}}),
        ({**K, "K": [[30]]}, {}),
        (K, {}),
        ({**K, "output": "current"}, {"motor": motor}),
        ({**pd, "encoder": {"on": "motor"}}, {}),
        ({**pd, "delay": 1000}, {}),
        ({**pd, "delay": "10000 ms"}, {}),
        ({**pd, "delay": "15 ms"}, {}),
    ):
        with pytest.raises(FileFaults) as error:
            armsim.simulate(axis(control, **more))
        told(error.value)
    assert armsim.simulate(axis({**K, "output": "voltage"}, 0.1, motor)).status == "complete"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("30*e", "`e` is a parameter, too"),
        ("30*ed/(2 - 2)", "it divides by zero"),
        ("ed/none", "it divides by zero"),
        ("ed*log(-1)", "it has no value"),
    ],
)
def test_an_expression_that_means_two_things_or_nothing_is_refused_where_it_is_written(command, message):
    control = {"law": "expression", "command": [command], "target": [0.3]}
    with pytest.raises(FileFaults) as error:
        armsim.simulate(axis(control, parameters={"e": 3, "none": 0}))
    assert message in str(error.value)
    assert "control.command[0]" in str(error.value)


def test_control_that_is_switched_off_needs_no_model():
    off = {"law": "none", "model": "arm5", "K": [[1, 2]], "encoder": {"on": "motor"}}
    assert armsim.simulate(axis(off, 0.1)).status == "complete"


@pytest.mark.parametrize("answer", [None, 3.0, [], [None], ["1"], [1j], [True], [[1.0]], [1.0, 2.0], "1"])
def test_a_function_that_returns_no_list_of_numbers_is_told_so(answer):
    python = axis({"law": "python", "target": [0.3], "period": 1e-2}, 0.1)
    with pytest.raises(armsim.UsageError, match="a function that returns 1 number\n"):
        armsim.simulate(python, law=lambda told: answer)


def test_a_condition_is_no_command():
    python = axis({"law": "python", "target": [0.3]}, 0.1)
    with pytest.raises(armsim.UsageError, match="a function that returns 1 number\n"):
        armsim.simulate(python, law=lambda told: [told.e[0] > 0.0])
    with pytest.raises(armsim.UsageError, match="expected: a Python function\n"):
        armsim.simulate(python, law=3)


def test_a_run_under_a_function_that_is_called_is_measured_afterwards():
    python = axis({"law": "python", "target": [0.3], "period": 1e-2}, 0.3)
    run = armsim.simulate(python, law=lambda told: [30 * e if abs(e) < 9 else 0 for e in told.e], measure=["iae"])
    assert run.measure("iae") == run.measures["iae"]


def test_a_function_that_looks_a_number_up_is_called():
    python = axis({"law": "python", "target": [0.3], "period": 1e-2}, 0.05)
    table = dict.fromkeys(range(6), 2.0)
    run = armsim.simulate(python, law=lambda told: [table[round(told.t / 1e-2)]])
    assert math.isclose(run.qd[-1, 0], 2.0 * 0.05 / INERTIA, rel_tol=1e-12)


def test_a_function_that_asks_armsim_is_called():
    """A point mass on a weightless bar holds its pose by the arm's own gravity torque, to rounding."""
    held = {**axis({"law": "python", "target": [0.3], "period": 1e-2}, 0.1), "initial": pose(0.3)}
    held["robot"]["gravity"] = [0, -9.81, 0]
    robot = armsim.load_robot(held["robot"])
    run = armsim.simulate(held, law=lambda told: robot.gravity_torque(told.q))
    assert robot.gravity_torque([0.3])[0] > 0.1
    assert np.abs(run.q[:, 0] - 0.3).max() < 1e-12


def test_an_error_of_a_function_that_is_called_comes_out_with_the_law_named():
    def looked_up(told):
        return [{0: 1.0}[round(told.t / 1e-2)]]

    python = axis({"law": "python", "target": [0.3], "period": 1e-2}, 0.05)
    with pytest.raises(KeyError) as error:
        armsim.simulate(python, law=looked_up)
    assert error.value.__notes__ == ["raised by the law looked_up at t = 0.01 s"]


class Impure:
    """Laws that depend on more than what they are told."""

    def __init__(self):
        self.calls, self.sum, self.last = 0, 0.0, None

    def counting(self, told):
        self.calls += 1
        return [self.calls * 1e-3]

    def random(self, told):
        return [random.random()]

    def clock(self, told):
        return [1e-9 * next(TICKS)]

    def summing(self, told):
        self.sum = self.sum + told.e[0]
        return [self.sum]

    def differing(self, told):
        last, self.last = self.last, told.q[0]
        return [0.0 if last is None else told.q[0] - last + 1.0]


@pytest.mark.parametrize("called", [False, True])
@pytest.mark.parametrize("name", ["counting", "random", "clock", "summing", "differing"])
def test_a_function_that_depends_on_more_than_it_is_told_is_refused(name, called):
    """Traced or called, and at rest at its target, where nothing shows at the first sample."""
    law = getattr(Impure(), name)

    def branching(told):
        return law(told) if told.t >= 0.0 else [0.0]

    branching.__name__ = name
    python = axis({"law": "python", "target": [0.0], "period": 1e-2}, 0.1, inputs={"torque": [0.1]})
    refusal = f"law {name}\n  expected: the same commands whenever it is told the same\n"
    with pytest.raises(armsim.UsageError, match=refusal):
        armsim.simulate(python, law=branching if called else law)


def test_sampled_back_calculation_is_steady_however_short_its_tracking_time():
    # kp / ki is a tenth of the period: as a rate it would throw the integral from bound to bound
    control = {"law": "pi", "kp": 1, "ki": 1000, "limit": 3, "target": [1.0], "period": 1e-2}
    run = armsim.simulate(axis({**control, "anti_windup": "back_calculation"}, 0.2), force_step=True)
    assert np.array_equal(run["tau_motor_R1_Nm"], [1.0] * 10 + [3.0] * 191)


LIMITED = {"ki": 7.0, "integral_limit": 0.3, "limit": 2.0, "target": [1.0]}  # reached in 40 ms


@pytest.mark.parametrize("windup", ["clamping", "back_calculation"])
@pytest.mark.parametrize("law", [{"law": "pi", "kp": 1.5}, {"law": "pid", "kp": 1.5, "kd": 0.1}])
@pytest.mark.parametrize(
    ("method", "period"),
    [("rk4", None), ("semi_implicit_euler", None), ("implicit_midpoint", None), ("rk54", None), ("rk4", 7e-3)],
)
@pytest.mark.handful(1)
def test_an_integral_reaches_its_limit_and_never_passes_it(law, method, period, windup):
    control = {**LIMITED, **law, "anti_windup": windup, **({"period": period} if period else {})}
    step = {"method": method} if method == "rk54" else {"method": method, "dt": 1e-3}
    scenario = scenario_of(axis(control, 0.14, log={"every": 1e-2 if period is None else 7e-3}, integrator=step))
    plant = make_plant(scenario)
    place, state = plant.slots.index("integral_R1"), plant.initial_state([0.0], [0.0])
    largest, step = 0.0, compiled_step(plant, scenario.dt)
    for k in range(scenario.clock.steps):
        t = k * scenario.dt
        if plant.sampled and k % scenario.clock.sample_every == 0:
            state = plant.sample(t, state)
        state = step(t, state)
        largest = max(largest, abs(LIMITED["ki"] * state[place]))
    assert LIMITED["integral_limit"] * (1 - 1e-15) <= largest <= LIMITED["integral_limit"]


@hypothesis.given(ki=st.floats(1e-3, 1e3), bound=st.floats(1e-3, 1e3), sign=st.sampled_from([-1.0, 1.0]))
def test_a_clamped_integral_is_the_largest_whose_product_is_within_the_limit(ki, bound, sign):
    law = Pid("pi", (0.0,), (sign * ki,), (0.0,), (bound,))
    (integral,) = law.clamped(Kept([sign * 1e9])).integrals
    assert bound * (1 - 2**-51) <= ki * abs(integral) <= bound
    assert law.rates(
        Now(0.0, Seen([0.0], [0.0]), Desired([sign], [0.0], [0.0])), Kept([integral]), [0.0]
    ).integrals == [0]
