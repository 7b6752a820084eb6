"""Whether armsim and its peers simulate the same arm."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hold import NativeHold
from peers import Peer

STATES = 100
EARLY = 300  # steps, in the midst of the transient


def differences(native: NativeHold, peers: list[Peer]) -> dict[str, list[float]]:
    """How far each peer is from armsim.

    Returns:
        By name: the largest difference of accelerations at random states, relative to the joint's largest; then
        the largest difference of joint positions [rad] after `EARLY` steps and after all.
    """
    chance = random.Random(5)
    states = [random_state(native, chance) for _ in range(STATES)]
    ours = list(zip(*(native.accelerations(*state) for state in states), strict=True))
    positions = {steps: native.roll_out(steps) for steps in (EARLY, native.scenario.clock.steps)}
    found = {}
    for peer in peers:
        theirs = zip(*(peer.accelerations(*state) for state in states), strict=True)
        relative = [largest(a, b) / max(map(abs, b)) for a, b in zip(theirs, ours, strict=True)]
        found[peer.name] = [max(relative), *(largest(peer.roll_out(steps), q) for steps, q in positions.items())]
    return found


def random_state(native: NativeHold, chance: random.Random) -> tuple[list[float], list[float]]:
    """Joint positions [rad] within the stops, and velocities [rad/s]."""
    q, qd = [], []
    for joint in native.plant.arm.joints:
        lower, upper = (joint.limit.lower, joint.limit.upper) if joint.limit else (-3.0, 3.0)
        q.append(chance.uniform(lower, upper))
        qd.append(chance.uniform(-2.0, 2.0))
    return q, qd


def largest(a: Sequence[float], b: Sequence[float]) -> float:
    """Largest absolute difference of two sequences."""
    return max(abs(x - y) for x, y in zip(a, b, strict=True))
