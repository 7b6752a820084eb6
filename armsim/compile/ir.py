"""Expression graphs as LLVM IR text.

The same printer writes scalar code (width 1) and vector code (`<8 x double>`), in which each lane does exactly the operations of
the scalar code. No fast-math flag is set anywhere, so a lane's bits depend on its inputs alone.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from armsim.compile.copies import COPY, only_copied, place, stretches
from armsim.compile.lower import PACK
from armsim.compile.schedule import scheduled
from armsim.compile.tables import TABLE_AT, symbol
from armsim.errors import CompileError
from armsim.expr import Expr, Function, Loop, Scan, Table
from armsim.expr.elementary import SHIFT
from armsim.expr.graph import array_columns
from armsim.expr.scalar import ROOT_HALF

BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARISONS = {"lt": "olt", "le": "ole"}
EXPONENT_BIAS = 1023
MANTISSA_BITS = 52
LONGEST_BLOCK = 500  # lines of a basic block where code is not optimised; LLVM's time for one grows with its square


def bits(value: float) -> int:
    """The 64 bits of a double as an integer."""
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


class Module:
    """LLVM IR under construction: functions, tables and the intrinsics they declare.

    Args:
        width: Lanes of every value.
        optimised: Whether operations are printed in the order in which they are issued, or as they were traced.

    Attributes:
        width: Lanes of every value.
        real: LLVM type of a value.
    """

    def __init__(self, width: int = 1, optimised: bool = True) -> None:
        self.width = width
        self._optimised = optimised
        self.real = self._lanes("double")
        self.truth = self._lanes("i1")
        self.whole = self._lanes("i64")
        self._suffix = "f64" if width == 1 else f"v{width}f64"
        self._declarations: dict[str, None] = {}
        self._globals: dict[str, str] = {}
        self._bodies: list[str] = []
        self._functions: dict[Function, str] = {}
        self._tables: dict[Table, str] = {}
        self._loops: dict[Loop, str] = {}
        self._scans: dict[Scan, str] = {}
        self._allocas: list[str] = []
        self._merged: dict[Expr, list[str]] = {}  # phi nodes of the results of loops that may be skipped

    def __str__(self) -> str:
        constants = [f"{name} = {text}" for text, name in self._globals.items()]
        return "\n".join([*self._declarations, *constants, *self._bodies, ""])

    def _lanes(self, element: str) -> str:
        return element if self.width == 1 else f"<{self.width} x {element}>"

    def declare(self, line: str) -> None:
        """Add a declaration once."""
        self._declarations[line] = None

    def add(self, body: str) -> None:
        """Add the text of a function."""
        self._bodies.append(body)

    def allocas(self) -> list[str]:
        """Stack slots of the instructions printed since the last call, for the function's entry block."""
        taken, self._allocas = self._allocas, []
        return taken

    def ordered(self, nodes: Sequence[Expr]) -> Sequence[Expr]:
        """The nodes, given in topological order, as they are printed: `scheduled`, but where code is not optimised."""
        return scheduled(nodes, self.width) if self._optimised else nodes

    def constant(self, value: float, type: str = "") -> str:
        """A double as an operand: its exact bits, splat to all lanes unless the type is `double`."""
        literal = f"0x{bits(value):016X}"
        return literal if self.width == 1 or type == "double" else f"splat (double {literal})"

    def wholes(self, value: int) -> str:
        """An integer as an operand, splat to all lanes."""
        return str(value) if self.width == 1 else f"splat (i64 {value})"

    def operand(self, arg: Any, names: dict[Expr, str]) -> str:
        """A node or a number as an operand."""
        return names[arg] if isinstance(arg, Expr) else self.constant(arg)

    def lines(
        self, nodes: Sequence[Expr], names: dict[Expr, str], prefix: str = "x", wanted: Sequence[Any] | None = None
    ) -> list[str]:
        """Instructions that compute nodes, given in topological order. Names of the results are added to `names`.

        They may end in another basic block than they begin in.

        Args:
            nodes: The nodes.
            names: Of operands.
            prefix: Of new names.
            wanted: The nodes whose names are asked for; all unless given. Items that only go into arrays are copied there.
        """
        out: list[str] = []
        begun = 0  # line at which the basic block begins
        copied = set() if wanted is None else only_copied(nodes, wanted)
        for node in nodes:
            if node in names or node in copied or node.op == "input":
                continue
            if not self._optimised and len(out) - begun > LONGEST_BLOCK:
                out += [f"  br label %{prefix}{node.index}on", f"{prefix}{node.index}on:"]
                begun = len(out)
            if node.op == "out" and node.args[0] in self._merged:
                names[node] = self._merged[node.args[0]][int(node.args[1])]
                continue
            if node.op == "out" and array_columns(node):
                names[node] = f"{names[node.args[0]]}a"
                continue
            if node.op == "out":
                call, index = node.args
                names[node] = f"%{prefix}{node.index}"
                out += [f"  {line}" for line in self._load(names[node], names[call], str(int(index)))]
                continue
            names[node] = f"%{prefix}{node.index}"
            if node.op == "loop":
                out += self._entered(node, names[node], names)
                continue
            if node.op == "pack":
                out += self._pack(node, names[node], names)
                continue
            out += [f"  {line}" for line in self._instructions(node, names[node], names)]
        return out

    def _instructions(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        op, real, whole = node.op, self.real, self.whole
        if op in ("call", "loop"):
            return self._call(node, name, names)
        if op == "scan":
            return self._scan(node, name, names)
        if op == "series":
            return self._series(node, name, names)
        if op == "item":
            return self._item(node, name, names)
        if op == "lookup":
            return self._lookup(node, name, names)
        if op == "lane":
            pack, result, lane = node.args
            return [f"{name} = extractelement <{PACK} x double> {names[pack]}r{int(result)}, i64 {int(lane)}"]
        args = [self.operand(arg, names) for arg in node.args]
        if op in BINARY:
            return [f"{name} = {BINARY[op]} {real} {args[0]}, {args[1]}"]
        if op == "neg":
            return [f"{name} = fneg {real} {args[0]}"]
        if op in ("abs", "sqrt", "fma"):
            intrinsic = self.intrinsic("fabs" if op == "abs" else op, len(args))
            return [f"{name} = call {real} {intrinsic}({', '.join(f'{real} {arg}' for arg in args)})"]
        if op in COMPARISONS:
            return [f"{name} = fcmp {COMPARISONS[op]} {real} {args[0]}, {args[1]}"]
        if op == "and":
            return [f"{name} = and {self.truth} {args[0]}, {args[1]}"]
        if op == "not":
            return [f"{name} = xor {self.truth} {args[0]}, {'true' if self.width == 1 else 'splat (i1 true)'}"]
        if op == "where":
            return [f"{name} = select {self.truth} {args[0]}, {real} {args[1]}, {real} {args[2]}"]
        if op == "bit":
            mask = self.wholes(1 << int(node.args[1]))
            return [
                f"{name}i = bitcast {real} {args[0]} to {whole}",
                f"{name}m = and {whole} {name}i, {mask}",
                f"{name} = icmp ne {whole} {name}m, {self.wholes(0)}",
            ]
        if op == "exp2":  # the low bits of k + SHIFT are those of the integer k
            return [
                f"{name}f = fadd {real} {args[0]}, {self.constant(SHIFT)}",
                f"{name}i = bitcast {real} {name}f to {whole}",
                f"{name}b = add {whole} {name}i, {self.wholes(EXPONENT_BIAS)}",
                f"{name}s = shl {whole} {name}b, {self.wholes(MANTISSA_BITS)}",
                f"{name} = bitcast {whole} {name}s to {real}",
            ]
        if op in ("mantissa", "exponent"):
            return self._split(op, name, args[0])
        raise CompileError(f"no machine operation for {node!r}: the graph was not lowered")

    def _split(self, op: str, name: str, x: str) -> list[str]:
        """Mantissa or exponent of x = m 2**e by its bits, 1/sqrt(2) <= m < sqrt(2)."""
        real, whole = self.real, self.whole
        lines = [
            f"{name}i = bitcast {real} {x} to {whole}",
            f"{name}o = sub {whole} {name}i, {self.wholes(bits(ROOT_HALF))}",
            f"{name}e = ashr {whole} {name}o, {self.wholes(MANTISSA_BITS)}",
        ]
        if op == "exponent":
            return [
                *lines,
                f"{name}b = add {whole} {name}e, {self.wholes(bits(SHIFT))}",
                f"{name}f = bitcast {whole} {name}b to {real}",
                f"{name} = fsub {real} {name}f, {self.constant(SHIFT)}",
            ]
        return [
            *lines,
            f"{name}s = shl {whole} {name}e, {self.wholes(MANTISSA_BITS)}",
            f"{name}m = sub {whole} {name}i, {name}s",
            f"{name} = bitcast {whole} {name}m to {real}",
        ]

    def _call(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        """A call; its name is that of the pointer to the results."""
        function, *given = node.args
        args = self._given(given, names)
        outer, self._allocas = self._allocas, []
        called = self.loop(function) if isinstance(function, Loop) else self.function(function)
        self._allocas = [*outer, f"  {name} = alloca [{max(len(function.outputs), 1)} x {self.real}]"]
        return [f"call void {called}({', '.join([*args, f'ptr {name}'])})"]

    def _given(self, args: Sequence[Any], names: dict[Expr, str]) -> list[str]:
        """Arguments of a call, arrays by their pointers."""
        return [f"ptr {names[x]}" if array_columns(x) else f"{self.real} {self.operand(x, names)}" for x in args]

    def _parameters(self, nodes: Sequence[Expr], letter: str) -> list[str]:
        """Parameters of a function for its inputs."""
        return [f"{'ptr' if array_columns(x) else self.real} %{letter}{i}" for i, x in enumerate(nodes)]

    def _load(self, name: str, array: str, place: str, type: str = "") -> list[str]:
        """An item of an array, of values or another type."""
        type = type or self.real
        return [f"{name}p = getelementptr {type}, ptr {array}, i64 {place}", f"{name} = load {type}, ptr {name}p"]

    def _read(self, name: str, array: str, row: str, column: int, type: str) -> list[str]:
        """An item of an array, by the place where its row begins."""
        return [f"  {name}o = add i64 {row}, {column}", *(f"  {x}" for x in self._load(name, array, f"{name}o", type))]

    def _series(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        """An array of values, on the stack."""
        items = node.args[1:]
        self._allocas.append(f"  {name} = alloca [{len(items)} x {self.real}]")
        return self.filled(name, items, names)

    def filled(self, array: str, values: Sequence[Any], names: dict[Expr, str]) -> list[str]:
        """Instructions that store values in an array."""
        lines, first = [], 0
        for many, stretch in stretches(values):
            lines += self.copied(array, first, stretch, names) if many else []
            for i, value in enumerate([] if many else stretch, first):
                item = isinstance(value, Expr) and value.op == "item"  # read here, so that one is in a register at most
                name = f"{array}v{i}" if item else self.operand(value, names)
                lines += self._item(value, name, names) if item else []
                lines.append(f"{array}p{i} = getelementptr {self.real}, ptr {array}, i64 {i}")
                lines.append(f"store {self.real} {name}, ptr {array}p{i}")
            first += len(stretch)
        return lines

    def copied(
        self, array: str, first: int, values: Sequence[Any], names: dict[Expr, str], lane: int | None = None
    ) -> list[str]:
        """Instructions that copy items of one array, or numbers, to another one from a place on; or a lane of them.

        Args:
            array: The other one; of a lane, of doubles.
            first: The place.
            values: The items, or the numbers.
            names: Of arrays.
            lane: The lane; all unless given.
        """
        type, width = (self.real, 1) if lane is None else ("double", self.width)
        to = f"{array}c{first}"
        if isinstance(values[0], Expr):
            of, places = names[values[0].args[0]], [width * place(item) + (lane or 0) for item in values]
        else:
            of, places = self._constants(type, [self.constant(x, type) for x in values]), [*range(len(values))]
        table, copy = self._constants("i32", [*map(str, places)]), f"@copy{'' if lane is None else 'lane'}"
        self.declare(COPY.format(name=copy, type=type))
        return [
            f"{to} = getelementptr {type}, ptr {array}, i64 {first}",
            f"call void {copy}(ptr {to}, ptr {of}, ptr {table}, i64 {len(values)})",
        ]

    def _constants(self, type: str, items: Sequence[str]) -> str:
        """The name of an array of constants."""
        text = ", ".join(f"{type} {item}" for item in items)
        return self._globals.setdefault(f"private constant [{len(items)} x {type}] [{text}]", f"@g{len(self._globals)}")

    def _item(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        """An item of an array that a graph names by its place."""
        return self._load(name, names[node.args[0]], str(place(node)))

    def _scan(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        """A call of a scan; its name is that of the pointer to the state at the end, with an `a` to the results."""
        traced: Scan = node.args[0]
        args = self._given(node.args[1:], names)
        outer, self._allocas = self._allocas, []
        called = self.scan(traced)
        self._allocas = [
            *outer,
            f"  {name} = alloca [{max(traced.size, 1)} x {self.real}]",
            f"  {name}a = alloca [{max(traced.memory, 1)} x {self.real}]",
        ]
        return [f"call void {called}({', '.join([*args, f'ptr {name}', f'ptr {name}a'])})"]

    def scan(self, scan: Scan) -> str:
        """The name of a function that iterates a lowered body over arrays: inputs are arrays, state and captured values."""
        if scan not in self._scans:
            name = self._scans[scan] = f"@scan{len(self._scans)}"
            widths = [width for width in scan.widths if width]
            size, table = (
                scan.size,
                self._constants("double", [self.constant(x, "double") for row in scan.table for x in row]),
            )
            work = ["  %row = sub i64 %left, 1" if scan.backward else f"  %row = sub i64 {scan.count}, %left"]
            work += [f"  %b{j} = mul i64 %row, {width}" for j, width in enumerate(widths)]
            work.append(f"  %n = mul i64 %row, {scan.links + scan.columns}")
            for k in range(scan.links):
                work += self._read(f"%to{k}", table, "%n", k, "double")
                work += [f"  %led{k} = fptosi double %to{k} to i64", f"  %l{k} = mul i64 %led{k}, {scan.results}"]
            sources = [(f"%a{j}", f"%b{j}", column) for j, width in enumerate(widths) for column in range(width)]
            sources += [(table, "%n", scan.links + column) for column in range(scan.columns)]
            sources += [("%rows", f"%l{k}", column) for k in range(scan.links) for column in range(scan.linked)]
            states, items = scan.body.inputs[:size], scan.body.inputs[size : size + len(sources)]
            captured, live = scan.body.inputs[size + len(sources) :], scan.body.live()
            used = set(live)
            names = {node: f"%s{i}" for i, node in enumerate(states)}
            names |= {node: f"%c{i}" for i, node in enumerate(captured)}
            for i, (node, (array, row, column)) in enumerate(zip(items, sources, strict=True)):
                if node not in used:
                    continue
                names[node] = f"%g{i}"
                of_table = array == table and self.width > 1
                loaded, type = (f"%g{i}d", "double") if of_table else (f"%g{i}", self.real)
                work += self._read(loaded, array, row, column, type)
                work += self.splat(f"g{i}", loaded) if of_table else []
            work += self.lines(self.ordered(live), names, wanted=scan.body.outputs)
            work.append(f"  %made = mul i64 %row, {scan.results}")
            work += self._stored([self.operand(out, names) for out in scan.body.outputs[size:]], "%made", "m")
            params = [f"ptr %a{j}" for j in range(len(widths))]
            params += [f"{self.real} %in{i}" for i in range(size)] + [f"{self.real} %y{i}" for i in range(scan.linked)]
            params += self._parameters(captured, "c")
            signature = ", ".join([*params, "ptr noalias %out", "ptr noalias %rows"])
            lines = [f"define internal void {name}({signature}) noinline {{", "entry:", *self.allocas()]
            lines += self._stored([f"%y{i}" for i in range(scan.linked)], str(scan.count * scan.results), "y")
            lines += ["  br label %head", "head:", f"  %left = phi i64 [ {scan.count}, %entry ], [ %left1, %worked ]"]
            for i, out in enumerate(scan.body.outputs[:size]):
                lines.append(f"  %s{i} = phi {self.real} [ %in{i}, %entry ], [ {self.operand(out, names)}, %worked ]")
            lines += ["  %stop = icmp eq i64 %left, 0", "  br i1 %stop, label %end, label %work", "work:", *work]
            lines += ["  br label %worked", "worked:", "  %left1 = sub i64 %left, 1", "  br label %head", "end:"]
            lines += self._returned([f"%s{i}" for i in range(size)])
            self.add("\n".join([*lines, "  ret void", "}"]))
        return self._scans[scan]

    def splat(self, name: str, value: str) -> list[str]:
        """A double in all lanes."""
        if self.width == 1:
            return [f"  %{name} = select i1 true, double {value}, double 0.0"]
        return [
            f"  %{name}e = insertelement {self.real} poison, double {value}, i64 0",
            f"  %{name} = shufflevector {self.real} %{name}e, {self.real} poison, <{self.width} x i32> zeroinitializer",
        ]

    def _stored(self, values: Sequence[str], row: str, prefix: str) -> list[str]:
        """Instructions that store values in `%rows`, from a place on."""
        lines = []
        for i, value in enumerate(values):
            place = f"%{prefix}p{i}"
            lines += [f"  %{prefix}q{i} = add i64 {row}, {i}"]
            lines += [f"  {place} = getelementptr {self.real}, ptr %rows, i64 %{prefix}q{i}"]
            lines += [f"  store {self.real} {value}, ptr {place}"]
        return lines

    def intrinsic(self, name: str, args: int) -> str:
        """The name of an intrinsic function of that many values, declared."""
        found = f"@llvm.{name}.{self._suffix}"
        self.declare(f"declare {self.real} {found}({', '.join([self.real] * args)})")
        return found

    def all_lanes(self, name: str, value: str) -> list[str]:
        """Whether a condition holds in all lanes, as one i1."""
        if self.width == 1:
            return [f"  %{name} = and i1 {value}, true"]
        self.declare(f"declare i1 @llvm.vector.reduce.and.v{self.width}i1({self.truth})")
        return [f"  %{name} = call i1 @llvm.vector.reduce.and.v{self.width}i1({self.truth} {value})"]

    def _entered(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        """A guarded loop, entered only if some lane is not done at once, so that otherwise nothing goes through memory.

        One of a single iteration is printed in place, any other is called.
        """
        repeated, *given = node.args
        operands = [self.operand(arg, names) for arg in given]
        block = name[1:]
        done, *after = repeated.body.outputs
        inner = dict(zip(repeated.body.inputs, operands, strict=True))
        lines = [f"  br label %{block}before", f"{block}before:"]
        lines += self.lines(repeated.body.live([done]), inner, prefix=f"{block}u")
        ended = self.operand(done, inner)
        before = next(line[:-1] for line in reversed(lines) if line.endswith(":"))
        lines += self.all_lanes(f"{block}idle", ended)
        lines += [f"  br i1 %{block}idle, label %{block}after, label %{block}enter", f"{block}enter:"]
        if repeated.at_most == 1:
            lines += self.lines(self.ordered(repeated.body.live(after)), inner, prefix=f"{block}w")
            lines += self._kept(f"{name}l", ended, operands[: repeated.size], after, inner)
        else:
            lines += [f"  {line}" for line in self._call(node, name, names)]
            for i in range(repeated.size):
                lines += [f"  {line}" for line in self._load(f"{name}l{i}", name, str(i))]
        lines += [f"  br label %{block}left", f"{block}left:", f"  br label %{block}after", f"{block}after:"]
        for i in range(repeated.size):
            lines.append(f"  {name}r{i} = phi {self.real} [ {operands[i]}, %{before} ], [ {name}l{i}, %{block}left ]")
        self._merged[node] = [f"{name}r{i}" for i in range(repeated.size)]
        return lines

    def _kept(
        self, name: str, ended: str, state: Sequence[str], after: Sequence[Any], names: dict[Expr, str]
    ) -> list[str]:
        """The state of a loop after an iteration: in lanes that had ended, as before."""
        pairs = zip(state, (self.operand(value, names) for value in after), strict=True)
        chosen = (f"{self.real} {old}, {self.real} {new}" for old, new in pairs)
        return [f"  {name}{i} = select {self.truth} {ended}, {both}" for i, both in enumerate(chosen)]

    def _pack(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        """A function of one argument applied to up to PACK arguments in vector lanes; results are named r0, r1, ..."""
        function, *given = node.args
        wide = Module(PACK)
        lines = []
        before = "poison"
        for lane in range(PACK):  # unused lanes repeat the first argument
            x = self.operand(given[lane] if lane < len(given) else given[0], names)
            lines.append(f"  {name}v{lane} = insertelement {wide.real} {before}, double {x}, i64 {lane}")
            before = f"{name}v{lane}"
        inner = {function.inputs[0]: before}
        lines += wide.lines(function.live(), inner, prefix=f"{name[1:]}w")
        self._declarations |= wide._declarations
        for i, out in enumerate(function.outputs):  # a copy under a name of its own
            lines.append(f"  {name}r{i} = bitcast {wide.real} {wide.operand(out, inner)} to {wide.real}")
        return lines

    def _returned(self, values: Sequence[str]) -> list[str]:
        """Results of a function, through its pointer."""
        lines = []
        for i, value in enumerate(values):
            lines.append(f"  %out{i} = getelementptr {self.real}, ptr %out, i64 {i}")
            lines.append(f"  store {self.real} {value}, ptr %out{i}")
        return lines

    def function(self, function: Function) -> str:
        """The name of a lowered function in this module, defined at its first use. Results are returned through a pointer."""
        if function not in self._functions:
            self._functions[function] = f"@{function.name}{len(self._functions)}"
            names = {node: f"%in{i}" for i, node in enumerate(function.inputs)}
            lines = self.lines(self.ordered(function.live()), names, wanted=())
            lines += self.filled("%out", function.outputs, names)
            params = [f"{self.real} %in{i}" for i in range(len(function.inputs))]
            signature = ", ".join([*params, "ptr noalias %out"])
            head = f"define internal void {self._functions[function]}({signature}) noinline {{"
            self.add("\n".join([head, *self.allocas(), *lines, "  ret void", "}"]))
        return self._functions[function]

    def loop(self, loop: Loop) -> str:
        """The name of a function that iterates a lowered body: inputs are state and captured values, results the state.

        Vector code iterates until all lanes are done; a lane that is done keeps its state.
        """
        if loop not in self._loops:
            name = self._loops[loop] = f"@loop{len(self._loops)}"
            done, *after = loop.body.outputs
            names = {node: f"%in{i}" for i, node in enumerate(loop.body.inputs)}
            for i, node in enumerate(loop.body.inputs[: loop.size]):
                names[node] = f"%s{i}"
            test = self.lines(loop.body.live([done]), names)
            work = self.lines(self.ordered(loop.body.live(after)), names)
            ended = self.operand(done, names)
            params = self._parameters(loop.body.inputs, "in")
            lines = [f"define internal void {name}({', '.join([*params, 'ptr noalias %out'])}) noinline {{", "entry:"]
            lines += [*self.allocas(), "  br label %head", "head:"]
            lines += ["  %k = phi i64 [ 0, %entry ], [ %k1, %worked ]"]
            lines += [f"  %s{i} = phi {self.real} [ %in{i}, %entry ], [ %n{i}, %worked ]" for i in range(loop.size)]
            lines += test
            lines += self.all_lanes("all", ended)
            lines += [f"  %late = icmp uge i64 %k, {loop.at_most}", "  %stop = or i1 %all, %late"]
            lines += ["  br i1 %stop, label %end, label %work", "work:", *work, "  br label %worked", "worked:"]
            lines += self._kept("%n", ended, [f"%s{i}" for i in range(loop.size)], after, names)
            lines += ["  %k1 = add i64 %k, 1", "  br label %head", "end:"]
            lines += self._returned([f"%s{i}" for i in range(loop.size)])
            self.add("\n".join([*lines, "  ret void", "}"]))
        return self._loops[loop]

    def _lookup(self, node: Expr, name: str, names: dict[Expr, str]) -> list[str]:
        """A table lookup, scalarised lane by lane."""
        table, at = node.args
        function = self.table(table)
        x = self.operand(at, names)
        if self.width == 1:
            return [f"{name} = call double {function}(double {x})"]
        lines = [f"{name}r0 = freeze {self.real} poison"]
        for lane in range(self.width):
            lines.append(f"{name}a{lane} = extractelement {self.real} {x}, i64 {lane}")
            lines.append(f"{name}v{lane} = call double {function}(double {name}a{lane})")
            result = name if lane == self.width - 1 else f"{name}r{lane + 1}"
            lines.append(f"{result} = insertelement {self.real} {name}r{lane}, double {name}v{lane}, i64 {lane}")
        return lines

    def table(self, table: Table) -> str:
        """The name of the function of a table: `Table.at`, by bisection."""
        if table not in self._tables:
            k, n, at = len(self._tables), len(table.x), f"@{symbol(table)}"
            self._tables[table] = f"@table{k}"
            self.declare(f"{at} = dso_local global [2 x ptr] zeroinitializer")
            linear = "true" if table.hold == "linear" else "false"
            self.add(TABLE_AT.format(k=k, at=at, n=n, last=n - 1, linear=linear))
        return self._tables[table]
