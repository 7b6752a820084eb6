"""How accurately a run is made."""

from __future__ import annotations

from armsim.records import record


@record
class Accuracy:
    """How much more accurate than it was asked for a run is.

    Attributes:
        parts: Into how many its steps are cut, of a plant that does not run ahead.
        tighter: By what the tolerance of an adaptive method is divided.
    """

    parts: int = 1
    tighter: float = 1.0


AS_ASKED = Accuracy()
