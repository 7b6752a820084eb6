"""`armsim cache`: where compiled code is kept, and how much."""

from __future__ import annotations

import json

import pytest


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMSIM_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def test_it_says_where_and_how_much_and_removes_it(armsim, folder):
    assert armsim("cache").out == f"{folder}: 0 entries, 0 of 256 MiB\n"
    armsim("simulate", "rr_config1", "-q")
    found = json.loads(armsim("cache", "--json").out)
    sizes = [path.stat().st_size for path in folder.iterdir()]  # of the loop, the advice, and digests of armsim's text
    assert len(sizes) >= 2
    expected = {
        "folder": str(folder),
        "entries": len(sizes),
        "bytes": sum(sizes),
        "refusal": "",
        "limit": 2**28,
        "removed": 0,
    }
    assert found == expected
    cleared = armsim("cache", "--clear")
    assert (cleared.code, cleared.out) == (0, f"{folder}: {len(sizes)} entries removed; 0 entries, 0 of 256 MiB\n")
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_used_is_told_of_with_v(armsim, folder):
    folder.mkdir()
    (folder / "notes.txt").write_text("of others, who share it")
    folder.chmod(0o777)
    said = " ".join(armsim("cache").out.split())
    assert f"! it is not used: {folder} belongs to others, or they may write it: chmod go-w, or name another" in said
    for command in (("simulate", "rr_config1"), ("record", "rr_config1")):
        said = " ".join(armsim(*command, "-v").out.split())
        assert f"! nothing is kept of what is compiled: {folder} belongs to others" in said
        assert "! nothing is kept" not in armsim(*command).out
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]
