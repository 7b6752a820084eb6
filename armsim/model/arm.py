"""A serial arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from armsim.model.frame import TOOL, LinkFrame, Payload
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
        frames: Frames fixed in links, the tool first.
        payloads: What they carry.
    """

    name: str
    gravity: Vector
    base: Pose
    joints: tuple[Joint, ...]
    frames: tuple[LinkFrame, ...] = (TOOL,)
    payloads: tuple[Payload, ...] = ()

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

    @property
    def sprung(self) -> bool:
        """Whether any joint has a spring."""
        return any(joint.spring is not None for joint in self.joints)

    @property
    def tool(self) -> LinkFrame:
        """The tool."""
        return self.frames[0]

    def frame(self, name: str) -> LinkFrame:
        """The frame of a name.

        Raises:
            KeyError: There is none.
        """
        return {frame.name: frame for frame in self.frames}[name]

    def frame_at(self, link: int, position: Vector = ZERO) -> LinkFrame:
        """A frame without a name at a position in the user's frame of a link [m], along its axes."""
        return LinkFrame("", self.joints[link].name, Pose(position=position))

    def link_of(self, frame: LinkFrame) -> int:
        """Index of the link in which a frame is fixed."""
        return self.joint_names.index(frame.link) if frame.link else self.n - 1

    def placement(self, frame: LinkFrame) -> Pose:
        """A frame in its link's own frame."""
        return self.joints[self.link_of(frame)].frame @ frame.pose

    @cached_property
    def timed(self) -> tuple[Payload, ...]:
        """The payloads that are carried for a part of the time."""
        return tuple(payload for payload in self.payloads if payload.timed)

    @property
    def stages(self) -> list[Scalar]:
        """The start, and the times at which payloads are picked up or put down [s], in order."""
        times = {t for payload in self.timed for t in (payload.start, payload.end) if t is not None}
        return sorted({0.0, *times})

    def at(self, t: Scalar) -> Arm:
        """The arm with what it carries at time t [s]."""
        return (
            replace(self, payloads=tuple(payload.scaled(payload.share(t)) for payload in self.payloads))
            if self.timed
            else self
        )

    @property
    def heaviest(self) -> Arm:
        """The arm with what it carries when that is heaviest."""
        return max(map(self.at, self.stages), key=lambda arm: arm.mass)

    def carried_by(self, frame: LinkFrame) -> Inertia:
        """The sum of a frame's payloads, about its origin."""
        carried = [payload.inertia for payload in self.payloads if payload.frame == frame.name]
        return sum(carried[1:], start=carried[0]) if carried else Inertia()

    @cached_property
    def inertias(self) -> tuple[Inertia, ...]:
        """The links' inertias with all payloads, each about its own frame's origin."""
        inertias = [joint.inertia for joint in self.joints]
        for payload in self.payloads:
            frame = self.frame(payload.frame)
            place, link = self.placement(frame), self.link_of(frame)
            inertias[link] = inertias[link] + payload.inertia.moved(place.rotation, place.position)
        return tuple(inertias)

    @property
    def mass(self) -> Scalar:
        """Of links and all payloads [kg]."""
        return sum(inertia.mass for inertia in self.inertias)

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
