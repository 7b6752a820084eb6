"""The interface of a measure."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

from armsim.expr import Scalar, Scalars
from armsim.measures.moment import Moment
from armsim.records import record

Quantities = Callable[[Moment], Scalars]


@record
class Measure:
    """One number of a run, or a few, gathered moment by moment.

    Numbers of the arm are those of a moment's plant: the plant that a measure was asked of may have others where they are open.

    Attributes:
        names: Of its results.
        units: Theirs; empty for a pure number, or one of no single unit.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def needs_work(self) -> bool:
        """Whether it needs the works among the states; see `Plant.audit`."""
        return False

    def begin(self) -> Any:
        """The accumulators before the first moment: a tree of floats."""
        return ()

    def update(self, kept: Any, now: Moment) -> Any:
        """The accumulators after a moment: those at t_k, k = 0 to N - 1, then the end, t_N."""
        return kept

    def result(self, kept: Any, end: Moment) -> Scalars:
        """One number per name, after the last update."""
        raise NotImplementedError


def summed(terms: Scalars) -> Scalar:
    """Their sum from left to right, each addition rounded: `sum` of floats compensates, machine code does not."""
    return reduce(add, terms)
