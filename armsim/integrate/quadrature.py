"""Quadratures along a step, such as work: error-controlled by themselves, they leave the step's length and motion alone.

The rates of quadratures are integrated over the step's continuous extension, panel by panel, by the Gauss-Lobatto rule of five
points, order 8. Simpson's rule, on three of these, estimates the error; a panel is halved until it is within the tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from armsim.expr import Expr, Scalar, absolute, both, either, leaves, loop, mapped, maximum, minimum, where
from armsim.integrate.extension import interpolated
from armsim.integrate.method import Tolerance
from armsim.integrate.motion import Motion
from armsim.integrate.system import System

NODES = (0.0, (1 - sqrt(3 / 7)) / 2, 0.5, (1 + sqrt(3 / 7)) / 2, 1.0)
LOBATTO = (1 / 20, 49 / 180, 16 / 45, 49 / 180, 1 / 20)
SIMPSON = (1 / 6, 0.0, 2 / 3, 0.0, 1 / 6)
ERROR = tuple(a - b for a, b in zip(LOBATTO, SIMPSON, strict=True))
NARROWEST = 1 / 64  # of a step: a panel that is not halved
PANELS = 160  # at most, halved ones included


@dataclass(slots=True)
class Panels:
    """The state of the loop over the panels of a step.

    Attributes:
        share: Of the step, that is done.
        width: Of the next panel, relative to the step.
        w: The quadratures, likewise trees what follows.
        first: Their rates at the step's beginning.
        last: Their rates at the end of the last panel.
    """

    share: Scalar
    width: Scalar
    w: Any
    first: Any
    last: Any


def quadratures(
    smooth: System,
    t: Scalar,
    h: Scalar,
    start: Motion,
    end: Motion,
    inner: Sequence[Motion],
    tolerance: Tolerance,
    wanted: Any,
) -> tuple[Any, list[Any]]:
    """The quadratures at a step's end, and the coefficients of their continuous extension, cubic; see `interpolated`.

    Args:
        smooth: The system on its branch.
        t: Time of the step's start [s].
        h: Length of the step [s].
        start: The motion at its start.
        end: The motion at its end, quadratures left aside.
        inner: Further coefficients of its continuous extension.
        tolerance: Of the local error of every quadrature, as of states.
        wanted: Whether they are; else they stay as they are.
    """
    if start.w is None:
        return None, [None] * (len(inner) + 1)
    change = mapped(lambda after, before: after - before, end._replace(w=None), start._replace(w=None))
    coefficients = [change, *inner]
    nothing = mapped(lambda x: 0.0, start.w)
    if isinstance(h, Expr) and all(isinstance(x, float) and x == 0.0 for x in leaves(smooth.powers(t, start))):
        return start.w, [nothing] * (len(inner) + 1)  # nothing acts, whatever the motion

    def panel(now: Panels) -> list[Panels]:
        rates = []
        for node in NODES:
            share = now.share + node * now.width
            y = interpolated(end, coefficients, share)._replace(w=start.w)
            rates.append(smooth.powers(t + share * h, y))
        width = now.width * h
        found = mapped(lambda *k: width * _weighted(LOBATTO, k), *rates)
        error = mapped(lambda *k: width * _weighted(ERROR, k), *rates)
        w = smooth.counted(now.w, found, mapped(absolute, error))
        taken: Any = now.width <= NARROWEST
        fits: Any = True
        for x, e in zip(leaves(w), leaves(error), strict=True):
            allowed = now.width * (tolerance.atol + tolerance.rtol * absolute(x))
            fits = both(fits, absolute(e) <= allowed)
        taken = either(taken, fits)
        share = where(taken, now.share + now.width, now.share)
        return [
            Panels(
                share=share,
                width=where(taken, minimum(2.0 * now.width, maximum(1.0 - share, NARROWEST)), now.width / 2),
                w=mapped(lambda after, before: where(taken, after, before), w, now.w),
                first=mapped(lambda k, before: where(now.share > 0.0, before, k), rates[0], now.first),
                last=rates[-1],
            )
        ]

    begin = Panels(where(wanted, 0.0, 1.0), 1.0, start.w, nothing, nothing)
    (after,) = loop([begin], panel, lambda now: now.share >= 1.0, PANELS)
    d = mapped(lambda x, before: x - before, after.w, start.w)
    low = mapped(lambda k, dw: h * k - dw, after.first, d)
    upper = mapped(lambda dw, c, k: (dw - c) - h * k, d, low, after.last)
    return after.w, [d, low, upper, *[nothing] * (len(inner) - 2)]


def _weighted(weights: Sequence[float], x: Sequence[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for weight, value in zip(weights, x, strict=True):
        total = total + weight * value
    return total
