"""Where a frame of an arm is wanted, what is missing there, and how the joints change it.

`PoseGoal(frame, position, orientation, weights)`: the orientation is None (of a position alone), a `Pointing` (a direction of the
frame along one of the world) or a rotation `Matrix`. `goal.missing(pose)` is what a pose lacks, `goal.linearized(arm, q)` the
weighted residual and its Jacobian. A goal is a tree of scalars: its numbers may be floats or expressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from armsim.dynamics import frame_jacobian, frame_pose
from armsim.expr import STATIC, Scalars, chosen, maximum, sqrt
from armsim.expr.elementary import arctangent_quotient
from armsim.model import Arm, LinkFrame
from armsim.records import record
from armsim.spatial import ZERO, Matrix, Pose, Scalar, Vector, cross, perpendicular, quaternion

OPPOSITE = (
    1e-7  # cosine of half the angle between two directions, below which the axis from one to the other is arbitrary
)


@record
class Pointing:
    """An orientation up to turns about an axis.

    Attributes:
        axis: Unit vector in the frame.
        direction: Unit vector in the world along which the axis is to point.
    """

    axis: Vector
    direction: Vector


@record
class PoseGoal:
    """Where a frame is wanted.

    Attributes:
        frame: The frame.
        position: Of its origin in the world [m].
        orientation: A rotation, a direction or None; see the module.
        weights: Of the residual's position [1/m] and angle [1/rad]: they decide which pose is the nearest where none is exact.
    """

    frame: LinkFrame = field(metadata=STATIC)
    position: Vector
    orientation: Matrix | Pointing | None = None
    weights: tuple[Scalar, Scalar] = (1.0, 1.0)

    @property
    def size(self) -> int:
        """Number of conditions: 3, 5 or 6."""
        return 3 if self.orientation is None else 5 if isinstance(self.orientation, Pointing) else 6

    def missing(self, pose: Pose) -> tuple[Vector, Vector]:
        """From a pose of the frame to the goal: the shift [m] and the rotation vector [rad], in world axes."""
        wanted, shift = self.orientation, self.position - pose.position
        if wanted is None:
            return shift, ZERO
        if isinstance(wanted, Matrix):
            return shift, rotation_vector(*quaternion(wanted @ pose.rotation.T))
        axis = pose.rotation @ wanted.axis
        whole = axis + wanted.direction
        w = 0.5 * sqrt(whole.dot(whole))
        v = cross(axis, wanted.direction) * (0.5 / maximum(w, OPPOSITE))
        half_turn, _ = perpendicular(wanted.direction)
        v = chosen(w < OPPOSITE, half_turn, v)
        return shift, rotation_vector(w, *v)

    def linearized(self, arm: Arm, q) -> tuple[Scalars, Sequence[Scalars]]:
        """The weighted residual r, 3, 5 or 6 scalars, and J, as many rows of n: its change is -J dq.

        The rows of J are those of the geometric Jacobian. For a rotation vector φ they differ from the derivative by the factor
        of the logarithm, which leaves φ itself as it is: so the gradient -Jᵀ r of |r|²/2 is exact, Newton's method quadratic.

        Args:
            arm: The arm, n joints.
            q: Joint positions [rad or m], n scalars.
        """
        shift, turn = self.missing(frame_pose(arm, q, self.frame))
        rows = frame_jacobian(arm, q, self.frame)
        near, far = self.weights
        r, J = [near * x for x in shift], [[near * x for x in row] for row in rows[3:]]
        if isinstance(self.orientation, Pointing):  # two conditions: φ has no part along the direction
            columns = [Vector(*column) for column in zip(*rows[:3], strict=True)]
            for basis in perpendicular(self.orientation.direction):
                r.append(far * basis.dot(turn))
                J.append([far * basis.dot(column) for column in columns])
        elif self.orientation is not None:
            r += [far * x for x in turn]
            J += [[far * x for x in row] for row in rows[:3]]
        return r, J


def rotation_vector(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Vector:
    """The rotation vector [rad] of a unit quaternion with w >= 0: its axis times its angle, up to a half turn.

    The angle is eight times the arctangent of the tangent of its eighth part, which halving twice gives without a quotient of
    small numbers: exact to rounding from none to a half turn.
    """
    v = Vector(x, y, z)
    quarter = v.dot(v) / ((1.0 + w) * (1.0 + w))  # squared tangents
    root = 1.0 + sqrt(1.0 + quarter)
    return v * (8.0 * arctangent_quotient(quarter / (root * root)) / ((1.0 + w) * root))
