"""Numbers at extremes: whatever stands at a numeric key, every question is answered, or refused in words.

By hand `ARMSIM_EXTREMES=15000 pytest tests/test_extremes.py` asks as many questions; `ARMSIM_SEED=1` makes them others.
"""

from __future__ import annotations

import contextlib
import os

import numpy as np
import pytest

import armsim
from armsim.errors import ArmsimError, FileFaults
from armsim.loading import read_robot, read_scenario

from .extremes import WHOLE, WRITTEN, circle, questions, shell

QUESTIONS = int(os.environ.get("ARMSIM_EXTREMES", "30"))
QUICK = min(QUESTIONS, 6)
SEED = int(os.environ.get("ARMSIM_SEED", "0"))


@pytest.mark.parametrize("count", [QUICK, QUESTIONS])
@pytest.mark.slow
def test_no_number_at_an_extreme_ends_in_anything_but_an_answer_or_a_refusal(count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, refused = [], 0
    for question in questions(SEED, count):
        try:
            question.ask()
        except ArmsimError:
            refused += 1
        except Exception as error:  # a RuntimeWarning of numpy's is one, too
            failed.append(f"{question}: {error!r}")
    assert failed == []
    assert 0.2 * count < refused < 0.8 * count  # both were asked for


# what the survey found once numbers had bounds: exponentials and powers that overflow, a pencil that scipy could not reorder
FOUND = {
    "sampled once in 1e9 s": lambda: armsim.simulate(
        "puma560_hold",
        {
            "duration": 1e-3,
            "log.every": 1e-3,
            "control.period": 1e9,
            "initial.q[0]": 3371.0,
            "integrator.method": "rk4",
        },
    ),
    "modes of a link at 1e4 rad/s": lambda: shell("linearize", "two_link_swing", "--set", "initial.qd[1]=-10500"),
    "a regulator at 1e6 rad/s": lambda: (
        armsim.linearize("rr_config2", overrides={"initial.qd[1]": 1e6}).lqr(q=1.0, r=1.0).K
    ),
    "a pendulum sampled once in 1e6 s": lambda: armsim.linearize("two_link_swing").sampled(1e6),
    "a regulator of joints that friction holds": lambda: (
        armsim.linearize("puma560_fall", overrides={"robot.gravity[2]": -1e-12}).lqr(q=1.0, r=1.0).K
    ),
    "a batch of bearings in tar": lambda: armsim.simulate_many(
        "puma560_hold", {"robot.joints[0].motor.viscous": [1e12]}, {"duration": 4e-3, "log.every": 4e-3}
    ),
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.handful(1)
def test_what_the_survey_found_is_answered_or_refused(name):
    with contextlib.suppress(ArmsimError):
        FOUND[name]()


# what was a sound robot once, and ended in infinities
BEYOND = {
    "joints[0].bodies[0].cylinder.mass": 1e300,
    "base.rpy[0]": 1e30,
    "joints[0].origin.rpy[0]": 1e100,
    "gravity[2]": 1e12,
    "joints[0].motor.Ra": 1e-320,
    "joints[0].motor.inductance": 1e-320,
    "joints[0].motor.gear": 5e-324,
    "joints[2].pitch": 1e-300,
    "joints[0].limits.upper": 1e300,
    "parameters.upper": 1e200,
}


@pytest.mark.parametrize("path", BEYOND)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_robot_beyond_its_bounds_is_refused(path, sign):
    with pytest.raises(FileFaults):
        read_robot(WHOLE, {path: sign * BEYOND[path]})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("duration", 1e300),
        ("initial.q[0]", 1e7),
        ("initial.qd[0]", 1e9),
        ("control.kp[0]", -1e300),
        ("control.limit[0]", 1e-320),
        ("payload.mass", 1e30),
        ("external[0].force[0]", 1e300),
    ],
)
@pytest.mark.handful(3)
def test_a_scenario_beyond_its_bounds_is_refused_as_a_file_and_as_an_open_number(path, value):
    scenario = WRITTEN["controlled"]
    with pytest.raises(FileFaults):
        read_scenario(scenario, {path: value})
    if path != "duration":
        many = armsim.simulate_many(scenario, {path: [value]}, force_step=True)
        assert many.status.tolist() == ["refused"]
        assert path in many.reason[0]


NUMBERS = {"10**400": 10**400, "-10**400": -(10**400), "10**5000": 10**5000, "of numpy": np.int64(2**62), "text": "1e400",
           "formula": "1e200*1e200"}  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS.values(), ids=NUMBERS)
def test_a_number_that_overflows_is_refused_and_no_limit_that_is_not_there(number):
    for path in ("joints[0].limits.upper", "joints[0].bodies[0].cylinder.mass"):
        with pytest.raises(FileFaults):
            read_robot(WHOLE, {path: number})


def test_data_that_contain_themselves_are_refused():
    wide: list[object] = []
    for _ in range(30):
        wide = [wide, wide]  # a thousand million items
    for data in (circle(), wide):
        with pytest.raises(FileFaults, match="at most"):
            read_robot(WHOLE, {"payload": data})
        with pytest.raises(FileFaults, match="at most"):
            armsim.simulate({"format": "armsim/scenario/1", "robot": data})


@pytest.mark.parametrize("column", ["t_s,tau\n0,1\n1,1e300\n", "t_s,tau\n0,1\n1e300,1\n"])
def test_recorded_inputs_have_the_bounds_of_inputs(tmp_path, column):
    (tmp_path / "tau.csv").write_text(column)
    signal = {"csv": str(tmp_path / "tau.csv"), "column": "tau"}
    with pytest.raises(FileFaults, match=r"of a magnitude of 1e\+12 at most\n.*1e\+300 in line 3"):
        read_scenario({**WRITTEN["driven"], "inputs": {"torque": [signal, 0, 0]}})
