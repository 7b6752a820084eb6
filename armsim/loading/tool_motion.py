"""The joints' motion along a tool's path, by inverse kinematics from knot to knot.

At a knot the joint positions put the tool on the path; their velocities and accelerations follow from the Jacobian and its
derivative. Quintics join the knots, which are as close as it takes to keep the tool within `TOLERANCE` of the path.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from armsim.compile.single import SingleKernel
from armsim.dynamics import frame_jacobian, frame_pose
from armsim.expr import dot, trace, with_jacobian
from armsim.model import Arm, Joint, LinkFrame
from armsim.references.hermite import quintic_hermite
from armsim.references.piecewise import polynomial
from armsim.references.tool_path import Span

Array = Any  # numpy's
TOLERANCE = 1e-10  # m and rad: most that the tool is beside its path between knots
AIM = TOLERANCE / 2  # where it is looked for: elsewhere it may be somewhat more
EXACT = 1e-13  # rad or m: a Newton correction that is rounding
SINGULAR = 1e-7  # relative, of the least singular value of the Jacobian
SHORTEST = 1e-8  # s: a knot that has to be closer to the one before cannot be reached
ROUNDS = 10  # of Newton's method
MOST_TRIES = 20_000  # of knots: a path that takes more is refused
INNER = (0.25, 0.5, 0.75)  # parts of the time to the next knot at which the motion is checked
AXES = {"full": [0, 1, 2], "x": [0], "y": [1], "z": [2], "free": []}  # of the frame, whose directions are followed


class Blocked(Exception):
    """A path cannot be followed any further: in which span, until when [s], joint positions there, a joint out of its range."""


class Knot(NamedTuple):
    """The joints' motion at a time.

    Attributes:
        t: The time [s].
        motion: Positions, velocities and accelerations, shape (3, n).
        J: Jacobian of what is followed of the tool's pose, shape (6, n).
        U: Its left singular vectors, a row each.
        S: Its singular values.
        V: Its right singular vectors, a row each.
    """

    t: float
    motion: Array
    J: Array
    U: Array
    S: Array
    V: Array


class Follower:
    """A frame of an arm that follows a path.

    Args:
        arm: The arm, on numbers.
        frame: Its frame.
        follows: What of the pose: "full", the direction of the frame's axis "x", "y" or "z", or "free" for the position alone.
    """

    def __init__(self, arm: Arm, frame: LinkFrame, follows: str) -> None:
        self.joints, self.axes, n = arm.joints, AXES[follows], arm.n
        self.conditions, self.tries = (3, 5, 6, 6)[len(self.axes)], 0
        self.size = min(self.conditions, n)

        def pose(*q: Any) -> list[Any]:
            here, rows = frame_pose(arm, q, frame), frame_jacobian(arm, q, frame)
            return [*here.position, *chain(*here.rotation, *rows[3:], *rows[:3])]

        def moving(*x: Any) -> list[Any]:
            values, slopes = with_jacobian(pose, range(n), "pose")(*x[:n])
            return [*values, *(dot(slope, x[n:]) for slope in slopes[12:])]

        self.kernel = SingleKernel(trace(moving, [f"x{i}" for i in range(2 * n)], "tool"))

    def kinematics(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """Position and axes of the frame, a row each, its Jacobian and the rate of that, linear velocity first."""
        x, found = np.concatenate([q, qd]), np.empty((4 + 4 * len(q), 3))
        self.kernel.call(x.ctypes.data, found.ctypes.data)
        J, rate = found[4:].reshape(2, 6, -1)
        return found[:4], J, rate

    def missing(self, q: Array, position: Array, rotation: Rotation) -> Array:
        """The shift [m] and the rotation, where it is small [rad], to a pose, shape (6,)."""
        found, _, _ = self.kinematics(q, q)
        a, b = found[1:].T[self.axes], rotation.as_matrix().T[self.axes]
        crossed = (
            a[:, [1, 2, 0]] * b[:, [2, 0, 1]] - a[:, [2, 0, 1]] * b[:, [1, 2, 0]]
        )  # quicker than NumPy's of few rows
        return np.concatenate([position - found[0], crossed.sum(axis=0) / max(1, len(self.axes) - 1)])

    def knot(self, span: Span, t: float, q: Array) -> Knot | None:
        """The motion at a time, by Newton's method from joint positions near it; None where it does not converge.

        Followed is P v, P a projection, by J = P J₆ of the frame's Jacobian J₆: J qd = P v and J qdd = (P v)' - J' qd. Where
        there are more joints than conditions, velocities are the least, J⁺ P v; the part of their derivative in the null space
        of J is (1 - J⁺ J) J'ᵀ (J Jᵀ)⁻¹ P v.
        """
        *pose, v, a = span.at(t)
        P, Pd = np.eye(6), np.zeros((6, 6))
        if not self.axes:
            P[3:] = 0.0
        if len(self.axes) == 1:
            d = pose[1].as_matrix()[:, self.axes[0]]
            turning = np.outer(d, np.cross(v[3:], d))
            P[3:, 3:] -= np.outer(d, d)
            Pd[3:, 3:] = -turning - turning.T
        for _ in range(ROUNDS):
            _, J, _ = self.kinematics(q, q)
            U, S, V = np.linalg.svd(P @ J)
            U, S, V = U.T[: self.size], S[: self.size], V[: self.size]
            if S[-1] < SINGULAR * S[0]:
                return None
            step = V.T @ (U @ self.missing(q, *pose) / S)
            q = q + step
            if abs(step).max() < EXACT:
                break
        if abs(self.missing(q, *pose)).max() > TOLERANCE / 100:
            return None
        forces = U @ P @ v / S
        qd = V.T @ forces
        Jd = P @ self.kinematics(q, qd)[2] + Pd @ J
        free = Jd.T @ (U.T @ (forces / S))
        qdd = V.T @ (U @ (P @ a + Pd @ v - Jd @ qd) / S - V @ free) + free
        return Knot(t, np.array([q, qd, qdd]), P @ J, U, S, V)

    def next_knot(self, span: Span, now: Knot, t: float) -> Knot | None:
        """The knot at a time on the branch of the one before; None where there is none, or a singular position between them."""
        (q, qd, qdd), h = now.motion, t - now.t
        found = self.knot(span, t, q + qd * h + qdd * (h * h / 2))
        for _ in range(2 * (self.size < len(q))):  # of redundant joints it is the quadrature of their velocities
            if found is not None:
                _, v, a = found.motion
                found = self.knot(span, t, q + (qd + v) * (h / 2) + (qdd - a) * (h * h / 12))
        return None if found is None or np.linalg.det(now.U @ found.J @ now.V.T) <= 0.0 else found

    def outside(self, *positions: Array) -> Joint | None:
        """The first joint that is out of its range at one of some joint positions."""
        joints = zip(self.joints, np.transpose(positions).tolist(), strict=True)
        return next((joint for joint, xs in joints if joint.limit and not all(map(joint.limit.holds, xs))), None)

    def knots(self, span: Span, q: Array) -> Iterator[tuple[Knot, list[tuple[float, ...]]]]:
        """The knots of a span but the first, each with the quintics of all joints that lead there.

        Args:
            span: Of the path.
            q: Joint positions at its beginning [rad or m], shape (n,).

        Raises:
            Blocked: The path cannot be followed.
        """
        now, h, joint = self.knot(span, span.begin, q), (span.end - span.begin) / 4, self.outside(q)
        if now is None or joint is not None:
            raise Blocked(span, span.begin, q, joint)
        while now.t < span.end:
            t = span.end if now.t + h > span.end - SHORTEST else now.t + h
            h, growth, joint = t - now.t, 0.2, None
            self.tries += 1
            after = self.next_knot(span, now, t)
            if after is not None:
                pieces = [
                    quintic_hermite(h, a, b)
                    for a, b in zip(now.motion.T.tolist(), after.motion.T.tolist(), strict=True)
                ]
                inner = [np.array([polynomial(c, u * h)[0] for c in pieces]) for u in INNER]
                joint = self.outside(*inner, after.motion[0])
            if after is not None and joint is None:
                poses = [span.at(now.t + u * h)[:2] for u in INNER]
                error = max(abs(self.missing(x, *pose)).max() for x, pose in zip(inner, poses, strict=True))
                growth = min(2.0, max(0.2, 0.9 * (AIM / max(error, 1e-16)) ** (1 / 6)))
                if error <= AIM:
                    now = after
                    yield now, pieces
            h *= growth
            if h < SHORTEST or self.tries > MOST_TRIES:
                raise Blocked(span, now.t, now.motion[0], joint)
