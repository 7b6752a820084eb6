"""Joint torques, motor voltages or currents given as functions of time."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from functools import cached_property
from heapq import merge
from itertools import chain, groupby
from math import inf

from armsim.actuation import Output
from armsim.control.law import Seen
from armsim.control.memory import Memory
from armsim.expr import Scalar, Scalars, Table, fma, lookup
from armsim.records import record

# of the time; one that is recorded has its `Table` as the attribute `table`, a constant has its `value`
Signal = Callable[[Scalar], Scalar]


@record
class OpenLoop:
    """Commands that depend on time alone.

    Attributes:
        output: What the signals are: motor voltages [V], motor currents [A], or joint torques [N·m or N].
        signals: One function of the time [s] per joint.
        period: Sample time [s], the command held between samples; None for continuous commands.
    """

    output: Output
    signals: tuple[Signal, ...]
    period: float | None = None

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

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Scalars:
        """The commands at time t [V, A, N·m or N], n scalars.

        Args:
            t: Time [s].
            since: Beginning of a step between whose ends signals that are held do not jump; None where they may.
            middle: A time whose piece of recorded signals counts, extended to t; None for that of t.
        """
        return [_at(signal, t, since, middle) for signal in self.signals]

    @property
    def corner_tables(self) -> list[Table]:
        """The table of `corners`, if there is one."""
        return [] if self.corners is None else [self.corners]

    def begin(self) -> Memory:
        """It remembers nothing."""
        return Memory()

    def slots(self, joints: Sequence[str]) -> list[str]:
        """Nor has it names for that."""
        return []

    def command(
        self, t: Scalar, seen: Seen, memory: Memory, since: Scalar | None = None, middle: Scalar | None = None
    ) -> Scalars:
        """The commands at time t, whatever is seen."""
        return self.at(t, since, middle)

    def rates(
        self, t: Scalar, seen: Seen, memory: Memory, since: Scalar | None = None, middle: Scalar | None = None
    ) -> Memory:
        """None."""
        return Memory()

    def clamped(self, memory: Memory) -> Memory:
        """Nothing."""
        return memory

    def sample(self, t: Scalar, seen: Seen, memory: Memory) -> tuple[Scalars, Memory]:
        """The commands that are held from time t on."""
        return self.at(t), memory


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
