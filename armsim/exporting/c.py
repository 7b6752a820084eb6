"""C: C99 with libm, without allocation and without state of its own; as well C++."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armsim.clock import Clock
from armsim.exporting.c_files import FLAGS, cmake, declarations, header, makefile, signature, test_program
from armsim.exporting.interface import Entry, Model
from armsim.exporting.language import LARGEST, SMALLEST, Language, Stated, Style, indented
from armsim.exporting.library import installed_compiler, native
from armsim.exporting.names import words
from armsim.exporting.program import Printable, prepared
from armsim.exporting.terms import ARITHMETIC, C_LOGIC, HELPED, UNFUSED, Operation, Term, signed
from armsim.expr import Table

RESERVED = words(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while bool true false
    class delete friend mutable namespace new operator private protected public template this throw try using virtual
    main exp log sin cos tan sqrt fma fabs infinity nan gamma j0 j1 jn y0 y1 yn bit k due numbers
    power_of_two exponent mantissa rounded"""
)


# exact powers of two, exponents and low bits by the bits of a double
HELPERS = {
    "bit": """\
static inline int bit(double shifted, int i)  /* bit i of the integer k, given as k + 1.5 * 2^52 */
{
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return (int)(bits >> i & 1u);
}
""",
    "exp2": """\
static inline double power_of_two(double k)  /* 2^k, for an integer k from -1022 to 1023 */
{
    double found = k + 6755399441055744.0;
    uint64_t bits;
    memcpy(&bits, &found, sizeof bits);
    bits = (bits + 1023u) << 52;
    memcpy(&found, &bits, sizeof found);
    return found;
}
""",
    "exponent": """\
static inline double exponent(double x)  /* e of x = m 2^e, with m from sqrt(1/2) to sqrt(2) */
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (double)((int)(bits >> 52) - (int)((bits & 0xFFFFFFFFFFFFFu) < 0x6A09E667F3BCDu) - 1022);
}
""",
    "mantissa": """\
static inline double mantissa(double x)  /* m of x = m 2^e, with m from sqrt(1/2) to sqrt(2) */
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0xFFFFFFFFFFFFFu;
    bits |= (uint64_t)(bits < 0x6A09E667F3BCDu ? 1023 : 1022) << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}
""",
}
# sums with the number from which on there are no places behind the point
ROUNDED = """\
static inline {real} rounded({real} x)  /* to an integer, half-way cases to the even one */
{{
    const {real} whole = {whole};
    volatile {real} shifted = fabs{f}(x) + whole;  /* volatile: without further bits */
    return !(fabs{f}(x) < whole) ? x : x < 0 ? whole - shifted : shifted - whole;
}}
"""


class C(Language):
    """C99. `hardware` calls libm's `fma`, too, and refuses to be compiled where that is not the machine's instruction."""

    name = "c"
    index = "(int){}"
    fused = ("exact", "hardware", "none")
    few = 4
    singles = True
    reserved = RESERVED
    tool = "a C compiler"
    suffix = "c"
    field = "numbers->{}"
    end = ";"

    def __init__(self, style: Style | None = None) -> None:
        super().__init__(style)
        f = "f" if self.style.single else ""
        self.real = "float" if self.style.single else "double"
        self.operations = {
            **ARITHMETIC,
            **C_LOGIC,
            **HELPED,
            **{name: Operation(f"{name}{f}({{}})") for name in ("sin", "cos", "exp", "log", "sqrt")},
            "abs": Operation(f"fabs{f}({{}})"),
            "fma": UNFUSED if self.style.fma == "none" else Operation(f"fma{f}({{}}, {{}}, {{}})"),
            "round": Operation("rounded({})"),
        }

    def literal(self, value: float) -> Term:
        largest, smallest = (LARGEST, SMALLEST) if self.style.single else (math.inf, 0.0)
        if abs(value) >= largest:
            text = "INFINITY"
        else:
            text = repr(abs(value)) if abs(value) >= smallest else "0.0"
            text += "f" if self.style.single else ""
        return signed(text, value)

    def local(self, name: str, text: str, truth: bool) -> list[str]:
        return [f"const {'int' if truth else self.real} {name} = {text};"]

    def call(self, name: str, function: str, args: Sequence[str], results: int) -> list[str]:
        given = ", ".join(args)
        passed = given if len(args) <= self.few else f"(const {self.real}[]){{{given}}}"
        return [f"{self.real} {name}[{results}];", f"{function}({passed}, {name});"]

    def series(self, name: str, items: Sequence[str], size: int) -> list[str]:
        given = f" = {{{', '.join(items)}}}" if items else ""
        return [f"{self.real} {name}[{len(items) or size}]{given};"]

    def table_of(self, name: str, items: Sequence[str]) -> list[str]:
        return [f"static const {self.real} {name}[{len(items)}] = {{{', '.join(items)}}};"]

    def function(self, name: str, stated: Stated) -> str:
        few = len(stated.names) <= self.few
        given = ", ".join(f"{self.real} {text}" for text in stated.names) if few else f"const {self.real} *given"
        return self._defined(f"static inline void {name}({given}, {self.real} *found)", stated, "found")

    def _defined(self, head: str, stated: Stated, result: str) -> str:
        """A function from its statements."""
        lines = [f"const {self.real} {text} = {place};" for text, place in stated.loads]
        lines += [f"(void){name};" for name in stated.unused]
        lines += stated.body.lines
        lines += [f"{result}[{i}] = {text};" for i, text in enumerate(stated.results)]
        return "\n".join([head, "{", *indented(lines), "}", ""])

    def table(self, table: Table, name: str) -> str:
        n = len(table.x)
        lines = [
            f"static const {self.real} xs[{n}] = {{{self.listed(table.x)}}};",
            f"static const {self.real} ys[{n}] = {{{self.listed(table.y)}}};",
            f"long low = 0, high = {n};",
            "while (high - low > 1) {",
            "    const long middle = (low + high) / 2;",
            "    if (xs[middle] <= x)",
            "        low = middle;",
            "    else",
            "        high = middle;",
            "}",
        ]
        if table.hold == "linear" and n > 1:
            lines += [
                f"if (x > xs[0] && low < {n - 1})",
                "    return ys[low] + (x - xs[low]) / (xs[low + 1] - xs[low]) * (ys[low + 1] - ys[low]);",
            ]
        return "\n".join(
            [
                f"static {self.real} {name}({self.real} x)  /* {table.hold} hold */",
                "{",
                *indented([*lines, "return ys[low];"]),
                "}",
                "",
            ]
        )

    def entry(self, model: Model, entry: Entry, stated: Stated) -> str:
        return self._defined(signature(model, entry, self.real), stated, entry.result.name)

    def clock(self, clock: Clock) -> list[str]:
        time = f"(double)(k * {clock.num}) / {float(clock.den)!r}"
        time = f"({self.real})({time})" if self.style.single else time
        return [time, f"k % {clock.sample_every or 1} == 0 ? 1 : 0"]

    def helpers(self, program: Printable) -> list[str]:
        single = self.style.single
        whole, f = ("8388608.0f", "f") if single else ("4503599627370496.0", "")
        texts = {**HELPERS, "round": ROUNDED.format(real=self.real, whole=whole, f=f)}
        return self.needed(program, texts)

    def source(self, model: Model, program: Printable) -> str:
        return self._source(model, program, declarations(model, self.real, self.reserved))

    def _source(self, model: Model, program: Printable, declared: list[str]) -> str:
        """The functions of a model, below their declarations."""
        helpers = self.helpers(program)
        parts = [*helpers, *self.called(program)]
        if model.numbers:
            fields = self.fields(model.numbers)
            values = [
                f"    numbers->{field} = {self.literal(item.value).text};" for field, item in zip(fields, model.numbers)
            ]
            head = f"void {model.name}_defaults({model.name}_numbers *numbers)"
            parts.append("\n".join([head, "{", *values, "}", ""]))
        parts += self.entries(model, program)
        return "\n".join([*self._preamble(model, bool(helpers)), *declared, *parts])

    def _preamble(self, model: Model, bits: bool) -> list[str]:
        lines = [f"/* {line} */" for line in model.about]
        lines += ["", "#include <float.h>", "#include <math.h>"]
        lines += ["#include <string.h>"] if bits else []
        lines += [
            "",
            "#ifdef __FAST_MATH__",
            '#error "compile without -ffast-math: it regroups sums and drops comparisons with NaN"',
            "#endif",
            "#ifdef __clang__",
            "#pragma STDC FP_CONTRACT OFF",
            "#endif",
        ]
        if self.style.own:
            lines += [
                "#if DBL_MANT_DIG != 53",
                '#error "double is not of 64 bits here: export with --float"',
                "#endif",
                "#if defined(FLT_EVAL_METHOD) && FLT_EVAL_METHOD == 2",
                '#error "sums are of 80 bits here: compile with -msse2 -mfpmath=sse"',
                "#endif",
            ]
        if self.style.fma == "hardware":
            has = "defined(__FMA__) || defined(FP_FAST_FMA) || defined(__ARM_FEATURE_FMA) || defined(__AVX2__)"
            lines += [
                f"#if !({has})",
                '#error "no fused multiply-add here: compile with -mfma or -march=native, or export with --fma exact"',
                "#endif",
            ]
        return [*lines, ""]

    def test_commands(self, name: str) -> list[list[str]]:
        tool = installed_compiler()
        machine = native() if self.style.fma == "hardware" else []
        files = [f"{name}.c", f"test_{name}.c", "-o", "tested"]
        return [[*tool, "-std=c99", "-O0", *machine, *FLAGS, *files, "-lm"], ["./tested"]] if tool else []

    def test(self, model: Model) -> str:
        return test_program(model, self, self.real)

    def files(self, model: Model) -> dict[str, str]:
        program = prepared([entry.function for entry in model.entries], self.style.own)
        return {
            f"{model.name}.h": header(model, self.real, self.reserved),
            f"{model.name}.c": self._source(model, program, [f'#include "{model.name}.h"', ""]),
            f"test_{model.name}.c": self.test(model),
            "Makefile": makefile(model, FLAGS, self.style),
            "CMakeLists.txt": cmake(model, FLAGS, self.style),
        }
