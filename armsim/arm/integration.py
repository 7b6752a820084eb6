"""Checks of the arguments dt, method, rtol and atol."""

from __future__ import annotations

import math
from numbers import Real

from armsim.errors import UsageError
from armsim.integrate import METHODS, Tolerance
from armsim.spec.tolerance import LARGEST, LEAST, tolerance


def check_dt(dt: float) -> float:
    """A valid step [s].

    Raises:
        UsageError: It is not positive and finite.
    """
    if not isinstance(dt, Real) or not 0.0 < dt < math.inf:
        raise UsageError.of("dt", "the length of a step in s, above 0", repr(dt), "write for example dt=1e-3")
    return float(dt)


def check_method(method: str) -> str:
    """A valid name of an integration method.

    Raises:
        UsageError: There is none of that name.
    """
    if method not in METHODS:
        from armsim.files.faults import suggestion

        raise UsageError.of(
            "method",
            f"one of {', '.join(METHODS)}",
            repr(method),
            suggestion(str(method), METHODS, "methods are"),
        )
    return method


def check_tolerance(method: str, rtol: float | None, atol: float | None) -> Tolerance:
    """The tolerance of an adaptive method, with defaults for what is None.

    Raises:
        UsageError: It is out of range, or given for a method of fixed steps.
    """
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value is None:
            continue
        if METHODS[method].adaptive is None:
            adaptive = ", ".join(name for name, other in METHODS.items() if other.adaptive is not None)
            raise UsageError.of(
                name,
                f"no tolerance with {method}, whose steps have a given length",
                repr(value),
                f"leave it out, or take a method that chooses its steps: {adaptive}",
            )
        least, largest = (LEAST, LARGEST) if name == "rtol" else (0.0, math.inf)
        if not (isinstance(value, Real) and least <= value <= largest and 0.0 < value < math.inf):
            bounds = f"a number from {least:g} to {largest:g}" if name == "rtol" else "a number above 0"
            example = "rtol=1e-6" if name == "rtol" else "atol=1e-9"
            raise UsageError.of(name, bounds, repr(value), f"write for example {example}")
    return tolerance(rtol, atol)
