"""Exported derivatives of the step: the library's bits, and CasADi's own derivatives of the exported step."""

from __future__ import annotations

import ctypes
import sys
from importlib import import_module

import numpy as np
import pytest

import armsim
from armsim import ForwardModel, UsageError
from armsim.exporting.scenario import entries_of_scenario

from .conftest import needs

ROBOT = {
    "format": "armsim/robot/1",
    "name": "arm",
    "joints": [
        {
            "name": "a",
            "type": "revolute",
            "mdh": {"alpha": 1.2},
            "bodies": [{"point": {"mass": 1.0, "center": [0.4, 0, 0]}}],
        },
        {
            "name": "b",
            "type": "revolute",
            "mdh": {"a": 0.4},
            "bodies": [{"point": {"mass": 0.7, "center": [0.3, 0.1, 0]}}],
            "friction": {"coulomb": 0.3, "viscous": 0.1},
        },
    ],
}
SMOOTH = {**ROBOT, "joints": [ROBOT["joints"][0], {**ROBOT["joints"][1], "friction": {"viscous": 0.1}}]}
SAMPLED = {
    "format": "armsim/scenario/1",
    "name": "sampled",
    "robot": SMOOTH,
    "duration": 1,
    "integrator": {"method": "rk4", "dt": 1e-3},
    "control": {
        "law": "pid",
        "output": "torque",
        "kp": [90, 60],
        "ki": [40, 30],
        "kd": [5, 3],
        "target": [0.4, 0.9],
        "period": 5e-3,
    },
    "payload": {"mass": 0.2},
}
STATE, INPUTS = [0.3, -0.7, 0.9, 0.05], [1.5, -0.4]


@needs("cc")
@pytest.mark.parametrize(("method", "creep"), [("velocity_implicit", 0.05), ("rk4", None)])
@pytest.mark.handful(1)
def test_exported_derivatives_have_the_bits_of_the_library(tmp_path, method, creep):
    opened, what = ["joints[b].bodies[0].point.mass"], ["derivatives"]
    stepping = {"dt": 1e-3, "method": method, "inputs": "torque", "creep": creep}
    made = armsim.export(ROBOT, "library", tmp_path / "out", what, opened, **stepping)
    assert made.functions == ("begin", "step", "derivatives")
    assert (made.test.calls, made.test.wrong) == (8, 0)
    model = ForwardModel(ROBOT, 1e-3, method, "torque", open=opened, creep=creep)
    state = model.state(STATE[:2], STATE[2:])
    parts = model.derivatives(state, INPUTS, values=[0.7], by_values=True)
    library = ctypes.CDLL(str(next((tmp_path / "out").glob("libarm.*"))))
    arrays = [(ctypes.c_double * len(x))(*x) for x in (state, INPUTS, [0.7])]
    expected = np.concatenate([x.ravel() for x in parts])
    found = (ctypes.c_double * len(expected))()
    library.arm_derivatives(*arrays, found)
    assert np.array(found).tobytes() == expected.tobytes()


@pytest.mark.slow
def test_casadi_finds_the_same_derivatives_of_the_exported_step(tmp_path, monkeypatch):
    ca = pytest.importorskip("casadi")
    armsim.export(SMOOTH, "casadi", tmp_path / "out", ["derivatives"], dt=1e-3, inputs="torque")
    monkeypatch.syspath_prepend(str(tmp_path / "out"))
    module = import_module("arm")
    monkeypatch.delitem(sys.modules, "arm")
    model = ForwardModel(SMOOTH, 1e-3, output="torque")
    state = model.state(STATE[:2], STATE[2:])
    _, A, B = model.derivatives(state, INPUTS)
    step, exported = module.step(), module.derivatives()
    x, u = ca.MX.sym("x", len(state)), ca.MX.sym("u", 2)
    slopes = ca.Function("slopes", [x, u], [ca.jacobian(step(x, u), x), ca.jacobian(step(x, u), u)])
    by_state, by_inputs = (np.array(m) for m in slopes(state, INPUTS))
    assert pytest.approx(by_state[:4, :4], abs=1e-14) == A
    assert pytest.approx(by_inputs[:4], abs=1e-14) == B
    flat = np.array(exported(state, INPUTS)).ravel()
    assert flat[len(state) :] == pytest.approx(np.concatenate([A.ravel(), B.ravel()]), abs=1e-14)


@needs("cc")
@pytest.mark.slow
def test_exported_derivatives_of_a_scenario_lead_to_its_sensitivity(tmp_path):
    """Derivatives of steps, multiplied along a run, are those of where it ends; the other way goes by the run's own loop."""
    opened, count = ["control.kp[1]", "control.target[0]", "payload.mass"], 25
    made = armsim.export(SAMPLED, "library", tmp_path / "out", ["derivatives"], opened)
    assert (made.functions, made.test.wrong) == (("begin", "step", "derivatives"), 0)
    library = ctypes.CDLL(str(next((tmp_path / "out").glob("libsampled.*"))))
    n, p = made.states, len(opened)
    given, state = (ctypes.c_double * p)(*(item.value for item in made.numbers)), (ctypes.c_double * n)()
    found = (ctypes.c_double * (n + n * n + n * p))()
    library.sampled_begin(given, state)
    along = np.zeros((n, p))
    for k in range(count):
        library.sampled_derivatives(ctypes.c_int64(k), state, given, found)
        library.sampled_step(ctypes.c_int64(k), state, given, state)
        assert bytes(state) == bytes(found)[: 8 * n]
        A, C = np.split(np.array(found)[n:], [n * n])
        along = A.reshape(n, n) @ along + C.reshape(n, p)
    measures = [f"final({kind}_{joint})" for kind in ("q", "qd") for joint in "ab"]
    run = armsim.sensitivity(SAMPLED, opened, measures, {"duration": 0.025})
    assert abs(run.by).min() > 1e-9
    assert along[: len(measures)] == pytest.approx(run.by, rel=1e-11)


def test_exported_derivatives_without_feedback_are_those_of_the_forward_model(evaluate):
    scenario = {"format": "armsim/scenario/1", "robot": ROBOT, "duration": 1, "inputs": {"torque": INPUTS}}
    scenario["integrator"] = {"method": "semi_implicit_euler", "dt": 1e-3}
    slopes = entries_of_scenario(scenario, ["derivatives"], [])[-1][-1]
    model = ForwardModel(ROBOT, 1e-3, output="torque")
    _, A, _ = model.derivatives(model.state(STATE[:2], STATE[2:]), INPUTS)
    found = evaluate(slopes.function, [[x] for x in (0.0, 0.0, *STATE)])[4:, 0]
    assert found == pytest.approx(A.ravel(), rel=1e-15, abs=1e-15)


def test_derivatives_that_there_are_none_of_are_refused(tmp_path):
    with pytest.raises(UsageError, match="fixed length"):
        armsim.export(ROBOT, "c", tmp_path / "out", ["derivatives"], dt=1e-3, method="rodas", inputs="torque")
    with pytest.raises(UsageError, match="iterates on a plan"):
        armsim.export("arm5_predictive", "c", tmp_path / "out", ["derivatives"])
    with pytest.raises(UsageError, match="length of a step"):
        armsim.export(ROBOT, "c", tmp_path / "out", ["derivatives"])
    assert not (tmp_path / "out").exists()
