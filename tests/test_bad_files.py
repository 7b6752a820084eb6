"""Bad files of all kinds, kept as data in tests/bad_files, and what armsim says about them, word for word."""

import io
from pathlib import Path

import pytest

from armsim.files import regular_file, yaml_reader
from armsim.loading.check import check

FOLDER = Path(__file__).parent / "bad_files"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def test_there_are_bad_files_of_many_kinds_each_with_its_message():
    assert len(NAMES) >= 40
    assert sorted(path.stem for path in FOLDER.glob("*.txt")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_file_is_explained_word_for_word_and_costs_little(name, monkeypatch, work):
    monkeypatch.chdir(FOLDER)
    checked = check(f"{name}.yaml")
    assert "\n".join(map(str, checked.faults)) + "\n" == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert work(check, f"{name}.yaml") < 100_000  # once all is imported; a sound one takes 5000 calls


def test_of_a_file_that_is_too_large_no_more_is_read_than_tells_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("large.yaml").write_bytes(b"# " + b"a" * 2_000_000)
    read = []

    class Counted(io.FileIO):
        def read(self, most: int = -1) -> bytes:
            read.append(most)
            return super().read(most)

    monkeypatch.setattr(regular_file, "open", Counted, raising=False)
    checked = check("large.yaml")
    assert list(map(str, checked.faults)) == [
        "large.yaml\n"
        "  expected: a file of at most 1000 kB\n"
        "  found:    a larger one\n"
        "  mend:     check that it is the right file"
    ]
    assert read == [yaml_reader.MOST_BYTES + 1]
