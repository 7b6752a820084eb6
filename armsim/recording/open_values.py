"""Checks of the values of numbers left open, quick enough for every step."""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from armsim.arm.arrays import evaluate
from armsim.arrays import Array
from armsim.compile import BatchKernel
from armsim.compile.single import SingleKernel
from armsim.expr import Function, trace, where
from armsim.loading.open_robot import OpenRobot

if TYPE_CHECKING:
    from armsim.compile.target import Target

MOST_KNOWN = 10_000


class OpenValues:
    """What stands for the open numbers of a robot file, checked in machine code as the file's own numbers are.

    Args:
        robot: The file.
        target: The machine to compile for.

    Attributes:
        known: Bytes of single values that have been checked.
    """

    def __init__(self, robot: OpenRobot, target: Target | None) -> None:
        self.robot = robot
        self.known: set[bytes] = set()
        self._target = target

    def __getstate__(self) -> object:
        return {"robot": self.robot, "known": set(), "_target": self._target}

    def admit(self, values: Array) -> None:
        """Check values, shape (p,) or (m, p).

        Raises:
            FileFaults: Some would be refused in the file.
            UsageError: One means that something is absent, which is structure.
        """
        if values.ndim == 1:
            self.admit_one(values.tobytes())
            return
        faulty = evaluate(self._batch, [values])[:, 0] != 0.0
        for row in values[faulty].tolist():
            self.robot.refuse(row)

    def admit_one(self, values: bytes) -> None:
        """Check the values of one step, p doubles; see `admit`."""
        if values in self.known:
            return
        given, result = np.frombuffer(values), ctypes.c_double()
        if self._single.call(given.ctypes.data, ctypes.addressof(result)) >= 0:
            self.robot.refuse(given.tolist())
        if len(self.known) >= MOST_KNOWN:
            self.known.clear()
        self.known.add(values)

    @cached_property
    def _single(self) -> SingleKernel:
        return SingleKernel(self._faulty(), [0.5], self._target)

    @cached_property
    def _batch(self) -> BatchKernel:
        return BatchKernel(self._faulty(), self._target)

    def _faulty(self) -> Function:
        """1 for values that `OpenRobot.refuse` may refuse, 0 for others."""
        return trace(lambda *x: [where(self.robot.sound(x), 0.0, 1.0)], self.robot.paths, "faulty")
