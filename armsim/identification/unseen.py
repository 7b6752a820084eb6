"""Columns of a regressor that are combinations of others: directions in which parameters can change without a trace.

Gautier 1990, *Numerical calculation of the base inertial parameters of robots*, Proc. IEEE Int. Conf. on Robotics and Automation:
which columns are independent, and by which factors the others add to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from armsim.arm.robot import Robot
from armsim.arrays import Array
from armsim.records import record

STATES = 25  # of the rank check; 11 would do
ROUNDING = 1e-10  # of the longest column
SMALL = 1e-9  # of a factor


@record
class UnseenDirection:
    """A change of parameters that the data cannot see.

    Attributes:
        factors: By the parameter's name, how much it changes; in its own unit.
    """

    factors: dict[str, float]

    @property
    def text(self) -> str:
        """In words, for example `a + 0.5 b`: these together change nothing."""
        parts = [
            f"{'- ' if x < 0 else '+ '}{'' if abs(x) == 1 else f'{abs(x):.3g} '}{k}" for k, x in self.factors.items()
        ]
        return " ".join(parts).removeprefix("+ ")


def stacked_regressor(robot: Robot) -> Array:
    """The regressor of the inertial parameters at random states, one below the other, shape (states n, 11 k)."""
    n = robot.arm.n
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, STATES, n))
    return robot.regressor(q, qd, qdd).reshape(STATES * n, -1)


def numerical_rank(columns: Array) -> int:
    """The rank of columns: singular values above rounding, columns scaled to one length."""
    lengths = np.linalg.norm(columns, axis=0)
    seen = lengths > ROUNDING * lengths.max()
    return int(np.linalg.matrix_rank(columns[:, seen] / lengths[seen], tol=ROUNDING * math.sqrt(seen.sum())))


def independent(columns: Array, least: float = ROUNDING, most: float = ROUNDING) -> tuple[list[int], Array]:
    """The first columns that are no combination of those before, and the factors that combine all columns of them.

    Modified Gram-Schmidt in the order given, so that the caller says which parameters stand for the others.

    Args:
        columns: Shape (m, k).
        least: A shorter column is nothing, relative to the longest.
        most: A column of which less is left over is a combination, relative to itself.

    Returns:
        Indices of r columns, and factors F, shape (r, k), with columns = columns[:, indices] F to within these bounds.
    """
    lengths = np.linalg.norm(columns, axis=0)
    nothing = least * lengths.max(initial=0.0)
    chosen: list[int] = []
    basis = np.zeros((len(columns), 0))
    factors = np.zeros((columns.shape[1], columns.shape[1]))
    for k, column in enumerate(columns.T):
        rest = column - basis @ (basis.T @ column)
        rest -= basis @ (basis.T @ rest)
        size = np.linalg.norm(rest)
        if lengths[k] <= nothing:
            continue
        if size > max(nothing, most * lengths[k]):
            basis = np.column_stack([basis, rest / size])
            factors[len(chosen), k] = 1.0
            chosen.append(k)
        else:
            factors[: len(chosen), k] = np.linalg.lstsq(columns[:, chosen], column, rcond=None)[0]
    return chosen, factors[: len(chosen)]


def unseen_directions(chosen: Sequence[int], factors: Array, names: Sequence[str]) -> list[UnseenDirection]:
    """The directions along which columns add up to nothing, one for each that `independent` has not chosen."""
    found = []
    for k in sorted(set(range(len(names))) - set(chosen)):
        of = {names[k]: 1.0}
        largest = np.abs(factors[:, k]).max(initial=0.0)
        of |= {names[j]: -float(x) for j, x in zip(chosen, factors[:, k], strict=True) if abs(x) > SMALL * largest}
        found.append(UnseenDirection(of))
    return found
