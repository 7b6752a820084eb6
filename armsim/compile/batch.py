"""A function mapped over the rows of a batch.

Arguments and results are arrays of rows, as callers have them; a block of as many rows as there are lanes is transposed in
registers on its way into the kernel and out of it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice

from armsim.compile.environment import enter_and_leave
from armsim.compile.ir import Module
from armsim.compile.kernel import Compiled, compiled
from armsim.compile.lower import lower
from armsim.compile.tables import looked_up
from armsim.compile.target import Target, host
from armsim.expr import Expr, Function

DOUBLE = 8  # bytes


class BatchKernel:
    """A traced function in machine code, vectorised over the rows of a batch.

    Args:
        function: (scalars) to (scalars), or what traces it; with a key it is called only if the code is not in the cache.
        target: The machine to compile for.
        lanes: Rows per vector; the target's own choice unless given. The results do not depend on it.
        widths: Numbers of columns of the arrays that hold the arguments, one after the other; a single array unless given.
        key: Names all that the function depends on, for the cache; without one, it is printed and its text is the key.
    """

    def __init__(
        self,
        function: Function | Callable[[], Function],
        target: Target | None = None,
        lanes: int | None = None,
        widths: Sequence[int] | None = None,
        key: str = "",
    ) -> None:
        self._make = (lambda: function) if isinstance(function, Function) else function
        self.target = target or host()
        self.lanes = lanes or self.target.lanes
        self.widths = (len(self.function.inputs),) if widths is None else tuple(widths)
        self._key = key

    @cached_property
    def function(self) -> Function:
        """The function."""
        return self._make()

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the vector loop."""
        return _print(lower(self.function), self.widths, self.lanes, self.target)

    @cached_property
    def code(self) -> Compiled:
        """The loaded code; compiled or fetched when first asked for."""
        key = f"batch {self.lanes} {self.widths} {self._key}" if self._key else self.ir
        return compiled(lambda: self.ir, self.target, key, lambda: looked_up(self.function))

    @cached_property
    def _map(self):
        return self.code.library.function("map", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def __call__(self, args: Sequence[tuple[int, int]], results: int, count: int) -> None:
        """Evaluate the function for `count` rows.

        Args:
            args: Of every array of arguments the address and the bytes from a row to the next, 0 for one row that all share;
                within a row doubles lie one after the other.
            results: Address for the results, rows one after the other; apart from the arguments.
            count: Number of rows.
        """
        self._map((ctypes.c_int64 * (2 * len(args)))(*(x for pair in args for x in pair)), results, count)


def _print(function: Function, widths: Sequence[int], lanes: int, target: Target) -> str:
    """The module: @map goes from block to block of rows; the last one, if it is not full, is computed on a copy."""
    module = Module(lanes)
    groups = range(len(widths))
    width = len(function.outputs)
    live = function.live()
    wanted = set(live)
    names: dict[Expr, str] = {}
    lines = []
    inputs = iter(function.inputs)
    for g in groups:
        used = [(j, node) for j, node in enumerate(islice(inputs, widths[g])) if node in wanted]
        columns = _columns(f"g{g}", f"%in{g}", f"%stride{g}", [j for j, _ in used], lanes)
        lines += columns
        names |= {node: f"%g{g}c{j}" for j, node in used}
    lines += module.lines(live, names)
    results = [module.operand(out, names) for out in function.outputs]
    lines += _rows("%out", results, lanes)
    declare, enter, leave = enter_and_leave(target.triple)
    head = [*module.allocas(), f"  %scratch = alloca [{lanes * width} x double]"]
    head += [f"  %scratch{g} = alloca [{lanes * widths[g]} x double]" for g in groups]
    for g in groups:
        head += [
            f"  %atp{g} = getelementptr i64, ptr %args, i64 {2 * g}",
            f"  %at{g} = load i64, ptr %atp{g}",
            f"  %base{g} = inttoptr i64 %at{g} to ptr",
            f"  %stepp{g} = getelementptr i64, ptr %args, i64 {2 * g + 1}",
            f"  %step{g} = load i64, ptr %stepp{g}",
        ]
    begin, fill, meet = [], [], []
    for g in groups:
        begin += [
            f"  %o{g} = mul i64 %k, %step{g}",
            f"  %rows{g} = getelementptr i8, ptr %base{g}, i64 %o{g}",
        ]
        fill += [
            f"  call void @copy(ptr %scratch{g}, ptr %rows{g}, i64 %step{g}, i64 {widths[g]}, i64 %last, i64 {lanes})"
        ]
        meet += [
            f"  %in{g} = phi ptr [ %rows{g}, %rows ], [ %scratch{g}, %fill ]",
            f"  %stride{g} = phi i64 [ %step{g}, %rows ], [ {DOUBLE * widths[g]}, %fill ]",
        ]
    module.add(COPY)
    module.add(
        "\n".join(
            [
                declare,
                "define void @map(ptr noalias %args, ptr noalias %results, i64 %count) {",
                "entry:",
                *head,
                *enter,
                "  br label %head",
                "head:",
                "  %k = phi i64 [ 0, %entry ], [ %next, %filled ]",
                "  %left = sub i64 %count, %k",
                "  %more = icmp sgt i64 %left, 0",
                "  br i1 %more, label %rows, label %done",
                "rows:",
                "  %last = sub i64 %left, 1",
                *begin,
                f"  %ro = mul i64 %k, {DOUBLE * width}",
                "  %own = getelementptr i8, ptr %results, i64 %ro",
                f"  %full = icmp sge i64 %left, {lanes}",
                "  br i1 %full, label %block, label %fill",
                "fill:",
                *fill,
                "  br label %block",
                "block:",
                *meet,
                "  %out = phi ptr [ %own, %rows ], [ %scratch, %fill ]",
                *lines,
                f"  %next = add i64 %k, {lanes}",
                "  br i1 %full, label %filled, label %rest",
                "rest:",
                f"  call void @copy(ptr %own, ptr %scratch, i64 {DOUBLE * width}, i64 {width}, i64 %last, i64 %left)",
                "  br label %filled",
                "filled:",
                "  br label %head",
                "done:",
                *leave,
                "  ret void",
                "}",
            ]
        )
    )
    return str(module)


def _columns(name: str, base: str, stride: str, columns: Sequence[int], lanes: int) -> list[str]:
    """Vectors {name}c{j} of columns j of a block of rows."""
    lines = []
    real = "double" if lanes == 1 else f"<{lanes} x double>"
    for row in range(lanes):
        lines.append(f"  %{name}o{row} = mul i64 {stride}, {row}")
        lines.append(f"  %{name}p{row} = getelementptr i8, ptr {base}, i64 %{name}o{row}")
    for j in columns:
        before = "poison"
        for row in range(lanes):
            lines.append(f"  %{name}a{row}x{j} = getelementptr double, ptr %{name}p{row}, i64 {j}")
            x = f"%{name}c{j}" if lanes == 1 else f"%{name}v{row}x{j}"
            lines.append(f"  {x} = load double, ptr %{name}a{row}x{j}, align 8")
            if lanes > 1:
                after = f"%{name}c{j}" if row == lanes - 1 else f"%{name}i{row}x{j}"
                lines.append(f"  {after} = insertelement {real} {before}, double {x}, i64 {row}")
                before = after
    return lines


def _rows(base: str, values: Sequence[str], lanes: int) -> list[str]:
    """Stores of vectors as the columns of a block of rows."""
    lines = []
    real = "double" if lanes == 1 else f"<{lanes} x double>"
    for j, value in enumerate(values):
        for row in range(lanes):
            x = value
            if lanes > 1:
                x = f"%ro{row}x{j}"
                lines.append(f"  {x} = extractelement {real} {value}, i64 {row}")
            lines.append(f"  %rp{row}x{j} = getelementptr double, ptr {base}, i64 {row * len(values) + j}")
            lines.append(f"  store double {x}, ptr %rp{row}x{j}, align 8")
    return lines


# rows of `width` doubles, `count` of them, one after the other; those after the last one repeat it
COPY = """define internal void @copy(ptr %to, ptr %from, i64 %stride, i64 %width, i64 %last, i64 %count) noinline {
entry:
  br label %row
row:
  %l = phi i64 [ 0, %entry ], [ %l1, %ended ]
  %some = icmp slt i64 %l, %count
  br i1 %some, label %begin, label %end
begin:
  %within = icmp slt i64 %l, %last
  %at = select i1 %within, i64 %l, i64 %last
  %offset = mul i64 %at, %stride
  %source = getelementptr i8, ptr %from, i64 %offset
  %first = mul i64 %l, %width
  %target = getelementptr double, ptr %to, i64 %first
  br label %column
column:
  %j = phi i64 [ 0, %begin ], [ %j1, %copied ]
  %more = icmp slt i64 %j, %width
  br i1 %more, label %copied, label %ended
copied:
  %px = getelementptr double, ptr %source, i64 %j
  %x = load double, ptr %px
  %py = getelementptr double, ptr %target, i64 %j
  store double %x, ptr %py
  %j1 = add i64 %j, 1
  br label %column
ended:
  %l1 = add i64 %l, 1
  br label %row
end:
  ret void
}"""
