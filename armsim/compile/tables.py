"""Tables of compiled code: it has pointers to their numbers, which are set when it is loaded, under names that say which numbers.

Text and code are thus as short for a million numbers as for two, and the name stands for them in the cache's keys.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from armsim.errors import CompileError

if TYPE_CHECKING:
    from armsim.expr import Function, Table

SYMBOL = "armsim_table_"
SYMBOLS = re.compile(SYMBOL.encode() + rb"([0-9a-f]{64})")


def symbol(table: Table) -> str:
    """The name of the pointers to a table's abscissae and values."""
    return SYMBOL + table.digest


def looked_up(*functions: Function | None) -> Iterator[Table]:
    """The tables that traced functions look up, in no order, some of them more than once."""
    from armsim.expr import Function, Repetition, Table

    left = [function for function in functions if function is not None]
    seen: set[int] = set()
    while left:
        function = left.pop()
        if id(function) in seen:
            continue
        seen.add(id(function))
        for node in function.live():
            first = node.args[0] if node.args else None
            if isinstance(first, Table):
                yield first
            elif isinstance(first, (Function, Repetition)):
                left.append(first.body if isinstance(first, Repetition) else first)


def resolved(code: bytes, tables: Callable[[], Iterable[Table]], address: Callable[[str], int]) -> list[Table]:
    """Set the pointers in loaded code, and return their tables, which must outlive it.

    Args:
        code: The object code.
        tables: Gives those that it may look up; their slopes are found with them.
        address: Of a global variable in the loaded code.

    Raises:
        CompileError: It looks up another one.
    """
    missing = {name.decode() for name in SYMBOLS.findall(code)}
    found = []
    for table in _with_slopes(tables()) if missing else ():
        if table.digest in missing:
            pointers = (ctypes.c_void_p * 2).from_address(address(symbol(table)))
            pointers[:] = [part.buffer_info()[0] for part in (table.x, table.y)]
            missing.remove(table.digest)
            found.append(table)
        if not missing:
            break
    if missing:
        raise CompileError(f"the kernel looks up tables that it was not given: {', '.join(sorted(missing))}")
    return found


def _with_slopes(tables: Iterable[Table]) -> Iterator[Table]:
    """Tables, and then their slopes, which are not computed before they are needed."""
    given = list(tables)
    yield from given
    yield from (table.slope for table in given if table.hold == "linear")


# bisection: low2 ends as the last abscissa at or before t, or the first one
TABLE_AT = """define internal double @table{k}(double %t) noinline {{
entry:
  %xs = load ptr, ptr {at}
  %at1 = getelementptr ptr, ptr {at}, i64 1
  %ys = load ptr, ptr %at1
  br label %search
search:
  %low = phi i64 [ 0, %entry ], [ %low2, %search ]
  %high = phi i64 [ {n}, %entry ], [ %high2, %search ]
  %both = add i64 %low, %high
  %mid = lshr i64 %both, 1
  %px = getelementptr double, ptr %xs, i64 %mid
  %x = load double, ptr %px
  %before = fcmp ole double %x, %t
  %low2 = select i1 %before, i64 %mid, i64 %low
  %high2 = select i1 %before, i64 %high, i64 %mid
  %gap = sub i64 %high2, %low2
  %more = icmp ugt i64 %gap, 1
  br i1 %more, label %search, label %found
found:
  %py0 = getelementptr double, ptr %ys, i64 %low2
  %y0 = load double, ptr %py0
  %first = load double, ptr %xs
  %after = fcmp ogt double %t, %first
  %inner = icmp ult i64 %low2, {last}
  %between = and i1 %after, %inner
  %join = and i1 %between, {linear}
  br i1 %join, label %interpolate, label %hold
hold:
  ret double %y0
interpolate:
  %next = add i64 %low2, 1
  %px0 = getelementptr double, ptr %xs, i64 %low2
  %px1 = getelementptr double, ptr %xs, i64 %next
  %py1 = getelementptr double, ptr %ys, i64 %next
  %x0 = load double, ptr %px0
  %x1 = load double, ptr %px1
  %y1 = load double, ptr %py1
  %dx = fsub double %t, %x0
  %wx = fsub double %x1, %x0
  %share = fdiv double %dx, %wx
  %dy = fsub double %y1, %y0
  %rise = fmul double %share, %dy
  %y = fadd double %y0, %rise
  ret double %y
}}"""
