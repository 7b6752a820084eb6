"""The digest of armsim's own text in keys of cached code: an edit that shapes code changes it, no other edit does."""

from __future__ import annotations

import ast
import os
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import armsim
from armsim import sources
from armsim.compile import cache
from armsim.loading import read_scenario
from armsim.simulation.loop_plan import LoopPlan, plant_of_run

PACKAGE = Path(armsim.__file__).parent
ROOMS = [place.removesuffix(".py") for place in sources.TRACED]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A copy of the package's text, and a cache of its own."""
    monkeypatch.setenv("ARMSIM_CACHE_DIR", str(tmp_path / "kernels"))
    copied = tmp_path / "armsim"
    shutil.copytree(PACKAGE, copied, ignore=lambda folder, names: [n for n in names if n == "__pycache__"])
    return copied


def digests(package: Path) -> list[str]:
    return sources.digests_of(str(package))


def edit(path: Path) -> None:
    path.write_text(path.read_text() + "\n# one more line\n")


SHAPES_CODE = [
    "expr",
    "model",
    "dynamics",
    "inverse_kinematics",
    "actuation",
    "control",
    "references",
    "integrate",
    "measures",
    "plant",
    "compile",
    "formulas",
]
SHAPES_CODE += ["spatial.py", "simulation/loop_plan.py", "simulation/content.py"]


@pytest.mark.parametrize("place", SHAPES_CODE)
@pytest.mark.handful(4)
def test_an_edit_of_what_is_traced_gives_every_kernel_another_key(place, package):
    before = digests(package)
    module = package / place
    edit(module if module.is_file() else sorted(module.glob("*.py"))[-1])
    assert [a != b for a, b in zip(before, digests(package), strict=True)] == [True, True, True]


@pytest.mark.parametrize("room", ["document", "fastest", "loading", "stability", "batches", "simulation"])
@pytest.mark.handful(3)
def test_an_edit_of_how_files_become_plants_gives_another_key_to_what_is_known_by_a_files_content(room, package):
    before = digests(package)
    edit(package / room / "__init__.py")
    assert [a != b for a, b in zip(before, digests(package), strict=True)] == [False, True, True]


@pytest.mark.parametrize("room", ["cli", "reports", "terminal", "figures", "viewing", "files", "exporting"])
@pytest.mark.handful(3)
def test_an_edit_of_what_is_shown_keeps_all_code(room, package):
    before = digests(package)
    edit(package / room / "__init__.py")
    assert [a != b for a, b in zip(before, digests(package), strict=True)] == [False, False, True]


def test_a_module_that_comes_goes_or_is_renamed_changes_the_digest(package):
    seen = [digests(package)[0]]
    (package / "plant" / "further.py").write_text("")
    seen.append(digests(package)[0])
    (package / "plant" / "further.py").rename(package / "plant" / "other.py")
    seen.append(digests(package)[0])
    assert len(set(seen)) == 3
    (package / "plant" / "other.py").unlink()
    assert digests(package)[0] == seen[0]


def settle(monkeypatch) -> None:
    """Long after the last edit."""
    now = time.time() + 60
    monkeypatch.setattr(sources, "time", SimpleNamespace(time=lambda: now))


def test_the_text_is_read_once_while_the_files_stay_as_they_are(package, monkeypatch):
    settle(monkeypatch)
    known = digests(package)
    monkeypatch.setattr(sources, "_text_digests", lambda *_: pytest.fail("read again"))
    assert digests(package) == known


def test_an_edit_of_the_same_size_at_the_same_time_as_written_in_the_file_is_seen(package, monkeypatch):
    settle(monkeypatch)
    module = package / "dynamics" / "rnea.py"
    status, text = os.stat(module), module.read_text()
    before = digests(package)[0]
    module.write_text(text.replace("+", "-", 1))
    os.utime(module, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert digests(package)[0] != before
    module.write_text(text)
    assert digests(package)[0] == before


def test_a_digest_of_files_that_may_still_be_written_is_not_kept(package):
    edit(package / "plant" / "plant.py")
    digests(package)
    assert cache.contents().entries == 0


def test_a_package_whose_files_cannot_be_seen_has_another_key_each_time(tmp_path):
    archive = tmp_path / "armsim.zip"
    archive.write_bytes(b"")
    for where in (tmp_path, archive / "armsim", tmp_path / "gone"):
        assert not {*digests(where)} & {*digests(where)}


def test_text_that_changed_since_it_was_imported_has_another_key_each_time(package):
    imported = time.time() + 1
    known = sources.digests_of(str(package), imported)
    assert sources.digests_of(str(package), imported) == known
    os.utime(package / "stability" / "advice.py", (imported + 1, imported + 1))
    found = [known, *(sources.digests_of(str(package), imported) for _ in range(2))]
    assert [len({*of_set}) for of_set in zip(*found, strict=True)] == [1, 3, 3]


def test_loops_are_keyed_by_the_text_they_are_traced_from(monkeypatch):
    scenario = read_scenario("two_link_hold")
    plan = LoopPlan.of(plant_of_run(scenario), scenario.dt)
    before = plan.key
    monkeypatch.setattr(sources, "digest", lambda places: f"another digest of {places[0]}")
    assert plan.key != before


def imports_of(path: Path) -> set[str]:
    """The modules of armsim that a module imports, as paths; but for those of its annotations."""
    found, tree = set(), ast.parse(path.read_text())
    for_types = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    left_out = {node for block in for_types for node in ast.walk(block)}
    for node in {*ast.walk(tree)} - left_out:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("armsim"):
            parts = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            found |= {part.replace(".", "/").removeprefix("armsim/") for part in parts}
    return found


def test_what_is_traced_imports_nothing_that_is_left_out_but_errors_the_words_of_faults_and_progress():
    inside = [
        p
        for place in sources.TRACED
        for p in ([PACKAGE / place] if place.endswith(".py") else (PACKAGE / place).rglob("*.py"))
    ]
    imported = {name for path in inside for name in imports_of(path)} - {"armsim"}
    outside = {name for name in imported if not any(name == room or name.startswith(f"{room}/") for room in ROOMS)}
    modules = {name for name in outside if (PACKAGE / f"{name}.py").is_file()}
    rooms = {name for name in outside if (PACKAGE / name).is_dir()}
    assert modules == {"errors", "door", "sources", "progress", "files/faults", "files/nodes"}
    # a scenario is loaded before its plant, whose content is in the key
    assert rooms <= {"loading", "files", "simulation"}
