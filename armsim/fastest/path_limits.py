"""Limits of an arm and its motors along a path, as rows A u + B w² + C w + D <= 0 of path acceleration u and path speed w.

Along a path qd = q' w and qdd = q' u + q'' w², so the torque that a drive needs is a u + b w² + c w + d by inverse dynamics,
viscous friction c, gravity, springs and dry friction d. A motor bounds it by torque and current, and by its voltage less
the back-EMF, which is linear in w; a gear with losses passes on less of what drives, and takes more of what brakes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from armsim.actuation import motor as dc
from armsim.actuation.friction import NONE, dry_bounds
from armsim.actuation.joint_torque import unpowered, viscous_friction
from armsim.compile import BatchKernel
from armsim.dynamics import rnea
from armsim.expr import Scalar, minus, trace, where
from armsim.model import Arm, Joint

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
        self.arm, self.joints = arm, arm.joints
        every = [x for i, it in enumerate(zip(arm.joints, command)) for x in force_bounds(i, *it, output, share)]
        self.bounds = [(x, sign, False) for x in every for sign in (1.0, -1.0)]
        self.bounds += [(x, sign, True) for x in every if x.damping and self.loss(x.joint) for sign in (1.0, -1.0)]
        motors = [joint.motor for joint in arm.joints]
        tops = [[share * x.limits.speed / abs(x.gear)] if x and x.limits.speed is not None else [] for x in motors]
        if speed is not None:
            tops = [[*top, share * x] for top, x in zip(tops, speed, strict=True)]
        self.speeds = {i: min(top) for i, top in enumerate(tops) if top}
        self.accelerations = [] if acceleration is None else [share * x for x in acceleration]
        self.labels = [x.label for x, _, _ in self.bounds]
        self.labels += [RowLabel(arm.joints[i].name, "speed") for i in self.speeds]
        self.labels += [RowLabel(joint.name, "acceleration") for joint in arm.joints if self.accelerations] * 2
        drag = [min(-lower, upper) for lower, upper in (dry_bounds(joint, 0.0) for joint in arm.joints)]
        self.helps = [drag[x.joint] / x.force for x, _, _ in self.bounds]
        names = [f"x{i}" for i in range(4 * arm.n)]
        self.kernel = BatchKernel(trace(self.along, names, "along"), widths=[arm.n] * 4)

    def loss(self, i: int) -> float:
        """The share of the power that the gear of a joint loses."""
        motor = self.joints[i].motor
        return 0.0 if motor is None or motor.efficiency is None else 1.0 - motor.efficiency

    def along(self, *x: Scalar) -> list[Scalar]:
        """Rows by joint positions, their derivatives q' and q'' by the path parameter, and the joints' directions, -1, 0 or 1."""
        arm, n, joints = self.arm, self.arm.n, self.joints
        q, slope, second, direction = (x[k * n : (k + 1) * n] for k in range(4))
        still = [0.0] * n
        gravity = rnea(arm, q, still, still)
        a, b = (minus(rnea(arm, q, *it), gravity) for it in ((still, slope), (slope, second)))
        held = [unpowered(it, q_i, 0.0).drive_for(x) for it, q_i, x in zip(joints, q, gravity, strict=True)]
        drag = [-viscous_friction(joint, x) for joint, x in zip(joints, slope, strict=True)]
        rows: list[Scalar] = []
        for bound, sign, braking in self.bounds:
            i, loss = bound.joint, self.loss(bound.joint)
            towards = sign * direction[i]
            driving = towards > 0.0
            passed = 1.0 + loss * abs(towards) if braking else where(driving, 1.0 - loss, 1.0 + loss * abs(towards))
            (lower, upper), sliding = dry_bounds(joints[i], 0.0), joints[i].dry or NONE
            most, least = (-lower, sliding.negative) if sign > 0.0 else (upper, sliding.positive)
            dry = towards * where(driving, most, least)
            speed = sign * (drag[i] + passed * bound.damping * slope[i])
            row = (sign * a[i], sign * b[i], speed, sign * held[i] + dry)
            rows += [x / bound.force for x in row[:3]] + [row[3] / bound.force - passed]
        for i, most in self.speeds.items():
            rows += [0.0, 0.0, abs(slope[i]) / most, -1.0]
        for way in (1.0, -1.0):
            for rise, bend, most in zip(slope, second, self.accelerations):
                rows += [way * rise / most, way * bend / most, 0.0, -1.0]
        return rows

    def rows(self, q: Array, slope: Array, second: Array, direction: Array) -> Array:
        """Rows at m points, shape (m, R, 4); each is -1 where what it bounds is 0.

        Args:
            q: Joint positions, shape (m, n).
            slope: Their derivatives by the path parameter.
            second: Likewise.
            direction: Of each joint's motion, -1, 0 or 1.
        """
        found = np.empty((len(q), len(self.labels), 4))
        given = [np.ascontiguousarray(x) for x in (q, slope, second, direction)]
        self.kernel([(x.ctypes.data, x.strides[0]) for x in given], found.ctypes.data, len(q))
        return found

    def still(self, q: Array) -> Array:
        """By how much limits are exceeded where the arm stands still, relative, shape (m, R); friction helps to hold it."""
        zero = np.zeros_like(q)
        rows = self.rows(q, zero, zero, zero)[..., 3]
        rows[:, : len(self.helps)] -= self.helps
        return rows


def force_bounds(i: int, joint: Joint, command: float | None, output: str, share: float) -> list[ForceBound]:
    """The bounds of the force of a joint's drive, by its motor's limits and the greatest command."""
    motor, electric = joint.motor, joint.electric_motor
    found: list[ForceBound] = []

    def add(quantity: str, force: float, damping: float = 0.0) -> None:
        found.append(ForceBound(i, RowLabel(joint.name, quantity), force, damping))

    if output == "torque" and command is not None:
        add("command", share * command)
    if motor is not None and motor.limits.torque is not None:
        add("torque", share * abs(motor.gear) * motor.limits.torque)
    if electric is None:
        return found

    def lower(quantity: str, most: float | None) -> tuple[float, str]:
        """The lower one of a motor's limit and the greatest command, and its name; infinite if there is none."""
        bounds = [(most, quantity), (command if output == quantity else None, "command")]
        return min(((x, name) for x, name in bounds if x is not None), default=(math.inf, ""))

    amperes, name = lower("current", electric.limits.current)
    if amperes < math.inf:
        add(name, share * abs(dc.torque(electric, amperes)))
    volts, name = lower("voltage", electric.limits.voltage)
    if volts < math.inf:
        inner = dc.behind_brushes(electric, share * volts)
        add(name, abs(dc.voltage_gain(electric)) * inner, dc.back_emf_damping(electric))
    return found
