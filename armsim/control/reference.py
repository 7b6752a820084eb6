"""What the arm should do, as a function of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from armsim.expr import Scalar, Table


@dataclass(slots=True)
class Desired:
    """What the arm should do at an instant.

    Attributes:
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
    """

    q: list[Scalar]
    qd: list[Scalar]
    qdd: list[Scalar]


class Reference(Protocol):
    """A motion of the joints over time.

    Attributes:
        timed: Whether it depends on time by formulas that are neither polynomial nor recorded.
        corners: The time of the next jump or corner that comes from a table after a time [s]; None where there are none.
    """

    @property
    def timed(self) -> bool: ...

    @property
    def corners(self) -> Table | None: ...

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """What the arm should do at time t [s]; since and middle as of `OpenLoop.command`."""
        ...


@dataclass(frozen=True)
class Constant:
    """Joint positions to hold.

    Attributes:
        target: Joint positions [rad or m], n scalars.
    """

    timed: ClassVar[bool] = False
    corners: ClassVar[Table | None] = None

    target: tuple[Scalar, ...]

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """The target, at rest."""
        still: list[Scalar] = [0.0] * len(self.target)
        return Desired([*self.target], still, [*still])
