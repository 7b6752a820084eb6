"""Frozen dataclasses that cost no start, and results as the plain data that JSON and YAML take of them.

The name of a field is its key, but for an underscore at its end. The metadata of a field may say more: `OMIT`, `PARTS`.
"""

from __future__ import annotations

from _thread import RLock
from collections.abc import Callable, Mapping
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, is_dataclass
from functools import cache, partial
from types import UnionType
from typing import Any, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

C = TypeVar("C", bound=type)
Json = dict[str, Any]  # what leaves as JSON or YAML: text, numbers, None, lists and such dicts by key

OMIT = {"omit": True}  # plain data goes without the field where it is None
PARTS = {"omit": True, "parts": True}  # likewise; the fields of what it holds stand among those of the whole


def optional(*, default: Any) -> Any:
    """A field that plain data goes without where it is None."""
    return field(default=default, metadata=OMIT)


@dataclass_transform(frozen_default=True, field_specifiers=(field, optional))
def record(cls: C | None = None, *, kw_only: bool = False, frozen: bool = True) -> Any:
    """A frozen dataclass, made in a hundredth of the time: its fields are found when they are first asked for.

    Likewise Python compiles its `__init__` when it is first called. A start of armsim defines two hundred of them, and makes
    instances of a few.

    Args:
        cls: The class.
        kw_only: Whether its fields are given by name alone.
        frozen: Whether its fields stay as they are; otherwise an instance has no hash.
    """
    if cls is None:
        return partial(record, kw_only=kw_only, frozen=frozen)
    assert not any(vars(base).get("__slots__") for base in cls.__mro__[1:-1])  # whose values would not be found
    made: Any = cls
    made.__dataclass_fields__ = _Fields(cls, kw_only, frozen)
    methods = dict(vars(_Frozen if frozen else _Record))
    fixed = frozen and made.__setattr__ is object.__setattr__  # not by its base already
    for name in ("__repr__", "__eq__", "__hash__", *(("__setattr__", "__delattr__") if fixed else ())):
        if name not in vars(cls):
            setattr(made, name, methods[name])

    def first(self: Any, *values: Any, **named: Any) -> None:
        made.__init__ = _initializer(made)
        made.__init__(self, *values, **named)

    made.__init__ = first
    made.__signature__ = _Signature()
    return made


@dataclass_transform(field_specifiers=(field, optional))
def mutable_record(cls: C) -> C:
    """A record whose fields may change; its instances have no hash."""
    made: C = record(cls, frozen=False)
    return made


@dataclass_transform(field_specifiers=(field, optional))
def light_record(cls: C) -> C:
    """A record with a hash of which thousands are made: nothing stands in the way of changing its fields, which nobody does."""
    made: Any = cls
    made.__hash__ = _Frozen.__hash__
    return mutable_record(made)


class _Fields:
    """The fields of a record until they are asked for, by the name under which dataclasses keep them."""

    lock = RLock()

    def __init__(self, cls: Any, kw_only: bool, frozen: bool) -> None:
        self.cls, self.kw_only, self.frozen = cls, kw_only, frozen

    def __get__(self, instance: object, owner: object) -> Any:
        cls = self.cls
        with self.lock:  # a second time, defaults would be taken for fields without metadata
            if vars(cls)["__dataclass_fields__"] is self:
                bases: list[Any] = [base for base in cls.__bases__ if is_dataclass(base)]
                # dataclasses want what is derived from a frozen one to be frozen
                of_frozen = any(base.__dataclass_params__.frozen for base in bases)
                dataclass(init=False, repr=False, eq=False, frozen=of_frozen, kw_only=self.kw_only)(cls)
                cls.__dataclass_params__.frozen = self.frozen
        return vars(cls)["__dataclass_fields__"]


def _initializer(cls: Any) -> Callable[..., None]:
    """`__init__` of a record."""
    known: dict[str, Any] = {"put": object.__setattr__, "absent": MISSING}
    given: list[str] = []
    named: list[str] = []
    body: list[str] = []
    free = cls.__setattr__ is object.__setattr__
    for of in fields(cls):
        value = of.name
        known |= {f"default_{of.name}": of.default, f"make_{of.name}": of.default_factory}
        if of.default_factory is not MISSING:
            value = f"make_{of.name}() if {of.name} is absent else {of.name}"
        elif not of.init:
            value = f"default_{of.name}"
        body.append(f"self.{of.name} = {value}" if free else f"put(self, {of.name!r}, {value})")
        default = "absent" if of.default_factory is not MISSING else f"default_{of.name}"
        optional = of.default is not MISSING or of.default_factory is not MISSING
        if of.init:
            (named if of.kw_only else given).append(f"{of.name}={default}" if optional else of.name)
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    arguments = ["self", *given, *(["*", *named] if named else [])]
    exec(f"def __init__({', '.join(arguments)}):\n " + "\n ".join(body or ["pass"]), known)
    known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    made: Callable[..., None] = known["__init__"]
    return made


class _Signature:
    """The signature of a record, found when it is asked for."""

    def __get__(self, record: Any, owner: Any) -> Any:
        from inspect import signature

        whole = signature(_initializer(owner))
        return whole.replace(parameters=list(whole.parameters.values())[1:])


class _Record:
    """The methods of records."""

    def __repr__(self) -> str:
        of_repr = [of.name for of in fields(self) if of.repr]  # type: ignore[arg-type]  # a record is a dataclass
        shown = (f"{name}={getattr(self, name)!r}" for name in of_repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # as Python has it of a class with `__eq__` alone


class _Frozen:
    """The methods of frozen records."""

    __repr__, __eq__ = _Record.__repr__, _Record.__eq__

    def __hash__(self) -> int:
        return hash(_compared(self))

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")


def _compared(record: Any) -> tuple[Any, ...]:
    names = _compared_names(type(record))  # type: ignore[arg-type]  # `__hash__` of a class is taken for its instances'
    return tuple(getattr(record, name) for name in names)


@cache
def _compared_names(cls: Any) -> tuple[str, ...]:
    return tuple(of.name for of in fields(cls) if of.compare)


class Mismatch(Exception):
    """Plain data of another kind.

    Attributes:
        keys: That lead to it.
        kind: That it should be of.
    """

    def __init__(self, keys: tuple[str, ...], kind: Any) -> None:
        super().__init__(keys, kind)
        self.keys, self.kind = keys, kind


def as_plain(value: Any) -> Any:
    """A value with its dataclasses as dicts, fields in their order, and its tuples and arrays as lists."""
    if isinstance(value, (list, tuple)):
        return [as_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: as_plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return as_plain(value.tolist())
    if isinstance(value, complex):
        return [value.real, value.imag]
    if not is_dataclass(value):
        return value
    data: Json = {}
    for of in fields(value):
        part = as_plain(getattr(value, of.name))
        if part is not None or "omit" not in of.metadata:
            data |= part if "parts" in of.metadata else {of.name.rstrip("_"): part}
    return data


def attributes(value: Any, *names: str) -> Json:
    """Attributes of a value as plain data."""
    return {name: as_plain(getattr(value, name)) for name in names}


def from_plain(kind: Any, data: Any, *keys: str) -> Any:
    """A result from its plain data, which may have further keys.

    Args:
        kind: A dataclass, or the type of a field of one.
        data: The plain data.
        keys: That lead to it.

    Raises:
        Mismatch: The data is of another kind.
    """
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        found = []
        for option in args:
            try:
                return from_plain(option, data, *keys)
            except Mismatch as mismatch:
                found.append(mismatch)
        raise max(found, key=lambda of: (len(of.keys), get_origin(of.kind) is not Literal))
    if is_dataclass(kind) and isinstance(data, Mapping):
        return kind(**_parts(kind, data, keys))  # type: ignore[operator]  # a class
    if origin in (list, tuple) and isinstance(data, list):
        return origin(from_plain(args[0], item, *keys, str(i)) for i, item in enumerate(data))
    if origin in (dict, Mapping) and isinstance(data, Mapping):
        return {key: from_plain(args[1], item, *keys, key) for key, item in data.items()}
    numbers = (float, int) if kind is float else kind
    if data not in args if origin else not isinstance(data, numbers) or (kind is int and data < 0):
        raise Mismatch(keys, kind)
    return data


def _parts(kind: Any, data: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, object]:
    hints, parts = get_type_hints(kind), {}
    for of in fields(kind):
        key, hint = of.name.rstrip("_"), hints[of.name]
        if "parts" in of.metadata:
            whole, *absent = get_args(hint) or [hint]
            if not absent or any(part.name in data for part in fields(whole)):
                parts[of.name] = from_plain(whole, data, *keys)
        elif key in data or of.default is MISSING:
            parts[of.name] = from_plain(hint, data.get(key), *keys, key)
    return parts
