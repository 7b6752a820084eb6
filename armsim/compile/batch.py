"""A function mapped over the rows of a batch."""

from __future__ import annotations

import ctypes
from functools import cached_property

from armsim.compile.environment import enter_and_leave
from armsim.compile.ir import Module
from armsim.compile.kernel import Compiled, compiled
from armsim.compile.lower import lower
from armsim.compile.target import Target, host
from armsim.expr import Expr, Function


class BatchKernel:
    """A traced function in machine code, vectorised over the rows of a batch.

    Args:
        function: (scalars) to (scalars).
        target: The machine to compile for.
        lanes: Rows per vector; the target's own choice unless given. The results do not depend on it.
    """

    def __init__(self, function: Function, target: Target | None = None, lanes: int | None = None) -> None:
        self.function = function
        self.target = target or host()
        self.lanes = lanes or self.target.lanes

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the vector loop."""
        return _print(lower(self.function), self.lanes, self.target)

    @cached_property
    def code(self) -> Compiled:
        """The loaded code; compiled or fetched when first asked for."""
        return compiled(lambda: self.ir, self.target, self.ir)

    @cached_property
    def _map(self):
        return self.code.library.function("map", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def __call__(self, args: int, results: int, count: int) -> None:
        """Evaluate the function for `count` rows, a multiple of `lanes`.

        Args:
            args: Address of the arguments, a structure of arrays of doubles: all values of the first argument, then all of the
                second, ...
            results: Address for the results, likewise.
            count: Number of rows.
        """
        self._map(args, results, count)


def _print(function: Function, lanes: int, target: Target) -> str:
    module = Module(lanes)
    names: dict[Expr, str] = {}
    lines = []
    for i, node in enumerate(function.inputs):
        names[node] = f"%a{i}"
        lines.append(f"  %ao{i} = mul i64 %count, {i}")
        lines.append(f"  %ai{i} = add i64 %ao{i}, %k")
        lines.append(f"  %ap{i} = getelementptr double, ptr %args, i64 %ai{i}")
        lines.append(f"  %a{i} = load {module.real}, ptr %ap{i}, align 8")
    lines += module.lines(function.live(), names)
    for i, out in enumerate(function.outputs):
        lines.append(f"  %ro{i} = mul i64 %count, {i}")
        lines.append(f"  %ri{i} = add i64 %ro{i}, %k")
        lines.append(f"  %rp{i} = getelementptr double, ptr %results, i64 %ri{i}")
        lines.append(f"  store {module.real} {module.operand(out, names)}, ptr %rp{i}, align 8")
    declare, enter, leave = enter_and_leave(target.triple)
    module.add(
        "\n".join(
            [
                declare,
                "define void @map(ptr noalias %args, ptr noalias %results, i64 %count) {",
                "entry:",
                *module.allocas(),
                *enter,
                "  br label %head",
                "head:",
                "  %k = phi i64 [ 0, %entry ], [ %next, %filled ]",
                "  %more = icmp slt i64 %k, %count",
                "  br i1 %more, label %rows, label %done",
                "rows:",
                *lines,
                "  br label %filled",
                "filled:",
                f"  %next = add i64 %k, {lanes}",
                "  br label %head",
                "done:",
                *leave,
                "  ret void",
                "}",
            ]
        )
    )
    return str(module)
