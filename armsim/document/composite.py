"""Composite kinds: lists, one item per joint, one of several documents, parameters. Lists are read as tuples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from armsim.document.base import Document, Subdocument
from armsim.document.kinds import Choice, Kind, Number, Text, V
from armsim.document.other_words import Words, meant
from armsim.document.rules import Entries, Relation, Rule
from armsim.files.faults import suggestion
from armsim.files.nodes import Map, Node, Place, Scalar, Seq, clipped
from armsim.formulas.quantity import Context, Quantity, plain_number
from armsim.model import JOINT_TYPES

__all__ = [
    "ByName",
    "Choice",
    "Document",
    "LawGains",
    "Kind",
    "List",
    "Number",
    "OneOf",
    "Parameters",
    "PerJoint",
    "Relation",
    "Rule",
    "Subdocument",
    "Text",
    "check_names",
]


class List(Kind[tuple[V, ...]]):
    """A list of items of one kind.

    Attributes:
        item: What each of them is.
        length: How many there must be; None for any number.
        least: How many there must be at least.
        most: How many there may be at most; None for any number.
        single: Whether one item is taken for a list: for each of `length`, or for the only one.
    """

    def __init__(
        self,
        item: Kind[V],
        *,
        length: int | None = None,
        least: int = 0,
        most: int | None = None,
        single: bool = False,
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.single = single
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

    def read(self, node: Node, context: Context) -> tuple[Any, ...] | None:
        if self.single and not isinstance(node, Seq):
            one = self.item.read(node, context)
            return None if one is None else (one,) * (self.length or 1)
        if not isinstance(node, Seq):
            return self.fault(node, context)
        if self.length is not None and len(node.items) > self.length and isinstance(self.item, Number):
            mend = f"give {self.length} of them, with a point in numbers, as in 0.3: a comma begins the next one"
            return self.fault(node, context, mend)
        if (self.length is not None and len(node.items) != self.length) or len(node.items) < self.least:
            return self.fault(node, context)
        if self.most is not None and len(node.items) > self.most:
            return self.fault(node, context, "check that it is the right file")
        return tuple([self.item.read(item, context.item(i)) for i, item in enumerate(node.items)])

    def filled(self, place: Place) -> Any:
        if self.default is None:
            return None
        return tuple(Quantity(value, plain_number(value), place, given=False, kind=self.item) for value in self.default)


class Parameters(Kind[Entries]):
    """The file's parameters, which are read before all other keys (`armsim.document.parameters`), as formulas use them."""

    def expected(self, context: Context) -> str:
        return "a mapping of names to numbers"

    def read(self, node: Node, context: Context) -> dict[str, Quantity]:
        return dict(context.parameters)

    def filled(self, place: Place) -> dict[str, Quantity]:
        return {}


class ByName(Kind[dict[str, V]]):
    """A mapping of names to values of one kind.

    Attributes:
        item: What each of them is.
    """

    def __init__(self, item: Kind[V], **common: Any) -> None:
        super().__init__(**common)
        self.item = item

    def expected(self, context: Context) -> str:
        return f"a mapping of names, each to {self.item.expected(context)}"

    def read(self, node: Node, context: Context) -> dict[str, V | None] | None:
        if not isinstance(node, Map):
            return self.fault(node, context)
        found = {}
        for name, (place, value) in node.entries.items():
            if Text(name=True).read(Scalar(name, name, place), context) is not None:
                found[name] = self.item.read(value, context.below(name))
        return found

    def filled(self, place: Place) -> dict[str, V]:
        return {}


class OneOf(Kind[Any]):
    """A tagged union: a mapping with a single key, which names the document below it. It is read as that document."""

    def __init__(self, variants: dict[str, Subdocument[Any]], other_words: Words | None = None, **common: Any) -> None:
        super().__init__(**common)
        self.variants = variants
        self.other_words = other_words or {}

    def below(self, step: str | int) -> Kind[Any] | None:
        return self.variants.get(str(step))

    def expected(self, context: Context) -> str:
        return f"a mapping with one key out of {', '.join(self.variants)}"

    def read(self, node: Node, context: Context) -> Any:
        if not isinstance(node, Map) or not node.entries:
            return self.fault(node, context, f"write for example `{self.example}`")
        unknown = [key for key in node.entries if key not in self.variants]
        for key in unknown:
            known = None if context.report.full else meant(key, self.other_words, self.variants)
            mend = "" if context.report.full else known or suggestion(key, self.variants, "choose one of")
            found = f"the unknown key `{clipped(key)}`"
            context.below(clipped(key)).add(node.entries[key][0], self.expected(context), found, mend)
        if unknown:
            return None
        if len(node.entries) > 1:
            return self.fault(node, context, "start a new list item, with its own dash, for each")
        ((key, (_, value)),) = node.entries.items()
        found = self.variants[key].read(value, context.below(key))
        return None if found is None else found.having(tag=key)


def check_names(items: Sequence[Any], context: Context, what: str) -> None:
    """Report items of a list that have the name of one before them."""
    names: dict[str, Place] = {}
    for i, item in enumerate(items):
        if item is None or item.name is None:
            continue
        place = item.value_node("name").place
        if item.name in names:
            first = names[item.name]
            where_first = f"on line {first.line}" if first.line else "above it"
            expected = f"a name of its own for each {what} (the first `{item.name}` is {where_first})"
            context.item(i).below("name").add(place, expected, f"a second `{item.name}`", "rename one of them")
        else:
            names[item.name] = place


class PerJoint(Kind[tuple[V, ...]]):
    """A list with one item per joint, or one item for all of them.

    Attributes:
        item: What each is.
        one_for_all: Whether a single item is taken.
    """

    what = "joint"

    def __init__(self, item: Kind[V], *, one_for_all: bool = False, **common: Any) -> None:
        super().__init__(**common)
        self.item = item
        self.one_for_all = one_for_all

    def expected(self, context: Context) -> str:
        if context.joints is None:
            return f"a list with one number per {self.what}"
        n = len(context.joints)
        names = ", ".join(name for name, _ in context.joints)
        return f"{n} number{'s' if n > 1 else ''} (one per {self.what}: {clipped(names, 200)})"

    def read(self, node: Node, context: Context) -> tuple[Any, ...] | None:
        if isinstance(node, Seq):
            n = len(node.items)
            if context.joints is not None and n != len(context.joints):
                more = f"give one number for each {self.what}"
                return self.fault(node, context, more, f"{n} number{'s' if n != 1 else ''}")
            return tuple([self._read_item(node.items[i], context.item(i), i) for i in range(n)])
        if not self.one_for_all:
            return self.fault(node, context, "write a list in square brackets, with commas")
        one = self._read_item(node, context)
        return (one,) * (1 if context.joints is None else len(context.joints))

    def _read_item(self, node: Node, context: Context, i: int | None = None) -> Any:
        """An item, of one joint or of all; its unit is that of joints of their types."""
        types = [JOINT_TYPES[type].turns for _, type in context.joints or ()]
        context.turns = tuple(types if i is None else types[i : i + 1])
        return self.item.read(node, context)


class PerAxis(PerJoint):
    """A list with one item per axis of a tool, or one item for all of them."""

    what = "axis"


class LawGains(PerJoint):
    """Gains of a control law: one per joint, or in the space of a tool one per axis.

    Attributes:
        of_tool: What they are there.
    """

    def __init__(self, item: Kind[V], of_tool: Kind[V], **common: Any) -> None:
        super().__init__(item, one_for_all=True, **common)
        self.of_tool = PerAxis(of_tool, one_for_all=True, example=self.example)

    def read(self, node: Node, context: Context) -> tuple[Any, ...] | None:
        if context.task:
            return self.of_tool.read(node, replace(context, joints=context.task))
        return super().read(node, context)
