"""A driven arm as a system that integrators advance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from armsim.actuation import Works
from armsim.control import OpenLoop
from armsim.dynamics import Law, crba
from armsim.expr import Scalar, dot, where
from armsim.integrate import MomentumEquation, Motion, RateJacobian, System, advanced
from armsim.plant.equations import Damped, Equations
from armsim.plant.midpoint import ArmMomentum
from armsim.plant.state import Held


class ArmSystem(System):
    """A driven arm during one step, as an integrator advances it: one without dry friction.

    Args:
        equations: The arm's.
        held: What stays as it was when the step began.
    """

    def __init__(self, equations: Equations, held: Held) -> None:
        super().__init__(self._rates_of)
        self.equations = equations
        self.held = held
        command = equations.loads.command
        if isinstance(command, OpenLoop) and command.period is None:
            self.longest = command.spacing

    def _rates_of(self, t: Scalar, y: Motion) -> Motion:
        found = self.equations.rates(t, y._replace(w=None), self.held)
        return Motion(y.v, found.qdd, found.z, found.w)

    def damped(self, t: Scalar, y: Motion) -> Damped:
        """The equation of motion at (t, y), what depends on a joint's own velocity apart."""
        return self.equations.damped(t, y._replace(w=None), self.held)

    def powers(self, t: Scalar, y: Motion) -> Works | None:
        """The powers [W]; None where they are not wanted."""
        return self.powers_at(t, y, y.v)

    def powers_at(self, t: Scalar, y: Motion, v: Sequence[Scalar]) -> Works | None:
        """The powers of what acts at (t, y) if the velocities were v, dry friction left out [W]; None where not wanted."""
        return None if y.w is None else self.equations.powers(t, y._replace(w=None), v, self.held)

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities and further states after h seconds under what acts at (t, y); positions as they are.

        What acts does its work at the mean of old and new velocities: at constant mass that is all that kinetic energy gains.
        """
        k = self.rates(t, y)
        v = advanced(y.v, h, k.v)
        return Motion(y.q, v, advanced(y.z, h, k.z), advanced(y.w, h, self.powers_at(t, y, mean(y.v, v))))

    def implicit_kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities after h seconds with damping, stops and dry friction taken at the new velocities; positions as they are."""
        now = self.damped(t, y)
        v, laws, impulses = now.velocities_after(y.v, h)
        dry = [(law, impulse) for law, impulse in zip(laws, impulses, strict=True) if law.d is None]
        friction = by_joint([law for law, _ in dry], [impulse for _, impulse in dry], len(v))
        between = mean(y.v, v)
        w = advanced(y.w, h, self.powers_at(t, y._replace(v=v), between))
        return Motion(y.q, v, advanced(y.z, h, now.z), worked(w, friction, between))

    def jacobian(self, t: Scalar, y: Motion, k: Motion) -> RateJacobian:
        """The derivatives of the rates k at (t, y), exact."""
        return self.slopes_at(t, y, k, [0.0] * len(y.v))

    def slopes_at(self, t: Scalar, y: Motion, k: Motion, sliding: Sequence[Scalar]) -> RateJacobian:
        """The same, with joints sliding against dry friction: in direction 1, -1, or 0 where there is none."""
        forces, further = self.equations.slopes(t, y._replace(w=None), self.held, list(k.v), list(sliding))
        return RateJacobian.of(crba(self.equations.arm, y.q), forces, further)

    def momentum_equation(self, t: Scalar, y: Motion, h: Scalar) -> MomentumEquation:
        """The momentum equation of a step from (t, y), taken at its middle."""
        return ArmMomentum(self.equations, self.held, t, y, h)

    def guards(self, t: Scalar, start: Motion, end: Motion) -> list[Scalar]:
        """How far every joint with stops still is from the ends of its range, on the side on which it began."""
        guards = []
        for joint, before, after in zip(self.equations.arm.joints, start.q, end.q, strict=True):
            limit = joint.limit
            if limit is None or limit.stiffness is None:
                continue
            if limit.has_lower:
                guards.append(where(before < limit.lower, limit.lower - after, after - limit.lower))
            if limit.has_upper:
                guards.append(where(before > limit.upper, after - limit.upper, limit.upper - after))
        return guards


def mean(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """(a + b) / 2"""
    return [(x + y) / 2 for x, y in zip(a, b, strict=True)]


def by_joint(laws: Sequence[Law], forces: Sequence[Scalar], n: int) -> list[Scalar]:
    """What laws give to each of n joints."""
    total: list[Scalar] = [0.0] * n
    for law, force in zip(laws, forces, strict=True):
        total[law.joint] = total[law.joint] + force
    return total


def worked(w: Works | None, friction: Sequence[Scalar], v: Sequence[Scalar]) -> Works | None:
    """Powers or works with those of dry friction added.

    Args:
        w: None where they are not wanted.
        friction: Forces [N·m or N], or impulses [N·m·s or N·s].
        v: Velocities [rad/s or m/s].
    """
    return None if w is None else replace(w, friction=dot(friction, v, w.friction))
