"""The coefficients of linearised plants as arrays: of one plant, or of many that differ in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armsim.actuation import largest_force, stall_force
from armsim.actuation.motor import back_emf_damping, brush_share, voltage_gain
from armsim.arrays import Array
from armsim.control import Controller, linear_slots
from armsim.expr import Scalar, Scalars, where
from armsim.plant import Linearization, Plant
from armsim.records import record
from armsim.stability.closed_loop import Gains


@record
class Coefficients:
    """M dv = Fq dq + Fv dv + Fi di + Fu du, di/dt = I (q, v, i, u), for n joints, k currents and m commands.

    Arrays may have leading axes, the same for all: one entry for each plant. For what they mean see `armsim.plant.Linearization`.

    Attributes:
        law: The feedback; None for plants without.
        period: Of its samples [s]; None where it is continuous.
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
    """

    law: Gains | None
    period: float | None
    M: Array
    Fq: Array
    Fv: Array
    Fi: Array
    Fu: Array
    I: Array  # noqa: E741  the field's letter for a current
    bounds: Array

    @classmethod
    def of(cls, about: Linearization) -> Coefficients:
        """Those of one linearisation."""
        return cls.from_rows(about.plant, np.array(flat(about), dtype=float))

    @classmethod
    def from_rows(cls, plant: Plant, rows: Array) -> Coefficients:
        """Those of plants that differ from this one in numbers, by rows of them as of `flat`, shape (..., size)."""
        sizes, command = shapes(plant), plant.command
        parts: list[Any] = np.split(rows, np.cumsum([height * width for height, width in sizes[:-1]]), axis=-1)
        arrays = [part.reshape(*rows.shape[:-1], *size) for part, size in zip(parts, sizes, strict=True)]
        if not isinstance(command, Controller):
            return cls(None, None, *arrays)
        return cls(Gains(*arrays[7:]), command.period, *arrays[:7])

    def __getitem__(self, which: Any) -> Coefficients:
        """Some of the plants, by an index or mask of the leading axes."""
        given = (self.M, self.Fq, self.Fv, self.Fi, self.Fu, self.I, self.bounds)
        law = None if self.law is None else Gains(*(array[which] for array in self.law))
        return Coefficients(law, self.period, *(array[which] for array in given))


def shapes(plant: Plant) -> list[tuple[int, int]]:
    """The shapes of the arrays of a plant's coefficients, those of its feedback last."""
    n, k, command = plant.arm.mechanism.n, len(plant.inductive), plant.command
    x = 2 * n + k
    sizes = [(n, n), (n, n), (n, n), (n, k), (n, n), (k, x + n), (5, n)]
    if isinstance(command, Controller):
        z = len(linear_slots(command.slots([joint.name for joint in plant.arm.joints])))
        sizes += [(n, x), (n, z), (z, x), (z, z)]
    return sizes


def flat(about: Linearization) -> Scalars:
    """The coefficients of a linearisation, by numbers or by expressions, in order.

    Joints behind elastic couplings have commands of their own there, without effect: one for each coordinate.
    """
    places, x = _places(about), len(about.states)

    def spread(row: Scalars) -> Scalars:
        return [0.0 if j is None else row[j] for j in places]

    def rows(block: Sequence[Scalars]) -> Sequence[Scalars]:
        return [[0.0] * len(block[0]) if j is None else block[j] for j in places]

    law = () if about.law is None else (rows(about.law.K), rows(about.law.Kz), about.law.Z, about.law.Zz)
    currents = [[*row[:x], *spread(row[x:])] for row in about.I]
    blocks = (about.M, about.Fq, about.Fv, about.Fi, [*map(spread, about.Fu)], currents, _bounds(about), *law)
    return [x for rows in blocks for row in rows for x in row]


def _places(about: Linearization) -> list[int | None]:
    """Index of the command that acts on each coordinate; None for a joint behind an elastic coupling."""
    drivers = about.plant.arm.mechanism.drivers
    return [drivers.index(i) if i in drivers else None for i in range(about.n)]


def _bounds(about: Linearization) -> Sequence[Scalars]:
    """The rows of `Coefficients.bounds`."""
    command, joints, places = about.plant.command, about.plant.arm.mechanism.joints, _places(about)
    held = [where(stuck, 1.0, 0.0) for stuck in about.held]
    if not isinstance(command, Controller):
        return [[0.0] * about.n, [0.0] * about.n, held, [0.0] * about.n, [1.0] * about.n]
    limits = [None if j is None else command.limit[j] for j in places]
    largest = [largest_force(joint, command.output, bound) for joint, bound in zip(joints, limits, strict=True)]
    targets = command.reference.at(about.t).q
    errors = [targets[i if j is None else j] - q for i, (j, q) in enumerate(zip(places, about.q, strict=True))]
    gone = [_back_emf_gone(about, i, force) for i, force in enumerate(largest)]
    motors = [joint.electric_motor if command.output == "voltage" else None for joint in joints]
    driven = zip(motors, places, strict=True)
    shares = [1.0 if motor is None or j is None else brush_share(motor, about.u[j]) for motor, j in driven]
    return [[0.0 if force is None else 1.0 / force for force in largest], errors, held, gone, shares]


def _back_emf_gone(about: Linearization, i: int, force: Scalar | None) -> Scalar:
    """Back-EMF damping of a joint's commanded voltage that is gone at its largest force [N·m·s/rad]; 0 if voltage limits it.

    Fu is 0 where the motor is at that limit already, or where its current is a state.
    """
    command, joint, j = about.plant.command, about.plant.arm.mechanism.joints[i], _places(about)[i]
    motor = joint.electric_motor
    if (
        not isinstance(command, Controller)
        or command.output != "voltage"
        or motor is None
        or force is None
        or j is None
    ):
        return 0.0
    damping = back_emf_damping(motor) * (about.Fu[i][j] / voltage_gain(motor))
    stall = stall_force(joint, command.output, command.limit[j])
    return damping if stall is None else where(force < stall, damping, 0.0)
