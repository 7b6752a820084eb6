"""How a run left all bounds: which joint began it, since when, and how fast it grew.

Near a motion, what is wrong with a velocity is multiplied by the same number at every step: the eigenvalue of the step that is
largest. The increments of the velocities show it best, for the motion itself changes little in a step. They obey
x_k+1 = a x_k + b x_k-1, with a and b from the eigenvalue alone, or from a pair of complex ones (Prony's method). In the end,
where joints move by a radian a step, this is no longer so, and all of them blow up together, whoever began.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # runs that do not diverge need no numpy
    import numpy as np

LAST_STEPS = 1000  # before the end, in which growth is looked for
LARGEST_MOVE = 1.0  # rad or m a step: beyond it growth is no longer that of a linear system
LEAST = 3  # increments that make a growth
ENOUGH = 6  # equations for two unknowns
SLOWEST = 1.0001  # a step: what grows no faster is not told from the motion itself
UNEXPLAINED = 0.1  # of the increments, at most, for eigenvalues to explain them
OUTSIDE = 3.0  # times the size of what grows: larger increments are not its own


Rows = Sequence[Sequence[float]]


class Growth(NamedTuple):
    """The growth of what made a run diverge."""

    joint: int  # index of the one whose velocity grew first
    factor: float  # by which the increments of its velocity grew from step to step
    alternates: bool  # whether they changed their sign at every step, or nearly so
    steps: int  # for how many, up to the end
    throughout: bool  # whether it grew in all the steps that were looked at, so that it may have begun earlier

    def doubling_time(self, dt: float) -> float:
        """In which it doubled [s], with steps of dt [s]."""
        return dt * math.log(2.0) / math.log(self.factor)


def growth(velocities: Rows, dt: float) -> Growth | None:
    """The growth that ends at the last of a run's states; None where the velocities did not grow as those of an unstable step.

    Args:
        velocities: Joint velocities of the last states, one step apart [rad/s or m/s], shape (states, n).
        dt: The step [s].
    """
    import numpy as np

    v = np.array(velocities, dtype=float)
    end = linear_until(velocities, dt)
    v = v[: end if end > LEAST else None]  # too few are left: it grew so from its beginning, or is linear all the way
    if len(v) <= LEAST or not np.isfinite(v).all():
        return None
    jumps = np.diff(v, axis=0)
    joint = int(np.linalg.norm(jumps, axis=0).argmax())
    x = jumps[:, joint]
    eigenvalue = _eigenvalue(x)
    if eigenvalue is None:
        return None
    factor = float(abs(eigenvalue))
    # what grows adds up to size² / (1 - 1/factor²) over its steps, and an oscillation to half of that
    size = math.sqrt((1.0 - factor**-2) * (2.0 if eigenvalue.imag else 1.0)) * np.linalg.norm(x)
    foreign = np.flatnonzero(abs(x) > OUTSIDE * size * factor ** np.arange(1.0 - len(x), 1.0))
    begun = int(foreign[-1]) + 1 if len(foreign) else 0
    alternates = abs(math.atan2(eigenvalue.imag, eigenvalue.real)) > 0.75 * math.pi
    return Growth(joint, factor, alternates, len(velocities) - 1 - begun, begun == 0)


def linear_until(qd: Rows, dt: float) -> int:
    """How many of the states there are up to the last in which every joint moves by less than `LARGEST_MOVE` a step."""
    return max((k + 1 for k, row in enumerate(qd) if dt * max(map(abs, row)) <= LARGEST_MOVE), default=0)


def _eigenvalue(x: np.ndarray) -> Any:
    """The largest eigenvalue of a sequence's end; None where nothing grows in it.

    What came before is left out bit by bit, until one recurrence explains the rest. Every equation counts alike, whatever its
    size; where one eigenvalue explains them, the shortest solution has it among its roots.
    """
    import numpy as np

    while len(x) >= LEAST:
        triples = np.lib.stride_tricks.sliding_window_view(x, 3)
        triples = triples[triples.any(axis=1)]
        triples = triples / abs(triples).sum(axis=1, keepdims=True)
        known, after = triples[:, 1::-1] if len(triples) >= ENOUGH else triples[:, 1:2], triples[:, 2]
        recurrence = np.linalg.lstsq(known, after, rcond=1e-6)[0]
        if np.linalg.norm(after - known @ recurrence) <= UNEXPLAINED * np.linalg.norm(after):
            largest = max(np.roots([1.0, *-recurrence]), key=abs, default=0.0)
            return largest if abs(largest) >= SLOWEST else None
        x = x[max(1, len(x) // 10) :]
    return None
