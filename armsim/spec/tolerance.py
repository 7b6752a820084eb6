"""The error that an adaptive method may make in a step: its bounds and defaults."""

from __future__ import annotations

from armsim.expr import Scalar
from armsim.integrate import Tolerance

LEAST, LARGEST = 1e-13, 0.1  # relative errors: below, rounding errors count; above, nothing is right
ABSOLUTE = 1e-3  # of the relative error, in units of the state: what it is where the state is near zero


def tolerance(rtol: Scalar | None = None, atol: Scalar | None = None) -> Tolerance:
    """A tolerance from what is given of it."""
    relative = Tolerance.rtol if rtol is None else rtol
    if atol is None:
        atol = Tolerance.atol if rtol is None else ABSOLUTE * rtol
    return Tolerance(relative, atol)
