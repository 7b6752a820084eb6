"""What is known from files is forgotten with any of them, with armsim's text, and with the folder that paths start from."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from armsim import sources
from armsim.files.known_data import KnownData
from armsim.files.shipped import shipped_names
from armsim.files.source import Source


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two files in the working folder, as they were read."""
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    for path in ("sub/a.yaml", "b.yaml"):
        Path(path).write_text(path)
    return [read("sub/a.yaml"), read("b.yaml")]


def read(path: str) -> Source:
    return Source(path, hashlib.sha256(Path(path).read_bytes()).hexdigest())


def test_data_is_known_by_what_was_asked(files):
    KnownData("one", files[0]).keep({"x": [0.1, "two"]}, files)
    assert KnownData("one", files[0]).data() == {"x": [0.1, "two"]}
    assert KnownData("two", files[0]).data() is None
    assert KnownData("one", files[1]).data() is None


def test_data_of_another_installation_which_ships_its_own_files_are_not_known(files, monkeypatch):
    KnownData("one").keep({"x": 1}, files)
    monkeypatch.setattr(sources, "PACKAGE", "elsewhere")
    assert KnownData("one").data() is None


@pytest.mark.parametrize("edited", ["sub/a.yaml", "b.yaml"])
@pytest.mark.parametrize("edit", [lambda path: path.write_text("edited"), Path.unlink])
def test_a_file_that_is_edited_or_removed_is_noticed(edited, edit, files):
    KnownData(edited, edit).keep(1, files)
    text = Path(edited).read_text()
    edit(Path(edited))
    assert KnownData(edited, edit).data() is None
    Path(edited).write_text(text)
    assert KnownData(edited, edit).data() == 1


def test_a_file_that_would_be_found_first_is_noticed(files):
    KnownData("beside").keep(1, files)
    Path("sub/b.yaml").write_text("b.yaml")
    assert KnownData("beside").data() is None


def test_another_text_of_armsim_knows_nothing(files, monkeypatch):
    KnownData("text").keep(1, files)
    monkeypatch.setattr(sources, "digest", lambda: "edited")
    assert KnownData("text").data() is None


def test_another_folder_needs_files_of_the_same_content(files, tmp_path, monkeypatch):
    KnownData("folder").keep(1, files)
    other = tmp_path / "other"
    (other / "sub").mkdir(parents=True)
    monkeypatch.chdir(other)
    assert KnownData("folder").data() is None
    for file in files:
        Path(file.path).write_text(file.path)
    assert KnownData("folder").data() == 1


def test_what_follows_from_other_files_than_yaml_is_not_kept_nor_known_where_one_was_edited_meanwhile(files):
    Path("law.py").write_text("")
    KnownData("law").keep(1, [*files, read("law.py")])
    Path("b.yaml").write_text("edited")
    KnownData("meanwhile").keep(1, files)
    assert KnownData("law").data() is KnownData("meanwhile").data() is None


PROGRAM = """
import os, sys
opened = []
sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
from armsim.compile import cache
from armsim.loading import read_scenario
for name in sys.argv[1:]:
    read_scenario(name)
    opened.clear()
    sources = {os.path.abspath(source.path) for source in read_scenario(name).sources}
    read = {os.path.abspath(path) for path in opened if isinstance(path, str)}
    others = [path for path in read - sources if not path.endswith((".py", ".pyc"))]
    print(name, *(path for path in others if os.path.dirname(path) != cache.folder()))
"""


@pytest.mark.slow
def test_all_files_that_a_scenario_is_read_from_are_among_its_sources():
    names = shipped_names("configs")
    done = subprocess.run([sys.executable, "-c", PROGRAM, *names], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == names
