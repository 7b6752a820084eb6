"""Files that were probably meant."""

from __future__ import annotations

import pytest

from armsim.files.neighbours import robot_of


@pytest.mark.parametrize(
    ("written", "robot"),
    [
        ("arm5", "arm5"),
        ("../my arm größe.yaml   # of the lab", "../my arm größe.yaml"),
        ("'my arm.yaml'", "my arm.yaml"),
        ('"my # arm.yaml" # ours', "my # arm.yaml"),
        ("{format: armsim/robot/1, name: x}", None),
        ("\n  format: armsim/robot/1", None),
    ],
)
def test_the_robot_of_a_scenario_is_named_whole(tmp_path, monkeypatch, written, robot):
    monkeypatch.chdir(tmp_path)
    with open("s.yaml", "w", encoding="utf-8", newline="\r\n") as file:
        file.write(f"format: armsim/scenario/1\nrobot: {written}\nduration: 1\n")
    assert robot_of("s.yaml") == robot
