"""`armsim excite` as a user meets it."""

from __future__ import annotations

import json

import pytest

GIVEN = ("excite", "two_link", "--open", "parameters.m2", "--open", "joints[*].friction.viscous", "--duration", "2")


@pytest.mark.slow
def test_it_tells_what_to_expect_and_writes_a_motion_that_runs(armsim, tmp_path):
    folder = tmp_path / "new"
    done = armsim(*GIVEN, "--rate", "200", "-o", folder)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("two_link: 2 s, 3 harmonics; condition number ")
    assert [line.split()[0] for line in lines[2:5]] == ["joint", "shoulder", "elbow"]
    assert any(line.split()[:3] == ["joints[elbow].friction.viscous", "0", "N·m·s/rad"] for line in lines)
    assert lines[-3:] == [
        "* collisions were not looked at: simulate and view it before the arm moves",
        f"written {folder / 'excite.yaml'}",
        f"written {folder / 'excite.csv'}",
    ]
    assert armsim("check", folder / "excite.yaml").code == 0
    run = armsim("simulate", folder / "excite.yaml", "-o", tmp_path / "run", "--json")
    assert run.code == 0
    assert armsim("record", folder / "excite.yaml", "-o", tmp_path / "recording").code == 0
    numbers = ("--open", "parameters.m2", "--open", "joints[*].friction.viscous")
    found = json.loads(armsim("identify", tmp_path / "recording", "--robot", "two_link", *numbers, "--json").out)
    assert found["estimates"][0]["value"] == pytest.approx(1.5, rel=1e-4)
    again = armsim(*GIVEN, "--rate", "200", "-o", folder)
    assert (again.code, "a new file" in again.err) == (2, True)
    assert armsim(*GIVEN, "--rate", "200", "-o", folder, "--force", "-q").code == 0


def test_json_has_the_motion_and_the_numbers_in_si_units(armsim):
    found = json.loads(armsim(*GIVEN, "--rate", "100", "--noise", "1e-3,2e-3", "--speed", "1", "--json").out)
    assert [x["path"] for x in found["numbers"]] == [
        "parameters.m2",
        *(f"joints[{x}].friction.viscous" for x in ("shoulder", "elbow")),
    ]
    assert len(found["motion"]["sines"]) == 3
    assert found["files"] == []


@pytest.mark.slow
def test_what_no_motion_shows_is_said(armsim):
    done = armsim(
        "excite", "arm5", "--open", "joints[R1].motor.Ra", "--open", "payload.mass", "--duration", "2", "--rate", "100"
    )
    assert "! no motion within the limits shows joints[R1].motor.Ra: leave it out" in done.out


@pytest.mark.slow
def test_sets_and_patterns_are_those_of_identify(armsim):
    short = ("--duration", "1", "--rate", "100", "--json")
    found = json.loads(armsim("excite", "rr", "--open", "joints[*].friction.viscous", "--open", "masses", *short).out)
    paths = [x["path"] for x in found["numbers"]]
    assert paths[:2] == [f"joints[{joint}].friction.viscous" for joint in found["joints"]]
    assert [path.rpartition(".")[2] for path in paths[2:]] == ["mass"] * (len(paths) - 2)
    assert len(paths) > 2
    done = armsim("excite", "rr", "--open", "motors", *short)
    assert (done.code, "a robot with motors" in done.err) == (2, True)
