"""Run folders appear whole, and never over something else."""

import os
import threading

import pytest

from armsim.errors import UsageError
from armsim.files.run_folder import RUN_FORMAT, check_target, is_run, new_run_folder
from armsim.files.shipped import shipped_names, shipped_path


def write(folder, text="x", **options):
    with new_run_folder(folder, "demo", **options) as made:
        with open(made.file("run.yaml"), "w") as file:
            file.write(f"format: {RUN_FORMAT}\n")
        with open(made.file("trajectory.csv"), "w") as file:
            file.write(text)
    return made.path


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
        assert is_run(folder)


def test_an_earlier_run_is_replaced_by_force_only(here):
    write("out", "first")
    with pytest.raises(UsageError) as caught:
        write("out", "second")
    assert str(caught.value) == (
        "out\n"
        "  expected: a folder that is absent or empty\n"
        "  found:    an earlier run\n"
        "  mend:     name another folder, or add --force to replace the run"
    )
    (here / "out" / "notes.txt").write_text("mine")
    write("out", "second", force=True)
    assert (here / "out" / "trajectory.csv").read_text() == "second"
    assert (here / "out" / "notes.txt").read_text() == "mine"
    assert os.listdir(".") == ["out"]


@pytest.mark.parametrize("force", [False, True])
def test_other_peoples_files_are_never_replaced(here, force):
    (here / "other").mkdir()
    (here / "other" / "thesis.tex").write_text("x")
    (here / "file").write_text("x")
    for folder, found in (("other", "a folder with other files in it"), ("file", "a file")):
        with pytest.raises(UsageError) as caught:
            check_target(folder, force)
        assert str(caught.value) == (
            f"{folder}\n"
            "  expected: a folder that is absent or empty\n"
            f"  found:    {found}\n"
            "  mend:     name another folder"
        )


def test_a_failure_leaves_nothing_behind():
    def interrupted(folder):
        with new_run_folder(folder, "demo") as made:
            open(made.file("trajectory.csv"), "w").close()
            assert not os.path.exists("out")
            raise KeyboardInterrupt

    for folder in ("out", None):
        with pytest.raises(KeyboardInterrupt):
            interrupted(folder)
    assert not os.path.exists("out")
    assert os.listdir("runs") == []


def test_a_failing_disk_is_explained():
    with pytest.raises(UsageError, match="No space left on device"), new_run_folder("out", "demo"):
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
