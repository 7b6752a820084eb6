"""The loads that an implicit step takes as box-constrained laws of velocity: dry friction, stops, commands that saturate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal

from armsim.actuation import JointTorque, dry_bounds, stop_law
from armsim.actuation import motor as dc
from armsim.control import Controller
from armsim.dynamics import Law
from armsim.expr import Scalar, absolute, fma, maximum, minimum
from armsim.integrate import Motion
from armsim.plant.loads import Loads
from armsim.plant.state import Held
from armsim.records import record


@record
class VelocityLaws:
    """Those of the loads on an arm.

    Attributes:
        loads: The loads.
    """

    loads: Loads

    @cached_property
    def clipped(self) -> list[tuple[int, Literal["dry", "stop", "command"]]]:
        """Joint and kind of each."""
        loads, clipped = self.loads, list[tuple[int, Literal["dry", "stop", "command"]]]()
        for i, joint in enumerate(loads.arm.joints):
            if loads.dry[i]:
                clipped.append((i, "dry"))
            if joint.limit is not None and joint.limit.stiffness is not None:
                clipped.append((i, "stop"))
            if i in loads.arm.drivers and self.saturates(loads.arm.drivers.index(i)):
                clipped.append((i, "command"))
        return clipped

    def at(self, t: Scalar, y: Motion, held: Held, torques: Sequence[JointTorque]) -> list[Law]:
        """The laws of `clipped`."""
        return [self._law(i, kind, t, y, held, torques[i]) for i, kind in self.clipped]

    def _law(self, i: int, kind: str, t: Scalar, y: Motion, held: Held, torque: JointTorque) -> Law:
        loads, joint = self.loads, self.loads.arm.joints[i]
        if kind == "dry":
            return Law(i, *dry_bounds(joint, torque.motor, y.v[i]))
        if kind == "stop":
            assert joint.limit is not None
            b, d, lower, upper = stop_law(joint.limit, y.q[i])
            return Law(i, lower, upper, b, d)
        of = loads.arm.drivers.index(i)
        command, saturation = loads.command, self._saturation(of, y)
        assert isinstance(command, Controller)
        assert saturation is not None
        gain, limit = saturation
        d = maximum(gain * command.law.damping(of), 0.0)
        u = command.unlimited(t, loads.seen(y, held), y.z.control, *loads.piece(held))[of]
        b = fma(d, y.v[i], gain * u)
        return Law(i, -(absolute(gain) * limit), absolute(gain) * limit, b, d)

    def saturates(self, i: int) -> bool:
        """Whether a damping continuous command saturates a linear drive.

        A command that damps what it measures at the joint does not damp a rotor behind a coupling.
        """
        return self._saturation(i) is not None

    def _saturation(self, i: int, y: Motion | None = None) -> tuple[Scalar, Scalar] | None:
        """Torque per command, with the windings of a motion, and the command's limit; None where it does not saturate."""
        loads = self.loads
        command, joint = loads.command, loads.drives[i]
        if not isinstance(command, Controller) or command.period is not None or command.law.damping(i) is None:
            return None
        if joint.drives is not None and not loads.measures_rotors:
            return None
        limit, motor = command.limit[i], joint.motor
        if command.output == "current" or command.feedforward is not None:
            return None
        if command.output == "torque":
            return None if limit is None or (motor is not None and dc.is_limited(motor)) else (1.0, limit)
        if motor is None or not dc.is_linear(motor) or i in loads.inductive:
            return None
        bounds = [bound for bound in (limit, motor.limits.voltage) if bound is not None]
        if not bounds:
            return None
        warm = motor if y is None else loads.warmed(y)[loads.arm.drivers[i]].motor
        assert warm is not None
        return dc.voltage_gain(warm), minimum(bounds[0], bounds[-1])
