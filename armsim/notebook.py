"""Counts and shares in words, and the package for data frames."""

from __future__ import annotations

from types import ModuleType

from armsim.errors import UsageError


def counted(count: int, noun: str) -> str:
    """A number of things: "1 row", "2 rows"."""
    return f"{count} {noun}{'s' * (count != 1)}"


def percent(part: float, tiny: bool = False) -> str:
    """A fraction in percent, to two digits; below 1e-6 % only as a bound, unless `tiny`."""
    percent = 100 * part
    if 0 < percent < 1e-6 and not tiny:
        return "less than 1e-6 %"
    if 0 < percent < 1e-3:
        digits, exponent = f"{percent:.1e}".split("e")
        return f"{digits}e{int(exponent)} %"
    return f"{percent:.0f} %" if percent >= 10 else f"{percent:.2g} %"


def pandas() -> ModuleType:
    """The package pandas.

    Raises:
        UsageError: It is not installed.
    """
    try:
        import pandas as found
    except ImportError:
        raise UsageError.of(
            "to_pandas", "pandas, which has data frames", "it is not installed", "pip install pandas"
        ) from None
    return found
