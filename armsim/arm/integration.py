"""Checks of arguments: numbers, and dt, method, rtol and atol."""

from __future__ import annotations

from numbers import Real

from armsim.document.tolerance import LARGEST, LEAST, tolerance
from armsim.errors import UsageError
from armsim.files.nodes import quoted
from armsim.formulas.bounds import BOUNDS
from armsim.integrate import METHODS, Tolerance


def real_number(name: str, value: float) -> float:
    """A value as a double; NaN and infinities are for the caller to judge.

    Raises:
        UsageError: It is no real number, or an integer that no double holds.
    """
    try:
        if not isinstance(value, str):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise UsageError.of(name, "a real number", quoted(value), "give a number that a double holds")


def check_dt(dt: float) -> float:
    """A valid step [s].

    Raises:
        UsageError: It is not positive, or beyond the bounds of times.
    """
    least, largest = BOUNDS["s"].least, BOUNDS["s"].largest
    if not isinstance(dt, Real) or not least <= dt <= largest:
        beyond = f", from {least:g} to {largest:g}" if isinstance(dt, Real) and dt > 0 else ""
        raise UsageError.of(
            "dt", f"the length of a step in s, above 0{beyond}", quoted(dt), "write for example dt=1e-3"
        )
    return float(dt)


def check_creep(creep: float | None) -> float | None:
    """A valid velocity below which dry friction is smoothed [rad/s or m/s]; None for none.

    Raises:
        UsageError: It is not positive, or beyond the bounds of velocities.
    """
    bounds = BOUNDS["rad/s"]
    if creep is None or bounds.least <= real_number("creep", creep) <= bounds.largest:
        return creep
    expected = f"a velocity in rad/s or m/s, from {bounds.least:g} to {bounds.largest:g}"
    raise UsageError.of("creep", expected, quoted(creep), "write for example creep=0.05")


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
        least, largest = (LEAST, LARGEST) if name == "rtol" else (BOUNDS[""].least, BOUNDS[""].largest)
        if not (isinstance(value, Real) and least <= value <= largest):
            bounds = f"a number from {least:g} to {largest:g}" if name == "rtol" else "a number above 0"
            example = "rtol=1e-6" if name == "rtol" else "atol=1e-9"
            raise UsageError.of(name, bounds, quoted(value), f"write for example {example}")
    return tolerance(rtol, atol)
