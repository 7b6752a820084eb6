"""What integrators advance: a system that gives rates, and whose velocities may be held by friction."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalar, with_jacobian
from armsim.integrate.linear import Linear
from armsim.integrate.midstep import Midstep
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

    def powers(self, t: Scalar, y: Motion) -> list[Scalar]:
        """The rates of the quadratures alone."""
        return self.rates(t, y).w

    def linear(self, t: Scalar, y: Motion, k: Motion) -> Linear:
        """How the rates k at (t, y) change with the state, exactly."""
        n, further = len(y.v), len(y.z)

        def body(t: Scalar, *x: Scalar) -> list[Scalar]:
            rates = self.rates(t, Motion(list(x[:n]), list(x[n : 2 * n]), list(x[2 * n :]), y.w))
            return [*rates.v, *rates.z]

        _, rows = with_jacobian(body, range(1 + 2 * n + further), "linear")(t, *y.q, *y.v, *y.z)
        unit: list[list[Scalar]] = [[*[0.0] * i, 1.0] for i in range(n)]
        return Linear.of(unit, rows, n)

    def midstep(self, t: Scalar, y: Motion, h: Scalar) -> Midstep:
        """The equations of a step from (t, y) in positions and momenta, taken at its middle."""
        return Midstep(self, t, y, h)

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
