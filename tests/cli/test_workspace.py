"""`armsim workspace` as a user meets it."""

from __future__ import annotations

import csv
import json

import pytest

GRID = ("workspace", "ur5e", "--resolution", "8")


def test_it_tells_reach_manipulability_and_payload_and_writes_them(armsim, tmp_path):
    file, picture = tmp_path / "map.csv", tmp_path / "map.png"
    done = armsim(*GRID, "-o", file, "--plot", picture, "--show", "payload")
    assert (done.code, done.err) == (0, "")
    assert [line.split()[0] for line in done.out.splitlines()[1:]] == [
        "reached", "x", "z", *["manipulability"] * 2, *["payload"] * 2, "written", "drawn",
    ]  # fmt: skip
    rows = [*csv.DictReader(file.read_text().splitlines())]
    facts = json.loads(armsim(*GRID, "--json").out)
    reached = [row for row in rows if float(row["reachable"])]
    assert facts["share"] == len(reached) / 64
    assert facts["payload"]["greatest"]["value"] == max(float(row["payload_kg"]) for row in reached)
    assert facts["extent"]["x"][0] == min(float(row["x_m"]) for row in reached)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_payloads_that_no_motor_limits_are_not_drawn_and_leave_no_file(armsim, tmp_path):
    given = ("workspace", "arm5", "--resolution", "8", "--show", "payload")
    done = armsim(*given, "--plot", tmp_path / "map.png", "-o", tmp_path / "map.csv")
    assert (done.code, [*tmp_path.iterdir()]) == (2, [])
    assert "motors with limits" in done.err


def test_a_plane_beyond_reach_says_so(armsim):
    done = armsim(*GRID, "--at", "5")
    assert done.code == 0
    assert done.out.splitlines()[1:] == ["reached  0.0% of them"]


@pytest.mark.parametrize("given", [("--axis", "z=0,0,1", "--rpy", "0,0,0"), ("--axis", "w=0,0,1")])
def test_orientations_are_checked(armsim, given):
    assert armsim(*GRID, *given).code == 2
