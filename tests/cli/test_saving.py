"""What was computed is not lost: targets are tried before the work, and what cannot be saved in one place is in another."""

from __future__ import annotations

import errno
import os
import signal

import pytest
import yaml

from armsim.files import folder_kind
from armsim.files.csv_writer import CsvFile, CsvTable
from armsim.files.known_data import KnownData
from armsim.recording import recording
from armsim.simulation import run_files
from armsim.simulation.run_files import RunFiles

RUN = ("simulate", "rr_config1", "--set", "log.every=2e-3", "--set", "duration=2", "-o", "out")
RECORD = ("record", "rr_config1", "--set", "log.every=2e-3", "--set", "duration=2", "-o", "out")
FULL = os.strerror(errno.ENOSPC)


@pytest.fixture
def elsewhere(tmp_path_factory, monkeypatch):
    """Where temporary files go."""
    folder = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def tables(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "run.yaml"}


@pytest.mark.parametrize("target", ["file/out", "/proc/armsim/out"])
@pytest.mark.parametrize("command", ["simulate", "record"])
def test_a_folder_that_cannot_be_written_is_refused_before_the_run(target, command, armsim, empty_folder, monkeypatch):
    def run(*args, **options):
        raise AssertionError("it ran")

    monkeypatch.setattr("armsim.simulation.simulate._ready", run)
    monkeypatch.setattr("armsim.recording.record._recorded", run)
    (empty_folder / "file").write_text("mine")
    wrong = armsim(command, "rr_config1", "-o", target)
    assert (wrong.code, wrong.out) == (2, "")
    assert "\n  expected: a folder that can be written\n  found:    " in wrong.err
    assert os.listdir(empty_folder) == ["file"]


@pytest.mark.parametrize(
    "command",
    [
        ("inverse", "rr", "--trajectory", "out/trajectory.csv", "-o", "file/tau.csv"),
        ("linearize", "rr_config1", "-o", "file/linear.npz"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_the_work(command, armsim, empty_folder, monkeypatch, told):
    armsim(*RUN, "-q")
    (empty_folder / "file").write_text("mine")
    monkeypatch.setattr("armsim.loading.read_robot", None)
    monkeypatch.setattr("armsim.linear.linearize.linearize", None)
    wrong = armsim(*command)
    assert (wrong.code, wrong.out) == (2, "")
    told(wrong.err)


def test_a_picture_that_cannot_be_written_is_refused_before_it_is_drawn(armsim, empty_folder):
    armsim(*RUN, "-q")
    (empty_folder / "picture.png").mkdir()
    wrong = armsim("compare", "out", "nowhere", "--plot", "picture.png")
    assert wrong.err.startswith("--plot picture.png\n  expected: a file that can be written\n  found:    a folder\n")


def test_a_picture_that_fails_leaves_the_one_before(armsim, empty_folder, monkeypatch):
    from matplotlib.figure import Figure

    def failing(self, file, **options):
        file.write(b"half")
        raise OSError(errno.ENOSPC, FULL)

    armsim(*RUN, "-q")
    (empty_folder / "picture.png").write_text("before")
    monkeypatch.setattr(Figure, "savefig", failing)
    wrong = armsim("compare", "out", "out", "--plot", "picture.png", "--force")
    assert (wrong.code, f"found:    {FULL}" in wrong.err) == (2, True)
    assert (empty_folder / "picture.png").read_text() == "before"
    assert sorted(os.listdir(empty_folder)) == ["out", "picture.png"]


def fill(monkeypatch, where, room: int) -> None:
    """Let a disk have so much room [bytes] for the tables in a folder, and no run be known."""
    monkeypatch.setattr(KnownData, "data", lambda self: None)
    write, left = CsvFile._all, [room]

    def limited(self, text):
        if not self._path.startswith(str(where)):
            return write(self, text)
        part = text[: left[0]]
        left[0] -= len(part)
        write(self, part)
        if len(part) < len(text):
            raise OSError(errno.ENOSPC, FULL)
        return None

    monkeypatch.setattr(CsvFile, "_all", limited)


def test_a_run_that_finds_no_room_is_whole_where_there_is(armsim, empty_folder, elsewhere, monkeypatch):
    armsim(*RUN, "-q")
    fill(monkeypatch, empty_folder, 100_000)
    failed = armsim(*RUN[:-1], "again")
    assert (failed.code, failed.out) == (2, "")
    kept = failed.err.split("the run is whole in ")[1].removesuffix(": move it\n")
    assert failed.err == (
        "again\n  expected: a folder that can be written\n"
        f"  found:    {FULL}\n  mend:     the run is whole in {kept}: move it\n"
    )
    assert kept.startswith(str(elsewhere))
    assert tables(type(empty_folder)(kept)) == tables(empty_folder / "out")
    assert os.listdir(empty_folder) == ["out"]
    assert armsim("compare", kept, "out").code == 0


def test_where_there_is_no_room_at_all_the_rows_that_found_some_are_kept(armsim, empty_folder, elsewhere, monkeypatch):
    armsim(*RUN, "-q")
    monkeypatch.setattr(run_files, "BLOCK", 100 * 8 * 30)
    fill(monkeypatch, "", 100_000)
    failed = armsim(*RUN[:-1], "again")
    record = yaml.safe_load((empty_folder / "again/run.yaml").read_text())
    assert (failed.code, record["status"]) == (2, "interrupted")
    assert 0 < record["rows"] < 1000
    assert f"found:    {FULL} after {record['rows']} rows\n" in failed.err
    assert "(again has these rows, and the run is marked as interrupted)" in failed.err
    for name, whole in tables(empty_folder / "out").items():
        kept = whole.splitlines(keepends=True)[: 1 + record["rows"]]
        assert (empty_folder / "again" / name).read_bytes() == b"".join(kept)


def test_a_recording_that_finds_no_room_is_whole_where_there_is(armsim, empty_folder, elsewhere, monkeypatch):
    armsim(*RECORD, "-q")
    conclude = recording.NewFolder.conclude

    def full(self):
        if self.hidden.startswith(str(empty_folder)):
            raise OSError(errno.ENOSPC, FULL)
        return conclude(self)

    monkeypatch.setattr(recording.NewFolder, "conclude", full)
    failed = armsim(*RECORD[:-1], "again")
    kept = failed.err.split("the run is whole in ")[1].removesuffix(": move it\n")
    assert failed.code == 2
    assert tables(type(empty_folder)(kept)) == tables(empty_folder / "out")
    assert armsim("replay", kept).code == 0
    assert os.listdir(empty_folder) == ["out"]


@pytest.fixture
def heeding():
    """Whatever the shell that started the tests does with Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pressed_while(monkeypatch, what, name: str, call: int) -> None:
    """Have Ctrl-C pressed while a method of a class is called for the nth time."""
    calls, method = [0], getattr(what, name)

    def press(self, *args):
        calls[0] += 1
        if calls[0] == call:
            os.kill(os.getpid(), signal.SIGINT)
        return method(self, *args)

    monkeypatch.setattr(what, name, press)


def test_ctrl_c_while_saving_keeps_whole_rows(armsim, empty_folder, heeding, monkeypatch):
    armsim(*RUN, "-q")
    monkeypatch.setattr(KnownData, "data", lambda self: None)
    monkeypatch.setattr(run_files, "BLOCK", 100 * 8 * 30)
    pressed_while(monkeypatch, RunFiles, "write", 4)
    stopped = armsim(*RUN[:-1], "again")
    record = yaml.safe_load((empty_folder / "again/run.yaml").read_text())
    assert (stopped.code, record["status"]) == (130, "interrupted")
    assert "(interrupted)" in stopped.out
    assert f"({record['rows']} rows)" in stopped.out
    for name, whole in tables(empty_folder / "out").items():
        kept = whole.splitlines(keepends=True)[: 1 + record["rows"]]
        assert 0 < record["rows"] < len(whole.splitlines()) - 1
        assert (empty_folder / "again" / name).read_bytes() == b"".join(kept)


def test_ctrl_c_while_a_recording_is_saved_keeps_whole_samples_that_replay(armsim, empty_folder, heeding, monkeypatch):
    monkeypatch.setattr(run_files, "BLOCK", 100 * 8 * 11)  # of rows of nine columns and two energies
    pressed_while(monkeypatch, CsvTable, "add", 4)
    stopped = armsim(*RECORD)
    record = yaml.safe_load((empty_folder / "out/run.yaml").read_text())
    assert (stopped.code, record["status"]) == (130, "interrupted")
    assert record["recording"]["samples"] == 400
    assert armsim("replay", "out").out.startswith("out: 400 samples over 0.798 s")


@pytest.mark.parametrize("command", [RUN, RECORD])
def test_ctrl_c_once_all_is_written_comes_too_late(command, armsim, empty_folder, heeding, monkeypatch):
    pressed_while(monkeypatch, recording.NewFolder, "finish", 1)
    assert armsim(*command).code == 0
    assert folder_kind.RUN.holds(empty_folder / "out")
    assert os.listdir(empty_folder) == ["out"]


def test_files_of_others_are_named_and_stay(armsim, empty_folder):
    armsim(*RUN, "-q")
    (empty_folder / "out/notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in (empty_folder / "out").iterdir()}
    wrong = armsim(*RUN, "--force")
    assert (wrong.code, wrong.out) == (2, "")
    assert "found:    an earlier run, and files that armsim did not write: notes.txt\n" in wrong.err
    assert {path.name: path.read_bytes() for path in (empty_folder / "out").iterdir()} == before


def test_the_folder_that_the_shell_is_in_is_written_into(armsim, empty_folder):
    before = os.stat(".").st_ino
    assert armsim(*RUN[:-1], ".").code == 0
    assert sorted(os.listdir(".")) == ["run.yaml", "torque.csv", "trajectory.csv"]
    assert os.stat(empty_folder).st_ino == before
    wrong = armsim(*RUN[:-1], ".", "--force")
    assert (wrong.code, "leave it first (cd ..)" in wrong.err) == (2, True)
    assert os.stat(empty_folder).st_ino == before


def test_what_a_killed_process_left_half_done_is_told_once(armsim, empty_folder):
    armsim(*RUN, "-q")
    os.rename("out", ".out.0123456789ab.old")
    again = armsim(*RUN)
    assert again.code == 2
    note, refused = again.err.splitlines()[:2]
    assert (
        note == f"! {empty_folder}/out: a run that was stopped while it replaced an earlier one is under its name now"
    )
    assert refused == "out"
    assert "!" not in armsim(*RUN, "--force", "-q").err


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("export", "rr", "--to", "python", "--what", "fk", "-o", "out", "--force"), "rr.py"),
        (("draw", "rr", "-o", "out/rr.svg", "--force"), "rr.svg"),
        (("view", "rr", "-o", "out/rr.html", "--force"), "rr.html"),
        (("linearize", "rr_config5", "-o", "out/rr.npz", "--force"), "rr.npz"),
    ],
)
def test_force_writes_through_no_link(armsim, empty_folder, command, name):
    (empty_folder / "out").mkdir()
    (empty_folder / "mine").write_text("mine")
    (empty_folder / "out" / name).symlink_to(empty_folder / "mine")
    done = armsim(*command)
    assert (done.code, done.err) == (0, "")
    assert (empty_folder / "mine").read_text() == "mine"
    assert (empty_folder / "out" / name).is_file()
    assert not (empty_folder / "out" / name).is_symlink()


@pytest.mark.parametrize("command", [("export", "rr", "--to", "python", "-o", "a/b"), ("new", "own")])
def test_a_full_disk_leaves_no_empty_folder(armsim, empty_folder, command, monkeypatch):
    def full(path):
        raise OSError(errno.ENOSPC, FULL)

    monkeypatch.setattr("armsim.files.claim.flush", full)
    wrong = armsim(*command)
    assert (wrong.code, f"found:    {FULL}" in wrong.err) == (2, True)
    assert os.listdir(empty_folder) == []
