"""How a run left all bounds: which joint began it, since when, and how fast it grew.

Near a motion, what is wrong with a velocity is multiplied by the same number at every step: the eigenvalue of the step that is
largest. The increments of the velocities show it best, for the motion itself changes little in a step. They obey
x_k+1 = a x_k + b x_k-1, with a and b from the eigenvalue alone, or from a pair of complex ones (Prony's method). In the end,
where joints move by a radian a step, this is no longer so, and all of them blow up together, whoever began.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

LAST_STEPS = 1000  # before the end, in which growth is looked for
LARGEST_MOVE = 1.0  # rad or m a step: beyond it growth is no longer that of a linear system
LEAST = 3  # increments that make a growth
ENOUGH = 6  # equations for two unknowns
SLOWEST = 1.0001  # a step: what grows no faster is not told from the motion itself
UNEXPLAINED = 0.1  # of the increments, at most, for eigenvalues to explain them
BETTER = 0.5  # of what one eigenvalue leaves unexplained: two have to leave less
ROUNDING = 1e-6  # of the increments: where one eigenvalue leaves no more, there is no second one
OUTSIDE = 3.0  # times the size of what grows: larger increments are not its own


@dataclass(frozen=True)
class Growth:
    """The growth of what made a run diverge.

    Attributes:
        joint: Index of the joint whose velocity grew first.
        factor: By which the increments of its velocity grew from step to step.
        alternates: Whether they changed their sign at every step, or nearly so.
        steps: For how many steps, up to the end.
        throughout: Whether it grew in all the steps that were looked at, so that it may have begun earlier.
    """

    joint: int
    factor: float
    alternates: bool
    steps: int
    throughout: bool

    def doubling_time(self, dt: float) -> float:
        """In which it doubled [s], with steps of dt [s]."""
        return dt * math.log(2.0) / math.log(self.factor)


def growth(velocities: Sequence[Sequence[float]], dt: float) -> Growth | None:
    """The growth that ends at the last of a run's states; None where the velocities did not grow as those of an unstable step.

    Args:
        velocities: Joint velocities of the last states, one step apart [rad/s or m/s], shape (states, n).
        dt: The step [s].
    """
    end = len(velocities)
    while end > LEAST and not dt * max(map(abs, velocities[end - 1])) <= LARGEST_MOVE:
        end -= 1
    if end == LEAST:  # too few are left: it grew so from its beginning, or is linear all the way
        end = len(velocities)
    jumps = [[b - a for a, b in zip(v, w, strict=True)] for v, w in pairwise(velocities[:end])]
    if len(jumps) < LEAST or not all(math.isfinite(x) for jump in jumps for x in jump):
        return None
    energies = [sum(x * x for x in joint) for joint in zip(*jumps, strict=True)]
    joint = max(range(len(energies)), key=energies.__getitem__)
    x = [jump[joint] for jump in jumps]
    eigenvalue = _eigenvalue(x)
    if eigenvalue is None:
        return None
    factor = abs(eigenvalue)
    # what grows adds up to size² / (1 - 1/factor²) over its steps, and an oscillation to half of that
    size = math.sqrt((1.0 - factor**-2) * energies[joint] * (2.0 if eigenvalue.imag else 1.0))
    begun = len(x)
    while begun > 0 and abs(x[begun - 1]) <= OUTSIDE * size:
        begun -= 1
        size /= factor
    return Growth(
        joint=joint,
        factor=factor,
        alternates=abs(cmath.phase(eigenvalue)) > 0.75 * math.pi,
        steps=len(velocities) - 1 - begun,
        throughout=begun == 0,
    )


def _eigenvalue(x: Sequence[float]) -> complex | None:
    """The largest eigenvalue of a sequence's end; None where nothing grows in it.

    What came before is left out bit by bit, until one recurrence explains the rest.
    """
    while len(x) >= LEAST:
        a, b, unexplained = _recurrence(x)
        if unexplained <= UNEXPLAINED:
            eigenvalue = _largest_root(a, b)
            return eigenvalue if abs(eigenvalue) >= SLOWEST else None
        x = x[max(1, len(x) // 10) :]
    return None


def _recurrence(x: Sequence[float]) -> tuple[float, float, float]:
    """a and b of x_k+1 = a x_k + b x_k-1 by least squares, and what they leave unexplained, as a share.

    Every equation counts alike, whatever its size. b is 0 where one eigenvalue explains them as well as two would, and where
    they are too few to tell.
    """
    triples = [triple for triple in zip(x, x[1:], x[2:], strict=False) if any(triple)]
    sizes = [sum(map(abs, triple)) for triple in triples]
    before, now, after = ([triple[i] / size for triple, size in zip(triples, sizes, strict=True)] for i in range(3))
    squares, whole = _dot(now, now), _dot(after, after)
    if squares == 0.0 or whole == 0.0:
        return 0.0, 0.0, 0.0
    a = _dot(now, after) / squares
    left = [z - a * y for y, z in zip(now, after, strict=True)]
    unexplained = math.sqrt(_dot(left, left) / whole)
    if len(left) < ENOUGH or unexplained <= ROUNDING:
        return a, 0.0, unexplained
    along = _dot(now, before) / squares
    across = [w - along * y for w, y in zip(before, now, strict=True)]
    b = _dot(across, left) / _dot(across, across)
    left = [r - b * w for r, w in zip(left, across, strict=True)]
    with_two = math.sqrt(_dot(left, left) / whole)
    return (a - b * along, b, with_two) if with_two < BETTER * unexplained else (a, 0.0, unexplained)


def _largest_root(a: float, b: float) -> complex:
    """Of z² = a z + b."""
    root = cmath.sqrt(a * a / 4.0 + b)
    return max(a / 2.0 + root, a / 2.0 - root, key=abs)


def _dot(x: Sequence[float], y: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(x, y, strict=True))
