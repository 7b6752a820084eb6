"""A recording is the run it was made of, sample by sample, and needs no other file."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
import yaml

import armsim
from armsim import load_run
from armsim.errors import UsageError
from armsim.records import as_plain

SAMPLED = {"control.period": 1e-3, "duration": 0.5}


def table(recording):
    values = np.concatenate([recording.t[:, None], recording.states, recording.inputs], axis=1)
    return dict(zip(list(recording), values.T))


@pytest.mark.parametrize("name", ["arm5_hold", "arm5_hold_pi"])
@pytest.mark.handful(1)
def test_every_sample_has_the_bits_of_simulate(name):
    recording = armsim.record(name, SAMPLED)
    run = armsim.simulate(name, {**SAMPLED, "log.every": 1e-3})
    assert recording.status == "complete"
    assert len(recording.t) == 501
    for heading, values in table(recording).items():
        assert values.tolist() == run[heading].tolist(), heading
    assert np.abs(recording.states[-1] - recording.states[0]).max() > 0.1


def test_inputs_that_are_constant_or_none_need_no_period():
    fall = armsim.record("two_link_swing", {"duration": 0.2})
    assert fall.output is None
    assert fall.inputs.shape == (len(fall.t), 0)
    pushed = armsim.record("rr_config5", {"duration": 0.2, "inputs": {"torque": [1, 0.5]}, "log.every": 4e-3})
    assert pushed.inputs.tolist() == [[1.0, 0.5]] * 51
    assert pushed.t[1] == 4e-3


def test_a_long_recording_leaves_memory_and_is_the_same(monkeypatch, tmp_path):
    asked = {"control.period": 1e-3, "duration": 0.2105}
    kept = armsim.record("arm5_hold", asked)
    monkeypatch.setattr("armsim.simulation.simulate.held_in_memory", lambda width: 20)
    monkeypatch.setattr("armsim.simulation.row_log.BLOCK", 8 * 700)
    long = armsim.record("arm5_hold", asked)
    assert (kept.rows.spilled, long.rows.spilled is None) == (None, False)
    assert long.t.tolist() == kept.t.tolist()
    assert long.table.tobytes() == kept.table.tobytes()
    assert long.audit == kept.audit
    kept.save(tmp_path / "kept")
    long.save(tmp_path / "long")
    assert (tmp_path / "long" / "record.csv").read_bytes() == (tmp_path / "kept" / "record.csv").read_bytes()


def test_the_end_is_recorded_where_it_is_no_sample():
    recording = armsim.record("arm5_hold", {"control.period": 1e-3, "duration": 0.0105})
    assert recording.t.tolist() == [*(k / 1000 for k in range(11)), 0.0105]
    assert recording.inputs[-1].tolist() == recording.inputs[-2].tolist()


@pytest.mark.parametrize(
    ("name", "key", "what"), [("arm5_hold", "control", "feedback"), ("arm5_sine", "inputs", "inputs")]
)
def test_a_continuous_command_is_refused_with_the_mend(name, key, what):
    with pytest.raises(UsageError) as caught:
        armsim.record(name)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        f"{name}: {key}.period",
        f"  expected: {what} held from sample to sample, so that a list of them repeats the run",
        f"  found:    {what} followed continuously",
    ]
    assert lines[3].startswith(f'  mend:     set `{key}.period`, for example `overrides={{"{key}.period": ')


def test_it_reads_back_to_the_bit(tmp_path):
    recording = armsim.record("arm5_hold", SAMPLED)
    folder = recording.save(tmp_path / "out")
    assert sorted(os.listdir(folder)) == ["record.csv", "run.yaml"]
    read = load_run(folder)
    for part in ("t", "states", "inputs"):
        assert getattr(read, part).view(np.int64).tolist() == getattr(recording, part).view(np.int64).tolist()
    assert (read.output, read.algorithm, read.status) == (recording.output, recording.algorithm, "complete")


def test_it_needs_no_other_file(tmp_path, monkeypatch):
    made = tmp_path / "made"
    made.mkdir()
    robot = armsim.files.shipped.shipped_path("robots", "rr")
    shutil.copy(robot, made / "rr.yaml")
    rows = [f"{k / 100},{np.sin(k):.17g},{np.cos(k):.17g}" for k in range(60)]
    (made / "torques.csv").write_text("\n".join(["t_s,a,b", *rows]) + "\n")
    (made / "scenario.yaml").write_text(
        "format: armsim/scenario/1\nrobot: rr.yaml\nduration: 0.5\n"
        "integrator: {method: rk4, dt: 1e-3}\n"
        "inputs:\n  period: 2e-3\n  torque: [{csv: torques.csv, column: a, hold: linear}, {csv: torques.csv, column: b}]\n"
        "external: [{link: R2, point: [0, 0, 0], force: [0, 3, 0], axes: world, from: 0.1, to: 0.2}]\n"
    )
    run = armsim.simulate(str(made / "scenario.yaml"))
    armsim.record(str(made / "scenario.yaml")).save(tmp_path / "first")
    shutil.rmtree(made)
    (tmp_path / "first").rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    assert armsim.replay("moved").comparison.equal
    again = armsim.simulate("moved/run.yaml")
    assert again.table.tolist() != []
    names = [name for name in run.columns if name in again.columns]
    last = {name: (run[name][-1], again[name][-1]) for name in names}
    assert all(a == b for a, b in last.values())
    armsim.record("moved/run.yaml").save("again")
    assert (tmp_path / "again" / "record.csv").read_bytes() == (tmp_path / "moved" / "record.csv").read_bytes()


@pytest.mark.slow
def test_folders_are_written_as_runs_are(tmp_path):
    first = armsim.record("arm5_hold", {"control.period": 1e-3, "duration": 0.01})
    second = armsim.record("arm5_hold", {"control.period": 1e-3, "duration": 0.02})
    folder = first.save(tmp_path / "out")
    with pytest.raises(UsageError, match="an earlier run"):
        second.save(folder)
    assert len(load_run(folder).t) == 11
    second.save(folder, force=True)
    assert len(load_run(folder).t) == 21
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="other files"):
        second.save(tmp_path / "other", force=True)


def test_ctrl_c_is_heard_between_two_samples_however_far_apart():
    def press(done, total):
        assert 0 < done < 10**9 < total
        raise KeyboardInterrupt

    endless = {"log.every": 1e9, "duration": 1e9}  # 2.5e12 steps of 0.4 ms
    recording = armsim.record("rr_config1", endless, press)
    assert (recording.status, recording.count, recording.t.tolist()) == ("interrupted", 1, [0.0])


def test_a_run_that_diverges_keeps_its_samples(tmp_path):
    recording = armsim.record(
        "arm5_hold", {"integrator.dt": 2e-3, "control.period": 2e-3, "duration": 1}, force_step=True
    )
    assert recording.status == "diverged"
    assert recording.divergence.slot.startswith("qd_")
    assert 1 < len(recording.t) < 500
    assert np.isfinite(recording.states).all()
    assert recording.divergence.stable.dt == pytest.approx(5.8e-4, rel=0.06)  # back-EMF alone damps between samples
    assert "velocity_implicit" in recording.divergence.stable.methods
    recording.save(tmp_path / "out")
    assert load_run(tmp_path / "out").status == "diverged"
    assert armsim.replay(tmp_path / "out").comparison.equal


@pytest.mark.parametrize("method", ["explicit_euler", "rk4", "rodas"])
@pytest.mark.handful(1)
def test_its_audit_is_that_of_simulate(method, tmp_path):
    own = {"rtol": 1e-6} if method == "rodas" else {"dt": 1e-4}
    asked = {**SAMPLED, "log.every": 1e-3, "integrator": {"method": method, **own}}
    recording = armsim.record("arm5_hold", asked)
    assert as_plain(recording.audit) == armsim.simulate("arm5_hold", asked).summary()["audit"]
    assert abs(recording.audit.motors) > 1e-3
    assert not [slot for slot in recording.slots if "work" in slot]  # the recorded state is the arm's own
    about = yaml.safe_load((recording.save(tmp_path / "out") / "run.yaml").read_text())
    assert about["audit"] == as_plain(recording.audit)


@pytest.mark.parametrize(
    "changes",
    [
        {"integrator.dt": 1e-3, "control.period": 1e-3},
        {"integrator.dt": 7e-4, "control.period": 7e-3, "duration": 0.7},
        {"control.kp[0]": -80, "control.period": 0.2},
        {"control.kp[0]": -80, "control.period": 1e-3},
    ],
    ids=["soon", "later", "long_periods", "own"],
)
@pytest.mark.handful(1)
def test_a_recording_that_diverges_knows_as_much_of_it_as_simulate(changes):
    asked = {**changes, "log.every": changes["control.period"]}
    recording = armsim.record("arm5_hold", asked, force_step=True)
    where = armsim.simulate("arm5_hold", asked, force_step=True).facts.diverged
    causes = [(of.growth, of.motion, of.stalled) for of in (recording.divergence, where)]
    assert causes[0] == causes[1]
