"""The order in which operations are written down.

A processor looks only some hundred instructions ahead. Written algorithm by algorithm, the long chains of a step (bias
forces, mass matrix, its factorisation) would be worked off one after the other; interleaved, they overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from armsim.expr import Expr

# cycles until a result is there, on current x86-64 and arm64 cores; a rough guide is enough
LATENCY = {
    "div": 14,
    "sqrt": 18,
    "where": 2,
    "neg": 1,
    "abs": 1,
    "lt": 2,
    "le": 2,
    "bit": 3,
    "and": 1,
    "not": 1,
    "out": 5,
    "lane": 3,
    "pack": 45,
}
ARITHMETIC = 4
CALL = 400
AT_ONCE = 4  # operations taken up a cycle; found by trial, between the arithmetic units (2) and the issue width


def scheduled(nodes: Sequence[Expr]) -> list[Expr]:
    """The same nodes, arguments still before what uses them, those first that the longest chains wait for.

    List scheduling: of all operations whose arguments are there, the one with the longest way to the end goes next.
    """
    inside = set(nodes)
    users: dict[Expr, list[Expr]] = {node: [] for node in nodes}
    waits: dict[Expr, int] = {}
    for node in nodes:
        args = {arg for arg in node.args if isinstance(arg, Expr) and arg in inside}
        waits[node] = len(args)
        for arg in args:
            users[arg].append(node)
    way: dict[Expr, int] = {}
    for node in reversed(nodes):
        way[node] = _latency(node) + max([way[user] for user in users[node]], default=0)

    ready = [(-way[node], node.index, node) for node in nodes if not waits[node]]
    heapify(ready)
    pending: list[tuple[int, int, Expr]] = []  # time at which all arguments are there
    there: dict[Expr, int] = dict.fromkeys(nodes, 0)
    order: list[Expr] = []
    slot = 0
    while ready or pending:
        cycle = slot // AT_ONCE
        while pending and pending[0][0] <= cycle:
            _, index, node = heappop(pending)
            heappush(ready, (-way[node], index, node))
        if not ready:
            slot = pending[0][0] * AT_ONCE
            continue
        node = heappop(ready)[2]
        order.append(node)
        slot += 1
        done = cycle + _latency(node)
        for user in users[node]:
            waits[user] -= 1
            there[user] = max(there[user], done)
            if not waits[user]:
                heappush(pending, (there[user], user.index, user))
    return order


def _latency(node: Expr) -> int:
    if node.op in ("call", "loop"):
        return CALL
    return LATENCY.get(node.op, ARITHMETIC)
