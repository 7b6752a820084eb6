"""What commands depend on besides the instant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from armsim.control.encoder import Encoded
from armsim.control.law import Kept
from armsim.expr import Scalars
from armsim.records import mutable_record


@mutable_record
class Memory:
    """What a controller remembers; or the rates of that, in continuous control.

    Attributes:
        kept: By its law.
        encoded: By its encoders; None without.
        queue: Commands on their way to the drives, the next one first.
    """

    kept: Kept = field(default_factory=Kept)
    encoded: Encoded | None = None
    queue: list[Scalars] = field(default_factory=list)


def linear_slots(slots: Iterable[str]) -> list[str]:
    """Those that linear equations have: no motion feels the number of samples, and a plan follows from the state."""
    return [slot for slot in slots if slot != "samples" and not slot.startswith("plan_")]
