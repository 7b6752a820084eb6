"""Forces and moments from outside that act on links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from armsim.expr import both, where
from armsim.model import Arm
from armsim.spatial import ZERO, Scalar, Vector, cross


@dataclass(frozen=True)
class ExternalWrench:
    """A force and a moment on one link, during one interval of time.

    Attributes:
        link: Index of the link.
        point: Where the force acts, in the user's frame of the link [m].
        force: [N].
        moment: [N·m].
        frame: Whether force and moment are given along the axes of the "world" or of the "link".
        start: It acts from this time on [s]; None for ever since.
        end: Until this time [s], which it excludes; None for ever after.
    """

    link: int
    point: Vector = ZERO
    force: Vector = ZERO
    moment: Vector = ZERO
    frame: Literal["world", "link"] = "world"
    start: Scalar | None = None
    end: Scalar | None = None
