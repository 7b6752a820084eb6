"""Exact derivatives of the arm's quantities, and chains to test laws on."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

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
]


@pytest.fixture(scope="session", params=KINDS)
def arm(request, arms):
    """Random serial chains of revolute and prismatic joints, up to 12."""
    return arms.serial(request.param, seed=1)


@pytest.fixture(scope="session")
def motion():
    """Random joint positions, velocities, accelerations, ... of an arm."""

    def draw(arm, seed: int = 0, count: int = 3) -> list[list[float]]:
        rng = random.Random(seed)
        return [[rng.uniform(-2, 2) for _ in range(arm.n)] for _ in range(count)]

    return draw


@pytest.fixture(scope="session")
def exact_gradient():
    """Partial derivatives along q without truncation error.

    Masses, energies and poses are trigonometric polynomials of degree 2 in every revolute joint position, and polynomials of
    degree 2 in every prismatic one; differences over these steps are exact for both, so only rounding remains.
    """

    def gradient(arm, f, q) -> np.ndarray:
        def odd(i: int, h: float) -> np.ndarray:
            ahead, behind = list(q), list(q)
            ahead[i], behind[i] = q[i] + h, q[i] - h
            return (np.asarray(f(ahead), dtype=float) - np.asarray(f(behind), dtype=float)) / 2

        slopes = []
        for i, joint in enumerate(arm.joints):
            if joint.type == "revolute":  # b1 sin h + b2 sin 2h, of which b1 + 2 b2 is wanted
                first = odd(i, math.pi / 2)
                slopes.append(first + 2 * (odd(i, math.pi / 4) - first * math.sqrt(0.5)))
            else:
                slopes.append(odd(i, 1.0))
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
