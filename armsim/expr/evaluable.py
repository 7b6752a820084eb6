"""What a parsed expression of named scalars is to those that evaluate it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class Evaluable(Protocol):
    """A parsed expression, as `armsim.formulas.formula.Formula`."""

    @property
    def names(self) -> frozenset[str]: ...

    def evaluate(self, values: Mapping[str, Any]) -> Any: ...
