"""Straight-line programs: assignments in order, without loops or branches; counted, and made as short as is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import sympy

from armsim.derivation.factoring import ONE, Polynomial, factored, ordered, plus, product, times, variable
from armsim.expr import Expr, Function
from armsim.records import record

LONGEST = 90  # characters of an expression that a name used once is written into
TRIG = {"cos": sympy.cos, "sin": sympy.sin}


class Call(NamedTuple):
    """A definition that is no polynomial.

    Attributes:
        op: "cos", "sin" or "inverse".
        arg: A name.
    """

    op: str
    arg: str


Definition = Polynomial | Call
Assignment = tuple[str, sympy.Expr]


class Operations(NamedTuple):
    """How many operations something takes; additions include subtractions, negation is free.

    Attributes:
        multiplications: Divisions included.
        additions: Subtractions included.
        trigonometric: Sines and cosines.
        divisions: Those among the multiplications.
    """

    multiplications: int
    additions: int
    trigonometric: int
    divisions: int

    @property
    def cost(self) -> tuple[int, int]:
        """What is compared: a sine or cosine takes about as long as eight products."""
        return self.multiplications + self.additions + 8 * self.trigonometric, self.multiplications


@record
class Program:
    """A function of the motion as assignments.

    Attributes:
        given: Exact values of the constants that it needs, by name, in the arm's symbols.
        constants: Assignments that depend on nothing but those.
        body: The others.
        outputs: Names, in order.
        form: "closed", or "recursive" for an unrolled recursion.
    """

    given: dict[str, sympy.Expr]
    constants: tuple[Assignment, ...]
    body: tuple[Assignment, ...]
    outputs: tuple[str, ...]
    form: str

    @cached_property
    def operations(self) -> Operations:
        """Of the body."""
        return count(value for _, value in self.body)

    @cached_property
    def used(self) -> set[str]:
        """Names that the body uses and does not define."""
        return (names_in(self.body) | set(self.outputs)) - {name for name, _ in self.body}


def names_in(assignments: Iterable[Assignment]) -> set[str]:
    """The names in the values of assignments."""
    return {symbol.name for _, value in assignments for symbol in value.free_symbols}


def count(expressions: Iterable[sympy.Expr]) -> Operations:
    """The operations of expressions as they stand."""
    found = [Operations(0, 0, 0, 0)]
    for x in expressions:
        reciprocal = int(x.is_Pow and bool(x.exp.is_negative))
        found += [Operations(reciprocal, 0, 0, reciprocal), *map(_own, sympy.preorder_traversal(x))]
    return Operations(*map(sum, zip(*found, strict=True)))


def _own(x: sympy.Expr) -> Operations:
    """The operations of an expression itself, without those of its arguments."""
    if x.is_Add:
        return Operations(0, len(x.args) - 1, 0, 0)
    if x.is_Mul:
        below = sum(1 for a in x.args if a.is_Pow and a.exp.is_negative)
        return Operations(len(x.args) - 1 - (x.args[0] == -1) + (below == len(x.args)), 0, 0, below)
    if x.is_Pow:
        return Operations(abs(int(x.exp)) - 1 if x.exp.is_Integer else 1, 0, 0, 0)
    return Operations(0, 0, int(x.func in (sympy.cos, sympy.sin)), 0)


def assembled(
    definitions: Mapping[str, Definition],
    outputs: Sequence[str],
    constants: Mapping[str, sympy.Expr],
    form: str,
    tries: int = 1,
    prefix: str = "%x",
) -> Program:
    """The program of some definitions, in few operations.

    Args:
        definitions: By name, in any order.
        outputs: Names of the results.
        constants: Exact values of what stands for constants, by name.
        form: The program's.
        tries: Searches for common factors and sums, of which the shortest is taken.
        prefix: Of the names of what is shared.
    """
    definitions = _without_aliases(definitions, outputs)
    polynomials = {name: value for name, value in definitions.items() if not isinstance(value, Call)}
    shorter: dict[str, Definition] = {**factored(polynomials, prefix, tries, constants)}
    shorter |= {name: value for name, value in definitions.items() if isinstance(value, Call)}
    shorter = _without_numbers(shorter, constants)
    fixed = set(constants)
    before: list[Assignment] = []
    body: list[Assignment] = []
    for name in _ordered(shorter, outputs):
        value = shorter[name]
        is_fixed = _names(value) <= fixed and name not in outputs
        if is_fixed:
            fixed.add(name)
        (before if is_fixed else body).append((name, expression(value)))
    before, body = _inlined(before, names_in(body)), _inlined(body, set(outputs))
    needed = names_in(before) | names_in(body) | set(outputs)
    given = {name: value for name, value in constants.items() if name in needed}
    return Program(given, tuple(before), tuple(body), tuple(outputs), form)


def expression(value: Definition) -> sympy.Expr:
    """A definition as a SymPy expression."""
    if isinstance(value, Call):
        arg = sympy.Symbol(value.arg)
        return 1 / arg if value.op == "inverse" else TRIG[value.op](arg)
    return sympy.Add(
        *(
            sympy.Mul(sympy.Rational(k.numerator, k.denominator), *(sympy.Symbol(x) ** e for x, e in m))
            for m, k in value.items()
        )
    )


def graph_definitions(function: Function, names: Sequence[str], outputs: Sequence[str]) -> dict[str, Definition]:
    """The definitions of a traced function: sums of products, one for each node that is used more than once or within a product.

    Args:
        function: Of additions, products, quotients, sines and cosines.
        names: Of its inputs.
        outputs: Names for its outputs.
    """
    uses: Counter[Expr] = Counter(a for node in function.live() for a in node.args if isinstance(a, Expr))
    uses.update(out for out in function.outputs if isinstance(out, Expr))
    definitions: dict[str, Definition] = {}

    def define(x: Polynomial) -> Polynomial:
        name = f"%y{len(definitions)}"
        definitions[name] = x
        return variable(name)

    def named(x: Polynomial) -> Polynomial:
        """One term: a name for it where there are more."""
        return x if len(x) <= 1 else define(x)

    def called(op: str, x: Polynomial) -> Polynomial:
        arg = named(x)
        (((name, _),),) = arg if arg and _is_alias(arg) else define(arg)
        call = Call(op, name)
        known = next((name for name, value in definitions.items() if value == call), f"%y{len(definitions)}")
        definitions[known] = call
        return variable(known)

    def divided(a: Polynomial, b: Polynomial) -> Polynomial:
        below = called("inverse", b)
        return times(named(a), below)

    def value(x: Any) -> Polynomial:
        if isinstance(x, Expr):
            return values[x]
        return {ONE: Fraction(x)} if x else {}

    operations: dict[str, Callable[..., Polynomial]] = {
        "add": plus,
        "sub": lambda a, b: plus(a, b, -1),
        "neg": lambda a: plus({}, a, -1),
        "mul": lambda a, b: times(named(a), named(b)),
        "fma": lambda a, b, c: plus(times(named(a), named(b)), c),
        "div": divided,
        "cos": lambda a: called("cos", a),
        "sin": lambda a: called("sin", a),
    }
    values = dict(zip(function.inputs, map(variable, names), strict=True))
    for node in function.live():
        if node.op == "input":
            continue
        result = operations[node.op](*map(value, node.args))
        trivial = len(result) <= 1 and all(abs(k) == 1 and sum(e for _, e in m) <= 1 for m, k in result.items())
        values[node] = define(result) if uses[node] > 1 and not trivial else result
    for name, out in zip(outputs, function.outputs, strict=True):
        definitions[name] = value(out)
    return definitions


def _names(value: Definition) -> set[str]:
    return {value.arg} if isinstance(value, Call) else {x for m in value for x, _ in m}


def _without_aliases(definitions: Mapping[str, Definition], outputs: Sequence[str]) -> dict[str, Definition]:
    """Definitions none of which, but for outputs, is another name, or zero."""
    known = dict(definitions)
    while True:
        alias = next((n for n, v in known.items() if n not in outputs and _is_alias(v)), None)
        if alias is None:
            return known
        other: Any = known.pop(alias)
        for name, value in known.items():
            if alias not in _names(value):
                continue
            if isinstance(value, Call):
                (((arg, _),),) = other
                known[name] = Call(value.op, arg)
            else:
                known[name] = _substituted(value, alias, other)


def _is_alias(value: Definition) -> bool:
    if isinstance(value, Call) or len(value) > 1:
        return False
    return all(k == 1 and sum(e for _, e in m) == 1 for m, k in value.items())


def _substituted(p: Polynomial, name: str, value: Polynomial) -> Polynomial:
    found: Polynomial = {}
    for m, k in p.items():
        term: Polynomial = {tuple((x, e) for x, e in m if x != name): k}
        for _ in range(dict(m).get(name, 0)):
            term = times(term, value)
        found = plus(found, term)
    return found


def _ordered(definitions: Mapping[str, Definition], outputs: Sequence[str]) -> list[str]:
    """The names that the outputs need, each after those that it needs itself; angles, sines and cosines first."""
    needs = {name: sorted(_names(value)) for name, value in definitions.items()}
    used = set(outputs).union(*needs.values())
    first = [
        name for name, value in definitions.items() if isinstance(value, Call) and value.op in TRIG and name in used
    ]
    return ordered(needs, [*first, *outputs])


def _without_numbers(definitions: Mapping[str, Definition], constants: Iterable[str]) -> dict[str, Definition]:
    """Definitions in which a constant and a number that it is multiplied with are one constant."""
    fixed = set(constants)
    for name in _ordered(definitions, list(definitions)):
        if _names(definitions[name]) <= fixed:
            fixed.add(name)
    found: dict[str, Definition] = {}
    merged: dict[tuple[str, Fraction], str] = {}
    for name, value in definitions.items():
        if isinstance(value, Call) or name in fixed:
            found[name] = value
            continue
        p: Polynomial = {}
        for m, k in value.items():
            constant = next((x for x, e in m if e == 1 and x in fixed), None)
            if constant is not None and abs(k) != 1 and len(m) > 1:
                key = (constant, abs(k))
                merged.setdefault(key, f"%n{len(merged) + 1}")
                found[merged[key]] = {((constant, 1),): abs(k)}
                m, k = product(tuple(x for x in m if x[0] != constant), ((merged[key], 1),)), k / abs(k)
            p[m] = k
        found[name] = p
    return found


def _inlined(assignments: list[Assignment], kept: set[str]) -> list[Assignment]:
    """Names that are used once written out where they are used, if that takes no more operations and keeps lines short."""
    done = dict(assignments)
    for name, first in assignments:
        symbol = sympy.Symbol(name)
        users = [user for user, value in done.items() if symbol in value.free_symbols]
        if name in kept or first.func in TRIG.values() or len(users) != 1:
            continue
        value, other = done[name], done[users[0]]
        # a sum squared is worked out twice where powers are products; a product is no divisor
        powers = [x.exp for x in other.atoms(sympy.Pow) if x.base == symbol]
        if any(power > 1 if value.is_Add else power < 0 for power in powers):
            continue
        written = other.xreplace({symbol: value})
        apart = [a + b for a, b in zip(count([value]), count([other]))]
        if len(str(written)) <= LONGEST and all(a <= b for a, b in zip(count([written]), apart)):
            done[users[0]] = written
            del done[name]
    return list(done.items())
