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


@pytest.fixture(scope="session")
def polar():
    """A boom that turns about a horizontal axis, with a mass that slides along it."""
    return POLAR


@pytest.fixture(scope="session")
def derived(polar):
    """Derives a shipped robot, or "polar", once."""

    @cache
    def of(name: str) -> Derivation:
        return derive(polar if name == "polar" else name)

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
