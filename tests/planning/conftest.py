"""Arms and scenarios for plans."""

from __future__ import annotations

import pytest


def joint(**more):
    return {
        "name": "x",
        "type": "prismatic",
        "mdh": {"a": 0, "alpha": 0, "d": 0, "theta": 0},
        "bodies": [{"point": {"mass": 2.0, "center": [0, 0, 0]}}],
        **more,
    }


@pytest.fixture
def task():
    """A mass of 2 kg on a rail, to be moved by 1 m; what is given goes to the plan, `duration` and `of_joint` elsewhere."""

    def made(minimise, duration=3.0, of_joint=None, **more):
        robot = {
            "format": "armsim/robot/1",
            "name": "mass",
            "gravity": [0, 0, 0],
            "convention": "mdh",
            "joints": [joint(**(of_joint or {}))],
        }
        plan = {"to": {"q": [1.0]}, "minimise": minimise, **more}
        return {"format": "armsim/scenario/1", "name": "rail", "robot": robot, "duration": duration, "plan": plan}

    return made
