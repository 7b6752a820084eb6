"""Operational space control: feedback of the errors of a tool, its position and orientation, in place of the joints'."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from armsim.actuation import Output
from armsim.control.drive import against_viscous, commands_for
from armsim.control.law import FeedbackLaw, Kept, Now, pulled
from armsim.control.reference import Constant
from armsim.dynamics import crba, frame_acceleration, frame_jacobian, frame_pose, frame_velocity, ldl, rnea
from armsim.dynamics.factor import ldl_solve
from armsim.expr import Scalar, Scalars, dot, maximum, minus
from armsim.inverse_kinematics import PoseGoal
from armsim.model import Arm, LinkFrame
from armsim.records import record
from armsim.spatial import Vector

AXES = ("x", "y", "z", "rx", "ry", "rz")  # of the world, along which a tool moves and about which it turns
LEAST_MOBILITY = 1e-3  # relative: see `Mobility`
NOTHING = 1e-30  # so that nothing is divided by 0 where a tool cannot move at all


@record
class Posture:
    """What the joints do besides, as far as it leaves the tool alone.

    Attributes:
        hold: The pose to hold; None for the reference of the controller.
        kp: Gains of the joints' errors [1/s² with computed torque, N·m/rad or N/m with pd].
        kd: Gains of their derivatives [1/s, N·m·s/rad or N·s/m].
    """

    hold: Constant | None
    kp: tuple[Scalar, ...]
    kd: tuple[Scalar, ...]


@record
class OperationalSpace(FeedbackLaw):
    """Computed torque or PD control of a frame's pose; the desired one is that at the reference.

    Errors are e, of the position and as a rotation vector, and ed, of velocity and angular velocity. With the mobility
    Λ⁻¹ = J M⁻¹ Jᵀ (Khatib 1987) and J# = M⁻¹ Jᵀ Λ:

    - "computed_torque": tau = M qdd + C qd + g + viscous friction, with qdd = J# (a - dJ/dt qd) + (I - J# J) qdd_posture and
      a = a_ref + kd ed + kp e. With an exact model every component of the position's error obeys dd(e) + kd d(e) + kp e = 0.
    - "pd": tau = Jᵀ (kp e + kd ed) + (I - Jᵀ J#ᵀ) tau_posture.

    Where J nearly loses rank, `Mobility` damps Λ.

    Attributes:
        name: "computed_torque" or "pd".
        output: What the commands are; torques are converted by the model's motors, with back-EMF by computed torque alone.
        model: The arm as the controller knows it.
        frame: The tool.
        axes: Those that are controlled, by index in `AXES`.
        kp: Gains of the errors, one per axis [1/s² with computed torque, N/m or N·m/rad with pd].
        kd: Gains of their derivatives [1/s, N·s/m or N·m·s/rad].
        posture: What joints do besides.
    """

    name: Literal["computed_torque", "pd"]
    output: Output
    model: Arm
    frame: LinkFrame
    axes: tuple[int, ...]
    kp: tuple[Scalar, ...]
    kd: tuple[Scalar, ...]
    posture: Posture

    def command(self, now: Now, kept: Kept) -> Scalars:
        """The commands before saturation, n scalars."""
        model, frame, seen, desired = self.model.at(now.laden), self.frame, now.seen, now.desired
        goal, here = (frame_pose(model, at.q, frame) for at in (desired, seen))
        shift, turn = PoseGoal(frame, goal.position, goal.rotation).missing(here)
        v_ref, v = (self._along(*frame_velocity(model, at.q, at.qd, frame)) for at in (desired, seen))
        e, ed = self._along(turn, shift), minus(v_ref, v)
        mobility = self.mobility(model, seen.q)

        hold, still = self.posture.hold, [0.0] * model.n
        after = now if hold is None else replace(now, desired=hold.at(now.t))
        exact = self.name == "computed_torque"
        own = pulled(self.posture.kp, self.posture.kd, after.e, after.ed, after.desired.qdd if exact else still)
        if exact:
            wanted = self._along(*frame_acceleration(model, desired.q, desired.qd, desired.qdd, frame))
            there = self._along(*frame_acceleration(model, seen.q, seen.qd, own, frame))  # dJ/dt qd + J qdd_posture
            force = mobility.force(minus(pulled(self.kp, self.kd, e, ed, wanted), there))
            own = against_viscous(model, rnea(model, seen.q, seen.qd, own), seen.qd)
        else:
            disturbance = mobility.force([dot(row, own) for row in mobility.eased])
            force = minus(pulled(self.kp, self.kd, e, ed, [0.0] * len(e)), disturbance)
        tau = [dot(column, force, more) for *column, more in zip(*mobility.J, own, strict=True)]
        return commands_for(model, self.output, tau, seen.qd if exact else still)

    def mobility(self, model: Arm, q: Scalars) -> Mobility:
        """That of the tool at joint positions q [rad or m]."""
        return Mobility(model, q, self.frame, self.axes)

    def _along(self, angular: Vector, linear: Vector) -> Scalars:
        """The components along the axes."""
        parts = *linear, *angular
        return [parts[i] for i in self.axes]


class Mobility:
    """The mobility of a tool along some axes, Λ⁻¹ = J M⁻¹ Jᵀ: its accelerations by forces [1/kg, 1/(kg m) or 1/(kg m²)].

    Near a singularity the least of its eigenvalues vanishes. Λ is the inverse of Λ⁻¹ + λ D there: damped least squares, with
    λ = 4 ε (1 - μ)² where μ < 1, and 0 elsewhere (the factor of Nakamura and Hanafusa 1986). D is diagonal, the mean mobility
    that single joints give an axis, of positions and of orientations: (Σ J²)² / (3 Σ J² M_jj) over three rows. In place of
    their determinant stands μ = 1 / (2 ε Σ 1 / (λ_i + ε)), with the eigenvalues λ_i of Λ⁻¹ relative to D: of m axes damping
    begins where the least is between ε and 2 m ε, ε = `LEAST_MOBILITY`. It takes no eigenvalues, and no axis is preferred.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        frame: The tool.
        axes: m axes, by index in `AXES`.

    Attributes:
        J: Rows of the Jacobian, m of n.
        eased: J M⁻¹, likewise.
        manipulability: μ: it is damped where that is below 1.
    """

    def __init__(self, arm: Arm, q: Scalars, frame: LinkFrame, axes: Sequence[int]) -> None:
        M, rows = crba(arm, q), frame_jacobian(arm, q, frame)
        scale: list[Scalar] = []
        for three in (rows[3:], rows[:3]):
            squares = [x * x + y * y + z * z for x, y, z in zip(*three, strict=True)]
            total, heavy = sum(squares), dot(squares, [row[-1] for row in M])
            scale += [(total * total + NOTHING) / (3.0 * heavy + NOTHING)] * 3
        factors = ldl(M)
        self.J = [(rows[3:] + rows[:3])[i] for i in axes]
        self.eased = [ldl_solve(factors, row) for row in self.J]
        self._scale = [scale[i] for i in axes]
        slightly, total = self._damped(LEAST_MOBILITY), 0.0
        for k, x in enumerate(self._scale):
            total = total + ldl_solve(slightly, [0.0] * k + [x] + [0.0] * (len(axes) - k - 1))[k]
        self.manipulability = 0.5 / (LEAST_MOBILITY * total)

    def _damped(self, amount: Scalar) -> Sequence[Scalars]:
        """The factors of Λ⁻¹ + amount D."""
        rows = enumerate(zip(self.J, self._scale, strict=True))
        return ldl(
            [[dot(row, x) for x in self.eased[:i]] + [dot(row, self.eased[i], amount * own)] for i, (row, own) in rows]
        )

    def force(self, a: Scalars) -> Scalars:
        """The forces that accelerate the tool by a, Λ a [N or N·m], m scalars."""
        lack = maximum(1.0 - self.manipulability, 0.0)
        return ldl_solve(self._damped(4.0 * LEAST_MOBILITY * lack * lack), a)
