"""The loop of six joints whose positions put a frame at a pose: screws of the arm's joints and of joints that a goal leaves free.

A frame at pose T(q) = exp(q1 K1) ... exp(qm Km) T(0), with the screws K as they stand at q = 0 (Brockett's product of
exponentials), is at a goal G where the product is G T(0)⁻¹. An arm with fewer joints, or a goal with fewer conditions, is
completed to six by virtual joints at the frame: turns that a goal leaves free, and turns and shifts that come out as zero where
the arm meets the goal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armsim.dynamics import frame_jacobian, frame_pose
from armsim.errors import UsageError
from armsim.inverse_kinematics.task import Pointing, PoseGoal
from armsim.model import Arm
from armsim.spatial import Vector, perpendicular

FAR = 1e6  # out of reach, in lengths of the arm: for what is beyond, or not a number
GENERIC = (0.48, -0.36, 0.8)  # a direction along or across no axis of an arm


@dataclass(frozen=True)
class KinematicLoop:
    """Six joints in a row, lengths in units of the arm's, from the frame's origin at q = 0.

    Attributes:
        twists: Screws at q = 0, angular part first, shape (6, 6).
        joints: Indices of the arm's own joints among those of the arm; they come first.
        home: Rotation of the frame at q = 0, shape (3, 3).
        points: Points of the frame there that a goal decides, the first at its origin, (k, 3).
        origin: Where that is in the world [m].
        length: Of the arm [m].
    """

    twists: np.ndarray
    joints: list[int]
    home: np.ndarray
    points: np.ndarray
    origin: np.ndarray
    length: float

    @property
    def turns(self) -> np.ndarray:
        """Whether each joint turns."""
        return np.array([any(twist[:3]) for twist in self.twists])

    def motions(self, goal: PoseGoal) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (1 or m, 3, 3) and shifts (m, 3) that the six joints have to bring about.

        Args:
            goal: Its numbers may be arrays, of m goals; a turn that it leaves free is arbitrary here.
        """
        wanted, position = goal.orientation, np.atleast_2d(np.transpose(list(goal.position)))
        R = frame_along(*GENERIC)[None]
        if isinstance(wanted, Pointing):
            directions = np.atleast_2d(np.transpose(list(wanted.direction)))
            R = np.stack([frame_along(*x) for x in directions.tolist()]) @ frame_along(*self.points[1].tolist()).T
        elif wanted is not None:
            R = np.array([list(row) for row in wanted], dtype=float).reshape(3, 3, -1).transpose(2, 0, 1) @ self.home.T
        p = (position - self.origin) / self.length
        return np.where(np.isfinite(R).all(axis=(1, 2), keepdims=True), R, np.eye(3)), np.where(abs(p) < FAR, p, FAR)


def kinematic_loop(arm: Arm, goal: PoseGoal) -> KinematicLoop:
    """The loop of an arm for goals of a kind.

    Raises:
        UsageError: The goal leaves infinitely many solutions, or a joint is a screw or moves with another.
    """
    still = [0.0] * arm.n
    links = [arm.links[i] for i in reversed(arm.path(arm.link_of(goal.frame)))]
    for link in links:
        if link.mimic is not None or link.kind.has_pitch:
            found = "a screw" if link.mimic is None else "one that moves with another"
            mend = "ask for one solution near a start"
            raise UsageError.of(f"all solutions: {link.name}", "revolute and prismatic joints", found, mend)
    if len(links) > goal.size:
        found = f"{len(links)} joints for {goal.size} conditions, which leave infinitely many"
        mend = "ask for one solution, or for more: an orientation with the position"
        raise UsageError.of("all solutions", "at most as many joints as conditions", found, mend)
    frame, joints = frame_pose(arm, still, goal.frame), [arm.joint_names.index(link.name) for link in links]
    twists: np.ndarray = np.array(frame_jacobian(arm, still, goal.frame)).T[joints]
    turning = twists[:, :3].any(axis=1)
    length = float(np.linalg.norm(twists[turning, 3:], axis=1).max(initial=0.0)) or 1.0
    twists[turning, 3:] /= length
    free = GENERIC
    if isinstance(goal.orientation, Pointing):
        free = tuple(frame.rotation @ goal.orientation.axis)
    basis, missing = frame_along(*free).T, 6 - len(links)
    turns = np.hstack([basis, np.zeros((3, 3))])
    if goal.size == 6:  # a wrist's point would hide what three joints do at a pose
        turns[0, 3:] = np.cross(basis[1], basis[0])
    shifts = np.hstack([np.zeros((3, 3)), frame_along(*GENERIC).T])
    virtual = [shifts[: max(0, missing - 3)], turns[3 - min(3, missing) :]]
    points = np.vstack([np.zeros(3), {3: basis[:0], 5: basis[2:], 6: basis}[goal.size]])
    home, origin = (np.array([list(row) for row in part]) for part in (frame.rotation, [frame.position]))
    return KinematicLoop(np.vstack([twists, *virtual]), joints, home, points, origin[0], length)


def frame_along(x: float, y: float, z: float) -> np.ndarray:
    """A rotation whose last column is this unit vector."""
    axis = Vector(x, y, z)
    return np.array([list(column) for column in (*perpendicular(axis), axis)]).T
