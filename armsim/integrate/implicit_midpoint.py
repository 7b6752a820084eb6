"""The implicit midpoint rule in positions and momenta: order 2, symplectic, one Newton matrix and a few residuals a step.

q1 = q0 + h v and p1 = p0 + h dp/dt, with v and dp/dt at mid-step, where p = M(q) v. For long undamped motions: the energy error
stays bounded instead of drifting (Hairer, Lubich and Wanner, *Geometric Numerical Integration*, sections VI.4 and IX.8). With
damping it is A-stable, but not L-stable: modes much faster than the step decay slowly and with alternating sign, like
((2 - h |λ|) / (2 + h |λ|))^k, so that a joint rebounds from stiff stops.
"""

from __future__ import annotations

from typing import Any

from armsim.expr import Scalar, Scalars, absolute, both, either, implicit, loop, maximum, plus, where
from armsim.integrate.method import FAILED, Method
from armsim.integrate.momentum_equation import MomentumEquation
from armsim.integrate.motion import Motion, advanced
from armsim.integrate.system import System
from armsim.records import mutable_record

ROUNDS = 40  # Newton iterations at most
ROUNDING = 2.0**-53
UNFELT = 1e-10  # rad or m in a step: a stalled iteration has converged when its correction moves no joint by more


@mutable_record
class Iterate:
    """An iterate of Newton's method.

    Attributes:
        v: Velocities at mid-step.
        p: Momenta there, at the velocities before the last correction.
        correction: The last correction.
        size: Its maximum norm.
        converged: 1 where the next correction would be lost in rounding, else 0.
    """

    v: Scalars
    p: Scalars
    correction: Scalars
    size: Scalar
    converged: Scalar


def step(system: System, t: Scalar, y: Motion, h: Scalar) -> Motion:
    """The state at t + h. Its velocities are `FAILED` if Newton's method does not converge."""
    smooth = system.within(t, y)
    middle = smooth.momentum_equation(t, y, h)
    v, p_mid, converged = solved(middle, y, h)
    q = advanced(y.q, h, v)
    p = [2.0 * at_mid - before for at_mid, before in zip(p_mid, middle.before, strict=True)]
    z, w = middle.further(advanced(y.q, h / 2, v), v)
    end = smooth.arrest(y, Motion(q, middle.velocities(q, p), advanced(y.z, h, z), advanced(y.w, h, w)), h)
    return end._replace(v=[where(converged, x, FAILED) for x in end.v])


def solved(middle: MomentumEquation, y: Motion, h: Scalar) -> tuple[Scalars, Scalars, Any]:
    """Velocities and momenta at mid-step, and whether the iteration has converged.

    A simplified Newton iteration, with one matrix a step. It converges linearly, so the ratio of the last two corrections
    predicts the next; when that would be lost in rounding, the iteration ends.
    """

    def corrected(velocities: Scalars, last: Scalar, p: Scalars, forces: Scalars) -> Iterate:
        correction = middle.correction(middle.residual(velocities, p, forces))
        v = plus(velocities, correction)
        size = _max_norm(correction)
        lost = size * size <= ROUNDING * _max_norm(v) * last
        stalled = both(both(last > 0.0, size >= last / 2), h * size <= UNFELT)
        return Iterate(v, list(p), correction, size, where(either(lost, stalled), 1.0, 0.0))

    def body(now: Iterate) -> list[Iterate]:
        return [corrected(now.v, now.size, *middle.mechanics(advanced(y.q, h / 2, now.v), now.v))]

    start = corrected(y.v, 0.0, *middle.predicted)
    (end,) = loop([start], body, lambda now: now.converged > 0.5, ROUNDS)
    found = end.v, middle.momenta(end.p, end.correction)
    v, p = implicit(found, lambda: middle.solution(y.q, end.v))
    return v, p, end.converged > 0.5


def _max_norm(x: Scalars) -> Scalar:
    largest: Scalar = 0.0
    for part in x:
        largest = maximum(absolute(part), largest)
    return largest


METHOD = Method(order=2, step=step, conserves=True)
