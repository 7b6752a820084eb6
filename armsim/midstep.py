"""The middle of a step of an arm, in positions and momenta."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from armsim.dynamics import solve_held, solve_ldl
from armsim.expr import Scalar, fma, maximum, where
from armsim.integrate import Midstep, Motion, advanced
from armsim.integrate.linear import LU, Matrix, dot, welded


@dataclass(frozen=True, slots=True)
class Canonical:
    """An arm in positions and momenta.

    Attributes:
        mass: From positions to the lower triangle of the mass matrix, rotors included.
        momenta: From positions and velocities to M(q) v.
        mechanics: The same, and what changes them besides joint forces; see `armsim.dynamics.momenta_and_forces`.
        tangent: What `mechanics` gives, and its derivatives by velocities: n rows of the mass matrix and n of the forces'.
        joints: From time and state to what acts on the joints, and its slopes by q, v and z. In order, n of each: torques of
            motors, viscous friction and stops; least and greatest dry friction; then the rates of z.
        power: From positions and velocities to the power of what acts on the links from outside, for the quadratures.
    """

    mass: Callable[[Sequence[Scalar]], list[list[Scalar]]]
    momenta: Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]
    mechanics: Callable[[Sequence[Scalar], Sequence[Scalar]], list[list[Scalar]]]
    tangent: Callable[[Sequence[Scalar], Sequence[Scalar]], tuple[list[Scalar], Matrix]]
    joints: Callable[[Scalar, Motion], tuple[list[Scalar], Matrix]]
    power: Callable[[Sequence[Scalar], Sequence[Scalar]], Scalar]


@dataclass(frozen=True, slots=True)
class Line:
    """A quantity as a straight line in the changes of velocity from those at the step's start.

    Attributes:
        value: Without a change.
        slopes: By each velocity.
    """

    value: Scalar
    slopes: list[Scalar]

    def __add__(self, other: Line) -> Line:
        return Line(self.value + other.value, [a + b for a, b in zip(self.slopes, other.slopes, strict=True)])

    def times(self, factor: Scalar) -> Line:
        """factor times the quantity"""
        return Line(factor * self.value, [factor * slope for slope in self.slopes])

    def __call__(self, change: Sequence[Scalar]) -> Scalar:
        return dot(self.slopes, change, self.value)

    @staticmethod
    def of_either(condition: Any, a: Line, b: Line) -> Line:
        """a where the condition holds, else b."""
        slopes = [where(condition, x, y) for x, y in zip(a.slopes, b.slopes, strict=True)]
        return Line(where(condition, a.value, b.value), slopes)


class ArmMidstep(Midstep):
    """The middle of a step of an arm from (t, y).

    Motion of the links and gravity are taken where the iteration has come to. What acts on the joints is taken as a straight
    line through the state that positions and velocities at the start predict for mid-step: a spring or a damper is one anyway,
    of the others the error is of third order in h, and one that jumps or is clipped stays on its branch for the step, so that
    there always is a solution and the matrix of the iteration has all of the joints' stiffness.

    Args:
        arm: The arm.
        t: Time at the step's start [s].
        y: The state then.
        h: Length of the step [s].
        held: For each joint, whether dry friction holds it at rest.
        up: For each joint, whether it slides upwards, None where it has no dry friction.
    """

    def __init__(
        self, arm: Canonical, t: Scalar, y: Motion, h: Scalar, held: Sequence[Any] = (), up: Sequence[Any] = ()
    ) -> None:
        self._arm = arm
        self._y = y
        self._held = held
        n, half = len(y.v), h / 2
        ahead = y._replace(q=advanced(y.q, half, y.v))
        lines = _lines(*arm.joints(t + half, ahead), n, half)
        motor, viscous, stops, lower, upper = (lines[k * n : (k + 1) * n] for k in range(5))
        self._z = lines[5 * n :]
        dry = [Line(0.0, [0.0] * n)] * n
        if up:
            dry = [
                line if way is None else Line.of_either(way, lo, hi)
                for line, way, lo, hi in zip(dry, up, lower, upper, strict=True)
            ]
        friction = [a + b for a, b in zip(viscous, dry, strict=True)]
        self._works = (motor, friction, stops)
        joints = [a + b + c for a, b, c in zip(motor, friction, stops, strict=True)]

        self._half = half
        self._damping = [[half * slope for slope in line.slopes] for line in joints]
        self.before = arm.momenta(y.q, y.v)
        self._known = advanced(self.before, half, [line([-x for x in y.v]) for line in joints])

        # Newton's matrix to first order in h: dp/dq, which positions at mid-step bring in, is the transpose of df/dv
        values, rows = arm.tangent(ahead.q, y.v)
        self.predicted = values[:n], values[n:]
        M, D = rows[:n], rows[n:]
        self._mass = [[fma(half, D[j][i], M[i][j]) for j in range(n)] for i in range(n)]
        W = [[fma(-half, a, b) for a, b in zip(*pair, strict=True)] for pair in zip(D, self._mass, strict=True)]
        for i in range(n):
            W[i][i] = W[i][i] + maximum(-self._damping[i][i], 0.0)
        self._factors = LU(welded(held, W))

    def mechanics(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Momenta, and forces by the motion of the links, by gravity and from outside, were q and v those at mid-step."""
        p, forces = self._arm.mechanics(q, v)
        return p, forces

    def missing(self, v: Sequence[Scalar], p: Sequence[Scalar], forces: Sequence[Scalar]) -> list[Scalar]:
        """What the start's momenta and what half the step adds to them are more than p; p and forces as of `mechanics`."""
        known = advanced(self._known, self._half, forces)
        rest = [dot(damping, v, a - b) for a, damping, b in zip(known, self._damping, p, strict=True)]
        return [where(stuck, 0.0, x) for stuck, x in zip(self._held, rest, strict=True)] if self._held else rest

    def correction(self, missing: Sequence[Scalar]) -> list[Scalar]:
        """About the change of velocities by which nothing is missing any longer; zero where held."""
        return self._factors.solve(missing)

    def momenta(self, p: Sequence[Scalar], change: Sequence[Scalar]) -> list[Scalar]:
        """What becomes of momenta p at mid-step by a small change of velocities, and of positions by half the step of it."""
        return [dot(row, change, p_i) for row, p_i in zip(self._mass, p, strict=True)]

    def velocities(self, q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
        """v with M(q) v = p, exactly zero where held."""
        M = self._arm.mass(q)
        return solve_held(M, p, self._held) if self._held else solve_ldl(M, p)

    def further(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """Rates of the further states, and powers of motors, friction, stops and what acts from outside."""
        change = [a - b for a, b in zip(v, self._y.v, strict=True)]
        z = [line(change) for line in self._z]
        if not self._y.w:
            return z, []
        w = [dot([line(change) for line in torques], v) for torques in self._works]
        return z, [*w, self._arm.power(q, v)]


def _lines(values: Sequence[Scalar], rows: Matrix, n: int, half: Scalar) -> list[Line]:
    """What acts on the joints and the rates of z at mid-step, where positions are h/2 of the velocities on, and z of its rate.

    Args:
        values: At the velocities of the step's start, z as it is there.
        rows: Their slopes by q, v and z.
        n: Number of joints.
        half: h/2 [s].
    """
    lines = [
        Line(value, [fma(half, a, b) for a, b in zip(row[:n], row[n : 2 * n], strict=True)])
        for value, row in zip(values, rows, strict=True)
    ]
    z = lines[5 * n :]
    return [
        sum((rate.times(half * slope) for rate, slope in zip(z, row[2 * n :], strict=True)), start=line)
        for line, row in zip(lines, rows, strict=True)
    ]
