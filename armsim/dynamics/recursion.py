"""Recursions along the links of an arm: outward, from the base to the tips, and inward.

Those of small arms are unrolled, so that constant zeros and ones fold; those of large arms are scans (`armsim.expr.scan`), whose
text does not grow with the arm. The operations on each link, and so the bits, are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armsim.dynamics.kinematics import pass_on
from armsim.expr import is_long, scan
from armsim.model import Arm
from armsim.records import record
from armsim.spatial import Inertia, Scalar


def is_large(arm: Arm) -> bool:
    """Whether an arm has so many joints that effort in proportion to their number matters more than to its square."""
    return is_long(arm.n)


@record
class Segment:
    """What recursions want to know of a link and its joint; see `armsim.model.Joint`.

    Attributes:
        turns: Factor of the joint's rate about its axis.
        slides: Factor along it [m/rad or 1].
        armature: [kg m² or kg].
        inertia: Of the link, regrouped.
    """

    turns: Scalar
    slides: Scalar
    armature: Scalar
    inertia: Inertia


class LinkRecursion:
    """Recursions along the links of one arm.

    Args:
        arm: The arm.
        rolled: Whether they are scans where they are traced; None for large arms.

    Attributes:
        segments: An item for each link.
    """

    def __init__(self, arm: Arm, rolled: bool | None = None) -> None:
        self.arm = arm
        self.rolled = is_large(arm) if rolled is None else rolled
        links = zip(arm.links, arm.regrouped, strict=True)
        self.segments = [Segment(link.turns, link.slides, link.armature, inertia) for link, inertia in links]

    def outward(
        self, base: Any, body: Callable[..., tuple[Any, Any]], *items: Sequence[Any]
    ) -> Sequence[tuple[Any, Any]]:
        """What `body` finds at each link, from the base to the tips.

        Args:
            base: A tree of scalars of the base.
            body: From the tree of the link, or base, that carries a link, and the link's items to a tree of that structure, and
                whatever else is wanted.
            items: Trees of scalars, one for each link.
        """
        if self.rolled:
            _, found = scan(
                [], lambda none, *x: (none, body(x[-1], *x[:-1])), *items, links=[self.arm.parents], before=base
            )
            return found
        made: list[tuple[Any, Any]] = []
        for parent, *own in zip(self.arm.parents, *items, strict=True):
            made.append(body(base if parent < 0 else made[parent][0], *own))
        return made

    def inward(
        self, nothing: Any, body: Callable[..., tuple[Any, Any]], *items: Sequence[Any]
    ) -> Sequence[tuple[Any, Any]]:
        """What `body` finds at each link, from the tips to the base.

        Args:
            nothing: Zeros of the structure of what is passed on: a tuple of things that can be added.
            body: From the sum of what the links that a link carries have passed on, and the link's items, to what it passes
                on, and whatever else is wanted.
            items: Trees of scalars, one for each link.
        """
        parents = self.arm.parents
        if self.rolled:

            def summed(none: Any, *x: Any) -> tuple[Any, Any]:
                *own, beyond, beside = x
                passed, rest = body(beyond, *own)
                return none, (tuple(a + b for a, b in zip(passed, beside, strict=True)), rest)

            # what a link passes on is added to that of its next sibling, so that the first has the sum of all
            first, following = [-1] * len(parents), [-1] * len(parents)
            for i, parent in reversed(list(enumerate(parents))):
                if parent >= 0:
                    first[parent], following[i] = i, first[parent]
            _, found = scan([], summed, *items, links=[first, following], before=nothing, backward=True)
            return found
        beyond: dict[int, tuple[Any, ...]] = {}
        made: list[tuple[Any, Any]] = []
        for i, (parent, *own) in reversed(list(enumerate(zip(parents, *items, strict=True)))):
            passed, rest = body(beyond.get(i, nothing), *own)
            pass_on(beyond, parent, *passed)
            made.append((passed, rest))
        return made[::-1]
