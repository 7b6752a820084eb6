"""JavaScript: an ES module."""

from __future__ import annotations

import math
from collections.abc import Sequence
from shutil import which

from armsim.clock import Clock
from armsim.exporting.interface import Entry, Model
from armsim.exporting.language import Language, Stated, Style, indented
from armsim.exporting.names import words
from armsim.exporting.program import Printable
from armsim.exporting.terms import ARITHMETIC, C_LOGIC, HELPED, SHIFTED, UNFUSED, Operation, Term, signed
from armsim.expr import Table

RESERVED = words(
    """arguments await break case catch class const continue debugger default defaults delete do else enum eval export
    extends false finally for function if implements import in infinity instanceof interface let math nan new null number
    object package private protected public return static super switch this throw true try typeof undefined var void while
    with yield fma fused exactly bit poweroftwo exponent mantissa k due numbers words doubles low"""
)
BITS = """\
const doubles = new Float64Array(1);
const words = new Uint32Array(doubles.buffer);
const low = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 0 : 1;
"""
NEEDS_BITS = ("fma", "bit", "exp2", "mantissa", "exponent")
HELPERS = {
    "fma": """\
// a b + c with one rounding: the product in two parts (Dekker 1971), the sum by rounding to odd (Boldo and Melquiond 2008).
// Where a part of it might over- or underflow, by integers.
function fma(a, b, c) {
    const p = a * b;
    if (a === 0 || b === 0 || !Number.isFinite(a) || !Number.isFinite(b)) return p + c;
    if (!Number.isFinite(c) || (Math.abs(p) < 1e-250 && Math.abs(c) > 1e-200)) return c;
    const small = Math.abs(p) < 1e300 && Math.abs(a) < 1e300 && Math.abs(b) < 1e300 && Math.abs(c) < 1e300;
    return small && Math.abs(p) > 1e-250 ? fused(a, b, c) : exactly(a, b, c);
}

// a b + c of finite numbers as an integer times 2^k, rounded once
function exactly(a, b, c) {
    const [[ma, ka], [mb, kb], [mc, kc]] = [a, b, c].map((x) => {
        doubles[0] = x;
        const raised = words[1 - low] >>> 20 & 2047, high = words[1 - low] & 0xFFFFF | (raised ? 1 << 20 : 0);
        const m = (BigInt(high) << 32n) + BigInt(words[low]);
        return [x < 0 ? -m : m, Math.max(raised, 1) - 1075];
    });
    const k = Math.min(ka + kb, kc);
    const sum = (ma * mb << BigInt(ka + kb - k)) + (mc << BigInt(kc - k)), n = sum < 0n ? -sum : sum;
    const drop = Math.max(n.toString(2).length - 53, -1074 - k, 0), unit = 1n << BigInt(drop);
    let kept = n / unit;
    const rest = 2n * (n - kept * unit);
    if (rest > unit || (rest === unit && kept % 2n === 1n)) kept += 1n;
    return Number(sum < 0n ? -kept : kept) * 2 ** (k + drop);
}

function fused(a, b, c) {
    const p = a * b;
    let ah = a * 134217729, bh = b * 134217729;
    ah -= ah - a;
    bh -= bh - b;
    const al = a - ah, bl = b - bh;
    const e = al * bl - (p - ah * bh - al * bh - ah * bl);
    const th = c + e, tx = th - c;
    const tl = (c - (th - tx)) + (e - tx);
    const vh = p + th, vx = vh - p;
    const vl = (p - (vh - vx)) + (th - vx);
    const z = tl + vl, zx = z - tl;
    const rest = (tl - (z - zx)) + (vl - zx);
    if (rest === 0) return vh + z;
    doubles[0] = z;
    if ((words[low] & 1) === 0) {
        if (rest > 0 === z > 0) words[low] += 1;
        else {
            if (words[low] === 0) words[1 - low] -= 1;
            words[low] -= 1;
        }
    }
    return vh + doubles[0];
}
""",
    "bit": """\
// whether bit i of the integer k is set, given as k + 1.5 * 2^52
function bit(shifted, i) {
    doubles[0] = shifted;
    return (words[low] >>> i & 1) === 1;
}
""",
    "exp2": """\
// 2^k, for an integer k from -1022 to 1023
function powerOfTwo(k) {
    words[low] = 0;
    words[1 - low] = (k + 1023) << 20;
    return doubles[0];
}
""",
    "exponent": """\
// e of x = m 2^e, with m from sqrt(1/2) to sqrt(2)
function exponent(x) {
    doubles[0] = x;
    const e = (words[1 - low] >>> 20) - 1023;
    words[1 - low] = (words[1 - low] & 0xFFFFF) | 1023 << 20;
    return doubles[0] < 1.4142135623730951 ? e : e + 1;
}
""",
    "mantissa": """\
// m of x = m 2^e, with m from sqrt(1/2) to sqrt(2)
function mantissa(x) {
    doubles[0] = x;
    words[1 - low] = (words[1 - low] & 0xFFFFF) | 1023 << 20;
    return doubles[0] < 1.4142135623730951 ? doubles[0] : doubles[0] / 2;
}
""",
}


class JavaScript(Language):
    """An ES module of functions from arrays to new arrays; a fused multiply-add is made of products and sums."""

    name = "javascript"
    index = "{}"
    reserved = RESERVED
    tool = "node"
    suffix = "mjs"
    opened = "{}.defaults()"
    end = ";"
    counting = "let"
    leave = ("if ({}) break;",)

    def __init__(self, style: Style | None = None) -> None:
        super().__init__(style)
        self.operations = {
            **ARITHMETIC,
            **C_LOGIC,
            **HELPED,
            **{name: Operation(f"Math.{name}({{}})") for name in ("abs", "sin", "cos", "exp", "log", "sqrt")},
            "fma": UNFUSED if self.style.fma == "none" else Operation("fma({}, {}, {})"),
            "exp2": Operation("powerOfTwo({})"),
            "round": SHIFTED,
        }

    def literal(self, value: float) -> Term:
        text = "Infinity" if math.isinf(value) else repr(abs(value))
        return signed(text, value)

    def local(self, name: str, text: str, truth: bool) -> list[str]:
        return [f"const {name} = {text};"]

    def call(self, name: str, function: str, args: Sequence[str], results: int) -> list[str]:
        return [f"const {name} = {function}({', '.join(args)});"]

    def series(self, name: str, items: Sequence[str], size: int) -> list[str]:
        return [f"const {name} = [{', '.join(items)}];" if items else f"const {name} = new Array({size});"]

    def function(self, name: str, stated: Stated) -> str:
        lines = [*stated.body.lines, f"return [{', '.join(stated.results)}];"]
        return "\n".join([f"function {name}({', '.join(stated.names)}) {{", *indented(lines), "}", ""])

    def table(self, table: Table, name: str) -> str:
        n = len(table.x)
        lines = [
            f"let first = 0, last = {n};",
            "while (last - first > 1) {",
            "    const middle = (first + last) >>> 1;",
            f"    if ({name}_x[middle] <= x) first = middle;",
            "    else last = middle;",
            "}",
        ]
        if table.hold == "linear" and n > 1:
            lines += [
                f"if (x > {name}_x[0] && first < {n - 1}) {{",
                f"    const share = (x - {name}_x[first]) / ({name}_x[first + 1] - {name}_x[first]);",
                f"    return {name}_y[first] + share * ({name}_y[first + 1] - {name}_y[first]);",
                "}",
            ]
        lines.append(f"return {name}_y[first];")
        head = [
            f"const {name}_x = {self.array(table.x)};",
            f"const {name}_y = {self.array(table.y)};",
            f"function {name}(x) {{  // {table.hold} hold",
        ]
        return "\n".join([*head, *indented(lines), "}", ""])

    def clock(self, clock: Clock) -> list[str]:
        return [f"k * {clock.num} / {clock.den}", f"k % {clock.sample_every or 1} === 0 ? 1 : 0"]

    def entry(self, model: Model, entry: Entry, stated: Stated) -> str:
        parameters = ", ".join(argument.name for argument in entry.arguments)
        lines = ["/**", f" * {entry.what}", *(f" * @param {argument.described}" for argument in entry.arguments)]
        lines += [f" * @returns {entry.result.described}", " */", f"export function {entry.name}({parameters}) {{"]
        lines += [f"    const {text} = {place};" for text, place in stated.loads]
        lines += indented([*stated.body.lines, f"return [{', '.join(stated.results)}];"])
        return "\n".join([*lines, "}", ""])

    def helpers(self, program: Printable) -> list[str]:
        found = self.needed(program, HELPERS)
        return [BITS, *found] if any(HELPERS[name] in found for name in NEEDS_BITS) else found

    def test_commands(self, name: str) -> list[list[str]]:
        return [["node", f"test_{name}.mjs"]] if which("node") else []

    def source(self, model: Model, program: Printable) -> str:
        parts = ["\n".join([*(f"// {line}" for line in model.about), ""]), *self.helpers(program)]
        if model.numbers:
            lines = [
                "/** The numbers that were left open, as in the file and in its units. */",
                "export function defaults() {",
            ]
            lines.append("    return {")
            for field, item in zip(self.fields(model.numbers), model.numbers, strict=True):
                lines.append(f"        {field}: {self.literal(item.value).text},  // {item.described}")
            parts.append("\n".join([*lines, "    };", "}", ""]))
        return "\n".join([*parts, *self.called(program), *self.entries(model, program)])

    def test(self, model: Model) -> str:
        lines = [f"// compares {model.name} with reference values; exits with 1 if something differs"]
        lines += [f'import * as {model.name} from "./{model.name}.mjs";', "", "const cases = ["]
        lines += [
            f"    [{model.name}.{c.entry.name}({self.given(model, c)}), {self.array(c.found)}]," for c in model.cases
        ]
        tolerance = self.style.tolerance
        unlike = "x !== y" if not tolerance else f"!(Math.abs(x - y) <= {tolerance!r} * (1 + Math.abs(y)))"
        lines += [
            "];",
            "let wrong = 0;",
            "for (const [found, expected] of cases)",
            "    for (let i = 0; i < expected.length; i++) {",
            "        const x = found[i], y = expected[i];",
            f"        if ({unlike}) wrong++;",
            "    }",
            f"console.log(`{model.name}: ${{cases.length}} calls, ${{wrong}} wrong numbers`);",
            "process.exit(wrong > 0 ? 1 : 0);",
            "",
        ]
        return "\n".join(lines)
