"""A joint and the link it moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from armsim.model.motor import Coulomb, Motor
from armsim.spatial import IDENTITY, ZERO, Inertia, Matrix, Pose, Scalar, Vector


@dataclass(frozen=True, slots=True)
class Limit:
    """The range of a joint and the stops at its ends.

    Attributes:
        lower: Least joint position [rad or m]; -inf for none.
        upper: Greatest joint position [rad or m]; inf for none.
        stiffness: Of the stops [N·m/rad or N/m]; None where the range is checked and reported but not enforced.
        damping: Of the stops [N·m·s/rad or N·s/m].
    """

    lower: Scalar
    upper: Scalar
    stiffness: Scalar | None = None
    damping: Scalar = 0.0


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint about (revolute) or along (prismatic) its z axis, and the link beyond it.

    The link's frame stands in the frame of the link before it at rotation `tilt` Rz(q + offset) and at `position`
    (revolute), or at rotation `tilt` and at `position` + `tilt` z (q + offset) (prismatic).

    Attributes:
        name: As in the robot file.
        type: "revolute" or "prismatic".
        tilt: Constant rotation from the link before.
        position: Constant part of the origin, in the frame of the link before [m].
        offset: Added to the joint position [rad or m].
        initial: Joint position at which the arm is given [rad or m].
        inertia: The link, about its frame's origin; the last link carries no payload here.
        viscous: Viscous friction on the joint's side [N·m·s/rad or N·s/m].
        coulomb: Dry friction on the joint's side, if any.
        limit: Range and stops, if any.
        motor: The motor, if any.
        frame: The frame that the user means, seen from the link's own; they differ in standard DH and origin files.
    """

    name: str
    type: Literal["revolute", "prismatic"]
    tilt: Matrix = IDENTITY
    position: Vector = ZERO
    offset: Scalar = 0.0
    initial: Scalar = 0.0
    inertia: Inertia = Inertia()
    viscous: Scalar = 0.0
    coulomb: Coulomb | None = None
    limit: Limit | None = None
    motor: Motor | None = None
    frame: Pose = Pose()

    @property
    def electric_motor(self) -> Motor | None:
        """The motor, if it has the constants by which a voltage drives it."""
        return None if self.motor is None or self.motor.Kp is None else self.motor
