"""An instant of a run as measures see it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from functools import cached_property
from typing import Any

from armsim.actuation import JointTorque, acting_limits, limit_kinds, limited_quantities
from armsim.control import Controller
from armsim.dynamics import frame_position
from armsim.expr import Expr, Scalar, Scalars, absolute, minus
from armsim.model import Joint
from armsim.plant import Plant
from armsim.plant.instant import Instant
from armsim.plant.state import State
from armsim.spatial import Vector

END = 1e9  # s: a reference holds its last pose by then


class Moment:
    """A state of a run with what follows from it; nothing is computed before it is asked for.

    Args:
        plant: The plant.
        t: Time [s].
        state: Its state then; under sampled control, after the sample.
        dt: Time from the moment before to this one [s]: the step, a part of it, or several of them.
        start: Joint positions at the start of the run [rad or m].
    """

    def __init__(self, plant: Plant, t: Scalar, state: Scalars, dt: Scalar, start: Scalars) -> None:
        self.plant = plant
        self.t = t
        self.dt = dt
        self.start = start
        self._state = state

    @cached_property
    def x(self) -> State:
        """The state by its parts; works are None unless they are counted."""
        return self.plant.parts(self._state)

    @property
    def q(self) -> Scalars:
        """Joint positions [rad or m]."""
        return self.x.q[: self.plant.arm.n]

    @cached_property
    def now(self) -> Instant:
        """The accelerations and torques that act from then on, and what else rows report."""
        return self.plant.instant(self.t, self._state)

    @cached_property
    def torques(self) -> list[JointTorque]:
        """Of what drives act on, as of `now`, without dry friction: much less to compute."""
        return self.plant.arm.mechanism.of_drivers(self.plant.torques(self.t, self._state))

    @cached_property
    def saturated(self) -> list[Any]:
        """Whether a limit of its drive acts on every joint: conditions."""
        return self.plant.saturated(self.t, self._state)

    def after(self, t: Scalar, start: Scalars) -> Moment:
        """The same instant, the moment before it having been at time t [s], of a run from other joint positions."""
        same = copy(self)  # with what is computed already
        same.dt, same.start = self.t - t, start
        return same

    @cached_property
    def commands(self) -> list[Any]:
        """The commands as they reach the drives; None where there are none."""
        return self.plant.loads.commands(self.t, self.plant.motion_of(self.x), self.plant.held(self.t, self.x))

    @cached_property
    def limits(self) -> list[dict[str, bool | Expr]]:
        """Which limits of its drive act on every joint: conditions by kind, of `armsim.actuation.LIMITS`, of those there are."""
        command, found = self.plant.command, []
        if command is None:
            return [{} for _ in self.plant.arm.joints]
        for joint, u, bound, torque, rate in self._drives:
            bounded = {} if bound is None else {"command": absolute(u) >= bound}
            found.append(bounded | acting_limits(joint, command.output, u, torque, rate))
        return found

    @cached_property
    def shares(self) -> list[dict[str, Scalar]]:
        """How much of each such limit is used."""
        found = []
        for joint, u, bound, torque, rate in self._drives:
            used = limited_quantities(joint, torque, rate) | {"command": u}
            limits = limit_kinds(joint) | ({} if bound is None else {"command": bound})
            found.append({kind: absolute(used[kind]) / limit for kind, limit in limits.items()})
        return found

    @property
    def _drives(self) -> Iterator[tuple[Joint, Scalar, Scalar | None, JointTorque, Scalar]]:
        """Joints with their commands, limits of these, torques and drives' velocities."""
        plant, command = self.plant, self.plant.command
        bounds = command.limit if isinstance(command, Controller) else (None,) * plant.arm.n
        rates = plant.arm.mechanism.of_drivers(self.x.qd)
        return zip(plant.arm.joints, self.commands, bounds, self.torques, rates, strict=True)

    @cached_property
    def target(self) -> Scalars | None:
        """Where the controller's reference is then [rad or m]; None without a controller."""
        command = self.plant.command
        return command.reference.at(self.t).q if isinstance(command, Controller) else None

    @cached_property
    def goal(self) -> Scalars | None:
        """Where the controller's reference comes to its end [rad or m]; None without one that does, as a formula of time."""
        command = self.plant.command
        if not isinstance(command, Controller) or not command.reference.ends:
            return None
        return command.reference.at(END).q

    @cached_property
    def errors(self) -> Scalars:
        """Target less joint position, under a controller [rad or m]."""
        assert self.target is not None
        return minus(self.target, self.q)

    def off_target(self, name: str) -> Vector:
        """From a frame's origin to where it would be at the target, in the world [m]."""
        assert self.target is not None
        arm, frame = self.plant.arm, self.plant.arm.frame(name)
        return frame_position(arm, self.target, frame) - frame_position(arm, self.q, frame)

    def column(self, name: str) -> Scalar:
        """A column of the row, in SI units; in degrees where its heading says so.

        Args:
            name: Its heading, for example "tau_R2_Nm" or "q_R1_deg"; the unit may be left out.

        Raises:
            KeyError: There is no such column.
        """
        found = self.plant.nameable.named[name]
        value = self.plant.nameable.value(self.now, found.index)
        return value if found.factor == 1.0 else value * found.factor
