"""Trees of scalars: what they hold comes back as it was, and functions take and return them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from armsim.expr import (
    STATIC,
    Expr,
    flatten,
    leaves,
    loop,
    mapped,
    replay,
    shared,
    trace,
    unflatten,
    where,
    with_jacobian,
)


class Pair(NamedTuple):
    first: Any
    second: Any


@dataclass
class Law:
    joint: int = field(metadata=STATIC)
    slope: Any
    bounds: list[Any]
    name: str = "stop"
    active: bool = True
    missing: Any = None


TREE = {"law": Law(2, 1.5, [2.5, (3.5,)]), "pair": Pair([], {"x": 4.5}), "none": None}


def test_a_tree_comes_back_from_its_leaves_and_its_structure():
    found, structure = flatten(TREE)
    assert found == [1.5, 2.5, 3.5, 4.5]
    assert unflatten(structure, found) == TREE
    assert type(unflatten(structure, found)["pair"]) is Pair
    doubled = unflatten(structure, [2 * x for x in found])
    assert doubled["law"] == Law(2, 3.0, [5.0, (7.0,)])


def test_what_is_no_scalar_belongs_to_the_structure():
    structures = {
        flatten(Law(joint, 1.0, [], active=active, missing=None))[1] for joint in (1, 2) for active in (True, False)
    }
    assert len(structures) == 4
    assert flatten(Law(1, 1.0, []))[1] == flatten(Law(1, 2.0, []))[1]


def test_too_many_and_too_few_leaves_are_refused():
    structure = flatten([1.0, 2.0])[1]
    with pytest.raises(ValueError, match="fewer leaves"):
        unflatten(structure, [1.0])
    with pytest.raises(ValueError, match="more leaves"):
        unflatten(structure, [1.0, 2.0, 3.0])


def test_a_function_is_mapped_over_trees_of_one_structure_and_over_what_stands_in_place_of_leaves():
    assert mapped(lambda a, b: a + b, Pair([1.0], 2.0), Pair([3.0], 4.0)) == Pair([4.0], 6.0)
    assert mapped(lambda a, row: a * sum(row), [2.0, 3.0], [[1.0, 1.0], [2.0]]) == [4.0, 6.0]


@pytest.mark.parametrize(
    ("tree", "other"),
    [
        *(([1.0, 2.0], other) for other in ([1.0], (1.0, 2.0), [1.0, 2.0, 3.0], 1.0, None)),
        ({"x": 1.0}, {"y": 1.0}),
        (Law(1, 1.0, []), Law(2, 1.0, [])),
        (Law(1, 1.0, [], active=True), Law(1, 1.0, [], active=False)),
        ([None], [1.0]),
    ],
    ids=str,
)
def test_trees_of_different_structure_are_not_gone_through_side_by_side(tree, other):
    with pytest.raises(ValueError, match="another structure"):
        mapped(lambda a, b: a, tree, other)


def test_trees_are_compared_without_comparing_expressions():
    def body(x):
        with pytest.raises(ValueError, match="another structure"):
            mapped(lambda a, b: a, [None, 1.0], [x, x])
        return mapped(lambda a, b: a + b, [1.0, x], [x, 1.0])

    assert replay(trace(body, ["x"]), [2.0]) == [3.0, 3.0]


def test_a_shared_function_takes_and_returns_trees_and_is_one_call_for_each_structure():
    seen = []

    def body(law: Law, x):
        seen.append(law.joint)
        return Pair({"y": law.slope * x}, [bound + x for bound in law.bounds])

    f = shared(body, "f")

    def outer(a, b):
        first = f(Law(0, a, [b]), b)
        again = f(Law(0, b, [a]), a)
        other = f(Law(1, b, [a]), a)
        return [first.first["y"], *first.second, again.first["y"], *again.second, other.first["y"]]

    function = trace(outer, ["a", "b"])
    assert seen == [0, 1]  # a joint's index is structure
    assert replay(function, [2.0, 3.0]) == outer(2.0, 3.0) == [6.0, 6.0, 6.0, 4.0, 6.0]
    assert sum(node.op == "call" for node in function.live()) == 3


def test_derivatives_of_trees_by_trees_stand_in_place_of_the_leaves():
    def body(pair: Pair, factor):
        return {"product": pair.first[0] * pair.second * factor, "sum": [pair.first[0] + pair.second]}

    both = with_jacobian(body, (0, 1), "f")
    value, slopes = both(Pair([2.0], 3.0), 5.0)
    assert value == {"product": 30.0, "sum": [5.0]}
    assert slopes == {"product": (Pair([15.0], 10.0), 6.0), "sum": [(Pair([1.0], 1.0), 0.0)]}
    f = trace(lambda a, b, c: leaves(both(Pair([a], b), c)[1]), ["a", "b", "c"])
    assert replay(f, [2.0, 3.0, 5.0]) == [15.0, 10.0, 6.0, 1.0, 1.0, 0.0]


def test_a_loop_carries_trees():
    def step(now: Pair) -> list[Pair]:
        return [Pair([x * 2.0 for x in now.first], now.second + 1.0)]

    def body(x):
        (end,) = loop([Pair([x, 1.0], 0.0)], step, lambda now: now.second > 2.5, 10)
        return [*end.first, end.second]

    assert replay(trace(body, ["x"]), [5.0]) == body(5.0) == [40.0, 8.0, 3.0]


def test_a_loop_whose_body_changes_the_structure_is_refused():
    with pytest.raises(ValueError, match="changes the structure"):
        trace(lambda x: loop([[x]], lambda y: [[*y, 1.0]], lambda y: y[0] > 1.0, 3)[0], ["x"])


def test_an_expression_is_equal_to_nothing_and_still_found_in_tables():
    def body(x, y):
        for compare in (lambda: x == 0.0, lambda: x != y, lambda: x in [y], lambda: {"a": x} == {"a": y}):
            with pytest.raises(TypeError, match="not known yet"):
                compare()
        assert {x: 1, y: 2}[y] == 2
        assert x + y is y + x
        return [where(x < y, x, y)]

    assert isinstance(trace(body, ["x", "y"]).outputs[0], Expr)


def test_constants_and_nodes_of_a_graph_are_told_apart():
    # a node is known by its place, 0 and 1 here, and these are constants as well
    def body(x, y):
        sums = [x + 1.0, x + y, y + 1.0, x - 1.0, x * -2.0, x * 2.0, x * y]
        assert len(set(map(id, sums))) == len(sums)
        return sums

    assert replay(trace(body, ["x", "y"]), [3.0, 5.0]) == [4.0, 8.0, 6.0, 2.0, -6.0, 6.0, 15.0]
