"""What `armsim check --collision` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from armsim.arm.collision import Collisions

MOST = 5  # pairs that do not touch, unless all are asked for


def collision_lines(found: Collisions, verbose: bool = False) -> Iterator[str]:
    """What touches and how near the other pairs come, a line each."""
    for one in found.touches:
        yield f"  {one.pair}: touch at {one.touch:.6g} s"
    apart = found.approaches[len(found.touches) :]
    for one in apart if verbose else apart[:MOST]:
        yield f"  {one.pair}: {one.distance:.4f} m at {one.time:.6g} s"
    if len(apart) > MOST and not verbose:
        yield f"  {len(apart) - MOST} more pairs farther apart (-v lists them)"
    if found.left_out:
        yield f"  left out, as they touch in the robot's initial pose: {', '.join(found.left_out)}"
    if found.unseen:
        yield f"  not looked at, as terrain and payloads have no distances: {', '.join(found.unseen)}"
    if not found.touches:
        yield f"  nothing touches up to {found.until:g} s"
