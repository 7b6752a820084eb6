"""A joint and the link it moves."""

from __future__ import annotations

import math
from dataclasses import field, replace
from typing import Any

from armsim.expr import is_number, where
from armsim.model.angles import POSITION
from armsim.model.joint_type import JOINT_TYPES, JointType
from armsim.model.motor import Coulomb, Coupling, Motor
from armsim.records import record
from armsim.spatial import IDENTITY, ZERO, Inertia, Matrix, Pose, Scalar, Vector


@record
class Limit:
    """The range of a joint and the stops at its ends.

    Attributes:
        lower: Least joint position [rad or m]; -inf for none.
        upper: Greatest joint position [rad or m]; inf for none.
        stiffness: Of the stops [N·m/rad or N/m]; None where the range is checked and reported but not enforced.
        damping: Of the stops [N·m·s/rad or N·s/m].
    """

    lower: Scalar = field(metadata=POSITION)
    upper: Scalar = field(metadata=POSITION)
    stiffness: Scalar | None = None
    damping: Scalar = 0.0

    @property
    def has_lower(self) -> bool:
        """Whether there is a lower limit."""
        return not is_number(self.lower, -math.inf)

    @property
    def has_upper(self) -> bool:
        """Whether there is an upper limit."""
        return not is_number(self.upper, math.inf)

    def holds(self, q: float) -> bool:
        """Whether a joint position is within the range; of a range of numbers."""
        return bool(self.lower <= q <= self.upper)


@record
class Spring:
    """A spring at a joint, which pulls it to a position.

    Attributes:
        stiffness: [N·m/rad or N/m].
        rest: Joint position at which it is slack [rad or m].
    """

    stiffness: Scalar
    rest: Scalar = field(default=0.0, metadata=POSITION)

    def force(self, q: Scalar) -> Scalar:
        """Its force at joint position q [N·m or N]."""
        return -self.stiffness * (q - self.rest)


BASE = "base"  # as the name of a parent


@record
class Mimic:
    """A coupling: a joint's position is ratio times that of another, plus an offset.

    Attributes:
        joint: Name of the joint that leads; it has no coupling itself.
        ratio: Of the positions [rad/rad, m/rad, rad/m or m/m].
        offset: [rad or m].
    """

    joint: str
    ratio: Scalar = 1.0
    offset: Scalar = 0.0

    def position(self, q: Scalar) -> Scalar:
        """The follower's position, where the leader is at q."""
        return self.ratio * q + self.offset

    def invert(self, q: Scalar) -> Scalar:
        """The leader's position, where the follower is at q."""
        return (q - self.offset) / self.ratio

    def sides(self, positive: Scalar, negative: Scalar) -> tuple[Scalar, Scalar]:
        """What belongs to the follower's positive and negative direction, by the leader's direction."""
        same = self.ratio > 0.0
        return where(same, positive, negative), where(same, negative, positive)

    def dry(self, friction: Coulomb) -> Coulomb:
        """Dry friction by the leader's direction, of the same size."""

        def turned(x: Any) -> Any:
            positive, negative = self.sides(x.positive, x.negative)
            return replace(x, positive=positive, negative=negative)

        return replace(turned(friction), peaks=tuple(map(turned, friction.peaks or ())) or None)


@record
class Joint:
    """A joint about its z axis (revolute), along it (prismatic) or both (screw), and the link beyond it.

    At joint position q, with x = q + offset, the link's frame stands in the frame of the link that carries it at rotation
    `tilt` Rz(turns x), and at `position` + `tilt` z (slides x).

    Attributes:
        name: As in the robot file.
        type: Of `JOINT_TYPES`.
        tilt: Constant rotation from the link that carries it.
        position: Constant part of the origin, in the frame of that link [m].
        offset: Added to the joint position [rad or m].
        initial: Initial joint position of the robot file [rad or m].
        inertia: The link, about its frame's origin; the last link carries no payload here.
        viscous: Viscous friction on the joint's side [N·m·s/rad or N·s/m].
        coulomb: Dry friction on the joint's side, if any.
        limit: Range and stops, if any.
        spring: A spring, if any.
        motor: The motor, if any.
        frame: The frame of the user's convention in the link's own; they differ in standard DH and origin files.
        pitch: Lead of a screw, its translation per turn [m]; negative for a left-handed one.
        parent: Name of the joint whose link carries it, or "base"; None for the one before.
        mimic: The coupling to another joint that decides its position; None for a joint with a coordinate of its own.
        drives: Of a rotor, name of the joint that it drives through its motor's elastic coupling; None for any other.
    """

    name: str
    type: str
    tilt: Matrix = IDENTITY
    position: Vector = ZERO
    offset: Scalar = 0.0
    initial: Scalar = 0.0
    inertia: Inertia = Inertia()
    viscous: Scalar = 0.0
    coulomb: Coulomb | None = None
    limit: Limit | None = None
    spring: Spring | None = None
    motor: Motor | None = None
    frame: Pose = Pose()
    pitch: Scalar = 0.0
    parent: str | None = None
    mimic: Mimic | None = None
    drives: str | None = None

    @property
    def coupling(self) -> Coupling | None:
        """The elastic coupling to its motor, if it has one."""
        return None if self.motor is None else self.motor.coupling

    @property
    def rotor(self) -> Joint:
        """The rotor of its motor as a joint on the base, with a coordinate and an armature but no mass: at the joint's side."""
        return Joint(f"motor_{self.name}", self.type, motor=self.motor, pitch=self.pitch, parent=BASE, drives=self.name)

    @property
    def kind(self) -> JointType:
        """Its type, of `JOINT_TYPES`."""
        return JOINT_TYPES[self.type]

    @property
    def bounds(self) -> tuple[Scalar | None, Scalar | None]:
        """Least and greatest joint position [rad or m]; None where there is no limit."""
        limit = self.limit
        if limit is None:
            return None, None
        return limit.lower if limit.has_lower else None, limit.upper if limit.has_upper else None

    @property
    def turns(self) -> Scalar:
        """Rotation per unit of joint position: 1 or 0."""
        return 1.0 if self.kind.turns else 0.0

    @property
    def slides(self) -> Scalar:
        """Translation per unit of joint position [m/rad, or 1]."""
        if not self.kind.slides:
            return 0.0
        return self.pitch / (2 * math.pi) if self.kind.has_pitch else 1.0

    @property
    def armature(self) -> Scalar:
        """Rotor inertia reflected to the joint, gear² times its own [kg m² or kg]; 0 without a motor."""
        return 0.0 if self.motor is None else self.motor.gear * self.motor.gear * self.motor.rotor_inertia

    @property
    def dry(self) -> Coulomb | None:
        """Dry friction of the joint and of its motor, as the joint feels it; None where there is none."""
        motor = self.motor
        if motor is None or motor.coulomb is None:
            return self.coulomb
        return (self.coulomb or Coulomb(0.0, 0.0)) + motor.coulomb.through(motor.gear)

    @property
    def electric_motor(self) -> Motor | None:
        """The motor, if it has electrical constants, so that a voltage can drive it."""
        return None if self.motor is None or self.motor.Kp is None else self.motor


def with_follower(joint: Joint, follower: Joint) -> Joint:
    """A joint with what acts on one that follows it: its friction beside its own; its limits, spring and motor.

    Virtual work: at joint velocity v the follower moves at ratio v, so its forces count by the ratio, its stiffness and
    damping by the ratio's square. A motor there is one here with ratio times the gear.
    """
    mimic = follower.mimic
    assert mimic is not None
    ratio, limit, spring, motor, dry = mimic.ratio, follower.limit, follower.spring, follower.motor, follower.coulomb
    square = ratio * ratio
    changes: dict[str, Any] = {"viscous": joint.viscous + square * follower.viscous}
    if dry is not None:
        changes["coulomb"] = (joint.coulomb or Coulomb(0.0, 0.0)) + mimic.dry(dry).through(ratio)
    if limit is not None:
        upper, lower = mimic.sides(mimic.invert(limit.upper), mimic.invert(limit.lower))
        stiffness = None if limit.stiffness is None else square * limit.stiffness
        changes["limit"] = Limit(lower, upper, stiffness, square * limit.damping)
    if spring is not None:
        changes["spring"] = Spring(square * spring.stiffness, mimic.invert(spring.rest))
    if motor is not None:
        coulomb = None if motor.coulomb is None else mimic.dry(motor.coulomb)
        changes["motor"] = replace(motor, gear=ratio * motor.gear, coulomb=coulomb)
    return replace(joint, **changes)
