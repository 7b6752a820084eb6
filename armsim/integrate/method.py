"""The interface of an integration method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from armsim.expr import Scalar, Scalars
from armsim.integrate.extension import Ahead
from armsim.integrate.motion import Motion
from armsim.integrate.system import System
from armsim.records import record

Step = Callable[[System, Scalar, Motion, Scalar], Motion]  # system, time, state, step to the state a step later

FAILED = 1e300  # velocity that marks a step that could not be made; it is beyond all bounds
EXHAUSTED = 2e300  # velocity that marks an advance of an adaptive method that took more steps than it may

Stall = Literal["no step", "too many steps"]


def stall_of(state: Sequence[float]) -> Stall | None:
    """Why no step led to a state, whose velocities are marked then; None for a state that was reached."""
    return "no step" if FAILED in state else "too many steps" if EXHAUSTED in state else None


def no_step(method: str, stalled: Stall) -> str:
    """What a method did not find, in words."""
    if stalled == "too many steps":
        return f"too long a time for {method}, which tried a million steps"
    return f"no step of {method} that is short enough for the tolerance"


@record
class Tolerance:
    """Tolerance of an adaptive method's local error: atol + rtol |x| in every position, velocity and further state.

    Attributes:
        rtol: Relative.
        atol: Absolute, in the unit of the state.
    """

    rtol: Scalar = 1e-6
    atol: Scalar = 1e-9


class Adaptive(Protocol):
    """Advances under step-size control."""

    def advance(
        self, system: System, t: Scalar, y: Motion, h: Scalar, memory: Scalars, tolerance: Tolerance
    ) -> tuple[Motion, Scalars]:
        """See `Method.advance`."""

    def follow(
        self, system: System, t: Scalar, h: Scalar, memory: Scalars, tolerance: Tolerance, ahead: Ahead
    ) -> tuple[Motion, Scalars, Ahead]:
        """The state at t + h, and the memory for the next call; with steps that land on multiples of `ahead.landing` alone.

        Args:
            system: The system, between the last landing and the next.
            t: Time [s].
            h: Length of the interval [s], within one between landings.
            memory: What the last call returned.
            tolerance: For the steps.
            ahead: How far it has come, `of_instant`.
        """


@record
class Method:
    """An integration method.

    Attributes:
        order: Its order on smooth motions.
        step: One step of a fixed-step method; None for an adaptive one.
        adaptive: An adaptive method's advances; None for a fixed-step method.
        coefficients: Number of coefficients of its continuous extension.
        cuts: Whether a fixed step is cut at events.
        conserves: Whether the energy of a small undamped oscillation stays bounded.
        memory: Names of the step-size control's state from one advance to the next; zero to begin with.
    """

    order: int
    step: Step | None = None
    adaptive: Adaptive | None = None
    coefficients: int = 0
    cuts: bool = False
    conserves: bool = False
    memory: tuple[str, ...] = ()

    @property
    def locates(self) -> bool:
        """Whether it locates events, so that within a step all is smooth."""
        return self.cuts or self.adaptive is not None

    def advance(
        self, system: System, t: Scalar, y: Motion, h: Scalar, memory: Scalars, tolerance: Tolerance
    ) -> tuple[Motion, Scalars]:
        """The state at t + h, and the memory for the next advance.

        Args:
            system: The system.
            t: Time [s].
            y: The state then.
            h: Length of the interval [s]: one step, or as many as an adaptive method takes.
            memory: What the last advance returned.
            tolerance: For an adaptive method.
        """
        if self.adaptive is not None:
            return self.adaptive.advance(system, t, y, h, memory, tolerance)
        assert self.step is not None
        return self.step(system, t, y, h), []
