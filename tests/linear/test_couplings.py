"""Resonances and antiresonances of elastic couplings: of linear equations, of overviews, of checks."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import armsim
from armsim.arm.motor_curve import motor_curve
from armsim.dynamics import two_mass_systems
from armsim.linear.summary import summarize
from armsim.loading.check import check
from armsim.reports.linear import report


def part(name, stiffness, damping=0.0, friction=None, **more):
    coupling = {"stiffness": stiffness, "damping": damping, **more}
    motor = {"Kp": 0.1, "Ra": 1, "gear": 50, "rotor_inertia": 1e-4, "coupling": coupling}
    body = {"point": {"mass": 1, "center": [0.4, 0, 0]}}
    return {
        "name": name,
        "type": "revolute",
        "mdh": {} if name == "A" else {"a": 0.4},
        "bodies": [body],
        "friction": friction or {},
        "motor": motor,
    }


def scenario(*parts, period=None, **more):
    arm = {"format": "armsim/robot/1", "name": "arm", "gravity": [0, -9.81, 0], "joints": [*parts]}
    n = len(parts)
    control = {"law": "pd", "output": "torque", "kp": [9] * n, "kd": [1] * n, "target": [0] * n}
    if period is not None:
        control["period"] = period
    head = {"format": "armsim/scenario/1", "robot": arm, "duration": 0.1, "integrator": {"method": "rk4", "dt": 1e-4}}
    return {**head, "control": control, **more}


def test_the_pair_of_every_coupling_is_a_zero_and_a_pole_of_the_linear_equations():
    model = armsim.linearize(scenario(part("A", 900), part("B", 500)), at=0.0)
    swings = [abs(mode.rate.imag) for mode in model.modes()]
    assert [of.joint for of in model.couplings] == ["A", "B"]
    assert len({of.resonance for of in model.couplings}) == 2
    for i, of in enumerate(model.couplings):
        assert min(abs(math.tau * of.resonance - x) for x in swings) < 1e-9 * max(swings)
        s = 1j * math.tau * of.antiresonance
        response = np.linalg.solve(s * np.eye(len(model.A)) - model.A, model.B[:, i])
        own, joint = (response[model.states.index(f"q_{name}{of.joint}")] for name in ("motor_", ""))
        assert abs(own) < 1e-9 * abs(joint)


def test_a_joint_that_friction_holds_swings_on_no_held_rotor_but_its_rotor_does():
    given = scenario(part("A", 900, friction={"coulomb": 100}), initial={"q": [math.pi / 2]})
    (of,) = armsim.linearize(given, at=0.0).couplings
    assert of.antiresonance is None
    assert of.resonance == pytest.approx(math.sqrt(900 / 0.25) / math.tau, rel=1e-12)


def test_what_linearize_tells_has_the_pairs_and_the_rotors():
    model = armsim.linearize(scenario(part("A", 900), part("B", 500)), at=0.0)
    found = summarize(model, None, None)
    text = "\n".join(map(str, report(model, digits=5)))
    assert [of["joint"] for of in found["couplings"]] == ["A", "B"]
    assert [joint["name"] for joint in found["joints"]] == ["A", "B", "motor_A", "motor_B"]
    assert [joint["command"] is None for joint in found["joints"]] == [True, True, False, False]
    assert "coupling of" in text


def test_damping_of_two_masses_is_that_of_their_mode():
    given = scenario(part("A", 900, damping=0.5))
    given["robot"]["gravity"] = [0, 0, 0]
    (mode,) = [mode for mode in armsim.linearize(given, at=0.0).modes() if mode.rate.imag]
    arm = armsim.load_robot(given["robot"]).arm
    (of,) = two_mass_systems(arm, [0.0])
    assert of.ratio == pytest.approx(0.16 / 0.25, rel=1e-12)
    assert -mode.rate.real / abs(mode.rate) == pytest.approx(of.damping_ratio, rel=1e-9)
    assert abs(mode.rate) == pytest.approx(math.tau * of.resonance, rel=1e-9)
    assert motor_curve(arm, "A", 24.0).coupling == of


@pytest.mark.parametrize(
    ("period", "damping", "words"),
    [
        (1e-3, 0.0, []),
        (1e-2, 0.0, ["a tenth of a swing of A"]),
        (4e-2, 0.0, ["which samples cannot see"]),
        (4e-2, 30.0, []),
    ],
)
def test_a_period_that_is_long_for_a_resonance_is_doubted(tmp_path, period, damping, words):
    path = tmp_path / "s.yaml"
    path.write_text(json.dumps(scenario(part("A", 900, damping), period=period, duration=0.4)))
    doubts = [str(of) for of in check(path).warnings if "swing" in str(of)]
    assert len(doubts) == len(words)
    for doubt, word in zip(doubts, words, strict=True):
        assert "control.period" in doubt
        assert "inertia ratio 0.64" in doubt
        assert word in doubt


def test_forces_that_follow_the_motion_act_where_rotors_have_positions_of_their_own():
    external = [{"link": "A", "point": [0.4, 0, 0], "force": [0, "-20*y_tool", 0]}]
    given = scenario(part("A", 900), external=external, initial={"q": [0.3]})
    given["robot"]["tool"] = {"xyz": [0.4, 0, 0]}
    resting = armsim.linearize(given, at=0.0).at_rest
    torque = 0.4 * math.cos(0.3) * (9.81 + 20 * 0.4 * math.sin(0.3))
    assert resting.about.u == pytest.approx([torque], rel=1e-12)
    assert resting.about.q == pytest.approx([0.3, 0.3 + torque / 900], rel=1e-12)
    given["robot"]["joints"][0]["motor"]["limits"] = {"torque": 0.9 * torque / 50}
    with pytest.raises(armsim.UsageError, match="A, for which it takes"):
        armsim.linearize(given, at=0.0).at_rest  # noqa: B018  a property
