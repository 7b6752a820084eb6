"""The values that a study gives a number: `1,2,5`, `20:400:20`, `log:1:100:9`, `normal:1:0.1`, `uniform:1:2`; or many numbers.

Where a path stands for several numbers, as `control.kp` does, a value may be a list of them: `[60,40],[80,40]`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, overload

from armsim.errors import FileFaults, UsageError
from armsim.files.nodes import clipped
from armsim.formulas.formula import constant_value
from armsim.formulas.quantity import plain_number
from armsim.records import record

EXPECTED = "values: 1,2,5 or 20:400:20 or log:1:100:9, or a distribution, normal:1:0.1 or uniform:1:2"
NO_NUMBERS = ("nan", "inf", "infinity")  # nor words
LISTS = "write for example [60,40],[80,40]"
MOST_POINTS = 1_000_000  # of one path
MOST_RUNS = 10**9  # of a study
LOG, NORMAL, UNIFORM = "log", "normal", "uniform"
Value = float | str | tuple[float, ...]
LIST = re.compile(r"\[([^][]*)\]")


@record
class SpacedNumbers(Sequence[float]):
    """Numbers at equal distances, or ratios, ends included; each is computed where it is asked for.

    Attributes:
        first: The first.
        last: The last.
        number: How many, at least 2.
        log: Whether ratios are equal.
    """

    first: float
    last: float
    number: int
    log: bool

    def __len__(self) -> int:
        return self.number

    @overload
    def __getitem__(self, i: int) -> float: ...

    @overload
    def __getitem__(self, i: slice) -> tuple[float, ...]: ...

    def __getitem__(self, i: int | slice) -> float | tuple[float, ...]:
        if isinstance(i, slice):
            return tuple(self[k] for k in range(self.number)[i])
        i, n = range(self.number)[i], self.number - 1
        if i in (0, n):
            return self.last if i else self.first
        if self.log:
            return self.first * math.pow(self.last / self.first, i / n)
        return self.first + (self.last - self.first) * (i / n)


@record
class Listed:
    """Values one by one; words where a method, a law or a robot is varied, lists where a path stands for several numbers."""

    values: Sequence[Value]

    @property
    def words(self) -> bool:
        """Whether any of them is a word."""
        return any(isinstance(value, str) for value in self.values)

    @property
    def lists(self) -> bool:
        """Whether they are lists of numbers."""
        return isinstance(self.values[0], tuple)

    def __str__(self) -> str:
        return ",".join(map(text_of_value, self.values))

    def as_data(self) -> Any:
        """They as a study file has them."""
        return [written_value(value) for value in self.values]


@record
class Spaced(Listed):
    """Numbers at equal distances, or ratios, ends included.

    Attributes:
        values: The numbers.
        text: As written.
    """

    values: SpacedNumbers
    text: str

    @property
    def words(self) -> bool:
        """Whether any of them is a word: none is."""
        return False

    def __str__(self) -> str:
        return self.text

    def as_data(self) -> str:
        return self.text


@record
class Drawn:
    """A distribution: `normal` by its mean and standard deviation, `uniform` by its ends."""

    kind: str
    a: float
    b: float

    def __str__(self) -> str:
        return f"{self.kind}:{plain_number(self.a)}:{plain_number(self.b)}"

    as_data = __str__


Values = Listed | Drawn


def combinations(axes: Iterable[Values]) -> tuple[int, str]:
    """How many combinations there are of listed values, as a number and in words, such as `20 x 9`."""
    shape = [len(values.values) for values in axes if isinstance(values, Listed)]
    return math.prod(shape), clipped(" x ".join(map(str, shape)))


@record
class Interval:
    """Bounds between which a number is sought: `0:200`, or `log:1:200` where it is its logarithm that is sought.

    Attributes:
        low: The lower bound.
        high: The upper bound.
        log: Whether equal ratios are equally far.
    """

    low: float
    high: float
    log: bool = False

    def __str__(self) -> str:
        return f"{'log:' if self.log else ''}{plain_number(self.low)}:{plain_number(self.high)}"

    as_data = __str__

    def at(self, share: float) -> float:
        """The number at a share of the way, 0 to 1, which are the bounds themselves."""
        if not 0.0 < share < 1.0:
            return self.low if share <= 0.0 else self.high
        if self.log:
            return min(max(self.low * math.pow(self.high / self.low, share), self.low), self.high)
        return min(max(self.low + (self.high - self.low) * share, self.low), self.high)

    def slope(self, value: float) -> float:
        """How fast a number changes with the share."""
        return value * math.log(self.high / self.low) if self.log else self.high - self.low

    def share(self, value: float) -> float:
        """How far on its way a number is, 0 to 1; that of the next bound for one beyond."""
        inside = min(max(value, self.low), self.high)
        if self.log:
            return math.log(inside / self.low) / math.log(self.high / self.low)
        return (inside - self.low) / (self.high - self.low)


def text_of_value(value: Value) -> str:
    """A value as it is written: 0.5, rk4, [60,40]."""
    if isinstance(value, str):
        return value
    return plain_number(value) if isinstance(value, float) else f"[{','.join(map(plain_number, value))}]"


def first_value(values: Values) -> Value:
    """A value that a study may give, in the middle of a distribution."""
    if isinstance(values, Drawn):
        return values.a if values.kind == NORMAL else 0.5 * (values.a + values.b)
    return values.values[0]


def written_value(value: Any) -> Any:
    """A value as plain data, as overrides and files have it."""
    return list(value) if isinstance(value, tuple) else value


def parse_values(text: str, where: str = "") -> Values:
    """The values that a text stands for; numbers may be formulas such as -pi/2.

    Args:
        text: The text.
        where: What messages call it; the text itself unless given.

    Raises:
        UsageError: It stands for none.
    """
    parts = [part.strip() for part in text.split(":")]
    where = clipped(where or text)
    if text.lstrip().startswith("["):
        if LIST.sub("", text).replace(",", "").strip():
            raise UsageError.of(where, "lists of numbers between commas", clipped(text), LISTS)
        return listed(where, [part.split(",") for part in LIST.findall(text)])
    if parts[0] in (NORMAL, UNIFORM):
        return _drawn(where, parts)
    if parts[0] == LOG or len(parts) > 1:
        return _points(text, where, parts)
    return listed(where, [part.strip() for part in text.split(",")])


def parse_interval(text: str, where: str = "") -> Interval:
    """The interval that a text stands for.

    Args:
        text: `low:high` or `log:low:high`.
        where: What messages call it; the text itself unless given.

    Raises:
        UsageError: It stands for none.
    """
    parts, where = [part.strip() for part in text.split(":")], clipped(where or text)
    log = parts[0] == LOG
    example = "log:1:200" if log else "0:200"
    low, high = _numbers(where, parts[1:] if log else parts, 2, example)
    if not low < high:
        raise UsageError.of(where, "bounds in order", f"{plain_number(low)} to {plain_number(high)}", "swap them")
    if log and not low > 0:
        raise UsageError.of(where, "bounds above 0", plain_number(low), "write low:high without log:")
    return Interval(low, high, log)


def listed(where: str, values: Sequence[object]) -> Listed:
    """Values one by one: numbers, formulas of them, or words.

    Raises:
        UsageError: There are none, one is empty, or one is there twice.
    """
    found: list[Value] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found.append(_several(value, where))
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float, str)) or not str(value).strip():
            mend = "write values between commas, for example 20,40,80"
            raise UsageError.of(where, EXPECTED, "an empty one" if value == "" else clipped(repr(value)), mend)
        found.append(_value(value.strip() if isinstance(value, str) else float(value), where))
    if not found:
        raise UsageError.of(where, EXPECTED, "none", "write for example 20,40,80")
    lengths = {len(value) if isinstance(value, tuple) else 0 for value in found}
    if len(lengths) > 1:
        told = "lists and others" if 0 in lengths else f"lists of {' and '.join(map(str, sorted(lengths)))} numbers"
        raise UsageError.of(where, "lists of as many numbers each, or none", told, LISTS)
    twice = next((value for i, value in enumerate(found) if value in found[:i]), None) if len(found) < 1000 else None
    if twice is not None:
        raise UsageError.of(where, "values that differ", f"{text_of_value(twice)} twice", "leave one of them out")
    return Listed(tuple(found))


def _several(values: Sequence[object], where: str) -> tuple[float, ...]:
    """A list of numbers, which may be formulas."""
    known = [value for value in values if isinstance(value, (int, float, str)) and not isinstance(value, bool)]
    found = [_value(value.strip() if isinstance(value, str) else float(value), where) for value in known if value != ""]
    numbers = tuple(value for value in found if isinstance(value, float))
    if not numbers or len(numbers) < len(values):
        raise UsageError.of(where, "lists of numbers", clipped(str(list(values))), LISTS)
    return numbers


def _value(value: float | str, where: str) -> float | str:
    if isinstance(value, float) and not math.isnan(value):
        return value
    value = str(value)
    try:
        return constant_value(value, value)
    except FileFaults:
        if value[0].isdigit() or value[0] in "+-.(" or value.lower() in NO_NUMBERS:
            mend = "correct the number"
            raise UsageError.of(where, "numbers, formulas such as -pi/2, or words", clipped(value), mend) from None
        return value


def _numbers(where: str, parts: Sequence[str], count: int, example: str) -> list[float]:
    if len(parts) != count:
        raise UsageError.of(where, f"{count} numbers, as in {example}", str(len(parts)), f"write for example {example}")
    try:
        return [constant_value(part, part) for part in parts]
    except FileFaults as error:
        raise UsageError.of(where, "numbers", error.faults[0].found, f"write for example {example}") from None


def _drawn(where: str, parts: Sequence[str]) -> Drawn:
    kind = parts[0]
    a, b = _numbers(where, parts[1:], 2, f"{kind}:1:0.1" if kind == NORMAL else f"{kind}:1:2")
    if kind == NORMAL and not b > 0:
        found, mend = plain_number(b), "write mean and deviation, normal:1:0.1"
        raise UsageError.of(where, "a standard deviation above 0", found, mend)
    if kind == UNIFORM and not a < b:
        raise UsageError.of(where, "ends in order", f"{plain_number(a)} to {plain_number(b)}", "swap them")
    return Drawn(kind, a, b)


def _points(text: str, where: str, parts: Sequence[str]) -> Spaced:
    log = parts[0] == LOG
    example = "log:1:100:9" if log else "20:400:20"
    first, last, number = _numbers(where, parts[1:] if log else parts, 3, example)
    if number != int(number) or not 2 <= number <= MOST_POINTS:
        expected, mend = f"how many points, a whole number from 2 to {MOST_POINTS}", f"write for example {example}"
        raise UsageError.of(where, expected, plain_number(number), mend)
    if log and not (first > 0 and last > 0):
        found = f"{plain_number(first)} to {plain_number(last)}"
        raise UsageError.of(where, "ends above 0", found, "write first:last:count without log:")
    if first == last:
        raise UsageError.of(where, "two ends that differ", plain_number(first), "write the one value alone")
    return Spaced(SpacedNumbers(first, last, int(number), log), text.strip())
