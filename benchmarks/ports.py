"""The least time that a step in lanes can take: the vector instructions of its machine code over the processor's ports."""

from __future__ import annotations

import ctypes
import re
import time
from dataclasses import dataclass

import numpy as np

from armsim.compile import SteppingLoop
from armsim.compile.target import Library, host, llvm

PORTS = 2  # that take vector arithmetic; on x86-64 with AVX-512 or two FMA units, and on most arm64 cores
DIVISION = {
    "zmm": 16,
    "ymm": 8,
    "xmm": 4,
}  # cycles that a division of doubles keeps the divider busy (Ice Lake and later)
ARITHMETIC = re.compile(
    r"v?(add|sub|mul|div|sqrt|max|min|and|andn|or|xor|cmp\w*|fn?m(add|sub)\d+|blendm|blendv|rndscale|round|ternlogd?q?"
    r"|pand|por|pxor|padd|psub|psll|psra|psrl|ptest\w*|permt2|shuf|unpck\w)(p[ds]|[dq]|pd)?"
)
CHAINS, LONG, TURNS = 12, 8, 50_000  # multiply-adds that wait for nothing but the one before them in their chain


@dataclass(frozen=True)
class Bound:
    """What the step's machine code consists of.

    Attributes:
        instructions: Vector instructions of the largest basic block, which is the step, that need a port for arithmetic.
        divisions: Divisions and roots among them.
        spills: Stores to and loads from the stack in it.
        registers: Their kind.
        operations: Whose time they take at least, if all ports are busy.
    """

    instructions: int
    divisions: int
    spills: int
    registers: str
    operations: int


def bound(loop: SteppingLoop) -> Bound:
    """The bound of a step of a loop."""
    module = llvm().parse_assembly(loop.ir)
    text = host().machine().emit_assembly(module)
    function = text[text.index("\nrun:") : text.index("\nrun_blocks:")]
    step = max(re.split(r"(?m)^(?=\.LBB)", function), key=lambda block: len(block.splitlines()))
    instructions = divisions = spills = 0
    kinds = {"zmm": 0, "ymm": 0, "xmm": 0}
    for words in re.findall(r"(?m)^\t(\S+)(?:\s+(.*))?$", step):
        name, operands = words
        kind = next((kind for kind in kinds if kind in operands), None)
        if kind is None and not name.startswith("vcmp"):
            continue
        spills += bool(re.search(r"\(%rsp\)", operands)) and name.startswith("vmov")
        if ARITHMETIC.fullmatch(name):
            instructions += 1
            divisions += name.startswith(("vdiv", "vsqrt", "div", "sqrt"))
            kinds[kind or "xmm"] += 1
    registers = max(kinds, key=kinds.__getitem__)
    return Bound(instructions, divisions, spills, registers, max(instructions, divisions * DIVISION[registers]))


def operation() -> float:
    """The time of a vector multiply-add where nothing waits for another [s], as long as all units are busy."""
    lanes = host().register
    real = f"<{lanes} x double>"
    fma = f"@llvm.fma.v{lanes}f64"
    begin = [
        f"  %p{c} = getelementptr {real}, ptr %p, i64 {c}\n  %i{c} = load {real}, ptr %p{c}" for c in range(CHAINS)
    ]
    head = [f"  %x0c{c} = phi {real} [ %i{c}, %entry ], [ %x{LONG}c{c}, %head ]" for c in range(CHAINS)]
    work = [
        f"  %x{i + 1}c{c} = call {real} {fma}({real} %x{i}c{c}, {real} %i0, {real} %i0)"
        for i in range(LONG)
        for c in range(CHAINS)
    ]
    end = [f"  store {real} %x{LONG}c{c}, ptr %p{c}" for c in range(CHAINS)]
    parts = [f"declare {real} {fma}({real}, {real}, {real})", "define void @chains(ptr %p, i64 %n) {", "entry:", *begin]
    parts += ["  br label %head", "head:", "  %k = phi i64 [ 0, %entry ], [ %k1, %head ]", *head, *work]
    parts += ["  %k1 = add i64 %k, 1", "  %more = icmp slt i64 %k1, %n", "  br i1 %more, label %head, label %end"]
    parts += ["end:", *end, "  ret void", "}"]
    chains = Library(host().object_code("\n".join(parts)), host()).function(
        "chains", None, ctypes.c_void_p, ctypes.c_int64
    )
    numbers, times = np.zeros((CHAINS + 1) * lanes), []
    aligned = -(-numbers.ctypes.data // (8 * lanes)) * 8 * lanes
    for _ in range(20):
        began = time.perf_counter()
        chains(aligned, TURNS)
        times.append(time.perf_counter() - began)
    return min(times) / (TURNS * LONG * CHAINS)
