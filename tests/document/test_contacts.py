"""What a user reads when surfaces and contacts are wrong, word for word in tests/messages."""

from __future__ import annotations

import pytest

from armsim.errors import FileFaults
from armsim.loading import read_scenario

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
