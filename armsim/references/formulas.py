"""A formula of the time for each joint."""

from __future__ import annotations

from collections.abc import Callable

from armsim.expr import Scalar, Scalars
from armsim.records import record
from armsim.references.of_time import OfTime


@record
class Formulas(OfTime):
    """q = factor f(t), for each joint.

    Attributes:
        functions: Of the time [s], n of them.
        factors: From their unit to rad or m.
    """

    functions: tuple[Callable[[Scalar], Scalar], ...]
    factors: tuple[float, ...]

    @property
    def ends(self) -> bool:
        """Whether all formulas are numbers; where one of the time comes to an end is not known."""
        return all(hasattr(f, "value") for f in self.functions)

    def positions(self, t: Scalar) -> Scalars:
        """See the class."""
        return [f(t) * factor for f, factor in zip(self.functions, self.factors, strict=True)]
