"""Internal wrenches: what the bearings of a moving arm, its base, and force-torque sensors at its frames carry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from armsim.dynamics.rnea import Wrench, joint_wrenches
from armsim.expr import Scalars
from armsim.model import BASE, Arm, LinkFrame
from armsim.records import record
from armsim.spatial import Inertia, cross


def carriers(arm: Arm) -> list[str]:
    """Names of what carries wrenches: the base, the joints, and the frames that have a payload."""
    return [BASE, *arm.link_names, *dict.fromkeys(payload.frame for payload in arm.payloads)]


@record
class InternalWrenches:
    """The internal wrenches of a motion.

    Attributes:
        arm: The arm, n joints; its numbers may be floats or expressions.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        qdd: Joint accelerations [rad/s² or m/s²], n scalars.
        external: The external wrenches, as of `link_wrenches`: all, or for the name of a frame those that are applied there.
    """

    arm: Arm
    q: Scalars
    qd: Scalars
    qdd: Scalars
    external: Callable[[str | None], Sequence[Wrench] | None] = lambda at: None

    def at(self, name: str) -> Wrench:
        """Moment [N·m] and force [N] at the base, a joint or a frame, whichever has the name: see `joint_wrenches` and `sensor`.

        Raises:
            KeyError: None has.
        """
        found = self._transmitted.get(name)
        return self.sensor(self.arm.frame(name)) if found is None else found

    @cached_property
    def _transmitted(self) -> dict[str, Wrench]:
        found = joint_wrenches(self.arm, self.q, self.qd, self.qdd, self.arm.inertias, self.external(None))
        return dict(zip([BASE, *self.arm.link_names], found, strict=True))

    def sensor(self, frame: LinkFrame) -> Wrench:
        """What a force-torque sensor at a frame carries, about its origin and along its axes: what the link exerts through it.

        The frame's payloads and the external wrenches at the frame are what the link's joint would transmit if they were all that
        there is of the arm.
        """
        link, place = self.arm.link_of(frame), self.arm.placement(frame)
        inertias = [Inertia()] * len(self.arm.links)
        inertias[link] = self.arm.carried_by(frame).moved(place.rotation, place.position)
        n, f = joint_wrenches(self.arm, self.q, self.qd, self.qdd, inertias, self.external(frame.name))[link + 1]
        back = place.rotation.T
        return back @ (n - cross(place.position, f)), back @ f
