"""Copies of many items of arrays, or of numbers, by a loop: as matrices go into arrays and come out of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from armsim.expr import Expr
from armsim.expr.graph import array_columns

MANY = 32  # values that are copied by a loop

# the items of an array at some places, to an array from its beginning on
COPY = """define internal void {name}(ptr noalias %to, ptr %from, ptr %places, i64 %count) noinline {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %head ]
  %placep = getelementptr i32, ptr %places, i64 %i
  %place = load i32, ptr %placep
  %at = zext i32 %place to i64
  %source = getelementptr {type}, ptr %from, i64 %at
  %x = load {type}, ptr %source
  %target = getelementptr {type}, ptr %to, i64 %i
  store {type} %x, ptr %target
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %head, label %end
end:
  ret void
}}"""


def stretches(values: Sequence[Any]) -> list[tuple[bool, list[Any]]]:
    """Values in stretches: those of `MANY` or more numbers or items of one array, which are copied by a loop, and the others."""
    found: list[tuple[bool, list[Any]]] = []
    for origin, stretch in groupby(values, _origin):
        part = list(stretch)
        many = origin is not None and len(part) >= MANY
        if found and not many and not found[-1][0]:
            found[-1][1].extend(part)
        else:
            found.append((many, part))
    return found


def _origin(value: Any) -> int | None:
    """Index of the array that a value is an item of, -1 of numbers, None of what is computed."""
    if not isinstance(value, Expr):
        return -1
    return value.args[0].index if value.op == "item" else None


def place(item: Expr) -> int:
    """The place of an item in its array."""
    array, row, column = item.args
    return int(row) * array_columns(array) + int(column)


def only_copied(nodes: Sequence[Expr], computed: Sequence[Any]) -> set[Expr]:
    """The items that no operation takes, and that are not among the values that are wanted as such."""
    items = {node for node in nodes if node.op == "item"}
    if items:
        items -= {arg for node in nodes if node.op != "series" for arg in node.args if isinstance(arg, Expr)}
        items -= {value for value in computed if isinstance(value, Expr)}
    return items
