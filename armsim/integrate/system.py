"""What integrators advance: a system that gives rates, and whose velocities may be held by friction."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalar
from armsim.integrate.motion import Motion, advanced

Rates = Callable[[Scalar, Motion], Motion]  # time and state to (v, acceleration, rates of z and w)


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
        return Motion(y.q, advanced(y.v, h, k.v), advanced(y.z, h, k.z), advanced(y.w, h, k.w))

    def implicit_kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """As `kick`, with damping taken at the new velocities, as far as the system knows which of its rates is damping."""
        return self.kick(t, y, h)

    def within(self, t: Scalar, y: Motion) -> System:
        """The system as it is to be taken for the stages of one step from (t, y): smooth."""
        return self

    def guards(self, t: Scalar, start: Motion, end: Motion) -> list[Scalar]:
        """Quantities that are not negative as long as a step from `start` that ends at (t, end) has stayed smooth.

        One that is negative tells that within the step a stop was met, or a joint came to rest or was set free.
        """
        return []

    def arrest(self, before: Motion, after: Motion, h: Scalar) -> Motion:
        """The state at a step's end, with velocities that friction stops within the step."""
        return after
