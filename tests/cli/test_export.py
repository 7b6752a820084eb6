"""`armsim export` as a user meets it."""

from __future__ import annotations

import json

import pytest

import armsim as library
from armsim.exporting.languages import LANGUAGES
from armsim.exporting.python import Python


def test_it_writes_a_folder_and_says_how_to_try_it(armsim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("armsim.exporting.c.installed_compiler", lambda: [])
    done = armsim("export", "rr", "--to", "c", "-o", "out")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out
        == """\
out/rr.h            functions: fd, id, fk, mass
out/rr.c            the source
out/test_rr.c       compares them with reference values
out/Makefile        what builds them
out/CMakeLists.txt  what builds them

test: not run: a C compiler is not installed here
next: cd out && make test
"""
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "CMakeLists.txt",
        "Makefile",
        "rr.c",
        "rr.h",
        "test_rr.c",
    ]


def test_the_test_program_is_run_and_wrong_numbers_are_exit_code_1(armsim, tmp_path, monkeypatch):
    given = ["export", "rr", "--to", "python", "--what", "fk", "-o", str(tmp_path / "out"), "--force"]
    done = armsim(*given)
    assert (done.code, "test: 2 calls, 0 wrong numbers, by python" in done.out) == (0, True)
    files = Python.files

    def wrong(self, model):
        return {name: text.replace("return [", "return [1 + ") for name, text in files(self, model).items()}

    monkeypatch.setattr(Python, "files", wrong)
    done = armsim(*given, "--json")
    found = json.loads(done.out)["test"]
    assert (done.code, found["calls"], found["wrong"], found["reason"]) == (1, 2, 2, "")
    monkeypatch.setattr("armsim.exporting.self_test.LIMIT", 0.0)
    done = armsim(*given)
    assert (done.code, "test: not run: it takes longer than 0 s\n" in done.out) == (0, True)


def test_json_has_functions_files_and_open_numbers(armsim, tmp_path):
    given = [
        "rr_config1",
        "--to",
        "python",
        "--what",
        "step",
        "--open",
        "initial.q",
        "-o",
        str(tmp_path / "out"),
        "--json",
    ]
    found = json.loads(armsim("export", *given).out)
    assert found["functions"] == ["begin", "step"]
    assert [item["path"] for item in found["open"]] == ["initial.q[0]", "initial.q[1]"]
    assert found["states"] == 4


@pytest.mark.parametrize("to", [name for name in LANGUAGES if name != "library"])
@pytest.mark.handful(1)
def test_the_same_question_gives_the_same_text(armsim, to, tmp_path):
    for name in ("a", "b"):
        assert armsim("export", "rr", "--to", to, "--what", "fd", "-o", str(tmp_path / name)).code == 0
    for path in (tmp_path / "a").iterdir():
        assert path.read_text() == (tmp_path / "b" / path.name).read_text()
        assert max(map(len, path.read_text().splitlines())) <= (132 if to == "fortran" else 2000)


REFUSED = {
    "lisp": ["rr", "--to", "lisp"],
    "a misspelt function": ["rr", "--to", "c", "--what", "fd,steps"],
    "a function of the other kind": ["rr_config1", "--to", "c", "--what", "fd"],
    "a step of no length": ["rr", "--to", "c", "--what", "step"],
    "two steps": ["rr_config1", "--to", "c", "--dt", "1e-3"],
    "single precision in Python": ["rr", "--to", "python", "--float"],
    "an instruction in JavaScript": ["rr", "--to", "javascript", "--fma", "hardware"],
    "no such number": ["rr_config1", "--to", "c", "--open", "control.kq"],
    "a number that the file lacks": ["rr_config1", "--to", "c", "--open", "payload.mass"],
    "a number that a robot lacks": ["rr", "--to", "c", "--open", "payload.mass"],
    "a stranger": ["arm6", "--to", "c"],
    "functions of a description": ["arm5", "--to", "urdf", "--what", "fd"],
    "a step of a description without time": ["arm5", "--to", "mdh", "--dt", "1e-3"],
    "a step of MuJoCo's of no length": ["arm5", "--to", "mjcf", "--dt", "0"],
    "a description of a scenario": ["arm5_hold", "--to", "mjcf"],
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_exported_is_refused_and_leaves_nothing(case, armsim, tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    done = armsim("export", *REFUSED[case], "-o", "out")
    assert done.code == 2
    told(done.err)
    assert not (tmp_path / "out").exists()


def test_a_folder_with_files_is_left_alone_unless_forced(armsim, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    done = armsim("export", "rr", "--to", "c", "-o", "out")
    assert done.code == 2
    assert done.err.startswith("-o out\n  expected: a folder that is absent or empty\n  found:    one with files\n")
    assert armsim("export", "rr", "--to", "c", "-o", "out", "--force").code == 0
    assert (tmp_path / "out" / "mine.txt").read_text() == "mine"
    assert armsim("export", "rr", "--to", "c", "-o", "out/mine.txt").err.startswith(
        "-o out/mine.txt\n  expected: a folder\n"
    )


@pytest.mark.parametrize("to", ["urdf", "mjcf", "mdh", "dh"])
def test_a_description_is_a_file_and_what_it_lacks_is_listed(armsim, to, tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    done = armsim("export", "torso", "--to", to, "-o", "torso.out")
    assert (done.code, done.err) == (0, "")
    told(done.out)
    assert armsim("export", "torso", "--to", to, "-o", "torso.out").err.startswith(
        "-o torso.out\n  expected: a new file\n"
    )
    found = json.loads(armsim("export", "torso", "--to", to, "-o", "torso.out", "--force", "--json").out)
    assert (found["files"], found["functions"]) == (["torso.out"], [])
    assert "\n".join(["torso.out", *(f"  {note}" for note in found["notes"])]) == done.out.rstrip()


def test_the_library_says_the_same_in_its_own_words(tmp_path):
    done = library.export("rr", "python", tmp_path / "out", ["fd"])
    assert repr(done) == "Exported(rr: fd)"
    with pytest.raises(library.UsageError, match="or add force=True to replace files"):
        library.export("rr", "python", tmp_path / "out")
    with pytest.raises(library.UsageError, match=r"to='lisp'\n  expected: one of"):
        library.export("rr", "lisp", tmp_path / "other")
