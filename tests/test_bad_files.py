"""Bad files of all kinds, kept as data in tests/bad_files, and what armsim says about them, word for word in tests/messages."""

import io
from pathlib import Path

import pytest

from armsim.files import regular_file, yaml_reader
from armsim.loading.check import check

FOLDER = Path(__file__).parent / "bad_files"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def test_there_are_bad_files_of_many_kinds():
    assert len(NAMES) >= 40


@pytest.mark.parametrize("name", NAMES)
def test_a_bad_file_is_explained_word_for_word_and_costs_little(name, monkeypatch, work, told):
    monkeypatch.chdir(FOLDER)
    checked = check(f"{name}.yaml")
    told("\n".join(map(str, checked.faults)))
    assert work(check, f"{name}.yaml") < 100_000  # once all is imported; a sound one takes 5000 calls


def test_of_a_file_that_is_too_large_no_more_is_read_than_tells_so(tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    Path("large.yaml").write_bytes(b"# " + b"a" * 2_000_000)
    read = []

    class Counted(io.FileIO):
        def read(self, most: int = -1) -> bytes:
            read.append(most)
            return super().read(most)

    monkeypatch.setattr(regular_file, "open", Counted, raising=False)
    checked = check("large.yaml")
    (fault,) = checked.faults
    told(fault)
    assert read == [yaml_reader.MOST_BYTES + 1]
