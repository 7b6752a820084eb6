"""An arm that is known gives the answers that it gave, and its file is not read for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from armsim.compile import cache
from armsim.files.shipped import shipped_names, shipped_path


@pytest.fixture
def unread(monkeypatch):
    """From then on no robot can be read."""
    return lambda: monkeypatch.setattr("armsim.loading.load_robot_file", None)


@pytest.mark.parametrize(
    "asked",
    [
        ("inverse", "arm5", "--wrenches", "--payload", "0.5"),
        ("inverse", "torso", "--json"),
        ("forward", "puma560", "--torque", "1,2,3,4,5,6"),
        ("fk", "two_link", "--deg", "--q", "30,-45"),
        ("motor", "arm5", "--voltage", "24"),
        ("inverse", "arm5", "--set", "joints[R2].motor.gear=50"),
    ],
)
def test_a_known_arm_answers_alike_and_known_answers_are_alike(asked, armsim, unread, no_kernels):
    read = armsim(*asked)
    cache.clear()
    armsim(*asked, "-v")
    unread()
    for _ in range(2):  # of a known arm, then a known answer
        again = armsim(*asked)
        assert (again.code, again.out, again.err) == (read.code, read.out, read.err) == (0, read.out, "")


@pytest.mark.handful(3)
@pytest.mark.parametrize("name", shipped_names("robots"))
def test_every_shipped_arm_is_known_once_it_was_read(name, armsim, unread):
    first = armsim("fk", name, "--json")
    unread()
    assert armsim("fk", name, "--json").out == first.out != ""


@pytest.mark.parametrize(
    ("before", "unneeded"),
    [
        ((), {"document", "loading", "formulas", "control", "integrate", "plant", "model", "expr", "actuation"}),
        (("-v",), {"document", "loading", "formulas", "control", "integrate", "plant"}),
    ],
)
def test_a_known_answer_or_arm_takes_neither_yaml_nor_documents(before, unneeded, process, tmp_path):
    kept = {"ARMSIM_CACHE_DIR": str(tmp_path / "cache")}
    process("inverse", "arm5", *before, **kept)
    program = "import sys\nfrom armsim.cli.main import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    names = process("inverse", "arm5", python=("-c", program), **kept).err.split()
    assert not unneeded & {name.split(".")[1] for name in names if name.startswith("armsim.")}
    assert not {"numpy", "yaml", "fractions", "ctypes"} & set(names)


@pytest.mark.parametrize("other", [("--q", "0,1"), ("--qd", "0,1"), ("--qdd", "0,1"), ("--deg",), ("--json",), ("-v",)])
def test_another_question_has_another_answer(other, armsim):
    assert armsim("inverse", "two_link").out != armsim("inverse", "two_link", *other).out != ""


def test_answers_know_their_commands(armsim):
    asked = ("rr", "--q", "0,1")
    told = [armsim(command, *asked).out for command in ("inverse", "forward", "fk")]
    assert len({*told}) == 3


def test_doubts_about_a_question_are_told_each_time(armsim):
    told = [armsim("inverse", "rr", "--q", "0,7").err for _ in range(2)]
    assert told[0] == told[1] != ""


def test_a_known_answer_is_bold_on_a_terminal_alone(on_a_terminal, process):
    told = [on_a_terminal("inverse", "arm5", "--deg", TERM="xterm") for _ in range(2)]
    assert told[0] == told[1]
    assert "\x1b[1mjoint" in told[0]
    assert process("inverse", "arm5", "--deg").out == told[0].replace("\x1b[1m", "").replace("\x1b[0m", "")


@pytest.mark.parametrize("given", ["own.yaml", "rr"])
def test_an_edited_robot_is_another(given, armsim):
    text = Path(shipped_path("robots", "rr")).read_text()
    if given == "own.yaml":
        Path(given).write_text(text)
    first = armsim("inverse", given).out
    Path(given).write_text(text.replace("m2: 4 ", "m2: 4.5 "))
    again = armsim("inverse", given)
    assert again.code == 0
    assert again.out != first


def test_doubts_about_a_robot_are_told_each_time(armsim):
    Path("own.yaml").write_text(Path(shipped_path("robots", "rr")).read_text().replace("m2: 4 ", "m2: 4e6 "))
    told = [armsim("fk", "own.yaml").err for _ in range(2)]
    assert told[0] == told[1] != ""
