"""A function evaluated at one point at a time."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from math import inf

from armsim.compile.environment import enter_and_leave
from armsim.compile.ir import Module
from armsim.compile.kernel import compiled
from armsim.compile.lower import lower
from armsim.compile.tables import looked_up
from armsim.compile.target import Library, Target, host, is_open
from armsim.expr import Expr, Function


class SingleKernel:
    """A traced function in scalar machine code, for single evaluations.

    Args:
        function: (scalars) to (scalars).
        bounds: For each result the largest magnitude within bounds; inf for no bound.
        target: The machine to compile for.
    """

    def __init__(self, function: Function, bounds: Sequence[float] | None = None, target: Target | None = None) -> None:
        self.function = function
        self.bounds = [inf] * len(function.outputs) if bounds is None else list(bounds)
        self.target = target or host()

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the call."""
        return _print(lower(self.function, pack=True), self.bounds, self.target)

    @cached_property
    def code(self) -> Library:
        """The loaded code; compiled or fetched when first asked for."""
        return compiled(lambda: self.ir, self.target, self.ir, lambda: looked_up(self.function))

    @cached_property
    def call(self) -> Callable[[int, int], int]:
        """The native function: (address of the arguments, address for the results), doubles in order, which may overlap.

        It returns the index of the first result out of bounds (NaN counts as such), or -1.
        """
        return self.code.function("once", ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)


@lru_cache(maxsize=8)
def _kernel(function: Function) -> SingleKernel:
    return SingleKernel(function, target=host().quick if is_open() else host())


def evaluated(function: Function, numbers: Sequence[float]) -> Sequence[float]:
    """The results of a function on numbers, by code that is soon made, for some evaluations."""
    given, results = (ctypes.c_double * len(numbers))(*numbers), (ctypes.c_double * len(function.outputs))()
    _kernel(function).call(ctypes.addressof(given), ctypes.addressof(results))
    return list(results)


def _print(function: Function, bounds: Sequence[float], target: Target) -> str:
    module = Module(optimised=target.optimisation > 0)
    names: dict[Expr, str] = {}
    lines = []
    for i, node in enumerate(function.inputs):
        names[node] = f"%a{i}"
        lines.append(f"  %ap{i} = getelementptr double, ptr %args, i64 {i}")
        lines.append(f"  %a{i} = load double, ptr %ap{i}")
    bounded = [out for out, bound in zip(function.outputs, bounds, strict=True) if bound < inf]
    lines += module.lines(module.ordered(function.live()), names, wanted=bounded)
    lines += module.filled("%results", function.outputs, names)
    first = "-1"
    module.declare("declare double @llvm.fabs.f64(double)")
    for i, bound in reversed(list(enumerate(bounds))):
        if bound == inf:
            continue
        value = module.operand(function.outputs[i], names)
        lines.append(f"  %bm{i} = call double @llvm.fabs.f64(double {value})")
        lines.append(f"  %bc{i} = fcmp ole double %bm{i}, {module.constant(bound)}")
        lines.append(f"  %bf{i} = select i1 %bc{i}, i64 {first}, i64 {i}")
        first = f"%bf{i}"
    declare, enter, leave = enter_and_leave(target.triple)
    head = [declare, "define i64 @once(ptr %args, ptr %results) {", "entry:", *module.allocas(), *enter]
    module.add("\n".join([*head, *lines, *leave, f"  ret i64 {first}", "}"]))
    return str(module)
