"""Units that may stand behind a number in a file, and their dimensions: "35 mm", "69 g*cm^2", "3000 rpm"."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from armsim.files.faults import suggestion
from armsim.files.nodes import clipped
from armsim.formulas.formula import FormulaError

PI = Fraction("3.14159265358979323846264338327950288419716939937510582")
WRITTEN = re.compile(
    r"\s*(?P<number>(?>[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?))\s*(?P<unit>[^\W\d_].*|[°%].*)", re.DOTALL
)
TOKEN = re.compile(
    r"(?P<blank>\s+)|(?P<power>(?:\^|\*\*)(?P<k>-?[0-9])(?![0-9])|[²³])|(?P<sign>[*·⋅/()])|(?P<name>°C|[^\W\d_²³]+|[°%]|1(?=\s*/))"
)
LONGEST = 100  # characters of a unit
SUPERSCRIPTS = {"²": 2, "³": 3}


Powers = tuple[int, int, int, int, int, int, int]


class Unit(NamedTuple):
    """A unit: a multiple of a product of powers of SI units.

    Attributes:
        factor: By which a number in it is multiplied to be in SI units.
        powers: Of m, kg, s, A, K, °C and rad: a temperature is no difference of temperatures.
    """

    factor: Fraction
    powers: Powers

    def times(self, other: Unit, k: int = 1) -> Unit:
        """The product with the k-th power of another unit."""
        m, kg, s, A, K, C, rad = (a + k * b for a, b in zip(self.powers, other.powers, strict=True))
        return Unit(self.factor * other.factor**k, (m, kg, s, A, K, C, rad))

    def measures(self, other: Unit) -> bool:
        """Whether it is of another unit's dimension; rad below a fraction bar may be left out, as in N·m·s for N·m·s/rad."""
        *mine, turn = self.powers
        *theirs, their_turn = other.powers
        return mine == theirs and (turn == their_turn or (turn == 0 and their_turn == -1))


ONE = Unit(Fraction(1), (0, 0, 0, 0, 0, 0, 0))
DEGREE, TURN = PI / 180, 2 * PI
POUND, GRAVITY, INCH = Fraction("0.45359237"), Fraction("9.80665"), Fraction("0.0254")
PREFIXES = {"": 0, "n": -9, "u": -6, "µ": -6, "μ": -6, "m": -3, "c": -2, "k": 3, "M": 6}

# by name: factor, powers of m, kg, s, A, K, °C and rad, and the prefixes that it takes
_NAMED: tuple[tuple[str, Fraction, Powers, str], ...] = (
    ("m", Fraction(1), (1, 0, 0, 0, 0, 0, 0), "nuµμmck"),
    ("g", Fraction(1, 1000), (0, 1, 0, 0, 0, 0, 0), "uµμmk"),
    ("s", Fraction(1), (0, 0, 1, 0, 0, 0, 0), "nuµμm"),
    ("min", Fraction(60), (0, 0, 1, 0, 0, 0, 0), ""),
    ("A", Fraction(1), (0, 0, 0, 1, 0, 0, 0), "uµμmk"),
    ("rad", Fraction(1), (0, 0, 0, 0, 0, 0, 1), "uµμm"),
    ("deg", DEGREE, (0, 0, 0, 0, 0, 0, 1), ""),
    ("°", DEGREE, (0, 0, 0, 0, 0, 0, 1), ""),
    ("rev", TURN, (0, 0, 0, 0, 0, 0, 1), ""),
    ("rpm", TURN / 60, (0, 0, -1, 0, 0, 0, 1), "k"),
    ("Hz", Fraction(1), (0, 0, -1, 0, 0, 0, 0), "mkM"),
    ("N", Fraction(1), (1, 1, -2, 0, 0, 0, 0), "uµμmckM"),
    ("Nm", Fraction(1), (2, 1, -2, 0, 0, 0, 0), "uµμmck"),
    ("Ncm", Fraction(1, 100), (2, 1, -2, 0, 0, 0, 0), ""),
    ("Nms", Fraction(1), (2, 1, -1, 0, 0, 0, 0), "uµμm"),
    ("V", Fraction(1), (2, 1, -3, -1, 0, 0, 0), "uµμmk"),
    ("ohm", Fraction(1), (2, 1, -3, -2, 0, 0, 0), "uµμmkM"),
    ("Ohm", Fraction(1), (2, 1, -3, -2, 0, 0, 0), "uµμmkM"),
    ("Ω", Fraction(1), (2, 1, -3, -2, 0, 0, 0), "uµμmkM"),  # the Greek letter
    ("Ω", Fraction(1), (2, 1, -3, -2, 0, 0, 0), "uµμmkM"),  # the sign of its own
    ("H", Fraction(1), (2, 1, -2, -2, 0, 0, 0), "nuµμm"),
    ("W", Fraction(1), (2, 1, -3, 0, 0, 0, 0), "mk"),
    ("K", Fraction(1), (0, 0, 0, 0, 1, 0, 0), "mk"),
    ("°C", Fraction(1), (0, 0, 0, 0, 0, 1, 0), ""),
    ("degC", Fraction(1), (0, 0, 0, 0, 0, 1, 0), ""),
    ("in", INCH, (1, 0, 0, 0, 0, 0, 0), ""),
    ("ft", 12 * INCH, (1, 0, 0, 0, 0, 0, 0), ""),
    ("lb", POUND, (0, 1, 0, 0, 0, 0, 0), ""),
    ("oz", POUND / 16, (0, 1, 0, 0, 0, 0, 0), ""),
    ("lbf", POUND * GRAVITY, (1, 1, -2, 0, 0, 0, 0), ""),
    ("ozf", POUND / 16 * GRAVITY, (1, 1, -2, 0, 0, 0, 0), ""),
    ("kgf", GRAVITY, (1, 1, -2, 0, 0, 0, 0), ""),
    ("%", Fraction(1, 100), (0, 0, 0, 0, 0, 0, 0), ""),
)
UNITS = {
    prefix + name: Unit(factor * Fraction(10) ** PREFIXES[prefix], powers)
    for name, factor, powers, prefixes in _NAMED
    for prefix in ("", *prefixes)
}
ROWS = (  # as documentation lists them
    ("length", "m km cm mm um nm in ft"),
    ("mass", "kg g mg lb oz"),
    ("time", "s ms us ns min"),
    ("frequency", "Hz mHz kHz"),
    ("angle", "rad mrad deg ° rev"),
    ("speed of a shaft", "rpm krpm, and rad/s deg/s rev/min"),
    ("force", "N mN kN lbf ozf kgf"),
    ("torque", "N*m mN*m N*cm and so on, also written Nm mNm uNm kNm Ncm; ozf*in lbf*ft kgf*cm"),
    ("electrical", "V mV kV; A mA uA; ohm mohm kohm, also with Ω; H mH uH"),
    ("heat", "W mW kW; K mK, and K/W; °C degC"),
    ("ratio", "%"),
)

# units that people write, by SI unit: for messages, the SI unit first
COMMON: dict[str, tuple[str, ...]] = {
    "rad": ("deg",),
    "deg": ("rad",),
    "deg/s": ("rad/s", "rpm"),
    "m": ("mm", "cm", "in"),
    "rad/s": ("deg/s", "rpm"),
    "m/s": ("mm/s",),
    "s": ("ms", "us", "min"),
    "Hz": ("mHz", "kHz"),
    "kg": ("g", "lb"),
    "kg/m³": ("g/cm^3",),
    "kg·m²": ("g*cm^2", "kg*mm^2"),
    "N": ("mN", "kN", "lbf"),
    "N·m": ("mN*m", "N*cm", "ozf*in"),
    "N·m/rad": ("N*m/deg",),
    "N/m": ("N/mm",),
    "N·m·s/rad": ("mN*m*s/rad", "mN*m/rpm"),
    "N·s/m": ("N*s/mm",),
    "s/m": ("s/mm",),
    "N·m/A": ("mN*m/A", "ozf*in/A"),
    "V·s/rad": ("mV*s/rad", "V/rpm", "V/krpm"),
    "ohm": ("mohm", "kohm"),
    "H": ("mH", "uH"),
    "V": ("mV",),
    "A": ("mA",),
    "K/W": ("mK/W",),
    "°C": ("degC",),
    "": ("%",),
}

# keys whose unit depends on the scenario: of a joint that turns, of one that slides; for a voltage, for a torque
BY_OUTPUT = {
    "V, N·m or N": {"voltage": ("V", "V"), "torque": ("N·m", "N"), "current": ("A", "A")},
    "V/rad or N·m/rad": {"voltage": ("V/rad", "V/m"), "torque": ("N·m/rad", "N/m"), "current": ("A/rad", "A/m")},
    "V/(rad·s) or N·m/(rad·s)": {
        "voltage": ("V/(rad·s)", "V/(m·s)"),
        "torque": ("N·m/(rad·s)", "N/(m·s)"),
        "current": ("A/(rad·s)", "A/(m·s)"),
    },
    "V·s/rad or N·m·s/rad": {
        "voltage": ("V·s/rad", "V·s/m"),
        "torque": ("N·m·s/rad", "N·s/m"),
        "current": ("A·s/rad", "A·s/m"),
    },
}
OF_ACCELERATION = {
    "V/rad or N·m/rad": "1/s²",
    "V·s/rad or N·m·s/rad": "1/s",
    "N·m/rad or N/m": "1/s²",
    "N·m·s/rad or N·s/m": "1/s",
}  # gains of a law that asks for accelerations


def units_of(unit: str, turns: Sequence[bool], output: str | None, law: str = "") -> list[str]:
    """The units that a key's can be at some joints.

    Args:
        unit: Of the key, as `armsim.document.kinds.Number` has it: one, or "that of a joint that turns or of one that slides".
        turns: Of each joint, whether it turns; empty where that is unknown.
        output: What a controller puts out, "voltage", "current" or "torque"; None where that is unknown.
        law: Its law.
    """
    known = sorted({0 if here else 1 for here in turns}) or [0, 1]
    if law == "computed_torque" and unit in OF_ACCELERATION:
        return [OF_ACCELERATION[unit]]
    if unit in BY_OUTPUT:
        pairs = [pair for name, pair in BY_OUTPUT[unit].items() if output in (None, name)]
        return list(dict.fromkeys(pair[i] for pair in pairs for i in known))
    either = unit.split(" or ")
    return [either[i] for i in known] if len(either) == 2 else [unit]


def written_unit(text: str) -> tuple[str, str] | None:
    """Number and unit, where a text is a number with a unit behind it."""
    match = WRITTEN.fullmatch(text)
    return None if match is None else (match["number"], match["unit"].strip())


def converted(number: str, unit: str, targets: Sequence[str], shared: bool = False) -> float:
    """A number in another unit: the double nearest to the exact value.

    Args:
        number: The number, as written.
        unit: Its unit, as written.
        targets: The units that it may be converted to.
        shared: Whether it is for joints that turn and for joints that slide, so that it has to fit all targets.

    Raises:
        FormulaError: There is no such unit, or it is of another dimension; the mend names the right ones.
    """
    found = parse_unit(unit)
    fitting = [target for target in targets if found.measures(parse_unit(target))]
    if not fitting:
        raise FormulaError(f"`{clipped(unit)}` measures something else", right_units(targets))
    if shared and len(fitting) < len(targets):
        raise FormulaError("one for joints that turn and joints that slide", "write a list, a number for each joint")
    factor = found.factor / parse_unit(fitting[0]).factor
    x = float(number)
    if x == 0.0 or not 1e-300 < abs(x) < math.inf:
        return x
    try:
        return float(Fraction(number) * factor)
    except OverflowError:
        return math.copysign(math.inf, x)


def right_units(targets: Sequence[str]) -> str:
    """What to write in place of a unit of another dimension."""
    named = [f"`{unit}`" for target in targets for unit in (_ascii(target), *COMMON.get(target, ())) if unit]
    if list(targets) == [""]:
        return "write a plain number, or one in `%`; parameters count in the SI unit of the keys that use them"
    return (
        f"write the number in {', '.join(named[:-1])} or {named[-1]}" if len(named) > 1 else f"write it in {named[0]}"
    )


def written_example(unit: str) -> str:
    """A number of a key with a unit behind it, in quotes."""
    target = units_of(unit, (), None)[0]
    return f'"1 {COMMON.get(target, (_ascii(target),))[0]}"'


def _ascii(unit: str) -> str:
    """A unit as keyboards write it."""
    return unit.replace("·", "*").replace("²", "^2").replace("³", "^3")


@cache
def parse_unit(text: str) -> Unit:
    """A unit of a product of names, powers and fraction bars.

    Raises:
        FormulaError: It is none.
    """
    if len(text) > LONGEST:
        raise FormulaError("a unit of more than 100 characters", "write for example `mm`")
    return _UnitParser(text).whole() if text else ONE


class _UnitParser:
    """Recursive descent: product = factor {sign factor}, factor = (name | bracket) [power]."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def next(self) -> re.Match[str] | None:
        """The next token, which stays where it is."""
        match = TOKEN.match(self.text, self.at)
        if match is None and self.at < len(self.text):
            rest = self.text[self.at :].strip()
            mend = "write one number with its unit behind it, or a formula without units"
            raise FormulaError(f"`{clipped(rest, 20)}` has no meaning in a unit", mend)
        return match

    def skip_blanks(self) -> bool:
        match = self.next()
        if match is not None and match["blank"]:
            self.at = match.end()
            return True
        return False

    def whole(self) -> Unit:
        unit = self.product(0)
        if self.at < len(self.text):
            raise FormulaError("a bracket that was not opened in its unit", "take it out")
        return unit

    def product(self, depth: int) -> Unit:
        if depth > 3:
            raise FormulaError("more than 3 levels of brackets in a unit", "write it without brackets")
        unit, divided = self.factor(depth), False
        while True:
            blank = self.skip_blanks()
            match = self.next()
            if match is None or match["sign"] == ")":
                return unit
            sign = match["sign"]
            if sign in ("*", "·", "⋅", "/"):
                self.at = match.end()
                self.skip_blanks()
            elif not blank or divided:  # V/rad s could be V/(rad*s), or V*s/rad
                mend = "write * between units, and brackets around a denominator of several: V/(rad*s)"
                raise FormulaError(f"`{clipped(self.text[self.at :], 20)}` behind a unit", mend)
            divided = divided or sign == "/"
            unit = unit.times(self.factor(depth), -1 if sign == "/" else 1)

    def factor(self, depth: int) -> Unit:
        match = self.next()
        if match is not None and match["sign"] == "(":
            self.at = match.end()
            self.skip_blanks()
            unit = self.product(depth + 1)
            self.close()
        elif match is not None and match["name"]:
            self.at = match.end()
            unit = self.named(match["name"])
        else:
            raise FormulaError(
                "a unit that ends too early" if match is None else f"`{match[0]}` in a unit", "correct it"
            )
        match = self.next()
        if match is not None and match["power"]:
            self.at = match.end()
            k = SUPERSCRIPTS[match["power"]] if match["k"] is None else int(match["k"])
            unit = ONE.times(unit, k)
        return unit

    def close(self) -> None:
        match = self.next()
        if match is None or match["sign"] != ")":
            raise FormulaError("a bracket of the unit is left open", "close it")
        self.at = match.end()

    def named(self, name: str) -> Unit:
        if name == "1":
            return ONE
        if name not in UNITS:
            raise FormulaError(f"there is no unit `{clipped(name, 20)}`", suggestion(name, UNITS_SHOWN, "units are"))
        return UNITS[name]


UNITS_SHOWN = [unit for _, row in ROWS for unit in re.findall(r"[^\s,;]+", row) if unit in UNITS]
