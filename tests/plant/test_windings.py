"""Windings whose temperature acts on their resistance, against closed forms and an integrator of order 8."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp

import armsim
from armsim import FileFaults
from armsim.arm.motor_curve import motor_curve
from armsim.integrate import METHODS
from armsim.loading import load_robot_file
from armsim.loading.motor_ratings import ratings_doubts

COPPER = 0.0039  # 1/K
KP, RA, GEAR, HEAT, TAU, AMBIENT, INERTIA = 0.05, 1.2, 10.0, 6.0, 0.8, 30.0, 0.09 + 10.0**2 * 1e-4
FAST = {"resistance": HEAT, "time_constant": TAU, "ambient": AMBIENT, "drift": True}


def robot(friction=None, thermal=FAST, **motor):
    joint = {
        "name": "R1",
        "type": "revolute",
        "mdh": {},
        "bodies": [{"point": {"mass": 1, "center": [0.3, 0, 0]}}],
        "friction": friction or {},
        "motor": {"Kp": KP, "Ra": RA, "gear": GEAR, "rotor_inertia": 1e-4, "thermal": thermal, **motor},
    }
    return {"format": "armsim/robot/1", "name": "arm", "gravity": [0, 0, 0], "joints": [joint]}


def scenario(arm, method="rk54", dt=1e-3, **more):
    steps = {"rtol": 1e-11, "atol": 1e-12} if METHODS[method].adaptive else {"dt": dt}
    head = {"format": "armsim/scenario/1", "robot": arm, "duration": 1.5, "integrator": {"method": method, **steps}}
    return {**head, "inputs": {"voltage": [9]}, "log": {"every": 0.1}, **more}


STALLED = robot(friction={"coulomb": 1000})


def stalled_until(resistance, volts):
    """The time at which a stalled motor's resistance has grown by a factor [s]: r dr / (r² - r - c) = -dt / T, integrated."""
    c = COPPER * HEAT * volts**2 / RA
    root = math.sqrt(1.0 + 4.0 * c)
    high, low = (1.0 + root) / 2.0, (1.0 - root) / 2.0

    def primitive(r):
        return (high * math.log(abs(r - high)) - low * math.log(abs(r - low))) / (high - low)

    return TAU * (primitive(1.0) - primitive(resistance))


@pytest.mark.parametrize(
    ("method", "dt", "tolerance"),
    [
        ("rk54", 0, 1e-9),
        ("rodas", 0, 1e-8),
        ("rk4", 1e-2, 1e-8),
        ("implicit_midpoint", 1e-3, 2e-6),
        ("velocity_verlet", 1e-3, 2e-6),
        ("semi_implicit_euler", 1e-4, 2e-4),
        ("explicit_euler", 1e-4, 2e-4),
        ("velocity_implicit", 1e-4, 2e-4),
    ],
)
@pytest.mark.handful(3)
def test_a_stalled_motor_on_a_constant_voltage_warms_as_in_closed_form(method, dt, tolerance):
    run = armsim.simulate(scenario(STALLED, method, dt))
    grown = 1.0 + COPPER * (run["winding_R1_degC"] - AMBIENT)
    assert [stalled_until(r, 9.0) for r in grown[1:]] == pytest.approx(run.t[1:], abs=tolerance)
    assert run["current_R1_A"] == pytest.approx(9.0 / (RA * grown), rel=1e-13)
    assert grown[-1] > 1.5
    assert (run.q == 0.0).all()


@pytest.mark.parametrize("current", [3.0, 8.0])
def test_a_constant_current_warms_by_an_exponential_that_may_have_no_end(current):
    run = armsim.simulate(scenario(STALLED, inputs={"current": [current]}))
    cold = HEAT * RA * current**2
    pace = (1.0 - COPPER * cold) / TAU
    assert run["winding_R1_degC"] == pytest.approx(AMBIENT + cold / TAU * -np.expm1(-pace * run.t) / pace, rel=1e-9)
    assert (pace < 0.0) == (current == 8.0)
    assert run["voltage_R1_V"] == pytest.approx(RA * (1.0 + COPPER * (run["winding_R1_degC"] - AMBIENT)) * current)


def test_a_winding_that_warms_without_end_ends_the_run_and_is_told_of_by_name():
    run = armsim.simulate(scenario(STALLED, inputs={"current": [30.0]}, duration=20))
    assert run.status == "diverged"
    assert run.fastest_to_diverge() == "winding_R1"


def exact(volts, friction, until, inductance=0.0):
    """Velocity, position, temperature and current of the moving motor, by DOP853."""

    def law(t, x):
        v, _, temperature, i = x
        Ra = RA * (1.0 + COPPER * (temperature - AMBIENT))
        flows = i if inductance else (volts(t) - KP * GEAR * v) / Ra
        by_i = (volts(t) - KP * GEAR * v - Ra * i) / inductance if inductance else 0.0
        a = (GEAR * KP * flows - friction * v) / INERTIA
        return [a, v, (AMBIENT + HEAT * Ra * flows**2 - temperature) / TAU, by_i]

    start = [0.0, 0.0, AMBIENT, 0.0]
    return solve_ivp(law, (0.0, until), start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


@pytest.mark.parametrize(
    ("method", "order"), [("rk4", 4), ("implicit_midpoint", 2), ("velocity_verlet", 2), ("semi_implicit_euler", 1)]
)
@pytest.mark.handful(2)
def test_a_moving_motor_keeps_the_order_of_the_method(method, order):
    wanted = exact(lambda t: 9.0, 0.4, 1.2)
    errors = []
    for dt in (4e-3, 2e-3):
        arm = robot(friction={"viscous": 0.4})
        run = armsim.simulate(scenario(arm, method, dt, duration=1.2, log={"every": 1.2}), force_step=True)
        errors.append(np.abs([run["qd_R1_rad_s"][-1] - wanted[0], run["winding_R1_degC"][-1] - wanted[2]]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx([order, order], abs=0.25)


@pytest.mark.parametrize("method", ["rk54", "rodas"])
@pytest.mark.handful(1)
def test_inductance_and_drift_together_are_those_of_the_three_equations(method):
    arm = robot(friction={"viscous": 0.4}, inductance=0.02)
    run = armsim.simulate(scenario(arm, method, inputs={"voltage": ["9*cos(4*t)"]}, duration=1.0))
    v, q, temperature, i = exact(lambda t: 9.0 * math.cos(4.0 * t), 0.4, 1.0, 0.02)
    found = [run[name][-1] for name in ("qd_R1_rad_s", "q_R1_rad", "winding_R1_degC", "current_R1_A")]
    assert found == pytest.approx([v, q, temperature, i], rel=2e-8)


def test_energy_from_the_supply_is_work_and_the_heat_that_windings_keep_and_give_off():
    arm = robot(friction={"viscous": 0.4, "coulomb": 0.3}, efficiency=0.9)
    run = armsim.simulate(scenario(arm, inputs={"voltage": ["9*cos(4*t)"]}, log={"every": 0.0025}))
    drawn = simpson(run["power_R1_W"], x=run.t)
    warmer = run["winding_R1_degC"] - AMBIENT
    kept, given_off = TAU / HEAT * warmer[-1], simpson(warmer, x=run.t) / HEAT
    audit = run.summary()["audit"]
    assert drawn == pytest.approx(audit["motors"] + kept + given_off, rel=1e-6)
    assert abs(audit["residual"]) < 1e-9


def test_linear_equations_and_steps_know_the_resistance_of_the_winding():
    """Behind 9 V the warm motor's back-EMF damps by n² Kp Ke over the resistance that the winding has then."""
    given = scenario(robot(), "rk4", duration=1.0)
    run = armsim.simulate(given)
    model = armsim.linearize(given, at=1.0)
    Ra = RA * (1.0 + COPPER * (run["winding_R1_degC"][-1] - AMBIENT))
    assert Ra > 1.05 * RA
    assert model.A[1, 1] == pytest.approx(-((GEAR * KP) ** 2) / Ra / INERTIA, rel=1e-12)
    assert model.B[1, 0] == pytest.approx(GEAR * KP / Ra / INERTIA, rel=1e-12)


def test_a_limited_command_of_an_implicit_step_acts_through_the_warm_winding():
    control = {"law": "pd", "output": "voltage", "kp": [60], "kd": [2], "target": [1.0], "limit": 9}
    whole = armsim.simulate(scenario(robot(), "rk54", control=control, inputs=None))
    assert (whole["voltage_R1_V"] == 9.0).any()
    errors = []
    for dt in (2e-3, 2e-4):
        run = armsim.simulate(scenario(robot(), "velocity_implicit", dt, control=control, inputs=None))
        errors.append([np.abs(run[name] - whole[name]).max() for name in ("winding_R1_degC", "q_R1_rad")])
    assert np.divide(*errors) == pytest.approx([10.0, 10.0], rel=0.1)  # of order 1


def test_a_motor_at_its_limit_of_speed_warms_by_the_current_that_it_then_has():
    arm = robot(friction={"viscous": 0.2}, limits={"speed": 40.0})
    run = armsim.simulate(scenario(arm, "rk54", duration=3.0))
    assert run["qd_R1_rad_s"][-1] == 4.0
    current = 0.2 * 4.0 / (GEAR * KP)
    assert run["current_R1_A"][-1] == pytest.approx(current, rel=1e-12)
    t, warmer = run.t, run["winding_R1_degC"] - AMBIENT
    late = t > 2.0  # it is held there: an exponential towards the steady rise of that current
    steady = HEAT * RA * current**2
    pace = (1.0 - COPPER * steady) / TAU
    steady = steady / (1.0 - COPPER * steady)
    (first, *_), since = warmer[late], t[late] - t[late][0]
    assert warmer[late] == pytest.approx(steady + (first - steady) * np.exp(-pace * since), rel=1e-8)


def test_a_rotor_behind_an_elastic_coupling_warms_as_any():
    coupling = {"stiffness": 300.0, "damping": 2.0}
    arm = robot(friction={"coulomb": 1000}, coupling=coupling)
    run = armsim.simulate(scenario(arm, duration=3.0, log={"every": 1.0}))
    c = COPPER * HEAT * 81.0 / RA
    steady = ((1.0 + math.sqrt(1.0 + 4.0 * c)) / 2.0 - 1.0) / COPPER
    assert run["winding_R1_degC"][-1] - AMBIENT == pytest.approx(steady, rel=0.02)


@pytest.mark.parametrize("method", ["rk4", "rodas", "semi_implicit_euler", "implicit_midpoint"])
@pytest.mark.handful(1)
def test_lanes_and_the_interpreter_have_the_bits_of_one_run(method):
    arm = robot(friction={"coulomb": 0.2}, inductance=0.01, limits={"current": 7})
    given = scenario(arm, method, 2e-3, duration=0.2)
    if method == "rodas":
        given |= {"integrator": {"method": method, "rtol": 1e-4}, "duration": 0.02, "log": {"every": 0.01}}
    paths = {"robot.joints[R1].motor.thermal.resistance": [3.0, HEAT, 9.0]}
    many, run = armsim.simulate_many(given, paths, measure=["winding_temperature_R1"]), armsim.simulate(given)
    assert many.q[1].tobytes() == run.q[-1].tobytes()
    assert len(set(many["winding_temperature_R1"])) == 3
    slow = armsim.simulate(given, engine="python")
    for name in ("q_R1_rad", "current_R1_A", "winding_R1_degC"):
        assert (run[name] == slow[name]).all()


def test_measures_and_the_summary_have_the_temperature_of_the_state():
    run = armsim.simulate(scenario(robot(), inputs={"voltage": ["9*(1-t)"]}, log={"every": 0.01}))
    (joint,) = run.summary()["joints"]
    assert joint["winding_temperature"] == run["winding_R1_degC"][-1]
    assert joint["peak_winding_temperature"] == pytest.approx(run["winding_R1_degC"].max(), abs=0.05)
    assert armsim.simulate(scenario(robot()), measure=["max(winding_R1)"]).measures["max(winding_R1)"] > AMBIENT


def test_without_drift_an_arm_has_the_bits_that_it_has_without_a_thermal_model():
    plain = {key: value for key, value in FAST.items() if key != "drift"}
    runs = [armsim.simulate(scenario(robot(thermal=thermal), "rk4")) for thermal in (plain, {**plain, "drift": False})]
    arm = robot()
    del arm["joints"][0]["motor"]["thermal"]
    runs.append(armsim.simulate(scenario(arm, "rk4")))
    assert len({run.q.tobytes() for run in runs}) == 1
    assert "winding_R1_degC" not in runs[0]


def test_a_recording_is_repeated_to_the_bit():
    signal = {"voltage": ["9*cos(4*t)"], "period": 0.01}
    given = scenario(robot(friction={"coulomb": 0.2}), "rk4", duration=0.5, inputs=signal)
    recording = armsim.record(given)
    assert "winding_R1_degC" in recording.vector.headings()
    replay = armsim.replay(recording)
    assert replay.states.tobytes() == recording.states.tobytes()


def test_a_forward_model_begins_with_any_temperature_and_steps_as_a_run_does():
    model = armsim.ForwardModel(robot(), dt=1e-3, method="rk4")
    run = armsim.simulate(scenario(robot(), "rk4", duration=0.05, log={"every": 0.05}))
    k, qdd = model.slots.index("winding1"), model.slots.index("qdd1")
    state = model.state()
    assert state[k] == AMBIENT
    cold = model.state(inputs=[9.0])
    for _ in range(50):
        state = model.step(state, [9.0])
    assert state[k] == run["winding_R1_degC"][-1]
    warm = cold.copy()
    warm[k] = AMBIENT + 100.0
    share = model.step(warm, [9.0])[qdd] / model.step(cold, [9.0])[qdd]
    assert share == pytest.approx(1.0 / (1.0 + COPPER * 100.0), rel=2e-2)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"thermal": {**FAST, "drift": "yes"}}, "true or false"),
        ({"thermal": {"drift": True}}, "resistance"),
        ({"model": "dynamechs", "gear": 1.0}, "DynaMechs"),
        ({"nominal_current": 6.0, "thermal": {**FAST, "max": 155}}, None),
    ],
)
def test_what_a_file_says_of_drift_is_checked(change, word):
    arm = robot()
    arm["joints"][0]["motor"] |= change
    if word is not None:
        with pytest.raises(FileFaults, match=word):
            armsim.simulate(scenario(arm))
        return
    (doubt,) = ratings_doubts(load_robot_file(arm).document.joints[0].motor, "motor")
    assert "comes to inf °C" in str(doubt)


def test_the_steady_temperature_of_a_motor_that_holds_counts_its_warm_resistance():
    arm = robot() | {"gravity": [0, -9.81, 0]}
    holding = motor_curve(armsim.load_robot(arm).arm, "R1", 24.0).holding
    loss = RA * (9.81 * 0.3 / (GEAR * KP)) ** 2
    assert loss * HEAT * COPPER < 1.0
    steady = holding.winding - AMBIENT
    assert steady == pytest.approx(HEAT * loss * (1.0 + COPPER * steady), rel=1e-12)
