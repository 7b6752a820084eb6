"""Bad files of all kinds, kept as data in tests/bad_files, and what armsim says about them, word for word."""

import time
from pathlib import Path

import pytest

from armsim.spec.check import check

FOLDER = Path(__file__).parent / "bad_files"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def test_there_are_bad_files_of_many_kinds_each_with_its_message():
    assert len(NAMES) >= 40
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_file_is_explained_word_for_word(name, monkeypatch):
    monkeypatch.chdir(FOLDER)
    began = time.process_time()
    checked = check(f"{name}.yaml")
    cost = time.process_time() - began
    assert "\n".join(map(str, checked.faults)) + "\n" == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert cost < 0.5  # each takes some milliseconds


def test_a_file_that_is_too_large_is_refused_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("large.yaml").write_bytes(b"# " + b"a" * 100_000_000)
    began = time.process_time()
    checked = check("large.yaml")
    cost = time.process_time() - began
    assert list(map(str, checked.faults)) == [
        "large.yaml\n"
        "  expected: a file of at most 1000 kB\n"
        "  found:    a larger one\n"
        "  mend:     check that it is the right file"
    ]
    assert cost < 0.5
