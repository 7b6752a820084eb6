"""A serial arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from armsim.model.joint import Joint
from armsim.spatial import ZERO, Inertia, Pose, Scalar, Symmetric, Vector


@dataclass(frozen=True)
class Arm:
    """A serial chain of joints, from the base to the tool. Its numbers may be floats or expressions.

    Attributes:
        name: As in the robot file.
        gravity: Free-fall acceleration in the world [m/s²].
        base: The arm's base in the world.
        joints: From base to tip, each with its link.
        tool: The tool in the user's frame of the last link.
        payload: What the tool carries, about the tool's origin.
    """

    name: str
    gravity: Vector
    base: Pose
    joints: tuple[Joint, ...]
    tool: Pose = Pose()
    payload: Inertia = Inertia()

    def __repr__(self) -> str:
        return f"Arm({self.name}: {', '.join(self.joint_names)})"

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.joints)

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints, from base to tip."""
        return [joint.name for joint in self.joints]

    @property
    def initial(self) -> tuple[Scalar, ...]:
        """Initial joint positions of the robot file [rad or m]."""
        return tuple(joint.initial for joint in self.joints)

    def shown(self, values: Sequence[Scalar], degrees: bool) -> list[float]:
        """Joint positions, velocities or accelerations, angles in degrees if asked for; see `JointType.shown`."""
        return [joint.kind.shown(value, degrees) for joint, value in zip(self.joints, values, strict=True)]

    @cached_property
    def tool_in_link(self) -> Pose:
        """The tool in the last link's own frame."""
        return self.joints[-1].frame @ self.tool

    @cached_property
    def inertias(self) -> tuple[Inertia, ...]:
        """The links' inertias, each about its own frame's origin, the last with the payload."""
        carried = self.payload.moved(self.tool_in_link.rotation, self.tool_in_link.position)
        last = self.joints[-1].inertia + carried
        return (*(joint.inertia for joint in self.joints[:-1]), last)

    @cached_property
    def regrouped(self) -> tuple[Inertia, ...]:
        """Regrouped inertial parameters: the same joint torques with fewer operations. Single links have `inertias`.

        The part of a link's inertia that its joint's motion leaves unchanged (rotation: what is symmetric about the axis and has
        no first moment about it; translation: pure rotational inertia) is lumped into the link before, where it has the same
        kinetic energy, and the same potential energy but for a constant (Khalil and Dombre, *Modeling, Identification and
        Control of Robots*, section 9.4). Revolute links come out massless, and many terms of the recursions vanish.
        """
        grouped = list(self.inertias)
        for i in reversed(range(self.n)):
            joint, whole = self.joints[i], grouped[i]
            J = whole.J
            moved = Inertia(
                mass=0.0 if joint.kind.slides else whole.mass,
                h=ZERO if joint.kind.slides else Vector(0.0, 0.0, whole.h.z),
                J=Symmetric(J.yy, J.yy, 0.0) if joint.kind.turns else J,
            )
            grouped[i] = whole - moved
            if i > 0:
                grouped[i - 1] = grouped[i - 1] + moved.moved(joint.tilt, joint.position)
        return tuple(grouped)
