"""What integrators advance: a system that gives rates, and whose velocities may be held by friction."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from armsim.expr import Scalar, leaves, with_jacobian
from armsim.integrate.momentum_equation import MomentumEquation
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.rate_jacobian import RateJacobian

Rates = Callable[[Scalar, Motion], Motion]  # time and state to (v, acceleration, rates of z and w)


class System:
    """A smooth system: its rates are all there is to it.

    Args:
        rates: From time and state to the rates of the state.
    """

    longest: float = inf  # s: no step that a method chooses is to be longer

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

    def powers(self, t: Scalar, y: Motion) -> Any:
        """The rates of the quadratures alone."""
        return self.rates(t, y).w

    def jacobian(self, t: Scalar, y: Motion, k: Motion) -> RateJacobian:
        """The derivatives of the rates k at (t, y), exact."""

        def body(t: Scalar, y: Motion) -> tuple[list[Scalar], list[Scalar]]:
            rates = self.rates(t, y)
            return rates.v, leaves(rates.z)

        _, (forces, further) = with_jacobian(body, (0, 1), "jacobian")(t, y._replace(w=None))
        unit: list[list[Scalar]] = [[*[0.0] * i, 1.0] for i in range(len(y.v))]
        return RateJacobian.of(unit, forces, further)

    def momentum_equation(self, t: Scalar, y: Motion, h: Scalar) -> MomentumEquation:
        """The equation of a step from (t, y) in positions and momenta, taken at its middle."""
        return MomentumEquation(self.rates, self.jacobian, t, y, h)

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
