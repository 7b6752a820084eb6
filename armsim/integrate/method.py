"""What a method is, for those who choose one by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from armsim.expr import Scalar
from armsim.integrate.motion import Motion
from armsim.integrate.system import System

Step = Callable[[System, Scalar, Motion, Scalar], Motion]  # system, time, state, step to the state a step later
Advance = Callable[..., tuple[Motion, list[Scalar]]]  # as `Step`, with memory and tolerance; see `Method.advance`

FAILED = 1e300  # the velocity that tells that a step could not be made; it is out of all bounds


@dataclass(frozen=True)
class Tolerance:
    """The error that an adaptive method may make in a step: atol + rtol |x| in every position, velocity and further state.

    Attributes:
        rtol: Relative.
        atol: Absolute, in the unit of the state.
    """

    rtol: Scalar = 1e-6
    atol: Scalar = 1e-9


@dataclass(frozen=True)
class Method:
    """A way to advance a motion.

    Attributes:
        order: Its order on smooth motions.
        step: One step of a method whose step is given; None for one that chooses steps of its own.
        adaptive: Advances over a given time by steps of its own, which an estimate of the error decides; None for the others.
        conserves: Whether it leaves the energy of a small undamped swing bounded.
        memory: Names of what an adaptive method remembers from one advance to the next; all zero to begin with.
    """

    order: int
    step: Step | None = None
    adaptive: Advance | None = None
    conserves: bool = False
    memory: tuple[str, ...] = ()

    def advance(
        self, system: System, t: Scalar, y: Motion, h: Scalar, memory: Sequence[Scalar], tolerance: Tolerance
    ) -> tuple[Motion, list[Scalar]]:
        """The state at t + h, and what is to be remembered.

        Args:
            system: What is advanced.
            t: Time [s].
            y: The state then.
            h: How far [s]: one step, or as many as an adaptive method takes.
            memory: What the last advance returned.
            tolerance: For an adaptive method.
        """
        if self.adaptive is not None:
            return self.adaptive(system, t, y, h, memory, tolerance)
        assert self.step is not None
        return self.step(system, t, y, h), []
