"""Limits of an arm and its motors along a path, as rows A u + B w² + C w + D <= 0 of path acceleration u and path speed w.

Along a path qd = q' w and qdd = q' u + q'' w², so the torque that a drive needs is a u + b w² + c w + d by inverse dynamics,
viscous friction c, gravity, springs and dry friction d. A motor bounds it by torque and current, and by its voltage less
the back-EMF, which is linear in w; a gear with losses passes on less of what drives, and takes more of what brakes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from armsim.actuation import motor as dc
from armsim.actuation.friction import dry_bounds
from armsim.actuation.joint_torque import unpowered, viscous_friction
from armsim.compile import BatchKernel
from armsim.dynamics import rnea
from armsim.expr import trace
from armsim.model import Arm, Coulomb, Joint

Array = Any  # numpy's


class RowLabel(NamedTuple):
    """What a row bounds.

    Attributes:
        joint: Of the joint; "" of the tool.
        quantity: "torque", "current", "voltage", "speed", "acceleration" or "command".
    """

    joint: str
    quantity: str

    def __str__(self) -> str:
        return f"{self.quantity} of {self.joint}"


class ForceBound(NamedTuple):
    """A bound of a drive's force T: |T + damping qd| <= force.

    Attributes:
        joint: Index of the joint.
        label: What bounds it.
        force: At standstill [N·m or N].
        damping: By back-EMF [N·m·s/rad or N·s/m].
    """

    joint: int
    label: RowLabel
    force: float
    damping: float = 0.0


class PathLimits:
    """The limits of an arm along any path.

    Args:
        arm: The arm, on numbers.
        output: What commands are.
        command: Greatest command of each joint; None where there is none.
        speed: Greatest speed of each joint [rad/s or m/s]; None without.
        acceleration: Greatest acceleration [rad/s² or m/s²]; None without.
        share: Of every limit that is used.
    """

    def __init__(
        self,
        arm: Arm,
        output: str,
        command: Sequence[float | None],
        speed: Sequence[float] | None,
        acceleration: Sequence[float] | None,
        share: float,
    ) -> None:
        n, joints = arm.n, arm.joints
        every = [bound for i, it in enumerate(zip(joints, command)) for bound in force_bounds(i, *it, output, share)]
        loss = [0.0 if x.motor is None or x.motor.efficiency is None else 1.0 - x.motor.efficiency for x in joints]
        rows = [(x, sign, False) for x in every for sign in (1.0, -1.0)]
        rows += [(x, sign, True) for x in every if x.damping and loss[x.joint] for sign in (1.0, -1.0)]
        self.of = np.array([x.joint for x, _, _ in rows], int)
        self.force, self.damping = np.array([(x.force, x.damping) for x, _, _ in rows]).reshape(-1, 2).T
        self.sign, self.braking = np.array([row[1] for row in rows]), np.array([row[2] for row in rows], bool)
        self.loss = np.array(loss)[self.of]
        static = [dry_bounds(joint, 0.0) for joint in joints]
        sliding = [joint.dry or Coulomb(0.0, 0.0) for joint in joints]
        # of positive and of negative direction: the most and the least that friction can be
        self.friction = np.array(
            [[(-a, x.positive), (b, x.negative)] for (a, b), x in zip(static, sliding, strict=True)]
        )
        caps = [(x.motor.limits.speed, abs(x.motor.gear)) if x.motor else (None, 1.0) for x in joints]
        tops = [[] if cap is None else [share * cap / gear] for cap, gear in caps]
        if speed is not None:
            tops = [[*top, share * x] for top, x in zip(tops, speed, strict=True)]
        self.fast = [i for i in range(n) if tops[i]]
        self.speed = np.array([min(tops[i]) for i in self.fast])
        self.acceleration = None if acceleration is None else share * np.array(acceleration)
        self.labels = [x.label for x, _, _ in rows] + [RowLabel(joints[i].name, "speed") for i in self.fast]
        self.labels += [] if acceleration is None else [RowLabel(x.name, "acceleration") for x in joints] * 2

        def terms(*x: Any) -> list[Any]:
            q, slope, second = x[:n], x[n : 2 * n], x[2 * n :]
            still = [0.0] * n
            gravity = rnea(arm, q, still, still)
            a, b = rnea(arm, q, still, slope), rnea(arm, q, slope, second)
            held = [unpowered(it, q_i, 0.0).drive_for(x) for it, q_i, x in zip(joints, q, gravity, strict=True)]
            drag = [-viscous_friction(joint, x) for joint, x in zip(joints, slope, strict=True)]
            return [*(x - g for x, g in zip(a, gravity)), *(x - g for x, g in zip(b, gravity)), *drag, *held]

        self.kernel = BatchKernel(trace(terms, [f"x{i}" for i in range(3 * n)], "along"), widths=[3 * n])
        self.outputs = 4 * n

    def rows(self, q: Array, slope: Array, second: Array, direction: Array) -> Array:
        """Rows at m points, shape (m, R, 4); each is -1 where what it bounds is 0.

        Args:
            q: Joint positions, shape (m, n).
            slope: Their derivatives by the path parameter.
            second: Likewise.
            direction: Of each joint's motion, -1, 0 or 1.
        """
        x, found = np.concatenate([q, slope, second], axis=1), np.empty((len(q), self.outputs))
        self.kernel([(x.ctypes.data, x.strides[0])], found.ctypes.data, len(x))
        of, sign = self.of, self.sign
        terms = np.moveaxis(found.reshape(len(x), 4, -1)[:, :, of], 1, 2)
        towards = sign * direction[:, of]
        most, least = np.moveaxis(self.friction[of][None, :, :], 3, 0)
        side = (direction[:, of] < 0.0).astype(int)[..., None]
        dry = np.where(
            towards > 0.0, np.take_along_axis(most, side, 2)[..., 0], np.take_along_axis(least, side, 2)[..., 0]
        )
        passed = np.where((towards > 0.0) & ~self.braking, 1.0 - self.loss, 1.0 + self.loss * (towards != 0.0))
        rows = terms * sign[:, None]
        rows[..., 2] += passed * sign * self.damping * slope[:, of]
        rows[..., 3] += towards * dry
        rows /= self.force[:, None]
        rows[..., 3] -= passed
        made, zero = [rows], np.zeros((len(x), len(self.fast)))
        made.append(np.stack([zero, zero, np.abs(slope[:, self.fast]) / self.speed, zero - 1.0], axis=2))
        if self.acceleration is not None:
            a, b, zero = slope / self.acceleration, second / self.acceleration, np.zeros_like(q)
            made += [np.stack([way * a, way * b, zero, zero - 1.0], axis=2) for way in (1.0, -1.0)]
        return np.concatenate(made, axis=1)

    def still(self, q: Array) -> Array:
        """By how much limits are exceeded where the arm stands still, relative, shape (m, R); friction helps to hold it."""
        zero = np.zeros_like(q)
        rows = self.rows(q, zero, zero, zero)[..., 3]
        rows[:, : len(self.of)] -= self.friction[self.of, :, 0].min(axis=1) / self.force
        return rows


def force_bounds(i: int, joint: Joint, command: float | None, output: str, share: float) -> list[ForceBound]:
    """The bounds of the force of a joint's drive, by its motor's limits and the greatest command."""
    motor, electric, found = joint.motor, joint.electric_motor, []

    def add(quantity: str, force: float, damping: float = 0.0) -> None:
        found.append(ForceBound(i, RowLabel(joint.name, quantity), force, damping))

    if output == "torque" and command is not None:
        add("command", share * command)
    if motor is not None and motor.limits.torque is not None:
        add("torque", share * abs(motor.gear) * motor.limits.torque)
    if electric is None:
        return found
    current = [x for x in (electric.limits.current, command if output == "current" else None) if x is not None]
    volts = [x for x in (electric.limits.voltage, command if output == "voltage" else None) if x is not None]
    if current:
        add("current", share * abs(dc.torque(electric, min(current))))
    if volts:
        inner = dc.behind_brushes(electric, share * min(volts))
        add("voltage", abs(dc.voltage_gain(electric)) * inner, dc.back_emf_damping(electric))
    return found
