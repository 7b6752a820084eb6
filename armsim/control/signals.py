"""Joint torques or motor voltages given as functions of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal

from armsim.expr import Scalar

# with an attribute `stepped`, true for one that jumps between steps, and `spacing`, the least time between its corners [s]
Signal = Callable[[Scalar], Scalar]


@dataclass(frozen=True)
class OpenLoop:
    """Commands that depend on time alone.

    Attributes:
        output: What the signals are: motor voltages [V], or joint torques [N·m or N].
        signals: One function of the time [s] per joint.
        period: Time between samples [s], the command held between them; None where it is followed continuously.
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
        """The least time between two jumps or corners of a signal [s]: no step is to pass more than one unseen."""
        return min((getattr(signal, "spacing", inf) for signal in self.signals), default=inf)

    def command(self, t: Scalar, q, qd, integrals, since: Scalar | None = None) -> list[Scalar]:
        """The commands at time t [V, N·m or N], n scalars.

        A signal that jumps does so between steps: within the step that began at `since` it has its value of then.
        """
        began = t if since is None else since
        return [signal(began if getattr(signal, "stepped", False) else t) for signal in self.signals]

    def integral_rates(self, q, integrals) -> list[Scalar]:
        """Nothing is integrated."""
        return []
