"""Vectors, rotations and rigid-body inertias in space, over scalars that may be numbers or expressions.

Small classes of our own rather than numpy object arrays: they keep symmetric matrices symmetric and joint rotations sparse,
so that a traced algorithm comes out with as few operations as one unrolled by hand, and they cost no import.
Spatial quantities are pairs (angular, linear). Notation: Featherstone, *Rigid Body Dynamics Algorithms* (RBDA), chapter 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field

from armsim.expr import Scalar, absolute, cos, either, fma, maximum, sin, snapped, sqrt, where
from armsim.records import light_record, record


@light_record
class Vector:
    """A vector of three scalars."""

    x: Scalar
    y: Scalar
    z: Scalar

    def __iter__(self) -> Iterator[Scalar]:
        return iter((self.x, self.y, self.z))

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Vector:
        return Vector(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Vector:
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    __rmul__ = __mul__

    def plus(self, factor: Scalar, other: Vector) -> Vector:
        """self + factor other, by fused multiply-adds."""
        return Vector(fma(factor, other.x, self.x), fma(factor, other.y, self.y), fma(factor, other.z, self.z))

    def dot(self, other: Vector) -> Scalar:
        return fma(self.x, other.x, fma(self.y, other.y, self.z * other.z))

    @property
    def norm(self) -> Scalar:
        """Its length."""
        return sqrt(self.dot(self))


def cross(a: Vector, b: Vector) -> Vector:
    """The vector product a × b."""
    return Vector(
        fma(a.y, b.z, -(a.z * b.y)),
        fma(a.z, b.x, -(a.x * b.z)),
        fma(a.x, b.y, -(a.y * b.x)),
    )


def cross_plus(a: Vector, b: Vector, start: Vector) -> Vector:
    """start + a × b, by fused multiply-adds."""
    return Vector(
        fma(a.y, b.z, fma(-a.z, b.y, start.x)),
        fma(a.z, b.x, fma(-a.x, b.z, start.y)),
        fma(a.x, b.y, fma(-a.y, b.x, start.z)),
    )


ZERO = Vector(0.0, 0.0, 0.0)
X = Vector(1.0, 0.0, 0.0)
Y = Vector(0.0, 1.0, 0.0)
Z = Vector(0.0, 0.0, 1.0)


@light_record
class Matrix:
    """A 3x3 matrix by rows; as a rotation, its columns are the rotated axes."""

    row_x: Vector
    row_y: Vector
    row_z: Vector

    def __iter__(self) -> Iterator[Vector]:
        return iter((self.row_x, self.row_y, self.row_z))

    @property
    def T(self) -> Matrix:
        x, y, z = self
        return Matrix(Vector(x.x, y.x, z.x), Vector(x.y, y.y, z.y), Vector(x.z, y.z, z.z))

    def __matmul__(self, other):
        if isinstance(other, Vector):
            return Vector(self.row_x.dot(other), self.row_y.dot(other), self.row_z.dot(other))
        if isinstance(other, Matrix):
            x, y, z = other.T
            return Matrix(self @ x, self @ y, self @ z).T
        return NotImplemented

    def times_plus(self, v: Vector, start: Vector) -> Vector:
        """start + A v, by fused multiply-adds."""
        return Vector(*(fma(a.x, v.x, fma(a.y, v.y, fma(a.z, v.z, b))) for a, b in zip(self, start, strict=True)))

    def turn(self, tensor: Symmetric) -> Symmetric:
        """A symmetric tensor in the rotated axes: R A Rᵀ."""
        a = Matrix(*tensor.rows())
        half = Matrix(a @ self.row_x, a @ self.row_y, a @ self.row_z)
        return Symmetric(
            xx=half.row_x.dot(self.row_x),
            yy=half.row_y.dot(self.row_y),
            zz=half.row_z.dot(self.row_z),
            xy=half.row_x.dot(self.row_y),
            xz=half.row_x.dot(self.row_z),
            yz=half.row_y.dot(self.row_z),
        )


IDENTITY = Matrix(X, Y, Z)


@light_record
class Symmetric:
    """A symmetric 3x3 matrix by its six components."""

    xx: Scalar = 0.0
    yy: Scalar = 0.0
    zz: Scalar = 0.0
    xy: Scalar = 0.0
    xz: Scalar = 0.0
    yz: Scalar = 0.0

    def rows(self) -> tuple[Vector, Vector, Vector]:
        return (
            Vector(self.xx, self.xy, self.xz),
            Vector(self.xy, self.yy, self.yz),
            Vector(self.xz, self.yz, self.zz),
        )

    def __add__(self, other: Symmetric) -> Symmetric:
        return Symmetric(
            self.xx + other.xx,
            self.yy + other.yy,
            self.zz + other.zz,
            self.xy + other.xy,
            self.xz + other.xz,
            self.yz + other.yz,
        )

    def __sub__(self, other: Symmetric) -> Symmetric:
        return Symmetric(
            self.xx - other.xx,
            self.yy - other.yy,
            self.zz - other.zz,
            self.xy - other.xy,
            self.xz - other.xz,
            self.yz - other.yz,
        )

    def __mul__(self, factor: Scalar) -> Symmetric:
        return Symmetric(
            self.xx * factor, self.yy * factor, self.zz * factor, self.xy * factor, self.xz * factor, self.yz * factor
        )

    __rmul__ = __mul__

    def __matmul__(self, v: Vector) -> Vector:
        x, y, z = self.rows()
        return Vector(x.dot(v), y.dot(v), z.dot(v))


@light_record
class JointRotation:
    """The rotation `tilt` Rz(angle) of a joint, applied in two steps: fewer operations than its full matrix.

    Attributes:
        tilt: Constant rotation before the joint.
        c: Cosine of the joint's angle.
        s: Sine of the joint's angle.
    """

    tilt: Matrix
    c: Scalar
    s: Scalar

    def __matmul__(self, v: Vector) -> Vector:
        c, s = self.c, self.s
        return self.tilt @ Vector(fma(c, v.x, -(s * v.y)), fma(s, v.x, c * v.y), v.z)

    @property
    def T(self) -> JointRotationBack:
        return JointRotationBack(self)

    @property
    def matrix(self) -> Matrix:
        return self.tilt @ Matrix(Vector(self.c, -self.s, 0.0), Vector(self.s, self.c, 0.0), Z)

    def turn(self, a: Symmetric) -> Symmetric:
        """A symmetric tensor in the rotated axes: R A Rᵀ. Rotation about z keeps the trace of the xy block."""
        c, s = self.c, self.s
        u, v = fma(c, a.xx, -(s * a.xy)), fma(c, a.xy, -(s * a.yy))
        xx = fma(c, u, -(s * v))
        turned = Symmetric(
            xx=xx,
            yy=a.xx + a.yy - xx,
            zz=a.zz,
            xy=fma(s, u, c * v),
            xz=fma(c, a.xz, -(s * a.yz)),
            yz=fma(s, a.xz, c * a.yz),
        )
        return self.tilt.turn(turned)


@light_record
class JointRotationBack:
    """The transpose of a joint rotation: from the predecessor's axes to the link's."""

    forth: JointRotation

    def __matmul__(self, v: Vector) -> Vector:
        u = self.forth.tilt.T @ v
        c, s = self.forth.c, self.forth.s
        return Vector(fma(c, u.x, s * u.y), fma(c, u.y, -(s * u.x)), u.z)


@light_record
class Pose:
    """The pose of a frame in another one: `rotation` of its axes, `position` of its origin [m]."""

    rotation: Matrix = IDENTITY
    position: Vector = ZERO

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.rotation @ other.rotation, self.point(other.position))

    @property
    def inverse(self) -> Pose:
        back = self.rotation.T
        return Pose(back, -(back @ self.position))

    def point(self, p: Vector) -> Vector:
        """The point p of this frame, in the other one."""
        return self.rotation.times_plus(p, self.position)

    @property
    def coordinates(self) -> tuple[Scalar, ...]:
        """Position [m] and unit quaternion (w, x, y, z), 7 scalars."""
        return (*self.position, *quaternion(self.rotation))

    def frame(self) -> Frame:
        """Of a pose of numbers; see `Frame`."""
        values = [x + 0.0 for x in (*self.coordinates, *roll_pitch_yaw(self.rotation))]  # + 0.0 makes 0 of -0
        return Frame(values[:3], values[3:7], values[7:])


def in_degrees(angle: float) -> float:
    """An angle [rad] in degrees, to 15 digits: -60 degrees read back as -60."""
    return float(f"{math.degrees(angle):.15g}")


@record
class Frame:
    """A pose in numbers.

    Attributes:
        position: Of its origin [m].
        quaternion: (w, x, y, z), w not negative.
        rpy: Roll, pitch and yaw [rad].
    """

    position: list[float]
    quaternion: list[float]
    rpy: list[float] = field(metadata={"angles": in_degrees})


def rotation_x(angle: Scalar) -> Matrix:
    """The rotation by a constant angle [rad] about x; right angles are exact."""
    c, s = snapped(cos(angle)), snapped(sin(angle))
    return Matrix(X, Vector(0.0, c, -s), Vector(0.0, s, c))


def rotation_y(angle: Scalar) -> Matrix:
    """The rotation by a constant angle [rad] about y; right angles are exact."""
    c, s = snapped(cos(angle)), snapped(sin(angle))
    return Matrix(Vector(c, 0.0, s), Y, Vector(-s, 0.0, c))


def rotation_z(angle: Scalar) -> Matrix:
    """The rotation by a constant angle [rad] about z; right angles are exact."""
    c, s = snapped(cos(angle)), snapped(sin(angle))
    return Matrix(Vector(c, -s, 0.0), Vector(s, c, 0.0), Z)


def rotation_rpy(roll: Scalar, pitch: Scalar, yaw: Scalar) -> Matrix:
    """Roll about x, then pitch about y, then yaw about z, all fixed axes [rad], as in URDF: Rz(yaw) Ry(pitch) Rx(roll)."""
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)


def rotation_quaternion(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> Matrix:
    """The rotation of a quaternion of any length but 0."""
    s = 2.0 / fma(w, w, fma(x, x, fma(y, y, z * z)))
    return Matrix(
        Vector(1.0 - s * fma(y, y, z * z), s * fma(x, y, -(w * z)), s * fma(x, z, w * y)),
        Vector(s * fma(x, y, w * z), 1.0 - s * fma(x, x, z * z), s * fma(y, z, -(w * x))),
        Vector(s * fma(x, z, -(w * y)), s * fma(y, z, w * x), 1.0 - s * fma(x, x, y * y)),
    )


def roll_pitch_yaw(R: Matrix) -> list[float]:
    """Roll, pitch and yaw [rad] of a rotation of numbers, R = Rz(yaw) Ry(pitch) Rx(roll): the inverse of `rotation_rpy`.

    In gimbal lock, at a pitch of a right angle, only the sum or difference of roll and yaw is determined; yaw is 0 then. Near it
    the roll makes up for the rounding of the yaw.
    """
    x, y, z = R
    level = math.hypot(x.x, y.x)
    pitch = math.atan2(-z.x, level)
    yaw = math.atan2(y.x, x.x) if level >= 1e-12 else 0.0
    if level < 1e-2:
        c, s = math.cos(yaw), math.sin(yaw)
        return [math.atan2(s * x.z - c * y.z, c * y.y - s * x.y), pitch, yaw]
    return [math.atan2(z.y, z.z), pitch, yaw]


def quaternion(R: Matrix) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The unit quaternion (w, x, y, z) of a rotation, with w >= 0 up to rounding.

    Each magnitude comes from the diagonal; the largest component then gives the others by quotients of off-diagonal
    entries, which is accurate for every rotation (Shepperd 1978, *J. Guidance and Control* 1(3), 223-224).
    """
    x, y, z = R
    squares = (  # 4 w², 4 x², 4 y², 4 z²
        1.0 + x.x + y.y + z.z,
        1.0 + x.x - y.y - z.z,
        1.0 - x.x + y.y - z.z,
        1.0 - x.x - y.y + z.z,
    )
    wx, wy, wz = z.y - y.z, x.z - z.x, y.x - x.y
    xy, xz, yz = x.y + y.x, x.z + z.x, y.z + z.y
    candidates = (
        (squares[0], wx, wy, wz),
        (wx, squares[1], xy, xz),
        (wy, xy, squares[2], yz),
        (wz, xz, yz, squares[3]),
    )
    best, row = squares[0], candidates[0]
    for square, candidate in zip(squares[1:], candidates[1:], strict=True):
        larger = square > best
        row = tuple(where(larger, a, b) for a, b in zip(candidate, row, strict=True))
        best = maximum(square, best)
    scale = 0.5 / sqrt(best)
    scale = where(row[0] < 0.0, -scale, scale)
    w, qx, qy, qz = (component * scale for component in row)
    return w, qx, qy, qz


@light_record
class Inertia:
    """The inertia of a rigid body about the origin of its frame (RBDA section 2.13, in compact form).

    Attributes:
        mass: m [kg].
        h: First moment m c [kg m], c the centre of mass.
        J: Rotational inertia about the origin [kg m²]; off-diagonal components are -∫ x y dm.
    """

    mass: Scalar = 0.0
    h: Vector = ZERO
    J: Symmetric = Symmetric()

    @staticmethod
    def about_com(mass: Scalar, com: Vector, J: Symmetric) -> Inertia:
        """The inertia of a body from its tensor about its centre of mass `com` [m], axes parallel to the frame's."""
        return Inertia(mass, mass * com, J + mass * point_tensor(com))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass + other.mass, self.h + other.h, self.J + other.J)

    def __sub__(self, other: Inertia) -> Inertia:
        return Inertia(self.mass - other.mass, self.h - other.h, self.J - other.J)

    def __mul__(self, factor: Scalar) -> Inertia:
        return Inertia(self.mass * factor, self.h * factor, factor * self.J)

    def moved(self, R: Matrix | JointRotation, p: Vector) -> Inertia:
        """The same body in another frame, in which this one has rotation R and position p: r' = R r + p for its points."""
        c = R @ self.h
        h = c.plus(self.mass, p)
        both = c + h  # 2 R h + m p
        J = R.turn(self.J)
        J = Symmetric(
            xx=fma(both.y, p.y, fma(both.z, p.z, J.xx)),
            yy=fma(both.x, p.x, fma(both.z, p.z, J.yy)),
            zz=fma(both.x, p.x, fma(both.y, p.y, J.zz)),
            xy=fma(-c.x, p.y, fma(-p.x, h.y, J.xy)),
            xz=fma(-c.x, p.z, fma(-p.x, h.z, J.xz)),
            yz=fma(-c.y, p.z, fma(-p.y, h.z, J.yz)),
        )
        return Inertia(self.mass, h, J)

    def com(self) -> Vector:
        """The centre of mass [m]; the origin for a body without mass."""
        heavy = either(self.mass > 0.0, self.mass < 0.0)
        return self.h * where(heavy, 1.0 / where(heavy, self.mass, 1.0), 0.0)

    def tensor_about_com(self) -> Symmetric:
        """Rotational inertia about the centre of mass [kg m²]."""
        return self.J - self.mass * point_tensor(self.com())


def point_tensor(r: Vector) -> Symmetric:
    """The rotational inertia of a unit mass at r about the origin: |r|² 1 - r rᵀ."""
    xx, yy, zz = r.x * r.x, r.y * r.y, r.z * r.z
    return Symmetric(yy + zz, xx + zz, xx + yy, -(r.x * r.y), -(r.x * r.z), -(r.y * r.z))


def perpendicular(n: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors perpendicular to a unit vector n and to each other.

    Duff et al. 2017, *Journal of Computer Graphics Techniques* 6(1): without a quotient of small numbers.
    """
    sign = where(n.z < 0.0, -1.0, 1.0)
    a = -1.0 / (1.0 + absolute(n.z))
    return (
        Vector(1.0 + n.x * n.x * a, n.x * n.y * a, -sign * n.x),
        Vector(n.x * n.y * a, 1.0 + n.y * n.y * a, -sign * n.y) * sign,
    )
