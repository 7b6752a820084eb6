"""Results that show themselves in notebooks, and know nothing of reports and figures, which the package lends them.

`from armsim import display`, and any public name, asks the package, which then sets `notebook`.
"""

from collections.abc import Callable
from types import ModuleType

notebook: Callable[[], ModuleType]  # gives `armsim.reports.notebook`


class Shown:
    """A result that a notebook shows as the terminal does, and with its picture."""

    def _repr_html_(self) -> str:
        shown: str = notebook().shown(self)  # noqa: F821  what the package has set
        return shown
