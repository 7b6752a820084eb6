"""What a plan has to stay within: the limits of joints, motors and tool, and distances."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

from armsim.actuation import Output
from armsim.arm.arrays import Array
from armsim.dynamics import distances, frame_velocity, watched_pairs
from armsim.expr import Scalar
from armsim.geometry import Plane, Sphere
from armsim.measures.moment import Moment
from armsim.model import Arm, MotorLimits
from armsim.planning.problem import Bound
from armsim.records import record

UNITS = {"voltage": "V", "current": "A", "torque": "N·m"}


@record
class PlanLimits:
    """The bounds of a plan, but for targets.

    Attributes:
        arm: The arm.
        tool_speed: The tool's greatest speed [m/s]; None for no limit.
        clearance: Least distance from spheres and planes of the world [m].
        output: What the inputs are.
        most: The greatest magnitude of each input, (n,); 0 of joints that are not driven.
    """

    arm: Arm
    tool_speed: float | None
    clearance: float
    output: Output
    most: Array

    @cached_property
    def path(self) -> tuple[Bound, ...]:
        """Those on states."""
        return (*self._positions(), *self._speeds(), *self._distances())

    def _positions(self) -> Iterator[Bound]:
        for joint in self.arm.joints:
            least, most = joint.bounds
            if least is not None or most is not None:
                lower, upper = -math.inf if least is None else least, math.inf if most is None else most
                yield Bound("position", joint.name, joint.kind.length, lower, upper, column=f"q_{joint.name}")

    def _speeds(self) -> Iterator[Bound]:
        for joint in self.arm.joints:
            if joint.motor is not None and joint.motor.limits.speed is not None:
                most = joint.motor.limits.speed / abs(joint.motor.gear)
                yield Bound("speed", joint.name, f"{joint.kind.length}/s", -most, most, most, f"qd_{joint.name}")
        most = self.tool_speed
        if most is not None:

            def speed(
                now: Moment,
            ) -> Scalar:  # squared, which is smooth at rest; at the bound it has the speed's value and rate
                velocity = frame_velocity(self.arm, now.q, now.x.qd, self.arm.tool)[1]
                return velocity.dot(velocity) * (0.5 / most) + 0.5 * most

            yield Bound("speed", self.arm.tool.name, "m/s", -math.inf, most, 1.0, "sqrt(vx*vx + vy*vy + vz*vz)", speed)

    def _distances(self) -> Iterator[Bound]:
        round_ones = {it.name for it in self.arm.world if isinstance(it.shape, (Sphere, Plane))}
        for name, watched in watched_pairs(self.arm).items():
            if watched and self.arm.pairs[name][1] in round_ones:

                def gap(now: Moment, name: str = name) -> Scalar:
                    return distances(self.arm, now.q, [name])[0]

                yield Bound("distance", name, "m", self.clearance, math.inf, 0.1, f"distance_{name}", gap)

    @property
    def drive(self) -> tuple[Bound, ...]:
        """Those on states and inputs."""
        found = []
        for joint, driven in zip(self.arm.joints, self.most, strict=True):
            limits, gear = (joint.motor.limits, joint.motor.gear) if joint.motor else (MotorLimits(), 1.0)
            for quantity, unit in UNITS.items():
                most = getattr(limits, quantity)
                if driven and most is not None and quantity != self.output:
                    column = f"{quantity}_{joint.name}"
                    column = f"tau_motor_{joint.name}/({float(gear)!r})" if quantity == "torque" else column
                    found.append(Bound(quantity, joint.name, unit, -most, most, most, column))
        return tuple(found)

    @property
    def inputs(self) -> tuple[Bound, ...]:
        """Those on the inputs of the joints that are driven."""
        prefix = "tau_motor" if self.output == "torque" else self.output
        return tuple(
            Bound(self.output, j.name, j.kind.unit_of(self.output), -most, most, most, f"{prefix}_{j.name}")
            for j, most in zip(self.arm.joints, self.most.tolist(), strict=True)
            if most > 0.0
        )

    @property
    def told(self) -> tuple[Bound, ...]:
        """All that the arm's file or the plan limits."""
        return (*self.path, *self.drive, *(one for one in self.inputs if math.isfinite(one.upper)))
