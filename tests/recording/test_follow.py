"""A model that follows a log: exactly where it is the log's own, and else by how much not."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armsim
from armsim.errors import FileFaults, UsageError
from armsim.recording.command_history import CommandHistory
from armsim.recording.measured_log import MeasuredLog, read_log

NAMES = [f"R{i}" for i in range(1, 6)]
MOVED = {"initial.q": [0.2, -1.19, 0.55, 0.3, -0.2], "initial.qd": [-1, -2, 1, 3, -2]}


@pytest.fixture(scope="module")
def recording():
    settings = {"control.period": 1e-3, "duration": 2.5, "integrator.method": "semi_implicit_euler"}
    return armsim.record("arm5_hold", {**settings, **MOVED})


@pytest.fixture(scope="module")
def arm():
    return armsim.load_robot("arm5").arm


def write(path, columns):
    headings = list(columns)
    rows = zip(*columns.values())
    path.write_text("\n".join([",".join(headings), *(",".join(repr(float(x)) for x in row) for row in rows)]) + "\n")
    return path


def columns_of(recording, qd=True, every=1):
    t, states, u = recording.t[::every], recording.states[::every], recording.inputs[::every]
    columns = {"t_s": t}
    columns |= {f"voltage_{name}_V": u[:, i] for i, name in enumerate(NAMES)}
    columns |= {f"q_{name}_rad": states[:, i] for i, name in enumerate(NAMES)}
    if qd:
        columns |= {f"qd_{name}_rad_s": states[:, 5 + i] for i, name in enumerate(NAMES)}
    return columns


def test_its_own_log_is_followed_to_the_bit(recording, tmp_path):
    result = armsim.follow(write(tmp_path / "log.csv", columns_of(recording)), "arm5")
    assert result.comparison.equal
    assert not result.judged
    assert [(h.seconds, h.windows, h.whole) for h in result.horizons] == [
        (0.1, 25, False),
        (1.0, 2, False),
        (2.5, 1, True),
    ]
    assert all(x == 0.0 for h in result.horizons for x in (*h.final, *h.largest))
    assert result.log.velocities_from == "from the log"


def test_another_model_drifts_and_more_so_the_longer_it_runs(recording, tmp_path):
    log = write(tmp_path / "log.csv", columns_of(recording))
    robot = recording.scenario.scenario_data["robot"]
    robot["joints"][1]["motor"]["Ra"] = 1.2
    result = armsim.follow(log, robot, tolerance={"q": 1e-3})
    short, long, whole = result.horizons
    assert 0 < short.final[1] < long.final[1]
    assert whole.largest[1] == result.comparison.differences[1].largest
    assert result.judged
    assert result.comparison.differs
    assert not armsim.follow(log, robot, tolerance={"q": 1.0}).comparison.differs


def test_velocities_are_estimated_where_the_log_has_none(recording, tmp_path):
    log = write(tmp_path / "log.csv", columns_of(recording, qd=False))
    result = armsim.follow(log, "arm5")
    assert result.log.velocities_from == "estimated from 5 rows of q, by a parabola"
    assert len(result.comparison.differences) == 5
    assert 0 < max(result.horizons[-1].largest) < 0.02


def test_a_parabola_is_estimated_exactly_wherever_the_row_is():
    t = np.array([0.0, 0.01, 0.025, 0.03, 0.05, 0.06, 0.075])
    q = (1 + 2 * t - 30 * t**2)[:, None]
    log = MeasuredLog("log", t, q, None, CommandHistory(t, np.zeros((7, 1))), "torque")
    for k in range(7):
        assert log.velocities(k) == pytest.approx(2 - 60 * t[k], abs=1e-12)
    two = MeasuredLog("log", t[:2], q[:2], None, CommandHistory(t[:2], np.zeros((2, 1))), "torque")
    assert two.velocities(0)[0] == pytest.approx(1.7)


def test_rows_need_not_be_evenly_spaced(tmp_path):
    """Under constant torques the motion does not depend on how often it is looked at."""
    rng = np.random.default_rng(2)
    t = np.concatenate([[0.0], np.sort(rng.uniform(0, 0.5, 60)), [0.5]])
    robot = "two_link"
    model = armsim.ForwardModel(robot, dt=1e-5, method="rk4", output="torque")
    state, q = model.state(), []
    q0 = state[:2]
    names = model.joints
    columns = {"t": t, **{f"tau_motor_{name}_Nm": np.full(62, u) for name, u in zip(names, (3.0, -1.0))}}
    k = 0
    for time in t:
        while k < round(time / 1e-5):
            state, k = model.step(state, [3.0, -1.0]), k + 1
        q.append(state[:2])
    columns |= {f"q_{name}_rad": np.array(q)[:, i] for i, name in enumerate(names)}
    columns |= {f"qd_{name}_rad_s": np.zeros(62) for name in names}
    log = read_log(write(tmp_path / "log.csv", columns), model.arm)
    result = armsim.follow(log, robot, method="rk4", dt=1e-3)
    assert np.abs(result.states[0, :2] - q0).max() == 0
    assert max(result.horizons[-1].largest) < 2e-4  # half a step of 1e-5 s at some 5 rad/s, and the samples of q
    assert max(result.horizons[-1].largest) < 0.01 * np.ptp(np.array(q), axis=0).max()


def test_columns_may_be_named_otherwise_and_be_degrees(recording, tmp_path):
    plain = columns_of(recording, every=10)
    columns = {"time": plain["t_s"]}
    columns |= {f"u{i}": plain[f"voltage_R{i}_V"] for i in range(1, 6)}
    columns |= {f"theta {i}": np.degrees(plain[f"q_R{i}_rad"]) for i in range(1, 6)}
    columns |= {f"omega{i}": plain[f"qd_R{i}_rad_s"] for i in range(1, 6)}
    log = write(tmp_path / "log.csv", columns)
    lines = ["t_s: time", *(f"voltage_R{i}_V: u{i}" for i in range(1, 6))]
    lines += [f"q_R{i}_deg: theta {i}" for i in range(1, 6)] + [f"qd_R{i}_rad_s: omega{i}" for i in range(1, 6)]
    (tmp_path / "map.yaml").write_text("\n".join(lines) + "\n")
    mapped = armsim.follow(log, "arm5", columns=tmp_path / "map.yaml")
    direct = armsim.follow(write(tmp_path / "plain.csv", plain), "arm5")
    assert mapped.log.q == pytest.approx(direct.log.q, rel=1e-15)
    assert mapped.horizons[-1].final == pytest.approx(direct.horizons[-1].final, rel=1e-6)


def test_faults_of_a_map_are_all_named(recording, arm, tmp_path):
    log = write(tmp_path / "log.csv", columns_of(recording, every=500))
    (tmp_path / "map.yaml").write_text("q_R9_rad: q_R1_rad\nt_s: tim\n")
    with pytest.raises(FileFaults) as caught:
        read_log(log, arm, tmp_path / "map.yaml")
    text = str(caught.value)
    assert "map.yaml:1:1\n  expected: a name of armsim's for a column of arm5\n  found:    `q_R9_rad`" in text
    assert "map.yaml:2:1: t_s\n" in text
    assert "found:    `tim`\n  mend:     columns are: t_s, voltage_R1_V" in text


@pytest.mark.parametrize("gone", ["t_s", "q_R3_rad", "qd_R2_rad_s", "voltage_R5_V"])
@pytest.mark.handful(2)
def test_a_missing_column_is_named(gone, recording, arm, tmp_path):
    columns = columns_of(recording, every=500)
    del columns[gone]
    with pytest.raises(FileFaults) as caught:
        read_log(write(tmp_path / "log.csv", columns), arm)
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert lines[1] == f"  expected: a column {gone}"
    assert f"columns={{'{gone}': " in lines[3]


def test_times_that_go_back_are_refused_with_their_line(recording, arm, tmp_path):
    columns = columns_of(recording, every=500)
    columns["t_s"] = columns["t_s"].copy()
    columns["t_s"][3] = 0.5
    with pytest.raises(FileFaults, match=r"log.csv:5:1: t_s\n  expected: times that increase"):
        read_log(write(tmp_path / "log.csv", columns), arm)


def test_voltages_need_motors(tmp_path):
    arm = armsim.load_robot("rr").arm
    columns = {"t": [0, 1], "voltage_R1_V": [0, 0], "voltage_R2_V": [0, 0], "q_R1_rad": [0, 0], "q_R2_rad": [0, 0]}
    with pytest.raises(UsageError, match="no motor on R1, R2"):
        read_log(write(tmp_path / "log.csv", columns), arm)


def test_a_model_that_diverges_has_no_finite_drift(recording, tmp_path):
    log = write(tmp_path / "log.csv", columns_of(recording))
    result = armsim.follow(log, "arm5", method="explicit_euler", dt=1e-3)
    assert result.diverged is not None
    assert all(x == math.inf for h in result.horizons for x in h.final)


def test_progress_counts_every_row_once_for_every_horizon(recording, tmp_path, monkeypatch):
    from armsim.recording import playback

    monkeypatch.setattr(playback, "STRETCH", -1.0)  # else it is called twenty times a second
    seen: list[tuple[int, int]] = []
    log = write(tmp_path / "log.csv", columns_of(recording, every=10))
    armsim.follow(log, "arm5", progress=lambda done, total: seen.append((done, total)))
    rows = 251
    assert {total for _, total in seen} == {3 * rows}
    done = [count for count, _ in seen]
    assert done == sorted(done)
    assert len(set(done)) > 2.7 * rows  # the last half second is no whole horizon of a second
    assert done[-1] == 3 * rows


@pytest.mark.slow
def test_degrees_are_for_differences_and_tolerances(recording, tmp_path):
    log = write(tmp_path / "log.csv", columns_of(recording))
    robot = recording.scenario.scenario_data["robot"]
    robot["joints"][1]["motor"]["Ra"] = 1.2
    radians, degrees = (armsim.follow(log, robot, tolerance={"q": 1.0}, degrees=turn) for turn in (False, True))
    one, other = radians.comparison.differences[1], degrees.comparison.differences[1]
    assert (one.column.heading, other.column.heading) == ("q_R2_rad", "q_R2_deg")
    assert other.largest == pytest.approx(math.degrees(one.largest), rel=1e-12)
    assert 1.0 < other.largest < math.degrees(1.0)
    assert degrees.comparison.differs
    assert not radians.comparison.differs
    assert degrees.horizons == radians.horizons


def test_no_step_is_longer_than_the_time_between_rows(recording, tmp_path):
    log = write(tmp_path / "log.csv", columns_of(recording))
    assert armsim.follow(log, "arm5", dt=1.0).dt == pytest.approx(1e-3, rel=1e-12)
    assert armsim.follow(log, "arm5", dt=5e-4).dt == 5e-4
