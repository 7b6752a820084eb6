"""Scalar kinds, from which file formats are declared: numbers, text, choices."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, Self, TypeVar, overload

from armsim.expr import Expr, either, is_number, rounded
from armsim.files.faults import nearest, suggestion
from armsim.files.nodes import Map, Node, Place, Scalar, clipped, shown
from armsim.formulas.bounds import BOUNDS
from armsim.formulas.formula import NO_UNITS, Formula, FormulaError
from armsim.formulas.functions import RESERVED
from armsim.formulas.quantity import Context, Quantity, plain_number
from armsim.formulas.units import UNITS, converted, units_of, written_unit


class _Required:
    def __repr__(self) -> str:
        return "required"


V = TypeVar("V")
REQUIRED = _Required()
NAME = re.compile(r"[^\W\d][\w.-]*")
LONGEST_NAME = 60  # characters
COMMA = re.compile(r"[+-]?\d{1,15},\d{1,15}(e[+-]?\d{1,3})?(\s*[A-Za-zµΩ°%][^,()]*)?", re.ASCII | re.IGNORECASE)
LARGEST = math.nextafter(math.inf, 0.0)


def any_of(a: Any, b: Any) -> Any:
    """Logical or of two conditions: of floats, arrays or expressions."""
    return either(a, b) if isinstance(a, Expr) else a | b


def as_name(text: str) -> str:
    """Text as a name: `2nd run` as `_2nd_run`; empty where it is."""
    name = re.sub(r"[^\w.-]", "_", unicodedata.normalize("NFC", text))
    return (name if NAME.match(name) or not name else f"_{name}")[:LONGEST_NAME]


@dataclass(eq=False, kw_only=True)
class Kind(Generic[V]):
    """The type of a value in a file: what is valid, how it is read, its default and its documentation.

    As an attribute of a class it declares one of the keys of a `armsim.document.base.Document`; of an instance, the attribute is
    the value.

    Attributes:
        doc: Its meaning, in one line.
        default: Its value if absent; REQUIRED if it must be given, None for no value.
        example: A valid value, for messages.
        note: What holds if it is absent, where the default does not say it; with a note and no default there is no value.
        structure: Whether it decides what is computed, so that a number cannot be left open.
        of_file: Whether text is the name of a file, relative to the one that it stands in.
        given_by: The key beside it that decides its value where it has one: there is no default then.
    """

    doc: str = ""
    default: Any = REQUIRED
    example: str = ""
    note: str = ""
    structure: bool = False
    of_file: bool = False
    given_by: str = ""

    def __post_init__(self) -> None:
        if self.note and self.default is REQUIRED:
            self.default = None

    def __set_name__(self, owner: type, name: str) -> None:
        self.key = name.rstrip("_")

    @overload
    def __get__(self, document: None, owner: type) -> Self: ...

    @overload
    def __get__(self, document: object, owner: type) -> V: ...

    def __get__(self, document: Any, owner: type) -> Any:
        return self if document is None else document.entries.get(self.key)

    def below(self, step: str | int) -> Kind[Any] | None:
        """The kind of what stands below such a value, at a key, an index or a name; None where there is nothing."""
        return getattr(self, "item", None)

    def expected(self, context: Context) -> str:
        """What is valid, in words."""
        raise TypeError(f"{type(self).__name__} does not say what it takes")

    def read(self, node: Node, context: Context) -> Any:
        """The data of a node; None, with a fault in the report, if it is invalid."""
        raise TypeError(f"{type(self).__name__} cannot be read")

    def missing(self, place: Place, context: Context, found: str = "nothing: the key is missing") -> Any:
        """Report that a required key is absent; returns None, its data."""
        context.add(place, self.expected(context), found, f"add `{context.key}: {self.example or '...'}`")
        return None

    def filled(self, place: Place) -> Any:
        """The data of the default."""
        if isinstance(self.default, float):
            return Quantity(self.default, plain_number(self.default), place, given=False, kind=self)
        return self.default

    def fault(self, node: Node, context: Context, mend: str = "", found: str = "") -> Any:
        """Report an invalid value; returns None, its data."""
        if not mend:
            mend = (
                f"write for example `{context.key}: {self.example}`"
                if self.example
                else f"write {self.expected(context)}"
            )
        context.add(node.place, self.expected(context), found or shown(node), mend)
        return None


@dataclass(eq=False)
class Number(Kind[Any]):
    """A number, which may have a unit behind it, or a formula of numbers, pi and parameters.

    Attributes:
        unit: As messages write it; empty for a dimensionless number.
        angle: Whether it is in degrees where the file says so.
        minimum: Inclusive lower bound.
        above: Exclusive lower bound.
        nonzero: Whether 0 is refused.
        divides: Whether it is divided by unless it is 0.
        infinite: Whether `.inf` and `-.inf` are taken.
        largest: Bound of the magnitude where it is not the unit's.
        least: Bound of the magnitude from below where it is not the unit's, of what is `above` 0, `nonzero` or `divides`.
        of_time: Whether the formula may contain the time `t`.
        whole: Whether it has to be an integer.
        absent: The value that means that what it belongs to is not there; None if there is none. It decides what is computed.
    """

    unit: str = ""
    _: KW_ONLY
    angle: bool = False
    minimum: float | None = None
    above: float | None = None
    nonzero: bool = False
    divides: bool = False
    infinite: bool = False
    largest: float | None = None
    least: float | None = None
    of_time: bool = False
    whole: bool = False
    absent: float | None = None

    def means_absent(self, x: Any) -> bool:
        """Whether a scalar is the constant that means that something is not there; an open number never is."""
        return self.absent is not None and is_number(x, self.absent)

    @property
    def most(self) -> float:
        """The greatest magnitude."""
        return BOUNDS[self.unit].largest if self.largest is None else self.largest

    @property
    def smallest(self) -> float:
        """The least magnitude, of what is bounded from below."""
        return BOUNDS[self.unit].least if self.least is None else self.least

    def expected(self, context: Context) -> str:
        unit = self.unit_in(context)
        of = f" of {unit}" if unit else ""
        if self.above == 0:
            return f"a positive number{of}" + (f", {self.largest:g} at most" if self.largest is not None else "")
        if self.minimum is not None and self.largest is not None:
            return (
                f"a {'whole ' * self.whole}number{of} from {plain_number(self.minimum)} to {plain_number(self.largest)}"
            )
        if self.minimum is not None:
            return f"a number{of}, {plain_number(self.minimum)} or more"
        if self.nonzero:
            return f"a number{of} other than 0"
        if self.of_time:
            return f"a number{of}, or an expression of the time t"
        return f"a number{of}"

    def varies(self, formula: Formula) -> bool:
        """Whether a formula of such a number has variables."""
        return self.of_time and "t" in formula.names

    def unit_in(self, context: Context) -> str:
        """The unit in this file: deg for rad where the file uses degrees."""
        return self.unit.replace("rad", "deg") if self.angle and context.degrees else self.unit

    def conditions(self, x: Any) -> list[Any]:
        """Conditions that all hold for a valid number: a float, an array of them or an expression. None holds for NaN."""
        return [*self.signs(x), *self.magnitudes(x)]

    def signs(self, x: Any) -> list[Any]:
        """What `expected` says of a number, as conditions on it."""
        found = [abs(x) <= (math.inf if self.infinite else LARGEST)]
        if self.minimum is not None:
            found.append(x >= self.minimum)
        if self.above is not None:
            found.append(x > self.above)
        if self.nonzero:
            found.append(abs(x) > 0.0)
        if self.whole:
            found.append(abs(x - rounded(x)) <= 0.0)
        return found

    def magnitudes(self, x: Any) -> list[Any]:
        """What `bounded` says of a number, as conditions on it."""
        size = abs(x)
        found = [any_of(size <= self.most, size >= math.inf) if self.infinite else size <= self.most]
        if self.divides:
            found.append(any_of(size <= 0.0, size >= self.smallest))
        elif self.never_zero:
            found.append(size >= self.smallest)
        return found

    def bounded(self) -> str:
        """The bounds of its magnitude, in words."""
        if self.divides or self.never_zero:
            return f"{'0, or ' if self.divides else ''}a magnitude from {self.smallest:g} to {self.most:g}"
        return f"a magnitude of {self.most:g} at most{', or .inf' if self.infinite else ''}"

    @property
    def never_zero(self) -> bool:
        """Whether it must not be 0."""
        return self.nonzero or self.above == 0

    def read(self, node: Node, context: Context) -> Quantity | None:
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.fault(node, context)
        formula, written = None, self._with_unit(node, context)
        if written is not None:
            try:
                value = converted(*written, self.units(context), len(set(context.turns)) > 1)
            except FormulaError as error:
                return self._bad_formula(node, context, error)
        elif isinstance(node.value, str):
            formula = self._formula(node, context)
            if formula is None:
                return None
            try:
                value = formula.evaluate(context.values(formula.names))
            except FormulaError as error:
                return self._bad_formula(node, context, error)
        else:
            value = node.value
        unit = "" if written is None else written[1]
        degrees = self.angle and context.degrees and (" or " not in self.unit or all(context.turns))
        quantity = Quantity(value, node.text, node.place, formula, kind=self, unit=unit, degrees=degrees)
        return quantity if self._check(quantity, node, context) else None

    def units(self, context: Context) -> list[str]:
        """The units that a number read now may be converted to."""
        return units_of(self.unit_in(context), context.turns, context.output, context.law)

    def _with_unit(self, node: Scalar, context: Context) -> tuple[str, str] | None:
        """Number and unit, where one is written behind a number; names that have a value are none."""
        written = written_unit(node.text) if isinstance(node.value, str) else None
        if written is None:
            return None
        name = re.match(r"\w*", written[1])
        known = (*RESERVED, *context.parameters, *context.broken)
        return None if name is not None and name[0] in known and name[0] not in UNITS else written

    def _formula(self, node: Scalar, context: Context) -> Formula | None:
        if COMMA.fullmatch(node.text):
            mend = f"write a point: `{node.text.replace(',', '.')}`"
            return self.fault(node, context, mend, f"{shown(node)}, a decimal comma")
        try:
            formula = context.formulas.parse(node.text)
        except FormulaError as error:
            if error.mend == NO_UNITS:
                error = FormulaError(
                    error.problem, "write * for products; a unit stands behind one number, not a formula"
                )
            formula_like = any(sign in node.text for sign in "0123456789+-*/(")
            return self._bad_formula(node, context, error if formula_like else FormulaError("not a number"))
        if formula.names & context.broken:
            return None
        own = {"pi", "t"} if self.of_time else {"pi"}
        unknown = sorted(name for name in formula.names if name not in own and name not in context.parameters)
        if unknown == ["t"]:
            problem = FormulaError(
                "`t` is the time, which has no value here",
                "only `inputs` and `control.reference.q` may depend on the time",
            )
            return self._bad_formula(node, context, problem)
        if unknown:
            close = None if context.report.full else nearest(unknown[0], [*context.parameters, *own])
            add = "give the number, or name it under `parameters`" if context.named else "give the number itself"
            add = "it may depend on the time `t` only" if self.of_time else add
            mend = f"did you mean `{close}`?" if close else add
            return self._bad_formula(node, context, FormulaError(f"there is no `{unknown[0]}`", mend))
        if "pi" in formula.names and context.degrees and (self.angle or not self.unit) and not self.of_time:
            number = "" if self.angle else "; 3.14159265 where it is no angle"
            problem = FormulaError("`pi` in a file whose angles are degrees", f"write degrees: 180 for pi{number}")
            return self._bad_formula(node, context, problem)
        return formula

    def _bad_formula(self, node: Scalar, context: Context, error: FormulaError) -> Any:
        example = "-pi/2" if self.angle and not context.degrees else "0.5*0.38"
        mend = error.mend or f"write a number, or a formula such as `{example}`"
        if self.of_time and not error.mend:
            mend = f"write a number, a formula such as `{self.example}`"
            mend += "" if self.angle else ", or `{csv: file, column: name}`"
        return self.fault(node, context, mend, f"{shown(node)} ({error.problem})")

    def _check(self, quantity: Quantity, node: Node, context: Context) -> bool:
        value = quantity.value
        written = not math.isinf(value) or "inf" in quantity.text.lower()  # or it has overflowed
        if written and all(self.conditions(value)):
            return True
        found = node.text if isinstance(node, Scalar) else ""
        if quantity.formula is not None:
            found = f"{found} = {plain_number(float(f'{value:.6g}'))}"
        elif quantity.unit and value != float(f"{quantity.text[: -len(quantity.unit)]}"):
            found = f"{found} = {plain_number(float(f'{value:.6g}'))} {' or '.join(self.units(context))}"
        found = clipped(found)
        key = context.key
        if not math.isfinite(value):
            mend = "write a finite number"
        elif (self.minimum == 0 or self.above == 0) and value < 0:
            if quantity.formula is not None:
                mend = "correct the expression, or the parameters in it"
            else:
                mend = f"write the {key} without its sign, for example `{key}: {quantity.text.lstrip('-')}`"
        elif self.whole and value != round(value):
            mend = f"write a whole number, for example {round(value)}"
        elif self.minimum is not None and value < self.minimum:
            mend = f"write {plain_number(self.minimum)} or more"
        elif self.above is not None and value <= self.above:
            mend = f"write a number above {plain_number(self.above)}" + (
                f", for example `{key}: {self.example}`" if self.example else ""
            )
        elif self.nonzero and value == 0:
            mend = f"write another number, for example `{key}: {self.example or 1}`"
        elif abs(value) < self.smallest and (self.divides or self.never_zero):
            mend = f"write {'0, or ' * self.divides}a number {'of magnitude ' * self.nonzero}{self.smallest:g} or more"
        else:
            both_sides = self.above is None and self.minimum is None
            mend = f"write a number {f'between {-self.most:g} and' if both_sides else 'up to'} {self.most:g}"
            mend += f": in percent it is `{key}: {plain_number(value)} %`" if not self.unit and self.most == 1 else ""
        self.fault(node, context, mend, found)
        return False


class Text(Kind[Any]):
    """Text; with `name`, an identifier, which headings and paths can contain."""

    def __init__(self, *, name: bool = False, **common: Any) -> None:
        super().__init__(**common)
        self.name = name

    def expected(self, context: Context) -> str:
        return "a name of letters, digits, `_`, `-` and `.`, starting with a letter" if self.name else "text"

    def read(self, node: Node, context: Context) -> str | None:
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            mend = f'put it in quotes: "{clipped(node.text)}"' if isinstance(node, Scalar) and not self.name else ""
            return self.fault(node, context, mend)
        if (
            not node.text
            or len(node.text) > 1000
            or (self.name and (not NAME.fullmatch(node.text) or len(node.text) > LONGEST_NAME))
        ):
            return self.fault(node, context)
        return node.text


class Choice(Kind[Any]):
    """An enumeration: one of several words.

    Attributes:
        options: The words.
    """

    def __init__(self, *options: str, **common: Any) -> None:
        super().__init__(**common)
        self.options = options

    def expected(self, context: Context) -> str:
        return self.options[0] if len(self.options) == 1 else f"{', '.join(self.options[:-1])} or {self.options[-1]}"

    def read(self, node: Node, context: Context) -> str | None:
        text = node.text if isinstance(node, Scalar) else None
        if text in self.options:
            return text
        self.fault(node, context, suggestion(text, self.options, "take one of") if text else "")
        return None


class Flag(Kind[Any]):
    """Yes or no."""

    def expected(self, context: Context) -> str:
        return "true or false"

    def read(self, node: Node, context: Context) -> Any:
        if isinstance(node, Scalar) and isinstance(node.value, bool):
            return node.value
        return self.fault(node, context)


class Format(Choice):
    """The format of a file with its version, such as `armsim/robot/1`."""

    def read(self, node: Node, context: Context) -> str | None:
        text = node.text if isinstance(node, Scalar) else ""
        versioned = self.options[0].rpartition("/")[0] + r"/[1-9]\d{0,3}"
        if text not in self.options and re.fullmatch(versioned, text):
            return self.fault(node, context, "it was written for a newer armsim: install that one")
        return super().read(node, context)


class Minimised(Kind[Any]):
    """A measure or a formula of measures, or the weights of several."""

    what = "measure"

    def expected(self, context: Context) -> str:
        return f"a {self.what}, a formula of {self.what}s, or a mapping from {self.what}s to weights"

    def read(self, node: Node, context: Context) -> Any:
        if isinstance(node, Scalar) and isinstance(node.value, str) and node.text:
            return node.text
        if isinstance(node, Map) and node.entries:
            weights: dict[str, Any] = {key: getattr(item, "value", None) for key, (_, item) in node.entries.items()}
            bad = next(
                (key for key, w in weights.items() if isinstance(w, bool) or not isinstance(w, (int, float))), None
            )
            if bad is None:
                return weighted(weights)
            return self.fault(node.entries[bad][1], context.below(clipped(bad)), "write a weight, such as 0.1")
        return self.fault(node, context)


def weighted(weights: Mapping[str, float]) -> str:
    """The formula of weighted measures."""
    return " + ".join(f"{plain_number(float(weight))}*({name})" for name, weight in weights.items())
