"""Python: a module of functions on plain floats, without any package."""

from __future__ import annotations

import keyword
import math
import sys
from collections.abc import Sequence

from armsim.clock import Clock
from armsim.exporting.interface import Entry, Model
from armsim.exporting.language import Language, Stated, Style, indented
from armsim.exporting.names import words
from armsim.exporting.program import Printable
from armsim.exporting.terms import (
    AND,
    ARITHMETIC,
    CHOICE,
    HELPED,
    NAME,
    NEGATION,
    NOT,
    SHIFTED,
    UNFUSED,
    Operation,
    Term,
    signed,
)
from armsim.expr import Expr, Table

WORDS = """abs float int range sin cos exp log sqrt fma divided bit ca done inf nan math mantissa exponent sine cosine
    exponential logarithm square_root power_of_two bisect_right k due numbers"""
RESERVED = words(WORDS) | {word.lower() for word in keyword.kwlist}
HELPERS = {
    "fma": '''\
def fma(a, b, c):
    """a b + c with one rounding: that of Python 3.13, or the product in two parts (Dekker 1971), summed with one rounding."""
    if not (a and b and math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    try:
        if hasattr(math, "fma"):
            return math.fma(a, b, c)
        product = a * b
        if not (1e-250 < abs(product) < 1e250 and abs(a) < 1e250 and abs(b) < 1e250 and abs(c) < 1e250):
            return float(Fraction(a) * Fraction(b) + Fraction(c))
        a_high, b_high = a * 134217729.0, b * 134217729.0
        a_high, b_high = a_high - (a_high - a), b_high - (b_high - b)
        a_low, b_low = a - a_high, b - b_high
        error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
        return math.fsum((product, error, c))
    except (OverflowError, ValueError):
        return a * b + c
''',
    "div": '''\
def divided(a, b):
    """a / b by IEEE 754: infinite or NaN where b is 0."""
    if b != 0:
        return a / b
    return math.copysign(math.inf, a) * math.copysign(1.0, b) if abs(a) > 0 else math.nan
''',
    "sqrt": '''\
def square_root(x):
    """NaN below 0."""
    return math.sqrt(x) if x >= 0 else math.nan
''',
    "bit": '''\
def bit(shifted, i):
    """Whether bit i of the integer k is set, given as k + 1.5 * 2**52."""
    return math.isfinite(shifted) and bool(int(shifted) >> i & 1)
''',
    "exp2": '''\
def power_of_two(k):
    """2**k, for an integer k from -1022 to 1023."""
    return math.ldexp(1.0, int(k)) if math.isfinite(k) else k
''',
    "mantissa": '''\
def mantissa(x):
    """m of x = m 2**e, with m from sqrt(1/2) to sqrt(2)."""
    m, _ = math.frexp(x)
    return 2 * m if m < 0.7071067811865476 else m
''',
    "exponent": '''\
def exponent(x):
    """e of x = m 2**e, with m from sqrt(1/2) to sqrt(2)."""
    m, e = math.frexp(x)
    return float(e - 1) if m < 0.7071067811865476 else float(e)
''',
    "sin": """\
def sine(x):
    return math.sin(x) if math.isfinite(x) else math.nan
""",
    "cos": """\
def cosine(x):
    return math.cos(x) if math.isfinite(x) else math.nan
""",
    "exp": """\
def exponential(x):
    return math.inf if x > 709.0 else math.exp(x)
""",
    "log": """\
def logarithm(x):
    return math.log(x) if x > 0 else math.nan
""",
}


class Python(Language):
    """Functions from lists of floats to lists of floats; NaN and infinities where C has them, and no exceptions."""

    name = "python"
    reserved = RESERVED
    tool = "python"
    suffix = "py"
    opened = "{}.Numbers()"
    unless = ("if not ({}):",)
    repeat = ("for _ in range({1}):",)
    leave = ("if {}:", "    break")

    def __init__(self, style: Style | None = None) -> None:
        super().__init__(style)
        self.operations = {
            **ARITHMETIC,
            **HELPED,
            "div": Operation("divided({}, {})"),
            "abs": Operation("abs({})"),
            "sqrt": Operation("square_root({})"),
            "sin": Operation("sine({})"),
            "cos": Operation("cosine({})"),
            "exp": Operation("exponential({})"),
            "log": Operation("logarithm({})"),
            "fma": UNFUSED if self.style.fma == "none" else Operation("fma({}, {}, {})"),
            "and": Operation("{} and {}", AND, (AND, NOT)),
            "not": Operation("not {}", NOT, (NAME,)),
            "where": Operation("{1} if {0} else {2}", CHOICE, (AND, NEGATION, NEGATION)),
            "round": SHIFTED,
        }

    def operation(self, node: Expr) -> Operation | None:
        divides_by_number = node.op == "div" and not isinstance(node.args[1], Expr)
        return ARITHMETIC["div"] if divides_by_number else super().operation(node)

    def literal(self, value: float) -> Term:
        text = "math.inf" if math.isinf(value) else repr(abs(value))
        return signed(text, value)

    def call(self, name: str, function: str, args: Sequence[str], results: int) -> list[str]:
        return [f"{name} = {function}({', '.join(args)})"]

    def series(self, name: str, items: Sequence[str], size: int) -> list[str]:
        return [f"{name} = [{', '.join(items)}]" if items else f"{name} = [None] * {size}"]

    def sweep(self, counter: str, count: int, backward: bool, work: Sequence[str]) -> list[str]:
        values = f"reversed(range({count}))" if backward else f"range({count})"
        return [f"for {counter} in {values}:", *indented(work)]

    def function(self, name: str, stated: Stated) -> str:
        lines = [*stated.body.lines, f"return [{', '.join(stated.results)}]"]
        return "\n".join([f"def {name}({', '.join(stated.names)}):", *indented(lines), ""])

    def table(self, table: Table, name: str) -> str:
        lines = [
            f"i = max(bisect_right({name}_x, x) - 1, 0) if x == x else 0",
            f"return {name}_y[i]",
        ]
        if table.hold == "linear" and len(table.x) > 1:
            lines[1:] = [
                f"if i == {len(table.x) - 1} or not x > {name}_x[0]:",
                f"    return {name}_y[i]",
                f"share = (x - {name}_x[i]) / ({name}_x[i + 1] - {name}_x[i])",
                f"return {name}_y[i] + share * ({name}_y[i + 1] - {name}_y[i])",
            ]
        head = [
            f"{name}_x = {self.array(table.x)}",
            f"{name}_y = {self.array(table.y)}",
            "",
            "",
            f"def {name}(x):",
            f'    """{table.hold} hold"""',
        ]
        return "\n".join([*head, *indented(lines), ""])

    def clock(self, clock: Clock) -> list[str]:
        time = f"k * {clock.num} / {float(clock.den)!r}"
        return [time, f"1.0 if k % {clock.sample_every or 1} == 0 else 0.0"]

    def entry(self, model: Model, entry: Entry, stated: Stated) -> str:
        parameters = ", ".join(argument.name for argument in entry.arguments)
        lines = [f'"""{entry.what}', "", "Args:", *(f"    {argument.described}" for argument in entry.arguments)]
        lines += ["", "Returns:", f"    {entry.result.described}", '"""']
        lines += [f"{text} = {place}" for text, place in stated.loads]
        lines += stated.body.lines
        texts, n = stated.results, entry.result.columns
        rows = [f"[{', '.join(texts[i : i + n])}]," for i in range(0, len(texts), n)] if n else []
        lines += ["return [", *indented(rows), "]"] if n else [f"return [{', '.join(texts)}]"]
        return "\n".join([f"def {entry.name}({parameters}):", *indented(lines), ""])

    def helpers(self, program: Printable) -> list[str]:
        found = self.needed(program, HELPERS)
        imports = ["import math"]
        imports += ["from bisect import bisect_right"] if program.tables else []
        imports += ["from fractions import Fraction"] if HELPERS["fma"] in found else []
        return ["\n".join([*imports, ""]), *found]

    def test_commands(self, name: str) -> list[list[str]]:
        return [[sys.executable, "-B", f"test_{name}.py"]] if sys.executable else []

    def source(self, model: Model, program: Printable) -> str:
        parts = ["\n".join([f'"""{model.about[0]}', "", *model.about[1:], '"""', ""]), *self.helpers(program)]
        parts += self.numbers(model) if model.numbers else []
        return "\n\n".join([*parts, *self.called(program), *self.entries(model, program)])

    def numbers(self, model: Model) -> list[str]:
        """The class of the open numbers."""
        lines = [
            "@dataclass",
            "class Numbers:",
            '    """The numbers that were left open, in the units of the file."""',
            "",
        ]
        for field, item in zip(self.fields(model.numbers), model.numbers, strict=True):
            lines.append(f"    {field}: float = {self.literal(item.value).text}  # {item.described}")
        return ["\n".join(["from dataclasses import dataclass", "", "", *lines, ""])]

    def test(self, model: Model) -> str:
        lines = [f'"""Compares {model.name} with reference values; exits with 1 if something differs."""', ""]
        lines += ["import math", "import sys", "", f"import {model.name}", "", "CASES = ["]
        lines += [
            f"    ({self.call_of(model, case.entry.name, self.given(model, case))}, {list(case.found)!r}),"
            for case in model.cases
        ]
        tolerance = self.style.tolerance
        unlike = "x != y" if not tolerance else f"not abs(x - y) <= {tolerance!r} * (1 + abs(y))"
        lines += [
            "]",
            f"wrong = sum({unlike} for found, expected in CASES for x, y in zip(found, expected, strict=True))",
            f'print(f"{model.name}: {{len(CASES)}} calls, {{wrong}} wrong numbers")',
            "sys.exit(wrong > 0)",
            "",
        ]
        return "\n".join(lines).replace("inf,", "math.inf,").replace("inf]", "math.inf]")

    def array(self, values: Sequence[float]) -> str:
        return repr(list(values))

    def call_of(self, model: Model, entry: str, given: str) -> str:
        """A call of a function of the module."""
        return f"{model.name}.{entry}({given})"


class PlainPython(Python):
    """Python with its own quotients, roots, sines and logarithms, which raise where C has NaN and infinities."""

    def __init__(self, style: Style | None = None) -> None:
        super().__init__(style)
        own = {name: Operation(f"math.{name}({{}})") for name in ("sqrt", "sin", "cos", "exp", "log")}
        self.operations = {**self.operations, **own, "div": ARITHMETIC["div"]}

    def helpers(self, program: Printable) -> list[str]:
        return ["import math\n"]
