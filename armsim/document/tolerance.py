"""Bounds and defaults of an adaptive method's local error tolerance."""

from __future__ import annotations

from armsim.expr import Scalar
from armsim.integrate import Tolerance

LEAST, LARGEST = 1e-13, 0.1  # of rtol: below, rounding errors dominate; above, no digit is right
ABSOLUTE = 1e-3  # default of atol / rtol, in the unit of the state


def tolerance(rtol: Scalar | None = None, atol: Scalar | None = None) -> Tolerance:
    """A tolerance with defaults for what is None."""
    relative = Tolerance.rtol if rtol is None else rtol
    if atol is None:
        atol = Tolerance.atol if rtol is None else ABSOLUTE * rtol
    return Tolerance(relative, atol)
