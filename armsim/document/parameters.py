"""Parameters: named numbers of a file, whose formulas may refer to one another."""

from __future__ import annotations

import re

from armsim.document.composite import Number
from armsim.files.nodes import Map, Node, Place, Scalar, clipped, shown
from armsim.formulas.formula import FormulaError
from armsim.formulas.functions import RESERVED
from armsim.formulas.quantity import Context, Quantity

IDENTIFIER = re.compile(r"[^\W\d]\w*")
NUMBER = Number(example="0.38")


def read_parameters(node: Node | None, context: Context) -> dict[str, Quantity]:
    """Evaluate the parameters in topological order of their references.

    Args:
        node: The mapping, or None if there is none.
        context: Of the file; takes the parameters, and as `broken` the names of those without a value.
    """
    context.parameters, context.broken = {}, set[str]()
    here = context.below("parameters")
    if node is None:
        return {}
    if not isinstance(node, Map):
        mend = "write for example `parameters: {upper: 0.38}`"
        here.add(node.place, "a mapping of names to numbers", shown(node), mend)
        return {}
    waiting: dict[str, set[str]] = {}
    places: dict[str, Place] = {}
    for name, (place, value) in node.entries.items():
        places[name] = place
        if not IDENTIFIER.fullmatch(name) or name in RESERVED:
            why = f"`{clipped(name)}`" + (", which has a meaning of its own" if name in RESERVED else "")
            expected = "a name of letters, digits and `_`, starting with a letter"
            here.add(place, expected, why, "choose another name")
            continue
        waiting[name] = {
            other for other in _references(value, context) if other in node.entries and other not in RESERVED
        }
    waiting = {name: {other for other in needed if other in waiting} for name, needed in waiting.items()}
    context.broken.update(waiting)
    users: dict[str, list[str]] = {name: [] for name in waiting}
    for name, needed in waiting.items():
        for other in needed:
            users[other].append(name)
    left = {name: len(needed) for name, needed in waiting.items()}
    ready = [name for name in waiting if left[name] == 0]
    done = []
    for name in ready:  # grows while it is read
        done.append(name)
        quantity = NUMBER.read(node.entries[name][1], here.below(name))
        if quantity is not None:
            context.parameters[name] = quantity
            context.broken.discard(name)
        for user in users[name]:
            left[user] -= 1
            if left[user] == 0:
                ready.append(user)
    _report_circles(set(waiting) - set(done), waiting, places, here)
    return context.parameters


def _references(node: Node, context: Context) -> set[str]:
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        return set()
    try:
        return set(context.formulas.parse(node.text).names)
    except FormulaError:
        return set()  # reported when it is read


def _report_circles(stuck: set[str], waiting: dict[str, set[str]], places: dict[str, Place], context: Context) -> None:
    """Report every cycle of references among the parameters that have no value."""
    order = {name: i for i, name in enumerate(waiting)}
    seen: set[str] = set()
    for start in waiting:
        if start not in stuck or start in seen:
            continue
        trail = {start: 0}
        name = start
        while (name := min(waiting[name] & stuck, key=order.__getitem__)) not in trail and name not in seen:
            trail[name] = len(trail)
        if name in trail:
            circle = list(trail)[trail[name] :]
            found = " -> ".join([*circle, circle[0]])
            expected = "parameters that do not depend on themselves"
            mend = f"give one of them a number, for example `{circle[0]}: 0.38`"
            context.below(circle[0]).add(places[circle[0]], expected, clipped(found, 200), mend)
        seen.update(trail)
