"""The unstable mode in the last steps of a diverged run: its joint, its amplification factor, and since when it grew.

A perturbation of the motion grows by the dominant eigenvalue of the step. It shows best in the increments of the velocities, as
the motion itself changes little in a step: they obey x_k+1 = a x_k + b x_k-1, with a and b from one real eigenvalue or a complex
pair (Prony's method). Once joints move by a radian a step, the growth is nonlinear and all joints diverge together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # runs that do not diverge need no numpy
    import numpy as np

LAST_STEPS = 1000  # before the divergence, in which growth is looked for
LARGEST_MOVE = 1.0  # rad or m a step: beyond it growth is nonlinear
LEAST = 3  # increments, to fit one eigenvalue
ENOUGH = 6  # equations, to fit a complex pair
SLOWEST = 1.0001  # least amplification factor: slower growth is not told from the motion itself
UNEXPLAINED = 0.1  # relative residual of the fit, at most
OUTSIDE = 3.0  # times the amplitude of the mode: larger increments are not its own

Rows = Sequence[Sequence[float]]


class Growth(NamedTuple):
    """Exponential growth at the end of a diverged run."""

    joint: int  # index of the joint whose velocity grew most
    factor: float  # amplification of its velocity increments per step: |eigenvalue|
    alternates: bool  # whether the eigenvalue is negative, or nearly so
    steps: int  # number of steps of growth, up to the end
    throughout: bool  # whether all the given steps grew, so that it may have begun earlier

    def doubling_time(self, dt: float) -> float:
        """Doubling time [s], with steps of dt [s]."""
        return dt * math.log(2.0) / math.log(self.factor)


def growth(velocities: Rows, dt: float) -> Growth | None:
    """The exponential growth up to the last of a run's states; None where no unstable mode of the step shows.

    Args:
        velocities: Joint velocities of the last states, one step apart [rad/s or m/s], shape (states, n).
        dt: The step [s].
    """
    import numpy as np

    v = np.array(velocities, dtype=float)
    end = linear_until(velocities, dt)
    v = v[: end if end > LEAST else None]  # if too few are left, it was nonlinear from the beginning
    if len(v) <= LEAST or not np.isfinite(v).all():
        return None
    jumps = np.diff(v, axis=0)
    joint = int(np.linalg.norm(jumps, axis=0).argmax())
    x = jumps[:, joint]
    eigenvalue = _eigenvalue(x)
    if eigenvalue is None:
        return None
    factor = float(abs(eigenvalue))
    # amplitude in the last step: a geometric series sums to size² / (1 - 1/factor²), that of an oscillation to half of it
    size = math.sqrt((1.0 - factor**-2) * (2.0 if eigenvalue.imag else 1.0)) * np.linalg.norm(x)
    foreign = np.flatnonzero(abs(x) > OUTSIDE * size * factor ** np.arange(1.0 - len(x), 1.0))
    begun = int(foreign[-1]) + 1 if len(foreign) else 0
    alternates = abs(math.atan2(eigenvalue.imag, eigenvalue.real)) > 0.75 * math.pi
    return Growth(joint, factor, alternates, len(velocities) - 1 - begun, begun == 0)


def linear_until(qd: Rows, dt: float) -> int:
    """Number of states up to the last in which every joint moves by at most `LARGEST_MOVE` a step."""
    return max((k + 1 for k, row in enumerate(qd) if dt * max(map(abs, row)) <= LARGEST_MOVE), default=0)


def _eigenvalue(x: np.ndarray) -> Any:
    """The dominant eigenvalue of the recurrence that the end of a sequence obeys; None where nothing grows in it.

    The beginning is dropped a tenth at a time until one recurrence fits the rest. Equations are scaled to equal weight; where
    one real eigenvalue fits, the system is singular, and the least-norm solution has that eigenvalue among its roots.
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
