"""Any state and inputs in, next state out: with the bits of `armsim simulate`, whatever was asked before."""

from __future__ import annotations

import math
import platform
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import armsim
from armsim import ForwardModel
from armsim.arm.arrays import LEAST
from armsim.compile.target import Target
from armsim.control import OpenLoop
from armsim.errors import Diverged, FileFaults, ShapeError, UsageError
from armsim.files.shipped import shipped_path
from armsim.integrate import METHODS
from armsim.model import BrushDrop, Coulomb
from armsim.plant import driven_plant
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan

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
@pytest.mark.handful(2)
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


@pytest.mark.slow
def test_threads_change_no_bit_of_many_states():
    many = 3 * LEAST + 5
    q, qd, inputs = np.random.default_rng(5).uniform(-1, 1, (3, many, 5))
    qd[7], inputs[-1] = 1e300, math.nan
    found = []
    for threads in (1, 2, 3):
        model = ForwardModel("arm5", dt=DT, threads=threads)
        states = model.state(q, qd)
        found.append((states.tobytes(), model.step(states, inputs).tobytes()))
    assert found[1:] == found[:1] * 2
    assert np.flatnonzero(np.isnan(np.frombuffer(found[0][1])).reshape(many, -1).all(axis=1)).tolist() == [7, many - 1]
    with pytest.raises(UsageError, match="threads"):
        ForwardModel("arm5", dt=DT, threads=0)


def test_a_few_hundred_states_start_no_thread(monkeypatch):
    monkeypatch.setattr("armsim.arm.arrays.Thread", None)
    model = ForwardModel("arm5", dt=DT, threads=4)
    states = model.state(np.zeros((500, 5)))
    assert model.step(states, np.ones((500, 5))).shape == (500, 18)
    with pytest.raises(TypeError):
        model.state(np.zeros((2 * LEAST, 5)))


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
    arm = replace(arm, links=slow)
    model = ForwardModel(arm, dt=DT)
    assert model.slots[18:] == ("current1", "current2", "current3", "current4", "current5")
    q, volts = [0.2, -1.0, 0.5, 0.3, -0.2], (3.0, -6.0, 4.0, 1.0, 0.5)
    signals = tuple(lambda t, u=u: u for u in volts)
    plant = replace(driven_plant(arm, "semi_implicit_euler", "voltage"), command=OpenLoop("voltage", signals))
    run = drive(NativeEngine(LoopPlan.of(plant, DT)), plant, q, [0.0] * 5, 300, (1, 4000))
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
    return replace(arm, links=joints), recorded


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
    rough = replace(arm, links=tuple(replace(joint, coulomb=Coulomb(50.0, 50.0)) for joint in arm.joints))
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


def test_arguments_that_are_of_no_use_are_refused(told):
    with pytest.raises(UsageError) as caught:
        ForwardModel("rr", dt=DT)
    told(caught.value)
    with pytest.raises(UsageError, match="did you mean `rk4`"):
        ForwardModel("arm5", dt=DT, method="rk40")
    with pytest.raises(UsageError, match="expected: voltage, current or torque"):
        ForwardModel("arm5", dt=DT, output="speed")
    for dt in (0.0, -1e-3, math.inf, math.nan):
        with pytest.raises(UsageError, match="above 0"):
            ForwardModel("arm5", dt=dt)
    with pytest.raises(UsageError) as caught:
        ForwardModel("arm5", dt=DT, method="rk4", rtol=1e-6)
    told(caught.value)
    for given in ({"rtol": 0.0}, {"rtol": 1.0}, {"rtol": math.nan}, {"atol": 0.0}, {"atol": math.inf}):
        with pytest.raises(UsageError, match=r"expected: a number (from 1e-13 to 0\.1|above 0)"):
            ForwardModel("arm5", dt=DT, method="rk54", **given)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_step_of_an_adaptive_model_is_as_precise_as_asked():
    precise = ForwardModel("arm5", dt=0.02, method="rk54", rtol=1e-12)
    start, volts = precise.state(qd=[1, -2, 1, 3, -2]), [3, -6, 4, 1, 0.5]
    exact = precise.step(start, volts)[:10]
    for rtol in (1e-4, 1e-6, 1e-8):
        model = ForwardModel("arm5", dt=0.02, method="rk54", rtol=rtol)
        assert np.abs(model.step(start, volts)[:10] - exact).max() < 10 * rtol


OPEN = {
    "joints[R2].motor.Kp": 11.5,
    "joints[1].bodies[0].cylinder.mass": 1.3,
    "parameters.upper": 0.41,
    "gravity[2]": -3.7,
    "joints[R2].limits.stiffness": 700.0,
    "joints[R4].motor.inductance": 0.02,
    "joints[R5].friction.coulomb": 0.01,
    "joints[0].motor.limits.voltage": 2.0,
    "payload.mass": 0.7,
}
POSE = {"q": [0.2, -1.25, 0.55, 0.3, -0.2], "qd": [-1.0, -2.0, 1.0, 3.0, -2.0]}
VOLTS = [3.0, -6.0, 4.0, 1.0, 0.5]
INERTIA_OF_RR = [f"joints[{i}].bodies[0].inertia.{key}" for i in range(2) for key in ("mass", "zz")]


def file_of_arm5(**parts) -> dict:
    """arm5 with its parameters, and with other parts."""
    read = yaml.safe_load(Path(shipped_path("robots", "arm5")).read_text(encoding="utf-8"))
    return {**read, "payload": {"mass": 0.1, "center": [0, 0, 0.05]}, **parts}


def course(model, *under, steps=40) -> list[list[float]]:
    """A state, and those after some steps."""
    states = [model.state(*POSE.values(), VOLTS, *under)]
    for _ in range(steps):
        states.append(model.step(states[-1], VOLTS, *under))
    return np.array(states).tolist()


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk4", "velocity_implicit", "rk54", "rodas"])
@pytest.mark.slow
def test_numbers_left_open_give_the_bits_of_the_numbers_written_in(method):
    paths = [path for path in OPEN if method == "semi_implicit_euler" or "coulomb" not in path]  # takes long to trace
    values = [OPEN[path] for path in paths]
    written = ForwardModel(armsim.load_robot(file_of_arm5(), dict(zip(paths, values))), DT, method)
    opened = ForwardModel(file_of_arm5(), DT, method, open=paths)
    assert opened.slots == written.slots
    assert opened.open == tuple(paths)
    steps = 40 if method != "rodas" else 5
    assert course(opened, values, steps=steps) == course(written, steps=steps)
    assert course(opened, np.array(values), steps=1) == course(written, steps=1)


def test_without_values_a_model_takes_the_numbers_of_the_file():
    opened = ForwardModel("arm5", DT, open=["gravity[2]", "parameters.upper", "joints[R2].motor.Ra"])
    assert course(opened) == course(ForwardModel("arm5", DT))
    assert opened.arm == armsim.load_robot("arm5").arm


def test_each_open_number_is_felt():
    paths = [path for path in OPEN if path not in ("joints[R5].friction.coulomb", "joints[R4].motor.inductance")]
    model = ForwardModel(file_of_arm5(), DT, open=paths)
    values = np.array([OPEN[path] for path in paths])
    state = model.step(model.state(*POSE.values(), VOLTS, values), VOLTS, values)
    for i, path in enumerate(paths):
        other = values.copy()
        other[i] *= 1.01
        assert model.step(state, VOLTS, other).tolist() != model.step(state, VOLTS, values).tolist(), path


def test_a_batch_of_open_numbers_is_its_arms_one_by_one():
    paths = ["joints[R2].motor.Kp", "joints[1].bodies[0].cylinder.mass"]
    model = ForwardModel("arm5", DT, open=paths, external=[{"link": "R5"}, {"link": "R2", "axes": "local"}])
    rng = np.random.default_rng(5)
    q, qd, volts = (rng.uniform(-1, 1, (21, 5)) for _ in range(3))
    values, wrench = rng.uniform(0.5, 12, (21, 2)), rng.uniform(-3, 3, (21, 2, 6))
    states = model.state(q, qd, volts, values, wrench)
    after = model.step(states, volts, values, wrench)
    for k in range(21):
        one = model.state(q[k], qd[k], volts[k], values[k], wrench[k])
        assert one.tolist() == states[k].tolist()
        assert model.step(one, volts[k], values[k], wrench[k]).tolist() == after[k].tolist()
        assert model.step(one, list(volts[k]), values[k].tolist(), wrench[k].tolist()).tolist() == after[k].tolist()
    shared = model.step(states, volts, values[3], wrench[3])
    assert shared[3].tolist() == after[3].tolist()
    assert shared[4].tolist() == model.step(states[4], volts[4], values[3], wrench[3]).tolist()


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.handful(1)
def test_a_value_that_the_file_could_not_have_is_refused_as_there(many, told):
    model = ForwardModel(
        "arm5", DT, open=["joints[1].bodies[0].cylinder.mass", "joints[R2].limits.lower", "parameters.upper"]
    )
    state, good = model.state(), np.array([1.0, -1.2, 0.38])
    model.step(state, VOLTS, good)

    def step(values):
        if many:
            return model.step(np.array([state] * 3), np.array([VOLTS] * 3), np.array([good, values, good]))
        return model.step(state, VOLTS, values)

    with pytest.raises(FileFaults) as caught:
        step([-0.8, -1.2, 0.38])
    told(caught.value)
    with pytest.raises(FileFaults, match="expected: lower smaller than upper"):
        step([1.0, 0.8, 0.38])
    with pytest.raises(FileFaults, match=r"arm5.yaml:\d+:\d+: joints\[1\].bodies\[0\].cylinder.height\n"):
        step([1.0, -1.2, -0.1])
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(FileFaults, match="mend:     write a finite number"):
            step([1.0, -1.2, bad])
    values = good.copy()
    step(values)
    values[0] = -1.0  # the same array, other numbers
    with pytest.raises(FileFaults, match="a number of kg, 0 or more"):
        step(values)
    with pytest.raises(FileFaults):
        model.state(values=values)


@pytest.mark.parametrize(
    ("path", "absent"),
    [
        ("joints[R2].friction.coulomb", 0.0),
        ("joints[R2].motor.efficiency", 1.0),
        ("joints[R2].motor.inductance", 0.0),
        ("parameters.dry", 0.0),
    ],
)
def test_a_value_that_means_absence_is_structure_and_refused(path, absent, told):
    data = file_of_arm5()
    data["parameters"]["dry"] = 0.5
    data["joints"][0]["friction"] = {"coulomb": "2*dry"}
    model = ForwardModel(data, DT, open=[path])
    with pytest.raises(UsageError) as caught:
        model.state(values=[absent])
    told(caught.value)


def test_masses_that_leave_accelerations_undetermined_are_refused():
    model = ForwardModel("rr", DT, output="torque", open=[*INERTIA_OF_RR])
    good = [1.0] * len(INERTIA_OF_RR)
    model.state(values=good)
    with pytest.raises(FileFaults, match="no inertia and no rotor inertia on joint"):
        model.state(values=[0.0] * len(good))


@pytest.mark.parametrize(
    "given",
    [
        {"open": ["joints[R2].motor.kp"]},
        {"open": ["gravity[2]", "gravity[2]"]},
        {"open": ["joints[R2].type"]},
        {"external": [{"link": "R5", "force": [0, 0, 1]}]},
    ],
    ids=str,
)
def test_what_cannot_be_left_open_or_loaded_is_refused(given, told):
    with pytest.raises(UsageError) as caught:
        ForwardModel("arm5", DT, **given)
    told(caught.value)


def test_places_and_robots_of_no_use_are_refused():
    with pytest.raises(FileFaults, match=r"external\[0\]\.link\n  expected: the name of a joint\n"):
        ForwardModel("arm5", DT, external=[{"link": "R9"}])
    for robot in (armsim.load_robot("arm5"), armsim.load_robot("arm5").arm):
        with pytest.raises(UsageError, match="open\n  expected: a robot file, a name or plain data"):
            ForwardModel(robot, DT, open=["gravity[2]"])
    with pytest.raises(FileFaults, match=r"joints\[1\].pitch\n  expected: no pitch on a revolute joint"):
        ForwardModel("arm5", DT, open=["joints[1].pitch"])


def test_shapes_of_values_and_wrenches_are_refused():
    model = ForwardModel("arm5", DT, open=["gravity[2]"], external=[{"link": "R5"}])
    state = model.state()
    for values, wrench, message in (
        ([1.0, 2.0], None, r"values: expected shape \(1,\) or \(m, 1\), found \(2,\)"),
        (None, np.zeros(6), r"wrench: expected shape \(1, 6\) or \(m, 1, 6\), found \(6,\)"),
        ([[-9.81]] * 3, None, r"step: expected as many rows in each array, found state \(18,\), .* values \(3, 1\)"),
    ):
        with pytest.raises(ShapeError, match=message):
            model.step(state, VOLTS, values, wrench)
    with pytest.raises(ShapeError, match="as many rows in each array"):
        model.step(np.array([state] * 2), np.array([VOLTS] * 2), [[-9.81]] * 3)
    plain = ForwardModel("arm5", DT)
    with pytest.raises(UsageError, match="values\n  expected: none, as no number is open"):
        plain.step(state, VOLTS, [1.0])
    with pytest.raises(UsageError, match="wrench\n  expected: none, as no place is named"):
        plain.step(state, VOLTS, wrench=np.zeros((1, 6)))


def test_wrenches_accelerate_as_the_jacobian_says():
    arm = armsim.load_robot("two_link")
    rng = np.random.default_rng(2)
    at_tool = {"link": "elbow", "point": [0.8, 0, 0]}
    model = ForwardModel("two_link", DT, output="torque", external=[at_tool, {**at_tool, "axes": "local"}])
    for _ in range(5):
        q, qd, tau, wrench = rng.uniform(-2, 2, 2), rng.uniform(-2, 2, 2), rng.uniform(-9, 9, 2), rng.uniform(-5, 5, 6)
        felt = arm.jacobian(q).T @ wrench  # the angular velocity first
        state = model.state(q, qd, tau, wrench=[wrench, np.zeros(6)])
        assert state[4:6] == pytest.approx(arm.forward_dynamics(q, qd, tau + felt), rel=1e-11)
        c, s = math.cos(q.sum()), math.sin(q.sum())
        into_link = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])  # the elbow's frame turns about the world's z
        turned = np.concatenate([into_link @ wrench[:3], into_link @ wrench[3:]])
        again = model.state(q, qd, tau, wrench=[np.zeros(6), turned])
        assert again[4:6] == pytest.approx(state[4:6], rel=1e-11)


@pytest.mark.slow
def test_a_step_under_a_wrench_is_simulate_to_the_bit():
    place = {"link": "R5", "point": [0.01, 0, 0.05], "axes": "local"}
    force, moment = [1.0, 2.0, -5.0], [0.1, 0.2, 0.3]
    asked = {**scenario(signals=VOLTS, steps=300), "external": [{**place, "force": force, "moment": moment}]}
    run = armsim.simulate(asked)
    model = ForwardModel("arm5", dt=DT, external=[place])
    wrench = np.array([[*moment, *force]])
    state = model.state(run.q[0], run.qd[0], VOLTS, wrench=wrench)
    for k in range(301):
        assert state[:5].tolist() == run.q[k].tolist()
        assert state[10:15].tolist() == run.qdd[k].tolist()
        state = model.step(state, VOLTS, wrench=wrench)
    assert np.abs(run.q - armsim.simulate(scenario(signals=VOLTS, steps=300)).q).max() > 0.01
    idle = ForwardModel("arm5", dt=DT)
    assert model.step(state, VOLTS)[:10] == pytest.approx(idle.step(state, VOLTS)[:10], rel=1e-12)


@pytest.mark.parametrize("method", ["semi_implicit_euler", "rk54"])
@pytest.mark.handful(1)
def test_currents_are_those_of_simulate(method):
    run = armsim.simulate(scenario(method, signals=VOLTS, steps=100))
    model = ForwardModel("arm5", DT, method, currents=True)
    plain = ForwardModel("arm5", DT, method)
    assert model.slots == (*plain.slots, *(f"current{i}" for i in range(1, 6)))
    state = model.state(run.q[0], run.qd[0], VOLTS)
    for k in range(101):
        assert state[-5:].tolist() == [run[f"current_{name}_A"][k] for name in model.joints]
        before, state = state, model.step(state, VOLTS)
        assert state[:-5].tolist() == plain.step(before[:-5], VOLTS).tolist()


@pytest.mark.slow
def test_currents_of_torques_are_the_motors_demand():
    robot = armsim.load_robot("arm5")
    model = ForwardModel(robot, DT, output="torque", currents=True)
    tau = [1.0, -9.0, 5.0, 0.2, 0.1]
    state = model.state(*POSE.values(), tau)
    assert state[-5:] == pytest.approx(robot.motor_demand(POSE["qd"], tau)[1], rel=1e-12)


def test_a_current_that_is_a_state_is_not_told_twice():
    data = file_of_arm5()
    data["joints"][2]["motor"]["inductance"] = 0.02
    model = ForwardModel(data, DT, currents=True)
    assert model.slots[18:] == ("current3", "current1", "current2", "current4", "current5")
    assert ForwardModel("rr", DT, output="torque", currents=True).slots[6:] == ("x", "y", "z")


@pytest.mark.parametrize("method", ["semi_implicit_euler", "implicit_midpoint", "rodas"])
@pytest.mark.handful(1)
def test_without_outputs_a_step_has_the_same_states_and_nothing_else(method):
    data = file_of_arm5()
    data["joints"][2]["motor"]["inductance"] = 0.02
    whole, bare = (ForwardModel(data, DT, method, outputs=outputs) for outputs in (True, False))
    kept = [i for i, name in enumerate(whole.slots) if name in bare.slots]
    assert [*bare.slots] == [name for name in whole.slots if name not in ("x", "y", "z") and name[:3] != "qdd"]
    inputs = np.random.default_rng(3).normal(size=(3, 20, 5))
    starts = [model.state(*POSE.values(), VOLTS) for model in (whole, bare)]
    found = [model.rollout(start, inputs) for model, start in zip((whole, bare), starts, strict=True)]
    assert np.array_equal(found[0][..., kept], found[1])
    assert np.array_equal(whole.step(starts[0], VOLTS)[kept], bare.step(starts[1], VOLTS))


def unaligned(values):
    """Doubles that begin at an odd address."""
    values = np.asarray(values, dtype=float)
    found = np.ndarray(values.shape, float, np.zeros(values.nbytes + 1, np.uint8), offset=1)
    found[:] = values
    assert not found.flags.aligned
    return found


ODD = {
    "unaligned": unaligned,
    "of the other byte order": lambda x: np.array(x).astype(np.dtype(float).newbyteorder()),
    "every second number": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "without a mask": np.ma.array,
    "a tuple": lambda x: tuple(np.asarray(x).tolist()),
    "of objects": lambda x: np.array(x, dtype=object),
}


@pytest.mark.parametrize("open_", [[], ["joints[R2].motor.Kp"]])
@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
@pytest.mark.handful(1)
def test_a_step_takes_arrays_however_they_lie_in_memory(odd, open_):
    model = ForwardModel("arm5", 1e-4, open=open_, external=[{"link": "R5"}] if open_ else [])
    state, inputs = model.state(), np.array([1.0, -6.0, 2.0, 0.5, 0.1])
    wanted = model.step(state, inputs).tolist()
    assert model.step(odd(state), odd(inputs)).tolist() == wanted
    assert model.step(state, odd(inputs)).tolist() == wanted
    assert model.step(odd([state] * 3), odd([inputs] * 3)).tolist() == [wanted] * 3
    if open_:
        more = np.array([11.0]), np.ones((1, 6))
        assert model.step(state, inputs, *map(odd, more)).tolist() == model.step(state, inputs, *more).tolist()


@pytest.mark.slow
def test_a_masked_number_is_refused_and_not_taken_for_what_is_beneath_the_mask(told):
    model = ForwardModel("arm5", 1e-4, open=["joints[R2].motor.Kp"], external=[{"link": "R5"}])
    plain, state = ForwardModel("arm5", 1e-4), model.state()
    good = {"state": state, "inputs": np.ones(5), "values": np.array([11.0]), "wrench": np.ones((1, 6))}
    for name, array in good.items():
        masked = np.ma.array(array, mask=True)
        with pytest.raises(UsageError) as caught:
            model.step(**{**good, name: masked})
        told(caught.value)
    for masked in (np.ma.array(state, mask=True), [np.ma.array(state, mask=True)]):
        with pytest.raises(UsageError, match="none of them masked"):
            plain.step(masked, np.ones(np.shape(masked)[:-1] + (5,)))


def test_currents_drive_a_model_as_the_torques_that_they_make():
    by_current, by_torque = (ForwardModel("arm5", dt=DT, output=output) for output in ("current", "torque"))
    currents = [0.1, -0.2, 0.3, 0.4, -0.5]
    torques = [k * i for k, i in zip([10.0, 10.0, 10.0, 1.0, 1.0], currents, strict=True)]  # N·m/A, without a gear
    x, y = by_current.state(inputs=currents), by_torque.state(inputs=torques)
    for _ in range(50):
        x, y = by_current.step(x, currents), by_torque.step(y, torques)
    assert np.allclose(x[:10], y[:10], rtol=0, atol=1e-12)
    assert np.abs(x[5:10]).max() > 1e-2
