"""Pictures of runs and robots, which know nothing of figures: the package lends them from the row that draws.

`from armsim import pictures`, and any public name, asks the package, which then sets `figures`.
"""

from collections.abc import Callable
from types import ModuleType

figures: Callable[[], ModuleType]  # gives `armsim.figures.notebook`
