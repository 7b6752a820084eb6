"""Composite kinds: file formats are declared as classes, which give checks, defaults, units and JSON Schema.

A format is a `Record` with one attribute per key (`armsim.spec.robot`, `armsim.spec.scenario`). A kind reads a node into plain
data (dicts, lists, str, bool, None and `Quantity`) and goes on after a fault, so that all faults of a file are found at once.
Invalid or absent values are None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from armsim.files.document import Map, Node, Place, Seq, clipped
from armsim.files.faults import suggestion
from armsim.formulas.quantity import Context, Quantity, plain_number
from armsim.model import JOINT_TYPES
from armsim.spec.kinds import REQUIRED, Choice, Kind, Number, Text, join
from armsim.spec.other_words import Words, meant

__all__ = [
    "Choice",
    "Kind",
    "List",
    "Number",
    "OneOf",
    "Parameters",
    "PerJoint",
    "Record",
    "Relation",
    "Rule",
    "Text",
    "join",
]


class List(Kind):
    """A list of items of one kind.

    Attributes:
        item: What each of them is.
        length: How many there must be; None for any number.
        least: How many there must be at least.
        most: How many there may be at most; None for any number.
    """

    def __init__(
        self, item: Kind, *, length: int | None = None, least: int = 0, most: int | None = None, **common: Any
    ) -> None:
        super().__init__(**common)
        self.item = item
        self.length = length
        self.least = least
        self.most = most

    def expected(self, context: Context) -> str:
        if self.length is not None:
            what = self.item.expected(context).removeprefix("a ").replace("number", "numbers", 1)
            return f"a list of {self.length} {what}"
        least = "a list with at least one item" if self.least else "a list"
        return least if self.most is None else f"{least}, {self.most} at most"

    def read(self, node: Node, path: str, context: Context) -> list[Any] | None:
        if not isinstance(node, Seq):
            return self.fault(node, path, context)
        if self.length is not None and len(node.items) > self.length and isinstance(self.item, Number):
            mend = f"give {self.length} of them, with a point in numbers, as in 0.3: a comma begins the next one"
            return self.fault(node, path, context, mend)
        if (self.length is not None and len(node.items) != self.length) or len(node.items) < self.least:
            return self.fault(node, path, context)
        if self.most is not None and len(node.items) > self.most:
            return self.fault(node, path, context, "check that it is the right file")
        return [self.item.read(item, f"{path}[{i}]", context) for i, item in enumerate(node.items)]

    def filled(self, place: Place) -> Any:
        if self.default is None:
            return None
        return [Quantity(value, plain_number(value), place, given=False, kind=self.item) for value in self.default]


class Parameters(Kind):
    """The file's parameters, which are read before all other keys (`armsim.spec.parameters`), as formulas use them."""

    def expected(self, context: Context) -> str:
        return "a mapping of names to numbers"

    def read(self, node: Node, path: str, context: Context) -> dict[str, Quantity]:
        return dict(context.parameters)

    def filled(self, place: Place) -> dict[str, Quantity]:
        return {}


@dataclass(frozen=True)
class Rule:
    """A constraint between keys of a record.

    Attributes:
        key: The key whose value decides whether the rule applies; empty if none does.
        values: Values of `key` with which it applies.
        given: Keys that must have a value for it to apply.
        needs: Keys that it requires.
        without: Keys that it forbids.
    """

    key: str = ""
    values: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    def applies(self, data: dict[str, Any], node: Map) -> bool:
        """Whether it applies to a record that has been read."""
        right = not self.key or data[self.key] in self.values
        return right and all(node.get(key) is not None for key in self.given)


@dataclass(frozen=True)
class Relation:
    """A constraint between the numbers of a record.

    Attributes:
        keys: The numbers, by path below the record; it applies where all of them have values.
        conditions: Makes of the numbers, floats, arrays or expressions, conditions that all must hold.
        expected: What is valid, in words.
        at: The key at which a fault is reported; empty for the record.
    """

    keys: tuple[str, ...]
    conditions: Callable[..., Sequence[Any]]
    expected: str
    at: str = ""

    def numbers(self, data: dict[str, Any]) -> list[Quantity]:
        """The numbers in a record that has been read; none where one of them has no value."""
        found: list[Any] = [data] * len(self.keys)
        for i, key in enumerate(self.keys):
            for step in key.split("."):
                found[i] = None if found[i] is None else found[i][step]
        return [] if None in found else found

    def holds(self, data: dict[str, Any]) -> bool:
        """Whether it holds in a record that has been read, or does not apply."""
        numbers = self.numbers(data)
        return not numbers or all(self.conditions(*(number.value for number in numbers)))


class Record(Kind):
    """A mapping with known keys: one attribute of the class for each; `from_` declares the key `from`.

    Attributes:
        fields: The kind of each key.
        rules: Constraints between keys.
        relations: Constraints between their numbers, which subclasses report.
        exactly_one: Keys of which exactly one must have a value.
        other_words: For its keys, see `armsim.spec.other_words`.
    """

    fields: ClassVar[dict[str, Kind]] = {}
    rules: ClassVar[tuple[Rule, ...]] = ()
    relations: ClassVar[tuple[Relation, ...]] = ()
    exactly_one: ClassVar[tuple[str, ...]] = ()
    other_words: ClassVar[Words] = {}

    def __init_subclass__(cls) -> None:
        own = {name.rstrip("_"): kind for name, kind in vars(cls).items() if isinstance(kind, Kind)}
        cls.fields = {**cls.fields, **own}

    def expected(self, context: Context) -> str:
        needed = [name for name, kind in self.fields.items() if kind.default is REQUIRED]
        return f"a mapping with the keys {', '.join(needed or self.fields)}"

    def read(self, node: Node, path: str, context: Context) -> dict[str, Any] | None:
        if not isinstance(node, Map):
            return self.fault(node, path, context)
        self.refuse_unknown(node, path, context)
        data = {name: self.read_field(name, node, path, context) for name in self.fields}
        self.check(data, node, path, context)
        return data

    def refuse_unknown(self, node: Map, path: str, context: Context) -> None:
        """Report the keys that are not declared."""
        for key, (place, _) in node.entries.items():
            if key not in self.fields:
                mend = "" if context.report.full else self._meant(key)
                if key.isdigit() and node.get(key) is None:
                    mend = f"write a point in a number, not a comma: 0.{key[:9]} for 0,{key[:9]}"
                if ":" in key:
                    mend = "write a space after the colon"
                expected = self.known_keys()
                context.report.add(place, join(path, clipped(key)), expected, f"the unknown key `{clipped(key)}`", mend)

    def _meant(self, key: str) -> str:
        """How to mend an unknown key."""
        same = next((name for name in self.fields if name.lower() == key.lower()), None)
        other = meant(key, self.other_words, self.fields) if same is None else None
        return other or suggestion(key, self.fields, "keys here are")

    def known_keys(self) -> str:
        """What is valid for a key, in words."""
        return f"one of the keys {', '.join(self.fields)}"

    def read_field(self, name: str, node: Map, path: str, context: Context) -> Any:
        """The data of one key."""
        kind = self.fields[name]
        value = node.get(name)
        if value is not None:
            return kind.read(value, join(path, name), context)
        if name in node.entries and kind.default is REQUIRED:
            place = node.entries[name][1].place
            return kind.missing(place, join(path, name), context, "nothing: the key has no value")
        return kind.absent(node.place, join(path, name), context)

    def check(self, data: dict[str, Any], node: Map, path: str, context: Context) -> None:
        """Report violated constraints between keys: the rules, and what subclasses add."""
        for rule in self.rules:
            if rule.applies(data, node):
                for key in rule.needs:
                    if node.get(key) is None:
                        self.lacks(key, data, node, path, context)
                for key in rule.without:
                    if node.get(key) is not None:
                        context.report.add(node.entries[key][0], join(path, key), *self.unwanted(key, data))

    def lacks(self, key: str, data: dict[str, Any], node: Map, path: str, context: Context) -> None:
        """Report an absent key that a rule requires."""
        self.fields[key].missing(node.place, join(path, key), context)

    def unwanted(self, key: str, data: dict[str, Any]) -> tuple[str, str, str]:
        """Expected, found and mend of the fault of a key that a rule forbids."""
        raise TypeError(f"{type(self).__name__} does not say why it has no {key}")

    def filled(self, place: Place) -> Any:
        if self.default is None:
            return None
        return {name: kind.filled(place) for name, kind in self.fields.items()}


class OneOf(Kind):
    """A tagged union: a mapping with a single key, which names the record below it."""

    def __init__(self, variants: dict[str, Record], other_words: Words | None = None, **common: Any) -> None:
        super().__init__(**common)
        self.variants = variants
        self.other_words = other_words or {}

    def expected(self, context: Context) -> str:
        return f"a mapping with one key out of {', '.join(self.variants)}"

    def read(self, node: Node, path: str, context: Context) -> dict[str, Any] | None:
        if not isinstance(node, Map) or not node.entries:
            return self.fault(node, path, context, f"write for example `{self.example}`")
        unknown = [key for key in node.entries if key not in self.variants]
        for key in unknown:
            known = None if context.report.full else meant(key, self.other_words, self.variants)
            mend = "" if context.report.full else known or suggestion(key, self.variants, "choose one of")
            found = f"the unknown key `{clipped(key)}`"
            context.report.add(node.entries[key][0], join(path, clipped(key)), self.expected(context), found, mend)
        if unknown:
            return None
        if len(node.entries) > 1:
            return self.fault(node, path, context, "start a new list item, with its own dash, for each")
        ((key, (_, value)),) = node.entries.items()
        return {key: self.variants[key].read(value, join(path, key), context)}


class PerJoint(Kind):
    """A list with one item per joint, or one item for all of them.

    Attributes:
        item: What each is.
        one_for_all: Whether a single item is taken.
    """

    def __init__(self, item: Kind, *, one_for_all: bool = False, **common: Any) -> None:
        super().__init__(**common)
        self.item = item
        self.one_for_all = one_for_all

    def expected(self, context: Context) -> str:
        if context.joints is None:
            return "a list with one number per joint"
        n = len(context.joints)
        names = ", ".join(name for name, _ in context.joints)
        return f"{n} number{'s' if n > 1 else ''} (one per joint: {clipped(names, 200)})"

    def read(self, node: Node, path: str, context: Context) -> list[Any] | None:
        if isinstance(node, Seq):
            n = len(node.items)
            if context.joints is not None and n != len(context.joints):
                more = "give one number for each joint"
                return self.fault(node, path, context, more, f"{n} number{'s' if n != 1 else ''}")
            return [self._read_item(node.items[i], f"{path}[{i}]", context, i) for i in range(n)]
        if not self.one_for_all:
            return self.fault(node, path, context, "write a list in square brackets, with commas")
        one = self._read_item(node, path, context)
        return [one] * (1 if context.joints is None else len(context.joints))

    def _read_item(self, node: Node, path: str, context: Context, i: int | None = None) -> Any:
        """An item, of one joint or of all; its unit is that of joints of their types."""
        types = [JOINT_TYPES[type].turns for _, type in context.joints or ()]
        context.turns = tuple(types if i is None else types[i : i + 1])
        item = self.item.read(node, path, context)
        context.turns = ()
        return item
