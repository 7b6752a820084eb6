"""What a kind of measure is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from armsim.control import Controller
from armsim.errors import UsageError
from armsim.measures.measure import Measure
from armsim.model import Joint
from armsim.plant import Plant


@dataclass(frozen=True)
class Request:
    """A measure that is asked for by a name.

    Attributes:
        name: The name, which its result takes.
        plant: The plant.
        joint: Index of the joint that it is asked of, None for the whole arm.
        band: In brackets after the name; None without.
    """

    name: str
    plant: Plant
    joint: int | None = None
    band: float | None = None

    @property
    def indices(self) -> Sequence[int]:
        """Indices of the joints it is about."""
        return range(self.plant.arm.n) if self.joint is None else (self.joint,)

    @property
    def joints(self) -> list[Joint]:
        """The joints it is about."""
        return [self.plant.arm.joints[i] for i in self.indices]

    def unit(self, of: Callable[[Joint], str]) -> str:
        """The unit that all its joints share, by `of`; empty where they differ."""
        units = {of(joint) for joint in self.joints}
        return units.pop() if len(units) == 1 else ""

    def need_target(self) -> None:
        """Raises UsageError without a feedback law."""
        if not isinstance(self.plant.command, Controller):
            raise UsageError.of(
                f"measure `{self.name}`",
                "a feedback law, whose target is the measure's",
                "a run without `control`",
                "ask for it where a scenario has `control`",
            )


def length(joint: Joint) -> str:
    """The unit of a joint's position."""
    return joint.kind.length


@dataclass(frozen=True)
class MeasureKind:
    """A kind of measure, as users may name it.

    Attributes:
        doc: What it is, for docs/measures.md.
        unit: Of its result, for docs/measures.md.
        make: Makes it; may raise UsageError.
        of: Whether it is of the whole arm alone, or also of a joint, as `name_R2`.
        banded: Whether it takes a band in brackets.
    """

    doc: str
    unit: str
    make: Callable[[Request], Measure]
    of: Literal["arm", "either"] = "either"
    banded: bool = False
