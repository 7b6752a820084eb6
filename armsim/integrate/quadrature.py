"""Quadratures along a step, such as work: under error control of their own, which leaves the step's length and motion alone.

The rates of quadratures are integrated over the step's continuous extension by the Gauss-Lobatto rule of five points, order 8.
Simpson's rule, on three of these, estimates the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from armsim.expr import Scalar, absolute, both, chosen, either, leaves, loop, mapped, minimum, negated, where
from armsim.integrate.extension import SmoothStep
from armsim.integrate.method import Tolerance
from armsim.records import mutable_record

INNER = (1 - sqrt(3 / 7)) / 2, 1 / 2, (1 + sqrt(3 / 7)) / 2  # nodes between 0 and 1
LOBATTO = (1 / 20, 49 / 180, 16 / 45, 49 / 180, 1 / 20)
SIMPSON = (1 / 6, 0.0, 2 / 3, 0.0, 1 / 6)
ERROR = tuple(a - b for a, b in zip(LOBATTO, SIMPSON, strict=True))
WIDEST, NARROWEST = 1 / 8, 1 / 64  # of a step: a panel to begin with, and one that is not halved
PANELS = 160  # at most, with those that were halved


@mutable_record
class Covered:
    """The state of the loop over the panels of a step.

    Attributes:
        share: Of the step, that is done.
        width: Of the next panel, relative to the step.
        w: The quadratures so far.
    """

    share: Scalar
    width: Scalar
    w: Any


@mutable_record
class Integrand(SmoothStep):
    """The rates of quadratures along a step.

    Attributes:
        like: Quadratures, for their structure.
    """

    like: Any

    def rates(self, share: Scalar) -> Any:
        """The rates at a share of the step."""
        t, y = self.at(share)
        return self.smooth.powers(t, y._replace(w=self.like))

    def panel(self, share: Scalar, width: Scalar, first: Any, last: Any) -> tuple[Any, Any]:
        """The change of the quadratures over a panel, and its estimated error.

        Args:
            share: The panel's beginning, as a share of the step.
            width: Its width, likewise.
            first: The rates at its beginning.
            last: The rates at its end.
        """
        nodes = [first, *(self.rates(share + node * width) for node in INNER), last]
        h = width * self.h

        def by(weights: Sequence[float]) -> Any:
            return mapped(lambda *k: h * sum(w * x for w, x in zip(weights, k, strict=True) if w), *nodes)

        return by(LOBATTO), by(ERROR)


def refined(integrand: Integrand, w: Any, after: Any, error: Any, tolerance: Tolerance, wanted: Any) -> Any:
    """The quadratures at a step's end: as they are if their estimated errors are within the tolerance, or by panels.

    Panels are `WIDEST`, lest all nodes meet the same phase of what turns fast; one is halved until its error is within its share
    of the tolerance, or it is `NARROWEST`.

    Args:
        integrand: The step.
        w: The quadratures at its start.
        after: Those at its end.
        error: The estimated error of their change.
        tolerance: Of the local error of every quadrature, as of states.
        wanted: Whether the step is accepted.
    """

    def fits(w: Any, error: Any, width: Scalar) -> Any:
        found: Any = True
        for x, e in zip(leaves(w), leaves(error), strict=True):
            found = both(found, absolute(e) <= width * (tolerance.atol + tolerance.rtol * absolute(x)))
        return found

    def following(now: Covered) -> list[Covered]:
        ends = integrand.rates(now.share), integrand.rates(now.share + now.width)
        change, error = integrand.panel(now.share, now.width, *ends)
        w = _sum(now.w, change)
        taken = either(now.width <= NARROWEST, fits(w, error, now.width))
        share = where(taken, now.share + now.width, now.share)
        width = where(taken, minimum(minimum(2.0 * now.width, WIDEST), 1.0 - share), now.width / 2)
        return [Covered(share, width, chosen(taken, integrand.smooth.doubted(w, error), now.w))]

    if all(isinstance(x, float) and x == 0.0 for x in leaves(error)):
        return after
    refining = both(wanted, negated(fits(after, error, 1.0)))
    begin = chosen(refining, w, integrand.smooth.doubted(after, error))
    (end,) = loop([Covered(where(refining, 0.0, 1.0), WIDEST, begin)], following, lambda now: now.share >= 1.0, PANELS)
    return end.w


def _sum(w: Any, change: Any) -> Any:
    return mapped(lambda x, dx: x + dx, w, change)
