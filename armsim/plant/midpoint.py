"""The momentum equation of an arm's implicit midpoint step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from armsim.actuation import Works, powers
from armsim.dynamics import solve_held, solve_ldl
from armsim.expr import (
    Scalar,
    Scalars,
    chosen,
    dot,
    each,
    identity_where,
    leaves,
    mapped,
    maximum,
    minus,
    plus,
    zero_where,
)
from armsim.integrate import MomentumEquation, Motion, advanced
from armsim.integrate.lu import solver
from armsim.plant.equations import Equations, JointLoads
from armsim.plant.state import Further, Held


class Line:
    """A quantity linearised in the velocities, about those of the step's start.

    Attributes:
        value: At those.
        slopes: Derivative by each velocity.
    """

    def __init__(self, value: Scalar, slopes: Scalars) -> None:
        self.value = value
        self.slopes = slopes

    def __add__(self, other: Line) -> Line:
        return Line(self.value + other.value, plus(self.slopes, other.slopes))

    def times(self, factor: Scalar) -> Line:
        """factor times the quantity"""
        return Line(factor * self.value, [factor * slope for slope in self.slopes])

    def __call__(self, change: Scalars) -> Scalar:
        return dot(self.slopes, change, self.value)

    @staticmethod
    def of_either(condition: Any, a: Line, b: Line) -> Line:
        """a where the condition holds, else b."""
        return Line(*chosen(condition, (a.value, a.slopes), (b.value, b.slopes)))


class ArmMomentum(MomentumEquation):
    """The momentum equation of a step of an arm from (t, y).

    The links' motion and gravity are evaluated at every iterate. Joint loads are linearised about the state that the step's start
    predicts for mid-step: exact for springs and dampers, for others with an error of third order in h; a load that jumps or is
    clipped stays on its branch for the step, so that a solution always exists and Newton's matrix has the joints' full stiffness.

    Args:
        equations: The arm's.
        held: What is constant during the step.
        t: Time at the step's start [s].
        y: The state then.
        h: Length of the step [s].
        modes: For each joint, whether it sticks, and whether it slips upwards, None where it has no dry friction.
    """

    def __init__(
        self,
        equations: Equations,
        held: Held,
        t: Scalar,
        y: Motion,
        h: Scalar,
        modes: Sequence[tuple[Any, Any]] = (),
    ) -> None:
        self._equations = equations
        self._held = held
        self._y = y
        self.held = [stuck for stuck, _ in modes]
        n, half = len(y.v), h / 2
        ahead = y._replace(q=advanced(y.q, half, y.v), w=None)
        loads = _lines(*equations.joints(t + half, ahead, held), half)
        self._z = loads.z
        self._torques = loads.torques
        if modes:  # a joint that slips stays on its branch of dry friction, which is added to the viscous
            self._torques = [
                torque if way is None else replace(torque, viscous=torque.viscous + Line.of_either(way, lower, upper))
                for torque, (_, way), lower, upper in zip(loads.torques, modes, loads.lower, loads.upper, strict=True)
            ]
        joints: list[Line] = [torque.total for torque in self._torques]

        self._half = half
        self._damping = [[half * slope for slope in line.slopes] for line in joints]
        self.before = equations.momenta(y.q, y.v, held)
        self._known = advanced(self.before, half, [line([-x for x in y.v]) for line in joints])

        # Newton's matrix to first order in h: dp/dq, which positions at mid-step bring in, is the transpose of df/dv
        self.predicted, (M, D) = equations.tangent(ahead.q, y.v, held)
        self._mass = each(lambda row, column: advanced(row, half, column), M, [list(x) for x in zip(*D, strict=True)])
        damping = [maximum(-row[i], 0.0) for i, row in enumerate(self._damping)]
        own = [[damping[i] if i == j else 0.0 for j in range(n)] for i in range(n)]
        W = each(lambda row, by_v, d: plus(advanced(row, -half, by_v), d), self._mass, D, own)
        self._solve = solver(identity_where(self.held, W))

    def mechanics(self, q: Scalars, v: Scalars) -> tuple[Scalars, Scalars]:
        """Momenta, and the forces of the links' motion, gravity and external wrenches, for q and v at mid-step."""
        return self._equations.mechanics(q, v, self._held)

    def residual(self, v: Scalars, p: Scalars, forces: Scalars) -> Scalars:
        """The residual p₀ + h/2 f - p of the momentum equation; p and forces as of `mechanics`. Zero where held."""
        known = advanced(self._known, self._half, forces)
        rest = [dot(damping, v, a - b) for a, damping, b in zip(known, self._damping, p, strict=True)]
        return zero_where(self.held, rest) if self.held else rest

    def momenta(self, p: Scalars, change: Scalars) -> Scalars:
        """Momenta p at mid-step, updated to first order for a correction of the velocities and h/2 times it of the positions."""
        return [*each(lambda row, p_i: dot(row, change, p_i), self._mass, p)]

    def velocities(self, q: Scalars, p: Scalars) -> Scalars:
        """v with M(q) v = p, exactly zero where held."""
        if self._equations.algorithm == "aba" and not self.held:
            return self._equations.impelled(q, p, self._held)
        M = self._equations.mass(q, self._held)
        return solve_held(M, p, self.held) if self.held else solve_ldl(M, p)

    def further(self, q: Scalars, v: Scalars) -> tuple[Further, Works | None]:
        """Rates of the further states, and powers, at mid-step."""
        change = minus(v, self._y.v)
        z: Further = mapped(lambda line: line(change), self._z)
        if self._y.w is None:
            return z, None
        torques = [mapped(lambda line: line(change), torque) for torque in self._torques]
        outside = self._equations.outside_power(q, v, self._held)
        return z, powers(torques, v, outside, self._equations.loads.others)


def _lines(values: JointLoads, slopes: JointLoads, half: Scalar) -> JointLoads:
    """Joint loads and rates of z at mid-step, linearised in v, with positions advanced by h/2 v and z by h/2 of its rate.

    Args:
        values: At the velocities and z of the step's start.
        slopes: Their derivatives by motion, in place of every number.
        half: h/2 [s].
    """

    def line(value: Scalar, slope: tuple[Motion]) -> Line:
        (by,) = slope
        return Line(value, advanced(by.v, half, by.q))

    lines = mapped(line, values, slopes)
    rates = leaves(lines.z)

    def with_further(line: Line, slope: tuple[Motion]) -> Line:
        (by,) = slope
        moved = [rate.times(half * s) for rate, s in zip(rates, leaves(by.z), strict=True)]
        return sum(moved, start=line)

    made: JointLoads = mapped(with_further, lines, slopes)
    return made
