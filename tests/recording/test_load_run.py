"""What is written to a folder comes back from it: arrays to the bit, and every word that was said."""

from __future__ import annotations

import pickle
import re
import shutil
import tracemalloc

import numpy as np
import pytest

import armsim
from armsim.errors import ArmsimError, FileFaults, UsageError
from armsim.files import csv_reader
from armsim.files.destination import Destination
from armsim.loading import read_scenario
from armsim.simulation import row_log
from armsim.simulation.simulate import simulate_into

SHORT = {"duration": 0.1, "log.every": 1e-3}
DIVERGES = {"integrator.dt": 4e-3, "log.every": 4e-3}
CASES = {
    "simulated": ("arm5_hold_pi", SHORT),
    "adaptive": ("arm5_reach", SHORT),
    "followed": ("arm5_move", SHORT),
    "diverged": ("arm5_hold", DIVERGES),
    "no motors": ("two_link_swing", {"duration": 0.1}),
}


def made(case: str, measure=("energy_drawn", "peak_torque_R1")):
    scenario, overrides = CASES[case]
    return armsim.simulate(scenario, overrides, force_step=True, measure=() if case == "no motors" else measure)


def same(found, run) -> None:
    """Whether two runs say the same, numbers to the bit."""
    assert (found.t.tobytes(), found.table.tobytes()) == (run.t.tobytes(), run.table.tobytes())
    assert (list(found), found.status, found.steps, found.count) == (list(run), run.status, run.steps, run.count)
    assert repr((found.end, found.state, found.units)) == repr((run.end, run.state, run.units))
    assert repr((found.measures, found.figures)) == repr((run.measures, run.figures))
    assert repr(found.summary()) == repr(run.summary())
    assert (found.step_error, found.unestimated, found.stalled) == (run.step_error, run.unestimated, run.stalled)
    assert (found.engine, found.seconds, found.failure) == (run.engine, run.seconds, run.failure)


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.handful(1)
def test_a_run_comes_back_as_it_was_saved_and_is_saved_as_it_was(case, tmp_path):
    run = made(case)
    found = armsim.load_run(run.save(tmp_path / "run"))
    assert isinstance(found, armsim.Run)
    same(found, run)
    assert list(found.advice.warnings) == run.summary()["advice"]
    for name in ("q", "qd", "qdd", "tau"):
        assert getattr(found, name).tobytes() == getattr(run, name).tobytes()
    assert found[list(run)[1]].tolist() == run[list(run)[1]].tolist()
    assert found.row(-1) == run.row(-1)
    assert contents(found.save(tmp_path / "again")) == contents(tmp_path / "run")
    same(pickle.loads(pickle.dumps(found)), run)


@pytest.mark.slow
def test_a_table_in_pandas_is_that_of_the_run(tmp_path):
    pytest.importorskip("pandas")
    run = made("simulated")
    assert armsim.load_run(run.save(tmp_path / "run")).to_pandas().equals(run.to_pandas())


def test_parquet_comes_back_to_the_bit(tmp_path):
    pytest.importorskip("pyarrow")
    run = armsim.simulate("arm5_hold", {**SHORT, "log.format": "parquet"})
    found = armsim.load_run(run.save(tmp_path / "run"))
    same(found, run)
    assert contents(found.save(tmp_path / "again")) == contents(tmp_path / "run")


@pytest.mark.slow
def test_a_run_in_degrees_comes_back_in_radians_and_is_written_again_as_it_was(tmp_path):
    run = made("followed")
    found = armsim.load_run(run.save(tmp_path / "run", degrees=True))
    assert found.columns == run.columns
    np.testing.assert_allclose(found.table, run.table, rtol=2**-52)
    assert found["q_R1_deg"].tolist() == run["q_R1_deg"].tolist()
    assert contents(found.save(tmp_path / "again", degrees=True)) == contents(tmp_path / "run")


def test_an_angle_that_comes_back_from_degrees_goes_into_the_same_degrees():
    factor, angles = np.degrees(1.0), np.random.default_rng(7).uniform(1.0, 2.0, 1_000_000)
    assert (angles * factor / factor * factor == angles * factor).all()


def test_an_interrupted_run_has_the_rows_that_it_had(tmp_path):
    run = armsim.simulate("arm5_hold", SHORT)
    for rows in (8, 1, 0):
        run.cut_short(rows)
        found = armsim.load_run(run.save(tmp_path / f"{rows}"))
        same(found, run)
        assert (found.status, found.count, found.table.shape) == ("interrupted", rows, (rows, len(run.columns)))


@pytest.mark.slow
def test_rows_of_a_long_run_are_read_block_by_block(tmp_path, monkeypatch):
    asked = {"duration": 10.0, "log.every": 1e-3}
    with monkeypatch.context() as patch:
        patch.setattr(row_log, "IN_MEMORY", 50_000)
        patch.setattr(row_log, "BLOCK", 20_000)
        _, folder = simulate_into(Destination(tmp_path / "run"), read_scenario("two_link_hold", asked))
    monkeypatch.setattr(csv_reader, "BLOCK", 10_000)
    run = armsim.simulate("two_link_hold", asked)
    found = armsim.load_run(folder)
    tracemalloc.start()
    blocks = [(first, len(block)) for first, block in found.rows.blocks()]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < run.table.nbytes / 4
    assert len(blocks) > 20
    assert sum(length for _, length in blocks) == run.table.size
    assert found.table.tobytes() == run.table.tobytes()
    assert vars(found.totals) == vars(run.totals)


def test_a_loaded_run_measures_what_it_did_not(tmp_path):
    run = armsim.simulate("arm5_hold", SHORT)
    found = armsim.load_run(run.save(tmp_path / "run"))
    assert found.measure("rms_error_R2") == run.measure("rms_error_R2")


def test_the_rows_of_a_run_need_no_file_of_its_inputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "u.csv").write_text("t_s,u\n0,1\n1,2\n")
    asked = {"inputs": {"torque": [{"csv": str(tmp_path / "u.csv"), "column": "u"}, 0.5]}, "duration": 0.1}
    run = armsim.simulate("rr_config5", asked)
    run.save(tmp_path / "run")
    (tmp_path / "u.csv").unlink()
    found = armsim.load_run("run/run.yaml")
    assert found.q.tobytes() == run.q.tobytes()
    assert found.summary() == run.summary()
    with pytest.raises(FileFaults, match=r"u\.csv"):
        found.save("again")


@pytest.mark.parametrize("case", ["complete", "diverged"])
@pytest.mark.handful(1)
def test_a_recording_is_a_run_with_its_full_state(case, tmp_path):
    asked = {"control.period": 1e-3, "duration": 0.1}
    if case == "diverged":
        asked = {"integrator.dt": 2e-3, "control.period": 2e-3, "duration": 1}
    recording = armsim.record("arm5_hold", asked, force_step=True)
    found = armsim.load_run(recording.save(tmp_path / "run"))
    assert isinstance(found, armsim.Run)
    same(found, recording)
    assert found.status == case
    assert found["q_R1_rad"].tolist() == recording.states[:, 0].tolist()
    assert found["q_R1_deg"].tolist() == np.degrees(recording.states[:, 0]).tolist()
    assert found["voltage_R2_V"].tolist() == recording.inputs[:, 1].tolist()
    assert found.q.tolist() == recording.states[:, :5].tolist()
    assert (found.divergence, found.audit) == (recording.divergence, recording.audit)
    assert contents(found.save(tmp_path / "again")) == contents(tmp_path / "run")
    same(pickle.loads(pickle.dumps(found)), recording)
    assert armsim.replay(found).comparison.equal
    assert found.steps_chosen == recording.steps_chosen
    assert f"samples  {found.count}, each with {len(found.slots)} numbers" in found._repr_html_()
    with pytest.raises(UsageError, match="a recording, which has samples alone"):
        found.measure("rms_error_R1")
    with pytest.raises(UsageError, match="a recording in radians"):
        found.save(tmp_path / "deg", degrees=True)


@pytest.mark.slow
def test_a_loaded_run_is_drawn_as_the_folder_is(tmp_path):
    pytest.importorskip("matplotlib")
    for run in (made("simulated"), armsim.record("arm5_hold", {"control.period": 1e-3, "duration": 0.1})):
        folder = run.save(tmp_path / type(run).__name__)
        first, second = armsim.plot(folder), armsim.plot(armsim.load_run(folder))
        assert first.get_suptitle() == second.get_suptitle()
        for ours, theirs in zip(first.axes, second.axes, strict=True):
            assert [x.get_xydata().tolist() for x in ours.lines] == [x.get_xydata().tolist() for x in theirs.lines]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return armsim.simulate("two_link_hold", {"duration": 0.1}).save(tmp_path_factory.mktemp("saved") / "run")


DAMAGES = {
    "another version": ("run.yaml", "armsim/run/1", "armsim/run/2", r"run\.yaml:\d+:\d+: format\n.*\n  found: .*run/2"),
    "another status": ("run.yaml", "status: complete", "status: done", r"run\.yaml:\d+:\d+: status\n  expected: complete or"),
    "no rows": ("run.yaml", "rows:", "lines:", r"rows\n  expected: a whole number, 0 or more\n  found:    nothing"),
    "rows that are none": ("run.yaml", r"rows: \d+", "rows: many", r"run\.yaml:\d+:\d+: rows"),
    "rows below none": ("run.yaml", r"rows: \d+", "rows: -3", r"run\.yaml:\d+:\d+: rows"),
    "rows that are not there": ("run.yaml", r"rows: (\d+)", r"rows: 9\1", r"rows, as run\.yaml says"),
    "no state": ("run.yaml", r"  state:", "  other:", r"reached\.state"),
    "no results": ("run.yaml", r"results:", "other:", r"results\.measures"),
    "no robot": ("run.yaml", r"\n  robot:", "\n  other:", r"scenario\.robot"),
    "a robot of another kind": ("run.yaml", r"      type: revolute", "      type: bent", r"joints\[0\]"),
    "a cell": ("torque.csv", r"\n0(\.0)?,[^,]*", "\n0,x", r"torque\.csv:2:\d+: \w+\n  expected: a finite number"),
    "a missing cell": ("torque.csv", r"\n0(\.0)?,[^,]*", "\n0,", r"torque\.csv:2:\d+: \w+\n  expected: a finite number"),
    "a row": ("torque.csv", r"\n0(\.0)?,[^,]*,", "\n0,", r"torque\.csv:2:\d+"),
    "a column": ("trajectory.csv", "qd_[^,]*", "other", r"trajectory\.csv:1:1\n  expected: a column `qd_"),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_told_with_file_and_line(damage, folder, tmp_path):
    name, before, after, told = DAMAGES[damage]
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    text = (copy / name).read_text()
    (copy / name).write_text(re.sub(before, after, text, count=1))
    assert (copy / name).read_text() != text
    with pytest.raises(FileFaults, match=told):
        armsim.load_run(copy).table  # noqa: B018  that is when it is read


@pytest.mark.parametrize(("kind", "stride"), [("run", 5), ("run", 1), ("recording", 1)])
@pytest.mark.handful(1)
def test_whatever_stands_in_a_run_yaml_is_refused_in_words_or_read(kind, stride, folder, tmp_path):
    copy = folder if kind == "run" else tmp_path / "recording"
    if kind == "recording":
        armsim.record("two_link_swing", {"duration": 0.1}).save(copy)
    copy = shutil.copytree(copy, tmp_path / "copy")
    lines = (copy / "run.yaml").read_text().splitlines()
    keys = [k for k, line in enumerate(lines) if re.match(r"( {2})?\w+:", line)][::stride]
    refused = 0
    for k in keys:
        indent = " " * (len(lines[k]) - len(lines[k].lstrip()))
        rest = list(lines[k + 1 :])
        while rest and rest[0].startswith((f"{indent} ", f"{indent}-")):
            del rest[0]
        for value in (("x", "[1, 2]"), ("-1", "{a: b}"))[k % 2]:
            (copy / "run.yaml").write_text("\n".join([*lines[:k], f"{lines[k].split(':')[0]}: {value}", *rest]))
            try:
                run = armsim.load_run(copy)
                run.summary(), run.advice, run.count
            except ArmsimError:
                refused += 1
    assert refused > len(keys) / 2


def test_what_is_no_run_is_refused(folder, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/run.yaml").write_text("model: mine\n")
    (tmp_path / "bare").mkdir()
    shutil.copy(folder / "run.yaml", tmp_path / "bare")
    for name, found in {
        "none": "no folder of this name",
        "empty": "a folder without a run.yaml of armsim",
        "foreign": "a folder without a run.yaml of armsim",
        "bare": "a folder without tables of rows",
    }.items():
        with pytest.raises(UsageError, match=f"found:    {found}"):
            armsim.load_run(tmp_path / name)
    for ask in (armsim.plot, lambda x: armsim.compare(x, x), lambda x: armsim.report(x, tmp_path / "page.html")):
        copy = tmp_path / "later"
        shutil.copytree(folder, copy, dirs_exist_ok=True)
        (copy / "run.yaml").write_text("format: armsim/run/2\n")
        with pytest.raises(ArmsimError, match="armsim/run/2"):
            ask(copy)
