"""Numbers of a robot file that stand for its base parameters, to be sought in logs; and links that can exist and have them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from armsim.arm.robot import Robot
from armsim.arrays import Array
from armsim.errors import UsageError
from armsim.identification.consistent import (
    COMPONENTS,
    ConsistentInertias,
    base_matrix,
    consistent_inertias,
    with_inertias,
)
from armsim.identification.estimate import Estimate
from armsim.identification.unseen import independent
from armsim.loading import Given, build_robot, load_robot_file
from armsim.loading.open_robot import OpenRobot

BODY = ("mass", *(f"center[{k}]" for k in range(3)), *(name.lower() for name in COMPONENTS))
ORDER = (9, 5, 6, 7, 8, 4, 1, 2, 3, 0)  # of `BODY`: moments of inertia before first moments before the mass


class BaseNumbers:
    """A robot file with one body of known inertia on each link, whose numbers stand for base parameters.

    Joint forces show combinations of inertial parameters alone. Of the numbers of the bodies and rotors as many are open as there
    are combinations; the others stay, so that each open one stands for a combination.

    Args:
        robot: The robot file.

    Attributes:
        robot: Its arm.
        data: The file with such bodies, as plain data.

    Raises:
        FileFaults: The file cannot be used.
        UsageError: No motion shows anything of its masses.
    """

    def __init__(self, robot: Given) -> None:
        self._file = load_robot_file(robot).document
        self.robot = Robot(build_robot(self._file), "python")
        names = tuple(link.name for link in self.robot.arm.links)
        whole = ConsistentInertias(self.robot.inertial_parameters, names)
        self.data: Any = with_inertias(self._file, self.robot, whole, os.getcwd())

    @cached_property
    def paths(self) -> list[str]:
        """Of the open numbers."""
        joints = self._file.joints[::-1]
        every = [f"joints[{joint.name}].bodies[0].inertia.{BODY[k]}" for joint in joints for k in ORDER]
        rotors = [joint.name for joint in joints if joint.motor is not None and joint.motor.says("rotor_inertia")]
        every += [f"joints[{name}].motor.rotor_inertia" for name in rotors]
        opened = OpenRobot(self.data, every)
        chosen = independent(self._slopes(opened, np.array(opened.written, dtype=float)))[0]
        if not chosen:
            raise UsageError.of("open base", "masses on which the motion depends", "none", "open other numbers")
        return [every[k] for k in sorted(chosen)]

    def links(self, estimates: Sequence[Estimate]) -> ConsistentInertias:
        """Inertial parameters of links that can exist with the base parameters found, or as near to these as such links can be.

        Args:
            estimates: Of the open numbers, perhaps of others.
        """
        found = {one.path: one for one in estimates}
        values = np.array([found[path].value for path in self.paths])
        within = np.array([found[path].within or math.inf for path in self.paths])
        opened = OpenRobot(self.data, self.paths)
        intervals = np.linalg.pinv(self._slopes(opened, values)) / within[:, None]
        return consistent_inertias(self.robot, self._matrix @ _parameters(opened, values), intervals)

    @cached_property
    def _matrix(self) -> Array:
        return base_matrix(self.robot)

    def _slopes(self, opened: OpenRobot, values: Array) -> Array:
        """Derivatives of base parameters by numbers, which are bilinear: any step gives them."""
        steps = np.maximum(np.abs(values), 1.0) * np.eye(len(values))
        pairs = [(_parameters(opened, values + x) - _parameters(opened, values - x)) / (2 * x.sum()) for x in steps]
        return self._matrix @ np.array(pairs).T


def _parameters(opened: OpenRobot, values: Array) -> Array:
    return Robot(opened.of(values.tolist()), "python").inertial_parameters
