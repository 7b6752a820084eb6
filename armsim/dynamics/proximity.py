"""How far links are from each other and from the world."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from itertools import product, starmap
from math import inf
from operator import add

from armsim.dynamics.kinematics import own_poses
from armsim.expr import Expr, Scalar, Scalars, absolute, either, minimum, where
from armsim.geometry import distance
from armsim.model import Arm


def distances(arm: Arm, q, pairs: Iterable[str]) -> Scalars:
    """The least distance of the solids of each pair [m]; 0 or less where they touch, see `armsim.geometry.distance`.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        pairs: Names of `arm.pairs`.
    """
    poses = dict(zip(arm.link_names, own_poses(arm, q), strict=True))
    solids = [*arm.world, *(replace(it, pose=poses[it.name] @ it.pose) for it in arm.solids)]

    def least(pair: str) -> Scalar:
        both = ([it for it in solids if it.name == name] for name in arm.pairs[pair])
        return reduce(minimum, starmap(distance, product(*both)))

    return [least(pair) for pair in pairs]


def watched_pairs(arm: Arm) -> dict[str, bool | Expr]:
    """Whether each of `arm.pairs` is watched unless asked for by name: a condition.

    Links that touch each other in the initial pose of the robot are taken for bodies that overlap in its file, and a link on the
    base that touches something of the world there for one that stands on it.
    """
    moving = {name for name, parent in zip(arm.link_names, arm.parents, strict=True) if parent >= 0}
    apart = zip(arm.pairs.items(), distances(arm, arm.initial, arm.pairs), strict=True)
    return {name: either(d > 0.0, a in moving and b not in arm.link_names) for (name, (a, b)), d in apart}


def least_distance(arm: Arm, q) -> Scalar:
    """The least distance of all watched pairs [m], at joint positions q [rad or m]; infinite without one."""
    watched = watched_pairs(arm)
    found = zip(watched.values(), distances(arm, q, watched), strict=True)
    return reduce(minimum, (where(it, d, inf) for it, d in found), inf)


def farthest_moves(arm: Arm, q: Scalars, moves: Scalars, far: Scalar) -> Scalar:
    """How far a point of the arm can move at most, by how far joints move [m].

    Args:
        arm: The arm, n joints.
        q: Joint positions before [rad or m], n scalars.
        moves: How far each joint moves from there at most [rad or m], n scalars.
        far: The greatest distance of such points from the origins of their links [m].
    """
    links = [absolute(move) for move in arm.rates(moves)]
    slides = [absolute(link.slides) for link in arm.links]
    for link, slide, x, move in zip(arm.links, slides, arm.positions(q), links, strict=True):
        far = far + link.position.norm + slide * (absolute(x + link.offset) + move)
    return reduce(
        add, ((link.turns * far + slide) * move for link, slide, move in zip(arm.links, slides, links, strict=True))
    )
