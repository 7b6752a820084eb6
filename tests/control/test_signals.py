"""Recorded inputs: what a method reads of them within a step, on a slider whose motion is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.integrate import METHODS

FIXED = [name for name, method in METHODS.items() if not method.locates]
ADAPTIVE = [name for name, method in METHODS.items() if method.adaptive is not None]
MASS, H = 2.0, 0.01
ROUNDING = 1e-13  # of 40 sums


def slid(folder, method: str, times, values, hold: str, friction=None):
    """The run of a slider that a column of a file pushes; 40 steps."""
    rows = "".join(f"{t!r},{f!r}\n" for t, f in zip(times, values, strict=True))
    (folder / "push.csv").write_text("t_s,F\n" + rows)
    joint = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": MASS}}]}
    joint |= {"friction": friction} if friction else {}
    scenario = {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": 40 * H,
        "integrator": {"method": method, "dt": H},
        "inputs": {"torque": [{"csv": str(folder / "push.csv"), "column": "F", "hold": hold}]},
        "log": {"every": H},
    }
    return armsim.simulate(scenario, engine="python")


def at_starts(times, values) -> np.ndarray:
    """What is held at the start of every step."""
    return np.array([values[np.searchsorted(times, round(k * H, 9), side="right") - 1] for k in range(40)])


@pytest.mark.parametrize("friction", [None, {"coulomb": 0.5}], ids=["smooth", "dry"])
@pytest.mark.parametrize("every", [1.0, 1.7, 0.4], ids=["with the steps", "between them", "more often"])
@pytest.mark.parametrize("method", FIXED)
@pytest.mark.handful(1)
def test_a_stepped_input_stays_within_a_step_as_it_was_at_its_start(method, every, friction, tmp_path):
    rng = np.random.default_rng(11)
    times = [round(k * every * H, 9) for k in range(round(41 / every))]
    values = rng.uniform(2, 9, len(times)).tolist()  # pushes one way: friction slides all the time
    run = slid(tmp_path, method, times, values, "zero", friction)
    force = at_starts(np.array(times), np.array(values)) - (0.5 if friction else 0.0)
    v = np.concatenate([[0], np.cumsum(force) * H / MASS])
    assert run.qd[:, 0] == pytest.approx(v, rel=ROUNDING)
    if METHODS[method].order > 1:  # the force is constant in a step, so they have its parabola
        assert run.q[:, 0] == pytest.approx(np.concatenate([[0], np.cumsum((v[:-1] + v[1:]) / 2) * H]), rel=ROUNDING)


@pytest.mark.parametrize(
    ("method", "every", "friction"),
    [
        (method, every, [None, {"coulomb": 0.5}][(i + j) % 2])
        for i, method in enumerate(["rk4", *ADAPTIVE])
        for j, every in enumerate([1.0, 1.7, 0.4])
    ],
)
@pytest.mark.handful(1)
def test_a_stepped_input_jumps_at_its_instants_where_steps_are_cut(method, every, friction, tmp_path):
    """Inputs that change with the steps, between them or more often; every two of methods, inputs and friction together."""
    rng = np.random.default_rng(11)
    times = [round(k * every * H, 9) for k in range(round(41 / every))]
    values = rng.uniform(2, 9, len(times)).tolist()
    run = slid(tmp_path, method, times, values, "zero", friction)
    ends, rates = np.array([*times[1:], 1.0]), (np.array(values) - (0.5 if friction else 0.0)) / MASS
    gained = np.clip(run.t[:, None], times, ends) - times  # s that each value has acted by every row
    left = np.maximum(run.t[:, None] - ends, 0.0)  # and since
    assert run.qd[:, 0] == pytest.approx(gained @ rates, rel=ROUNDING, abs=1e-15)
    moved = gained**2 / 2 + gained * left
    assert run.q[:, 0] == pytest.approx(moved @ rates, rel=10 * ROUNDING, abs=1e-15)


@pytest.mark.parametrize("method", ["velocity_verlet", "implicit_midpoint", "rk4"])
def test_a_straight_line_is_read_where_the_method_looks_within_a_step(method, tmp_path):
    # a force of 30 N/s t: methods of second order have its impulse exactly, those of fourth the distance 30 t³ / 6 / m too
    run = slid(tmp_path, method, [0.0, 1.0], [0.0, 30.0], "linear")
    assert run.qd[:, 0] == pytest.approx(30 * run.t**2 / 2 / MASS, rel=ROUNDING)
    if METHODS[method].order == 4:
        assert run.q[:, 0] == pytest.approx(30 * run.t**3 / 6 / MASS, rel=ROUNDING)


@pytest.mark.parametrize("method", ["explicit_euler", "semi_implicit_euler", "velocity_implicit"])
def test_euler_methods_read_a_straight_line_at_the_start_of_a_step(method, tmp_path):
    run = slid(tmp_path, method, [0.0, 1.0], [0.0, 30.0], "linear")
    assert run.qd[1:, 0] == pytest.approx(np.cumsum(30 * run.t[:-1]) * H / MASS, rel=ROUNDING)


@pytest.mark.parametrize("method", ADAPTIVE)
def test_no_step_of_an_adaptive_method_passes_a_recorded_pulse_unseen(method, tmp_path):
    # 10 ms of 8 N after 2 s in which nothing moves, and steps grow as far as they may
    rows = "".join(f"{k * 0.01:.2f},{8 if k == 200 else 0}\n" for k in range(401))
    (tmp_path / "push.csv").write_text("t_s,F\n" + rows)
    joint = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": MASS}}]}
    run = armsim.simulate(
        {
            "format": "armsim/scenario/1",
            "robot": {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [joint]},
            "duration": 4,
            "integrator": {"method": method},
            "inputs": {"torque": [{"csv": str(tmp_path / "push.csv"), "column": "F", "hold": "zero"}]},
            "log": {"every": 4},
        }
    )
    # where it jumps a step of 1e-6 tolerance has an error of that order
    assert run.qd[-1, 0] == pytest.approx(8 * 0.01 / MASS, rel=1e-4)
