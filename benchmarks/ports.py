"""The least time that a step in lanes can take: the vector instructions of its machine code over the processor's ports."""

from __future__ import annotations

import ctypes
import re
import time
from dataclasses import dataclass

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
LATENCY, CHAIN = 4, 64  # cycles of a fused multiply-add, and how many in a row


@dataclass(frozen=True)
class Bound:
    """What the step's machine code consists of.

    Attributes:
        instructions: Vector instructions of the largest basic block, which is the step, that need a port for arithmetic.
        divisions: Divisions and roots among them.
        spills: Stores to and loads from the stack in it.
        registers: Their kind.
        cycles: That they take at least.
    """

    instructions: int
    divisions: int
    spills: int
    registers: str
    cycles: float


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
    cycles = max(instructions / PORTS, divisions * DIVISION[registers])
    return Bound(instructions, divisions, spills, registers, cycles)


def cycle() -> float:
    """The time of a processor's cycle in vector code [s]: a chain of fused multiply-adds that wait for each other."""
    lanes = host().register
    real = f"<{lanes} x double>"
    fma = f"@llvm.fma.v{lanes}f64"
    body = [f"  %x{i + 1} = call {real} {fma}({real} %x{i}, {real} %a, {real} %a)" for i in range(CHAIN)]
    ir = f"""declare {real} {fma}({real}, {real}, {real})
define void @chain(ptr %p, i64 %n) {{
entry:
  %a = load {real}, ptr %p, align 8
  br label %head
head:
  %k = phi i64 [ 0, %entry ], [ %k1, %head ]
  %x0 = phi {real} [ %a, %entry ], [ %x{CHAIN}, %head ]
{chr(10).join(body)}
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %n
  br i1 %more, label %head, label %end
end:
  store {real} %x{CHAIN}, ptr %p, align 8
  ret void
}}"""
    chain = Library(host().object_code(ir), host()).function("chain", None, ctypes.c_void_p, ctypes.c_int64)
    numbers, times = (ctypes.c_double * lanes)(), []
    for _ in range(20):
        began = time.perf_counter()
        chain(numbers, 20_000)
        times.append(time.perf_counter() - began)
    return min(times) / (20_000 * CHAIN * LATENCY)
