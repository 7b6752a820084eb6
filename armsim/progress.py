"""Long work inside a call, shown to whoever wants to see how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Progress = Callable[[int, int], object]  # called with how much is done, and how much there is in all
ShowWork = Callable[[str], AbstractContextManager[Progress | None]]
_show: ContextVar[ShowWork] = ContextVar("show", default=lambda label: nullcontext())


@contextmanager
def work_shown_by(show: ShowWork) -> Iterator[None]:
    """Long work within shows how far it is, by what `show` makes of its label."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def shown(label: str) -> AbstractContextManager[Progress | None]:
    """Shows how far work is, where somebody wants to see it; None where nobody does."""
    return _show.get()(label)
