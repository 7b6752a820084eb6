"""Whether SymPy is there."""

from __future__ import annotations

from importlib.util import find_spec

from armsim.errors import UsageError


def require_sympy() -> None:
    """Refuse before any work is done where SymPy is missing.

    Raises:
        UsageError: It is not installed.
    """
    if find_spec("sympy") is None:
        raise UsageError.of(
            "derive", "SymPy, which does the algebra", "it is not installed", 'pip install "armsim[symbolic]"'
        )
