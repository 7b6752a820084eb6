"""What tests of derivations share: arms derived once, and how a printed program is read."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from armsim.derivation.derive import Derivation, derive

POLAR = {  # a boom that turns about a horizontal axis and a mass that slides along it, out of the axis
    "format": "armsim/robot/1",
    "name": "polar",
    "gravity": [0, "-g", 0],
    "parameters": {"m1": 3, "c1": 0.4, "I1": 0.5, "m2": 2, "I2": 0.2, "g": 9.81},
    "joints": [
        {
            "name": "turn",
            "type": "revolute",
            "mdh": {"theta": "pi/2"},  # the boom lies along -y of this frame, so along x of the world
            "bodies": [
                {"inertia": {"mass": "m1", "center": [0, "-c1", 0], "about": "com", "xx": 0, "yy": 0, "zz": "I1"}}
            ],
        },
        {
            "name": "slide",
            "type": "prismatic",
            "mdh": {"alpha": "pi/2"},
            "bodies": [{"inertia": {"mass": "m2", "center": [0, 0, 0], "about": "com", "xx": 0, "yy": "I2", "zz": 0}}],
        },
    ],
}


def _joint(name: str, type: str, mass, parent: str | None = None, mdh: dict | None = None, **more) -> dict:
    body = {"box": {"size": [0.1, 0.2, 0.3], "mass": mass, "center": [0.2, 0.05, 0.02]}}
    carried = {"name": name, "type": type, "mdh": mdh or {}, "bodies": [body], **more}
    return carried if parent is None else carried | {"parent": parent}


BRANCHES = {  # two arms on a column that turns, each of a joint that turns and one that slides
    "format": "armsim/robot/1",
    "name": "branches",
    "parameters": {"m": 1.5, "l": 0.4},
    "joints": [
        _joint("column", "revolute", "m", mdh={"d": 0.3}, motor={"gear": 30, "rotor_inertia": 1e-3}),
        _joint("left_turn", "revolute", 1, mdh={"a": "l", "alpha": "pi/2"}),
        _joint("left_slide", "prismatic", 2, mdh={"a": 0.1, "alpha": "pi/2"}),
        _joint("right_slide", "prismatic", "m", "column", {"a": "-l", "alpha": "-pi/2"}),
        _joint("right_turn", "revolute", 2, mdh={"a": 0.1, "alpha": 0.3}),
    ],
    "tool": {"link": "left_slide", "xyz": [0, 0, 0.1]},
}
JAWS = {  # couplings of all kinds of joints; one comes before the joint that it mimics
    "format": "armsim/robot/1",
    "name": "jaws",
    "parameters": {"k": 0.5, "m": 0.7},
    "joints": [
        _joint("wrist", "revolute", 2, mdh={"d": 0.3, "theta": 0.2}),
        _joint(
            "lower", "revolute", "m", mdh={"alpha": "pi/2"}, mimic={"joint": "upper", "ratio": "-k", "offset": 0.35}
        ),
        _joint("upper", "revolute", "m", "wrist", {"alpha": "pi/2", "a": 0.1, "theta": "pi/2"}),
        _joint(
            "rack",
            "prismatic",
            "m",
            "lower",
            {"alpha": 0.4, "a": 0.1},
            mimic={"joint": "upper", "ratio": 0.05, "offset": 0.02},
        ),
        _joint("screw", "screw", 0.3, "upper", {"a": 0.1}, pitch=0.01, mimic={"joint": "upper", "ratio": 3}),
    ],
    "tool": {"link": "screw", "xyz": [0, 0, 0.1]},
}
JAWS["joints"][1]["motor"] = {"gear": 20, "rotor_inertia": 1e-4}
WRITTEN = {robot["name"]: robot for robot in (POLAR, BRANCHES, JAWS)}


@pytest.fixture(scope="session")
def polar():
    """A boom that turns about a horizontal axis, with a mass that slides along it."""
    return POLAR


@pytest.fixture(scope="session")
def given():
    """The robot of a name: one of these, or a shipped one."""
    return lambda name: WRITTEN.get(name, name)


@pytest.fixture(scope="session")
def derived(given):
    """Derives a robot of a name once."""

    @cache
    def of(name: str) -> Derivation:
        return derive(given(name))

    return of


@pytest.fixture(scope="session")
def operations():
    """Multiplications, additions and sines or cosines of a function of a Python module, as they stand in its text."""

    def count(text: str, name: str) -> tuple[int, int, int]:
        tree = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name)
        signs = [type(node.op) for node in ast.walk(tree) if isinstance(node, ast.BinOp)]
        called = [node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call)]
        assert set(signs) <= {ast.Mult, ast.Div, ast.Add, ast.Sub}
        assert set(called) <= {"sin", "cos"}
        products = sum(sign in (ast.Mult, ast.Div) for sign in signs)
        return products, len(signs) - products, len(called)

    return count
