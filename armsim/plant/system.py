"""A driven arm as a system that integrators advance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any

from armsim.actuation import Works
from armsim.dynamics import Law, crba
from armsim.expr import Scalar, Scalars, absolute, dot, leaves, lookup, minimum, where
from armsim.integrate import MomentumEquation, Motion, RateJacobian, System, advanced
from armsim.plant.equations import Damped, Equations
from armsim.plant.midpoint import ArmMomentum
from armsim.plant.state import Branch, Held

AT_ONCE = 1e-12  # s: times closer together are one


class ArmSystem(System):
    """A driven arm without dry friction, during one step.

    Args:
        equations: The arm's.
        held: What is constant during the step.
        light: See `System.light`: the arm without contacts.
    """

    def __init__(self, equations: Equations, held: Held, light: System | None = None) -> None:
        super().__init__(self._rates_of)
        self.equations = equations
        self.held = held
        self.light = light
        self.timed = equations.loads.timed

    def _rates_of(self, t: Scalar, y: Motion) -> Motion:
        found = self.equations.rates(t, y, self.held)
        return Motion(y.v, found.qdd, found.z, found.w)

    def damped(self, t: Scalar, y: Motion) -> Damped:
        """The equation of motion at (t, y), split for implicit damping."""
        return self.equations.damped(t, y.states, self.held)

    def powers(self, t: Scalar, y: Motion) -> Works | None:
        """The powers [W]; None where they are not wanted."""
        return self.powers_at(t, y, y.v)

    def powers_at(self, t: Scalar, y: Motion, v: Scalars) -> Works | None:
        """The powers of the loads at (t, y) on velocities v, without dry friction [W]; None where not wanted."""
        return None if y.w is None else self.equations.powers(t, y.states, v, self.held)

    def doubted(self, w: Works, error: Works) -> Works:
        """Works with the estimated error of their last change added."""
        return replace(w, error=sum((absolute(x) for x in leaves(error)), start=w.error))

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities, further states and works after h seconds at the rates of (t, y); positions unchanged.

        The loads do work on the mean of old and new velocities: at constant mass exactly the gain of kinetic energy.
        """
        k = self.rates(t, y)
        v = advanced(y.v, h, k.v)
        return Motion(y.q, v, advanced(y.z, h, k.z), advanced(y.w, h, self.powers_at(t, y, mean(y.v, v))))

    def implicit_kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """As `kick`, with damping, stops, saturation and dry friction implicit."""
        now = self.damped(t, y)
        v, laws, impulses = now.velocities_after(y.v, h)
        dry = [(law, impulse) for law, impulse in zip(laws, impulses, strict=True) if law.d is None]
        friction = by_joint([law for law, _ in dry], [impulse for _, impulse in dry], len(v))
        between = mean(y.v, v)
        w = advanced(y.w, h, self.powers_at(t, y._replace(v=v), between))
        return Motion(y.q, v, advanced(y.z, h, now.z), worked(w, friction, between))

    def jacobian(self, t: Scalar, y: Motion, k: Motion) -> RateJacobian:
        """The exact Jacobian at (t, y), where the rates are k."""
        return self.slopes_at(t, y, k, [0.0] * len(y.v))

    def slopes_at(self, t: Scalar, y: Motion, k: Motion, sliding: Scalars) -> RateJacobian:
        """The same, with joints slipping against dry friction: in direction 1, -1, or 0 where there is none."""
        forces, further = self.equations.slopes(t, y.states, self.held, list(k.v), list(sliding))
        return RateJacobian.of(crba(self.equations.laden(self.held), y.q), forces, further)

    def momentum_equation(self, t: Scalar, y: Motion, h: Scalar) -> MomentumEquation:
        """The momentum equation of an implicit midpoint step from (t, y)."""
        return ArmMomentum(self.equations, self.held, t, y, h)

    def until_corner(self, t: Scalar) -> Scalar | None:
        """How long after t recorded inputs jump or bend next [s], within `AT_ONCE` not counted; None where there are none."""
        tables = self.equations.loads.corner_tables
        return reduce(minimum, (lookup(table, t + AT_ONCE) for table in tables)) - t if tables else None

    def branch(self, t: Scalar, y: Motion, h: Scalar) -> ArmSystem:
        """The arm on its branch at (t, y), for a step of length h [s]."""
        return ArmSystem(self.equations, self.decided(t, y, h))

    def decided(self, t: Scalar, y: Motion, h: Scalar) -> Held:
        """What is constant during a step of length h [s] from (t, y), its branch included."""
        held = replace(self.held, branch=Branch(None, t + h / 2))
        return replace(held, branch=Branch(self.equations.loads.sides(t, y.states, held), t + h / 2))

    def margins(self, t: Scalar, y: Motion, unsure: Scalar = 0.0) -> Scalars:
        """Those of the switches of what acts, on the branch that is held."""
        return [] if self.held.branch is None else self.equations.loads.margins(t, y.states, self.held, unsure)

    def spares(self, t: Scalar, y: Motion) -> Scalars:
        """Lower bounds of the margins."""
        return [] if self.held.branch is None else self.equations.loads.spares(t, y.states, self.held)

    def gaps(self, y: Motion) -> list[tuple[Scalar, Scalar]]:
        """Those of contacts [m], and their rates [m/s]."""
        return [] if self.held.branch is None else self.equations.loads.contacts.approaches(y.q, y.v)

    def room(self, y: Motion) -> Callable[[Scalars], Any]:
        contacts = self.equations.loads.contacts
        return partial(contacts.clear, contacts.seen(y.q))

    def bare(self, y: Motion) -> Motion:
        return touching(y, {})

    def whole(self, y: Motion, like: Motion) -> Motion:
        return touching(y, like.z.contacts)

    def relaxed(self, y: Motion, end: Motion, h: Scalar) -> Motion:
        return touching(end, self.equations.loads.contacts.relaxed(y.z.contacts, y.q, end.q, h))

    def crossings(self, start: Motion, at: Motion) -> Scalars:
        """Slips; and the distance of every joint from the ends of its range, positive on the side on which the step began."""
        guards = self.slips(at)
        for joint, before, after in zip(self.equations.arm.joints, start.q, at.q, strict=True):
            limit = joint.limit
            if limit is None or limit.stiffness is None:
                continue
            if limit.has_lower:
                guards.append(where(before < limit.lower, limit.lower - after, after - limit.lower))
            if limit.has_upper:
                guards.append(where(before > limit.upper, after - limit.upper, limit.upper - after))
        return guards


def touching(y: Motion, contacts: dict[str, Scalar]) -> Motion:
    """A motion with other states of contacts."""
    return y._replace(z=replace(y.z, contacts=contacts))


def mean(a: Scalars, b: Scalars) -> Scalars:
    """(a + b) / 2"""
    return [(x + y) / 2 for x, y in zip(a, b, strict=True)]


def by_joint(laws: Sequence[Law], forces: Scalars, n: int) -> Scalars:
    """The sum of the laws' forces on each of n joints."""
    total: list[Scalar] = [0.0] * n
    for law, force in zip(laws, forces, strict=True):
        total[law.joint] = total[law.joint] + force
    return total


def worked(w: Works | None, friction: Scalars, v: Scalars) -> Works | None:
    """Powers or works with those of dry friction added.

    Args:
        w: None where they are not wanted.
        friction: Forces [N·m or N], or impulses [N·m·s or N·s].
        v: Velocities [rad/s or m/s].
    """
    return None if w is None else replace(w, friction=dot(friction, v, w.friction))
