"""tests/messages: what differs, what is missing and what is left over fails, and one command writes what tests are told."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """\
import pytest

@pytest.mark.parametrize("name", ["one", "two"])
def test_it(told, name):
    told(f"{name}\\n  found: 1")
    told("more\\n")
"""
NAME = "tests/room/test_it.py::test_it"
BLOCKS = "".join(f"=== {NAME}[{name}]\n{name}\n  found: 1\n\n=== {NAME}[{name}]\nmore\n\n\n" for name in ("one", "two"))
OK, FAILED, MISUSED = 0, 1, 4


@pytest.fixture
def run(tmp_path):
    """Runs pytest on a folder of tests with one test: its exit code and what it said."""
    (tmp_path / "tests" / "room").mkdir(parents=True)
    shutil.copy(Path(__file__).parent / "told.py", tmp_path / "tests")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib\n")
    (tmp_path / "tests" / "conftest.py").write_text('pytest_plugins = ["tests.told"]\n')
    (tmp_path / "tests" / "room" / "test_it.py").write_text(TEST)

    def run(*args, folder="."):
        plugins = ["-p", "xdist"] if "-n" in args else []
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-rN",
            *plugins,
            *args,
        ]  # no summary: its length depends on CI's variables
        quick = {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        env = {**os.environ, "PYTHONPATH": str(tmp_path), **quick}
        ended = subprocess.run(command, cwd=tmp_path / folder, env=env, capture_output=True, text=True, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    return run


@pytest.fixture
def change(tmp_path):
    """Replaces text of the one test."""
    path = tmp_path / "tests" / "room" / "test_it.py"
    return lambda old, new: path.write_text(path.read_text().replace(old, new))


@pytest.fixture
def blocks(tmp_path):
    """The file of the room's messages."""
    path = tmp_path / "tests" / "messages" / "room.txt"
    path.parent.mkdir()
    path.write_text(BLOCKS)
    return path


@pytest.mark.slow
def test_messages_are_written_once_asked_for_and_compared_from_then_on(run, tmp_path):
    code, said = run()
    assert (code, said.count("python -m pytest tests/room/test_it.py --write-messages")) == (FAILED, 2)
    assert not (tmp_path / "tests" / "messages").exists()
    assert run("--write-messages")[0] == OK
    assert (tmp_path / "tests" / "messages" / "room.txt").read_text() == BLOCKS
    assert run()[0] == run("-n", "2")[0] == run(folder="tests/room")[0] == OK


def test_a_message_that_differs_is_shown_line_by_line_and_written_for_the_tests_that_run(run, change, blocks):
    change("found: 1", "found: 2")
    code, said = run("-k", "two")
    assert (code, "-   found: 1\n" in said, "+   found: 2\n" in said, "  two\n" in said) == (FAILED, True, True, True)
    assert run("-k", "two", "--write-messages")[0] == OK
    assert blocks.read_text() == BLOCKS.replace("two\n  found: 1", "two\n  found: 2")


@pytest.mark.slow
def test_a_block_without_a_test_fails_where_all_tests_of_its_file_are_asked_for(run, change, blocks):
    change(', "two"', "")
    code, said = run()
    assert (code, f"{NAME}[two], which is told nothing" in said, "1 passed" in said) == (FAILED, True, True)
    assert run(f"{NAME}[one]")[0] == OK
    assert run("--write-messages", "tests/room")[0] == OK
    assert blocks.read_text() == BLOCKS[: len(BLOCKS) // 2]


def test_a_test_that_is_told_less_fails(run, change, blocks):
    change('    told("more\\n")\n', "")
    code, said = run(f"{NAME}[one]")
    assert (code, "is not told all" in said) == (FAILED, True)


def test_several_processes_do_not_write(run, blocks):
    assert run("-n", "2", "--write-messages")[0] == MISUSED
    assert blocks.read_text() == BLOCKS
