"""What is said of the stability of a loop, against the run: nothing of one that comes to rest at its target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import armsim
from armsim.simulation.ending import settled
from armsim.simulation.setup import KnownSetup
from armsim.stability.advice import Advice
from tests.planar import planar

MOTORS = ({"Kp": 0.05, "Ra": 0.8, "gear": 30, "rotor_inertia": 2e-5}, {"Kp": 0.03, "Ra": 1.7, "gear": 50})
TARGET = [0.5, -0.9]  # rad; gravity acts on both joints there
# of torques; what holds the pose is in the law, or in the feedforward
KP, KI, KD = [60, 15], [200, 50], [8, 2]
LAWS: dict[str, dict[str, Any]] = {
    "pd": {"law": "pd", "kp": KP, "kd": KD},
    "filtered pd": {"law": "pd", "kp": KP, "kd": KD, "derivative_filter": 2e-3},
    "pid": {"law": "pid", "kp": KP, "ki": KI, "kd": KD},
    "filtered pid": {
        "law": "pid", "kp": KP, "ki": KI, "kd": KD, "derivative": "measurement", "derivative_filter": 2e-3},
    "back-calculated pid": {
        "law": "pid", "kp": KP, "ki": KI, "kd": KD, "limit": 60, "anti_windup": "back_calculation"},
    "state_feedback": {"law": "state_feedback", "K": [[60, 5, 8, 1], [5, 20, 1, 3]]},
    "computed_torque": {"law": "computed_torque", "kp": 100, "kd": 20},
    "expression": {"law": "expression", "command": ["60*e + 8*ed + 200*integral", "15*e + 2*ed + 50*integral"]},
    "python": {"law": "python"},
}  # fmt: skip
FED = ("gravity", "inverse_dynamics")
INTEGRATES = {"pid", "filtered pid", "back-calculated pid", "expression", "python"}
ENCODER = {"counts": 200_000, "noise": 1e-7, "filter": 1e-3}


def function(told):
    rows = zip(KP, KD, KI, told.e, told.ed, told.integral, strict=True)
    return [kp * e + kd * ed + ki * x for kp, kd, ki, e, ed, x in rows]


def scenario(control: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Two rods in a vertical plane, which swing from rest to their target, or begin there."""
    return {
        "format": "armsim/scenario/1",
        "name": "swing",
        "robot": planar(*MOTORS),
        "duration": 4,
        "integrator": {"method": "rk4", "dt": 1e-3},
        "control": {"output": "torque", "target": TARGET, **control},
        "log": {"every": 4},
        **more,
    }


SAMPLED: tuple[dict[str, Any], ...] = (
    {},
    {"period": 1e-3},
    {"period": 2e-3, "delay": 4e-3},
    {"period": 1e-3, "encoder": ENCODER},
    {"period": 2e-3, "delay": 2e-3, "encoder": ENCODER},
)


def loops() -> list[Any]:
    """Loops that hold the arm, law by law, as their sampling, delay, encoders and feedforward are varied."""
    found = []
    for k, (name, law) in enumerate(LAWS.items()):
        fed = ["none"] if name == "computed_torque" else ["none", "gravity"] if name in INTEGRATES else list(FED)
        for j, sampled in enumerate(SAMPLED):
            feedforward = fed[(j + k) % len(fed)]
            found.append(
                pytest.param({**law, "feedforward": feedforward, **sampled}, id="-".join([name, feedforward, *sampled]))
            )
    return found


def run_of(given: dict[str, Any], **more: Any) -> armsim.Run:
    return armsim.simulate(given, law=function if given["control"]["law"] == "python" else None, **more)


@pytest.mark.parametrize("begins", [[0.2, -0.5], TARGET], ids=["elsewhere", "there"])
@pytest.mark.parametrize("control", loops())
@pytest.mark.handful(2)
def test_nothing_is_said_of_a_loop_that_holds_its_target(control, begins):
    run = run_of(scenario(control, initial={"q": begins}))
    assert np.allclose(run.q[-1], TARGET, atol=1e-4)  # a few counts
    assert np.allclose(run.qd[-1], 0.0, atol=5e-3)  # a count in a few samples
    assert run.advice.loops == {}  # the linearisation says what the run shows
    assert not any("unstable" in warning for warning in run.summary()["advice"])


def reversed_gains(control: dict[str, Any]) -> dict[str, Any]:
    """The same loop with position gains of the wrong sign."""
    if "kp" in control:
        kp = control["kp"]
        return {**control, "kp": [-x for x in kp] if isinstance(kp, list) else -kp}
    if "K" in control:
        return {**control, "K": [[-x for x in row[:2]] + row[2:] for row in control["K"]]}
    return {**control, "command": [f"{u} - 120*e" for u in control["command"]]}


@pytest.mark.parametrize("control", [x for x in loops() if x.values[0]["law"] != "python"])
@pytest.mark.handful(1)
def test_a_loop_of_the_wrong_sign_is_called_unstable_whatever_is_around_it(control):
    wrong = {**reversed_gains(control), "limit": [80, 40]}
    said = armsim.simulate(scenario(wrong, duration=1, log={"every": 1}), force_step=True).summary()["advice"]
    assert any("unstable" in warning for warning in said)


@pytest.mark.parametrize("late", [{"period": 2e-3, "delay": 0.06}, {"period": 0.05}], ids=["delay", "period"])
@pytest.mark.parametrize("law", ["pd", "state_feedback", "pid", "computed_torque"])
@pytest.mark.handful(2)
def test_a_loop_whose_commands_are_too_late_is_called_unstable(law, late):
    gains = {"kp": 400, "kd": 40} if law == "computed_torque" else {}
    control = {**LAWS[law], **gains, "feedforward": "none" if law in ("pid", "computed_torque") else "gravity", **late}
    begins = {"q": [0.2, -0.5]}
    run = armsim.simulate(scenario({**control, "limit": [80, 40]}, initial=begins, duration=2), force_step=True)
    assert any("unstable" in warning for warning in run.summary()["advice"])


def test_an_arm_that_begins_in_an_unstable_equilibrium_and_never_leaves_it_is_told_so():
    upright = {"law": "pd", "kp": -5, "kd": 1, "target": [math.pi / 2, 0.0]}
    run = armsim.simulate(scenario(upright, initial={"q": [math.pi / 2, 0.0]}, duration=0.5, robot=floating()))
    assert np.array_equal(run.q[-1], run.q[0])
    assert any("unstable" in warning for warning in run.summary()["advice"])


def floating() -> dict[str, Any]:
    """The arm without gravity, which begins in an equilibrium to the bit."""
    return {**scenario({})["robot"], "gravity": [0, 0, 0]}


@pytest.mark.parametrize(
    ("control", "stands"),
    [
        ({**LAWS["pid"]}, False),
        ({**LAWS["pd"]}, False),  # beside its target, by the droop that gravity leaves
        ({**LAWS["pid"], "kp": -5, "limit": 30}, True),
    ],
    ids=["settled", "drooped", "not settled"],
)
@pytest.mark.handful(1)
def test_no_verdict_on_a_loop_stands_against_the_run(control, stands):
    run = armsim.simulate(scenario(control, initial={"q": [0.2, -0.5]}))
    verdicts = {"R1 is said to be unstable": "R1", "R2 is said to be unstable": "R2"}
    advice = Advice(warnings=("the step is long", *verdicts), loops=verdicts)
    run.setup = KnownSetup(run.scenario, run.plant, advice)
    assert set(settled(run)) == (set() if stands else {"R1", "R2"})
    assert run.summary()["advice"] == ["the step is long", *verdicts][: 3 if stands else 1]
    assert ("R1 is said" in run._repr_html_()) == stands
