"""IR to loaded machine code, by way of the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from armsim.compile import cache
from armsim.compile.target import Library, Target

if TYPE_CHECKING:
    from armsim.expr import Table


def compiled(ir: Callable[[], str], target: Target, key: str, tables: Callable[[], Iterable[Table]] = tuple) -> Library:
    """The loaded code of an IR module for a target.

    Args:
        ir: Makes its text; called only if the code is not in the cache.
        target: The machine.
        key: Names all that the text depends on; the text itself, or what it is made from.
        tables: Gives the tables that it looks up; called only if there are any.
    """
    name = cache.key(key, target.key)
    known = cache.load(name)
    code = target.object_code(ir()) if known is None else known
    if known is None:
        cache.store(name, code)
    return Library(code, target, tables, known is not None)
