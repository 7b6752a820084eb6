"""References: what the joints should do, as functions of time."""

from __future__ import annotations

from typing import Protocol

from armsim.expr import Scalar, Table
from armsim.records import mutable_record, record


@mutable_record
class Desired:
    """What the joints should do at an instant.

    Attributes:
        q: Positions [rad or m].
        qd: Velocities [rad/s or m/s].
        qdd: Accelerations [rad/s² or m/s²].
    """

    q: list[Scalar]
    qd: list[Scalar]
    qdd: list[Scalar]


class Reference(Protocol):
    """A reference of n joints."""

    @property
    def timed(self) -> bool:
        """Whether it depends on time by formulas, of which nobody knows how fast they vary."""
        ...

    @property
    def ends(self) -> bool:
        """Whether it comes to an end, and holds from then on."""
        ...

    @property
    def corners(self) -> Table | None:
        """The time of the next jump or corner of a table after a time [s]; None where there are none."""
        ...

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """What is desired at a time.

        Args:
            t: Time [s].
            since: Beginning of a step between whose ends nothing jumps; None where it may.
            middle: A time whose piece of tables counts, extended to t; None for that of t.
        """
        ...


@record
class Constant:
    """A pose to hold.

    Attributes:
        target: Joint positions [rad or m].
    """

    target: tuple[Scalar, ...]

    @property
    def timed(self) -> bool:
        """It does not depend on time."""
        return False

    @property
    def ends(self) -> bool:
        """It holds from the start on."""
        return True

    @property
    def corners(self) -> Table | None:
        """There are none."""
        return None

    def at(self, t: Scalar, since: Scalar | None = None, middle: Scalar | None = None) -> Desired:
        """The pose, at rest."""
        still = [0.0] * len(self.target)
        return Desired([*self.target], still, still)
