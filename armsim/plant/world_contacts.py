"""The contacts of an arm with the world, and the motions in which none of them can touch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, reduce
from typing import Any

from armsim.control import Memory
from armsim.dynamics import CLOSED, Contact, Touch, contacts_of, farthest_moves, own_poses, told_to
from armsim.expr import Scalar, Scalars, maximum, minimum, shared, where
from armsim.integrate import Motion
from armsim.model import Arm
from armsim.plant.state import Clearance, Further
from armsim.records import record
from armsim.spatial import Vector


@record
class WorldContacts:
    """The contacts of an arm with the world.

    Attributes:
        arm: The arm, its rotors behind elastic couplings as joints (`Arm.mechanism`), n in all.
        times: Whether the time for which each is closed is a further state.
        far: Whether none can touch: they do not act, and their further states rest.
    """

    arm: Arm
    times: bool = False
    far: bool = False

    @cached_property
    def all(self) -> tuple[Contact, ...]:
        """The contacts, in order."""
        return contacts_of(self.arm)

    @property
    def acting(self) -> tuple[Contact, ...]:
        """Those that may touch."""
        return () if self.far else self.all

    def begin(self, q: Scalars) -> dict[str, Scalar]:
        """The further states of contacts that stick at joint positions q without friction force, by name."""
        found: dict[str, Scalar] = {}
        for contact, center in zip(self.all, self.centers(q), strict=True):
            found |= contact.begin(center) | ({contact.state(CLOSED): 0.0} if self.times else {})
        return found

    def centers(self, q: Scalars) -> list[Vector]:
        """The centres of contacts at joint positions q [m]."""
        poses = own_poses(self.arm, q) if self.all else []
        places = [(self.arm.link_of(contact.at), self.arm.placement(contact.at)) for contact in self.all]
        return [poses[link].point(place.position) for link, place in places]

    def seen(self, q: Scalars) -> Clearance:
        """How far the contacts are at joint positions q."""
        return Clearance(reduce(minimum, map(Contact.clearance, self.all, self.centers(q))), list(q), 0.0)

    def clear(self, seen: Clearance, moves: Scalars) -> Any:
        """Whether none can touch while joints move by no more than that from where they were when the gap was seen."""
        reach = reduce(maximum, (self.arm.placement(contact.at).position.norm for contact in self.all), 0.0)
        return farthest_moves(self.arm, seen.q, moves, reach) < seen.gap

    def relaxed(self, states: Mapping[str, Scalar], q: Scalars, after: Scalars, dt: Scalar) -> dict[str, Scalar]:
        """The further states after a time dt [s] in which none touches, and joints go from q to `after`."""
        found = dict(states)
        if found:
            for contact, before, then in zip(self.all, self.centers(q), self.centers(after), strict=True):
                found |= contact.relaxed(states, before, then, dt)
        return found

    def touches(self, t: Scalar, y: Motion) -> list[Touch]:
        """The contacts that act, in order."""
        told = told_to(self.arm, self.acting, t, y.q, y.v, y.z.contacts)
        return [contact.touch(told) for contact in self.acting]

    def rates(self, t: Scalar, y: Motion) -> dict[str, Scalar]:
        """The rates of the further states."""
        found = dict.fromkeys(y.z.contacts, 0.0)
        for contact, touch in zip(self.acting, self.touches(t, y), strict=True):
            found |= touch.rates
            if self.times:
                found[contact.state(CLOSED)] = where(touch.gap < 0.0, 1.0, 0.0)
        return found

    @cached_property
    def approaches(self) -> Callable[[Scalars, Scalars], list[tuple[Scalar, Scalar]]]:
        """The gaps of contacts that act [m] and their rates [m/s], by joint positions and velocities."""
        still = Further(Memory(), [])
        return shared(
            lambda q, v: [(x.gap, x.rate) for x in self.touches(0.0, Motion(q, v, still, None))], "approaches"
        )
