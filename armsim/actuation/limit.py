"""Stops at the ends of a joint's range."""

from __future__ import annotations

from math import inf
from typing import Any

from armsim.expr import Scalars, either, fma, maximum, minimum, where
from armsim.model import Arm, Limit
from armsim.spatial import Scalar


def limit_torque(limit: Limit | None, q: Scalar, qd: Scalar) -> Scalar:
    """Torque of a joint's stops [N·m or N].

    A spring and a damper outside the range, unilateral: a stop only pushes back towards the range, and lets go where the
    damper would pull.

    Args:
        limit: The range; None, or a range without stiffness, gives no torque.
        q: Joint position [rad or m].
        qd: Joint velocity [rad/s or m/s].
    """
    if limit is None or limit.stiffness is None:
        return 0.0
    (below, low), (above, high) = _pushes(limit, q, qd)
    return where(below, maximum(low, 0.0), 0.0) + where(above, minimum(high, 0.0), 0.0)


def limit_torques(arm: Arm, q, qd) -> Scalars:
    """Torques of the joints' stops [N·m or N], n scalars; see `limit_torque`."""
    return [limit_torque(joint.limit, *state) for joint, *state in zip(arm.joints, q, qd, strict=True)]


def stop_law(limit: Limit, q: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The torque of a joint's stops as a function of its velocity alone, clip(b - d qd, lower, upper): (b, d, lower, upper).

    Args:
        limit: A range with stiffness.
        q: Joint position [rad or m].
    """
    (below, low), (above, high) = _pushes(limit, q, 0.0)
    b = where(below, low, where(above, high, 0.0))
    return b, where(either(below, above), limit.damping, 0.0), where(below, 0.0, -inf), where(above, 0.0, inf)


def _pushes(limit: Limit, q: Scalar, qd: Scalar) -> tuple[tuple[Any, Scalar], tuple[Any, Scalar]]:
    """For the lower and the upper stop: whether the joint is beyond it, and the torque of its spring and damper there."""
    drag = -(limit.damping * qd)
    lower = upper = (False, 0.0)
    if limit.has_lower:
        lower = q < limit.lower, fma(limit.stiffness, limit.lower - q, drag)
    if limit.has_upper:
        upper = q > limit.upper, fma(limit.stiffness, limit.upper - q, drag)
    return lower, upper
