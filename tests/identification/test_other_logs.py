"""Logs that another engine made, and logs that nobody should be given."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import armsim
from armsim.errors import ArmsimError
from tests.identification.simulated import inside, rod

DATA = Path(__file__).parents[1] / "data"
TRUE = {  # of tests/data/mujoco_log.py
    "joints[A].friction.viscous": 0.12,
    "joints[A].friction.coulomb": 0.4,
    "joints[A].motor.Kp": 0.8,
    "joints[B].friction.viscous": 0.05,
    "joints[B].friction.coulomb": 0.15,
    "joints[B].motor.Kp": 0.45,
}


def double(off=1.0):
    """The arm of the log, with numbers that are off by a factor."""

    def joint(name, frame, mass, x, inertia, viscous, coulomb, Kp):
        xx, across = inertia
        body = {"mass": mass, "center": [x, 0, 0], "about": "com", "xx": xx, "yy": across, "zz": across}
        friction = {"viscous": viscous * off, "coulomb": coulomb * off}
        motor = {"Kp": Kp * off, "Ra": 0.5}
        return {
            "name": name,
            "type": "revolute",
            "mdh": frame,
            "friction": friction,
            "bodies": [{"inertia": body}],
            "motor": motor,
        }

    first = {"a": 0, "alpha": "pi/2", "d": 0, "theta": 0}
    second = {"a": 0.5, "alpha": 0, "d": 0, "theta": 0}
    joints = [
        joint("A", first, 1.5, 0.25, (0.0005, 0.03175), 0.12, 0.4, 0.8),
        joint("B", second, 0.8, 0.2, (0.0003, 0.010967), 0.05, 0.15, 0.45),
    ]
    return {"format": "armsim/robot/1", "name": "double", "joints": joints}


@pytest.mark.slow
def test_a_log_of_mujoco_gives_the_friction_and_torque_constants_of_its_model():
    found = armsim.identify(DATA / "mujoco_log.csv", double(0.7), ["friction", "joints[*].motor.Kp"])
    for path, x in TRUE.items():
        assert found[path].value == pytest.approx(
            x, rel=0.01
        )  # its dry friction is a stiff spring, its steps are of order one
        assert found[path].within < 0.01 * x
    assert found.explained
    assert max(found.after[1].final) < 0.01 * max(found.before[1].final)


def spoilt(text, draw):
    """A log in which something is wrong."""
    lines = text.splitlines()
    k = int(draw.integers(1, len(lines)))
    cells = lines[k].split(",")
    i = int(draw.integers(len(cells)))
    kinds = ("", "nan", "inf", "1e308", "-1e300", "abc", '"', "\x00", "0", "1,2")
    what = int(draw.integers(6))
    if what == 0:
        cells[i] = kinds[draw.integers(len(kinds))]
        lines[k] = ",".join(cells)
    elif what == 1:
        lines = lines[: int(draw.integers(0, 60))]
    elif what == 2:
        lines[k:] = lines[k:][::-1]
    elif what == 3:
        lines = [re.sub(r"^[^,]*", "1.0", line) if n else line for n, line in enumerate(lines)]
    elif what == 4:
        lines[0] = lines[0].replace("q_A_rad", "q_A_deg" if draw.random() < 0.5 else "q_Z_rad")
    else:
        size = 10.0 ** draw.uniform(-300, 300)
        lines[1:] = [",".join([*line.split(",")[:2], repr(size)]) for line in lines[1:]]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.handful(5)
@pytest.mark.filterwarnings("error")
def test_spoilt_logs_give_faults_or_an_answer(tmp_path, seed):
    draw = np.random.default_rng(seed)
    t = np.arange(200) / 100
    plain = np.column_stack([t, np.sin(2 * t), 4 * np.cos(2 * t)])
    text = "\n".join(["t_s,q_A_rad,voltage_A_V", *(",".join(map(repr, row)) for row in plain.tolist())]) + "\n"
    (tmp_path / "log.csv").write_text(spoilt(text, draw))
    try:
        found = armsim.identify(tmp_path / "log.csv", rod(), method="rk4")
    except ArmsimError:
        return
    assert all(np.isfinite(one.value) for one in found.estimates)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["two_link", "arm5", "puma560"])
def test_friction_and_torque_constants_of_shipped_arms_are_found_from_late_noisy_encoders(robot):
    from tests.surveys.identified import CASES, trial

    outcome = trial(CASES[robot], 0)
    # of sound 95 % intervals more than so many are outside in less than 1 % of logs
    most = binom.ppf(0.99, len(outcome.inside), 0.05)
    assert sum(outcome.inside) >= len(outcome.inside) - most
    assert all(inside(outcome.found, outcome.truth, 3.0).values())
    assert outcome.found.explained
