"""Folders of studies that somebody else made: nothing outside of them is opened, and no pipe in them is waited for."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

import armsim
from armsim.errors import ArmsimError
from armsim.files.study_folder import ENDINGS, JOURNAL, LOCK, PART, RECORD, SUMMARY, TEST, TUNED
from armsim.reports.run_page import report
from armsim.studies import sweep as sweeping

SHORT = {"duration": 0.02}
VARIED = {"control.kp[1]": "20:80:70"}
SOUGHT = {"control.kp[1]": "20:200"}
SECRET = b"of the user"
IN_PLACE = (PART, JOURNAL)
OF_SWEEP = (RECORD, PART, JOURNAL, LOCK, *(f"results.{ending}" for ending in ENDINGS))
OF_TUNING = (*OF_SWEEP, SUMMARY, TUNED, TEST)
DISGUISES = {
    "link": "a symbolic link",
    "dangling": "a symbolic link",
    "to a folder": "a symbolic link",
    "folder": "a folder",
    "pipe": "a pipe or a device",
}


def put(disguise: str, path: Path) -> None:
    """Something else in place of one of a study's files; what it may lead to is in the folder "mine"."""
    shutil.rmtree("mine", ignore_errors=True)
    Path("mine/folder").mkdir(parents=True)
    Path("mine/file").write_bytes(SECRET)
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    if disguise == "folder":
        path.mkdir()
    elif disguise == "pipe":
        os.mkfifo(path)
    elif disguise == "second name":
        os.link("mine/file", path)
    else:
        path.symlink_to(Path("mine", {"link": "file", "dangling": "new", "to a folder": "folder"}[disguise]).absolute())


def is_untouched() -> bool:
    """Whether what a study's files lead to is as it was."""
    names = sorted(str(path.relative_to("mine")) for path in Path("mine").rglob("*"))
    return names == ["file", "folder"] and Path("mine/file").read_bytes() == SECRET


def sweep(folder: str, **options):
    return armsim.sweep("two_link_hold", VARIED, SHORT, "iae", folder, **options)


def tune(folder: str, **options):
    test = {"payload.mass": [0.1, 0.2]}
    return armsim.tune("two_link_hold", SOUGHT, "iae", SHORT, folder, trials=2, test=test, holds="iae < 9", **options)


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """A sweep that is at its end, one that was stopped, and a tuning."""
    here, there = Path.cwd(), tmp_path_factory.mktemp("studies")
    os.chdir(there)
    try:
        sweep("whole")
        tune("tuned")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sweeping, "_finish", lambda *_: None)  # all rows are there, but not under their last name
            assert not sweep("stopped").whole
    finally:
        os.chdir(here)
    return there


@pytest.fixture
def guard():
    """Ends a test that waits for a pipe, after a time in which any machine has done all else."""

    def tell(*_) -> None:
        raise AssertionError("waits for a pipe")

    before = signal.signal(signal.SIGALRM, tell)
    signal.alarm(300)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


QUESTIONS = {
    "whole": (OF_SWEEP, {"again": sweep, "report": lambda folder: report(folder, "page.html")}),
    "stopped": (OF_SWEEP, {"again": sweep, "forced": lambda folder: sweep(folder, table="parquet", force=True)}),
    "tuned": (OF_TUNING, {"again": tune, "report": lambda folder: report(folder, "page.html")}),
}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("kind", QUESTIONS)
@pytest.mark.handful(1)
def test_what_a_received_study_leads_to_is_refused_by_name_and_untouched(kind, disguise, studies, guard):
    names, questions = QUESTIONS[kind]
    for name in names:
        if (name, disguise) == (TEST, "folder"):
            continue  # it is one
        shutil.rmtree("received", ignore_errors=True)
        shutil.copytree(studies / kind, "received")
        put(disguise, Path("received") / name)
        for ask in questions.values():
            with pytest.raises(ArmsimError) as refused:
                ask("received")
            assert f"found:    {DISGUISES[disguise]}" in str(refused.value), name
            assert str(refused.value).startswith(f"received/{name}\n"), name
            assert "mend:" in str(refused.value)
            assert is_untouched(), name
            assert not Path("page.html").exists()


@pytest.mark.parametrize("name", IN_PLACE)
def test_a_file_with_a_second_name_is_not_written_in_place(name, studies):
    shutil.copytree(studies / "stopped", "received")
    put("second name", Path("received") / name)
    with pytest.raises(ArmsimError, match="hard link"):
        sweep("received")
    assert is_untouched()


def test_a_study_whose_files_have_second_names_as_in_a_backup_is_read(studies):
    shutil.copytree(studies / "whole", "received", copy_function=os.link)
    assert sweep("received").tally == {"complete": 70}
    report("received", "page.html")
    assert Path("page.html").stat().st_size > 0
