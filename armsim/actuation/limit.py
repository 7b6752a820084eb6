"""Stops at the ends of a joint's range."""

from __future__ import annotations

from math import inf
from typing import Any

from armsim.expr import either, fma, maximum, minimum, where
from armsim.model import Limit
from armsim.spatial import Scalar


def limit_torque(limit: Limit | None, q: Scalar, qd: Scalar) -> Scalar:
    """Torque of a joint's stops [N·m or N].

    A spring and a damper outside the range. A stop only pushes back towards the range: where the damper would pull the
    joint further into the stop, or hold it there, it lets go.

    Args:
        limit: The range; None, or a range without stiffness, gives no torque.
        q: Joint position [rad or m].
        qd: Joint velocity [rad/s or m/s].
    """
    if limit is None or limit.stiffness is None:
        return 0.0
    below, above, push = _push(limit, q, qd)
    return where(below, maximum(push, 0.0), where(above, minimum(push, 0.0), 0.0))


def stop_law(limit: Limit, q: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The torque of a joint's stops as a function of its velocity alone, clip(b - d qd, lower, upper): (b, d, lower, upper).

    Args:
        limit: A range with stiffness.
        q: Joint position [rad or m].
    """
    below, above, b = _push(limit, q, 0.0)
    outside = either(below, above)
    return b, where(outside, limit.damping, 0.0), where(below, 0.0, -inf), where(above, 0.0, inf)


def _push(limit: Limit, q: Scalar, qd: Scalar) -> tuple[Any, Any, Scalar]:
    """Whether a joint is below or above its range, and what spring and damper would do there; 0 within."""
    drag = -(limit.damping * qd)
    below, above, push = False, False, 0.0
    if limit.upper != inf:
        above = q > limit.upper
        push = where(above, fma(limit.stiffness, limit.upper - q, drag), push)
    if limit.lower != -inf:
        below = q < limit.lower
        push = where(below, fma(limit.stiffness, limit.lower - q, drag), push)
    return below, above, push
