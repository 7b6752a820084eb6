"""CasADi: a Python module whose functions build `casadi.Function` objects, for optimisation and derivatives.

It is printed without CasADi. Sines, exponentials and products are CasADi's own, so that it can differentiate them; a loop is a
`fold` of its body over as many iterations as there may be, each of which keeps the state once it is done.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.util import find_spec

from armsim.clock import Clock
from armsim.errors import UsageError, spelled
from armsim.escaping import in_comment
from armsim.exporting.interface import Entry, Model, Named
from armsim.exporting.language import Fma, Stated, Style, indented
from armsim.exporting.program import Printable
from armsim.exporting.python import Python
from armsim.exporting.syntax import Iteration
from armsim.exporting.terms import ARITHMETIC, NAME, UNFUSED, Operation, Term
from armsim.expr import Expr, Table

MOST = 1000  # iterations of a loop
REPEATED = '''\
def repeated(once, begin, captured, at_most, flat):
    """The state after at most so many iterations; `once` gives whether it is done, and the next state."""
    state, more = ca.MX.sym("state", len(begin)), ca.MX.sym("captured", len(captured))
    done, after = once(ca.vertsplit(state), ca.vertsplit(more) if captured else [])
    kept = [ca.if_else(done, x, y) for x, y in zip(ca.vertsplit(state), after)]
    body = ca.Function("once", [state, more], [ca.vertcat(*kept)])
    body = body.expand() if flat else body
    given = ca.repmat(ca.vertcat(*captured) if captured else ca.DM(0, 1), 1, at_most)
    return ca.vertsplit(body.fold(at_most)(ca.vertcat(*begin), given))
'''
AS_WRITTEN = '''\
def as_written(build):
    """`build` without what CasADi takes for simpler and rounds otherwise: x for x / y * y, 0 for x - x where x is infinite."""

    @functools.wraps(build)
    def built():
        before = ca.GlobalOptions.getSimplificationOnTheFly()
        ca.GlobalOptions.setSimplificationOnTheFly(False)
        try:
            return build()
        finally:
            ca.GlobalOptions.setSimplificationOnTheFly(before)

    return built
'''
ROUNDED = '''\
def rounded(x):
    """x rounded to an integer, half-way cases to the even one; x + c - c would be x to CasADi. Its derivative is 0."""
    return ca.if_else(ca.fabs(x) < 4503599627370496.0, x - ca.remainder(x, 1.0), x)
'''


class CasADi(Python):
    """A Python module that imports casadi when it is used."""

    name = "casadi"
    tool = "the package casadi"
    field = "numbers[{}]"
    opened = "list({}.NUMBERS.values())"
    fused: tuple[Fma, ...] = ("none",)  # type: ignore[misc]  # a class variable, as the parent's

    def __init__(self, style: Style | None = None) -> None:
        super().__init__(style)
        self.operations = {
            **ARITHMETIC,
            **{name: Operation(f"ca.{name}({{}})") for name in ("sin", "cos", "exp", "log", "sqrt")},
            "abs": Operation("ca.fabs({})"),
            "fma": UNFUSED,
            "and": Operation("ca.logic_and({}, {})"),
            "not": Operation("ca.logic_not({})"),
            "where": Operation("ca.if_else({}, {}, {})"),
            "round": Operation("rounded({})"),
        }

    def operation(self, node: Expr) -> Operation | None:
        return self.operations.get(node.op)

    def literal(self, value: float) -> Term:
        term = super().literal(value)
        return Term(term.text.replace("math.inf", "ca.inf"), term.level)

    def test_commands(self, name: str) -> list[list[str]]:
        return super().test_commands(name) if find_spec("casadi") is not None else []

    def captured(self, loop: str, i: int, term: Term) -> Term:
        return Term(f"{loop}_outer[{i}]", NAME)

    def loop(self, loop: Iteration) -> list[str]:
        if loop.at_most > MOST:
            raise UsageError.of(
                spelled("--to casadi", 'to="casadi"'),
                f"loops of at most {MOST} iterations, as CasADi carries out all of them",
                f"one of {loop.at_most}, as a step of an adaptive method may take",
                "set integrator.method to one with fixed steps, or export to another language",
            )
        name, outer = loop.name, f"{loop.name}_outer"
        flat = not any("repeated(" in line for line in [*loop.test, *loop.work])
        begin, captured = ", ".join(loop.begin), ", ".join(loop.captured)
        return [
            f"def once_{name}({name}, {outer}):",
            *indented([*loop.test, f"done, {name} = {loop.done}, list({name})", *loop.work, f"return done, {name}"]),
            f"{name} = repeated(once_{name}, [{begin}], [{captured}], {loop.at_most}, {flat})",
        ]

    def table(self, table: Table, name: str) -> str:
        xs, ys = ([self.literal(value).text for value in part] for part in (table.x, table.y))
        if len(xs) == 1:
            return f"def {name}(at):\n    return {ys[0]}\n"
        at, shown = ", ".join(xs if table.hold == "linear" else xs[1:]), ", ".join(ys)
        inner = f"ca.pw_const(x, [{at}], [{shown}])"
        if table.hold == "linear":
            inner = f"ca.pw_lin(ca.fmin(ca.fmax(x, {xs[0]}), {xs[-1]}), [{at}], [{shown}])"
        lines = ['x = ca.SX.sym("x")', f'return ca.Function("{name}", [x], [{inner}])(at)']
        return "\n".join([f"def {name}(at):", *indented(lines), ""])

    def fields(self, items: Sequence[Named]) -> list[str]:
        return [str(i) for i in range(len(items))]

    def clock(self, clock: Clock) -> list[str]:
        time = f"k * {clock.num} / {float(clock.den)!r}"
        return [time, f"ca.if_else(ca.fmod(k, {clock.sample_every or 1}) < 0.5, 1.0, 0.0)"]

    def entry(self, model: Model, entry: Entry, stated: Stated) -> str:
        lines = [f'"""{entry.what}', "", *(f"    {argument.described}" for argument in entry.arguments)]
        lines += [f"    {entry.result.described}", '"""']
        for argument in entry.arguments:
            size = 1 if argument.kind == "clock" else len(argument.items)
            lines.append(f'{argument.name} = ca.MX.sym("{argument.name}", {size})')
        lines += [f"{text} = {place}" for text, place in stated.loads]
        given = ", ".join(argument.name for argument in entry.arguments)
        quoted = ", ".join(f'"{argument.name}"' for argument in entry.arguments)
        result = (
            entry.result.name if entry.result.name not in [a.name for a in entry.arguments] else f"{entry.result.name}_"
        )
        lines += stated.body.lines
        lines.append(f"result = ca.vertcat({', '.join(stated.results)})")
        made = f'ca.Function("{entry.name}", [{given}], [result], [{quoted}], ["{result}"])'
        loops = any("repeated(" in line for line in stated.body.lines)
        lines.append(f"return {made}" if loops else f"return {made}.expand()")
        return "\n".join(["@as_written", f"def {entry.name}():", *indented(lines), ""])

    def helpers(self, program: Printable) -> list[str]:
        texts = self.needed(program, {"loop": REPEATED, "round": ROUNDED})
        return ["import functools\n\nimport casadi as ca\n", AS_WRITTEN, *texts]

    def numbers(self, model: Model) -> list[str]:
        lines = ["NUMBERS = {  # that were left open, in the units of the file, in the order of the argument `numbers`"]
        for item in model.numbers:
            key, unit = json.dumps(item.name, ensure_ascii=False), f"  # {in_comment(item.unit)}" if item.unit else ""
            lines.append(f"    {key}: {self.literal(item.value).text},{unit}")
        return ["\n".join([*lines, "}", ""])]

    def call_of(self, model: Model, entry: str, given: str) -> str:
        return f"{model.name}.{entry}().call([{given}])[0].full().ravel().tolist()"
