"""Any state and inputs in, next state out: with the bits of `armsim simulate`, whatever was asked before."""

from __future__ import annotations

import math
import platform
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

import armsim
from armsim import ForwardModel
from armsim.compile.target import Target
from armsim.control import OpenLoop
from armsim.errors import Diverged, ShapeError, UsageError
from armsim.integrate import METHODS
from armsim.model import BrushDrop, Coulomb
from armsim.plant import driven_plant
from armsim.simulation.engine import NativeEngine

X86 = platform.machine().lower() in ("x86_64", "amd64")
DT = 1e-3 / 4
SINES = ["3*sin(5*t)", "-6*cos(3*t)", "4*exp(-t)", "sin(40*t)", "0.5"]


def scenario(method="semi_implicit_euler", output="voltage", signals=SINES, steps=2000) -> dict:
    return {
        "format": "armsim/scenario/1",
        "robot": "arm5",
        "duration": steps * DT,
        "integrator": {"method": method, "dt": DT},
        "initial": {"q": [0.2, -1.19, 0.55, 0.3, -0.2], "qd": [-1, -2, 1, 3, -2]},
        "inputs": {output: signals, "period": DT},
        "log": {"every": DT},
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("output", ["voltage", "torque"])
def test_looping_step_is_simulate_to_the_bit(method, output):
    robot, signals = ("arm5", SINES) if output == "voltage" else ("two_link", ["20*sin(5*t)", "-6*cos(3*t)"])
    asked = {**scenario(method, output, signals), "robot": robot}
    if output == "torque":
        del asked["initial"]
    run = armsim.simulate(asked)
    assert run.status == "complete"
    model = ForwardModel(robot, dt=DT, method=method, output=output)
    n = len(model.joints)
    inputs = np.stack(
        [run[f"voltage_{name}_V" if output == "voltage" else f"tau_motor_{name}_Nm"] for name in model.joints], axis=1
    )
    state = model.state(run.q[0], run.qd[0], inputs[0])
    states = [state]
    for u in inputs[:-1]:
        states.append(model.step(states[-1], u))
    table = np.array(states)
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.1
    for k in (0, 1, 50, 300, 2000):
        assert table[k, :n].tolist() == run.q[k].tolist()
        assert table[k, n : 2 * n].tolist() == run.qd[k].tolist()
    assert (table[:, : 2 * n] == np.concatenate([run.q, run.qd], axis=1)).all()
    assert (table[:, 3 * n : 3 * n + 3] == np.stack([run["x_m"], run["y_m"], run["z_m"]], axis=1)).all()


def test_accelerations_are_those_that_act_while_the_inputs_stay():
    run = armsim.simulate(scenario(signals=[3, -6, 4, 1, 0.5], steps=300))
    model = ForwardModel("arm5", dt=DT)
    state = model.state(run.q[0], run.qd[0], [3, -6, 4, 1, 0.5])
    for k in range(301):
        assert state[10:15].tolist() == run.qdd[k].tolist()
        state = model.step(state, [3, -6, 4, 1, 0.5])


def test_accelerations_of_a_state_are_those_of_forward_dynamics():
    arm = armsim.load_robot("arm5")
    q, qd, tau = (
        np.array([0.1, -0.9, 0.4, 0.5, -0.3]),
        np.array([1.0, -2.0, 0.5, 1.0, 2.0]),
        np.array([1.0, 9, 5, 0.2, 0.1]),
    )
    state = ForwardModel(arm, dt=DT, output="torque").state(q, qd, tau)
    assert state[10:15] == pytest.approx(arm.forward_dynamics(q, qd, tau), rel=1e-12)
    assert state[15:18] == pytest.approx(arm.forward_kinematics(q).position, abs=1e-15)


def test_explicit_euler_advances_by_the_rates_in_the_state():
    model = ForwardModel("arm5", dt=DT, method="explicit_euler")
    u = np.array([3.0, -6.0, 4.0, 1.0, 0.5])
    state = model.state(qd=[1.0, -2.0, 0.5, 1.0, 2.0], inputs=u)
    after = model.step(state, u)
    assert after[:10] == pytest.approx(state[:10] + DT * state[5:15], rel=1e-15, abs=1e-15)


def test_a_batch_has_the_bits_of_single_steps():
    model = ForwardModel("arm5", dt=DT)
    rng = np.random.default_rng(4)
    states = model.state(rng.uniform(-1, 1, (37, 5)), rng.uniform(-3, 3, (37, 5)))
    inputs = rng.uniform(-9, 9, (37, 5))
    singles = states.copy()
    for _ in range(50):
        states = model.step(states, inputs)
        singles = np.array([model.step(state, u) for state, u in zip(singles, inputs)])
    assert states.tolist() == singles.tolist()
    assert model.step(np.empty((0, 18)), np.empty((0, 5))).shape == (0, 18)
    assert model.state(rng.uniform(-1, 1, (3, 5))).shape == (3, 18)


def test_a_step_depends_on_nothing_but_the_state_and_the_inputs():
    model, other = ForwardModel("arm5", dt=DT), ForwardModel("arm5", dt=DT)
    state = model.state([0.1, -1.0, 0.2, 0.3, 0.4])
    u = np.ones(5)
    for _ in range(20):
        model.step(model.state(), -9 * u)
    ahead = model.step(state, u)
    assert ahead.tolist() == other.step(state, u).tolist()
    spoiled = state.copy()
    spoiled[10:18] = 1e3  # accelerations and tool follow from the rest
    assert model.step(spoiled, u).tolist() == ahead.tolist()
    spaced = np.zeros(36)[::2]
    spaced[:] = state
    for same in (state.tolist(), spaced, state.astype(">f8"), state.astype(object), memoryview(state)):
        assert model.step(same, u).tolist() == ahead.tolist()
    for same in (u.tolist(), u[::-1], u.astype(int), u.astype(np.float32), (1, 1, 1, 1, 1)):
        assert model.step(state, same).tolist() == ahead.tolist()
    kept = ahead.copy()
    model.step(ahead, u)
    assert ahead.tolist() == kept.tolist()


def test_threads_do_not_get_into_each_others_way():
    model = ForwardModel("arm5", dt=DT)

    def course(v: float):
        state = model.state(qd=[v] * 5)
        for _ in range(2000):
            state = model.step(state, np.full(5, float(v)))
        return state.tolist()

    wanted = [course(v) for v in range(4)]
    found: dict[int, list[float]] = {}
    threads = [threading.Thread(target=lambda v=v: found.update({v: course(v)})) for v in range(4)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert [found[v] for v in range(4)] == wanted


@pytest.mark.skipif(not X86, reason="is about x86-64 processors")
def test_a_processor_without_avx_or_fma_gives_the_same_bits():
    host, generic = (ForwardModel("arm5", dt=DT, target=target) for target in (None, Target("x86-64", "")))
    a, b = (model.state(qd=[1.0, -2.0, 0.5, 1.0, 2.0]) for model in (host, generic))
    for k in range(1, 2001):
        u = [3 * math.sin(0.01 * k), -6, 4, 1, 0.5]
        a, b = host.step(a, u), generic.step(b, u)
        if k in (50, 300, 2000):
            assert a.tolist() == b.tolist()
    assert np.abs(a[:5] - [0, -1.1, 0.3, 0, 0]).max() > 0.1


def test_slots_are_named_in_order():
    model = ForwardModel("arm5", dt=DT)
    numbers = [f"{kind}{i}" for kind in ("q", "qd", "qdd") for i in range(1, 6)]
    assert model.slots == (*numbers, "x", "y", "z")
    assert model.joints == ["R1", "R2", "R3", "R4", "R5"]


def test_states_of_the_drives_come_along(arms, drive):
    arm = arms.shipped("arm5")
    slow = tuple(replace(joint, motor=replace(joint.motor, inductance=0.02)) for joint in arm.joints)
    arm = replace(arm, joints=slow)
    model = ForwardModel(arm, dt=DT)
    assert model.slots[18:] == ("current1", "current2", "current3", "current4", "current5")
    q, volts = [0.2, -1.0, 0.5, 0.3, -0.2], (3.0, -6.0, 4.0, 1.0, 0.5)
    signals = tuple(lambda t, u=u: u for u in volts)
    plant = replace(driven_plant(arm, "semi_implicit_euler", "voltage"), command=OpenLoop("voltage", signals))
    run = drive(NativeEngine(plant, DT), plant, q, [0.0] * 5, 300, (1, 4000))
    state = model.state(q)
    for _ in range(300):
        state = model.step(state, volts)
    assert state[:10].tolist() == run.state[:10].tolist()
    assert state[18:].tolist() == run.state[10:].tolist()
    assert abs(state[18]) > 0.01


@pytest.fixture
def dynamechs(arms, reference):
    """arm5 with the motors of DynaMechs' recording, and that recording."""
    recorded = reference("full_motor_euler_every_step")
    said = recorded.about["motors"]
    arm = arms.shipped("arm5")
    motors = [
        replace(
            joint.motor,
            Kp=float(said["Kt"][i]),
            Ke=float(said["Ke"][i]),
            Ra=float(said["Ra"][i]),
            rotor_inertia=said["rotor_inertia"][i],
            viscous=said["viscous"][i],
            coulomb=Coulomb(said["coulomb"][i], said["coulomb"][i]),
            brush_drop=BrushDrop(said["brush_drop"][i], said["half_drop"][i]),
            model="dynamechs",
        )
        for i, joint in enumerate(arm.joints)
    ]
    joints = tuple(replace(joint, motor=motor) for joint, motor in zip(arm.joints, motors))
    return replace(arm, joints=joints), recorded


def test_with_the_motor_of_dynamechs_it_repeats_what_dynamechs_recorded(dynamechs):
    arm, recorded = dynamechs
    model = ForwardModel(arm, dt=1e-4, method="explicit_euler")
    assert len(model.slots) == 28
    assert model.slots[15:] == ("x", "y", "z", *(f"{kind}{i}" for kind in ("stuck", "prev_qd") for i in range(1, 6)))
    law = recorded.about["input"]
    state = model.state(recorded.about["initial_q"])
    rows = {int(k): i for i, k in enumerate(recorded.columns["step"])}
    q, qd = recorded.block("q"), recorded.block("qd")
    for k in range(recorded.about["steps"] + 1):
        if k in rows:
            # 1e-12 of the column's maximum, as the reference asks; a velocity that has crossed zero is set to it a step later
            assert state[:5] == pytest.approx(q[rows[k]], abs=1e-12 * np.abs(q).max())
            crossed = state[5:10] * state[23:28] < 0
            assert np.where(crossed, 0, state[5:10]) == pytest.approx(qd[rows[k]], abs=1e-12 * np.abs(qd).max())
        t = k * 1e-4
        state = model.step(state, [A * math.sin(2 * math.pi * f * t) for A, f in zip(law["A"], law["f"])])


def test_joints_that_stick_do_so_in_the_forward_model(arms):
    """With all its friction the arm stays exactly where it is; without it, it falls."""
    arm = arms.shipped("arm5")
    rough = replace(arm, joints=tuple(replace(joint, coulomb=Coulomb(50.0, 50.0)) for joint in arm.joints))
    for made, moves in ((rough, False), (arm, True)):
        model = ForwardModel(made, dt=DT)
        state = start = model.state()
        for _ in range(50):
            state = model.step(state, np.zeros(5))
        assert bool((state[:10] != start[:10]).any()) == moves


def test_a_robot_may_be_given_in_any_form(tmp_path):
    robot = armsim.load_robot("arm5")
    path = armsim.files.shipped.shipped_path("robots", "arm5")
    states = [
        ForwardModel(given, dt=DT).step(ForwardModel(given, dt=DT).state(), np.ones(5))
        for given in ("arm5", path, robot)
    ]
    states.append(ForwardModel(robot.arm, dt=DT).step(ForwardModel(robot.arm, dt=DT).state(), np.ones(5)))
    assert all(state.tolist() == states[0].tolist() for state in states)


@pytest.mark.parametrize(
    ("state", "inputs"),
    [
        ((18,), (4,)),
        ((17,), (5,)),
        ((3, 18), (5,)),
        ((3, 18), (2, 5)),
        ((18,), (1, 5)),
        ((2, 3, 18), (2, 3, 5)),
        ((), ()),
    ],
)
def test_a_wrong_shape_is_refused_with_both_shapes(state, inputs):
    model = ForwardModel("arm5", dt=DT)
    with pytest.raises(ShapeError) as caught:
        model.step(np.zeros(state), np.zeros(inputs))
    assert str(caught.value) == (
        "step: expected state (18,) with inputs (5,), or state (m, 18) with inputs (m, 5), "
        f"found state {state} with inputs {inputs}"
    )


def test_wrong_shapes_of_positions_are_refused():
    model = ForwardModel("arm5", dt=DT)
    with pytest.raises(ShapeError, match=r"q: expected shape \(5,\) or \(m, 5\), found \(4,\)"):
        model.state([1, 2, 3, 4])
    with pytest.raises(ShapeError, match=r"as many rows in each array, found q \(2, 5\), qd \(3, 5\)"):
        model.state(np.zeros((2, 5)), np.zeros((3, 5)))


def test_a_model_that_diverges_says_which_number_did():
    model = ForwardModel("arm5", dt=5e-3, method="explicit_euler")
    state = model.state(qd=[1.0] * 5)

    def on(state):
        for _ in range(100):
            state = model.step(state, np.zeros(5))

    with pytest.raises(Diverged) as caught:
        on(state)
    lines = str(caught.value).splitlines()
    assert lines[0] == "step: the state diverged"
    assert lines[2].startswith("  found:    qd")
    assert lines[3] == "  mend:     take a smaller step than dt = 0.005 s with explicit_euler, or check the inputs"
    with pytest.raises(Diverged):
        model.step(np.full(18, math.nan), np.zeros(5))


def test_of_a_batch_only_the_diverged_rows_are_nan():
    model = ForwardModel("arm5", dt=DT)
    states = np.array([model.state()] * 3)
    states[1, 5] = math.nan
    states[2, 2] = 2e6
    after = model.step(states, np.zeros((3, 5)))
    assert after[0].tolist() == model.step(states[0], np.zeros(5)).tolist()
    assert np.isnan(after[1:]).all()
    assert np.isnan(model.step(after, np.zeros((3, 5)))[1:]).all()


def test_arguments_that_are_of_no_use_are_refused():
    with pytest.raises(UsageError) as caught:
        ForwardModel("rr", dt=DT)
    assert str(caught.value) == (
        "output\n"
        "  expected: a motor on every joint, to put a voltage on\n"
        "  found:    no motor on R1, R2\n"
        "  mend:     give every joint a `motor` in the robot file, or write output='torque'"
    )
    with pytest.raises(UsageError, match="did you mean `rk4`"):
        ForwardModel("arm5", dt=DT, method="rk40")
    with pytest.raises(UsageError, match="expected: voltage or torque"):
        ForwardModel("arm5", dt=DT, output="current")
    for dt in (0.0, -1e-3, math.inf, math.nan):
        with pytest.raises(UsageError, match="above 0"):
            ForwardModel("arm5", dt=dt)
    with pytest.raises(UsageError) as caught:
        ForwardModel("arm5", dt=DT, method="rk4", rtol=1e-6)
    assert str(caught.value) == (
        "rtol\n"
        "  expected: no tolerance with rk4, whose steps have a given length\n"
        "  found:    1e-06\n"
        "  mend:     leave it out, or take a method that chooses its steps: rk54, rodas"
    )
    for given in ({"rtol": 0.0}, {"rtol": 1.0}, {"rtol": math.nan}, {"atol": 0.0}, {"atol": math.inf}):
        with pytest.raises(UsageError, match=r"expected: a number (from 1e-13 to 0\.1|above 0)"):
            ForwardModel("arm5", dt=DT, method="rk54", **given)


def test_a_batch_of_an_adaptive_model_is_its_arms_one_by_one():
    model = ForwardModel("arm5", dt=5e-3, method="rk54", rtol=1e-8)
    rng = np.random.default_rng(3)
    q, qd, volts = (rng.uniform(-1, 1, (11, 5)) for _ in range(3))
    many = model.step(model.state(q, qd), volts)
    many = model.step(many, -volts)
    for k in range(11):
        one = model.step(model.step(model.state(q[k], qd[k]), volts[k]), -volts[k])
        assert many[k].tolist() == one.tolist()
    assert len(set(many[:, model.slots.index("steps_taken")])) > 1  # each arm took steps of its own


def test_a_step_of_an_adaptive_model_is_as_precise_as_asked():
    precise = ForwardModel("arm5", dt=0.02, method="rk54", rtol=1e-12)
    start, volts = precise.state(qd=[1, -2, 1, 3, -2]), [3, -6, 4, 1, 0.5]
    exact = precise.step(start, volts)[:10]
    for rtol in (1e-4, 1e-6, 1e-8):
        model = ForwardModel("arm5", dt=0.02, method="rk54", rtol=rtol)
        assert np.abs(model.step(start, volts)[:10] - exact).max() < 10 * rtol
