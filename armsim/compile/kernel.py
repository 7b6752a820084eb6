"""IR to loaded machine code, by way of the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from armsim.compile import cache
from armsim.compile.target import Library, Target
from armsim.records import record

if TYPE_CHECKING:
    from armsim.expr import Table


@record
class Compiled:
    """Loaded code and its provenance.

    Attributes:
        library: The code.
        cached: Whether it came from the cache on disk.
        size: Bytes of the code.
    """

    library: Library
    cached: bool
    size: int


def compiled(
    ir: Callable[[], str], target: Target, key: str, tables: Callable[[], Iterable[Table]] = tuple
) -> Compiled:
    """The loaded code of an IR module for a target.

    Args:
        ir: Makes its text; called only if the code is not in the cache.
        target: The machine.
        key: Names all that the text depends on; the text itself, or what it is made from.
        tables: Gives the tables that it looks up; called only if there are any.
    """
    name = cache.key(key, target.key)
    code = cache.load(name)
    cached = code is not None
    if code is None:
        code = target.object_code(ir())
        cache.store(name, code)
    return Compiled(Library(code, target, tables), cached, len(code))
