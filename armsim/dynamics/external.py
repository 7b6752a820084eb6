"""External wrenches: applied loads on links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from armsim.dynamics.kinematics import link_velocities
from armsim.dynamics.rnea import Wrench
from armsim.expr import where
from armsim.model import Arm
from armsim.spatial import ZERO, Pose, Scalar, Vector, cross


@dataclass(frozen=True)
class ExternalWrench:
    """An applied load on one link: force and moment, during an interval of time.

    Attributes:
        link: Index of the link.
        point: Where the force acts, in the user's frame of the link [m].
        force: [N].
        moment: [N·m].
        frame: Whether force and moment are given along the axes of the "world" or of the "link".
        start: Beginning of the interval [s]; None for one without.
        end: End of the interval, excluded [s]; None for one without.
    """

    link: int
    point: Vector = ZERO
    force: Vector = ZERO
    moment: Vector = ZERO
    frame: Literal["world", "link"] = "world"
    start: Scalar | None = None
    end: Scalar | None = None


def link_wrenches(
    arm: Arm, t: Scalar, poses: Sequence[Pose], wrenches: Sequence[ExternalWrench]
) -> list[Wrench] | None:
    """The external wrench on every link at time t: moment about its own frame's origin and force, in its own axes.

    Args:
        arm: The arm, n joints.
        t: Time [s].
        poses: The links' own frames in the world, n of them.
        wrenches: The applied loads.

    Returns:
        n pairs (moment [N·m], force [N]), or None if there are no wrenches at all.
    """
    if not wrenches:
        return None
    total = [(ZERO, ZERO)] * arm.n
    for wrench in wrenches:
        frame = arm.joints[wrench.link].frame
        axes = poses[wrench.link].rotation.T if wrench.frame == "world" else frame.rotation
        force, moment = axes @ wrench.force, axes @ wrench.moment
        moment = moment + cross(frame.point(wrench.point), force)
        share: Scalar = 1.0
        if wrench.start is not None:
            share = where(t >= wrench.start, share, 0.0)
        if wrench.end is not None:
            share = where(t < wrench.end, share, 0.0)
        n, f = total[wrench.link]
        total[wrench.link] = (n + moment * share, f + force * share)
    return total


def external_power(arm: Arm, q, qd, wrenches: Sequence[Wrench] | None) -> Scalar:
    """Power of external wrenches [W].

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        wrenches: As `link_wrenches` gives them.
    """
    power: Scalar = 0.0
    for (w, v), (moment, force) in zip(link_velocities(arm, q, qd), wrenches or (), strict=False):
        power = power + (moment.dot(w) + force.dot(v))
    return power
