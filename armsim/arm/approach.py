"""How near an arm comes to itself and to the world in a motion, between its rows too.

On an interval of time a distance changes by no more than a bound on the speed of the arm's points allows. Where that does not
exclude that it is the least one, or that the pair touches, the interval is halved: conservative advancement (Mirtich 1996,
*Impulse-based Dynamic Simulation of Rigid Body Systems*, section 2.3), of all pairs at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.arrays import Array
from armsim.dynamics import farthest_moves
from armsim.model import Arm
from armsim.records import record
from armsim.spatial import Vector

TOUCH = 1e-6  # m: what comes nearer touches
WITHIN = 1e-4  # m: how much nearer than it is told a pair may come that does not touch
SHARE = 1e-3  # of the distance: likewise, where that is more


@record
class Approach:
    """How near two things come to each other in a motion.

    Attributes:
        pair: Its name.
        distance: The least one [m], to 0.1 mm or a thousandth; of a pair that touches that of one instant or another.
        time: When it is [s].
        touch: When they first touch [s], that is come within 1 µm; None if they never do.
    """

    pair: str
    distance: float
    time: float
    touch: float | None


def approaches(
    arm: Arm, distances: Callable[[Array], Array], t: Array, q: Array, qd: Array | None, pairs: list[str]
) -> list[Approach]:
    """See `armsim.arm.robot.Robot.approaches`; `distances` are those of the pairs at rows of joint positions."""
    h, rise = np.diff(t)[:, None], np.diff(q, axis=0)
    start, end = (rise, rise) if qd is None else (h * qd[:-1], h * qd[1:])  # in a share of the time between rows
    steepest = np.max(np.abs([start, end, 3 * rise - start - end]), axis=0)  # Bézier's bound on a cubic's slope
    corner = Vector(1.0, 1.0, 1.0)  # the direction of the point that is farthest from the origin
    solids: Any = arm.solids
    far = max(it.pose.position.norm + it.shape.support(corner).norm for it in solids)
    bound = np.asarray(farthest_moves(arm, [*q[:-1].T], [*steepest.T], far))

    def at(row: NDArray[np.integer], share: Array) -> tuple[Array, Array]:
        s = share[:, None]
        cubic = (3 * rise - 2 * start - end)[row] + s * (start + end - 2 * rise)[row]
        return t[row] + share * h[row, 0], q[row] + s * (start[row] + s * cubic)

    best, when, touch = (np.full(len(pairs), math.inf) for _ in range(3))

    def look(t: Array, q: Array) -> Array:
        found = distances(q)
        least = found.min(axis=0)
        np.copyto(when, t[found.argmin(axis=0)], where=least < best)
        np.minimum(best, least, out=best)
        np.minimum(touch, np.where(found <= TOUCH, t[:, None], math.inf).min(axis=0), out=touch)
        return found

    look(t, q)
    row, begin, width = np.arange(len(h)), np.zeros(len(h)), 1.0
    while len(row):
        found = look(*at(row, begin + width / 2))
        moved = bound[row, None] * width / 2  # at most, from the middle of each interval
        unsure = (found <= moved) & (moved > TOUCH)
        nearer = found - moved < best - np.maximum(WITHIN, SHARE * best)
        before = at(row, begin)[0][:, None] < touch
        wanted = np.where(touch < math.inf, unsure & before, unsure | nearer).any(axis=1)
        width /= 2
        row, begin = np.repeat(row[wanted], 2), np.repeat(begin[wanted], 2)
        begin[1::2] += width
    first = [x if x < math.inf else None for x in touch.tolist()]
    made = [*map(Approach, pairs, best.tolist(), when.tolist(), first)]
    return [made[i] for i in np.lexsort((best, touch))]
