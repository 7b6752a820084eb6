"""An arm."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import Any

from armsim.expr import Scalar, Scalars
from armsim.geometry import HeightField, Obstacle
from armsim.model.frame import TOOL, ContactPoint, LinkFrame, Payload
from armsim.model.joint import BASE, Joint, Limit, with_follower
from armsim.records import record
from armsim.spatial import ZERO, Inertia, Pose, Symmetric, Vector


@record
class Arm:
    """A tree of links, each with the joint that moves it; mostly a chain. Its numbers may be floats or expressions.

    Attributes:
        name: As in the robot file.
        gravity: Free-fall acceleration in the world [m/s²].
        base: The arm's base in the world.
        links: The links with their joints, each after the one that carries it.
        frames: Frames fixed in links, the tool first.
        payloads: What they carry.
        solids: What the links are made of, by the names of their joints, each in the link's own frame.
        world: What stands fixed around it.
        contacts: Which of it resists which points and spheres of the arm.
    """

    name: str
    gravity: Vector
    base: Pose
    links: tuple[Joint, ...]
    frames: tuple[LinkFrame, ...] = (TOOL,)
    payloads: tuple[Payload, ...] = ()
    solids: tuple[Obstacle, ...] = ()
    world: tuple[Obstacle, ...] = ()
    contacts: tuple[ContactPoint, ...] = ()

    def __repr__(self) -> str:
        return f"Arm({self.name}: {', '.join(self.joint_names)})"

    @property
    def n(self) -> int:
        """Number of joints, followers left out: that of coordinates."""
        return len(self.joints)

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that have a coordinate of their own, with what acts on those that follow them."""
        free = {link.name: link for link in self.links if link.mimic is None}
        for link in self.followers:
            assert link.mimic is not None
            free[link.mimic.joint] = with_follower(free[link.mimic.joint], link)
        return tuple(free.values())

    @cached_property
    def followers(self) -> tuple[Joint, ...]:
        """The joints whose position follows another's."""
        return tuple(link for link in self.links if link.mimic is not None)

    @cached_property
    def mechanism(self) -> Arm:
        """The arm with the rotors behind elastic couplings as joints of their own, after all others; itself without any.

        A rotor's kinetic energy is that of its own spin (Spong 1987, *J. Dyn. Sys., Meas., Control* 109(4)).
        """
        elastic = [link for link in self.links if link.coupling is not None]
        if not elastic:
            return self
        links = [replace(link, motor=None) if link.coupling is not None else link for link in self.links]
        return replace(self, links=(*links, *(link.rotor for link in elastic)))

    @cached_property
    def drivers(self) -> tuple[int, ...]:
        """Of the joints without rotors, index in `joints` of what its drive acts on: of its rotor, or its own."""
        rotors = {joint.drives: i for i, joint in enumerate(self.joints) if joint.drives is not None}
        return tuple(rotors.get(joint.name, i) for i, joint in enumerate(self.joints) if joint.drives is None)

    def of_drivers(self, values: Sequence[Any]) -> list[Any]:
        """Those of values for `joints` that are of `drivers`."""
        return [values[i] for i in self.drivers]

    def map_links(self, change: Callable[[Joint], Joint]) -> Arm:
        """The arm with other links."""
        return replace(self, links=tuple(map(change, self.links)))

    @property
    def joint_names(self) -> list[str]:
        """Names of `joints`."""
        return [joint.name for joint in self.joints]

    @property
    def link_names(self) -> list[str]:
        """Names of `links`: of all joints."""
        return [link.name for link in self.links]

    @property
    def names(self) -> list[str]:
        """Names of all joints, those that mimic others last, which is the order of their columns."""
        return [*self.joint_names, *(link.name for link in self.followers)]

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of the link that carries each link; -1 for the base."""
        at, found = {BASE: -1}, list[int]()
        for i, link in enumerate(self.links):
            found.append(i - 1 if link.parent is None else at[link.parent])
            at[link.name] = i  # a joint may be called base: of those after it
        return tuple(found)

    def path(self, link: int) -> list[int]:
        """Indices of the links from a link to the base, both ends included but the base."""
        found = []
        while link >= 0:
            found.append(link)
            link = self.parents[link]
        return found

    def longest(self, lengths: Sequence[float], slides: Sequence[float]) -> float:
        """Length of the stretched arm, along the longest of its branches [m].

        Args:
            lengths: Of `ends` [m].
            slides: How far each joint slides [m].
        """
        branches = [self.path(link)[::-1] for link in range(len(self.links))]
        branches.append([*branches[self.link_of(self.tool)], -1])
        return max(sum(lengths[i] for i in way) + sum(slides[i] for i in way if i >= 0) for way in branches)

    def leader(self, link: Joint) -> int:
        """Index in `joints` of the joint whose position decides a link's."""
        return self.joint_names.index(link.name if link.mimic is None else link.mimic.joint)

    def positions(self, q: Scalars) -> Scalars:
        """The positions of all links' joints, by those of `joints` [rad or m]."""
        if not self.followers:
            return q
        return [q[j] if link.mimic is None else link.mimic.position(q[j]) for link, j in self._leaders]

    def rates(self, qd: Scalars) -> Scalars:
        """The velocities of all links' joints, or their accelerations, by those of `joints`."""
        if not self.followers:
            return qd
        return [qd[j] if link.mimic is None else link.mimic.ratio * qd[j] for link, j in self._leaders]

    def project(self, forces: Scalars) -> list[Scalar]:
        """What forces on all links' joints amount to on `joints`: the transpose of `rates`."""
        if not self.followers:
            return list(forces)
        total: list[Scalar] = [0.0] * self.n
        for (link, j), force in zip(self._leaders, forces, strict=True):
            total[j] = total[j] + (force if link.mimic is None else link.mimic.ratio * force)
        return total

    @cached_property
    def links_in_range(self) -> tuple[Joint, ...]:
        """`links`, each with the range in which its joint can move and its initial position."""
        limits = [joint.limit or Limit(-math.inf, math.inf) for joint in self.joints]
        lower, upper = (self.positions([getattr(limit, end) for limit in limits]) for end in ("lower", "upper"))
        found = zip(self.links, self.positions(self.initial), lower, upper, strict=True)
        return tuple(replace(link, initial=q, limit=Limit(*sorted(ends))) for link, q, *ends in found)

    @property
    def ends(self) -> list[Vector]:
        """The origins of the links' own frames and of the tool, each in the frame of the link that carries it [m]."""
        return [*(link.position for link in self.links), self.placement(self.tool).position]

    @cached_property
    def _leaders(self) -> list[tuple[Joint, int]]:
        return [(link, self.leader(link)) for link in self.links]

    @property
    def initial(self) -> tuple[Scalar, ...]:
        """Initial joint positions of the robot file [rad or m]."""
        return tuple(joint.initial for joint in self.joints)

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
        return LinkFrame("", self.links[link].name, Pose(position=position))

    def link_of(self, frame: LinkFrame) -> int:
        """Index of the link in which a frame is fixed."""
        if frame.link:
            return self.link_names.index(frame.link)
        return sum(link.drives is None for link in self.links) - 1  # the last, but for rotors

    def placement(self, frame: LinkFrame) -> Pose:
        """A frame in its link's own frame."""
        return self.links[self.link_of(frame)].frame @ frame.pose

    @cached_property
    def timed(self) -> tuple[Payload, ...]:
        """The payloads that are carried for a part of the time."""
        return tuple(payload for payload in self.payloads if payload.timed)

    @property
    def stages(self) -> Scalars:
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

    @cached_property
    def pairs(self) -> dict[str, tuple[str, str]]:
        """What has a distance, by name: every two links with solids but for neighbours, and every link and thing of the world.

        Neighbours have no link with solids between them. Terrain and points have no distances.
        """
        solid = dict.fromkeys(it.name for it in self.solids)
        pairs = [(a, it.name) for a in solid for it in self.world if it.name not in self.terrain]
        for b in solid:
            way = [self.link_names[i] for i in self.path(self.link_names.index(b))[1:]]
            before = next((name for name in way if name in solid), None)
            earlier = takewhile(b.__ne__, solid)
            pairs += [(a, b) for a in earlier if a != before]
        return {f"{a}_{b}": (a, b) for a, b in pairs}

    @property
    def terrain(self) -> list[str]:
        """Names of what has no distances in the world."""
        return [it.name for it in self.world if isinstance(it.shape, HeightField)]

    def carried_by(self, frame: LinkFrame) -> Inertia:
        """The sum of a frame's payloads, about its origin."""
        carried = [payload.inertia for payload in self.payloads if payload.frame == frame.name]
        return sum(carried[1:], start=carried[0]) if carried else Inertia()

    @cached_property
    def inertias(self) -> tuple[Inertia, ...]:
        """The links' inertias with all payloads, each about its own frame's origin."""
        inertias = [link.inertia for link in self.links]
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
        for i, parent in reversed(list(enumerate(self.parents))):
            joint, whole = self.links[i], grouped[i]
            J = whole.J
            moved = Inertia(
                mass=0.0 if joint.kind.slides else whole.mass,
                h=ZERO if joint.kind.slides else Vector(0.0, 0.0, whole.h.z),
                J=Symmetric(J.yy, J.yy, 0.0) if joint.kind.turns else J,
            )
            grouped[i] = whole - moved
            if parent >= 0:
                grouped[parent] = grouped[parent] + moved.moved(joint.tilt, joint.position)
        return tuple(grouped)
