"""Forces and moments from outside that act on links."""

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
    """A force and a moment on one link, during one interval of time.

    Attributes:
        link: Index of the link.
        point: Where the force acts, in the user's frame of the link [m].
        force: [N].
        moment: [N·m].
        frame: Whether force and moment are given along the axes of the "world" or of the "link".
        start: It acts from this time on [s]; None for ever since.
        end: Until this time [s], which it excludes; None for ever after.
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
    """What acts on every link at time t: the moment about its own frame's origin and the force, in its own axes.

    Args:
        arm: The arm, n joints.
        t: Time [s].
        poses: The links' own frames in the world, n of them.
        wrenches: All external wrenches.

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
    """Power of what acts on the links from outside [W].

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
