"""What a step does to small motions: against closed forms, steps of whole arms, other computations of the same, and runs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize

import armsim
from armsim.dynamics import potential_energy
from armsim.integrate import METHODS
from armsim.loading import read_scenario
from armsim.plant import Linearization, Linearizer, Plant, linearize, with_stop
from armsim.spatial import Vector
from armsim.stability.growth import GrowthRates
from armsim.stability.hanging import equilibria
from armsim.stability.spectra import exponential
from armsim.stability.step_modes import LinearPlant, largest_stable_step
from tests.controllers import feedback

FIXED = [name for name, method in METHODS.items() if method.step is not None]
CLOSE = 2e-4  # how closely a largest step is looked for, and something


def slide(stiffness: float, damping: float, method: str = "rk4", period: float | None = None, **law) -> LinearPlant:
    """A slide of 1 kg without gravity on a spring [N/m], which is its controller, and a damper [N·s/m], which is its own."""
    friction = {"friction": {"viscous": damping}} if damping else {}
    body = {"bodies": [{"point": {"mass": 1}}]}
    joint = {"name": "slide", "type": "prismatic", "mdh": {}, **friction, **body}
    control = {"law": "pd", "output": "torque", "kp": stiffness, "kd": 0, **law}
    given = {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": 1,
        "integrator": {"method": method, "dt": 1e-3},
        "control": control if period is None else {**control, "period": period},
    }
    return small_motions(given)


def small_motions(scenario, target: bool = False, **overrides) -> LinearPlant:
    return LinearPlant(armsim.linearize(scenario, target=target, overrides=overrides).about)


def grows(found: GrowthRates) -> bool:
    """Whether a step destabilises a mode."""
    return bool((found.growth > -math.inf).any())


def lightly_damped(method: str, w: float, d: float) -> float:
    """The largest stable step of a method for x'' = -w² x - d x', d small."""
    if method == "explicit_euler":
        return d / w**2  # det = 1 - h d + h² w² = 1
    if method == "velocity_implicit":  # 2 + 2 M / (M + h d) = h² k / (M + h d)
        return (d + math.sqrt(d**2 + 4 * w**2)) / w**2
    if method == "semi_implicit_euler":  # 4 - 2 h d = h² w²
        return (-d + math.sqrt(d**2 + 4 * w**2)) / w**2
    raise AssertionError(method)


@pytest.mark.parametrize("method", ["explicit_euler", "semi_implicit_euler", "velocity_implicit"])
@pytest.mark.handful(2)
def test_an_oscillator_is_stable_up_to_its_closed_form(method):
    for w, d in ((10.0, 5.0), (3.0, 2.0), (200.0, 7.0)):
        assert largest_stable_step(slide(w**2, d), method) == pytest.approx(lightly_damped(method, w, d), rel=CLOSE)


@pytest.mark.parametrize(
    ("method", "real"),
    [
        ("explicit_euler", 2.0),
        ("semi_implicit_euler", 2.0),
        ("velocity_verlet", 2.0),
        ("rk4", 2.785293563405282),
        ("velocity_implicit", math.inf),
    ],
)
@pytest.mark.handful(3)
def test_a_decay_is_stable_up_to_the_end_of_the_methods_real_interval(method, real):
    assert largest_stable_step(slide(0.0, 50.0), method) == pytest.approx(real / 50.0, rel=CLOSE)


@pytest.mark.parametrize(
    ("method", "imaginary"),
    [("semi_implicit_euler", 2.0), ("velocity_verlet", 2.0), ("velocity_implicit", 2.0), ("rk4", math.sqrt(8.0))],
)
@pytest.mark.handful(2)
def test_an_undamped_swing_is_bounded_up_to_the_end_of_the_methods_imaginary_interval(method, imaginary):
    assert largest_stable_step(slide(400.0, 0.0), method) == pytest.approx(imaginary / 20.0, rel=CLOSE)


def test_explicit_euler_feeds_an_undamped_swing_of_any_step():
    plant, w, h = slide(400.0, 0.0), 20.0, 1e-3
    found = plant.growing("explicit_euler", h)
    assert found.swings.tolist() == [True, True]
    assert found.growth == pytest.approx(math.log(1 + (w * h) ** 2) / (2 * h), rel=1e-9)
    assert np.abs(found.rate.imag) == pytest.approx(w, rel=1e-9)


def test_a_swing_whose_damping_hardly_counts_is_undamped_and_one_whose_damping_counts_is_not():
    w, h = 20.0, 1e-3  # the step feeds it by w² h / 2 = 0.2 /s
    hardly, counts, enough = (slide(w**2, 2 * decay).growing("explicit_euler", h) for decay in (0.01, 0.1, 0.3))
    assert hardly.swings.all()
    assert counts.harms.all()
    assert not grows(enough)


def test_what_grows_by_itself_is_not_the_steps_doing():
    falling = slide(-100.0, 3.0)  # an arm that stands upside down, say
    assert falling.modes.real.max() > 8
    for method in FIXED:
        assert not grows(falling.growing(method, 1e-2))


def test_a_free_joint_drifts_and_nothing_is_said_of_it():
    for method in FIXED:
        assert not grows(slide(0.0, 0.0).growing(method, 1e-2))


ARM5 = {
    # issue and reference: by the eigenvalues of M⁻¹D and the methods' stability polynomials
    ("arm5_fall", False): {"explicit_euler": 0.580, "rk4": 0.807},
    ("arm5_hold", False): {"explicit_euler": 0.557, "semi_implicit_euler": 0.551, "rk4": 0.776},
    ("arm5_hold", True): {"explicit_euler": 0.530, "semi_implicit_euler": 0.525, "rk4": 0.738},
}


@pytest.mark.parametrize(("name", "target"), ARM5)
@pytest.mark.handful(2)
def test_arm5_is_stable_up_to_the_steps_that_are_known(name, target):
    plant = small_motions(name, target)
    for method, most in ARM5[name, target].items():
        assert largest_stable_step(plant, method) == pytest.approx(1e-3 * most, abs=5.1e-7)  # three digits are known


def test_explicit_euler_takes_the_wrist_stops_of_arm5_up_to_the_steps_that_are_known(arms):
    about = armsim.linearize("arm5_fall").about
    for name, most in (("R4", 0.053), ("R5", 0.069)):
        i = [joint.name for joint in about.plant.arm.joints].index(name)
        limit = about.plant.arm.joints[i].limit
        engaged = LinearPlant(with_stop(about, i, limit.stiffness, limit.damping))
        assert largest_stable_step(engaged, "explicit_euler") == pytest.approx(1e-3 * most, abs=5e-7)


def test_springs_alone_limit_velocity_implicit_euler_on_arm5_to_a_tenth_of_a_second():
    assert largest_stable_step(small_motions("arm5_hold", True), "velocity_implicit") == pytest.approx(0.11, rel=0.01)


def floating(arms, kinds="RPR", **changes) -> Plant:
    """An arm without gravity at rest at the target of its controller: an equilibrium, whatever the method."""
    arm = arms.serial(kinds, seed=3, motors=True)
    joints = list(arm.joints)
    joints[0] = replace(joints[0], motor=replace(joints[0].motor, inductance=2e-3))
    arm = replace(arm, gravity=Vector(0.0, 0.0, 0.0), links=tuple(joints))
    n = arm.n
    target = tuple(0.1 * (i + 1) for i in range(n))
    gains = {"kp": (9.0, 7.0, 8.0)[:n], "ki": (3.0, 2.0, 1.0)[:n], "kd": (0.3, 0.2, 0.1)[:n]}
    command = feedback("pid", "voltage", target=target, limit=(None,) * n, integral_limit=(None,) * n, **gains)
    return Plant(arm, replace(command, **changes))


def derivative(function, x, h):
    """By a difference quotient of order 4, columns for x."""
    columns = []
    for k in range(len(x)):
        a, b, c, d = (np.array(function([v + i * h * (j == k) for j, v in enumerate(x)])) for i in (-2, -1, 1, 2))
        columns.append((a - 8 * b + 8 * c - d) / (12 * h))
    return np.array(columns).T


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("h", [1e-3, 2e-2])
@pytest.mark.handful(1)
def test_the_step_is_the_derivative_of_the_arms_own_step(arms, method, h):
    plant = replace(floating(arms), method=method)
    state = plant.initial_state(list(plant.command.target), [0.0] * 3)
    small = LinearPlant(linearize(plant, 0.0, state))
    names = [f"{kind}{i}" for kind in ("q", "qd", "integral") for i in range(3)] + ["current0"]
    assert len(plant.slots) == small.size == len(names)
    expected = derivative(lambda x: plant.step(0.0, x, h), state, 1e-4)
    # rounding, 1e-16 / 1e-4, of entries that are as large as the largest
    assert np.abs(small.step_matrix(method, h) - expected).max() < 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.handful(1)
def test_between_samples_the_step_is_the_derivative_of_the_arms_own_with_its_command_held(arms, method):
    h = 5e-3
    plant = replace(floating(arms, period=2e-2), method=method)
    start = plant.initial_state(list(plant.command.target), [0.0] * 3)
    state = plant.sample(0.0, start)
    small = LinearPlant(linearize(plant, 0.0, state))
    expected = derivative(lambda x: plant.step(0.0, x, h), state, 1e-4)
    at = [plant.slots.index(slot) for slot in plant.slots if not slot.startswith("integral")]
    order = [*at[:6], at[-1], *at[6:9]]  # positions, velocities, the current, commands
    found = small.step_matrix(method, h)
    assert np.abs(found - expected[np.ix_(order, order)]).max() < 1e-10 * np.abs(expected).max()

    # and from sample to sample that of a sample and four steps
    def period(x):
        x = plant.sample(0.0, x)
        for _ in range(4):
            x = plant.step(0.0, x, h)
        return x

    expected = derivative(period, start, 1e-4)
    kept = [i for i, slot in enumerate(plant.slots) if not slot.startswith("held")]
    order = [*kept[:6], kept[-1], *kept[6:9]]
    flow = np.linalg.matrix_power(found, 4)
    loop = small.loop(flow)
    assert np.abs(loop - expected[np.ix_(order, order)]).max() < 1e-10 * np.abs(expected).max()


def test_a_matrixs_exponential_is_scipys():
    rng = np.random.default_rng(2)
    for size in (1e-3, 1.0, 40.0):
        A = size * rng.normal(size=(6, 6)) - 2 * size * np.eye(6)
        expected = scipy.linalg.expm(A * 0.7)
        assert np.abs(exponential(A, 0.7) - expected).max() <= 1e-12 * max(1.0, np.abs(expected).max())


def test_the_modes_of_a_sampled_loop_are_those_of_the_linear_model():
    for name in ("arm5_hold_pi", "puma560_hold"):
        model = armsim.linearize(name, target=True)
        small = LinearPlant(model.about)
        if any(model.about.held):
            continue
        period = model.period
        expected = model.closed_loop.eigenvalues
        found = np.exp(period * small.loop_rates(period))
        for z in found[np.abs(found) > 1e-6]:
            assert np.abs(expected - z).min() < 1e-9


def test_a_sampled_spring_without_damping_is_unstable_at_every_period_and_one_with_kd_up_to_its_closed_form():
    # x'' = u, u = -k x - d x' held: stable for T < 2 d / k, and T d < 2 + ... (Jury's criteria on z² - ...)
    k, d = 100.0, 8.0
    plant = slide(k, 0.0, period=1e-2, kd=d)

    def unstable(T):
        return plant.loop_rates(T).real.max() > 1e-9

    trace = scipy.optimize.brentq(lambda T: 4 - 2 * T * d, 1e-3, 1.0)  # z = -1
    det = 2 * d / k  # |z| = 1: det = 1 - T d + T² k / 2
    assert not unstable(0.999 * min(trace, det))
    assert unstable(1.001 * min(trace, det))
    assert all(slide(k, 0.0, period=T).loop_rates(T).real.max() > 0 for T in (1e-3, 1e-2, 1e-1))


def hanging(arm, start) -> Linearization | None:
    """The linearisation at a local minimum of potential energy, found from a pose."""
    linearizer = Linearizer(Plant(arm, None))

    def about(q):
        return linearizer.at(0.0, linearizer.plant.initial_state(q.tolist(), [0.0] * arm.n))

    def look(_, q):
        found = about(q[0])
        return np.array([found.M]), -np.array([found.Fq]), np.array([found.qdd])

    (at,), (found,), (failed,) = equilibria(look, np.array([start], dtype=float))
    assert not failed
    return about(at) if found else None


def test_an_arm_that_nothing_drives_hangs_where_its_potential_energy_is_least():
    for name in ("two_link_swing", "rr_config5"):
        scenario = read_scenario(name)
        arm = scenario.arm
        about = hanging(arm, scenario.initial_q)
        found = scipy.optimize.minimize(
            lambda q, arm=arm: potential_energy(arm, list(q)), scenario.initial_q, tol=1e-12
        )
        assert about.q == pytest.approx(found.x, abs=1e-6)
        assert max(map(abs, about.qdd)) < 1e-8


def test_what_falls_for_ever_hangs_nowhere():
    slides = {"name": "s", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}]}
    robot = {"format": "armsim/robot/1", "name": "falling", "joints": [slides]}
    arm = read_scenario(
        {"format": "armsim/scenario/1", "robot": robot, "duration": 1, "integrator": {"method": "rk4", "dt": 1e-2}}
    ).arm
    assert hanging(arm, [0.0]) is None


def shaken(name: str, method: str, dt: float, seconds: float, target, **overrides):
    """A run from a target, or where the scenario starts, all joints hardly moving: how far it is from the pose, over time."""
    steps = round(seconds / dt)
    given = {
        "integrator.method": method,
        "integrator.dt": dt,
        "duration": steps * dt,
        "log.every": max(1, steps // 500) * dt,
    }
    joints = range(len(target))
    start = {"initial.q": list(target), "initial.qd": [1e-4 * (1 + i) for i in joints]}
    return armsim.simulate(name, {**given, **start, **overrides}, force_step=True)


TARGET = [0.0, -1.1, 0.3, 0.0, 0.0]


def calms_down(run) -> bool:
    """Whether in the last tenth of a run the joints hardly move; arm5 falls at 0.1 rad/s."""
    return run.status == "complete" and np.abs(run.qd[-(len(run.t) // 10) :]).max() < 0.2


def blows_up(run) -> bool:
    return run.status == "diverged" or np.abs(run.qd).max() > 1.0


LIMITED = [name for name in FIXED if name != "implicit_midpoint"]  # which takes any step


@pytest.mark.parametrize("method", LIMITED)
@pytest.mark.handful(1)
def test_ten_seconds_of_arm5_just_below_the_largest_step_are_calm_and_just_above_are_not(method):
    seconds = 10 if method != "velocity_implicit" else 30  # whose steps are few
    most = largest_stable_step(small_motions("arm5_hold", True), method)
    assert calms_down(shaken("arm5_hold", method, 0.98 * most, seconds, TARGET))
    assert blows_up(shaken("arm5_hold", method, 1.02 * most, seconds, TARGET))


@pytest.mark.parametrize("method", ["explicit_euler", "rk4"])
@pytest.mark.handful(1)
def test_ten_seconds_of_arm5_fall_just_below_the_largest_step_are_calm_and_just_above_are_not(method):
    most, seconds = largest_stable_step(small_motions("arm5_fall"), method), 10
    assert calms_down(shaken("arm5_fall", method, 0.98 * most, seconds, TARGET))
    assert blows_up(shaken("arm5_fall", method, 1.02 * most, seconds, TARGET))


@pytest.mark.parametrize("method", LIMITED)
@pytest.mark.handful(1)
def test_so_it_is_with_motors_that_have_an_inductance(method):
    inductive = {f"robot.joints[R{i}].motor.inductance": 1e-3 for i in range(1, 6)}
    most = largest_stable_step(small_motions("arm5_hold", True, **inductive), method)
    seconds = 10 if method != "velocity_implicit" else 30
    assert calms_down(shaken("arm5_hold", method, 0.97 * most, seconds, TARGET, **inductive))
    assert blows_up(shaken("arm5_hold", method, 1.03 * most, seconds, TARGET, **inductive))


@pytest.mark.parametrize("method", LIMITED)
@pytest.mark.handful(1)
def test_so_it_is_with_commands_held_between_samples(method):
    period = 8e-3
    sampled = {"control.period": period, "control.kp": [6, 6, 6, 0.5, 0.5], "control.kd": [0.1, 0.1, 0.1, 0.01, 0.01]}
    most = largest_stable_step(small_motions("arm5_hold", True, **sampled), method)
    if method == "velocity_implicit":
        assert most > 1.0
        return
    below, above = (period / k for k in (math.ceil(period / (0.97 * most)), math.floor(period / (1.03 * most))))
    assert calms_down(shaken("arm5_hold", method, below, 2000 * period, TARGET, **sampled))
    assert blows_up(shaken("arm5_hold", method, above, 200 * period, TARGET, **sampled))
