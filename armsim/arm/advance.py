"""An arm's motion under constant torques of its drives, over a given duration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armsim.arm.arrays import brief, number_array, row_count
from armsim.arrays import Array, ArrayLike, Mask
from armsim.document.scenario import ADAPTIVE, AUTO
from armsim.dynamics import fastest_algorithm
from armsim.errors import Diverged, ShapeError, UsageError
from armsim.expr import Scalar, Scalars
from armsim.integrate import Tolerance
from armsim.integrate.method import no_step, stall_of
from armsim.model import Arm, MotorLimits
from armsim.plant import Plant, accelerations, held
from armsim.simulation.loop_plan import BOUNDS

WHOLE = 64  # motions worth a thread


class Advanced(NamedTuple):
    """The state at the end of a motion.

    Attributes:
        q: Joint positions [rad or m], shape (n,) or (m, n).
        qd: Joint velocities [rad/s or m/s], likewise.
        qdd: Joint accelerations there, under the same torques [rad/s² or m/s²], likewise.
    """

    q: Array
    qd: Array
    qdd: Array

    def __repr__(self) -> str:
        return f"Advanced(q={brief(self.q)}, qd={brief(self.qd)}, qdd={brief(self.qdd)})"


def motion(arm: Arm, method: str) -> Callable[..., Scalars]:
    """The motion as a function of scalars: q, qd, torques, duration, rtol, atol to q, qd, qdd, both as flat lists.

    Torques are those that the drives give the joints, as in `Robot.forward_dynamics`: motor models and limits do not apply.
    """
    n = arm.n
    driven = arm.map_links(lambda j: j if j.motor is None else replace(j, motor=replace(j.motor, limits=MotorLimits())))

    def body(*x: Scalar) -> Scalars:
        tau = list(x[2 * n : 3 * n])
        duration, rtol, atol = x[3 * n :]
        tolerance = Tolerance(rtol, atol)
        plant = held(Plant(driven, None, (), method, fastest_algorithm(arm), tolerance), "torque")
        after = plant.step(0.0, [*x[: 3 * n], *[0.0] * (len(plant.slots) - 3 * n)], duration)
        q, qd = after[:n], after[n : 2 * n]
        return [*q, *qd, *accelerations(arm, q, qd, tau)]

    return body


def check_adaptive(method: str) -> str:
    """The adaptive method of a name; "auto" is the first of them.

    Raises:
        UsageError: It is unknown, or not adaptive.
    """
    if method == AUTO:
        return ADAPTIVE[0]
    if method not in ADAPTIVE:
        raise UsageError.of(
            "method", f"auto, or a method that chooses its steps: {', '.join(ADAPTIVE)}", repr(method), "leave it out"
        )
    return method


def advanced(
    arm: Arm,
    evaluate: Callable[[str, Callable[..., Any], Sequence[Array], int], Array],
    arrays: Mapping[str, Array],
    duration: ArrayLike,
    method: str,
    tolerance: Tolerance,
) -> Advanced:
    """The motions of arms; see `armsim.arm.robot.Robot.advance`.

    Args:
        arm: The arm.
        evaluate: As `Robot._evaluate`.
        arrays: Positions, velocities and torques, each of shape (n,) or (m, n).
        duration: How long [s], one for all or shape (m,).
        method: An adaptive method.
        tolerance: Its tolerance.
    """
    n, times = arm.n, _durations(duration)
    for key, array in arrays.items():
        check_finite(key, array)
    many = row_count("advance", arrays)
    if times.ndim and many not in (None, len(times)):
        raise ShapeError(f"advance: expected as many durations as rows, found {len(times)} and {many}")
    many = len(times) if times.ndim else many
    columns = [*arrays.values(), times[..., None], np.array([tolerance.rtol]), np.array([tolerance.atol])]
    found = evaluate(f"advance by {method}", motion(arm, method), columns, WHOLE)
    lost = ~_sound(found, n)
    if many is None and lost[0]:
        raise _diverged(found[0].tolist(), arm.joint_names, method)
    found[lost] = math.nan
    parts = (found[:, i * n : (i + 1) * n] for i in range(3))
    return Advanced(*(part[0] if many is None else np.ascontiguousarray(part) for part in parts))


def _durations(duration: ArrayLike) -> Array:
    """Durations [s] as an array, shape () or (m,).

    Raises:
        ShapeError: It has another shape.
        UsageError: One is negative, as motions with friction are not reversible, or not finite.
    """
    array = number_array("duration", duration)
    if array.ndim > 1:
        raise ShapeError(f"duration: expected shape () or (m,), found {array.shape}")
    for seconds in array.flat:
        if not 0.0 <= seconds < math.inf:
            raise UsageError.of(
                "duration",
                "a time of 0 s or more; motions cannot be run backwards",
                f"{float(seconds):g}",
                "give for example duration=0.1",
            )
    return array


def check_finite(name: str, array: Array) -> None:
    """Refuse NaN and infinite entries.

    Raises:
        UsageError: There is one; says where.
    """
    if not np.isfinite(array).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise UsageError.of(name, "finite numbers", f"{array[at]} at {list(at)}", "correct that entry")


def _sound(rows: Array, n: int) -> Mask:
    """Which rows of positions and velocities are within all bounds, shape (m,)."""
    limits = np.repeat([BOUNDS["q"], BOUNDS["qd"]], n)
    return np.all(np.abs(rows[:, : 2 * n]) <= limits, axis=1)


def _diverged(row: Sequence[float], joints: Sequence[str], method: str) -> Diverged:
    """The error of a motion that left all bounds."""
    n = len(joints)
    stalled = stall_of(row[n : 2 * n])
    if stalled is not None:
        found = no_step(method, stalled)
    else:
        names = [f"{kind} of {name}" for kind in ("q", "qd") for name in joints]
        limits = [BOUNDS["q"]] * n + [BOUNDS["qd"]] * n
        found = next(
            f"{name}: {x:.6g}" for name, x, limit in zip(names, row, limits, strict=False) if not abs(x) <= limit
        )
    return Diverged.of(
        "advance: the motion diverged",
        "positions and velocities within all bounds",
        found,
        "check the state and the torques, or take a shorter duration",
    )
