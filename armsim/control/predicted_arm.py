"""The arm as predictive control knows it: how it moves in a stage, the commands of a reference, and what errors cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from armsim.actuation import JointTorque, Output, against_dry_friction, creeping, driven, sticks
from armsim.actuation import motor as dc
from armsim.control.drive import against_viscous, commands_for
from armsim.control.reference import Desired
from armsim.dynamics import bias, crba, rnea
from armsim.dynamics.factor import solve_ldl
from armsim.expr import Scalar, Scalars, absolute, either, fma, maximum, minimum, minus, sqrt, where, with_jacobian
from armsim.model import Arm
from armsim.records import mutable_record, record


@mutable_record
class ModelState:
    """A state of the model.

    Attributes:
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        currents: Armature currents that are states of arm and model [A], by joint.
    """

    q: Scalars
    qd: Scalars
    currents: dict[int, Scalar]

    @property
    def flat(self) -> Scalars:
        """Positions, velocities, currents: 2 n + k scalars."""
        return [*self.q, *self.qd, *self.currents.values()]


@mutable_record
class CostToGo:
    """What is left of the cost at a state, to second order in its change: of positions, velocities and the k currents.

    Attributes:
        gradient: Its first derivative.
        hessian: Its second derivative, rows of a symmetric matrix.
    """

    gradient: Scalars
    hessian: list[list[Scalar]]


@mutable_record
class CostWeights:
    """Weights of the errors that a plan is to keep small, an entry a joint; the cost is half the integral of their squares.

    Attributes:
        q: Of position errors [1/rad² or 1/m²].
        qd: Of velocity errors [s²/rad² or s²/m²].
        command: Of commands beyond those that carry the model along the reference [1/V², 1/A², 1/(N·m)² or 1/N²].
        range: Of positions beyond the joint's limits [1/rad² or 1/m²].
        end: For how long the errors at the end of the horizon count [s].
    """

    q: Scalars
    qd: Scalars
    command: Scalars
    range: Scalars
    end: Scalar


@record
class PredictedArm:
    """An arm whose motion is predicted stage by stage; see `Predictive`.

    Attributes:
        arm: The arm.
        output: What the commands are.
        interval: Length of a stage [s].
        creep: Velocities per joint well below which dry friction counts as viscous [rad/s or m/s]; None for an arm without it.
        weights: Of its errors.
    """

    arm: Arm
    output: Output
    interval: Scalar
    creep: tuple[Scalar, ...] | None
    weights: CostWeights

    def __getstate__(self) -> dict[str, object]:
        """Without what is traced, which is made again."""
        return {name: x for name, x in vars(self).items() if not callable(x)}

    def along(self, desired: Desired, laden: Scalar) -> Scalars:
        """The commands that carry it along a reference, n scalars, with the payloads of a time."""
        tau = rnea(self.arm.at(laden), desired.q, desired.qd, desired.qdd)
        tau = against_viscous(self.arm, tau, desired.qd)
        for i, (joint, qd) in enumerate(zip(self.arm.joints, desired.qd, strict=True)):
            if self.creep is not None:
                sliding = absolute(qd) / sqrt(fma(qd, qd, self.creep[i] * self.creep[i]))
                tau[i] = tau[i] + sliding * (against_dry_friction(joint, tau[i], qd) - tau[i])
        return commands_for(self.arm, self.output, tau, desired.qd)

    @cached_property
    def _loads(self) -> Callable[..., Any]:
        """Mean torques on the joints over a time h at velocities v, with their derivatives by v; see `_driven`."""
        own = range(self.arm.n)
        return with_jacobian(lambda v, q, *more: [self._driven(i, q, v, *more).total for i in own], (0,), "loads")

    @cached_property
    def linearized(self) -> Callable[..., Any]:
        """`moved` and its derivatives by positions, velocities, currents and commands."""
        return with_jacobian(self.moved, (0, 1, 2, 3), "moved")

    def _driven(
        self, i: int, q: Scalars, v: Scalars, currents: dict[int, Scalar], u: Scalars, h: Scalar
    ) -> JointTorque:
        """The torques on a joint at positions q, velocities v and under commands u; of its current the mean over a time h [s]."""
        joint, flowing = self.arm.joints[i], None
        if i in currents:
            assert joint.motor is not None
            flowing = dc.mean_current(joint.motor, currents[i], dc.supplied(joint.motor, u[i]), v[i], h)
        return driven(joint, self.output, u[i], q[i], v[i], flowing)

    def moved(
        self,
        q: Scalars,
        v: Scalars,
        currents: dict[int, Scalar],
        u: Scalars,
        laden: Scalar,
        length: Scalar | None = None,
    ) -> tuple[Scalars, dict[int, Scalar]]:
        """Velocities and currents after a stage, or a length of time [s], with the payloads of a time."""
        arm, h = self.arm.at(laden), self.interval if length is None else length
        tau, slopes = self._loads(v, q, currents, u, h)
        M = crba(arm, q)
        for i, (row, (slope,)) in enumerate(zip(M, slopes, strict=True)):
            row[i] = row[i] - h * slope[i]
            if self.creep is not None and sticks(self.arm.joints[i]):
                motor = self._driven(i, q, v, currents, u, h).motor
                damping = creeping(self.arm.joints[i], motor, v[i], self.creep[i])
                row[i], tau[i] = fma(h, damping, row[i]), tau[i] - damping * v[i]
        qdd = solve_ldl(M, minus(tau, bias(arm, q, v)))
        after, left = [fma(h, a, x) for a, x in zip(qdd, v, strict=True)], {}
        for i, x in currents.items():
            motor = self.arm.joints[i].motor
            assert motor is not None
            left[i] = dc.current_after(motor, x, dc.supplied(motor, u[i]), after[i], h)
        return after, left

    def errors(self, at: ModelState, wanted: Desired) -> Scalar:
        """The rate of the cost of errors [1/s]."""
        total: Scalar = 0.0
        for weight, error in self._residuals(at, wanted):
            total = fma(0.5 * weight * error, error, total)
        return total

    def _residuals(self, at: ModelState, wanted: Desired) -> list[tuple[Scalar, Scalar]]:
        """Weights and errors: of n positions, of n velocities, and of n positions beyond limits."""
        of = self.weights
        pairs = [(w, x - y) for w, x, y in zip([*of.q, *of.qd], [*at.q, *at.qd], [*wanted.q, *wanted.qd], strict=True)]
        for weight, x, joint in zip(of.range, at.q, self.arm.joints, strict=True):
            lower, upper = joint.bounds
            within_range = x if lower is None else maximum(x, lower)
            pairs.append((weight, x - (within_range if upper is None else minimum(within_range, upper))))
        return pairs

    def added(self, left: CostToGo, at: ModelState, wanted: Desired, length: Scalar) -> CostToGo:
        """A cost to go with that of the errors over a length of time [s]."""
        n, gradient, hessian = self.arm.n, [*left.gradient], [[*row] for row in left.hessian]
        for k, (weight, error) in enumerate(self._residuals(at, wanted)):
            i, of = k % (2 * n), length * weight
            beyond = either(error < 0.0, error > 0.0) if k >= 2 * n else True
            gradient[i] = fma(of, error, gradient[i])
            hessian[i][i] = hessian[i][i] + where(beyond, of, 0.0)
        return CostToGo(gradient, hessian)
