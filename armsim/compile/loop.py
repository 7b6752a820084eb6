"""The compiled time-stepping loop."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from armsim.compile.environment import enter_and_leave
from armsim.compile.ir import Module
from armsim.compile.kernel import Compiled, compiled
from armsim.compile.lower import lower
from armsim.compile.schedule import scheduled
from armsim.compile.target import Target, host
from armsim.expr import Expr, Function


@dataclass(frozen=True)
class LoopBody:
    """The body of a time-stepping loop, as functions traced from time and state.

    Attributes:
        cycle: (t, *state) to (*state a step later, *peaks, *row). What only the row needs is computed only when a row is due.
        sample: (t, *state) to the state after a sample, or None where nothing is sampled.
        states: Number of state entries.
        peaks: Number of quantities whose peak magnitude is recorded.
        bounds: For each state entry, the magnitude beyond which the run has diverged; inf for one that is not checked.
    """

    cycle: Function
    sample: Function | None
    states: int
    peaks: int
    bounds: Sequence[float]

    @property
    def row(self) -> int:
        """Numbers in a row."""
        return len(self.cycle.outputs) - self.states - self.peaks


class FixedStepLoop:
    """A `LoopBody` in machine code: steps, samples, rows, peaks and the check for divergence.

    Args:
        body: The body of the loop.
        target: The machine to compile for.
    """

    def __init__(self, body: LoopBody, target: Target | None = None) -> None:
        self.body = body
        self.target = target or host()

    @cached_property
    def ir(self) -> str:
        """LLVM IR of the loop."""
        return _print(self.body, self.target)

    @cached_property
    def code(self) -> Compiled:
        """The loaded code; compiled or fetched when first asked for."""
        return compiled(self.ir, self.target)

    @cached_property
    def _run(self):
        pointer, whole = ctypes.c_void_p, ctypes.c_int64
        args = (pointer, pointer, pointer, whole, whole, whole, whole, whole, ctypes.c_double)
        return self.code.library.function("run", whole, *args)

    def run(
        self,
        state: ctypes.Array,
        rows: ctypes.Array,
        peaks: ctypes.Array,
        first: int,
        last: int,
        log_every: int,
        sample_every: int,
        time_ratio: tuple[int, int],
    ) -> int:
        """Carry out the steps first <= k < last, each from t = k num / den.

        Args:
            state: The state at step `first`; overwritten by the one reached.
            rows: Filled with the rows of those k that are multiples of `log_every`, one after the other.
            peaks: Updated to the largest magnitudes so far.
            first: First step.
            last: Step before which to stop.
            log_every: Steps between rows.
            sample_every: Steps between samples.
            time_ratio: (num, den).

        Returns:
            `last`; or the step that led out of bounds, and `state` is then what it led to.
        """
        num, den = time_ratio
        return int(self._run(state, rows, peaks, first, last, log_every, sample_every, num, float(den)))


def _print(body: LoopBody, target: Target) -> str:
    """The loop as one IR function. Basic blocks: the step, the row (when due), the sample (when due)."""
    module = Module()
    n, m = body.states, body.peaks
    cycle = lower(body.cycle, pack=True, first=n + m)
    after, peaks, row = cycle.outputs[:n], cycle.outputs[n : n + m], cycle.outputs[n + m :]
    names: dict[Expr, str] = {node: f"%s{i}" for i, node in enumerate(cycle.inputs[1:])}
    names[cycle.inputs[0]] = "%t"
    step_lines = module.lines(scheduled(cycle.live([*after, *peaks])), names)
    next_state = [module.operand(out, names) for out in after]
    peak_values = [module.operand(out, names) for out in peaks]
    row_lines = module.lines(scheduled([node for node in cycle.live(row) if node not in names]), names)
    row_values = [module.operand(out, names) for out in row]
    sample_lines = _sample(body, module)
    declare, enter, leave = enter_and_leave(target.triple)
    module.declare("declare double @llvm.fabs.f64(double)")

    out = [declare, "define i64 @run(ptr noalias %state, ptr noalias %rows, ptr noalias %peaks, i64 %first, i64 %last,"]
    out += ["    i64 %log_every, i64 %sample_every, i64 %num, double %den) {", "entry:", *module.allocas(), *enter]
    out += _load("%state", "init", n)
    out += ["  %log_rest = urem i64 %first, %log_every", "  %sample_rest = urem i64 %first, %sample_every"]
    out += ["  br label %head", "head:"]
    out += ["  %k = phi i64 [ %first, %entry ], [ %k1, %next ]"]
    out += ["  %log_in = phi i64 [ %log_rest, %entry ], [ %log_next, %next ]"]
    out += ["  %sample_in = phi i64 [ %sample_rest, %entry ], [ %sample_next, %next ]"]
    out += ["  %room = phi ptr [ %rows, %entry ], [ %room_next, %next ]"]
    out += [f"  %h{i} = phi double [ %init{i}, %entry ], [ {next_state[i]}, %next ]" for i in range(n)]
    out += ["  %more = icmp slt i64 %k, %last", "  br i1 %more, label %time, label %done", "time:"]
    out += ["  %scaled = mul i64 %k, %num", "  %top = sitofp i64 %scaled to double", "  %t = fdiv double %top, %den"]
    out += sample_lines
    out += ["step:", *(f"  %s{i} = phi double {source}" for i, source in enumerate(_step_sources(body)))]
    out += [*step_lines, "  br label %stepped", "stepped:"]
    for i, value in enumerate(peak_values):
        out += [f"  %pm{i} = call double @llvm.fabs.f64(double {value})"]
        out += [f"  %pp{i} = getelementptr double, ptr %peaks, i64 {i}", f"  %po{i} = load double, ptr %pp{i}"]
        out += [f"  %pc{i} = fcmp ogt double %pm{i}, %po{i}"]
        out += [f"  %pn{i} = select i1 %pc{i}, double %pm{i}, double %po{i}", f"  store double %pn{i}, ptr %pp{i}"]
    out += [
        "  %due = icmp eq i64 %log_in, 0",
        "  br i1 %due, label %log, label %check",
        "log:",
        *row_lines,
        "  br label %logged",
        "logged:",
    ]
    # rows have no signed zeros: folding 0 * x to 0 loses the sign, and every engine is to give the same bits
    out += [f"  %unsigned{i} = fadd double {value}, 0.0" for i, value in enumerate(row_values)]
    out += _store([f"%unsigned{i}" for i in range(len(row))], "%room", "r")
    out += [f"  %room_after = getelementptr double, ptr %room, i64 {len(row)}", "  br label %check", "check:"]
    out += ["  %room_next = phi ptr [ %room, %stepped ], [ %room_after, %logged ]"]
    sound = "true"
    for i, bound in enumerate(body.bounds):
        if bound == inf:
            continue
        out += [f"  %ba{i} = call double @llvm.fabs.f64(double {next_state[i]})"]
        out += [f"  %bc{i} = fcmp ole double %ba{i}, {module.constant(bound)}", f"  %bs{i} = and i1 {sound}, %bc{i}"]
        sound = f"%bs{i}"
    out += [f"  br i1 {sound}, label %next, label %bad", "next:", "  %k1 = add i64 %k, 1"]
    for counter in ("log", "sample"):
        out += [
            f"  %{counter}_1 = add i64 %{counter}_in, 1",
            f"  %{counter}_full = icmp eq i64 %{counter}_1, %{counter}_every",
        ]
        out += [f"  %{counter}_next = select i1 %{counter}_full, i64 0, i64 %{counter}_1"]
    out += ["  br label %head", "bad:", *_store(next_state, "%state", "w"), *leave, "  ret i64 %k"]
    out += ["done:", *_store([f"%h{i}" for i in range(n)], "%state", "v"), *leave, "  ret i64 %last", "}"]
    module.add("\n".join(out))
    return str(module)


def _sample(body: LoopBody, module: Module) -> list[str]:
    """The block that samples the command when it is due, and the branch around it."""
    if body.sample is None:
        return ["  br label %step"]
    sample = lower(body.sample, pack=True)
    names = {node: f"%h{i}" for i, node in enumerate(sample.inputs[1:])}
    names[sample.inputs[0]] = "%t"
    lines = module.lines(sample.live(), names, prefix="c")
    lines += [
        f"  %u{i} = select i1 true, double {module.operand(out, names)}, double 0.0"
        for i, out in enumerate(sample.outputs)
    ]
    due = ["  %sample_due = icmp eq i64 %sample_in, 0", "  br i1 %sample_due, label %sample, label %step"]
    return [*due, "sample:", *lines, "  br label %sampled", "sampled:", "  br label %step"]


def _step_sources(body: LoopBody) -> list[str]:
    """Incoming values of the phi nodes by which the state enters the step."""
    if body.sample is None:
        return [f"[ %h{i}, %time ]" for i in range(body.states)]
    return [f"[ %h{i}, %time ], [ %u{i}, %sampled ]" for i in range(body.states)]


def _load(pointer: str, prefix: str, count: int) -> list[str]:
    lines = []
    for i in range(count):
        lines.append(f"  %{prefix}p{i} = getelementptr double, ptr {pointer}, i64 {i}")
        lines.append(f"  %{prefix}{i} = load double, ptr %{prefix}p{i}")
    return lines


def _store(values: Sequence[str], pointer: str, prefix: str) -> list[str]:
    lines = []
    for i, value in enumerate(values):
        lines.append(f"  %{prefix}p{i} = getelementptr double, ptr {pointer}, i64 {i}")
        lines.append(f"  store double {value}, ptr %{prefix}p{i}")
    return lines
