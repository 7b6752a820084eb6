"""The interface of the systems that integrators advance: rates, Jacobians, guards, and modes of stick and slip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armsim.expr import Scalar, Scalars, leaves, with_jacobian
from armsim.integrate.momentum_equation import MomentumEquation
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.rate_jacobian import RateJacobian

Rates = Callable[[Scalar, Motion], Motion]  # time and state to (v, acceleration, rates of z and w)


class System:
    """A smooth system, given by its rates alone.

    Args:
        rates: From time and state to the rates of the state.
    """

    timed: bool = False  # whether rates depend on time by more than known corners, so that steps may pass what is short
    light: System | None = None  # the same without what cannot act while there is `room`
    mode: Scalars = ()  # what was decided for a step: by component 1 and -1 for sides, 0 for stick

    def __init__(self, rates: Rates) -> None:
        self._rates = rates

    def rates(self, t: Scalar, y: Motion) -> Motion:
        """Velocities, accelerations and rates of the further states."""
        return self._rates(t, y)

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities, further states and quadratures after h seconds at the rates of (t, y); positions unchanged."""
        k = self.rates(t, y)
        return Motion(y.q, advanced(y.v, h, k.v), advanced(y.z, h, k.z), advanced(y.w, h, k.w))

    def implicit_kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """As `kick`, with damping implicit where the system knows it."""
        return self.kick(t, y, h)

    def powers(self, t: Scalar, y: Motion) -> Any:
        """The rates of the quadratures alone."""
        return self.rates(t, y).w

    def doubted(self, w: Any, error: Any) -> Any:
        """Quadratures whose last change has an estimated error; see `Method.adaptive`."""
        return w

    def jacobian(self, t: Scalar, y: Motion, k: Motion) -> RateJacobian:
        """The exact Jacobian at (t, y), where the rates are k."""

        def body(t: Scalar, y: Motion) -> tuple[Scalars, Scalars]:
            rates = self.rates(t, y)
            return rates.v, leaves(rates.z)

        _, (forces, further) = with_jacobian(body, (0, 1), "jacobian")(t, y.states)
        unit: list[Scalars] = [[*[0.0] * i, 1.0] for i in range(len(y.v))]
        return RateJacobian.of(unit, forces, further)

    def momentum_equation(self, t: Scalar, y: Motion, h: Scalar) -> MomentumEquation:
        """The momentum equation of an implicit midpoint step from (t, y)."""
        return MomentumEquation(self.rates, self.jacobian, t, y, h)

    def within(self, t: Scalar, y: Motion) -> System:
        """The system in its mode at (t, y), smooth for the stages of one step."""
        return self

    def until_corner(self, t: Scalar) -> Scalar | None:
        """How long after t the rates are known to jump or bend next [s]; None where they never do."""
        return None

    def branch(self, t: Scalar, y: Motion, h: Scalar) -> System:
        """The system on its branch at (t, y): with all that is decided there, its mode too, fixed for a step of length h [s]."""
        return self.within(t, y)

    def guards(self, t: Scalar, start: Motion, end: Motion, unsure: Scalar = 0.0) -> Scalars:
        """Guards (event functions) of a step from `start` that ends at (t, end): none is negative if it has stayed smooth.

        A negative one indicates an event within the step: a stop or a limit was met, a joint came to rest or began to slip.

        Args:
            t: Time at the step's end [s].
            start: The motion at its start.
            end: The motion at its end.
            unsure: See `margins`.
        """
        return [*self.crossings(start, end), *self.margins(t, end, unsure), *self.holding(t, end)]

    def crossings(self, start: Motion, at: Motion) -> Scalars:
        """Those of the guards that are affine in positions and velocities, at a motion within the step or at its end."""
        return self.slips(at)

    def slips(self, at: Motion) -> list[Scalar]:
        """Those of the crossings that are affine in velocities: of joints that come to where they may be held."""
        return []

    def margins(self, t: Scalar, y: Motion, unsure: Scalar = 0.0) -> Scalars:
        """Those of the guards that tell whether a switch of the rates has turned.

        Args:
            t: Time [s].
            y: The motion then.
            unsure: By how much one may have turned and not count, relative to its operands or 1, whichever is larger.
        """
        return []

    def room(self, y: Motion) -> Callable[[Scalars], Any]:
        """Of a `light` system: whether all that it leaves out cannot act while positions move by so much at most from y."""
        return lambda moves: False

    def bare(self, y: Motion) -> Motion:
        """A motion without what only the system that this is the `light` one of knows."""
        return y

    def whole(self, y: Motion, like: Motion) -> Motion:
        """A bare motion with the rest as `like` has it."""
        return y

    def relaxed(self, y: Motion, end: Motion, h: Scalar) -> Motion:
        """Where h seconds after y, within its `room`, the bare motion is `end`, that motion with the rest as it is then."""
        return end

    def gaps(self, y: Motion) -> list[tuple[Scalar, Scalar]]:
        """The guards of a branch that may turn twice within a step, and their rates."""
        return []

    def spares(self, t: Scalar, y: Motion) -> Scalars:
        """Lower bounds of the margins that are quicker to compute."""
        return []

    def holding(self, t: Scalar, y: Motion) -> Scalars:
        """Those of the guards that depend on accelerations: how much more would let go of what is held."""
        return []

    def arrest(self, before: Motion, after: Motion, h: Scalar) -> Motion:
        """The state at a step's end, with the velocities that friction has stopped within the step set to zero."""
        return after
