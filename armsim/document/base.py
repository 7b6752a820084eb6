"""Documents: what a file says, as typed values. A format is a class; each of its keys is declared once, as an attribute.

A document is read from a node, so that all faults of a file are found at once, or made in Python, `Motor(Kp=0.05, Ra=1)`. Reading
goes on after a fault; an invalid value is None.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from keyword import iskeyword
from typing import Any, ClassVar, Self, TypeVar, overload

from armsim.document.kinds import REQUIRED, Format, Kind, V
from armsim.document.other_words import Words, meant
from armsim.document.rules import Entries, Relation, Rule
from armsim.files.faults import join, suggestion
from armsim.files.nodes import Map, Node, Place, Scalar, Seq, clipped, data_of
from armsim.files.source import beside
from armsim.formulas.quantity import Context, Quantity

Leaf = Callable[[Any, str], Any]
D = TypeVar("D", bound="Document")


class _Signature:
    """The signature of a document: its keys, as editors and notebooks complete them."""

    def __get__(self, document: Any, owner: type[Document]) -> Any:
        from inspect import Parameter, Signature

        names = [f"{key}_" if iskeyword(key) else key for key in owner.fields]
        return Signature([Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names])


class Document(Mapping[str, Any]):
    """A mapping with known keys: one attribute of the class for each; `from_` declares the key `from`. Instances are read-only.

    A number is a `Quantity` as a file has it, a scalar once the document is settled (`armsim.loading.settle`), and a number or
    text where the document is made in Python.

    Args:
        **values: Values by key: numbers, text (formulas and units included), lists, documents or plain data.

    Raises:
        TypeError: There is no such key; a `format` need not be given. What is wrong with values is said where they are used.

    Attributes:
        entries: The values by key; those made in Python lack what is left out.
        as_read: Those that were read.
        node: What it was read from; None if it was not in a file.
        tag: The key below which it stands as one of several kinds, such as `cylinder`; empty elsewhere.
        fields: The kind of each key.
        rules: Constraints between keys.
        relations: Constraints between their numbers, which subclasses report.
        exactly_one: Keys of which exactly one must have a value.
        other_words: For its keys, see `armsim.document.other_words`.
    """

    entries: Entries
    as_read: Entries
    node: Map | None
    tag = ""

    fields: ClassVar[dict[str, Kind[Any]]] = {}
    rules: ClassVar[tuple[Rule, ...]] = ()
    relations: ClassVar[tuple[Relation, ...]] = ()
    exactly_one: ClassVar[tuple[str, ...]] = ()
    other_words: ClassVar[Words] = {}
    __signature__ = _Signature()

    def __init_subclass__(cls) -> None:
        declared = (kind for base in reversed(cls.__mro__) for kind in vars(base).values())
        cls.fields = {kind.key: kind for kind in declared if isinstance(kind, Kind)}

    def __init__(self, **values: Any) -> None:
        formats = {key: kind.options[0] for key, kind in self.fields.items() if isinstance(kind, Format)}
        given = {key: value for key, value in self._by_key(values).items() if value is not None}
        vars(self).update(entries=formats | given, node=None)

    @classmethod
    def _by_key(cls, values: Mapping[str, Any]) -> Entries:
        found = {name[:-1] if iskeyword(name[:-1]) else name: _still(value) for name, value in values.items()}
        for key, value in found.items():
            if key not in cls.fields:
                raise TypeError(f"{cls.__name__} has no `{key}`; {cls.mend(key)}")
            kind = cls.fields[key]
            if isinstance(value, Document) and isinstance(kind, Subdocument) and not isinstance(value, kind.of):
                raise TypeError(f"{cls.__name__}.{key} takes a {kind.of.__name__}, not a {type(value).__name__}")
        return found

    def __getitem__(self, key: str) -> Any:
        return self.entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __setattr__(self, key: str, value: Any) -> None:
        raise AttributeError(f"a {type(self).__name__} is read-only: `replaced({key}=...)` gives another one")

    def __eq__(self, other: object) -> bool:
        same = type(self) is type(other) if isinstance(other, Document) else isinstance(other, Mapping)
        return same and written(self) == written(other)

    __hash__ = None  # type: ignore[assignment]  # as of all mappings

    def __repr__(self) -> str:
        given = self.entries if self.node is None else filter(self.given, self.entries)
        return f"{type(self).__name__}({', '.join(f'{key}={self.entries[key]!r}' for key in given)})"

    def replaced(self, **values: Any) -> Self:
        """A copy with other values.

        Raises:
            TypeError: There is no such key.
        """
        return self.having(entries=self.entries | self._by_key(values))

    def having(self, **attributes: Any) -> Self:
        """A copy with other attributes, such as all its entries."""
        copy = object.__new__(type(self))
        vars(copy).update(vars(self), **attributes)
        return copy

    @classmethod
    def made(cls, entries: Entries, node: Map | None) -> Self:
        """A document of what has been read."""
        document = object.__new__(cls)
        here = vars(document)
        here["entries"], here["as_read"], here["node"], here["tag"] = entries, entries, node, ""
        return document

    def mapped(self, leaf: Leaf, path: str = "") -> Self:
        """The document with other leaves: `leaf(value, path)` in place of every number, and of every key without a value."""
        path = join(path, self.tag) if self.tag else path
        dot = f"{path}." if path else ""
        return self.having(entries={key: mapped(value, leaf, dot + key) for key, value in self.entries.items()})

    def given(self, key: str) -> bool:
        """Whether a key has a value in the file."""
        return self.node is not None and self.node.get(key) is not None

    def is_default(self, key: str) -> bool:
        """Whether the value of a key is as if it were left out."""
        value = self.entries[key]
        if isinstance(value, Document):
            return all(map(value.is_default, value.entries))
        return bool((value.value if isinstance(value, Quantity) else value) == self.fields[key].default)

    def says(self, path: str) -> bool:
        """Whether a key, or one below it, has a value in the file other than 0."""
        key, _, below = path.partition(".")
        value = self.entries[key]
        if below:
            return isinstance(value, Document) and value.says(below)
        return self.given(key) and not (isinstance(value, Quantity) and value.value == 0.0)

    @property
    def portable(self) -> Self:
        """The document with absolute paths of the files that it names."""
        return self

    def tells(self, key: str) -> bool:
        """Whether a key has a value that is not as if it were left out."""
        value = self.entries.get(key)
        return value is not None and (self.given(key) or not _left_out(value, self.fields[key]))

    def untouched(self, key: str) -> bool:
        """Whether the value of a key is the one that was read."""
        return self.node is not None and self.entries.get(key) is self.as_read.get(key)

    def file_at(self, key: str) -> str | None:
        """The absolute path of the file that a key names, as it was read; None if it names none."""
        value = self.entries.get(key)
        if self.node is None or not self.fields[key].of_file or not isinstance(value, str) or not self.untouched(key):
            return None
        path = beside(os.path.dirname(self.place.source), value)
        return os.path.abspath(path) if os.path.isfile(path) else None

    def as_data(self) -> Entries:
        """What it tells, by key, a level deep; files by their absolute paths."""
        told = {key: self.file_at(key) or self.entries[key] for key in self.entries if self.tells(key)}
        return {self.tag: told} if self.tag else told

    @property
    def keys_in_file(self) -> list[str]:
        """The keys in the file, with values or without, declared or not."""
        return [] if self.node is None else list(self.node.entries)

    @property
    def place(self) -> Place:
        """Where it stands."""
        assert self.node is not None  # it has been read
        return self.node.place

    def place_of(self, key: str) -> Place:
        """Where a key stands."""
        assert self.node is not None
        return self.node.entries[key][0]

    def value_node(self, key: str) -> Node:
        """The node of a key's value."""
        assert self.node is not None
        return self.node.entries[key][1]

    @classmethod
    def expected(cls, context: Context) -> str:
        """What is valid, in words."""
        needed = [name for name, kind in cls.fields.items() if kind.default is REQUIRED]
        return f"a mapping with the keys {', '.join(needed or cls.fields)}"

    @classmethod
    def read(cls, node: Node, context: Context, kind: Kind[Any]) -> Self | None:
        """The document of a node; None, with faults in the report, if it is none. `kind` is that of its key."""
        if not isinstance(node, Map):
            return kind.fault(node, context)
        cls.refuse_unknown(node, context)
        document = cls.made({name: cls.read_field(name, node, context) for name in cls.fields}, node)
        document.check(context)
        return document

    @classmethod
    def refuse_unknown(cls, node: Map, context: Context) -> None:
        """Report the keys that are not declared."""
        for key, (place, _) in node.entries.items():
            if key not in cls.fields:
                mend = "" if context.report.full else cls.mend(key)
                if key.isdigit() and node.get(key) is None:
                    mend = f"write a point in a number, not a comma: 0.{key[:9]} for 0,{key[:9]}"
                if ":" in key:
                    mend = "write a space after the colon"
                expected = f"one of the keys {', '.join(cls.fields)}"
                context.below(clipped(key)).add(place, expected, f"the unknown key `{clipped(key)}`", mend)

    @classmethod
    def mend(cls, key: str) -> str:
        """How to mend an unknown key."""
        same = next((name for name in cls.fields if name.lower() == key.lower()), None)
        other = meant(key, cls.other_words, cls.fields) if same is None else None
        return other or suggestion(key, cls.fields, "keys here are")

    @classmethod
    def read_field(cls, name: str, node: Map, context: Context) -> Any:
        """The value of one key."""
        kind = cls.fields[name]
        value = node.get(name)
        if value is not None:
            return kind.read(value, context.below(name))
        if kind.given_by and node.get(kind.given_by) is not None:
            return None
        if kind.default is not REQUIRED:
            return kind.filled(node.place)
        if name not in node.entries:
            return kind.missing(node.place, context.below(name))
        return kind.missing(node.entries[name][1].place, context.below(name), "nothing: the key has no value")

    def check(self, context: Context) -> None:
        """Report violated constraints between keys: the rules, and what subclasses add."""
        if not self.rules:
            return
        told: set[str] = set()
        for rule in self.rules:
            if rule.applies(self):
                items = self.entries[rule.each] or () if rule.each else ()
                for i, item in enumerate(items):
                    if item is not None:
                        item.obey(rule, context.below(f"{rule.each}[{i}]"), set())
                if not rule.each:
                    self.obey(rule, context, told)

    def check_one(self, context: Context, expected: str, mend: str) -> None:
        """Report that none of the keys of `exactly_one` is given, which `mend` mends, or several are."""
        given = [key for key in self.exactly_one if self.given(key)]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            context.add(self.place, expected, found, "keep one of them" if given else mend)

    def obey(self, rule: Rule, context: Context, told: set[str]) -> None:
        """Report what violates a rule that applies, but for keys that have been told of, which it adds to."""
        lacking = [key for key in rule.needs if not self.given(key) and key not in told]
        useless = [key for key in rule.without if self.given(key) and key not in told]
        useless += [key for key in rule.default if not self.is_default(key)]
        useless += [key for key in rule.single if isinstance(self.entries[key], Document)]
        for key in lacking:
            self.lacks(key, context)
        for key in useless:
            self.refuse(key, rule, context)
        told.update(lacking, useless)

    def lacks(self, key: str, context: Context) -> None:
        """Report an absent key that a rule requires."""
        self.fields[key].missing(self.place, context.below(key))

    def refuse(self, key: str, rule: Rule, context: Context) -> None:
        """Report a key that a rule forbids."""
        context.below(key).add(self.place_of(key), *self.unwanted(key, rule))

    def unwanted(self, key: str, rule: Rule) -> tuple[str, str, str]:
        """Expected, found and mend of the fault of a key that a rule forbids."""
        (other,) = rule.given
        return f"`{other}` without `{key}`", "both", f"leave `{key}` out, or `{other}`"


def mapped(value: Any, leaf: Leaf, path: str = "") -> Any:
    """Values of a document with other leaves, see `Document.mapped`."""
    if value is None or isinstance(value, Quantity):
        return leaf(value, path)
    if isinstance(value, (str, bool)):  # to ask whether they are documents takes longer
        return value
    if isinstance(value, tuple):
        return tuple([mapped(item, leaf, f"{path}[{i}]") for i, item in enumerate(value)])
    if isinstance(value, Document):
        return value.mapped(leaf, path)
    if isinstance(value, dict):
        return {name: mapped(item, leaf, join(path, name)) for name, item in value.items()}
    return value


def walk(value: Any, path: str = "", kind: Kind[Any] | None = None) -> Iterator[tuple[str, Any, Kind[Any] | None]]:
    """All that a document holds, itself first: path, value, and what it was declared as; parameters before all that uses them."""
    path = join(path, value.tag) if isinstance(value, Document) and value.tag else path
    yield path, value, kind
    if isinstance(value, Document):
        for key in sorted(value.entries, key=lambda key: key != "parameters"):
            yield from walk(value.entries[key], join(path, key), value.fields[key])
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from walk(item, join(path, name))
    elif isinstance(value, tuple):
        for i, item in enumerate(value):
            yield from walk(item, f"{path}[{i}]", getattr(kind, "item", None))


def numbers(document: Document, path: str = "") -> Iterator[tuple[str, Quantity]]:
    """The numbers of a document that has been read, by path."""
    return ((path, value) for path, value, _ in walk(document, path) if isinstance(value, Quantity))


def below(value: Any) -> Any:
    """What stands below a value, as paths have it: values by key for a document, else the value itself."""
    if not isinstance(value, Document):
        return value
    return {value.tag: value.having(tag="")} if value.tag else value.entries


def plain(value: Any) -> Any:
    """Values as plain data, a number as its value, a formula with variables as text, without keys that have none."""
    if isinstance(value, Quantity):
        return value.text if value.varies else value.value
    if isinstance(value, (Map, Seq, Scalar)):
        return data_of(value)
    value = below(value.portable) if isinstance(value, Document) else value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items() if item is not None}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def written(value: Any) -> Any:
    """What a value tells, as plain data: formulas, and numbers with a unit, as text; without what is left out."""
    if isinstance(value, (Map, Seq, Scalar)):
        return data_of(value)
    if hasattr(value, "as_data"):
        value = value.as_data()
    if isinstance(value, Mapping):
        return {key: written(item) for key, item in value.items()}
    return [written(item) for item in value] if isinstance(value, (list, tuple)) else value


def _still(value: Any) -> Any:
    """A value that nobody changes any more: lists and arrays as tuples, dicts as copies."""
    value = value.tolist() if hasattr(value, "tolist") else value  # of numpy
    if isinstance(value, list):
        return tuple(map(_still, value))
    return {key: _still(item) for key, item in value.items()} if type(value) is dict else value


def _left_out(value: Any, kind: Kind[Any]) -> bool:
    """Whether a value is as if its key were left out."""
    if isinstance(value, Quantity):
        return not value.given
    if isinstance(value, Document):
        return kind.default == {} and not any(map(value.tells, value.entries))
    item = getattr(kind, "item", None)
    if isinstance(value, tuple) and value and item is not None:
        return all(_left_out(each, item) for each in value)
    return bool(value == kind.default)


class Subdocument(Kind[V]):
    """A document below a key.

    Attributes:
        of: Its class.
    """

    of: type[Document]

    @overload
    def __init__(self: Subdocument[D], of: type[D], *, default: Entries, **common: Any) -> None: ...

    @overload
    def __init__(
        self: Subdocument[D | None], of: type[D], *, default: None = ..., note: str, **common: Any
    ) -> None: ...

    @overload
    def __init__(self: Subdocument[D | None], of: type[D], *, default: None, **common: Any) -> None: ...

    @overload
    def __init__(self: Subdocument[D], of: type[D], **common: Any) -> None: ...

    def __init__(self, of: Any, **common: Any) -> None:
        super().__init__(**common)
        self.of = of

    def below(self, step: str | int) -> Kind[Any] | None:
        return self.of.fields.get(str(step))

    def expected(self, context: Context) -> str:
        return self.of.expected(context)

    def read(self, node: Node, context: Context) -> Any:
        return self.of.read(node, context, self)

    def filled(self, place: Place) -> Any:
        if self.default is None:
            return None
        return self.of.made({name: kind.filled(place) for name, kind in self.of.fields.items()}, None)
