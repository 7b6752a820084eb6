"""Pictures of runs and robots, which know nothing of figures: the package lends them from the row that draws."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

figures: Callable[[], ModuleType]  # gives `armsim.figures.notebook`; set by `armsim` itself
