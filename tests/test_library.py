"""armsim as a library: the three lines of the design, and an import that costs next to nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import armsim

ROOT = Path(__file__).parents[1]


def test_the_three_lines_of_the_design(tmp_path):
    arm = armsim.load_robot(ROOT / "robots/arm5.yaml")
    tau = arm.inverse_dynamics(arm.initial, np.zeros(5), np.zeros(5))
    run = armsim.simulate(ROOT / "configs/arm5_hold.yaml", overrides={"control.kp[0]": 80})
    # level by level from the tip: gravity on R2 to R5 at the initial pose, by the published centres of mass
    assert tau == pytest.approx([0, -8.1234, -3.0507, 0, -0.059817], abs=5e-5)
    assert run.t[-1] == 5
    assert run.q.shape == (501, 5)
    assert run["tau_R2_Nm"].shape == (501,)
    assert sorted(path.name for path in run.save(tmp_path / "run").iterdir()) == [
        "run.yaml",
        "torque.csv",
        "trajectory.csv",
    ]


@pytest.mark.parametrize("question", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "bias", "gravity_torque"])
def test_every_question_says_units_and_shape_in_its_first_lines(question):
    text = getattr(armsim.Robot, question).__doc__
    assert "N·m" in text or "kg m²" in text or "rad/s²" in text
    assert "shape" in text


def fresh(code: str) -> str:
    """What a new Python prints."""
    settings = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_import_armsim_imports_no_part_of_it_and_nothing_else():
    code = "import sys, armsim; print([m for m in sys.modules if m.startswith('armsim.')], 'numpy' in sys.modules)"
    assert fresh(code) == "[] False"


@pytest.mark.usefixtures("no_kernels")
@pytest.mark.slow
def test_simulate_imports_numpy_for_a_new_scenario_and_nothing_heavy_for_one_that_it_has_met():
    names = ("numpy", "scipy", "pydantic", "matplotlib", "sympy")
    run = "run = armsim.simulate('rr_config1', {'duration': 0.0404})"
    code = f"import sys, armsim; {run}; print(run.status, [m for m in {names} if m in sys.modules])"
    assert fresh(code) == "complete ['numpy']"
    assert fresh(code) == "complete []"


def test_every_public_name_is_there_and_listed():
    for name in armsim.__all__:
        assert getattr(armsim, name) is not None
        assert name in dir(armsim)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'armsim' has no attribute 'load_robbot'"):
        armsim.load_robbot  # noqa: B018  the look-up is the test


def test_every_error_on_purpose_is_an_armsim_error():
    for name in ("Diverged", "FileFaults", "ShapeError", "UsageError"):
        assert issubclass(getattr(armsim, name), armsim.ArmsimError)


def test_exit_codes_of_errors_are_2_and_of_divergence_3():
    assert armsim.ArmsimError.exit_code == armsim.UsageError.exit_code == armsim.FileFaults.exit_code == 2
    assert armsim.Diverged.exit_code == 3


def test_motor_demand_of_many_rows_is_that_of_each_brushes_included(tmp_path):
    path = tmp_path / "one.yaml"
    path.write_text(
        "format: armsim/robot/1\nname: one\njoints:\n  - name: A\n    type: revolute\n    mdh: {}\n"
        "    bodies: [{point: {mass: 1, center: [1, 0, 0]}}]\n"
        "    motor: {Kp: 0.05, Ra: 2, gear: 50, brush_drop: {max: 0.5, half: 0.3}}\n"
    )
    arm = armsim.load_robot(path)
    qd, tau = np.array([[0.0], [1.0], [-2.0]]), np.array([[5.0], [-3.0], [0.0]])
    voltage, current = arm.motor_demand(qd, tau)
    assert voltage.shape == current.shape == (3, 1)
    np.testing.assert_allclose(current, tau / (0.05 * 50), rtol=1e-15)
    drop = np.sign(voltage) * 0.5 * (1 - 2.0 ** (-np.abs(voltage) / 0.3))
    np.testing.assert_allclose(voltage - drop, 2 * current + 0.05 * 50 * qd, rtol=1e-13)
    for row in range(3):
        one = arm.motor_demand(qd[row], tau[row])
        assert (one[0][0], one[1][0]) == (voltage[row, 0], current[row, 0])


@pytest.mark.slow
def test_a_run_that_no_public_name_made_draws_itself():
    pytest.importorskip("matplotlib")
    text = "from armsim.simulation.simulate import simulate\nprint(type(simulate('two_link_hold', {'duration': 0.01}).plot()))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "Figure" in done.stdout
