"""A recording replayed is the recording, to the bit, in any process on any processor; anything else is found out."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armsim
from armsim import load_run
from armsim.compile.target import Target
from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.simulation.row_log import ArrayRows

ROOT = Path(armsim.__file__).parents[1]
X86 = platform.machine().lower() in ("x86_64", "amd64")
MOVED = {"initial.q": [0.2, -1.19, 0.55, 0.3, -0.2], "initial.qd": [-1, -2, 1, 3, -2]}
MOTORS = {
    # each joint of arm5 with all that a motor may have, and with DynaMechs' motor
    "coil": "inductance: 2e-3, coulomb: {{positive: {0}, negative: {1}}}, efficiency: 0.9, brush_drop: {{max: 0.5, half: 0.3}}, "
    "limits: {{voltage: 20, current: 8, torque: 60, speed: 5}}",
    "dynamechs": "model: dynamechs, coulomb: {0}, viscous: 0.01, rotor_inertia: 1e-3, brush_drop: {{max: 0.5, half: 0.3}}",
}


def motors(kind: str) -> dict[str, str]:
    """Overrides of the motors of arm5; the wrist's friction is smaller."""
    found = {}
    for i, (Kp, coulomb) in enumerate(((10, 0.5), (10, 0.4), (10, 0.3), (1, 0.03), (1, 0.02))):
        more = MOTORS[kind].format(coulomb, 1.5 * coulomb)
        found[f"robot.joints[{i}].motor"] = f"{{Kp: {Kp}, Ra: 1, {more}}}"
    return found


CASES = {
    "pd": ("arm5_hold", {"control.period": 1e-3, **MOVED}),
    "pi": ("arm5_hold_pi", {"control.period": 2e-3, "integrator.method": "rk4", **MOVED}),
    "sine": ("arm5_sine", {"inputs.period": 1e-3, **MOVED}),
    "torque": ("rr_config2_sine", {"inputs.period": 4e-4}),
    "pushed": ("two_link_hold", {"control.period": 5e-3, "external[0].from": 0.1, "external[0].to": 0.3}),
    "payload": ("arm5_hold", {"control.period": 1e-3, "payload": {"mass": 0.5}}),
    "free": ("two_link_swing", {}),
    "friction": ("puma560_hold", {"control.period": 1e-3, "initial.qd": [1, -1, 0.5, 2, -3, 1]}),
    "friction, rk4": (
        "puma560_hold",
        {"control.period": 1e-3, "initial.qd": [1, -1, 0.5, 2, -3, 1], "integrator.method": "rk4"},
    ),
    "let go": ("puma560_fall", {}),
    "coil": ("arm5_hold", {"control.period": 1e-3, **MOVED, **motors("coil")}),
    "coil, rk4": ("arm5_sine", {"inputs.period": 1e-3, "integrator.method": "rk4", **MOVED, **motors("coil")}),
    "dynamechs": ("arm5_hold", {"control.period": 1e-3, **MOVED, **motors("dynamechs")}),
    "dynamechs, inputs": (
        "arm5_sine",
        {"inputs.period": 1e-3, "integrator.method": "explicit_euler", **motors("dynamechs")},
    ),
    "adaptive": ("arm5_hold", {"control.period": 1e-3, "integrator": {"method": "rk54"}, **MOVED}),
    "picked": ("two_link_swing", {"integrator": {}}),
}
STICKING = [name for name in CASES if name.startswith(("friction", "let go", "coil", "dynamechs"))]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A folder with the recording of a case."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            scenario, changes = CASES[name]
            recording = armsim.record(scenario, {"duration": 0.6, **changes})
            assert recording.status == "complete"
            assert np.abs(recording.states[-1] - recording.states[0]).max() > 1e-2
            made[name] = recording.save(tmp_path_factory.mktemp(name) / "out")
        return made[name]

    return folder


@pytest.mark.parametrize("name", CASES)
@pytest.mark.handful(1)
def test_a_replay_is_the_recording_to_the_bit(name, recorded):
    result = armsim.replay(recorded(name))
    assert result.comparison.equal
    assert not result.comparison.differs
    assert result.diverged is None
    assert len(result.states) == len(result.recording.t)


@pytest.mark.parametrize("name", STICKING)
@pytest.mark.handful(1)
def test_any_sample_is_a_complete_state(name, recorded):
    whole = load_run(recorded(name))
    for k in (len(whole.t) // 3, len(whole.t) - 2):
        late = replace(whole, rows=ArrayRows.of(whole.table[k:], whole.t[k:] - whole.t[k]))
        result = armsim.replay(late)
        assert len(result.states) == len(whole.t) - k
        assert result.comparison.equal


@pytest.mark.slow
def test_the_recordings_hold_what_is_hard_to_repeat(recorded):
    def column(name: str, kind: str):
        recording = load_run(recorded(name))
        return recording.states[:, [i for i, slot in enumerate(recording.slots) if slot.rstrip("0123456789") == kind]]

    for name in ("friction", "friction, rk4", "let go"):
        still = column(name, "qd") == 0.0
        assert 0.2 < still.mean() < 0.8  # joints stick, and slip
    for name in ("coil", "coil, rk4"):
        currents = abs(column(name, "current")).max(axis=0)
        assert 6.0 in currents  # 60 N·m over 10 N·m/A: the limit has acted
        assert (currents > 0.1).all()
    flags = column("dynamechs, inputs", "stuck")
    assert set(flags.flat) == {0.0, 1.0}
    assert 0.01 < flags.mean() < 0.99


SCRIPT = """
import json, sys
import armsim
from armsim.compile.target import Target
what, scenario, changes, folder, cpu = json.loads(sys.argv[1])
target = Target(cpu, "") if cpu else None
if what == "record":
    armsim.record(scenario, changes, target=target).save(folder)
else:
    result = armsim.replay(folder, target=target)
    first, second = result.comparison.first, result.comparison.second
    steps = [50, 300, 2000]
    print(json.dumps([result.comparison.equal] + [[first[k].tolist(), second[k].tolist()] for k in steps]))
"""


@pytest.mark.skipif(not X86, reason="is about x86-64 processors")
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("pd", "", "x86-64"),
        ("friction", "", "x86-64"),
        ("coil", "x86-64", ""),
        ("dynamechs", "", "x86-64"),
    ],
)
@pytest.mark.slow
def test_processes_caches_and_processors_make_no_difference(name, first, second, tmp_path):
    scenario, changes = CASES[name]
    changes = {**changes, "duration": 0.2, "control.period": 1e-4}

    def run(what: str, cpu: str, cache: str) -> str:
        env = {**os.environ, "ARMSIM_CACHE_DIR": str(tmp_path / cache), "PYTHONPATH": str(ROOT)}
        asked = json.dumps([what, scenario, changes, str(tmp_path / "out"), cpu])
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, asked], env=env, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("record", first, "a")
    answers = [
        run("replay", second, "b"),
        run("replay", second, "b"),
        run("replay", first, "a"),
        run("replay", first, "a"),
    ]
    for answer in answers:  # cold and warm, the one processor and the other
        equal, *states = json.loads(answer)
        assert equal
        assert all(ours == theirs for ours, theirs in states)
    assert len(set(answers)) == 1
    _, early, _, late = json.loads(answers[0])
    assert max(abs(x - y) for x, y in zip(early[0], late[0])) > 0.1


@pytest.mark.slow
def test_another_model_differs_and_says_by_how_much_and_from_when(recorded, tmp_path):
    recording = load_run(recorded("sine"))
    robot = recording.scenario.scenario_data["robot"]
    robot["joints"][1]["motor"]["Ra"] = 1.001
    result = armsim.replay(recording, robot=robot)
    assert result.comparison.differs
    began = {d.column.heading: d.began for d in result.comparison.differences}
    assert began["q_R2_rad"] == began["qd_R2_rad_s"] == recording.t[1]  # the first sample is the recording's
    assert began["qdd_R2_rad_s2"] == 0.0  # from where it accelerates otherwise
    assert result.comparison.began == 0.0
    scenario, changes = CASES["sine"]
    direct = armsim.simulate(
        scenario, {"duration": 0.6, "log.every": 1e-3, **changes, "robot.joints[R2].motor.Ra": 1.001}
    )
    assert result.states[:, :5].tolist() == direct.q.tolist()  # its inputs are the same: functions of time
    by_heading = {d.column.heading: d for d in result.comparison.differences}
    error = direct.q[:, 1] - recording.states[:, 1]
    found = by_heading["q_R2_rad"]
    assert found.final == error[-1]
    assert found.largest == np.abs(error).max()
    assert found.rms == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-12)
    assert found.at == recording.t[np.argmax(np.abs(error))]
    assert 1e-6 < found.largest < 1e-2


@pytest.mark.slow
def test_a_difference_that_begins_late_is_dated(recorded):
    recording = load_run(recorded("pd"))
    recording.inputs[300:, 2] += 1e-9
    result = armsim.replay(recording)
    began = {d.column.heading: d.began for d in result.comparison.differences}
    assert result.comparison.began == began["qdd_R3_rad_s2"] == recording.t[300]
    assert began["qd_R3_rad_s"] == recording.t[301]
    within = armsim.replay(recording, tolerance={"q": 1e-6, "qd": 1e-5})
    assert not within.comparison.differs
    assert [d.tolerance for d in within.comparison.differences if d.column.quantity == "tool"] == [None] * 3


@pytest.mark.parametrize("changes", [{"method": "rk4"}, {"dt": 5e-5}, {"method": "explicit_euler", "dt": 1e-3 / 16}])
@pytest.mark.slow
def test_another_integrator_replays_as_simulate_does(changes, recorded):
    recording = load_run(recorded("sine"))
    scenario, settings = CASES["sine"]
    overrides = {"duration": 0.6, "log.every": 1e-3, **settings}
    overrides |= {f"integrator.{key}": value for key, value in changes.items()}
    direct = armsim.simulate(scenario, overrides)
    result = armsim.replay(recording, **changes)
    assert result.states[:, :5].tolist() == direct.q.tolist()
    assert result.states[:, 5:10].tolist() == direct.qd.tolist()


@pytest.mark.slow
def test_an_adaptive_replay_of_fixed_steps_tells_their_error(recorded):
    precise = armsim.replay(recorded("sine"), method="rk54", rtol=1e-9)
    assert precise.scenario.dt == 1e-3  # from sample to sample, not the 1e-4 of the recording
    fine = armsim.replay(recorded("sine"), method="rk4", dt=5e-5)
    q = slice(0, 5)
    own = np.abs(precise.comparison.second[:, q] - precise.comparison.first[:, q]).max()
    assert own > 1e-5  # of semi-implicit Euler
    # rk4 takes the stops' corners within its steps: some 3e-7 of error
    assert np.abs(precise.comparison.second[:, q] - fine.comparison.second[:, q]).max() < 1e-2 * own
    assert not any(d.column.heading.startswith("step") for d in precise.comparison.differences)


def test_an_adaptive_recording_keeps_what_its_method_remembers(recorded):
    recording = load_run(recorded("adaptive"))
    assert recording.slots[-4:] == ("step_length", "step_error", "steps_taken", "steps_refused")
    assert list(recording)[19:23] == ["step_length_s", "step_error", "steps_taken", "steps_refused"]
    taken = recording.states[:, -2]
    assert taken[0] == 0 < taken[1] < taken[-1]
    model = armsim.ForwardModel("arm5", dt=1e-3, method="rk54")
    assert model.slots == recording.slots
    assert model.step(recording.states[7], recording.inputs[7])[:10].tolist() == recording.states[8, :10].tolist()


@pytest.mark.slow
def test_fixed_steps_for_an_adaptive_recording_need_a_length(recorded, told):
    with pytest.raises(UsageError) as caught:
        armsim.replay(recorded("adaptive"), method="rk4")
    told(caught.value)
    replayed = armsim.replay(recorded("adaptive"), method="rk4", dt=1e-4, tolerance={"q": 1e-5})
    assert not replayed.comparison.differs


def test_steps_that_do_not_divide_the_samples_are_refused(recorded, told):
    with pytest.raises(UsageError) as caught:
        armsim.replay(recorded("pd"), dt=3e-4)
    told(caught.value)


def test_a_robot_of_other_joints_is_refused(recorded, told):
    with pytest.raises(UsageError) as caught:
        armsim.replay(recorded("free"), robot="arm5")
    told(caught.value)


def damaged(folder: Path, what: str) -> None:
    table, about = folder / "record.csv", folder / "run.yaml"
    data = table.read_bytes()
    if what == "cut":
        table.write_bytes(data[: len(data) // 2])
    elif what == "digit":
        at = data.index(b"\n", 5000) + 3
        table.write_bytes(data[:at] + (b"7" if data[at : at + 1] != b"7" else b"3") + data[at + 1 :])
    elif what == "row":
        table.write_bytes(b"\n".join(data.split(b"\n")[:100]) + b"\n")
    elif what == "binary":
        table.write_bytes(os.urandom(1000))
    elif what == "empty":
        table.write_bytes(b"")
    elif what == "gone":
        table.unlink()
    elif what == "column":
        text = about.read_text()
        about.write_text("\n".join(line for line in text.splitlines() if "sha256" not in line))
        table.write_bytes(data.replace(b"qd_R2_rad_s,", b"other,", 1))
    elif what == "yaml":
        about.write_bytes(about.read_bytes()[:600])
    elif what == "foreign":
        about.write_text("format: something/else\n")
    elif what == "not yaml":
        about.write_text("{[")
    elif what == "no yaml":
        about.unlink()


@pytest.mark.parametrize(
    "what", ["cut", "digit", "row", "binary", "empty", "gone", "column", "yaml", "foreign", "not yaml", "no yaml"]
)
def test_a_damaged_recording_is_refused_in_four_lines(what, recorded, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(recorded("pd"), folder)
    damaged(folder, what)
    with pytest.raises(ArmsimError) as caught:
        armsim.replay(folder)
    lines = str(caught.value).splitlines()
    assert len(lines) >= 4
    assert [line.split(":")[0] for line in lines[1:4]] == ["  expected", "  found", "  mend"]
    assert caught.value.exit_code == 2
    assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    ("count", "told"), [(".inf", "inf"), ("-.inf", "-inf"), (".nan", "nan"), ("1e300", r"1e\+300")]
)
@pytest.mark.handful(2)
def test_a_count_that_is_none_is_told_as_it_stands(recorded, tmp_path, count, told):
    folder = tmp_path / "copy"
    shutil.copytree(recorded("pd"), folder)
    damaged(folder, "row")
    about = folder / "run.yaml"
    about.write_text(re.sub(r"^  samples: .*$", f"  samples: {count}", about.read_text(), flags=re.MULTILINE))
    with pytest.raises(FileFaults, match=rf"99 of {told} samples"):
        armsim.replay(folder)


def test_a_changed_recording_says_what_was_recorded_and_how_to_use_it_anyway(recorded, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(recorded("pd"), folder)
    damaged(folder, "row")
    with pytest.raises(
        FileFaults, match=r"99 of 601 samples\n  mend:     restore the file, or take `recording.sha256` out"
    ):
        armsim.replay(folder)
    about = folder / "run.yaml"
    lines = about.read_text().splitlines()
    recording = lines.index("recording:")
    about.write_text("\n".join(lines[: recording + 3] + lines[recording + 4 :]) + "\n")
    assert armsim.replay(folder).comparison.equal


def test_a_plain_run_is_no_recording(tmp_path):
    armsim.simulate("rr_config5", {"duration": 0.1}).save(tmp_path / "run")
    with pytest.raises(UsageError) as caught:
        armsim.replay(tmp_path / "run")
    assert str(caught.value).splitlines()[1:] == [
        "  expected: a recording, as `Recording.save` writes it",
        "  found:    a run without the state at every sample",
        f"  mend:     record it again: `armsim.record({str(tmp_path / 'run' / 'run.yaml')!r}).save(folder)`",
    ]


@pytest.mark.skipif(not X86, reason="is about x86-64 processors")
def test_a_generic_processor_replays_an_outside_force_to_the_bit(recorded):
    assert armsim.replay(recorded("pushed"), target=Target("x86-64", "")).comparison.equal


def test_progress_ends_at_the_last_sample_and_never_goes_back(recorded, monkeypatch):
    from armsim.recording import playback

    monkeypatch.setattr(playback, "STRETCH", -1.0)  # else it is called twenty times a second
    seen: list[tuple[int, int]] = []
    armsim.replay(recorded("pd"), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(k, 600) for k in range(1, 601)]
