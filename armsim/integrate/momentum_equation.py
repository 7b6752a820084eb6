"""The momentum equation of a step of the implicit midpoint rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armsim.expr import Scalar, Scalars, as_constant, fma, identity_where, minus, plus, with_jacobian
from armsim.integrate.lu import solver
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.rate_jacobian import RateJacobian


class MomentumEquation:
    """p = p₀ + h/2 f for the momenta p = M(q) v at the middle of a step from (t, y), to be solved for the velocities v there.

    This one is of a system given by its rates alone: its mass is 1, momenta are velocities. A system with a mass matrix
    overrides every method.

    Args:
        rates: Of a smooth system, at a time and a state.
        jacobian: Their Jacobian, at a time, a state and the rates there.
        t: Time at the step's start [s].
        y: The state then.
        h: Length of the step [s].

    Attributes:
        before: Momenta at the step's start.
        predicted: `mechanics` at the velocities of the step's start.
        held: Conditions under which the first velocities are held.
    """

    held: Sequence[Any] = ()

    def __init__(
        self,
        rates: Callable[[Scalar, Motion], Motion],
        jacobian: Callable[[Scalar, Motion, Motion], RateJacobian],
        t: Scalar,
        y: Motion,
        h: Scalar,
    ) -> None:
        self._rates_at = rates
        self._half = h / 2
        self._t = t + self._half
        self._w = y.w
        self._z = y.z
        ahead = y._replace(q=advanced(y.q, self._half, y.v))
        now = rates(self._t, ahead)
        # predicted to second order, which is the method's, and not iterated: a rate that jumps cannot prevent convergence
        self._z = advanced(y.z, self._half, now.z)
        self.before: Scalars = list(y.v)
        self.predicted: tuple[Scalars, Scalars] = list(y.v), now.v
        self._solve = self._factorised(jacobian(self._t, ahead, now))

    def mechanics(self, q: Scalars, v: Scalars) -> tuple[Scalars, Scalars]:
        """Momenta, and the forces that are evaluated anew at every iterate, for positions q and velocities v at mid-step."""
        return list(v), self._rates(q, v).v

    def residual(self, v: Scalars, p: Scalars, forces: Scalars) -> Scalars:
        """The residual p₀ + h/2 f - p of the momentum equation; p and forces as of `mechanics`."""
        return minus(advanced(self.before, self._half, forces), p)

    def correction(self, residual: Scalars) -> Scalars:
        """The Newton correction of the velocities for a residual."""
        return self._solve(residual)

    def momenta(self, p: Scalars, change: Scalars) -> Scalars:
        """Momenta p at mid-step, updated to first order for a correction of the velocities and h/2 times it of the positions."""
        return plus(p, change)

    def velocities(self, q: Scalars, p: Scalars) -> Scalars:
        """v with M(q) v = p."""
        return list(p)

    def solution(self, q: Scalars, v: Scalars) -> tuple[Scalars, Scalars]:
        """Velocities and momenta at mid-step, for derivatives: a Newton correction with the exact matrix at the solution v.

        Args:
            q: Positions at the step's start.
            v: The solution.
        """

        def residual(v: Scalars) -> Scalars:
            return self.residual(v, *self.mechanics(advanced(q, self._half, v), v))

        known = as_constant(list(v))
        _, slopes = with_jacobian(residual, (0,), "residual")(known)
        solve = solver(identity_where(self.held, as_constant([[-x for x in by_v] for (by_v,) in slopes])))
        v = plus(known, solve(residual(known)))
        return v, self.mechanics(advanced(q, self._half, v), v)[0]

    def further(self, q: Scalars, v: Scalars) -> tuple[Any, Any]:
        """Rates of the further states and quadratures at mid-step."""
        rates = self._rates(q, v)
        return rates.z, rates.w

    def _factorised(self, jacobian: RateJacobian) -> Callable[[Scalars], Scalars]:
        """Solves with Newton's matrix M - h/2 (Fv + h/2 Fq)."""
        W = []
        for i, (mass, by_q, by_v) in enumerate(zip(jacobian.M, jacobian.Fq, jacobian.Fv, strict=True)):
            half_step = [self._half * fma(self._half, a, b) for a, b in zip(by_q, by_v, strict=True)]
            W.append([(mass[j] if j <= i else jacobian.M[j][i]) - added for j, added in enumerate(half_step)])
        return solver(W)

    def _rates(self, q: Scalars, v: Scalars) -> Motion:
        return self._rates_at(self._t, Motion(list(q), list(v), self._z, self._w))
