"""The velocities at which joints may be held: rest, by dry friction, and a motor's limit of speed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from armsim.dynamics import Law, clipped_solve
from armsim.expr import Scalar, Scalars, absolute, both, either, negated, where
from armsim.plant.equations import Forces
from armsim.plant.system import by_joint
from armsim.records import mutable_record


@mutable_record
class LatchPlace:
    """Where a joint is among the velocities at which it may be held.

    Attributes:
        free: It is at none of them, or may be held at none.
        way: It moves in the positive direction.
        at_limit: It is at its motor's limit of speed, in either direction.
        fast: It is beyond that.
        locked: It is held whatever that takes.
    """

    free: Any
    way: Any
    at_limit: Any = False
    fast: Any = False
    locked: Any = False

    @property
    def slow(self) -> Any:
        """Whether the limit of speed slows its motor, as far as places tell."""
        return either(self.fast, both(self.at_limit, negated(self.free)))


class Latches:
    """The velocities at which joints may be held: rest where there is dry friction, a motor's limit of speed in both directions.

    At such a velocity the force on the joint jumps, and as far as it can holds the joint there: within bounds it is what keeps
    the velocity, beyond them it gives way (Filippov's sliding mode). All joints are solved for together.

    Args:
        dry: Which joints have dry friction.
        limits: Greatest velocity of joints whose motor's limit of speed counts [rad/s or m/s], by joint.

    Attributes:
        dry: As given.
        limits: As given.
        joints: Those that may be held.
    """

    def __init__(self, dry: Sequence[bool], limits: Mapping[int, Scalar]) -> None:
        self.dry = tuple(dry)
        self.limits = dict(limits)
        self.joints = tuple(i for i in range(len(self.dry)) if self.dry[i] or i in self.limits)

    def places(self, v: Scalars, mode: Scalars = ()) -> list[LatchPlace]:
        """The place of every joint at velocities v [rad/s or m/s], or in a known `StickSlipMode.mode`, for those not `OPEN`."""
        found = []
        for i, x in enumerate(v):
            place = LatchPlace(either(x > 0.0, x < 0.0) if self.dry[i] else True, x > 0.0)
            if i in self.limits:
                speed, most = absolute(x), self.limits[i]
                place.fast = speed > most
                place.at_limit = both(speed <= most, speed >= most)
                place.free = both(place.free, negated(place.at_limit))
            found.append(place)
        for i, side in zip(self.joints, mode, strict=bool(mode)):
            place = found[i]
            opened = both(absolute(side) > 1.5, absolute(side) < 2.5)
            moves = absolute(side) > 0.5
            place.locked = both(negated(opened), negated(moves))
            place.free = one_of(opened, place.free, moves)
            place.way = one_of(either(opened, negated(moves)), place.way, side > 0.0)
            if i in self.limits:
                place.fast = either(both(opened, place.fast), absolute(side) > 2.5)
                place.at_limit = both(place.at_limit, either(opened, negated(moves)))
        return found

    def bounds(self, i: int, now: Forces, at_limit: Any, up: Any) -> tuple[Scalar, Scalar]:
        """The bounds of what can hold joint i, at its motor's limit of speed or else at rest [N·m or N]."""
        lower, upper = now.lower[i], now.upper[i]
        if i not in self.limits:
            return lower, upper
        forwards, backwards = now.slower[i]
        least, most = where(up, lower + forwards, upper), where(up, lower, upper + backwards)
        return where(at_limit, least, lower), where(at_limit, most, upper)

    def solved(self, now: Forces, places: Sequence[LatchPlace]) -> tuple[Scalars, Scalars]:
        """Joint accelerations, and what holds or slows each joint: one at such a velocity is held or leaves it."""
        lower, upper = list(now.lower), list(now.upper)
        for i in self.joints:
            place = places[i]
            sliding = slide(now, i, place.way, place.fast)
            low, high = self.bounds(i, now, place.at_limit, place.way)
            lower[i] = where(place.free, sliding, where(place.locked, -inf, low))
            upper[i] = where(place.free, sliding, where(place.locked, inf, high))
        laws = self.laws(lower, upper, [place.free for place in places])
        a, latched = clipped_solve(now.M, now.f, laws, [0.0] * len(places))
        return a, by_joint(laws, latched, len(places))

    def laws(self, lower: Scalars, upper: Scalars, free: Sequence[Any] | None = None) -> list[Law]:
        """The laws on the joints that may be held."""
        free = free or [False] * len(lower)
        return [Law(i, lower[i], upper[i], free=free[i]) for i in self.joints]


def one_of(condition: Any, a: Any, b: Any) -> Any:
    """The condition a where `condition` holds, else b."""
    return either(both(condition, a), both(negated(condition), b))


def slide(now: Forces, i: int, up: Any, fast: Any) -> Scalar:
    """Dry friction of a joint that moves, less what the limit of speed takes away from its motor [N·m or N]."""
    forwards, backwards = now.slower[i]
    return where(up, now.lower[i], now.upper[i]) + where(fast, where(up, forwards, backwards), 0.0)
