"""Errors where events fall just before an instant that all steps share: held against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import armsim
from armsim.convergence.adaptive_reference import adaptive_reference
from armsim.convergence.reference import ReferenceSolution

EVENT = 0.2499  # s, just before a multiple of the step


def slider(joint=None, **more):
    """A point mass of 1 kg on a prismatic joint along z, without gravity; a step of 10 ms."""
    mass = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": 1}}], **(joint or {})}
    return {
        "format": "armsim/scenario/1",
        "name": "slider",
        "robot": {"format": "armsim/robot/1", "name": "slider", "gravity": [0, 0, 0], "joints": [mass]},
        "duration": 1,
        "integrator": {"method": "rk4", "dt": 0.01},
        "log": {"every": 0.01},
        **more,
    }


def turned(t):
    """Thrown up against gravity of 5 m/s² and friction of 1 N; it turns at 0.2499 s, and falls with 4 m/s²."""
    return np.where(t < EVENT, 6 * t * (EVENT - 0.5 * t), 3 * EVENT**2 - 2 * (t - EVENT) ** 2)


def thrown():
    given = slider({"friction": {"coulomb": 1}}, initial={"qd": [6 * EVENT]})
    given["robot"]["gravity"] = [0, 0, -5]
    return given, turned


def pushed(folder):
    """A force of 10 N from 0.2499 s on, recorded."""
    (folder / "force.csv").write_text(f"t_s,x\n0,0\n{EVENT},10\n1,10\n")
    signal = {"csv": str(folder / "force.csv"), "column": "x", "hold": "zero"}
    return slider(inputs={"torque": [signal]}), lambda t: 5 * np.maximum(0.0, t - EVENT) ** 2


def bent():
    """A force that sets in at 0.2499 s, by a formula: 100 N/s."""
    formula = f"max(0, 100*(t - {EVENT}))"
    return slider(inputs={"torque": [formula]}), lambda t: np.maximum(0.0, t - EVENT) ** 3 * 100 / 6


def stopped():
    """Against a stiff stop at a quarter of a metre, met at 0.2499 s: half a swing there, then back."""
    w, v = 200.0, 0.25 / EVENT
    joint = {"limits": {"lower": -5, "upper": 0.25, "stiffness": w**2}}
    back = EVENT + np.pi / w

    def exact(t):
        inside = 0.25 + v / w * np.sin(w * (t - EVENT))
        return np.where(t < EVENT, v * t, np.where(t < back, inside, 0.25 - v * (t - back)))

    return slider(joint, initial={"qd": [v]}, integrator={"method": "rk4", "dt": 0.005}), exact


def short(folder):
    """A push of 2 ms that every step of the scenario's own grid misses."""
    (folder / "push.csv").write_text("t_s,x\n0,0\n0.2521,500\n0.2541,0\n1,0\n")
    signal = {"csv": str(folder / "push.csv"), "column": "x", "hold": "zero"}

    def exact(t):
        on, off = np.maximum(0.0, t - 0.2521), np.maximum(0.0, t - 0.2541)
        return 250 * (on**2 - off**2)

    return slider(inputs={"torque": [signal]}), exact


CASES = {
    "friction that turns": lambda folder: thrown(),
    "a recorded jump": pushed,
    "a corner of a formula": lambda folder: bent(),
    "a stop": lambda folder: stopped(),
    "a push between steps": short,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.slow
def test_no_error_is_understated_where_an_event_falls_just_before_a_step(case, tmp_path):
    given, exact = CASES[case](tmp_path)
    found = armsim.converge(
        given, ["rk4", "implicit_midpoint", "semi_implicit_euler", "rodas"], accuracy=1e-4, budget=2
    )
    assert found.source.startswith("rodas and rk54 at rtol 1e-")
    for method in found.methods:
        assert method.verdict in ("settled", "rounding")
        assert method.doubt < 1e-6
        for setting in method.settings:
            if setting.diverged:
                continue
            value = {method.knob: setting.value} | ({"atol": 1e-3 * setting.value} if method.knob == "rtol" else {})
            run = armsim.simulate(given, {"integrator": {"method": method.method, **value}}, force_step=True)
            off = np.abs(run.q[:, 0] - exact(run.t)).max()
            assert off <= 2 * setting.error
            assert setting.error <= 1.01 * off + method.doubt
        best = method.cheapest(1e-4)
        assert best is None or best.error <= 1e-4


def test_the_error_of_a_step_that_sees_friction_turn_late_is_what_it_is():
    """Seen 0.1 ms late, and by 10 m/s² less steep: 3e-4 m after 0.3 s."""
    late, cut = armsim.converge(thrown()[0], ["implicit_midpoint", "rk4"]).methods
    assert late.at_own.error == pytest.approx(3.0e-4, rel=0.01)
    assert late.cheapest(1e-6).value < 1e-3
    assert cut.at_own.error < 1e-10  # its step ends where the joint turns


def test_the_error_of_a_step_that_sees_an_input_jump_late_is_what_it_is(tmp_path):
    """10 m/s² from 0.1 ms later on, for 0.75 s: 7.5e-4 m."""
    late, cut = armsim.converge(pushed(tmp_path)[0], ["implicit_midpoint", "rk4"], accuracy=1e-4).methods
    assert late.at_own.error == pytest.approx(7.5e-4, rel=0.01)
    assert cut.at_own.error < 1e-10


def in_doubt(monkeypatch, doubt):
    """As if the adaptive runs disagreed."""

    def doubtful(*args):
        found = adaptive_reference(*args)
        return ReferenceSolution(found.answer, doubt, found.source)

    monkeypatch.setattr("armsim.convergence.converge.adaptive_reference", doubtful)


def test_where_adaptive_runs_disagree_nothing_is_certified(monkeypatch):
    in_doubt(monkeypatch, 1e-3)
    found = armsim.converge(thrown()[0])
    (method,) = found.methods
    assert (method.verdict, method.cheapest(1e-6), method.doubt, found.reached) == ("unknown", None, 1e-3, False)
    assert all(setting.error >= 1e-3 for setting in method.settings)
    assert found.methods[0].good_until is None


def test_where_no_adaptive_run_ends_nothing_is_certified(monkeypatch):
    monkeypatch.setattr("armsim.convergence.converge.adaptive_reference", lambda *args: None)
    for budget in (1.0, 1e-4):  # until the steps agree with each other, and not as long
        found = armsim.converge(thrown()[0], budget=budget)
        (method,) = found.methods
        assert (method.verdict, method.cheapest(1e-6), method.doubt, found.source) == ("unknown", None, None, "")
        assert all(setting.error is None for setting in method.settings)


def test_steps_that_converge_elsewhere_contradict_the_reference(monkeypatch):
    """No event seen a step late moves an answer by a metre."""

    def wrong(*args):
        found = adaptive_reference(*args)
        return ReferenceSolution(found.answer + 1.0, 1e-12, found.source)

    monkeypatch.setattr("armsim.convergence.converge.adaptive_reference", wrong)
    (found,) = armsim.converge(thrown()[0], accuracy=1e-4, budget=0.01).methods
    assert found.verdict == "unknown"
    assert found.cheapest(1e-4) is None


def test_a_smooth_motion_takes_no_adaptive_runs():
    seen = []
    armsim.converge("two_link_swing", look=lambda *what: seen.append(what))
    assert {method for method, _, _ in seen} == {"rk4"}


def test_ctrl_c_in_the_adaptive_runs_ends_the_study(monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("armsim.convergence.converge.adaptive_reference", interrupted)
    found = armsim.converge(thrown()[0])
    assert [(m.method, m.verdict, m.settings) for m in found.methods] == [("rk4", "interrupted", ())]
