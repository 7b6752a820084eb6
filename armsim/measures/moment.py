"""An instant of a run as measures see it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from armsim.actuation import JointTorque
from armsim.control import Controller
from armsim.expr import Scalar
from armsim.plant import Plant
from armsim.plant.columns import Instant, value_of
from armsim.plant.state import State


class Moment:
    """A state of a run with what follows from it; nothing is computed before it is asked for.

    Args:
        plant: The plant.
        t: Time [s].
        state: Its state then; under sampled control, after the sample.
        dt: Time from one moment to the next [s]: the step, or a part of it.
        start: Joint positions at the start of the run [rad or m].
    """

    def __init__(self, plant: Plant, t: Scalar, state: Sequence[Scalar], dt: float, start: Sequence[Scalar]) -> None:
        self.plant = plant
        self.t = t
        self.dt = dt
        self.start = start
        self._state = state

    @cached_property
    def x(self) -> State:
        """The state by its parts; works are None unless they are counted."""
        return self.plant.parts(self._state)

    @cached_property
    def now(self) -> Instant:
        """The accelerations and torques that act from then on, and what else rows report."""
        return self.plant.instant(self.t, self._state)

    @cached_property
    def torques(self) -> list[JointTorque]:
        """As of `now`, without dry friction: much less to compute."""
        return self.plant.torques(self.t, self._state)

    @cached_property
    def saturated(self) -> list[Any]:
        """Whether a limit of its drive acts on every joint: conditions."""
        return self.plant.saturated(self.t, self._state)

    @cached_property
    def target(self) -> Sequence[Scalar] | None:
        """Where the controller's reference is then [rad or m]; None without a controller."""
        command = self.plant.command
        return command.reference.at(self.t).q if isinstance(command, Controller) else None

    @cached_property
    def errors(self) -> list[Scalar]:
        """Target less joint position, under a controller [rad or m]."""
        assert self.target is not None
        return [target - q for target, q in zip(self.target, self.x.q, strict=True)]

    def column(self, name: str) -> Scalar:
        """A column of the row, in SI units; in degrees where its heading says so.

        Args:
            name: Its heading, for example "tau_R2_Nm" or "q_R1_deg"; the unit may be left out.

        Raises:
            KeyError: There is no such column.
        """
        found = self.plant.named_columns[name]
        value = value_of(self.now, found.index)
        return value if found.factor == 1.0 else value * found.factor
