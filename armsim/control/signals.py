"""Joint torques or motor voltages given as functions of time."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from heapq import merge
from itertools import chain, groupby
from math import inf
from typing import Literal

from armsim.expr import Scalar, Table, fma, lookup

# of the time; one that is recorded has its `Table` as the attribute `table`, a constant has its `value`
Signal = Callable[[Scalar], Scalar]


@dataclass(frozen=True)
class OpenLoop:
    """Commands that depend on time alone.

    Attributes:
        output: What the signals are: motor voltages [V], or joint torques [N·m or N].
        signals: One function of the time [s] per joint.
        period: Sample time [s], the command held between samples; None for continuous commands.
    """

    output: Literal["voltage", "torque"]
    signals: tuple[Signal, ...]
    period: float | None = None

    @property
    def integrals(self) -> int:
        """Number of integrator states."""
        return 0

    @property
    def timed(self) -> bool:
        """Whether any signal is a function of time that is neither recorded nor a constant."""
        return any(_table(signal) is None and not hasattr(signal, "value") for signal in self.signals)

    @cached_property
    def corners(self) -> Table | None:
        """The time of the next jump or corner of any recorded signal after a time [s]; None where there are none."""
        times = merge(*(table.x for table in map(_table, self.signals) if table is not None and len(table.x) > 1))
        distinct = array("d", (time for time, _ in groupby(times)))
        if not distinct:
            return None
        return Table(array("d", chain([-inf], distinct)), array("d", chain(distinct, [inf])), "zero")

    def command(
        self, t: Scalar, q, qd, integrals, since: Scalar | None = None, middle: Scalar | None = None
    ) -> list[Scalar]:
        """The commands at time t [V, N·m or N], n scalars.

        Args:
            t: Time [s].
            q: Not looked at, nor are qd and integrals.
            qd: See there.
            integrals: See there.
            since: Beginning of a step between whose ends signals that are held do not jump; None where they may.
            middle: A time whose piece of recorded signals counts, extended to t; None for that of t.
        """
        return [_at(signal, t, since, middle) for signal in self.signals]

    def integral_rates(self, q, integrals) -> list[Scalar]:
        """None: there are no integrator states."""
        return []


def _table(signal: Signal) -> Table | None:
    return getattr(signal, "table", None)


def _at(signal: Signal, t: Scalar, since: Scalar | None, middle: Scalar | None) -> Scalar:
    table = _table(signal)
    if table is None:
        return signal(t)
    if middle is not None and table.hold == "zero":
        return lookup(table, middle)
    if middle is not None and len(table.x) > 1:
        return fma(lookup(table.slope, middle), t - middle, lookup(table, middle))
    return signal(t if since is None or table.hold == "linear" else since)
