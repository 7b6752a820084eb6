"""Folders appear whole, and never over something else."""

import errno
import os
import signal
import threading

import pytest

from armsim.errors import UsageError
from armsim.files import claim, exchange, new_folder
from armsim.files.claim import Claim
from armsim.files.destination import Destination
from armsim.files.folder_kind import RUN, RUN_FORMAT
from armsim.files.new_folder import check_target
from armsim.files.recovery import recover
from armsim.files.shipped import shipped_names, shipped_path


def write(folder, text="x", meanwhile=lambda: None, **options):
    with new_folder.new_folder(RUN, "demo", Destination(folder, **options)) as made:
        meanwhile()
        with open(made.file("run.yaml"), "w") as file:
            file.write(f"format: {RUN_FORMAT}\n")
        with open(made.file("trajectory.csv"), "w") as file:
            file.write(text)
    return made.path


def refusal(folder, text="x", **options) -> str:
    with pytest.raises(UsageError) as caught:
        write(folder, text, **options)
    return str(caught.value)


@pytest.fixture(params=["at once", "one after the other"])
def exchanging(request, monkeypatch):
    """With the system's exchange of two names, and without."""
    if request.param != "at once":
        monkeypatch.setattr(exchange, "_renamer", lambda: None)
    elif exchange._renamer() is None:
        pytest.skip("this system has no exchange of names")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_runs_without_a_folder_are_numbered():
    assert write(None) == os.path.join("runs", "demo-001")
    assert write(None) == os.path.join("runs", "demo-002")
    os.makedirs("runs/demo-041")
    assert write(None) == os.path.join("runs", "demo-042")
    assert sorted(os.listdir("runs")) == ["demo-001", "demo-002", "demo-041", "demo-042"]


def test_an_absent_and_an_empty_folder_are_written(here):
    (here / "empty").mkdir()
    for folder in ("empty", "deep/new", here / "path"):
        assert write(folder) == str(folder)
        assert sorted(os.listdir(folder)) == ["run.yaml", "trajectory.csv"]
        assert RUN.holds(folder)


def test_an_earlier_run_is_replaced_by_force_only(here, exchanging, told):
    write("out", "first")
    told(refusal("out", "second"))
    write("out", "second", force=True)
    assert (here / "out" / "trajectory.csv").read_text() == "second"
    assert os.listdir(".") == ["out"]


def test_a_run_with_files_of_others_is_not_replaced_and_they_are_named(here, told):
    write("out", "first")
    for name in ("notes.txt", "plot.png", *(f"z{i}" for i in range(9)), ".DS_Store"):
        (here / "out" / name).write_text("mine")
    told(refusal("out", "second", force=True))
    assert (here / "out" / "trajectory.csv").read_text() == "first"
    assert len(os.listdir("out")) == 14


def test_what_file_managers_leave_in_a_run_hinders_nothing(here):
    write("out", "first")
    (here / "out" / ".DS_Store").write_text("icons")
    write("out", "second", force=True)
    assert sorted(os.listdir("out")) == ["run.yaml", "trajectory.csv"]
    assert os.listdir(".") == ["out"]


def test_files_that_come_while_a_run_is_made_stay_and_the_run_is_kept_beside_them(here):
    write("out", "first")
    said = refusal("out", "second", force=True, meanwhile=lambda: (here / "out" / "notes.txt").write_text("mine"))
    assert "found:    files that appeared meanwhile\n" in said
    assert f"mend:     the run is whole in {here / 'out-kept-1'}: move it" in said
    assert (here / "out" / "notes.txt").read_text() == "mine"
    assert (here / "out" / "trajectory.csv").read_text() == "first"
    assert RUN.holds("out-kept-1")
    assert sorted(os.listdir(".")) == ["out", "out-kept-1"]


def test_files_that_come_in_the_very_moment_of_the_exchange_move_to_the_new_run(here, exchanging, monkeypatch):
    write("out", "first")

    def late(kind, destination):
        check_target(kind, destination)
        if sorted(os.listdir(".")) != ["out"]:  # once the run is made
            (here / "out" / "notes.txt").write_text("mine")

    monkeypatch.setattr(new_folder, "check_target", late)
    write("out", "second", force=True)
    assert (here / "out" / "notes.txt").read_text() == "mine"
    assert (here / "out" / "trajectory.csv").read_text() == "second"
    assert os.listdir(".") == ["out"]


def test_a_folder_that_others_are_in_stays_the_same_folder(here):
    (here / "empty").mkdir()
    before = os.stat("empty").st_ino
    write("empty")
    assert os.stat("empty").st_ino == before


def test_the_working_folder_is_written_into_and_never_swapped(here, monkeypatch):
    (here / "mine").mkdir()
    monkeypatch.chdir(here / "mine")
    write(".", "first")
    assert sorted(os.listdir(".")) == ["run.yaml", "trajectory.csv"]
    said = "found:    an earlier run that this shell is in\n  mend:     leave it first (cd ..), or name another folder"
    for folder in (".", "../mine"):
        assert said in refusal(folder, "second", force=True)
    os.mkdir("deeper")
    monkeypatch.chdir("deeper")
    assert "files that armsim did not write: deeper" in refusal("..", "second", force=True)
    assert (here / "mine" / "trajectory.csv").read_text() == "first"


@pytest.mark.parametrize("force", [False, True])
def test_other_peoples_files_are_never_replaced(here, force):
    (here / "other").mkdir()
    (here / "other" / "thesis.tex").write_text("x")
    (here / "file").write_text("x")
    for folder, found in (("other", "a folder with other files in it: thesis.tex"), ("file", "a file")):
        with pytest.raises(UsageError) as caught:
            check_target(RUN, Destination(folder, force))
        assert str(caught.value) == (
            f"{folder}\n"
            "  expected: a folder that is absent or empty\n"
            f"  found:    {found}\n"
            "  mend:     name another folder"
        )


def test_a_failure_leaves_nothing_behind():
    def interrupted(folder):
        with new_folder.new_folder(RUN, "demo", Destination(folder)) as made:
            open(made.file("trajectory.csv"), "w").close()
            assert not os.path.exists("out")
            raise KeyboardInterrupt

    for folder in ("out", None):
        with pytest.raises(KeyboardInterrupt):
            interrupted(folder)
    assert os.listdir(".") == []


def test_folders_above_are_made_and_go_with_a_failure(here):
    write("a/b/out")
    assert RUN.holds("a/b/out")
    with pytest.raises(KeyboardInterrupt), new_folder.new_folder(RUN, "demo", Destination("a/c/d/out")):
        raise KeyboardInterrupt
    assert os.listdir("a") == ["b"]


def left_by_the_dead(folder, name, **what) -> Claim:
    """What a process that was killed leaves: hidden folders with files, and a file that nobody locks."""
    dead = Claim(str(folder), name)
    for kind, files in what.items():
        os.mkdir(dead.path(kind))
        for file in files:
            with open(os.path.join(dead.path(kind), file), "w") as text:
                text.write(f"format: {RUN_FORMAT}\n" if file == "run.yaml" else kind)
    os.close(dead._lock)
    return dead


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_has_is_not(here):
    left_by_the_dead(here, "out", new=["trajectory.csv"])
    with new_folder.new_folder(RUN, "demo", Destination("other")) as made:
        assert [name for name in os.listdir(".") if name.endswith(".new")] == [os.path.basename(made.hidden)]
        assert recover(RUN, "other") == []
        assert os.path.isdir(made.hidden)
    assert os.listdir(".") == ["other"]


def test_a_replacement_that_was_killed_between_two_renames_is_carried_to_its_end(here):
    left_by_the_dead(here, "out", new=["run.yaml", "trajectory.csv"], old=["run.yaml", "torque.csv"])
    assert recover(RUN, "out") == [
        f"{here}/out: a run that was stopped while it replaced an earlier one is under its name now"
    ]
    assert sorted(os.listdir("out")) == ["run.yaml", "trajectory.csv"]
    assert os.listdir(".") == ["out"]


def test_a_replacement_that_was_killed_before_it_tidied_up_loses_nothing_of_others(here):
    write("out", "new")
    left_by_the_dead(here, "out", old=["run.yaml", "trajectory.csv", "notes.txt"])
    left_by_the_dead(here, "out", new=["run.yaml", "trajectory.csv", "more.txt"])
    assert recover(RUN, "out") == []
    assert sorted(os.listdir("out")) == ["more.txt", "notes.txt", "run.yaml", "trajectory.csv"]
    assert (here / "out" / "trajectory.csv").read_text() == "new"
    assert os.listdir(".") == ["out"]


def test_runs_whose_name_was_given_away_while_one_replaced_the_other_are_kept_beside_it(here):
    write("out", "someone's")
    left_by_the_dead(here, "out", new=["run.yaml", "trajectory.csv"], old=["run.yaml", "trajectory.csv"])
    assert recover(RUN, "out") == [
        f"{here}/out-kept-1: an earlier run that was to be replaced when armsim was stopped",
        f"{here}/out-kept-2: the run that was to replace it",
    ]
    for folder, text in (("out", "someone's"), ("out-kept-1", "old"), ("out-kept-2", "new")):
        assert (here / folder / "trajectory.csv").read_text() == text
    assert sorted(os.listdir(".")) == ["out", "out-kept-1", "out-kept-2"]


def test_a_run_that_was_killed_while_its_files_moved_into_a_folder_becomes_whole(here):
    (here / "out").mkdir()
    (here / "out" / "torque.csv").write_text("whole")
    (here / "out" / "trajectory.csv").write_text("")  # its name was taken, and no more
    left_by_the_dead(here / "out", "out", whole=["run.yaml", "trajectory.csv"])
    assert not RUN.holds("out")
    assert recover(RUN, "out") == [f"{here}/out: a run that was stopped while its files were moved here is whole now"]
    assert sorted(os.listdir("out")) == ["run.yaml", "torque.csv", "trajectory.csv"]
    assert (here / "out" / "trajectory.csv").read_text() == "whole"


def test_files_of_others_where_a_killed_run_was_to_be_moved_stay_and_the_rest_is_kept(here):
    (here / "out").mkdir()
    (here / "out" / "trajectory.csv").write_text("mine")
    left_by_the_dead(here / "out", "out", whole=["run.yaml", "trajectory.csv"])
    (said,) = recover(RUN, "out")
    assert said == f"{here}/out-kept-1: the rest of a run that was stopped while it was moved to {here}/out"
    assert (here / "out" / "trajectory.csv").read_text() == "mine"
    assert (here / "out-kept-1" / "trajectory.csv").read_text() == "whole"


@pytest.mark.parametrize("what", ["new", "old", "whole"])
def test_a_link_that_came_under_a_hidden_name_leads_nowhere(here, what):
    write("mine", "mine")
    os.symlink(here / "mine", f".out.0123456789ab.{what}")
    assert recover(RUN, "out") == []
    write("out", "new")
    assert (here / "mine" / "trajectory.csv").read_text() == "mine"
    assert RUN.holds("mine")
    assert sorted(os.listdir(".")) == [f".out.0123456789ab.{what}", "mine", "out"]


def test_names_as_long_as_a_name_may_be_are_written():
    for name in ("x" * 255, "é" * 127):
        assert RUN.holds(write(name))


def test_data_are_on_disk_before_the_name_is(here, monkeypatch):
    done = []
    monkeypatch.setattr(claim, "flush", lambda path: done.append(os.path.basename(path)))
    monkeypatch.setattr(new_folder, "rename_onto_nothing", lambda a, b: done.append("renamed") or os.rename(a, b))
    write("out")
    renamed = done.index("renamed")
    assert {"run.yaml", "trajectory.csv"} <= set(done[:renamed])
    assert done[renamed - 1].endswith(".new")  # the names in the folder
    assert done[renamed + 1 :] == [here.name]


def test_ctrl_c_while_the_folder_gets_its_name_is_heard_after_it(here, monkeypatch):
    monkeypatch.setattr(claim, "flush", lambda path: path.endswith(".new") and os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        write("out")
    assert RUN.holds("out")
    assert os.listdir(".") == ["out"]


def test_a_name_that_cannot_be_had_any_longer_leaves_the_run_where_there_is_room(here, monkeypatch, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))

    def refused(source, target):
        raise PermissionError(errno.EACCES, "Permission denied")

    for module in (new_folder, exchange):
        monkeypatch.setattr(module, "rename_onto_nothing", refused)
    said = refusal("out")
    assert "found:    Permission denied\n  mend:     the run is whole in " in said
    kept = said.split("the run is whole in ")[1].removesuffix(": move it")
    assert kept.startswith(str(elsewhere))
    assert RUN.holds(kept)


def test_a_disk_without_room_is_told_before_the_run(here):
    with (
        pytest.raises(UsageError, match=r"out\n  expected: room for the rows, at least 1e\+09 GB\n  found: ") as caught,
        new_folder.new_folder(RUN, "demo", Destination("out")) as made,
    ):
        made.check_room(10**18)
    assert str(caught.value).endswith("mend:     make room, or log less often")


def test_a_failing_disk_is_explained():
    with (
        pytest.raises(UsageError, match="No space left on device"),
        new_folder.new_folder(RUN, "demo", Destination("out")),
    ):
        raise OSError(28, "No space left on device")


def test_runs_at_the_same_time_get_different_numbers():
    paths = []
    threads = [threading.Thread(target=lambda: paths.append(write(None))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(paths) == [os.path.join("runs", f"demo-{i:03d}") for i in range(1, 17)]


def test_what_is_shipped_is_found_by_name():
    assert {"arm5", "rr", "two_link"} <= set(shipped_names("robots"))
    assert {"arm5_hold", "arm5_fall", "rr_config1", "two_link_swing"} <= set(shipped_names("configs"))
    assert os.path.isfile(shipped_path("robots", "arm5"))
    assert shipped_path("robots", "arm5_hold") is None
