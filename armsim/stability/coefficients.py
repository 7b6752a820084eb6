"""The coefficients of linearised plants as arrays: of one plant, or of many that differ in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from armsim.actuation import largest_force, stall_force
from armsim.actuation.motor import back_emf_damping, brush_share, voltage_gain
from armsim.control import Controller
from armsim.expr import Scalar, where
from armsim.plant import Linearization
from armsim.stability.closed_loop import Array, Gains, gains


@dataclass(frozen=True)
class Coefficients:
    """M dv = Fq dq + Fv dv + Fi di + Fu du, di/dt = I (q, v, i, u), for n joints, k currents and m commands.

    Arrays may have leading axes, the same for all: one entry for each plant. For what they mean see `armsim.plant.Linearization`.

    Attributes:
        M: Mass matrix, shape (..., n, n).
        Fq: Shape (..., n, n).
        Fv: Shape (..., n, n).
        Fi: Shape (..., n, k).
        Fu: Shape (..., n, m).
        I: Shape (..., k, 2 n + k + m).
        bounds: What bounds the motion of every joint, shape (..., 5, n): the reciprocal of the largest force of its feedback
            [1/(N·m) or 1/N], 0 if it has no bound; the error target - q [rad or m]; 1 where dry friction holds it, else 0;
            the back-EMF damping that is gone at that force [N·m·s/rad], as limits of current or torque hold it constant; the
            share of its slope by which a voltage acts that swings as far as the command, for the brushes.
        law: The feedback; None for plants without.
        period: Of its samples [s]; None where it is continuous.
    """

    M: Array
    Fq: Array
    Fv: Array
    Fi: Array
    Fu: Array
    I: Array  # noqa: E741  the field's letter for a current
    bounds: Array
    law: Gains | None
    period: float | None

    @classmethod
    def of(cls, about: Linearization, dtype: type = float) -> Coefficients:
        """Those of one linearisation; of one by expressions as arrays of objects."""
        n, k, m = about.n, len(about.currents), len(about.u)
        blocks = (about.M, about.Fq, about.Fv, about.Fi, about.Fu, about.I, _bounds(about))
        widths = ((n, n), (n, n), (n, n), (n, k), (n, m), (k, 2 * n + k + m), (5, n))
        arrays: list[Array] = [
            np.array(rows, dtype=dtype).reshape(size) for rows, size in zip(blocks, widths, strict=True)
        ]
        law = None if about.law is None else gains(about.law, m, 2 * n + k, dtype)
        command = about.plant.command
        return cls(*_seven(arrays), law, None if law is None or command is None else command.period)

    @classmethod
    def shaped(cls, shapes: Sequence[Sequence[int]], period: float | None) -> Coefficients:
        """Zeros of these shapes, in the order of `arrays`."""
        arrays = [np.zeros(shape) for shape in shapes]
        return cls(*_seven(arrays), Gains(*arrays[7:]) if arrays[7:] else None, period)

    @property
    def arrays(self) -> tuple[Array, ...]:
        """All arrays, those of the law last."""
        return (self.M, self.Fq, self.Fv, self.Fi, self.Fu, self.I, self.bounds, *(self.law or ()))

    def with_arrays(self, arrays: Sequence[Array]) -> Coefficients:
        """The same structure with other arrays."""
        law = None if self.law is None else Gains(*arrays[7:])
        return Coefficients(*_seven(arrays), law, self.period)

    def __getitem__(self, which: Any) -> Coefficients:
        """Some of the plants, by an index or mask of the leading axes."""
        return self.with_arrays([array[which] for array in self.arrays])

    def unflattened(self, rows: Array) -> Coefficients:
        """Coefficients of this structure from rows of numbers, shape (..., size), in the order of `arrays`."""
        return self.with_arrays(
            [rows[..., first:end].reshape(*rows.shape[:-1], *like.shape) for like, first, end in self._places()]
        )

    def _places(self) -> Iterator[tuple[Array, int, int]]:
        ends = np.cumsum([0, *(array.size for array in self.arrays)]).tolist()
        return ((like, first, end) for like, (first, end) in zip(self.arrays, pairwise(ends), strict=True))


def _seven(arrays: Sequence[Array]) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    """The arrays of the plant, without those of its feedback."""
    M, Fq, Fv, Fi, Fu, rates, bounds = arrays[:7]
    return M, Fq, Fv, Fi, Fu, rates, bounds


def _bounds(about: Linearization) -> list[list[Scalar]]:
    """The rows of `Coefficients.bounds`."""
    command, joints = about.plant.command, about.plant.arm.joints
    held = [where(stuck, 1.0, 0.0) for stuck in about.held]
    if not isinstance(command, Controller):
        return [[0.0] * about.n, [0.0] * about.n, held, [0.0] * about.n, [1.0] * about.n]
    largest = [largest_force(joint, command.output, bound) for joint, bound in zip(joints, command.limit, strict=True)]
    errors = [target - q for target, q in zip(command.reference.at(about.t).q, about.q, strict=True)]
    gone = [_back_emf_gone(about, i, force) for i, force in enumerate(largest)]
    motors = [joint.electric_motor if command.output == "voltage" else None for joint in joints]
    shares = [1.0 if motor is None else brush_share(motor, u) for motor, u in zip(motors, about.u, strict=True)]
    return [[0.0 if force is None else 1.0 / force for force in largest], errors, held, gone, shares]


def _back_emf_gone(about: Linearization, i: int, force: Scalar | None) -> Scalar:
    """Back-EMF damping of a joint's commanded voltage that is gone at its largest force [N·m·s/rad]; 0 if voltage limits it.

    Fu is 0 where the motor is at that limit already, or where its current is a state.
    """
    command, joint = about.plant.command, about.plant.arm.joints[i]
    motor = joint.electric_motor
    if not isinstance(command, Controller) or command.output != "voltage" or motor is None or force is None:
        return 0.0
    damping = back_emf_damping(motor) * (about.Fu[i][i] / voltage_gain(motor))
    stall = stall_force(joint, command.output, command.limit[i])
    return damping if stall is None else where(force < stall, damping, 0.0)
