"""Counts in words, and the package for data frames."""

from __future__ import annotations

from types import ModuleType

from armsim.errors import UsageError


def counted(count: int, noun: str) -> str:
    """A number of things: "1 row", "2 rows"."""
    return f"{count} {noun}{'s' * (count != 1)}"


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
