"""What a frame does that follows a path."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np

from armsim.loading.tool_motion import Follower
from armsim.model import Arm
from armsim.records import record
from armsim.references.tool_path import ToolMotion


@record
class Extreme:
    """A greatest magnitude, or a least one.

    Attributes:
        value: The magnitude.
        t_s: When [s].
    """

    value: float
    t_s: float


EXTREME = {"degrees": lambda of: replace(of, value=math.degrees(of.value))}  # of an angle; see `armsim.model.angles`


@record
class ToolExcursion:
    """The motion of a frame along its path.

    Attributes:
        frame: Its name.
        speed: Extreme speed [m/s].
        deviation: Extreme distance from the path [m].
        manipulability: The least product of the singular values of the Jacobian, of what is followed (Yoshikawa 1985).
        joint: The joint that comes nearest to a limit; None where there is none.
        margin: How near [rad or m], negative outside its range; None likewise.
    """

    frame: str
    speed: Extreme
    deviation: Extreme
    manipulability: Extreme
    joint: str | None = None
    margin: Extreme | None = field(default=None, metadata=EXTREME)


def tool_excursion(arm: Arm, motion: ToolMotion, times: Sequence[float]) -> ToolExcursion:
    """What a frame does along its path, at those of some times that are within it."""
    follower, found, margins = Follower(arm, arm.frame(motion.frame), motion.follows), [], []
    for span in motion.spans:
        for t in (t for t in times if span.begin <= t <= span.end):
            now = motion.at(t)
            knot = follower.knot(span, t, np.array(now.q))
            assert knot is not None  # it has been followed there
            _, J, _ = follower.kinematics(np.array(now.q), np.array(now.qd))
            beside = follower.missing(np.array(now.q), *span.at(t)[:2])
            found.append((math.hypot(*J[:3] @ now.qd), math.hypot(*beside[:3]), -knot.S.prod(), t))
            for joint, x in zip(arm.joints, now.q, strict=True):
                ways = zip((1, -1), joint.bounds, strict=True)
                margins += [(way * (x - bound), t, joint.name) for way, bound in ways if bound is not None]
    speed, deviation, least = (Extreme(*max((row[k], row[-1]) for row in found)) for k in range(3))
    near = min(margins, default=None)
    limit = () if near is None else (near[2], Extreme(*near[:2]))
    return ToolExcursion(motion.frame, speed, deviation, Extreme(-least.value, least.t_s), *limit)
