"""The numbers of a robot file, exactly: `-pi/2` is -π/2, `0.35` is 7/20, and parameters are symbols."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy

from armsim import document
from armsim.document.base import numbers as numbers_of
from armsim.document.paths import parse_path
from armsim.errors import UsageError
from armsim.expr import Scalar, flatten, replay, trace, unflatten
from armsim.expr.replay import OPERATIONS
from armsim.files.faults import suggestion
from armsim.files.nodes import clipped
from armsim.formulas.formula import Formula
from armsim.formulas.quantity import Quantity
from armsim.formulas.units import PI, parse_unit, units_of, written_unit
from armsim.loading import build_robot
from armsim.loading.settle import numbers_at
from armsim.model import Arm, Motor
from armsim.records import record
from armsim.spatial import Inertia

# keys below which there are numbers of rigid-body dynamics
OF_ARM = ("gravity", "base", "tool", "payload")
OF_JOINT = ("mdh", "dh", "origin", "bodies", "pitch", "mimic")
OF_MOTOR = ("gear", "rotor_inertia")
MOST_BITS = 1024  # of an exact number; products of such are quick

# doubles that stand for multiples of pi in the text of the physics
OF_PI = {
    math.pi: sympy.pi,
    2 * math.pi: 2 * sympy.pi,
    math.pi / 180: sympy.pi / 180,
    1 / (2 * math.pi): 1 / (2 * sympy.pi),
}


@record
class ExactArm:
    """An arm whose numbers are exact SymPy expressions.

    Attributes:
        arm: The arm; of its motors only the armature, as rotor inertia with gear 1.
        inertias: Its links' inertias, as `Arm.inertias`.
        regrouped: Its links' inertias, as `Arm.regrouped`.
        symbols: What is left open, by name.
        values: The values of the symbols in the file.
        rounded: Whether there are numbers that are doubles, not exact: of axes that are not along x, y or z.
    """

    arm: Arm
    inertias: tuple[Inertia, ...]
    regrouped: tuple[Inertia, ...]
    symbols: dict[str, sympy.Symbol]
    values: dict[str, float]
    rounded: bool = False

    @property
    def leaders(self) -> list[tuple[int, sympy.Expr]]:
        """Of every link the index of the joint whose position decides its own, and the ratio of their velocities."""
        links = self.arm.links
        return [(self.arm.leader(link), link.mimic.ratio if link.mimic else sympy.Integer(1)) for link in links]

    @property
    def at(self) -> dict[sympy.Symbol, sympy.Rational]:
        """The values in the file by symbol, exactly."""
        return {symbol: sympy.Rational(repr(self.values[name])) for name, symbol in self.symbols.items()}


def exact_arm(robot: document.Robot, symbols: Sequence[str] | None = None) -> ExactArm:
    """The arm of a robot file, exactly.

    Args:
        robot: As `armsim.loading.load_robot_file` reads it.
        symbols: What stays a symbol: names of parameters, or NAME=PATH for another number of the file; all parameters
            unless given.

    Raises:
        UsageError: There is no such parameter or number, or a name is there twice.
    """
    found, values, at = _symbols(robot, symbols)
    named: dict[str, Scalar] = {"pi": sympy.pi}
    for name, quantity in robot.parameters.items():
        of_symbols = quantity.formula is not None and quantity.formula.names & found.keys()
        named[name] = found[name] if name in found and not of_symbols else exact_number(quantity, named)
    found = {name: symbol for name, symbol in found.items() if name not in named or named[name] == symbol}
    numbers = {path: exact_number(quantity, named) for path, quantity in _numbers(robot)}
    numbers |= {path: found[name] for name, paths in at.items() for path in paths}
    opened = {path: x for path, x in numbers.items() if x not in (0, 1, -1)}
    structure: list[Any] = []

    def built(*scalars: Any) -> list[Any]:
        arm = build_robot(robot, dict(zip(opened, scalars, strict=True)))
        arm = arm.map_links(
            lambda link: replace(link, motor=_rotor(link.motor), initial=0.0, limit=None, spring=None, coulomb=None)
        )
        leaves, form = flatten((arm, arm.inertias, arm.regrouped))
        structure[:] = [form]
        return leaves

    function = trace(built, list(opened), "exact_arm")
    leaves = [sympy.expand(exact(x)) for x in replay(function, list(opened.values()), EXACT_OPERATIONS)]
    arm, inertias, regrouped = unflatten(structure[0], leaves)
    used = set().union(*(x.free_symbols for x in leaves))
    kept = {name: symbol for name, symbol in found.items() if symbol in used}
    rounded = any(_is_oblique(joint.origin) for joint in robot.joints)
    return ExactArm(arm, inertias, regrouped, kept, {name: values[name] for name in kept}, rounded)


def exact_number(quantity: Quantity, named: Mapping[str, Any]) -> sympy.Expr:
    """The exact value of a number of a file, in its key's unit.

    Args:
        quantity: The number.
        named: What formulas may use: parameters and pi.
    """
    try:
        if quantity.formula is not None:
            return _evaluated(quantity.formula, named)
        if quantity.unit:
            return _converted(quantity)
    except _TooLong:
        symbols = (
            sorted(name for name in quantity.formula.names if named[name].free_symbols) if quantity.formula else []
        )
        if symbols:
            found = f"`{clipped(quantity.text)}`, which is longer"
            mend = f"shorten it, or take {', '.join(symbols)} out of the symbols"
            expected = f"formulas of symbols whose powers stay below {MOST_BITS} digits"
            raise UsageError.of(str(quantity.place), expected, found, mend) from None
    return sympy.Rational(repr(quantity.value))


def exact(x: Any) -> sympy.Expr:
    """A scalar of the physics as SymPy has it: a double is the decimal number that it prints as, or a multiple of pi."""
    if isinstance(x, float):
        return OF_PI[x] if x in OF_PI else sympy.Rational(repr(x))
    return sympy.sympify(x)


def _exactly(operation: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: operation(*(exact(a) for a in x))


def _where(condition: Any, a: Any, b: Any) -> Any:
    """A comparison of symbols with the numbers 0 and ±1 is undecided: it asks for right angles, which a symbol is not."""
    return a if condition == sympy.true else b


EXACT_OPERATIONS = {op: _exactly(call) for op, call in OPERATIONS.items()} | {"where": _exactly(_where)}


def _rotor(motor: Motor | None) -> Motor | None:
    """A motor's armature alone, as a rotor without a gear."""
    return None if motor is None else Motor(rotor_inertia=motor.gear * motor.gear * motor.rotor_inertia)


def _is_oblique(origin: document.Origin | None) -> bool:
    return origin is not None and sum(x.value != 0 for x in origin.axis) > 1


class _TooLong(Exception):
    """A number of more than `MOST_BITS` binary digits: a double takes its place."""


def _evaluated(formula: Formula, named: Mapping[str, Any]) -> sympy.Expr:
    value = formula.evaluate(named, number=_rational, multiply=_product)
    value = sympy.nsimplify(value, rational=True) if isinstance(value, float) else sympy.sympify(value)
    if _digits(value) > MOST_BITS:
        raise _TooLong
    return value


def _rational(text: str) -> sympy.Rational:
    """A number as written, unless its power of ten is enormous."""
    power = text.lower().partition("e")[2] or "0"
    if 4 * len(text) > MOST_BITS or 4 * abs(int(power)) > MOST_BITS:
        raise _TooLong
    return sympy.Rational(str(Fraction(text)))


def _product(a: Any, b: Any) -> Any:
    if _digits(a) + _digits(b) > MOST_BITS:
        raise _TooLong
    return a * b


def _digits(x: Any) -> int:
    """Binary digits of the numbers in an expression that is multiplied out."""
    if isinstance(x, (float, int)):
        return 0
    if x.is_Rational:
        return int(x.p).bit_length() + int(x.q).bit_length()
    if x.is_Pow and x.exp.is_Integer:
        return abs(int(x.exp)) * _digits(x.base)
    return 1 + sum(map(_digits, x.args))


def _converted(quantity: Quantity) -> sympy.Expr:
    """A number with a unit: exact but for angles that a file in radians has in other units, which are multiples of pi."""
    written = written_unit(quantity.text)
    assert written is not None  # it has a unit
    number, text = written
    number = str(_rational(number))
    factor = parse_unit(text).factor / parse_unit(units_of(quantity.kind.unit, (), None)[0]).factor
    value = sympy.Rational(str(Fraction(number))) * sympy.Rational(factor.numerator, factor.denominator)
    turns = Fraction(number) * factor / PI
    if quantity.kind.angle and turns.denominator <= Fraction(number).denominator * 360:
        return sympy.Rational(turns.numerator, turns.denominator) * sympy.pi
    return (
        value
        if abs(float(value) - quantity.value) <= 1e-12 * abs(quantity.value)
        else sympy.Rational(repr(quantity.value))
    )


def _numbers(robot: document.Robot) -> Iterator[tuple[str, Quantity]]:
    """The numbers of rigid-body dynamics in a robot file, by path."""
    for path, number in numbers_of(robot):
        steps = parse_path(path)
        if steps[0] == "joints":
            below, key = steps[2], steps[3] if len(steps) > 3 else ""
            counts = below in OF_JOINT or (below == "motor" and key in OF_MOTOR)
        else:
            counts = steps[0] in OF_ARM
        if counts and not number.kind.structure:
            yield path, number


def _symbols(
    robot: document.Robot, wanted: Sequence[str] | None
) -> tuple[dict[str, sympy.Symbol], dict[str, float], dict[str, list[str]]]:
    """Symbols by name, their values in the file, and the paths of those that are no parameters."""
    parameters = robot.parameters
    if wanted is None:
        wanted = list(parameters)
    known = dict(_numbers(robot))
    symbols, values, at = {}, {}, {}
    for item in wanted:
        name, equals, path = (part.strip() for part in item.partition("="))
        if name in symbols:
            raise UsageError.of(f"symbols: {item}", "each name once", f"{name} twice", "take one of them out")
        if equals:
            if not name.isidentifier() or name in parameters:
                found = "the name of a parameter" if name in parameters else f"`{name}`"
                raise UsageError.of(f"symbols: {item}", "a new name before =", found, "choose another name")
            at[name] = [place for place in numbers_at(robot, path) if place in known]
            if len(at[name]) != 1:
                found = f"{len(at[name])} such numbers at {path}"
                mend = "write for example m1=joints[0].bodies[0].rod.mass"
                raise UsageError.of(
                    f"symbols: {item}", "the path of one number of the rigid-body dynamics", found, mend
                )
            values[name] = known[at[name][0]].value
        elif name not in parameters:
            mend = suggestion(name, parameters, "there are") if parameters else "name a number by NAME=PATH"
            raise UsageError.of(
                f"symbols: {item}", "the name of a parameter, or NAME=PATH", f"no parameter `{name}`", mend
            )
        else:
            values[name] = parameters[name].value
        symbols[name] = sympy.Symbol(name, real=True)
    return symbols, values, at
