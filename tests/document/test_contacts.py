"""What a user reads when surfaces and contacts are wrong, word for word in tests/messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_scenario
from armsim.loading.robot_file import load_robot_file

SCENARIO = """\
format: armsim/scenario/1
robot: arm5
duration: 1
world:
  floor: {plane: {}, stiffness: 1e5, friction: {static: 0.3, kinetic: 0.4}}
  wall: {plane: {normal: [1, 0, 0]}, damping: 5}
  ramp: {plane: {}, friction: {static: 0.5}}
  soft: {plane: {}, law: hunt_crossley, stiffness: 1e4, damping: 3}
  bare: {plane: {}}
  hard: {plane: {}, restitution: 0.5}
  both: {plane: {}, sag: 1e-4, stiffness: 1e5, restitution: 0.05}
  wet: {plane: {}, sag: 1e-4, friction: {static: 0.3, damping: 3}}
  dry: {plane: {}, sag: 1e-4, friction: {static: 0.3}}
  odd: {plane: {}, law: hunt_crossley, sag: 1e-4}
contacts:
  - {frame: tool, with: flor}
  - {frame: tool, with: bare}
  - {frame: tool, sphere: {radius: 0.1}, with: floor}
  - {link: R3, with: floor}
  - {frame: tool, with: soft}
  - {frame: tool, with: soft}
  - {link: R3, sphere: {radius: 0.1}, capsule: {to: [0.1, 0, 0], radius: 0.1}, with: floor}
  - {name: rim, link: R3, capsule: {to: [0.1, 0, 0], radius: 0.1}, with: floor}
  - {name: rim_b, frame: tool, with: floor}
  - {link: R9, sphere: {radius: 0.1}, with: soft}
  - {link: R9, sphere: {radius: 0.1}, with: soft}
  - {frame: tool, with: bar}
  - {with: soft}
"""
NO_WORLD = "format: armsim/scenario/1\nrobot: arm5\nduration: 1\ncontacts: [{frame: tool, with: floor}]\n"


@pytest.mark.parametrize("text", [SCENARIO, NO_WORLD], ids=["world", "no world"])
def test_faults_of_surfaces_and_contacts_are_explained(text, tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(FileFaults) as caught:
        read_scenario("s.yaml")
    told(str(caught.value))


def test_a_sphere_on_terrain_is_refused_and_a_point_is_not(tmp_path, monkeypatch, told):
    # at a kink the distance of a sphere's centre from the tangent plane jumps: its contact would gain energy
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hills.csv").write_text("x_m,y_m,z_m\n-1,-1,0\n0,-1,0\n1,-1,0.5\n-1,1,0\n0,1,0\n1,1,0.5\n")
    hills = {"hills": {"heightfield": {"csv": "hills.csv"}, "stiffness": 1e5}}
    scenario = {"format": "armsim/scenario/1", "robot": "arm5", "duration": 1, "world": hills}
    assert read_scenario(scenario | {"contacts": [{"frame": "tool", "with": "hills"}]}).arm.contacts
    with pytest.raises(FileFaults) as caught:
        read_scenario(scenario | {"contacts": [{"link": "R3", "sphere": {"radius": 0.05}, "with": "hills"}]})
    told(str(caught.value))


@pytest.mark.parametrize("hill", [{"plane": {}}, {"heightfield": {"csv": "hills.csv"}, "stiffness": 1e5}])
def test_contacts_of_a_robot_are_checked_with_the_obstacles_of_its_scenario(hill, tmp_path, monkeypatch, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hills.csv").write_text("x_m,y_m,z_m\n0,0,0\n1,0,1\n0,1,0\n1,1,1\n")
    world = "world: {hill: {plane: {}, stiffness: 1e5}}\ncontacts: [{link: R3, sphere: {radius: 0.05}, with: hill}]"
    robot = Path(load_robot_file("arm5").sources[0].path).read_text(encoding="utf-8")
    (tmp_path / "r.yaml").write_text(f"{robot}\n{world}\n")
    with pytest.raises(FileFaults) as caught:
        read_scenario({"format": "armsim/scenario/1", "robot": "r.yaml", "duration": 1, "world": {"hill": hill}})
    told(str(caught.value))
