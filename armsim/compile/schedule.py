"""Instruction scheduling.

A processor's out-of-order window spans only some hundred instructions. In the order of the algorithms, the long dependency
chains of a step (bias forces, mass matrix, its factorisation) would run one after the other; interleaved, they overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from armsim.expr import Expr

# cycles, on current x86-64 and arm64 cores; a rough guide is enough
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
    "call": 400,
    "loop": 400,
    "scan": 400,
}
IN_VECTORS = {**LATENCY, "div": 24, "sqrt": 30}  # of registers of 8
ARITHMETIC = 4
ISSUE = 4  # operations per cycle; found by trial, between the number of arithmetic units (2) and the issue width
IN_LANES = 1  # of vectors; found by trial: two units, and values stay in registers for a shorter time


def scheduled(nodes: Sequence[Expr], lanes: int = 1) -> list[Expr]:
    """The same nodes in another topological order, by list scheduling.

    Of all operations whose operands are available, the one with the longest path of latencies to the end is issued next.

    Args:
        nodes: In topological order.
        lanes: Of every value.
    """
    latencies, issue = (LATENCY, ISSUE) if lanes == 1 else (IN_VECTORS, IN_LANES)
    users: dict[Expr, list[Expr]] = {node: [] for node in nodes}
    missing: dict[Expr, int] = {}
    for node in nodes:
        args = {arg for arg in node.args if isinstance(arg, Expr) and arg in users}
        missing[node] = len(args)
        for arg in args:
            users[arg].append(node)
    path: dict[Expr, int] = {}
    for node in reversed(nodes):
        longest = max([path[user] for user in users[node]]) if users[node] else 0
        path[node] = latencies.get(node.op, ARITHMETIC) + longest

    ready = [(-path[node], node.index, node) for node in nodes if not missing[node]]
    heapify(ready)
    pending: list[tuple[int, int, Expr]] = []  # by the cycle in which all operands are available
    operands_at: dict[Expr, int] = dict.fromkeys(nodes, 0)
    order: list[Expr] = []
    slot = 0
    while ready or pending:
        cycle = slot // issue
        while pending and pending[0][0] <= cycle:
            _, index, node = heappop(pending)
            heappush(ready, (-path[node], index, node))
        if not ready:
            slot = pending[0][0] * issue
            continue
        node = heappop(ready)[2]
        order.append(node)
        slot += 1
        done = cycle + latencies.get(node.op, ARITHMETIC)
        for user in users[node]:
            missing[user] -= 1
            if operands_at[user] < done:
                operands_at[user] = done
            if not missing[user]:
                heappush(pending, (operands_at[user], user.index, user))
    return order
