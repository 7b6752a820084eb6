"""Logs that memory does not hold: the same files, summaries and answers as of those that it holds."""

from __future__ import annotations

import ctypes
import errno
import gc
import os
import pickle
import re
import tracemalloc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import armsim
from armsim.clock import Clock
from armsim.files.csv_writer import CsvFile
from armsim.files.destination import Destination
from armsim.files.known_data import KnownData
from armsim.loading import read_scenario
from armsim.simulation import row_log, run_files
from armsim.simulation.execution import Execution
from armsim.simulation.row_log import RowsInMemory, RowStream
from armsim.simulation.row_totals import Extremes, Path, RowTotals
from armsim.simulation.runner import Runner
from armsim.simulation.simulate import simulate_into

LOGGED = {"duration": 0.5, "log.every": 1e-3}
FAR = {"robot.joints[R4].limits.upper": 0.2, "control.target[3]": 1.0, "control.target[2]": 0.9}  # R4 and, later, R3
CASES = {
    "complete": ("arm5_hold", LOGGED),
    "the last row is no whole block": ("two_link_hold", {**LOGGED, "log.every": 7e-3}),
    "out of its range": ("arm5_hold", {**LOGGED, **FAR}),
    "adaptive": ("arm5_hold", {**LOGGED, "integrator": {"method": "rodas"}}),
    "diverged": ("two_link_hold", {"duration": 5, "control.kd": -5, "log.every": 1e-3}),
}


@pytest.fixture
def small(monkeypatch):
    """Lets memory hold a byte less than so many rows, and blocks have fewer."""

    def hold(rows: int, width: int = 30, block: int = 13):
        monkeypatch.setattr(row_log, "IN_MEMORY", rows * width * 8 - 1)
        monkeypatch.setattr(row_log, "BLOCK", block * width * 8)

    return hold


@pytest.fixture
def armsim_command(tmp_path, monkeypatch, capsys):
    """Runs armsim in this process, in an empty folder: exit code and standard error."""
    from armsim.cli.main import main

    monkeypatch.chdir(tmp_path)

    def run(*args) -> SimpleNamespace:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(list(args))
        return SimpleNamespace(code=ended.value.code, err=capsys.readouterr().err)

    return run


def content(folder) -> tuple[bytes, bytes, dict]:
    record = yaml.safe_load((folder / "run.yaml").read_text())
    del record["seconds"]
    return (folder / "trajectory.csv").read_bytes(), (folder / "torque.csv").read_bytes(), record


@pytest.mark.parametrize(("scenario", "overrides"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("degrees", [False, True])
@pytest.mark.handful(1)
def test_a_streamed_run_has_the_files_of_one_in_memory(scenario, overrides, degrees, small, tmp_path):
    run = armsim.simulate(scenario, overrides, force_step=True)
    run.save(tmp_path / "kept", degrees=degrees)
    small(run.count, len(run.plant.layout.columns))  # so that the diagnosis of a divergence still has all rows
    streamed, folder = simulate_into(
        Destination(tmp_path / "streamed"),
        read_scenario(scenario, overrides),
        Execution(force_step=True),
        degrees=degrees,
    )
    assert streamed.rows.skipped == 0
    assert streamed.rows.totals is not None  # it was streamed
    assert content(folder) == content(tmp_path / "kept")
    small(1)
    scant, folder = simulate_into(
        Destination(tmp_path / "scant"), read_scenario(scenario, overrides), Execution(force_step=True), degrees=degrees
    )
    assert (scant.rows.skipped > 0, scant.count) == (True, run.count)
    assert content(folder)[:2] == content(tmp_path / "kept")[:2]


@pytest.mark.parametrize(("scenario", "overrides"), CASES.values(), ids=CASES)
@pytest.mark.handful(1)
def test_a_spilled_run_answers_as_one_in_memory(scenario, overrides, small, tmp_path):
    kept = armsim.simulate(scenario, overrides, force_step=True)
    small(kept.count, len(kept.plant.layout.columns))
    run = armsim.simulate(scenario, overrides, force_step=True)
    assert isinstance(run.table, np.memmap)
    assert not isinstance(kept.table, np.memmap)
    assert np.array_equal(run.table, kept.table)
    assert np.array_equal(run.t, kept.t)
    assert (run.row(0), run.row(-1), run.status) == (kept.row(0), kept.row(-1), kept.status)
    assert {**run.summary(), "seconds": 0, "steps_per_second": 0} == {
        **kept.summary(), "seconds": 0, "steps_per_second": 0,
    }  # fmt: skip
    copied = pickle.loads(pickle.dumps(run))
    assert np.array_equal(copied.table, kept.table)
    assert copied.summary() == run.summary()
    run.save(tmp_path / "run")
    kept.save(tmp_path / "kept")
    assert content(tmp_path / "run") == content(tmp_path / "kept")


@pytest.mark.slow
def test_prepared_runs_spill_with_the_limits_of_their_own_numbers(small):
    prepared = armsim.prepare("arm5_hold", ["robot.joints[R4].limits.upper"], LOGGED)
    found = []
    for hold in (1000, 1):
        small(hold, 60)
        runs = [prepared({"robot.joints[R4].limits.upper": upper}) for upper in (0.2, 0.8)]
        assert [run.rows.spilled is None for run in runs] == [hold > 1] * 2
        found.append([run.summary()["outside_limits"] for run in runs])
    assert found[0] == found[1]
    assert [bool(outside) for outside in found[0]] == [True, False]


@pytest.mark.slow
def test_the_temporary_file_goes_away_with_the_run(small):
    small(1)
    run = armsim.simulate("two_link_hold", LOGGED)
    table, file = run.table, weakref.ref(run.rows.spilled)
    last = table[-1].tolist()
    del run
    gc.collect()
    assert table[-1].tolist() == last  # what was taken from it stays
    del table
    gc.collect()
    assert file() is None


def test_a_spilled_run_keeps_the_rows_that_found_room(small, monkeypatch):
    kept = armsim.simulate("two_link_hold", LOGGED)
    small(1)
    write, left = row_log.Spill.write, [50_000]

    def fill(self, block, first, count):
        left[0] -= block.nbytes
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(self, block, first, count)

    monkeypatch.setattr(row_log.Spill, "write", fill)
    run = armsim.simulate("two_link_hold", LOGGED)
    assert (run.status, run.failure) == ("interrupted", "No space left on device")
    assert 0 < run.count < kept.count
    assert np.array_equal(run.table, kept.table[: run.count])


def test_a_fault_of_the_writing_thread_ends_the_run_with_it(small, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError("in the thread")

    small(1)
    monkeypatch.setattr(row_log.Spill, "write", fail)
    with pytest.raises(ZeroDivisionError, match="in the thread"):
        armsim.simulate("two_link_hold", LOGGED)


def test_rows_that_went_to_the_files_are_not_answered_for(small, tmp_path):
    small(1)
    run, _ = simulate_into(Destination(tmp_path / "run"), read_scenario("two_link_hold", LOGGED))
    for ask in (lambda: run.table, lambda: run.q, lambda: run.row(0)):
        with pytest.raises(armsim.UsageError, match="are in its folder"):
            ask()


def test_without_a_folder_for_the_temporary_file_it_says_what_to_do(small, monkeypatch, told):
    import tempfile

    def fails(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", fails)
    small(1)
    with pytest.raises(armsim.UsageError) as refused:
        armsim.simulate("two_link_hold", LOGGED)
    told(refused.value)


def test_a_disk_that_cannot_hold_the_rows_is_told_before_the_run(small, monkeypatch, tmp_path):
    import shutil

    small(1)
    free = SimpleNamespace(free=50_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda place: free)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(armsim.UsageError) as refused:
        armsim.simulate("two_link_hold", LOGGED)
    assert re.search(rf"found:    0\.05 MB of 0\.1\d+ MB in {tmp_path}\n", str(refused.value))
    free.free = 500
    with pytest.raises(armsim.UsageError) as refused:
        simulate_into(Destination(tmp_path / "run"), read_scenario("two_link_hold", LOGGED))
    assert str(refused.value) == (
        f"{tmp_path / 'run'}\n  expected: room for the rows, at least 0.0311 MB\n  found:    0.0005 MB\n"
        "  mend:     make room, or log less often"
    )
    assert os.listdir(tmp_path) == []


def test_a_run_that_is_interrupted_keeps_every_row_once(small, tmp_path):
    small(1)
    whole, _ = simulate_into(
        Destination(tmp_path / "whole"), read_scenario("two_link_hold", {"duration": 20, "log.every": 1e-3})
    )

    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    run, folder = simulate_into(
        Destination(tmp_path / "half"),
        read_scenario("two_link_hold", {"duration": 20, "log.every": 1e-3}),
        progress=stop,
    )
    assert (run.status, run.count) == ("interrupted", run.steps)
    assert whole.steps // 2 < run.steps < whole.steps
    lines = (tmp_path / "whole/trajectory.csv").read_bytes().splitlines()
    assert (folder / "trajectory.csv").read_bytes().splitlines() == lines[: 1 + run.count]
    assert yaml.safe_load((folder / "run.yaml").read_text())["status"] == "interrupted"


class Taken:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.rows: list[float] = []

    def write(self, block, first, count) -> None:
        assert first == len(self.rows)
        self.rows += block.tolist()

    def cut(self) -> int:
        return len(self.rows)


def counted(log, blocks: int, interrupted=lambda k: None) -> int:
    """Fill a log of rows of one number with 0, 1, 2, ...; the number reached."""
    reached = 0
    for k in range(blocks):
        try:
            interrupted(k)
            room = (ctypes.c_double * 3).from_address(log.space(reached).address)
        except KeyboardInterrupt:
            break
        room[:3] = [reached, reached + 1, reached + 2]
        reached += 3
    return reached


def totals() -> RowTotals:
    return RowTotals(1, {}, [], Path([]), {}, Extremes(0), Extremes(0))


@pytest.mark.parametrize("taken", [False, True])
@pytest.mark.parametrize("at", range(1, 6))
def test_ctrl_c_while_a_block_is_handed_over_neither_loses_nor_doubles_rows(taken, at):
    sink = Taken()
    log = RowStream(sink, totals())
    queue = log._filled

    class Interrupted:
        """The queue on whose next `put` Ctrl-C comes, before it has the block or after."""

        def put(self, block):
            log._filled = queue
            if taken:
                queue.put(block)
            raise KeyboardInterrupt

    def interrupted(k):
        if k == at:
            log._filled = Interrupted()

    reached = counted(log, 9, interrupted)
    kept = log.finish(reached, None)
    assert reached == 3 * at
    assert sink.rows == list(range(reached))
    assert (kept.count, list(kept.numbers)) == (reached, sink.rows)


@pytest.mark.parametrize("make", [lambda: RowsInMemory(1, 10), lambda: RowStream(Taken(), totals())])
def test_the_row_of_the_end_is_appended_and_one_that_is_not_finite_is_left_out(make):
    for end, expected in (([7.0], [0, 1, 2, 7]), (None, [0, 1, 2]), ([float("nan")], [0, 1, 2])):
        log = make()
        kept = log.finish(counted(log, 1), end)
        assert list(kept.numbers)[: kept.count] == expected
        log.close()


def test_the_loop_waits_for_a_sink_that_is_slower_and_no_more_blocks_are_made(small):
    import threading

    small(1, 1, 3)
    go, seen = threading.Event(), set()

    class Slow(Taken):
        def write(self, block, first, count):
            assert go.wait(60)
            seen.add(ctypes.addressof(ctypes.c_char.from_buffer(block)))
            super().write(block, first, count)

    log = RowStream(Slow(), totals())
    threading.Timer(0.2, go.set).start()
    kept = log.finish(counted(log, 100), None)
    assert kept.count == 300
    assert len(seen) <= row_log.BLOCKS


def test_memory_does_not_grow_with_the_number_of_rows(small, tmp_path):
    small(100, 30, 100)
    peaks = []
    for duration in (0.5, 0.5, 2):  # the first one also fills caches
        tracemalloc.start()
        run, _ = simulate_into(
            Destination(tmp_path / "run", force=True),
            read_scenario("two_link_hold", {"duration": duration, "log.every": 1e-3}),
        )
        run.summary()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < peaks[1] + 1_500 * len(
        run.plant.layout.columns
    )  # a byte for each number more; to keep it takes eight


@pytest.mark.parametrize("after", [2_000, 9_000, 60_000])  # bytes, the headings take some 600
@pytest.mark.handful(1)
def test_on_a_full_disk_the_rows_that_are_whole_stay_and_it_is_said(
    after, small, armsim_command, monkeypatch, tmp_path
):
    small(1)
    armsim_command("simulate", "two_link_hold", "--set", "log.every=1e-3", "-q", "-o", "whole")
    write, left = CsvFile._all, [after]

    def fill(self, text):
        part = text[: left[0]]
        left[0] -= len(part)
        write(self, part)
        if len(part) < len(text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(CsvFile, "_all", fill)
    monkeypatch.setattr(KnownData, "data", lambda self: None)
    failed = armsim_command("simulate", "two_link_hold", "--set", "log.every=1e-3", "-q", "-o", "full")
    record = yaml.safe_load((tmp_path / "full/run.yaml").read_text())
    rows = record["rows"]
    assert (failed.code, record["status"]) == (2, "interrupted")
    assert failed.err == (
        f"full\n  expected: room for the rows\n  found:    No space left on device after {rows} rows\n"
        "  mend:     make room, or log less often\n"
        "            (full has these rows, and the run is marked as interrupted)\n"
    )
    for name in ("trajectory.csv", "torque.csv"):
        whole = (tmp_path / "whole" / name).read_bytes().splitlines(keepends=True)
        assert (tmp_path / "full" / name).read_bytes() == b"".join(whole[: 1 + rows])
    assert (rows > 0) == (after == 60_000)


def test_ctrl_c_before_the_last_row_leaves_an_interrupted_run(monkeypatch):
    whole = armsim.simulate("rr_config1", {"duration": 0.2})
    row, calls = Runner.row, []

    def interrupted(self):
        calls.append(self)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return row(self)

    monkeypatch.setattr(Runner, "row", interrupted)
    found = armsim.simulate("rr_config1", {"duration": 0.2})
    assert (found.status, found.count, found.end) == ("interrupted", whole.count - 1, whole.end)


def test_of_many_rows_a_diagnosis_looks_at_the_last_ones_that_memory_holds(monkeypatch):
    monkeypatch.setattr(row_log, "IN_MEMORY", 10 * 3 * row_log.DOUBLE)
    for count, seen in ((100, 10), (4, 4)):
        table = np.arange(3.0 * count).reshape(count, 3)
        first, numbers = row_log.ArrayRows.of(table, None).latest()
        assert (first, numbers.tolist()) == (count - seen, table[-seen:].ravel().tolist())


@pytest.mark.parametrize("own", [None, [0.3 * k for k in range(25)]])
def test_every_row_of_a_table_has_its_time_however_many_are_written_at_once(own, monkeypatch):
    width, size = 2, 2 * row_log.DOUBLE
    monkeypatch.setattr(row_log, "IN_MEMORY", 10 * size)
    monkeypatch.setattr(run_files, "BLOCK", 4 * size)
    table, written = np.arange(25.0 * width).reshape(25, width), []

    class Table(SimpleNamespace):
        def add(self, block, width, count, times):
            written.extend([t, *block[k * width : (k + 1) * width]] for k, t in enumerate(times))

    files = run_files.RunFiles([lambda: Table(length=1, close=lambda: None)], width, Clock(1, 1000, 50, log_every=2))
    files.take(row_log.ArrayRows.of(table, None if own is None else np.array(own)))
    times = own or [2 * k / 1000 for k in range(25)]
    assert written == [[t, *row] for t, row in zip(times, table.tolist(), strict=True)]
    assert files.rows == 25


def test_on_a_full_disk_tables_lose_a_whole_block_more_for_the_room_of_run_yaml():
    class Table(SimpleNamespace):
        def add(self, block, width, count, times):
            self.length += self.grows

        def cut(self, length):
            self.length = length

    for grows, rows, length in ((100, 8, 201), (0, 0, 0)):  # the last: as one that writes when it is closed
        table = Table(length=1 if grows else 0, grows=grows, close=lambda: None)
        files = run_files.RunFiles([lambda table=table: table], 2, Clock(1, 1000, 50))
        for first in (0, 4, 8):
            files.write(memoryview(np.zeros(8)), first, 4)
        assert (files.cut(), files.rows, table.length) == (rows, rows, length)
