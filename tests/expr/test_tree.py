"""Trees of scalars: taken apart, put together, and gone through side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from armsim.expr import trace
from armsim.expr.tree import STATIC, flatten, leaves, mapped, unflatten


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Box:
    name: str = field(metadata=STATIC)
    inside: Any
    count: int = field(default=0, metadata=STATIC)


TREES = {
    "leaf": (3.0, [3.0]),
    "list": ([1.0, [2.0, 3.0], []], [1.0, 2.0, 3.0]),
    "tuples": ((1.0, Pair(2.0, (3.0,))), [1.0, 2.0, 3.0]),
    "dict": ({"b": 1.0, "a": [2.0]}, [1.0, 2.0]),
    "dataclass": (Box("x", [1.0, None], 7), [1.0]),
    "nothing": (None, []),
    "switches": ([True, "text", 1.0], [1.0]),
}


@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_its_leaves_in_their_order_and_its_structure(name):
    tree, expected = TREES[name]
    found, structure = flatten(tree)
    assert found == leaves(tree) == expected
    again = unflatten(structure, found)
    assert again == tree
    assert type(again) is type(tree)
    assert flatten(again)[1] == structure


def test_trees_with_other_static_parts_have_another_structure():
    structures = [flatten(tree)[1] for tree in (Box("x", 1.0), Box("y", 1.0), Box("x", 1.0, 2), Box("x", [1.0]), [1.0])]
    assert all(a != b for i, a in enumerate(structures) for b in structures[:i])
    assert flatten(Box("x", 2.0))[1] == structures[0]


@pytest.mark.parametrize(("count", "message"), [(1, "fewer leaves than"), (3, "more leaves than")])
def test_a_structure_takes_as_many_leaves_as_it_has_places(count, message):
    structure = flatten(Pair(1.0, [2.0]))[1]
    with pytest.raises(ValueError, match=message):
        unflatten(structure, [0.0] * count)


def test_leaves_meet_what_stands_at_their_place_be_it_a_tree():
    assert mapped(lambda a, b: (a, b), Box("x", [1.0, 2.0]), Box("x", [3.0, [4.0, 5.0]])) == Box(
        "x", [(1.0, 3.0), (2.0, [4.0, 5.0])]
    )


@pytest.mark.parametrize("other", [[1.0], [1.0, 2.0, 3.0], (1.0, 2.0), 1.0, None], ids=str)
def test_trees_of_different_structure_are_not_gone_through_side_by_side(other):
    with pytest.raises(ValueError, match="a tree of another structure"):
        mapped(lambda a, b: a + b, [1.0, 2.0], other)


def test_expressions_are_leaves():
    made = []
    trace(lambda x, y: made.append(leaves(Box("x", [x, (y, 1.0)]))) or [x], ["x", "y"])
    (found,) = made
    assert [getattr(leaf, "op", leaf) for leaf in found] == ["input", "input", 1.0]
