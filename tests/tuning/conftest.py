"""A single joint, whose motion is known in closed form."""

from __future__ import annotations

import pytest

J = 0.2  # kg m²


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def joint():
    """A disc about a vertical axis without friction, under PD control of its torque: a step of the target of 1 rad."""

    def made(**changed):
        disc = {"cylinder": {"axis": "z", "height": 0.1, "radius": 0.2, "mass": J / 0.02}}
        robot = {
            "format": "armsim/robot/1",
            "name": "disc",
            "joints": [
                {"name": "J", "type": "revolute", "mdh": {"a": 0, "alpha": 0, "d": 0, "theta": 0}, "bodies": [disc]}
            ],
        }
        control = {"law": "pd", "output": "torque", "kp": [5.0], "kd": [1.0], "target": [1.0]}
        return {
            "format": "armsim/scenario/1",
            "name": "step",
            "robot": robot,
            "duration": 6,
            "integrator": {"method": "rk4", "dt": 2e-3},
            "initial": {"q": [0], "qd": [0]},
            "control": {**control, **changed.pop("control", {})},
            "log": {"every": 0.1},
            **changed,
        }

    return made
