"""Trees of scalars: what functions over structured data take and return, as JAX's pytrees.

A tree is a dataclass, a list, a tuple (named or not) or a dict, whose parts are trees; whatever else it holds is a leaf, a scalar
of any kind. None, booleans, strings, and dataclass fields declared with `STATIC` are no leaves but part of the structure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from typing import Any, NamedTuple

from armsim.expr.scalar import where

STATIC: dict[str, bool] = {"static": True}  # metadata of a dataclass field that belongs to the structure
LEAF = None


class Structure(NamedTuple):
    """A tree without its leaves, as JAX's treedef.

    Attributes:
        kind: The container's type; None for a static value.
        parts: Its children, in order: structures, or None for a leaf.
        names: Of a dataclass the fields that are children, of a dict its keys.
        static: Of a dataclass its static fields, pairs (field, value); or the static value itself.
    """

    kind: type | None
    parts: tuple[Structure | None, ...] = ()
    names: tuple[Any, ...] = ()
    static: Any = ()


def flatten(tree: Any) -> tuple[list[Any], Structure | None]:
    """The leaves of a tree, in order, and its structure."""
    leaves: list[Any] = []
    return leaves, _collect(tree, leaves)


def leaves(tree: Any) -> list[Any]:
    """The leaves of a tree, in order."""
    return flatten(tree)[0]


def unflatten(structure: Structure | None, leaves: Sequence[Any]) -> Any:
    """The tree of that structure with other leaves."""
    given = iter(leaves)
    try:
        tree = _build(structure, given)
    except StopIteration:
        raise ValueError("fewer leaves than the structure has places for") from None
    for _ in given:
        raise ValueError("more leaves than the structure has places for")
    return tree


def chosen(condition: Any, a: Any, b: Any) -> Any:
    """`where` of trees of one structure: a where a condition holds, else b."""
    return mapped(partial(where, condition), a, b)


def zeros(tree: Any) -> Any:
    """A tree of that structure whose leaves are 0."""
    return mapped(lambda x: 0.0, tree)


def mapped(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """A function applied leaf by leaf to trees of one structure, as JAX's tree.map.

    Args:
        function: Takes one argument per tree.
        tree: Its structure is the result's.
        others: Trees of that structure, which may have subtrees in place of leaves.

    Raises:
        ValueError: The others differ in structure.
    """
    apart = _taken_apart(tree)
    if apart is LEAF:
        return function(tree, *others)
    kind, names, static, parts = apart
    columns = [parts]
    for other in others:
        like = _taken_apart(other)
        if like is LEAF or like[:3] != apart[:3] or len(like[3]) != len(parts):
            raise ValueError(f"a tree of another structure: {other!r} for {flatten(tree)[1]}")
        columns.append(like[3])
    each = [function(*x) if type(x[0]) in _leaf_kinds else mapped(function, *x) for x in zip(*columns)]
    return _put_together(kind, names, static, each)


def _collect(tree: Any, leaves: list[Any]) -> Structure | None:
    apart = _taken_apart(tree)
    if apart is LEAF:
        leaves.append(tree)
        return LEAF
    kind, names, static, parts = apart
    shapes: list[Structure | None] = []
    for part in parts:
        if type(part) in _leaf_kinds:
            leaves.append(part)
            shapes.append(LEAF)
        else:
            shapes.append(_collect(part, leaves))
    return Structure(kind, tuple(shapes), names, static)


def _taken_apart(tree: Any) -> tuple[type | None, tuple[Any, ...], Any, Sequence[Any]] | None:
    """Of a tree its `Structure.kind`, `names` and `static`, and its children; of a leaf `LEAF`."""
    kind = type(tree)
    if kind in _leaf_kinds:
        return LEAF
    if kind is list or isinstance(tree, tuple):
        return kind, (), (), tree
    plain = _plain_kinds.get(kind)
    if plain is not None:
        return kind, plain, (), [getattr(tree, name) for name in plain]
    if tree is None or kind is bool or kind is str:
        return None, (), tree, ()
    if kind is dict:
        return dict, tuple(tree), (), tuple(tree.values())
    if is_dataclass(kind):
        names, static = _fields(kind)
        if len(names) == len(fields(kind)) and not any(field.kw_only for field in fields(kind)):
            _plain_kinds[kind] = names
        fixed = tuple([(name, getattr(tree, name)) for name in static])
        return kind, names, fixed, [getattr(tree, name) for name in names]
    _leaf_kinds.add(kind)
    return LEAF


_leaf_kinds: set[type] = {float}  # that have been met
_plain_kinds: dict[type, tuple[str, ...]] = {}  # the children of dataclasses that take nothing else


def _build(structure: Structure | None, leaves: Any) -> Any:
    if structure is LEAF:
        return next(leaves)
    parts = [next(leaves) if part is LEAF else _build(part, leaves) for part in structure.parts]
    return _put_together(structure.kind, structure.names, structure.static, parts)


def _put_together(kind: type | None, names: tuple[Any, ...], static: Any, parts: list[Any]) -> Any:
    """The tree of which `_taken_apart` tells this."""
    if kind is list:
        return parts
    if kind in _plain_kinds:
        return kind(*parts)
    if kind is None:
        return static
    if kind is dict:
        return dict(zip(names, parts, strict=True))
    if is_dataclass(kind):
        return kind(**dict(zip(names, parts, strict=True)), **dict(static))
    return kind(*parts) if hasattr(kind, "_fields") else tuple(parts)


@cache
def _fields(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of a dataclass's children and of its static fields."""
    every = [field for field in fields(kind) if field.init]
    static = [field.name for field in every if field.metadata.get("static")]
    return tuple(field.name for field in every if field.name not in static), tuple(static)
