"""Frames fixed in links, and bodies that they carry."""

from __future__ import annotations

from dataclasses import replace

from armsim.expr import where
from armsim.geometry import Surface
from armsim.records import record
from armsim.spatial import Inertia, Pose, Scalar


@record
class LinkFrame:
    """A named frame, fixed in a link.

    Attributes:
        name: As in the robot file; "tool" for the tool.
        link: Name of the joint that moves the link; empty for the last.
        pose: In the user's frame of the link.
    """

    name: str
    link: str = ""
    pose: Pose = Pose()


TOOL = LinkFrame("tool")


@record
class ContactPoint:
    """A point of the arm, or a sphere, that an obstacle of the world resists.

    Attributes:
        name: Of the contact.
        at: The point, or the sphere's centre.
        obstacle: Name of the obstacle.
        radius: Of the sphere; 0 for a point [m].
        surface: Of the obstacle, as the arm meets it; None where that is not known yet.
    """

    name: str
    at: LinkFrame
    obstacle: str
    radius: Scalar = 0.0
    surface: Surface | None = None


@record
class Payload:
    """A body that a frame carries.

    Attributes:
        inertia: About the frame's origin.
        frame: Name of the frame that carries it.
        name: As in the file.
        start: When it is picked up [s]; None where it is carried from the beginning.
        end: When it is put down [s]; None where it never is.
    """

    inertia: Inertia
    frame: str = "tool"
    name: str = "payload"
    start: Scalar | None = None
    end: Scalar | None = None

    @property
    def timed(self) -> bool:
        """Whether it is carried for a part of the time."""
        return self.start is not None or self.end is not None

    def share(self, t: Scalar) -> Scalar:
        """1 while it is carried, from `start` on until `end`, which is excluded; else 0."""
        return share_of_interval(t, self.start, self.end)

    def scaled(self, share: Scalar) -> Payload:
        """A share of it, carried for all the time."""
        return replace(self, inertia=self.inertia * share, start=None, end=None)


def share_of_interval(t: Scalar, start: Scalar | None, end: Scalar | None) -> Scalar:
    """1 at times from `start` on and before `end`, else 0; None for an interval without one."""
    share: Scalar = 1.0
    if start is not None:
        share = where(t >= start, share, 0.0)
    if end is not None:
        share = where(t < end, share, 0.0)
    return share
