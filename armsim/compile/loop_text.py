"""The time-stepping loop as LLVM IR: begin, run and finish, for one run or for vector lanes of runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from armsim.compile.environment import enter_and_leave
from armsim.compile.ir import Module
from armsim.compile.loop_body import LoopBody
from armsim.compile.lower import lower
from armsim.compile.target import Target
from armsim.expr import Expr, Function


def loop_text(body: LoopBody, target: Target, lanes: int) -> str:
    """The module of a loop."""
    module = Module(lanes, target.optimisation > 0)
    printer = _Printer(module, body, target)
    module.add(printer.run())
    module.add(printer.over_blocks("run"))
    if body.begin is not None:
        module.add(printer.begin(body.begin))
        module.add(printer.over_blocks("begin"))
    if body.finish is not None:
        module.add(printer.finish(body.finish))
        module.add(printer.over_blocks("finish"))
    return str(module)


# of each function: its pointers with the entry that says how far apart the blocks are, its other arguments, its result
SIGNATURES = {
    "begin": (("open", "state", "checks"), "", "void"),
    "run": (
        ("state", "after", "rows", "kept", "open"),
        "i64 %first, i64 %last, i64 %log_every, i64 %sample_every, i64 %rare_every, i64 %num, double %den, "
        "double %offset",
        "i64",
    ),
    "finish": (("state", "kept", "open", "results"), "double %now, i64 %due", "void"),
}


class _Printer:
    """Prints the functions of a loop into a module."""

    def __init__(self, module: Module, body: LoopBody, target: Target) -> None:
        self.module, self.body = module, body
        self.real = module.real
        self.pack = module.width == 1
        # one run waits for its own results, so its state stays in registers; lanes need these for the step
        self.resident = module.width == 1
        self.open = len(body.cycle.inputs) - 1 - body.states - body.kept
        declare, self.enter, self.leave = enter_and_leave(target.triple)
        for line in declare.splitlines():
            module.declare(line)

    def run(self) -> str:
        """The loop. Basic blocks: sample (when due), step, rare accumulators (when due), row (when due), check of bounds."""
        module, body, real = self.module, self.body, self.real
        n, m, often = body.states, body.kept, body.kept - body.rare
        cycle = lower(body.cycle, pack=self.pack, first=n + m)
        after, kept, row = cycle.outputs[:n], cycle.outputs[n : n + m], cycle.outputs[n + m :]
        time, *inputs = cycle.inputs
        names: dict[Expr, str] = {time: "%t"}
        names |= {node: f"%s{i}" for i, node in enumerate(inputs[:n])}
        names |= {node: f"%q{i}" for i, node in enumerate(inputs[n : n + m])}
        names |= {node: f"%o{i}" for i, node in enumerate(inputs[n + m :])}
        fixed = invariant(cycle, inputs[n + m :])
        fixed_lines = module.lines(fixed, names, prefix="f")
        stepped = [*after, *kept[:often]]
        step_lines = module.lines(self._ordered(cycle.live(stepped), names), names, wanted=stepped)
        next_state = [module.operand(out, names) for out in after]
        rare_lines = self._rare_block(cycle, kept, often, names)
        row_lines = module.lines(self._ordered(cycle.live(row), names), names, wanted=row)
        row_values = [module.operand(out, names) for out in row]
        sample_lines = self._sample_block()

        out = [
            self._head("run"),
            "entry:",
            *module.allocas(),
            *self.enter,
            *self._load("%state", "init", n),
            *self._load("%open", "o", self.open),
        ]
        counters = ("log", "sample")
        out += self._next_rare()
        out += [f"  %{counter}_rest = urem i64 %first, %{counter}_every" for counter in counters]
        out += [*fixed_lines, "  br label %begun", "begun:", "  br label %head", "head:"]
        out += ["  %k = phi i64 [ %first, %begun ], [ %k1, %next ]"]
        out += [f"  %{of}_in = phi i64 [ %{of}_rest, %begun ], [ %{of}_next, %next ]" for of in counters]
        out += ["  %rare_at = phi i64 [ %rare_first, %begun ], [ %rare_then, %next ]"] if body.rare else []
        out += ["  %room = phi ptr [ %rows, %begun ], [ %room_next, %next ]"]
        if self.resident:
            out += [f"  %h{i} = phi {real} [ %init{i}, %begun ], [ {next_state[i]}, %next ]" for i in range(n)]
        out += ["  %more = icmp slt i64 %k, %last", "  br i1 %more, label %time, label %done", "time:"]
        out += [] if self.resident else self._load("%state", "h", n)
        out += [
            "  %scaled = mul i64 %k, %num",
            "  %top = sitofp i64 %scaled to double",
            "  %late = fadd double %top, %offset",
            "  %now = fdiv double %late, %den",
        ]
        out += [*self.module.splat("t", "%now"), *sample_lines]
        out += ["step:", *(f"  %s{i} = phi {real} {source}" for i, source in enumerate(self._step_sources()))]
        out += [*self._load("%kept", "q", often), *step_lines, "  br label %stepped", "stepped:"]
        out += [*self._store([module.operand(value, names) for value in kept[:often]], "%kept", "e"), *rare_lines]
        out += ["  %due = icmp eq i64 %log_in, 0", "  br i1 %due, label %log, label %check", "log:", *row_lines]
        out += ["  br label %logged", "logged:"]
        # rows have no signed zeros: folding 0 * x to 0 loses the sign, and every engine is to give the same bits
        zero = module.constant(0.0)
        out += [f"  %unsigned{i} = fadd {real} {value}, {zero}" for i, value in enumerate(row_values)]
        out += self._store([f"%unsigned{i}" for i in range(len(row))], "%room", "r")
        out += [f"  %room_after = getelementptr {real}, ptr %room, i64 {len(row)}", "  br label %check", "check:"]
        out += [
            f"  %room_next = phi ptr [ %room, %{'told' if body.rare else 'stepped'} ], [ %room_after, %logged ]",
            *self._sound(next_state),
        ]
        out += ["  br i1 %sound, label %next, label %bad", "next:", "  %k1 = add i64 %k, 1"]
        out += [] if self.resident else self._store(next_state, "%state", "v")
        for counter in counters:
            out += [
                f"  %{counter}_1 = add i64 %{counter}_in, 1",
                f"  %{counter}_full = icmp eq i64 %{counter}_1, %{counter}_every",
                f"  %{counter}_next = select i1 %{counter}_full, i64 0, i64 %{counter}_1",
            ]
        reached = self._store([f"%h{i}" for i in range(n)], "%state", "b") if self.resident else []
        out += [
            "  br label %head",
            "bad:",
            *reached,
            *self._store(next_state, "%after", "w"),
            *self.leave,
            "  ret i64 %k",
        ]
        reached = self._store([f"%h{i}" for i in range(n)], "%state", "v") if self.resident else []
        out += ["done:", *reached, *self.leave, "  ret i64 %last", "}"]
        return "\n".join(out)

    def _rare_block(self, cycle: Function, kept: Sequence[Expr], often: int, names: dict[Expr, str]) -> list[str]:
        """The block that updates the rare accumulators when it is due, and the branch around it."""
        if not self.body.rare:
            return []
        module, own = self.module, dict(names)  # what is printed here does not reach other blocks
        lines = module.lines(self._ordered(cycle.live(kept[often:]), own), own, prefix="g")
        out = ["  %rare_due = icmp eq i64 %k, %rare_at", "  br i1 %rare_due, label %rare, label %told", "rare:"]
        out += [*self._load("%kept", "q", self.body.kept, often), *lines, "  br label %updated", "updated:"]
        out += self._store([module.operand(value, own) for value in kept[often:]], "%kept", "g", often)
        out += ["  %rare_next = add i64 %rare_at, %rare_every", "  br label %told", "told:"]
        return [*out, "  %rare_then = phi i64 [ %rare_at, %stepped ], [ %rare_next, %updated ]"]

    def _next_rare(self) -> list[str]:
        """The first step at which rare accumulators are updated: every step compares its number with it, which is one branch."""
        if not self.body.rare:
            return []
        return [
            "  %rare_rest = urem i64 %first, %rare_every",
            "  %rare_left = sub i64 %rare_every, %rare_rest",
            "  %rare_later = add i64 %first, %rare_left",
            "  %rare_now = icmp eq i64 %rare_rest, 0",
            "  %rare_first = select i1 %rare_now, i64 %first, i64 %rare_later",
        ]

    def begin(self, function: Function) -> str:
        """The state at the start, from the open numbers."""
        module = self.module
        lowered = lower(function, pack=self.pack)
        names = {node: f"%o{i}" for i, node in enumerate(lowered.inputs)}
        lines = module.lines(lowered.live(), names)
        values = [module.operand(out, names) for out in lowered.outputs]
        lines += self._store(values[: self.body.states], "%state", "v")
        lines += self._store(values[self.body.states :], "%checks", "c")
        head = [self._head("begin"), "entry:", *module.allocas(), *self.enter]
        return "\n".join([*head, *self._load("%open", "o", self.open), *lines, *self.leave, "  ret void", "}"])

    def finish(self, function: Function) -> str:
        """The results at the end, after a sample if one is due."""
        module, n, m = self.module, self.body.states, self.body.kept
        lowered = lower(function, pack=self.pack)
        names = {lowered.inputs[0]: "%t"}
        for i, node in enumerate(lowered.inputs[1:]):
            names[node] = f"%s{i}" if i < n else f"%q{i - n}" if i < n + m else f"%o{i - n - m}"
        lines = module.lines(self._ordered(lowered.live(), names), names)
        lines += self._store([module.operand(out, names) for out in lowered.outputs], "%results", "r")
        sample_lines = self._sample_block()
        out = [self._head("finish"), "entry:", *module.allocas(), *self.enter]
        out += [*self._load("%state", "h", n), *self._load("%kept", "q", m), *self._load("%open", "o", self.open)]
        out += [
            "  %sample_in = sub i64 1, %due",
            *self.module.splat("t", "%now"),
            "  br label %time",
            "time:",
            *sample_lines,
        ]
        out += ["step:", *(f"  %s{i} = phi {self.real} {source}" for i, source in enumerate(self._step_sources()))]
        return "\n".join([*out, *lines, *self.leave, "  ret void", "}"])

    def _head(self, name: str) -> str:
        pointers, rest, result = SIGNATURES[name]
        given = [*(f"ptr noalias %{pointer}" for pointer in pointers), *([rest] if rest else [])]
        return f"define {result} @{name}({', '.join(given)}) {{"

    def over_blocks(self, name: str) -> str:
        """The function applied to blocks that follow each other in memory; what it returns for each goes to %done."""
        pointers, rest, result = SIGNATURES[name]
        body = self.body
        sizes = {"state": body.states, "after": body.states, "kept": body.kept, "open": self.open}
        sizes["checks"] = 0 if body.begin is None else len(body.begin.outputs) - body.states
        sizes["results"] = 0 if body.finish is None else len(body.finish.outputs)
        given = ", ".join([*(f"ptr %{pointer}" for pointer in pointers), *([rest] if rest else [])])
        out = [f"define void @{name}_blocks(i64 %count, ptr %done, i64 %rows_apart, {given}) {{", "entry:"]
        out += ["  br label %head", "head:", "  %b = phi i64 [ 0, %entry ], [ %b1, %work ]"]
        out += ["  %more = icmp slt i64 %b, %count", "  br i1 %more, label %work, label %end", "work:"]
        for pointer in pointers:
            apart = "%rows_apart" if pointer == "rows" else str(sizes[pointer])
            out += [f"  %{pointer}o = mul i64 %b, {apart}"]
            out += [f"  %{pointer}b = getelementptr {self.real}, ptr %{pointer}, i64 %{pointer}o"]
        args = ", ".join([*(f"ptr %{pointer}b" for pointer in pointers), *([rest] if rest else [])])
        if result == "void":
            out += [f"  call void @{name}({args})"]
        else:
            out += [f"  %r = call {result} @{name}({args})", "  %place = getelementptr i64, ptr %done, i64 %b"]
            out += ["  store i64 %r, ptr %place"]
        return "\n".join([*out, "  %b1 = add i64 %b, 1", "  br label %head", "end:", "  ret void", "}"])

    def _ordered(self, nodes: Sequence[Expr], names: dict[Expr, str]) -> Sequence[Expr]:
        """Those of the nodes that are not printed yet, in the order in which they are issued."""
        return self.module.ordered([node for node in nodes if node not in names])

    def _sample_block(self) -> list[str]:
        """The block that samples the command when it is due, and the branch around it."""
        module = self.module
        if self.body.sample is None:
            return ["  br label %step"]
        sample = lower(self.body.sample, pack=self.pack)
        names = {sample.inputs[0]: "%t"}
        for i, node in enumerate(sample.inputs[1:]):
            names[node] = f"%h{i}" if i < self.body.states else f"%o{i - self.body.states}"
        lines = module.lines(sample.live(), names, prefix="c")
        zero = module.constant(0.0)
        lines += [  # copies under names of their own
            f"  %u{i} = select i1 true, {self.real} {module.operand(out, names)}, {self.real} {zero}"
            for i, out in enumerate(sample.outputs)
        ]
        due = ["  %sample_due = icmp eq i64 %sample_in, 0", "  br i1 %sample_due, label %sample, label %step"]
        return [*due, "sample:", *lines, "  br label %sampled", "sampled:", "  br label %step"]

    def _step_sources(self) -> list[str]:
        """Incoming values of the phi nodes by which the state enters the step."""
        if self.body.sample is None:
            return [f"[ %h{i}, %time ]" for i in range(self.body.states)]
        return [f"[ %h{i}, %time ], [ %u{i}, %sampled ]" for i in range(self.body.states)]

    def _sound(self, state: Sequence[str]) -> list[str]:
        """Whether all states of all lanes are within their bounds, as %sound."""
        module, real, truth = self.module, self.real, self.module.truth
        magnitude = module.intrinsic("fabs", 1)
        lines, sound = [], "true" if module.width == 1 else "splat (i1 true)"
        for i, bound in enumerate(self.body.bounds):
            if bound == inf:
                continue
            lines.append(f"  %ba{i} = call {real} {magnitude}({real} {state[i]})")
            lines.append(f"  %bc{i} = fcmp ole {real} %ba{i}, {module.constant(bound)}")
            lines.append(f"  %bs{i} = and {truth} {sound}, %bc{i}")
            sound = f"%bs{i}"
        return [*lines, *module.all_lanes("sound", sound)]

    def _load(self, pointer: str, prefix: str, count: int, first: int = 0) -> list[str]:
        lines = []
        for i in range(first, count):
            lines.append(f"  %{prefix}p{i} = getelementptr {self.real}, ptr {pointer}, i64 {i}")
            lines.append(f"  %{prefix}{i} = load {self.real}, ptr %{prefix}p{i}, align 8")
        return lines

    def _store(self, values: Sequence[str], pointer: str, prefix: str, first: int = 0) -> list[str]:
        lines = []
        for i, value in enumerate(values, first):
            lines.append(f"  %{prefix}p{i} = getelementptr {self.real}, ptr {pointer}, i64 {i}")
            lines.append(f"  store {self.real} {value}, ptr %{prefix}p{i}, align 8")
        return lines


def invariant(function: Function, inputs: Sequence[Expr]) -> list[Expr]:
    """The nodes of a function that depend on some of its inputs alone, in topological order."""
    known = set(inputs)
    found = []
    for node in function.live():
        args = [arg for arg in node.args if isinstance(arg, Expr)]
        if args and all(arg in known for arg in args):
            known.add(node)
            found.append(node)
    return found
