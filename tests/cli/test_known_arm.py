"""An arm that is known gives the answers that it gave, and its file is not read for them."""

from __future__ import annotations

from pathlib import Path

import pytest

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
def test_a_known_arm_answers_alike(asked, armsim, unread):
    first = armsim(*asked)
    unread()
    again = armsim(*asked)
    assert (again.code, again.out, again.err) == (first.code, first.out, first.err) == (0, first.out, "")


@pytest.mark.handful(3)
@pytest.mark.parametrize("name", shipped_names("robots"))
def test_every_shipped_arm_is_known_once_it_was_read(name, armsim, unread):
    first = armsim("fk", name, "--json")
    unread()
    assert armsim("fk", name, "--json").out == first.out != ""


def test_a_known_arm_takes_neither_yaml_nor_documents(process):
    process("inverse", "arm5")
    program = "import sys\nfrom armsim.cli.main import main\ntry: main()\nfinally: print(*sorted(sys.modules), file=sys.stderr)"
    names = process("inverse", "arm5", python=("-c", program)).err.split()
    rooms = {name.split(".")[1] for name in names if name.startswith("armsim.")}
    assert not {"document", "loading", "formulas", "control", "integrate", "plant"} & rooms
    assert not {"numpy", "yaml", "fractions", "ctypes"} & set(names)
    parts = {name.removeprefix("armsim.") for name in names}
    assert not {"dynamics.clipped", "dynamics.forward", "dynamics.proximity", "dynamics.two_mass"} & parts
    assert not {"actuation.coupling", "actuation.saturation", "actuation.winding"} & parts
    assert not {"expr.switches", "geometry.separation"} & parts


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
