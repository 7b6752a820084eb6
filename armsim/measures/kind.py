"""What a kind of measure is made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Literal

from armsim.control import Controller
from armsim.errors import UsageError
from armsim.measures.measure import Measure
from armsim.model import Joint
from armsim.plant import Plant
from armsim.records import record


@record
class Request:
    """A measure that is asked for by a name.

    Attributes:
        name: The name, which its result takes.
        plant: The plant.
        joint: Index of the joint that it is asked of, None for the whole arm.
        band: In brackets after the name; None without.
        frame: Name of the frame, or of the contact, that it is asked of.
    """

    name: str
    plant: Plant
    joint: int | None = None
    band: float | None = None
    frame: str = "tool"

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

    def need_goal(self) -> None:
        """Raises UsageError without a feedback law whose reference comes to an end."""
        self.need_target()
        command = self.plant.command
        if isinstance(command, Controller) and not command.reference.ends:
            raise UsageError.of(
                f"measure `{self.name}`",
                "a reference that comes to an end, as a step and a path of points do",
                "one by a formula of time",
                "ask for `peak_error` or `rms_error`",
            )

    def powered(self, mend: str) -> list[int]:
        """Indices of those with an electric motor; raises UsageError, which says how to mend it, if there is none."""
        found = [i for i in self.indices if self.plant.arm.joints[i].electric_motor is not None]
        if not found:
            joint = "a joint" if self.joint is None else f"joint {self.joints[0].name}"
            bare = "none: no motor has `Kp` and `Ra`" if self.joint is None else "none: no `Kp` and `Ra`"
            raise UsageError.of(f"measure `{self.name}`", f"{joint} with an electric motor", bare, mend)
        return found

    def checked_band(self, mend: str) -> float | None:
        """The band in brackets; raises UsageError, which says how to mend it, unless it is above 0."""
        if self.band is not None and not 0 < self.band < inf:
            raise UsageError.of(f"measure `{self.name}`", "a band above 0 rad or m", f"{self.band:g}", mend)
        return self.band


def length(joint: Joint) -> str:
    """The unit of a joint's position."""
    return joint.kind.length


@record
class MeasureKind:
    """A kind of measure, as users may name it.

    Attributes:
        doc: What it is, for docs/measures.md.
        unit: Of its result, for docs/measures.md.
        make: Makes it; may raise UsageError.
        of: Whether it is of the whole arm alone; or also of a joint, as `name_R2`; or of the tool, and also of a frame, see
            `name_of_frame`; or of all contacts, and likewise of one.
        banded: Whether it takes a band in brackets.
    """

    doc: str
    unit: str
    make: Callable[[Request], Measure]
    of: Literal["arm", "either", "frame", "contact"] = "either"
    banded: bool = False


def name_of_frame(name: str, frame: str) -> str:
    """The name of a measure of the tool for another frame: `pose_left_tip`, `rms_left_tip_error`."""
    return name.replace("_tool_", f"_{frame}_") if "_tool_" in name else f"{name}_{frame}"
