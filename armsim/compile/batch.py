"""A function mapped over the rows of a batch.

Arguments and results are arrays of rows, as callers have them; a block of as many rows as there are lanes is transposed in
registers on its way into the kernel and out of it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property

from armsim.compile.copies import stretches
from armsim.compile.environment import enter_and_leave
from armsim.compile.ir import Module
from armsim.compile.kernel import compiled
from armsim.compile.lower import lower
from armsim.compile.tables import looked_up
from armsim.compile.target import Library, Target, host
from armsim.expr import Function

DOUBLE = 8  # bytes
LINE = 8  # doubles in a cache line
AHEAD = 2  # blocks
FETCHED = 1024  # doubles of a row at most
INLINE = 2  # calls of a function that is inlined: a step and the row behind it then share what they have in common


class BatchKernel:
    """A traced function in machine code, vectorised over the rows of a batch.

    Args:
        function: (scalars) to (scalars), or what traces it; with a key it is called only if the code is not in the cache.
        target: The machine to compile for.
        lanes: Rows per vector; as many as a register has doubles unless given. The results do not depend on it.
        widths: Numbers of columns of the arrays that hold the arguments, one after the other; a single array unless given.
        key: Names all that the function depends on, for the cache; without one, it is printed and its text is the key.
        repeats: Whether the function is evaluated step by step, its results being the first array of the next step and the rows
            of the second array following one another by step.
    """

    def __init__(
        self,
        function: Function | Callable[[], Function],
        target: Target | None = None,
        lanes: int | None = None,
        widths: Sequence[int] | None = None,
        key: str = "",
        repeats: bool = False,
    ) -> None:
        self._make = (lambda: function) if isinstance(function, Function) else function
        self.target = target or host()
        self.lanes = lanes or self.target.register
        self.widths = (len(self.function.inputs),) if widths is None else tuple(widths)
        self._key = key
        self._repeats = repeats

    @cached_property
    def function(self) -> Function:
        """The function."""
        return self._make()

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the vector loop."""
        return _print(lower(self.function, inline=INLINE), self.widths, self.lanes, self.target, self._repeats)

    @cached_property
    def code(self) -> Library:
        """The loaded code; compiled or fetched when first asked for."""
        key = f"batch {self.lanes} {self.widths} {self._repeats} {self._key}" if self._key else self.ir
        return compiled(lambda: self.ir, self.target, key, lambda: looked_up(self.function))

    @cached_property
    def _map(self):
        return self.code.function("map", None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)

    def __call__(
        self, args: Sequence[tuple[int, int]], results: int, count: int, steps: int = 1, every: bool = False
    ) -> None:
        """Evaluate the function for `count` rows.

        Args:
            args: Of every array of arguments the address and the bytes from a row to the next, 0 for one row that all share;
                within a row doubles lie one after the other.
            results: Address for the results, rows one after the other; apart from the arguments.
            count: Number of rows.
            steps: How often it is repeated, at least once.
            every: Whether a row has the results of all steps, one after the other, with room before them for those of one more;
                else of the last alone.
        """
        more = (steps, len(self.function.outputs) if every else 0) if self._repeats else ()
        given = [*(x for pair in args for x in pair), *more]
        self._map((ctypes.c_int64 * len(given))(*given), results, count)


def _print(function: Function, widths: Sequence[int], lanes: int, target: Target, repeats: bool) -> str:
    """The module: @map goes from block to block of rows. In a block that is not full, lanes repeat the last row."""
    module = Module(lanes, target.optimisation > 0)
    pointers: list[str] = []
    rows: list[str] = []
    lines: list[str] = []  # of a block, and of every step
    inner: list[str] = []
    for lane in range(lanes):
        rows += [f"  %k{lane} = add i64 %k, {lane}", f"  %r{lane} = call i64 @llvm.smin.i64(i64 %k{lane}, i64 %last)"]
    columns: list[str] = []
    for g, width in enumerate(widths):
        pointers += [
            f"  %atp{g} = getelementptr i64, ptr %args, i64 {2 * g}",
            f"  %at{g} = load i64, ptr %atp{g}",
            f"  %base{g} = inttoptr i64 %at{g} to ptr",
            f"  %stepp{g} = getelementptr i64, ptr %args, i64 {2 * g + 1}",
            f"  %step{g} = load i64, ptr %stepp{g}",
        ]
        rows += _rows(f"g{g}", f"%base{g}", f"%step{g}", width, lanes)
        into, name = lines, f"g{g}"
        if repeats and g == 1:
            into, name = inner, "in"
            inner += _shifted(name, f"g{g}", "%from", lanes)
        for first in range(0, width, lanes):
            columns += _load(into, name, first, min(lanes, width - first), lanes)
    width, name, begun = len(function.outputs), "out", list(columns)
    if repeats:
        name = "to"
        inner += _shifted(name, "out", "%into", lanes)
        columns[: widths[0]] = [f"%carried{i}" for i in range(widths[0])]
        pointers += _repetition(len(widths), width)
    rows += _rows("out", "%results", "%apart" if repeats else str(DOUBLE * width), width, lanes)
    names = dict(zip(function.inputs, columns, strict=True))
    results = stretches(function.outputs)
    computed = [*function.outputs[: widths[0] * repeats], *(x for many, some in results if not many for x in some)]
    inner += module.lines(module.ordered(function.live()), names, wanted=computed)
    first = 0
    for many, stretch in results:
        for lane in range(lanes * many):
            inner += module.copied(f"%{name}p{lane}", first, stretch, names, lane)
        for k in range(0, 0 if many else len(stretch), lanes):
            _store(inner, name, first + k, [module.operand(out, names) for out in stretch[k : k + lanes]], lanes)
        first += len(stretch)
    if repeats:
        pairs = zip(begun[: widths[0]], (module.operand(out, names) for out in function.outputs), strict=False)
        phis = [
            f"  %carried{i} = phi {module.real} [ {a}, %block ], [ {b}, %stepped ]" for i, (a, b) in enumerate(pairs)
        ]
        places = [f"  %from = mul i64 %t, {widths[1]}", "  %into = mul i64 %t, %every"]
        inner = [*_HEAD, *phis, *places, *inner, *_FOOT]
    lines += inner
    declare, enter, leave = enter_and_leave(target.triple)
    module.add(
        "\n".join(
            [
                declare,
                "declare i64 @llvm.smin.i64(i64, i64)",
                "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
                "define void @map(ptr noalias %args, ptr noalias %results, i64 %count) {",
                "entry:",
                *module.allocas(),
                *pointers,
                *enter,
                "  %last = sub i64 %count, 1",
                "  br label %head",
                "head:",
                "  %k = phi i64 [ 0, %entry ], [ %next, %filled ]",
                "  %more = icmp slt i64 %k, %count",
                "  br i1 %more, label %block, label %done",
                "block:",
                *rows,
                *lines,
                f"  %next = add i64 %k, {lanes}",
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


_HEAD = ["  br label %step", "step:", "  %t = phi i64 [ 0, %block ], [ %after, %stepped ]"]
_FOOT = [
    "  br label %stepped",
    "stepped:",
    "  %after = add i64 %t, 1",
    "  %again = icmp slt i64 %after, %steps",
    "  br i1 %again, label %step, label %over",
    "over:",
]


def _repetition(groups: int, width: int) -> list[str]:
    """The number of steps, the doubles from the results of a step to those of the next, and the bytes from a row to the next."""
    return [
        f"  %stepsp = getelementptr i64, ptr %args, i64 {2 * groups}",
        "  %steps = load i64, ptr %stepsp",
        f"  %everyp = getelementptr i64, ptr %args, i64 {2 * groups + 1}",
        "  %every = load i64, ptr %everyp",
        "  %all = mul i64 %every, %steps",
        f"  %whole = add i64 %all, {width}",
        f"  %apart = mul i64 %whole, {DOUBLE}",
    ]


def _shifted(name: str, of: str, doubles: str, lanes: int) -> list[str]:
    """Pointers {name}p{lane} so many doubles after those of another name."""
    return [f"  %{name}p{lane} = getelementptr double, ptr %{of}p{lane}, i64 {doubles}" for lane in range(lanes)]


def _rows(name: str, base: str, stride: str, width: int, lanes: int) -> list[str]:
    """Pointers {name}p{lane} to the rows of a block; those of the block after the next one are fetched meanwhile."""
    lines = [f"  %{name}ahead = mul i64 {stride}, {AHEAD * lanes}"]
    for lane in range(lanes):
        lines.append(f"  %{name}o{lane} = mul i64 %r{lane}, {stride}")
        lines.append(f"  %{name}p{lane} = getelementptr i8, ptr {base}, i64 %{name}o{lane}")
        lines.append(f"  %{name}f{lane} = getelementptr i8, ptr %{name}p{lane}, i64 %{name}ahead")
        for j in range(0, min(width, FETCHED), LINE):
            lines.append(f"  %{name}f{lane}x{j} = getelementptr double, ptr %{name}f{lane}, i64 {j}")
            lines.append(f"  call void @llvm.prefetch.p0(ptr %{name}f{lane}x{j}, i32 0, i32 3, i32 1)")
    return lines


def _load(lines: list[str], name: str, first: int, count: int, lanes: int) -> Sequence[str]:
    """Adjacent columns of the rows at {name}p{lane} as vectors."""
    rows = [f"%{name}x{first}r{lane}" for lane in range(lanes)]
    for lane, row in enumerate(rows):
        at = f"{row}a"
        lines.append(f"  {at} = getelementptr double, ptr %{name}p{lane}, i64 {first}")
        lines.append(f"  {row}n = load {_real(count, lanes)}, ptr {at}, align 8")
        lines.append(_shuffle(row, f"{row}n", "poison", count, [min(k, count) for k in range(lanes)]))
    return _transposed(lines, f"%{name}x{first}", rows)[:count]


def _store(lines: list[str], name: str, first: int, values: Sequence[str], lanes: int) -> None:
    """Vectors as adjacent columns of the rows at {name}p{lane}."""
    count = len(values)
    rows = _transposed(lines, f"%{name}x{first}", [*values, *["poison"] * (lanes - count)])
    for lane, row in enumerate(rows):
        at = f"%{name}x{first}a{lane}"
        lines.append(_shuffle(f"{at}n", row, "poison", lanes, range(count)))
        lines.append(f"  {at} = getelementptr double, ptr %{name}p{lane}, i64 {first}")
        lines.append(f"  store {_real(count, lanes)} {at}n, ptr {at}, align 8")


def _transposed(lines: list[str], name: str, vectors: Sequence[str]) -> Sequence[str]:
    """As many vectors as they have elements transposed: in blocks of 2 x 2, then these blocks, ..."""
    lanes, apart = len(vectors), 1
    while apart < lanes:
        turned = [f"{name}t{apart}x{i}" for i in range(lanes)]
        for i in (i for i in range(lanes) if not i & apart):
            pair = vectors[i], vectors[i + apart], lanes
            left = [k + lanes - apart if k & apart else k for k in range(lanes)]
            lines.append(_shuffle(turned[i], *pair, left))
            lines.append(_shuffle(turned[i + apart], *pair, [k + apart for k in left]))
        vectors, apart = turned, 2 * apart
    return vectors


def _shuffle(name: str, a: str, b: str, size: int, places: Sequence[int]) -> str:
    """A vector of the elements at some places of two vectors of that size, one behind the other."""
    if size == len(places) == 1:  # a single lane is no vector
        return f"  {name} = select i1 true, double {a}, double {b}"
    mask = ", ".join(f"i32 {place}" for place in places)
    return f"  {name} = shufflevector <{size} x double> {a}, <{size} x double> {b}, <{len(places)} x i32> <{mask}>"


def _real(count: int, lanes: int) -> str:
    """Type of so many doubles of a row."""
    return "double" if lanes == 1 else f"<{count} x double>"
