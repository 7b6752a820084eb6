"""Stops at the ends of a joint's range."""

from __future__ import annotations

from math import inf

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
    tau: Scalar = 0.0
    if limit is None or limit.stiffness is None:
        return tau
    drag = -(limit.damping * qd)
    if limit.lower != -inf:
        push = fma(limit.stiffness, limit.lower - q, drag)
        tau = tau + where(q < limit.lower, maximum(push, 0.0), 0.0)
    if limit.upper != inf:
        push = fma(limit.stiffness, limit.upper - q, drag)
        tau = tau + where(q > limit.upper, minimum(push, 0.0), 0.0)
    return tau


def stop_law(limit: Limit, q: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The torque of a joint's stops as a function of its velocity alone, clip(b - d qd, lower, upper): (b, d, lower, upper).

    Args:
        limit: A range with stiffness.
        q: Joint position [rad or m].
    """
    below, above = q < limit.lower, q > limit.upper
    outside = either(below, above)
    b = where(below, limit.stiffness * (limit.lower - q), where(above, limit.stiffness * (limit.upper - q), 0.0))
    return b, where(outside, limit.damping, 0.0), where(below, 0.0, -inf), where(above, 0.0, inf)
