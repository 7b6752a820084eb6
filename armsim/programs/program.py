"""Straight-line programs: assignments in order, without loops or branches; counted, and made as short as is found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import sympy

from armsim.expr import Expr, Function
from armsim.programs.factoring import ONE, Polynomial, factored, product

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


@dataclass(frozen=True)
class Program:
    """A function as assignments.

    Attributes:
        constants: Assignments that depend on nothing but the arm's constants.
        body: The others.
        outputs: Names, in order.
    """

    constants: tuple[Assignment, ...]
    body: tuple[Assignment, ...]
    outputs: tuple[str, ...]

    @cached_property
    def operations(self) -> Operations:
        """Of the body."""
        return count(value for _, value in self.body)

    @cached_property
    def used(self) -> set[str]:
        """Names that the body uses and does not define."""
        names = {symbol.name for _, value in self.body for symbol in value.free_symbols}
        return (names | set(self.outputs)) - {name for name, _ in self.body}

    def needed(self, constants: Mapping[str, sympy.Expr]) -> dict[str, sympy.Expr]:
        """Of these constants, those that the program uses."""
        before = {symbol.name for _, value in self.constants for symbol in value.free_symbols} | self.used
        return {name: value for name, value in constants.items() if name in before}


@dataclass(frozen=True)
class Solution:
    """A function of the motion as a program, with the constants it needs.

    Attributes:
        program: Its assignments.
        constants: Exact values of the constants that it names, in the arm's symbols.
        form: "closed", or "recursive" for an unrolled recursion.
    """

    program: Program
    constants: dict[str, sympy.Expr]
    form: str


def count(expressions: Iterable[sympy.Expr]) -> Operations:
    """The operations of expressions as they stand."""
    total: Counter[str] = Counter()

    def visit(x: sympy.Expr) -> None:
        if x.is_Add:
            total["add"] += len(x.args) - 1
        elif x.is_Mul:
            below = sum(1 for a in x.args if a.is_Pow and a.exp.is_negative)
            total["div"] += below
            total["mul"] += len(x.args) - 1 - (x.args[0] == -1) + (below == len(x.args)) - below
        elif x.is_Pow:
            if x.exp.is_Integer:
                total["mul"] += abs(int(x.exp)) - 1
                total["div"] += 0
            else:
                total["mul"] += 1
        elif x.func in (sympy.cos, sympy.sin):
            total["trig"] += 1
        for a in x.args:
            visit(a)

    for x in expressions:
        visit(x)
        total["div"] += x.is_Pow and bool(x.exp.is_negative)
    return Operations(total["mul"] + total["div"], total["add"], total["trig"], total["div"])


def assembled(
    definitions: Mapping[str, Definition],
    outputs: Sequence[str],
    constants: Iterable[str],
    tries: int = 1,
    prefix: str = "%x",
) -> Program:
    """The program of some definitions, in few operations.

    Args:
        definitions: By name, in any order.
        outputs: Names of the results.
        constants: Names that stand for constants.
        tries: Searches for common factors and sums, of which the shortest is taken.
        prefix: Of the names of what is shared.
    """
    definitions, constants = _without_aliases(definitions, outputs), set(constants)
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
    needed = {x.name for _, value in body for x in value.free_symbols}
    return Program(tuple(_inlined(before, needed)), tuple(_inlined(body, set(outputs))), tuple(outputs))


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


def polynomial(x: sympy.Expr | Any) -> Polynomial:
    """A polynomial of symbols from its SymPy expression."""
    found: Polynomial = {}
    for term in sympy.Add.make_args(sympy.expand(x)):
        k, factors = term.as_coeff_mul()
        m = ONE
        for factor in factors:
            base, power = factor.as_base_exp()
            m = product(m, ((str(base), int(power)),))
        found[m] = found.get(m, Fraction(0)) + Fraction(int(k.p), int(k.q))
    return found


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
    values: dict[Expr, Polynomial] = {}

    def named(x: Polynomial) -> Polynomial:
        """One term: a name for it where there are more."""
        if len(x) <= 1:
            return x
        name = f"%y{len(definitions)}"
        definitions[name] = x
        return variable(name)

    def value(x: Any) -> Polynomial:
        if isinstance(x, Expr):
            return values[x]
        return {ONE: Fraction(x)} if x else {}

    for node, name in zip(function.inputs, names, strict=True):
        values[node] = variable(name)
    for node in function.live():
        if node.op == "input":
            continue
        args = [value(a) for a in node.args]
        if node.op in ("add", "sub"):
            result = _plus(args[0], args[1], 1 if node.op == "add" else -1)
        elif node.op == "neg":
            result = _plus({}, args[0], -1)
        elif node.op in ("mul", "fma"):
            result = _plus(_one_product(named(args[0]), named(args[1])), args[2] if len(args) > 2 else {}, 1)
        elif node.op in ("cos", "sin", "div"):
            call = Call({"div": "inverse"}.get(node.op, node.op), _name(named(args[-1]), definitions))
            called = next((name for name, known in definitions.items() if known == call), f"%y{len(definitions)}")
            definitions[called] = call
            result = variable(called) if len(args) < 2 else _one_product(named(args[0]), variable(called))
        else:
            raise ValueError(f"no program has the operation {node.op}")
        trivial = len(result) <= 1 and all(abs(k) == 1 and sum(e for _, e in m) <= 1 for m, k in result.items())
        if uses[node] > 1 and not trivial:
            definitions[f"%y{len(definitions)}"] = result
            result = variable(f"%y{len(definitions) - 1}")
        values[node] = result
    for name, out in zip(outputs, function.outputs, strict=True):
        definitions[name] = value(out)
    return definitions


def variable(name: str) -> Polynomial:
    """The polynomial that is this name."""
    return {((name, 1),): Fraction(1)}


def _name(p: Polynomial, definitions: dict[str, Definition]) -> str:
    if len(p) == 1:
        ((m, k),) = p.items()
        if k == 1 and len(m) == 1 and m[0][1] == 1:
            return m[0][0]
    name = f"%y{len(definitions)}"
    definitions[name] = p
    return name


def _plus(a: Polynomial, b: Polynomial, sign: int) -> Polynomial:
    found = dict(a)
    for m, k in b.items():
        found[m] = found.get(m, Fraction(0)) + sign * k
    return {m: k for m, k in found.items() if k}


def _one_product(a: Polynomial, b: Polynomial) -> Polynomial:
    """The product of two polynomials of one term."""
    return {product(m, n): j * k for m, j in a.items() for n, k in b.items()}


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
        power = dict(m).get(name, 0)
        term: Polynomial = {tuple((x, e) for x, e in m if x != name): k}
        for _ in range(power):
            term = _one_product(term, value)
        found = _plus(found, term, 1)
    return found


def _ordered(definitions: Mapping[str, Definition], outputs: Sequence[str]) -> list[str]:
    """The names that the outputs need, each after those that it needs itself; angles, sines and cosines first."""
    done: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in done or name not in definitions:
            return
        for other in sorted(_names(definitions[name])):
            visit(other)
        done[name] = None

    for name, value in definitions.items():
        if isinstance(value, Call) and value.op in TRIG and _is_needed(name, definitions, outputs):
            visit(name)
    for name in outputs:
        visit(name)
    return list(done)


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


def _is_needed(name: str, definitions: Mapping[str, Definition], outputs: Sequence[str]) -> bool:
    return name in outputs or any(name in _names(value) for value in definitions.values())


def _inlined(assignments: list[Assignment], kept: set[str]) -> list[Assignment]:
    """Names that are used once written out where they are used, if that takes no more operations and keeps lines short."""
    done = list(assignments)
    for name, value in assignments:
        if name in kept or value.func in (sympy.cos, sympy.sin):
            continue
        symbol = sympy.Symbol(name)
        users = [i for i, (_, other) in enumerate(done) if symbol in other.free_symbols]
        if len(users) != 1:
            continue
        user, other = done[users[0]]
        value = next(v for n, v in done if n == name)
        if value.is_Add and any(x.base == symbol and x.exp > 1 for x in other.atoms(sympy.Pow)):
            continue  # a sum squared is a sum worked out twice where powers are products
        if not value.is_Add and any(x.base == symbol and x.exp < 0 for x in other.atoms(sympy.Pow)):
            continue
        written = other.xreplace({symbol: value})
        apart = [a + b for a, b in zip(count([value]), count([other]))]
        if len(str(written)) <= LONGEST and all(a <= b for a, b in zip(count([written]), apart)):
            done[users[0]] = (user, written)
            done = [(n, v) for n, v in done if n != name]
    return done
