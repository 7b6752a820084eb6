"""RODAS, a Rosenbrock method for stiff motions: order 4, with an embedded error estimate of order 3 and step-size control.

Six stages with one exact Jacobian and one factorisation a step; stiffly accurate and L-stable, so that fast decaying modes
(back-EMF, stiff stops) do not limit the step. E. Hairer and G. Wanner, *Solving Ordinary Differential Equations II*,
section IV.7.

The rows of q' = v are eliminated: the linear systems have the size of the velocities and further states, their matrix is the
mass matrix with damping and stiffness added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armsim.expr import (
    Scalar,
    Scalars,
    dot,
    each,
    flatten,
    fma,
    identity_where,
    leaves,
    mapped,
    unflatten,
    zero_where,
    zeros,
)
from armsim.integrate.adaptive import MEMORY, EmbeddedPair, Trial
from armsim.integrate.lu import solver
from armsim.integrate.method import Method
from armsim.integrate.motion import Motion
from armsim.integrate.quadrature import Integrand
from armsim.integrate.rate_jacobian import RateJacobian
from armsim.integrate.system import System

GAMMA = 0.25
A = (
    (),
    (1.544,),
    (0.9466785280815826, 0.2557011698983284),
    (3.314825187068521, 2.896124015972201, 0.9986419139977817),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950),
    (1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950, 1.0),
)
C = (
    (),
    (-5.6688,),
    (-2.430093356833875, -0.2063599157091915),
    (-0.1073529058151375, -9.594562251023355, -20.47028614809616),
    (7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160),
    (8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054),
)
TIMES = (0.0, 0.386, 0.21, 0.63, 1.0, 1.0)  # of the stages within the step
BY_TIME = (0.25, -0.1043, 0.1035, -0.0362, 0.0, 0.0)  # weights of the derivative by time
DENSE = (  # weights of the first five stages in the two upper coefficients of dense output
    (10.12623508344586, -7.487995877610167, -34.80091861555747, -7.992771707568823, 1.025137723295662),
    (-0.6762803392801253, 6.087714651680015, 16.43084320892478, 24.76722511418386, -6.594389125716872),
)


def trial(smooth: System, t: Scalar, y: Motion, h: Scalar) -> Trial:
    """One step, its embedded error estimate and its continuous extension of order 3; quadratures are cubic in it."""
    start = smooth.rates(t, y)
    solve = _stage_solver(smooth.jacobian(t, y, start), h * GAMMA)
    nothing = zeros(y.states)
    stages: list[Motion] = []
    at = y
    for a, c, time, by_time in zip(A, C, TIMES, BY_TIME, strict=True):
        at = _weighted(y, a, stages)
        rates = smooth.rates(t + time * h, at.states) if stages else start
        before = _weighted(nothing, c, stages)
        stages.append(solve(rates.states.plus(1.0 / h, before), h * by_time))
    end = _weighted(at, (1.0,), stages[-1:])
    low, upper = (_weighted(nothing, row, stages[:5]) for row in DENSE)
    error = stages[-1]
    if leaves(y.w):
        change = end.states.minus(y.states)
        integrand = Integrand(smooth, t, h, end.states, [change, low, upper], y.w)
        # where something may be held, the guards need the forces at the end anyway
        last = smooth.rates(t + h, end).w if smooth.mode else smooth.powers(t + h, end)
        d, doubt = integrand.panel(0.0, 1.0, start.w, last)
        end, error = end._replace(w=mapped(lambda before, dw: before + dw, y.w, d)), error._replace(w=doubt)
        low = low._replace(w=mapped(lambda power, dw: fma(h, power, -dw), start.w, d))
        upper = upper._replace(w=mapped(lambda dw, c, power: (dw - c) - h * power, d, low.w, last))
    else:
        error, low, upper = (x._replace(w=y.w) for x in (error, low, upper))
    return Trial(end, error, [low, upper])


def _stage_solver(slopes: RateJacobian, scale: Scalar) -> Callable[[Motion, Scalar], Motion]:
    """Solves (1 / scale - J) k = right + by_time J_t for a stage k, J and J_t the derivatives of the rates by state and time."""
    n, further = len(slopes.Fq), len(slopes.Zq)

    def row(mass: Scalars, by_q: Scalars, by_v: Scalars, by_z: Scalars) -> Scalars:
        own = [m / scale - fma(scale, a, b) for m, a, b in zip(mass, by_q, by_v, strict=True)]
        return [*own, *(-x for x in by_z)]

    rows = each(row, slopes.mass, slopes.Fq, slopes.Fv, slopes.Fz)
    for i in range(further):
        by_motion = [-fma(scale, slopes.Zq[i][j], slopes.Zv[i][j]) for j in range(n)]
        by_z = [(1.0 / scale if i == j else 0.0) - x for j, x in enumerate(slopes.Zz[i])]
        rows = [*rows, [*by_motion, *by_z]]
    solved = solver(identity_where(slopes.held, rows))

    def solve(right: Motion, by_time: Scalar) -> Motion:
        z, form = flatten(right.z)
        moved = [scale * x for x in right.q]
        mass_times = each(lambda row: dot(row, right.v), slopes.mass)
        forces = each(lambda row, by_t, x: dot(row, moved, fma(by_time, by_t, x)), slopes.Fq, slopes.Ft, mass_times)
        b = [*forces]
        if slopes.held:
            b = zero_where(slopes.held, b)
        b += [dot(slopes.Zq[i], moved, fma(by_time, slopes.Zt[i], z[i])) for i in range(further)]
        x = solved(b)
        q = [fma(scale, v, q) for v, q in zip(x[:n], moved, strict=True)]
        return Motion(q, x[:n], unflatten(form, x[n:]), None)

    return solve


def _weighted(y: Motion, weights: Sequence[float], stages: Sequence[Motion]) -> Motion:
    """y + Σ weights stages; quadratures stay."""
    whole = y.states
    for weight, k in zip(weights, stages, strict=True):
        whole = whole.plus(weight, k)
    return whole._replace(w=y.w)


METHOD = Method(order=4, adaptive=EmbeddedPair(trial, order=4), coefficients=3, memory=MEMORY)
