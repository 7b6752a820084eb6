"""An arm with dry friction, as a system that integrators advance.

Joint velocities after a step satisfy M v' = M v + h (f + λ), where λ is dry friction: within its bounds it holds a joint at
exactly zero velocity, at a bound it lets it slide. All joints are solved for together (`armsim.dynamics.clipped_solve`), so
that what one joint holds is felt by the others. docs/friction.md derives it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from armsim.actuation import any_sticks, armature, dry_bounds, mass_matrix, sticks, unpowered
from armsim.dynamics import bias, clipped_solve, forward_dynamics, solve_held
from armsim.dynamics.forward import Algorithm
from armsim.expr import Scalar, both, either, fma, negated, where
from armsim.integrate import Motion, System
from armsim.model import Arm


@dataclass(slots=True)
class Forces:
    """What acts on an arm at one instant.

    Attributes:
        M: Lower triangle of the mass matrix, rotors included.
        f: All joint forces but dry friction, less the bias [N·m or N].
        lower: Least dry friction [N·m or N].
        upper: Greatest dry friction [N·m or N].
        z: Rates of the further states.
    """

    M: list[list[Scalar]]
    f: list[Scalar]
    lower: list[Scalar]
    upper: list[Scalar]
    z: list[Scalar]


class Sticking(System):
    """An arm whose joints stick and slide.

    Args:
        forces: What acts at a time and a state.
        dry: Which joints have dry friction.
    """

    def __init__(self, forces: Callable[[Scalar, Motion], Forces], dry: Sequence[bool]) -> None:
        self.forces = forces
        self.dry = tuple(dry)

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities after h seconds: those that slide, and exact zeros where friction holds."""
        now = self.forces(t, y)
        n = len(y.v)
        r = [fma(h, now.f[i], _row_times(now.M, i, y.v)) for i in range(n)]
        lower, upper = [h * x for x in now.lower], [h * x for x in now.upper]
        v, _ = clipped_solve(now.M, r, lower, upper, y.v, [not dry for dry in self.dry])
        return Motion(y.q, v, [fma(h, rate, x) for x, rate in zip(y.z, now.z, strict=True)])

    def within(self, t: Scalar, y: Motion) -> Sliding:
        """The system with every joint held, or sliding in one direction, as it is at (t, y)."""
        return Sliding(self, t, y)


class Sliding(System):
    """An arm some of whose joints are held and whose other joints slide in known directions: smooth for one step.

    Attributes:
        held: For each joint, whether it is at rest and friction holds it.
        up: For each joint that slides, whether in the positive direction.
        accelerations: At the instant it was made for.
        friction: Dry friction then [N·m or N].
    """

    def __init__(self, arm: Sticking, t: Scalar, y: Motion) -> None:
        now = arm.forces(t, y)
        moving = [either(v > 0.0, v < 0.0) if dry else True for v, dry in zip(y.v, arm.dry, strict=True)]
        sliding = [where(v > 0.0, lo, hi) for v, lo, hi in zip(y.v, now.lower, now.upper, strict=True)]
        lower = [where(m, s, lo) for m, s, lo in zip(moving, sliding, now.lower, strict=True)]
        upper = [where(m, s, hi) for m, s, hi in zip(moving, sliding, now.upper, strict=True)]
        a, friction = clipped_solve(now.M, now.f, lower, upper, [0.0] * len(y.v), moving)
        self.arm = arm
        self.start = now
        self.held: list[Any] = [
            both(negated(m), both(x <= 0.0, x >= 0.0)) if dry else False
            for m, x, dry in zip(moving, a, arm.dry, strict=True)
        ]
        self.up = [either(v > 0.0, both(v >= 0.0, x > 0.0)) for v, x in zip(y.v, a, strict=True)]
        self.accelerations = a
        self.friction = friction

    def rates(self, t: Scalar, y: Motion) -> Motion:
        """The rates with held joints locked and the others sliding on."""
        now = self.arm.forces(t, y)
        total = [f + dry for f, dry in zip(now.f, self._sliding_friction(now), strict=True)]
        return Motion(y.v, solve_held(now.M, total, self.held), now.z)

    def arrest(self, before: Motion, after: Motion, h: Scalar) -> Motion:
        """Velocities at the step's end: a joint that has turned round within the step is stopped there if friction can.

        The impulse that sliding friction gave over the step is taken back and solved for anew, now with the choice to hold.
        """
        M = self.arm.forces(0.0, after).M
        used = self._sliding_friction(self.start)
        turned: Any = False
        lower, upper, r = [], [], []
        for i, (v, dry) in enumerate(zip(after.v, self.arm.dry, strict=True)):
            if dry:
                back = either(both(self.up[i], v < 0.0), both(negated(self.up[i]), v > 0.0))
                turned = either(turned, both(negated(self.held[i]), back))
            spent = where(self.held[i], self.friction[i], used[i])
            lower.append(h * (self.start.lower[i] - spent))
            upper.append(h * (self.start.upper[i] - spent))
            r.append(_row_times(M, i, after.v))
        guess = [where(stuck, 0.0, v) for stuck, v in zip(self.held, after.v, strict=True)]
        v, _ = clipped_solve(M, r, lower, upper, guess, [not dry for dry in self.arm.dry])
        return Motion(after.q, [where(turned, x, old) for x, old in zip(v, after.v, strict=True)], after.z)

    def _sliding_friction(self, now: Forces) -> list[Scalar]:
        pairs = zip(self.up, now.lower, now.upper, strict=True)
        return [where(up, lo, hi) if dry else 0.0 for (up, lo, hi), dry in zip(pairs, self.arm.dry, strict=True)]


def accelerations(arm: Arm, q, qd, drives, algorithm: Algorithm = "crba") -> list[Scalar]:
    """Joint accelerations under torques of the drives [rad/s² or m/s²], n scalars; the inverse of `drive_torques`.

    Rotor inertia, friction and stops belong to the arm; dry friction holds a joint at rest as long as it can.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n scalars.
        qd: Joint velocities [rad/s or m/s], n scalars.
        drives: Torques of the drives [N·m or N], n scalars.
        algorithm: Of `armsim.dynamics.forward_dynamics`, for an arm without dry friction.
    """
    total = []
    for joint, drive, q_i, qd_i in zip(arm.joints, drives, q, qd, strict=True):
        passive = unpowered(joint, q_i, qd_i)
        total.append(drive + passive.viscous + passive.limit)
    rotors = [armature(joint) for joint in arm.joints]
    if not any_sticks(arm):
        return forward_dynamics(arm, q, qd, total, rotors, algorithm=algorithm)
    bounds = [dry_bounds(joint, drive) for joint, drive in zip(arm.joints, drives, strict=True)]
    lower, upper = ([bound[side] for bound in bounds] for side in (0, 1))

    def forces(t: Scalar, y: Motion) -> Forces:
        M, f = equation(arm, q, qd, total)
        return Forces(M, f, lower, upper, [])

    system = Sticking(forces, [sticks(joint) for joint in arm.joints])
    return system.within(0.0, Motion(list(q), list(qd), [])).accelerations


def equation(arm: Arm, q, qd, tau, external=None) -> tuple[list[list[Scalar]], list[Scalar]]:
    """The equation of motion M qdd = f: the lower triangle of M, rotors included, and f = tau - bias."""
    return mass_matrix(arm, q), [t - b for t, b in zip(tau, bias(arm, q, qd, external), strict=True)]


def _row_times(M: Sequence[Sequence[Scalar]], i: int, x: Sequence[Scalar]) -> Scalar:
    """Row i of M x, M given by its lower triangle."""
    total: Scalar = 0.0
    for j, x_j in enumerate(x):
        total = fma(M[i][j] if j <= i else M[j][i], x_j, total)
    return total
