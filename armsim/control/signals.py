"""Joint torques or motor voltages given as functions of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal

from armsim.expr import Scalar

# its attributes, if any: `stepped`, true if it may jump only between steps; `spacing`, least time between its corners [s]
Signal = Callable[[Scalar], Scalar]


@dataclass(frozen=True)
class OpenLoop:
    """Commands that depend on time alone.

    Attributes:
        output: What the signals are: motor voltages [V], or joint torques [N·m or N].
        signals: One function of the time [s] per joint.
        period: Sample time [s], the command held between samples; None for continuous commands.
    """

    output: Literal["voltage", "torque"]
    signals: tuple[Signal, ...]
    period: float | None = None

    @property
    def integrals(self) -> int:
        """Number of integrator states."""
        return 0

    @property
    def spacing(self) -> float:
        """Least time between two jumps or corners of a signal [s], an upper bound of adaptive steps."""
        return min((getattr(signal, "spacing", inf) for signal in self.signals), default=inf)

    def command(self, t: Scalar, q, qd, integrals, since: Scalar | None = None) -> list[Scalar]:
        """The commands at time t [V, N·m or N], n scalars.

        A stepped signal jumps only between steps: in the step that began at `since` it keeps its value of then.
        """
        began = t if since is None else since
        return [signal(began if getattr(signal, "stepped", False) else t) for signal in self.signals]

    def integral_rates(self, q, integrals) -> list[Scalar]:
        """None: there are no integrator states."""
        return []
