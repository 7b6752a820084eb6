"""The implicit midpoint rule in positions and momenta: order 2, symplectic, some evaluations of the arm's mechanics a step.

q1 = q0 + h v and p1 = p0 + h dp/dt, with v and dp/dt at mid-step, where p = M(q) v. For long motions without damping: their
energy swings about its start instead of drifting away, however long they last (Hairer, Lubich and Wanner, *Geometric Numerical
Integration*, sections VI.4 and IX.8). For those with damping, too: they decay at any step. Modes much faster than the step do
so slowly and with changing sign, like ((2 - h |λ|) / (2 + h |λ|))^k, so that from stops of that kind a joint rebounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from armsim.expr import Scalar, absolute, both, either, loop, maximum, where
from armsim.integrate.method import FAILED, Method
from armsim.integrate.momentum_equation import MomentumEquation
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.system import System

ROUNDS = 40
ROUNDING = 2.0**-53
UNFELT = (
    1e-10  # rad or m: a change of velocity that moves no joint by this within the step, as rounding makes it, is let be
)


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h. Its velocities are beyond all bounds if the equations of the step could not be solved."""
    smooth = system.within(t, y)
    middle = smooth.momentum_equation(t, y, h)
    v, p_mid, settled = solved(middle, y, h)
    q = advanced(y.q, h, v)
    p = [2.0 * at_mid - before for at_mid, before in zip(p_mid, middle.before, strict=True)]
    z, w = middle.further(advanced(y.q, h / 2, v), v)
    end = smooth.arrest(y, Motion(q, middle.velocities(q, p), advanced(y.z, h, z), advanced(y.w, h, w)), h)
    return end._replace(v=[where(settled, x, FAILED) for x in end.v])


def solved(middle: MomentumEquation, y: Motion, h: Scalar) -> tuple[list[Scalar], list[Scalar], Any]:
    """Velocities and momenta at mid-step, and whether they could be found.

    A simplified Newton iteration: its matrix is made once. Every change of the velocities is smaller than the one before by
    about the same factor, so the next one is known beforehand; when it would be lost in rounding, the iteration ends.
    """

    def corrected(velocities: Sequence[Scalar], last: Scalar, p: Sequence[Scalar], forces: Sequence[Scalar]) -> Iterate:
        change = middle.correction(middle.residual(velocities, p, forces))
        v = [a + b for a, b in zip(velocities, change, strict=True)]
        size = _largest(change)
        lost = size * size <= ROUNDING * _largest(v) * last
        stalled = both(both(last > 0.0, size >= last / 2), h * size <= UNFELT)
        return Iterate(v, list(p), change, size, where(either(lost, stalled), 1.0, 0.0))

    def body(now: Iterate) -> list[Iterate]:
        return [corrected(now.v, now.size, *middle.mechanics(advanced(y.q, h / 2, now.v), now.v))]

    start = corrected(y.v, 0.0, *middle.predicted)
    (end,) = loop([start], body, lambda now: now.settled > 0.5, ROUNDS)
    return end.v, middle.momenta(end.p, end.change), end.settled > 0.5


@dataclass(slots=True)
class Iterate:
    """Where the iteration has come to.

    Attributes:
        v: Velocities at mid-step.
        p: Momenta there, at the velocities before the last correction.
        change: The last correction.
        size: Its largest component.
        settled: 1 where the next correction would be lost in rounding, else 0.
    """

    v: list[Scalar]
    p: list[Scalar]
    change: list[Scalar]
    size: Scalar
    settled: Scalar


def _largest(x: Sequence[Scalar]) -> Scalar:
    largest: Scalar = 0.0
    for part in x:
        largest = maximum(absolute(part), largest)
    return largest


METHOD = Method(order=2, step=step, conserves=True)
