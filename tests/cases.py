"""Many cases of one test: a handful always, the others marked slow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def handful(cases: Iterable[Any], quick: int) -> list[Any]:
    """The cases of a test, those after the first `quick` marked slow."""
    return [case if k < quick else _slow(case) for k, case in enumerate(cases)]


def chosen(cases: Iterable[Any], quick: Iterable[Any]) -> list[Any]:
    """The cases of a test, all but the quick ones marked slow."""
    always = list(quick)
    found = list(cases)
    assert all(case in found for case in always), "a quick case is none of the cases"
    return [case if case in always else _slow(case) for case in found]


def _slow(case: Any) -> Any:
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
