"""Where frames stand: poses of documents, and joints in the links that carry them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from armsim import document
from armsim.expr import Scalar, Scalars, sqrt
from armsim.model import JOINT_TYPES, Joint
from armsim.records import record
from armsim.spatial import IDENTITY, Matrix, Pose, Vector, X, Y, Z, rotation_rpy, rotation_x, rotation_z

RADIANS = math.pi / 180


@record
class JointUnits:
    """The units of a file's joint positions.

    Attributes:
        degrees: Whether its angles are degrees.
        joints: The joints.
    """

    degrees: bool
    joints: Sequence[Joint]

    @property
    def angle(self) -> float:
        """An angle of the file [rad]."""
        return RADIANS if self.degrees else 1.0

    def si(self, values: Scalars | None, default: tuple[Scalar, ...] = ()) -> tuple[Scalar, ...]:
        """Positions of all joints, or their rates [rad or m]; the default for None."""
        return (
            default
            if values is None
            else tuple(
                x * (self.angle if joint.kind.turns else 1.0) for x, joint in zip(values, self.joints, strict=True)
            )
        )


AXES = {"x": X, "y": Y, "z": Z}


def build_frame(frame: document.Frame | document.LinkFrame, degrees: bool = False) -> Pose:
    """A pose from xyz and rpy."""
    turn = RADIANS if degrees else 1.0
    return Pose(rotation_rpy(*(angle * turn for angle in frame.rpy)), Vector(*frame.xyz))


# the pose before the joint variable, the offset of the variable, and the pose beyond it, which is the user's
# frame in the link's (None for the identity): pose in the link before = before @ joint motion @ beyond
Placed = tuple[Pose, Scalar, Pose | None]


def place_joint(joint: document.Joint, degrees: bool) -> Placed:
    """Where a joint stands in the link before, by its frame.

    Modified DH: T = Rx(alpha) Tx(a) Rz(theta) Tz(d) (Craig, *Introduction to Robotics*, section 3.4). Standard DH: T = Rz(theta)
    Tz(d) Tx(a) Rx(alpha), where the joint variable comes first and the constant part beyond it. An origin: a frame by xyz and
    rpy, and an axis in it, onto which z is turned before the joint variable and back beyond it.
    """
    frame = joint.frame
    if isinstance(frame, document.Origin):
        pose = build_frame(frame, degrees)
        turn = turn_z_onto(*frame.axis)
        return Pose(pose.rotation @ turn, pose.position), 0.0, Pose(turn.T)
    radians = RADIANS if degrees else 1.0
    twist = rotation_x(frame.alpha * radians)
    turned, shift, offset = _variable(joint.type, frame.theta * radians, frame.d)
    if isinstance(frame, document.ModifiedDH):
        before = twist if turned is None else twist @ rotation_z(turned)
        return Pose(before, twist @ Vector(frame.a, 0.0, shift)), offset, None
    before = IDENTITY if turned is None else rotation_z(turned)
    return Pose(before, Vector(0.0, 0.0, shift)), offset, Pose(twist, Vector(frame.a, 0.0, 0.0))


def _variable(type: str, theta: Scalar, d: Scalar) -> tuple[Scalar | None, Scalar, Scalar]:
    """The constant turn about z (None for none), the constant shift along z, and the offset of the joint variable.

    A screw's variable adds to theta and d, so both are constants and its offset is 0.
    """
    kind = JOINT_TYPES[type]
    if kind.has_pitch:
        return theta, d, 0.0
    return (None, d, theta) if kind.turns else (theta, 0.0, d)


def turn_z_onto(x: float, y: float, z: float) -> Matrix:
    """A rotation that turns the z axis onto a direction.

    The direction is structure, which cannot be left open: the formula depends on it.
    """
    if x == 0 and y == 0:
        return IDENTITY if z > 0 else Matrix(X, -Y, -Z)
    if y == 0 and z == 0:  # cyclic permutation of the axes: z -> x -> y -> z
        return Matrix(Z, X, Y) if x > 0 else Matrix(-Z, X, -Y)
    if x == 0 and z == 0:
        return Matrix(Y, Z, X) if y > 0 else Matrix(Y, -Z, -X)
    length = sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    if z < 0:  # half a turn about x first, or the formula below divides by nearly 0
        return Matrix(X, -Y, -Z) @ turn_z_onto(x, -y, -z)
    c = 1 / (1 + z)
    return Matrix(
        Vector(1 - x * x * c, -x * y * c, x),
        Vector(-x * y * c, 1 - y * y * c, y),
        Vector(-x, -y, z),
    )
