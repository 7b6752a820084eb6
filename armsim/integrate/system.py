"""What integrators advance: a system that gives rates, and whose velocities may be held by friction."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalar, fma
from armsim.integrate.motion import Motion

Rates = Callable[[Scalar, Motion], Motion]  # time and state to (v, acceleration, rates of z)


class System:
    """A smooth system: its rates are all there is to it.

    Args:
        rates: From time and state to the rates of the state.
    """

    def __init__(self, rates: Rates) -> None:
        self._rates = rates

    def rates(self, t: Scalar, y: Motion) -> Motion:
        """Velocities, accelerations and rates of the further states."""
        return self._rates(t, y)

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities and further states after h seconds under what acts at (t, y); positions as they are."""
        k = self.rates(t, y)
        v = [fma(h, a, x) for x, a in zip(y.v, k.v, strict=True)]
        return Motion(y.q, v, [fma(h, rate, x) for x, rate in zip(y.z, k.z, strict=True)])

    def within(self, t: Scalar, y: Motion) -> System:
        """The system as it is to be taken for the stages of one step from (t, y): smooth."""
        return self

    def arrest(self, before: Motion, after: Motion, h: Scalar) -> Motion:
        """The state at a step's end, with velocities that friction stops within the step."""
        return after
