"""Derivatives of the arm's quantities, and chains and trees to test laws on."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from tests.trees import tree

KINDS = [
    "R",
    "P",
    "RR",
    "RP",
    "PR",
    "RPR",
    "PPR",
    "RRRR",
    "RRPRR",
    "PRRPRR",
    "RRRRRRR",
    "RPRRPRRR",
    "RRRRRRRRRRRR",
    "RPRPRRPRPRRP",
    "S",
    "SR",
    "PS",
    "SSR",
    "RSPSR",
    "SRRSPRSR",
]
TREES = [0, 1, 4, 5, 7, 10, 13, 14]  # seeds of 4 to 10 joints; all but the first and 5 have joints that mimic others
MORE_TREES = range(20, 80)
STEPS = math.pi / 4 * np.arange(1, 5)  # of difference quotients


@pytest.fixture(
    scope="session",
    params=[*KINDS, *TREES, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MORE_TREES)],
    ids=lambda param: f"tree{param}" if isinstance(param, int) else param,
)
def arm(request, arms):
    """Random serial chains of revolute, prismatic and screw joints, up to 12, and random trees, up to 10."""
    from armsim.loading import read_robot

    kinds = request.param
    return arms.serial(kinds, seed=1) if isinstance(kinds, str) else read_robot(tree(kinds, most=10))[0]


@pytest.fixture(scope="session")
def motion():
    """Random joint positions, velocities, accelerations, ... of an arm."""

    def draw(arm, seed: int = 0, count: int = 3) -> list[list[float]]:
        rng = random.Random(seed)
        return [[rng.uniform(-2, 2) for _ in range(arm.n)] for _ in range(count)]

    return draw


def stencil(arm, joint) -> tuple[np.ndarray, np.ndarray]:
    """Steps, and weights by which odd parts over them add up to a derivative by the position of a joint.

    Where joints follow others by any ratio, central differences of order 10: the error is (h w)^10 / 2772 of the part of
    frequency w, of which there is little above 8.
    """
    if arm.followers:
        h = 1 / 64
        return h * np.arange(1, 6), np.array([5 / 6, -5 / 21, 5 / 84, -5 / 504, 1 / 1260]) * 2 / h
    made = weights(joint)
    return STEPS[: len(made)], made


def weights(joint) -> np.ndarray:
    """Weights by which odd parts over the first of `STEPS` add up to a derivative.

    The odd part of what a joint position x makes of masses, energies and poses is a sum of these functions of the step, of which
    those of a screw are the products of a turn's 1, sin, cos, ... and a slide's 1, x, x² of degree 2 at most.
    """
    odd = {
        (True, False): [np.sin, lambda h: np.sin(2 * h)],
        (False, True): [lambda h: h],
        (True, True): [np.sin, lambda h: np.sin(2 * h), lambda h: h, lambda h: h * np.cos(h)],
    }[joint.kind.turns, joint.kind.slides]
    slopes = {1: [1.0], 2: [1.0, 2.0], 4: [1.0, 2.0, 1.0, 1.0]}[len(odd)]
    return np.linalg.solve([f(STEPS[: len(odd)]) for f in odd], slopes)


@pytest.fixture(scope="session")
def exact_gradient():
    """Partial derivatives along q without truncation error worth mention; see `weights`, `stencil`. Only rounding remains."""

    def gradient(arm, f, q) -> np.ndarray:
        def odd(i: int, h: float) -> np.ndarray:
            ahead, behind = list(q), list(q)
            ahead[i], behind[i] = q[i] + h, q[i] - h
            return (np.asarray(f(ahead), dtype=float) - np.asarray(f(behind), dtype=float)) / 2

        slopes = [
            sum(weight * odd(i, h) for h, weight in zip(*stencil(arm, joint), strict=True))
            for i, joint in enumerate(arm.joints)
        ]
        return np.array(slopes)  # the derived joint comes first

    return gradient


@pytest.fixture(scope="session")
def mass():
    """The full mass matrix."""
    from armsim.dynamics import crba

    def full(arm, q) -> np.ndarray:
        M = np.zeros((arm.n, arm.n))
        for i, row in enumerate(crba(arm, q)):
            M[i, : i + 1] = M[: i + 1, i] = row
        return M

    return full
