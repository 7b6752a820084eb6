"""The loop of six joints whose positions put a frame at a pose: screws of the arm's joints and of joints that a goal leaves free.

A frame at pose T(q) = exp(q1 K1) ... exp(qm Km) T(0), with the screws K as they stand at q = 0 (Brockett's product of
exponentials), is at a goal G where the product is G T(0)⁻¹. An arm with fewer joints, or a goal with fewer conditions, is
completed to six by virtual joints at the frame: turns that a goal leaves free, and turns and shifts that come out as zero where
the arm meets the goal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from armsim.dynamics import frame_pose, own_poses
from armsim.errors import UsageError
from armsim.inverse_kinematics.task import Pointing, PoseGoal, perpendicular
from armsim.model import Arm
from armsim.spatial import ZERO, Vector, Z, cross

GENERIC = Vector(0.48, -0.36, 0.8)  # a direction along or across no axis of an arm


@dataclass(frozen=True)
class KinematicLoop:
    """Six joints in a row, numbers in units of the arm's length.

    Attributes:
        twists: Screws at q = 0 about `origin`, angular part first, shape (6, 6).
        joints: Indices of the arm's own joints among those of the arm; they come first.
        home: Rotation of the frame at q = 0, shape (3, 3).
        points: Its origin there from `origin`, and points of it that an orientation decides, (k, 3).
        origin: A point on the first axis [m].
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
        """Rotations (m, 3, 3) and shifts (m, 3) that the six joints have to bring about.

        Args:
            goal: Its numbers may be arrays, of m goals; a turn that it leaves free is arbitrary here.
        """
        wanted, position = goal.orientation, np.atleast_2d(np.transpose(list(goal.position)))
        R = frame_along(*GENERIC)[None]
        if isinstance(wanted, Pointing):
            directions = np.atleast_2d(np.transpose(list(wanted.direction)))
            axis = self.home @ list(wanted.axis)
            R = np.stack([frame_along(*x) for x in directions.tolist()]) @ frame_along(*axis.tolist()).T
        elif wanted is not None:
            R = np.array([list(row) for row in wanted], dtype=float).reshape(3, 3, -1).transpose(2, 0, 1) @ self.home.T
        return R, (position - self.origin) / self.length - R @ self.points[0]


def kinematic_loop(arm: Arm, goal: PoseGoal) -> KinematicLoop:
    """The loop of an arm for goals of a kind.

    Raises:
        UsageError: The goal leaves infinitely many solutions, or a joint is a screw or moves with another.
    """
    still = [0.0] * arm.n
    links = arm.path(arm.link_of(goal.frame))[::-1]
    for i in links:
        link = arm.links[i]
        if link.mimic is not None or link.kind.has_pitch:
            found = "a screw" if link.mimic is None else "one that moves with another"
            mend = "ask for one solution near a start"
            raise UsageError.of(f"all solutions: {link.name}", "revolute and prismatic joints", found, mend)
    if len(links) > goal.size:
        found = f"{len(links)} joints for {goal.size} conditions, which leave infinitely many"
        mend = "ask for one solution, or for more: an orientation with the position"
        raise UsageError.of("all solutions", "at most as many joints as conditions", found, mend)
    poses, frame = own_poses(arm, still), frame_pose(arm, still, goal.frame)
    origin = poses[links[0]].position
    points = [pose.position - origin for pose in (*(poses[i] for i in links), frame)]
    length = max(math.hypot(*p) for p in points) or 1.0
    axes = [(poses[i].rotation @ Z, p, arm.links[i].turns) for i, p in zip(links, points, strict=False)]
    free = GENERIC
    if isinstance(goal.orientation, Pointing):
        free = frame.rotation @ goal.orientation.axis
    basis = [*perpendicular(free), free]
    missing = 6 - len(links)
    axes += [(axis, points[-1], 0.0) for axis in [*perpendicular(GENERIC)][: max(0, missing - 3)]]
    aside = basis[1] * (length if goal.size == 6 else 0.0)  # a wrist's point would hide what three joints do at a pose
    turns = list(zip(basis, (points[-1] + aside, points[-1], points[-1]), (1.0,) * 3, strict=True))
    axes += turns[3 - min(3, missing) :]
    twists = [(*(w * turn), *(cross(p, w) * (turn / length) + w * (1.0 - turn))) for w, p, turn in axes]
    joints = [arm.joint_names.index(arm.links[i].name) for i in links]
    home = np.array([list(row) for row in frame.rotation])
    decided = {3: [], 5: [free], 6: basis}[goal.size]
    fixed = [list(points[-1] * (1.0 / length) + axis) for axis in (ZERO, *decided)]
    return KinematicLoop(np.array(twists), joints, home, np.array(fixed), np.array(list(origin)), length)


def frame_along(x: float, y: float, z: float) -> np.ndarray:
    """A rotation whose last column is this unit vector."""
    axis = Vector(x, y, z)
    return np.array([list(column) for column in (*perpendicular(axis), axis)]).T
