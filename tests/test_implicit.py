"""Implicit steps of whole arms: damping at the new velocity, stops and limits as laws, and the stiff adaptive method."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS, Motion, System, Tolerance, rodas

HOLD = {
    "format": "armsim/scenario/1",
    "robot": "arm5",
    "duration": 10,
    "initial": {"q": [0, -1.1, 0.3, 0, 0]},
    "control": {
        "law": "pd",
        "output": "voltage",
        "kp": [100, 100, 100, 20, 20],
        "kd": [1, 1, 1, 0.1, 0.1],
        "target": [0.3, -0.8, 0, 0.5, -0.4],
    },
}
IMPLICIT = ["velocity_implicit", "rodas"]


def scenario(method: str, every: float, dt: float | None = None, base=HOLD, **changes):
    integrator = {"method": method} | ({} if dt is None else {"dt": dt})
    return {**base, "integrator": integrator, "log": {"every": every}, **changes}


def one_joint(limits=None, motor=None, friction=None, mass=2.0, **more):
    """A slider along the ground's x, where nothing but its own forces moves it."""
    joint = {"name": "x", "type": "prismatic", "mdh": {"a": 0, "alpha": 0, "d": 0, "theta": 0}}
    joint["bodies"] = [{"point": {"mass": mass, "center": [0, 0, 0]}}]
    joint |= {k: v for k, v in {"limits": limits, "motor": motor, "friction": friction}.items() if v is not None}
    robot = {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [joint]}
    return {"format": "armsim/scenario/1", "robot": robot, "duration": 1, **more}


@pytest.fixture(scope="module")
def truth(reference):
    return reference("hold_truth")


def error(run, truth) -> float:
    """The largest deviation of a joint position at the times that both have."""
    times = {round(t, 9): i for i, t in enumerate(run.t.tolist())}
    pairs = [(times[round(t, 9)], k) for k, t in enumerate(truth.columns["t_s"]) if round(t, 9) in times]
    assert len(pairs) > 90
    mine, theirs = map(list, zip(*pairs, strict=True))
    return float(np.abs(run.q[mine] - truth.block("q", 5)[theirs]).max())


def test_the_hold_by_damping_at_the_new_velocity_has_the_known_error_of_the_scheme(truth):
    # 1.7e-3 rad at 1 ms, as MuJoCo's implicitfast (reference README), and half of it at half the step
    errors = [error(armsim.simulate(scenario("velocity_implicit", 1e-2, dt)), truth) for dt in (1e-3, 5e-4)]
    assert errors[0] == pytest.approx(1.7e-3, rel=0.02)
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)


def test_it_is_stable_at_a_step_that_is_300_times_the_fastest_decay(truth):
    run = armsim.simulate(scenario("velocity_implicit", 0.1, 0.1))
    assert run.status == "complete"
    assert np.abs(run.q[-1] - truth.block("q", 5)[-1]).max() < 1e-6


def test_the_stiff_method_keeps_to_its_tolerance_over_six_decades(truth):
    tolerances = [1e-3, 1e-5, 1e-7, 1e-9]
    errors = []
    opened = ["integrator.rtol", "integrator.atol"]  # for one kernel
    integrator = {"method": "rodas", "rtol": 1e-3, "atol": 1e-3}
    sim = armsim.prepare({**HOLD, "integrator": integrator, "log": {"every": 0.1}}, opened)
    for rtol in tolerances:
        errors.append(error(sim(dict.fromkeys(opened, rtol)), truth))
        assert errors[-1] < 3 * rtol
    assert errors[-1] < 1e-4 * errors[0]


def test_it_takes_long_steps_where_others_are_bound_by_the_fastest_decay():
    counts = {}
    for method in ("rodas", "rk54"):
        run = armsim.simulate(scenario(method, 0.1))
        counts[method] = run.state[run.plant.slots.index("steps_taken")]
    assert counts["rodas"] < 400 < 9000 < counts["rk54"]


@pytest.mark.parametrize("method", IMPLICIT)
def test_a_damped_slider_follows_its_exponential(method):
    # 2 kg, 5000 N·s/m: decays in 0.4 ms, a hundredth of the step that follows
    friction = {"viscous": 5000}
    dt = 0.04 if method == "velocity_implicit" else None
    run = armsim.simulate(scenario(method, 0.04, dt, one_joint(friction=friction, initial={"qd": [3.0]}, duration=0.4)))
    way = 3.0 * 2 / 5000
    if dt is None:
        assert run.q[1:, 0] == pytest.approx(way, rel=1e-4)
    else:  # v' = v / (1 + h d / m), summed
        ratio = 1 / (1 + dt * 5000 / 2)
        assert run.q[-1, 0] == pytest.approx(dt * 3.0 * ratio * (1 - ratio**10) / (1 - ratio), rel=1e-12)


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("gear", [20.0, -20.0])
@pytest.mark.handful(2)
def test_dry_friction_takes_its_impulse_beside_what_damps_at_the_new_velocity(gear, way):
    # m v' = m v + h (push - d v' -+ dry), until it sticks: viscous friction on both sides and the back-EMF are d
    h, mass, volts = 0.01, 2.0, 1.5
    motor = {"Kp": 0.05, "Ke": 0.06, "Ra": 0.8, "gear": gear, "viscous": 1e-3, "coulomb": 0.2}
    friction = {"viscous": 2.0, "coulomb": {"positive": 3.0, "negative": 1.0}}
    inputs = {"voltage": [way * math.copysign(volts, gear)]}
    base = one_joint(motor=motor, friction=friction, initial={"qd": [way]}, inputs=inputs, duration=0.8)
    run = armsim.simulate(scenario("velocity_implicit", h, h, base))
    d = 2.0 + 400 * 1e-3 + 400 * 0.05 * 0.06 / 0.8
    push = 20 * 0.05 * volts / 0.8 - (3.0 if way > 0 else 1.0) - 20 * 0.2
    v = [1.0]
    for _ in run.t[1:]:
        v.append(max((mass * v[-1] + h * push) / (mass + h * d), 0.0))
    assert v.index(0.0) > 5
    assert way * run.qd[:, 0] == pytest.approx(np.array(v), rel=1e-12)


def test_a_stiff_damper_of_a_stop_brings_no_chatter():
    # 2 kg at 1 m/s against 1e4 N/m with 1e4 N·s/m: an explicit step of 1 ms would multiply the velocity by -4
    limits = {"lower": -1, "upper": 0, "stiffness": 1e4, "damping": 1e4}
    base = one_joint(limits, initial={"q": [-0.0105], "qd": [1.0]})
    explicit = armsim.simulate(scenario("semi_implicit_euler", 1e-3, 1e-3, base), force_step=True)
    assert np.sign(explicit.qd[12:40, 0]).min() < 0
    run = armsim.simulate(scenario("velocity_implicit", 1e-3, 1e-3, base))
    assert (np.diff(run.qd[:, 0]) <= 0).all()  # it only ever slows down, and comes to be pushed back gently
    assert 0 < run.q.max() < 1e-3


def test_a_stop_is_a_law_in_the_implicit_step_that_pushes_and_never_pulls():
    limits = {"lower": -1, "upper": 0, "stiffness": 100.0, "damping": 50.0}
    inside, h = 0.02, 1e-2
    for speed in (0.5, -0.5, -5.0):
        base = one_joint(limits, initial={"q": [inside], "qd": [speed]}, duration=h)
        run = armsim.simulate(scenario("velocity_implicit", h, h, base))
        pushed = (2 * speed - h * 100 * inside) / (2 + h * 50)
        force = -100 * inside - 50 * pushed
        assert run.qd[1, 0] == pytest.approx(pushed if force < 0 else speed, rel=1e-14)


def test_a_command_that_saturates_damps_as_far_as_its_limit_goes():
    # kd 1e4 would stop the slider within a step; the limit of 10 N takes 0.05 m/s from it in 10 ms
    control = {"law": "pd", "output": "torque", "kp": [0], "kd": [1e4], "target": [0], "limit": [10]}
    base = one_joint(initial={"qd": [1.0]}, control=control, duration=0.3)
    run = armsim.simulate(scenario("velocity_implicit", 0.01, 0.01, base))
    expected = np.maximum(1.0 - 0.05 * np.arange(len(run.t)), 0)
    held = expected > 0.049
    assert run.qd[held, 0] == pytest.approx(expected[held], rel=1e-12)
    assert np.abs(run.qd[~held, 0]).max() < 1e-3  # and then the gain, unlimited, keeps it there


@pytest.mark.parametrize("limit", [{}, {"limit": [1e6]}], ids=["free", "limited"])
def test_a_gain_that_drives_instead_of_damping_is_taken_at_the_old_velocity(limit):
    # v' = v (1 + h 200 / m): taken at v', the equation (m - h 200) v' = m v would have no solution at this step
    control = {"law": "pd", "output": "torque", "kp": [0], "kd": [-200], "target": [0], **limit}
    base = one_joint(initial={"qd": [1.0]}, control=control, duration=0.05)
    run = armsim.simulate(scenario("velocity_implicit", 0.01, 0.01, base))
    assert run.qd[:, 0] == pytest.approx(2.0 ** np.arange(6), rel=1e-14)


@pytest.mark.parametrize("gear", [20.0, -20.0])
@pytest.mark.parametrize("law", [{}, {"ki": [1e-9], "law": "pid"}], ids=["pd", "pid"])
@pytest.mark.parametrize(("limit", "supply"), [(10, 4), (4, 10), (None, 4), (4, None)])
@pytest.mark.handful(2)
def test_the_narrower_of_controller_and_supply_limits_what_a_saturated_command_brakes_with(limit, supply, law, gear):
    # kd asks for 1000 V: the slider loses gear Kp 4 V / Ra / mass a second, back-EMF taken at the new velocity
    h, mass, Kp, Ra = 0.01, 2.0, 0.05, 0.8
    kd = 1000.0 if gear > 0 else -1000.0
    control = {"law": "pd", "output": "voltage", "kp": [0], "kd": [kd], "target": [0], **law}
    control |= {} if limit is None else {"limit": limit}
    motor = {"Kp": Kp, "Ra": Ra, "gear": gear} | ({} if supply is None else {"limits": {"voltage": supply}})
    base = one_joint(motor=motor, initial={"qd": [1.0]}, control=control, duration=10 * h)
    run = armsim.simulate(scenario("velocity_implicit", h, h, base))
    push, damping = abs(gear) * Kp * 4 / Ra, (gear * Kp) ** 2 / Ra
    v = 1.0
    for found in run.qd[1:, 0]:
        v = (mass * v - h * push) / (mass + h * damping)
        assert found == pytest.approx(v, rel=1e-13)
    assert v > 0.5


@pytest.mark.parametrize("gear", [20.0, -20.0])
def test_an_integral_counts_in_a_command_that_saturates(gear):
    # its clamped share of 3 V is all there is: kp and kd are too small to be felt
    ki = 1e6 if gear > 0 else -1e6
    control = {"law": "pid", "output": "voltage", "kp": [1e-9], "kd": [1e-9], "ki": [ki], "target": [1.0]}
    control |= {"limit": [5], "integral_limit": [3]}
    base = one_joint(motor={"Kp": 1e-3, "Ra": 0.5, "gear": gear}, control=control, duration=0.5)
    run = armsim.simulate(scenario("velocity_implicit", 0.01, 0.01, base))
    push, damping = abs(gear) * 1e-3 * 3 / 0.5, (gear * 1e-3) ** 2 / 0.5
    assert run.qd[3:, 0] == pytest.approx((2 * run.qd[2:-1, 0] + 0.01 * push) / (2 + 0.01 * damping), rel=1e-6)


DRIVES = {
    "torque": ({"Kp": 0.05, "Ra": 0.8, "gear": 20}, {"output": "torque", "kp": [60], "kd": [3]}),
    "voltage": ({"Kp": 0.05, "Ra": 0.8, "gear": 20}, {"output": "voltage", "kp": [40], "kd": [2]}),
    "reversed": ({"Kp": 0.05, "Ra": 0.8, "gear": -20}, {"output": "voltage", "kp": [-40], "kd": [-2]}),
}


@pytest.mark.parametrize("law", [{"law": "pd"}, {"law": "pid", "ki": [70]}], ids=["pd", "pid"])
@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.handful(2)
def test_a_limit_that_is_not_reached_changes_nothing(drive, law):
    # with one, the command is solved for as a law of its own; without, its damping is part of the matrix
    motor, gains = DRIVES[drive]
    if "ki" in law and gains["kp"][0] < 0:
        law = {**law, "ki": [-70]}
    runs = []
    for limit in ({}, {"limit": 1e6}):
        control = {**gains, **law, "target": [0.3], **limit}
        base = one_joint(motor=motor, initial={"qd": [1.0]}, control=control, duration=0.5)
        runs.append(armsim.simulate(scenario("velocity_implicit", 5e-3, 5e-3, base)))
    assert np.ptp(runs[0].q) > 0.1
    assert runs[1].q == pytest.approx(runs[0].q, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("law", ["pd", "pi"])
@pytest.mark.parametrize(
    "part",
    [
        {"limits": {"current": 2}},
        {"limits": {"torque": 0.1}},
        {"inductance": 5e-3},
        {"brush_drop": {"max": 2, "half": 1}},
    ],
    ids=lambda part: next(iter(part)),
)
@pytest.mark.parametrize("drive", DRIVES)
@pytest.mark.handful(2)
def test_a_command_with_a_limit_keeps_what_else_its_motor_has(drive, part, law):
    # against the method of order four, whose torque is that of every row
    motor, gains = DRIVES[drive]
    gains = dict(gains) if law == "pd" else {"output": gains["output"], "kp": gains["kp"], "ki": gains["kp"]}
    control = {"law": law, **gains, "target": [0.5], "limit": 5}
    base = one_joint(motor={**motor, **part}, initial={"qd": [1.0]}, control=control, duration=0.3)
    ends = [armsim.simulate(scenario(method, 0.3, 1e-4, base)).qd[-1, 0] for method in ("velocity_implicit", "rk4")]
    assert abs(ends[1] - 1.0) > 0.05
    assert ends[0] == pytest.approx(ends[1], abs=1e-3)  # of first order: decays of up to 10 1/s by steps of 1e-4 s


def test_dry_friction_and_a_stop_share_a_joint_in_one_step():
    # pushed into its stop and let go, the slider stays where friction balances the spring: exactly at rest
    limits = {"lower": -1, "upper": 0, "stiffness": 1000.0, "damping": 20.0}
    friction = {"coulomb": 5.0}
    base = one_joint(limits, friction=friction, initial={"q": [0.05]}, duration=2)
    run = armsim.simulate(scenario("velocity_implicit", 1e-3, 1e-3, base))
    assert run.qd[-1, 0] == 0.0
    assert run.q[-1, 0] <= 0.005 + 1e-12  # 5 N over 1000 N/m


@pytest.mark.parametrize("method", IMPLICIT)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"control": {**HOLD["control"], "limit": [5] * 5}},
        {"control": {**HOLD["control"], "period": 5e-3}},
        {"control": {**HOLD["control"], "law": "pid", "ki": [10] * 5}},
        {"initial": {"q": [0, -1.21, 0.61, 0, 1.3], "qd": [0.5, -0.3, 0.2, 1, 1]}},
    ],
    ids=["plain", "limited", "sampled", "integral", "stops"],
)
@pytest.mark.handful(1)
def test_machine_code_and_python_give_the_same_bits(method, changes):
    # a step of rodas takes a tenth of a second on floats, and a thousand landings in a run take three
    dt, duration = (1e-3, 0.02) if method == "velocity_implicit" else (2.5e-4 if changes else None, 0.005)
    asked = scenario(method, 5e-3, dt, duration=duration, **changes)
    runs = [armsim.simulate(asked, engine=engine) for engine in ("llvm", "python")]
    assert runs[0].table.tobytes() == runs[1].table.tobytes()
    assert runs[0].state == runs[1].state


@pytest.mark.parametrize("method", IMPLICIT)
@pytest.mark.handful(1)
def test_a_batch_gives_every_state_what_it_gets_alone(method):
    model = armsim.ForwardModel("arm5", dt=2e-3, method=method, output="voltage")
    rng = np.random.default_rng(4)
    states = np.stack([model.state(rng.normal(size=5), rng.normal(size=5)) for _ in range(9)])
    inputs = rng.normal(size=(9, 5))
    together = model.step(states, inputs)
    for k in range(9):
        assert model.step(states[k], inputs[k]).tolist() == together[k].tolist()


@pytest.mark.slow
def test_rodas_is_of_order_four_with_time_and_further_states():
    from armsim.expr import cos, sin

    def pendulum(t, y):
        (q,), (v,), (z,), _ = y
        return Motion([v], [-9.0 * sin(q) - 0.1 * v + cos(2 * t) + 0.2 * z], [q - z * v], [v * v])

    def end(trial, n):
        y = Motion([0.5], [0.3], [0.1], [0.0])
        for k in range(n):
            y = trial(System(pendulum), k / n, y, 1 / n).end
        return np.concatenate(y)

    true = end(rodas.trial, 320)  # to a 256th of the smallest error
    steps = [10, 20, 40, 80]
    errors = np.array([np.abs(end(rodas.trial, n) - true) for n in steps])
    for column in errors[:, [0, 1, 3]].T:  # z crosses its own error's zero on the way
        assert -np.polyfit(np.log(steps), np.log(column), 1)[0] == pytest.approx(4, abs=0.1)


def test_rodas_is_of_order_four_where_time_drives_a_further_state():
    # z' = cos 3t - 2 z, as a voltage of time drives a coil: z = (2 cos 3t + 3 sin 3t - 2 exp(-2t)) / 13 from 0
    from armsim.expr import cos

    def coil(t, y):
        return Motion([0.0], [0.0], [cos(3 * t) - 2 * y.z[0]], [])

    def error(n):
        y = Motion([0.0], [0.0], [0.0], [])
        for k in range(n):
            y = rodas.trial(System(coil), k / n, y, 1 / n).end
        return abs(y.z[0] - (2 * math.cos(3) + 3 * math.sin(3) - 2 * math.exp(-2)) / 13)

    steps = [10, 20, 40, 80]
    assert -np.polyfit(np.log(steps), np.log([error(n) for n in steps]), 1)[0] == pytest.approx(4, abs=0.1)


def test_rodas_meets_the_conditions_of_its_order():
    # Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.7, in the variables of its implementation
    n, gamma = 6, rodas.GAMMA
    square = lambda rows: np.array([[*row, *[0.0] * (n - len(row))] for row in rows])  # noqa: E731
    whole = np.linalg.inv(np.eye(n) / gamma - square(rodas.C))  # the matrix of gamma_ij
    alpha = square(rodas.A) @ whole
    b = np.array([*rodas.A[-1], 1.0]) @ whole
    beta = alpha + whole
    a1, b1 = alpha.sum(1), beta.sum(1)
    assert a1 == pytest.approx(rodas.TIMES, abs=1e-12)
    assert whole.sum(1) == pytest.approx(rodas.BY_TIME, abs=1e-12)
    conditions = [
        (b.sum(), 1),
        (b @ b1, 1 / 2),
        (b @ a1**2, 1 / 3),
        (b @ beta @ b1, 1 / 6),
        (b @ a1**3, 1 / 4),
        ((b * a1) @ alpha @ b1, 1 / 8),
        (b @ beta @ a1**2, 1 / 12),
        (b @ beta @ beta @ b1, 1 / 24),
    ]
    for found, expected in conditions:
        assert found == pytest.approx(expected, abs=1e-13)
    damped = b @ np.linalg.solve(np.eye(n) + 1e12 * beta, np.ones(n)) * 1e12  # R(-1e12)
    assert abs(1 - damped) < 1e-6  # L-stable


def test_an_adaptive_advance_lands_exactly_and_counts_its_steps():
    decay = System(lambda t, y: Motion(y.v, [-1000.0 * y.v[0]], [], []))
    y, memory = METHODS["rodas"].advance(decay, 0.0, Motion([0.0], [1.0], [], []), 1.0, [0.0] * 4, Tolerance())
    length, _, taken, _ = memory
    assert abs(y.v[0]) < 1e-8
    assert 5 < taken < 150
    assert length > 0.1
    assert math.isfinite(y.q[0])
