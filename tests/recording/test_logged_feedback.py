"""Controllers that see the positions of a log, against the runs that they controlled."""

from __future__ import annotations

import json

import numpy as np
import pytest

import armsim
from armsim.errors import UsageError
from armsim.loading import read_scenario
from armsim.recording.command_history import CommandHistory
from armsim.recording.logged_feedback import LoggedFeedback
from armsim.recording.measured_log import MeasuredLog

SHORT = {"duration": 0.2, "integrator.method": "semi_implicit_euler", "integrator.dt": 5e-4, "control.period": 1e-3}
MOVED = {"initial.q": [0.2, -1.19, 0.55, 0.3, -0.2], "initial.qd": [-1, -2, 1, 3, -2]}
ENCODER = {"control.encoder": {"counts": 4096, "filter": 5e-3}}
CASES = {
    "arm5_hold": MOVED,
    "arm5_hold_pi": MOVED | ENCODER,
    "arm5_computed_torque": MOVED | {"control.delay": 2e-3},
    "puma560_move": {},  # a reference that moves, and feedforward
}


def log_of(recording, rows=slice(None)):
    t, n = recording.t[rows], recording.scenario.arm.n
    q, qd = (recording.states[rows, i * n : (i + 1) * n] for i in (0, 1))
    return MeasuredLog("log", t, q, qd, CommandHistory(t, recording.inputs[rows]), recording.output, "logged")


@pytest.mark.parametrize("name", [*CASES])
@pytest.mark.handful(1)
def test_of_the_log_of_its_own_run_a_controller_commands_what_it_did_to_the_bit(name):
    """Encoders, filters, integrals, delays, references and feedforward included."""
    recording = armsim.record(name, SHORT | CASES[name])
    feedback = LoggedFeedback(recording.scenario, recording.scenario.arm)
    log = log_of(recording)
    found = feedback.commands(log.t, log.q, log.qd)
    assert found.u.tobytes() == np.ascontiguousarray(recording.inputs).tobytes()
    assert np.abs(recording.inputs).max() > 0.1


def test_samples_between_rows_see_positions_on_straight_lines():
    """A proportional law: the command of a mean is the mean of commands."""
    law = {"law": "pd", "output": "torque", "kp": [3, 5], "kd": [0, 0], "period": 0.01, "target": [90, 0]}
    scenario = read_scenario("two_link_hold", {"control": law})
    t = np.array([0.0, 0.025, 0.04])
    q = np.array([[0.0, 1.0], [0.5, 2.0], [0.2, -1.0]])
    found = LoggedFeedback(scenario, scenario.arm).commands(t, q, None)
    np.testing.assert_allclose(found.t, 0.01 * np.arange(5), atol=1e-15)
    seen = np.stack([np.interp(found.t, t, x) for x in q.T], axis=1)
    np.testing.assert_allclose(found.u, [3, 5] * ([np.pi / 2, 0] - seen), rtol=1e-12)
    assert not found.lines


def test_encoders_count_but_add_no_noise_to_measured_positions():
    """A recording keeps true positions; counts of a log stay what they are."""
    noisy = {"control.encoder": {"counts": 4096, "noise": 1e-3}}
    recording = armsim.record("arm5_hold_pi", SHORT | MOVED | noisy)
    quiet = armsim.record("arm5_hold_pi", SHORT | MOVED | {"control.encoder": {"counts": 4096}})
    log = log_of(quiet)
    counted = 2 * np.pi / 4096 * np.round(log.q * 4096 / (2 * np.pi))
    found = [
        LoggedFeedback(recording.scenario, recording.scenario.arm).commands(log.t, q, None) for q in (log.q, counted)
    ]
    for one in found:
        np.testing.assert_allclose(one.u, quiet.inputs, rtol=0, atol=1e-9)


def test_continuous_control_is_followed_from_row_to_row():
    """To the first order of the time between rows: integrals are sums over these."""
    errors = []
    for every in (4e-3, 2e-3):
        run = armsim.simulate("two_link_hold", {"duration": 0.4, "log.every": every, "integrator.method": "rk4"})
        names = run.scenario.arm.joint_names
        q, qd = (
            np.stack([run[f"{kind}_{x}_{unit}"] for x in names], axis=1)
            for kind, unit in (("q", "rad"), ("qd", "rad_s"))
        )
        tau = np.stack([run[f"tau_motor_{x}_Nm"] for x in names], axis=1)
        log = MeasuredLog("log", run.t, q, qd, CommandHistory(run.t, tau, lines=True), "torque", "logged")
        result = armsim.follow(log, "two_link", feedback="two_link_hold", method="rk4", dt=1e-3)
        assert result.fed.log.commands.lines
        errors.append([max(result.off), max(result.fed.horizons[-1].largest)])
    off, drift = np.array(errors).T
    assert off[0] < 0.07  # of torques up to 80 N·m
    assert off[1] < 0.55 * off[0]
    assert drift[0] < 4e-3
    assert drift[1] < 0.5 * drift[0]


def test_a_model_under_logged_feedback_drifts_as_under_the_logged_commands_and_another_controller_is_told():
    recording = armsim.record("arm5_hold", SHORT | MOVED)
    log, robot = log_of(recording), recording.scenario.scenario_data["robot"]
    robot["joints"][1]["motor"]["Ra"] = 1.2
    same = armsim.follow(log, robot, feedback=recording.scenario)
    assert same.off == (0.0,) * 5
    assert same.fed.horizons == same.horizons
    assert same.horizons[-1].largest[1] > 1e-3
    other = armsim.follow(log, robot, feedback=read_scenario("arm5_hold", SHORT | MOVED | {"control.kp[R3]": 0.0}))
    assert other.off[2] > 1.0
    assert other.off[0] == 0.0
    assert other.fed.horizons[-1].largest[2] > 2.0 * same.horizons[-1].largest[2]
    assert json.loads(json.dumps(other.data()))["fed"]["commands_off"] == list(other.off)


def test_a_log_without_commands_is_driven_by_the_controller_alone(tmp_path):
    recording = armsim.record("arm5_hold", SHORT | MOVED)
    n, path = 5, tmp_path / "log.csv"
    names = [f"{kind}_R{i + 1}_{unit}" for kind, unit in (("q", "rad"), ("qd", "rad_s")) for i in range(n)]
    table = np.column_stack([recording.t, recording.states[:, : 2 * n]])
    np.savetxt(path, table, "%.17g", ",", header=",".join(["t_s", *names]), comments="")
    result = armsim.follow(path, feedback=recording.scenario, dt=5e-4)
    assert result.comparison.equal
    assert result.fed is None
    assert result.log.inputs_told.startswith("pd of arm5_hold, every 0.001 s, which sees the measured positions")
    with pytest.raises(armsim.FileFaults, match="voltage_R1_V"):
        armsim.follow(path, "arm5")


@pytest.mark.parametrize(("scenario", "overrides", "word"), [
    ("arm5_sine", {}, "found:    none"),
    ("rr_config1", {}, "none"),
    ("puma560_hold", {}, "revolute, revolute, revolute, revolute, revolute, revolute"),
    ("arm5_hold", {"control": {"law": "python", "output": "voltage", "period": 1e-3}}, "Python function"),
])  # fmt: skip
def test_what_is_no_controller_of_the_arm_is_refused(scenario, overrides, word):
    with pytest.raises(UsageError, match="feedback") as refused:
        LoggedFeedback(read_scenario(scenario, overrides), armsim.load_robot("arm5").arm)
    assert word in str(refused.value)
