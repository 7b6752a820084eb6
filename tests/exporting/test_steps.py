"""Exported steps against those of machine code by LLVM: bit by bit, over a hundred thousand of them."""

from __future__ import annotations

import ctypes
import importlib
from array import array

import numpy as np
import pytest

import armsim
from armsim.exporting.scenario import entries_of_scenario

from .conftest import Steps, c_library, fortran_library, needs

COUNT, EVERY = 100_000, 997  # steps; states are compared that lie so many apart
SCENARIOS = ["arm5_hold", "puma560_hold", "sliding", "everything"]


def walk(steps: Steps, step, observe) -> None:
    """Compare the states and rows of a library with machine code's."""
    state = (ctypes.c_double * len(steps.start))(*steps.start)
    row = (ctypes.c_double * len(steps.plant.layout.columns))()
    for k in range(COUNT):
        if k % EVERY == 0:
            assert bytes(state) == bytes(array("d", steps.reach(k))), f"step {k}"
            observe(k, state, row)
            # rows of machine code have no signed zeros, and row k follows the sample that is due then
            assert [x + 0.0 for x in row] == steps.row(), f"row {k}"
        step(k, state, state)


@needs("gcc")
@pytest.mark.parametrize("name", [*SCENARIOS, "ahead", "gripper", "large"])
@pytest.mark.handful(1)
def test_exported_c_takes_the_steps_of_machine_code_to_the_bit(name, scenarios, exported):
    library = c_library(exported(name, "c"), name)
    steps = Steps.of(scenarios[name])
    step, observe, begin = (getattr(library, f"{name}_{what}") for what in ("step", "observe", "begin"))
    for function in (step, observe):
        function.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    found = (ctypes.c_double * len(steps.start))()
    begin(found)
    assert list(found) == steps.start
    walk(steps, step, observe)


@needs("gfortran")
@pytest.mark.parametrize("name", [*SCENARIOS, "gripper", "large"])
@pytest.mark.slow
def test_exported_fortran_takes_the_steps_of_machine_code_to_the_bit(name, scenarios, exported):
    library = fortran_library(exported(name, "fortran"), name)

    def called(what: str):
        function = getattr(library, f"__{name}_MOD_{name}_{what}")  # as gfortran names it
        spare = (ctypes.c_double * 200)()

        def call(k, state, result) -> None:
            function(ctypes.byref(ctypes.c_int64(k)), state, spare)
            ctypes.memmove(result, spare, ctypes.sizeof(result))

        return call

    walk(Steps.of(scenarios[name]), called("step"), called("observe"))


@needs("gcc")
@pytest.mark.parametrize(
    ("name", "opened", "values"),
    [
        ("arm5", ["joints[R2].motor.Kp", "joints[R3].bodies[0].cylinder.mass"], [11.5, 2.25]),
        ("arm5_gripper", ["joints[F2].mimic.ratio", "joints[F2].friction.coulomb"], [-0.7, 0.8]),
    ],
)
@pytest.mark.handful(1)
def test_the_forward_model_of_a_robot_steps_to_the_bit_with_numbers_left_open(name, opened, values, tmp_path):
    armsim.export(name, "c", tmp_path, ["step"], opened, dt=1e-4, fma="hardware")
    library = c_library(tmp_path, name)
    model = armsim.ForwardModel(name, 1e-4, open=opened)
    n = model.arm.n
    first = [3.0, -20.0, 12.0, 2.0, -1.0, -4.0][:n]
    inputs = list(first)
    state = model.state([0.2, -1.0, 0.4, 0.1, -0.3, 0.02][:n], [0.0] * n, inputs, values=values)
    found, given, numbers = ((ctypes.c_double * len(x))(*x) for x in (state, inputs, values))
    for k in range(5_000):
        getattr(library, f"{name}_step")(found, given, numbers, found)
        if k % 100 == 0:
            given[k // 100 % n] = inputs[k // 100 % n] = inputs[k // 100 % n] * -0.9
    inputs = first
    for k in range(5_000):
        state = model.step(state, inputs, values=values)
        if k % 100 == 0:
            inputs[k // 100 % n] *= -0.9
    assert state.tolist() == list(found)


@needs("gcc")
@pytest.mark.parametrize("name", ["puma560", "arm5_gripper", "torso"])
@pytest.mark.handful(1)
def test_questions_about_one_state_have_the_bits_of_the_library(name, tmp_path):
    what = ["fd", "id", "fk", "mass", "bias", "gravity", "limits", "jacobian", "energy"]
    armsim.export(name, "c", tmp_path, what)
    library, arm = c_library(tmp_path, name), armsim.load_robot(name, engine="python")
    rng = np.random.default_rng(5)
    q, qd, x = rng.uniform(-2, 2, (3, arm.arm.n))
    pose = arm.forward_kinematics(q)
    expected = {
        "fd": ((q, qd, x), arm.forward_dynamics(q, qd, x)),
        "id": ((q, qd, x), arm.inverse_dynamics(q, qd, x)),
        "fk": ((q,), np.concatenate([pose.position, pose.quaternion])),
        "mass": ((q,), arm.mass_matrix(q)),
        "bias": ((q, qd), arm.bias(q, qd)),
        "gravity": ((q,), arm.gravity_torque(q)),
        "limits": ((q, qd), arm.limit_torque(q, qd)),
        "jacobian": ((q,), arm.jacobian(q)),
        "energy": ((q, qd), [arm.kinetic_energy(q, qd), arm.potential_energy(q)]),
    }
    for question, (given, result) in expected.items():
        found = np.empty(np.size(result))
        getattr(library, f"{name}_{question}")(*(ctypes.c_void_p(x.ctypes.data) for x in (*given, found)))
        np.testing.assert_array_equal(found, np.ravel(result), err_msg=question)


@pytest.mark.parametrize("name", ["everything", "large"])
@pytest.mark.handful(1)
def test_exported_python_takes_the_steps_of_machine_code_to_the_bit(name, scenarios, exported, monkeypatch):
    monkeypatch.syspath_prepend(str(exported(name, "python")))
    made = importlib.import_module(name)
    steps = Steps.of(scenarios[name])
    state = made.begin()
    for k in range(150):
        assert state == steps.reach(k), f"step {k}"
        state = made.step(k, state)


def test_every_number_of_an_exported_row_has_its_own_heading():
    observe = entries_of_scenario("puma560_move", ("observe",), ())[-1][-1]  # which follows a reference
    names = [item.name for item in observe.result.items]
    assert len(names) == len(set(names)) == len(observe.function.outputs)
    assert "q_ref_J1_rad" in names


def test_followers_are_in_rows_but_neither_in_states_nor_in_inputs(scenarios):
    _, step, observe = entries_of_scenario(scenarios["gripper"], ("step", "observe"), ())[-1]
    assert not [item.name for argument in step.arguments for item in argument.items if "following" in item.name]
    followed = [item.name for item in observe.result.items if "following" in item.name]
    assert followed == ["q_following_m", "qd_following_m_s", "qdd_following_m_s2", "tau_coupling_following_N"]


def test_a_floor_that_is_raised_between_exported_steps_is_met(evaluate):
    """Where a number that is left open moves the world, every step looks at all contacts: none relies on a gap that was seen."""
    floor = {"plane": {"point": [0, 0, -100]}, "stiffness": 1e4}
    scenario = {
        "format": "armsim/scenario/1",
        "robot": "arm5",
        "duration": 1,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "world": {"floor": floor},
        "contacts": [{"frame": "tool", "with": "floor"}],
    }
    place = "world.floor.plane.point[2]"
    _, _, _, (begin, step) = entries_of_scenario(scenario, ["step"], [place])

    def found(entry, *values):
        return evaluate(entry.function, [[x] for x in values])[:, 0].tolist()

    state = found(begin, -100.0)
    for k in range(3):
        low = found(step, k * 1e-3, 0.0, *state, -100.0)
        state, high = low, found(step, k * 1e-3, 0.0, *state, 2.0)
        assert np.abs(np.subtract(high[5:10], low[5:10])).max() > 1.0
    fixed = entries_of_scenario(scenario, ["step"], [])[3][0].result.items
    assert any(item.name.startswith("clearance") for item in fixed)
