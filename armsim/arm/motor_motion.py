"""The motions and torques of motors behind elastic couplings, for a motion of the joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from armsim.actuation.elastic_drive import coupling_torques, elastic_joints, rotor_torques
from armsim.arrays import Array
from armsim.expr import Scalars
from armsim.model import Arm, Coupling
from armsim.records import record


@record
class MotorMotion:
    """What motors have to do for a motion; of a joint whose gear is rigid, or taken as rigid, the rotor moves with it.

    Attributes:
        q: Positions of the rotors over their gears [rad or m], shape (m, n).
        qd: Their rates [rad/s or m/s], likewise.
        torque: Of the motors, as joints feel them [N·m or N], likewise.
        coupling: That the couplings pass on [N·m or N]; of rigid joints the torques of their drives; likewise.
    """

    q: Array
    qd: Array
    torque: Array
    coupling: Array


def motor_motion(arm: Arm, ask: Callable[..., Array], t: Array | None, motion: Mapping[str, Array]) -> MotorMotion:
    """What the motors have to do for a motion.

    At rest the rotor stands where its coupling holds the joint, on a flank of the backlash. In motion couplings count whose rotor
    the joint's motion decides; those of `rigid_reasons` are taken as rigid.

    Args:
        arm: The arm, n joints.
        ask: Evaluates a function of arm and scalars for every row of arrays; see `RowEvaluator`.
        t: Times of the rows [s], shape (m,), increasing; None for rows that have nothing to do with each other.
        motion: q, qd, qdd, jerk and snap of the joints, see `Robot.motor_motion`, shape (m, n) each.
    """
    q, qd, qdd, *more = motion.values()
    moves = any(rates.any() for rates in (qd, qdd, *more))
    elastic = elastic_joints(arm, t is None or len(t) < 2) if moves else [x.name for x in arm.joints if x.coupling]
    names = ", ".join(elastic)

    def passed(arm: Arm, *motion: Scalars) -> Any:
        return coupling_torques(arm, elastic, *motion)

    def driven(arm: Arm, *motion: Scalars) -> Any:
        return rotor_torques(arm, elastic, *motion)

    found = ask(f"torques of the couplings of {names}", passed, (3, arm.n), **motion)
    tau, rate, second = np.moveaxis(found, 1, 0)
    theta, speed, turned = q.copy(), qd.copy(), qdd.copy()
    for i, joint in enumerate(arm.joints):
        if joint.name not in elastic or joint.coupling is None:
            continue
        if moves:
            ahead = twists(joint.coupling, t, tau[:, i], rate[:, i], second[:, i])
        else:
            ahead = np.array([joint.coupling.twist(x) for x in tau[:, i].tolist()]), qd[:, i], qd[:, i]
        for values, twist in zip((theta, speed, turned), ahead, strict=True):
            values[:, i] += twist
    torque = ask(f"torques of the motors of {names}", driven, q=theta, qd=speed, qdd=turned, tau=tau)
    return MotorMotion(theta, speed, torque, tau)


def twists(
    coupling: Coupling, t: Array | None, torque: Array, rate: Array, second: Array
) -> tuple[Array, Array, Array]:
    """How far a rotor is ahead of its joint [rad or m], with first and second derivative, shape (m,) each.

    With damping they obey d dx/dt + k x = torque, solved exactly for cubics between the rows, and begin with the slow solution.
    """
    k, lag = coupling.stiffness, coupling.damping / coupling.stiffness
    if lag == 0.0 or t is None:
        return torque / k, rate / k, second / k
    third = np.gradient(second, t)
    return tuple(_relaxed(t, of, by, lag) / k for of, by in ((torque, rate), (rate, second), (second, third)))


def _relaxed(t: Array, force: Array, slope: Array, lag: float) -> Array:
    """The solution of lag dx/dt + x = force, shape (m,)."""
    from scipy.interpolate import CubicHermiteSpline

    h = np.diff(t)
    ends = []
    for s in (0.0 * h, h):
        total, powers = np.zeros_like(h), CubicHermiteSpline(t, force, slope).c
        for order in range(4):
            total += (-lag) ** order * np.add.reduce(powers * s ** np.arange(len(powers) - 1, -1, -1)[:, None])
            powers = powers[:-1] * np.arange(len(powers) - 1, 0, -1)[:, None]
        ends.append(total)
    x, decay = np.empty_like(force), np.exp(-h / lag)
    x[0] = ends[0][0]
    for i in range(len(h)):
        x[i + 1] = ends[1][i] + decay[i] * (x[i] - ends[0][i])
    return x
