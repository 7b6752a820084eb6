"""An arm with dry friction, as a system that integrators advance.

Joint velocities after a step satisfy M v' = M v + h (f + λ), where λ is dry friction: within its bounds it holds a joint at
exactly zero velocity, at a bound it lets it slide. All joints are solved for together (`armsim.dynamics.clipped_solve`), so
that what one joint holds is felt by the others. docs/friction.md derives it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from armsim.actuation import any_sticks, armature, dry_bounds, sticks, unpowered
from armsim.dynamics import Law, clipped_solve, forward_dynamics, leeway, solve_held
from armsim.dynamics.forward import Algorithm
from armsim.expr import Scalar, absolute, both, either, fma, minimum, negated, where
from armsim.integrate import Linear, Midstep, Motion, advanced
from armsim.mechanics import Damped, Derivatives, Forces, Mechanics, by_joint, equation, row_times, worked
from armsim.midstep import ArmMidstep, Canonical
from armsim.model import Arm, Joint


class Sticking(Mechanics):
    """An arm whose joints stick and slide.

    Args:
        joints: Its joints.
        forces: What acts at a time and a state.
        damped: The same, with what depends on a joint's own velocity apart.
        undry: The power of each of `WORKS`, dry friction left out; see `Mechanics`.
        linear: How the rates change with the state; see `Mechanics`.
        canonical: The arm in positions and momenta.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        forces: Callable[[Scalar, Motion], Forces],
        damped: Callable[[Scalar, Motion], Damped],
        undry: Callable[[Scalar, Motion], list[Scalar]],
        linear: Derivatives,
        canonical: Canonical,
    ) -> None:
        super().__init__(joints, forces, damped, undry, linear, canonical, lambda t, y: self.within(t, y).rates(t, y))
        self.dry = tuple(sticks(joint) for joint in joints)

    def kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities after h seconds: those that slide, and exact zeros where friction holds."""
        now = self.forces(t, y)
        n = len(y.v)
        r = [fma(h, now.f[i], row_times(now.M, i, y.v)) for i in range(n)]
        laws = dry_laws(self.dry, [h * x for x in now.lower], [h * x for x in now.upper])
        v, impulses = clipped_solve(now.M, r, laws, y.v)
        w = worked(advanced(y.w, h, now.w), by_joint(laws, impulses, n), v)
        return Motion(y.q, v, advanced(y.z, h, now.z), w)

    def implicit_kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities after h seconds, with friction, damping and stops taken at the new velocities."""
        now = self.damped(t, y)
        r = [
            fma(h, fma(d, v, f), row_times(now.M, i, y.v))
            for i, (f, d, v) in enumerate(zip(now.f, now.d, y.v, strict=True))
        ]
        laws = [law.times(h) for law in now.laws]
        v, impulses = clipped_solve(now.implicit_mass(h), r, laws, y.v)
        dry = [(law, impulse) for law, impulse in zip(laws, impulses, strict=True) if law.d is None]
        friction = by_joint([law for law, _ in dry], [impulse for _, impulse in dry], len(v))
        w = worked(advanced(y.w, h, self.undry(t, y._replace(v=v))), friction, v)
        return Motion(y.q, v, advanced(y.z, h, now.z), w)

    def within(self, t: Scalar, y: Motion) -> Sliding:
        """The system with every joint held, or sliding in one direction, as it is at (t, y)."""
        return Sliding(self, t, y)


class Sliding(Mechanics):
    """An arm some of whose joints are held and whose other joints slide in known directions: smooth for one step.

    Attributes:
        held: For each joint, whether it is at rest and friction holds it.
        up: For each joint that slides, whether in the positive direction.
        accelerations: At the instant it was made for.
        friction: Dry friction then [N·m or N].
    """

    def __init__(self, arm: Sticking, t: Scalar, y: Motion) -> None:
        super().__init__(arm.joints, arm.forces, arm.damped, arm.undry, arm.derivatives, arm.canonical, self._rates_of)
        now = arm.forces(t, y)
        moving = _moving(arm.dry, y.v)
        a, friction = at_instant(arm.dry, now, y.v)
        self.arm = arm
        self.start = now
        self.held: list[Any] = [
            both(negated(m), both(x <= 0.0, x >= 0.0)) if dry else False
            for m, x, dry in zip(moving, a, arm.dry, strict=True)
        ]
        self.up = [either(v > 0.0, both(v >= 0.0, x > 0.0)) for v, x in zip(y.v, a, strict=True)]
        self.accelerations = a
        self.friction = friction

    def _rates_of(self, t: Scalar, y: Motion) -> Motion:
        """The rates with held joints locked and the others sliding on."""
        now = self.arm.forces(t, y)
        friction = self._sliding_friction(now)
        a = solve_held(now.M, [f + dry for f, dry in zip(now.f, friction, strict=True)], self.held)
        return Motion(y.v, a, now.z, worked(now.w, friction, y.v))

    def powers(self, t: Scalar, y: Motion) -> list[Scalar]:
        """The power of each of `WORKS` [W]; or nothing."""
        now = self.arm.forces(t, y)
        return worked(now.w, self._sliding_friction(now), y.v)

    def linear(self, t: Scalar, y: Motion, k: Motion) -> Linear:
        """How the rates k at (t, y) change with the state, exactly; held joints stay."""
        sides = [where(up, 1.0, -1.0) if dry else 0.0 for up, dry in zip(self.up, self.arm.dry, strict=True)]
        found = self.derivatives(t, y, k.v, sides)
        found.held = self.held
        return found

    def midstep(self, t: Scalar, y: Motion, h: Scalar) -> Midstep:
        """The equations of a step from (t, y), taken at its middle, with held joints locked and the others sliding on."""
        up = [way if dry else None for way, dry in zip(self.up, self.arm.dry, strict=True)]
        return ArmMidstep(self.canonical, t, y, h, self.held, up)

    def guards(self, t: Scalar, start: Motion, end: Motion) -> list[Scalar]:
        """Those of the stops; how fast every sliding joint still slides; how much more every held one could take."""
        now = self.arm.forces(t, end)
        total = [f + dry for f, dry in zip(now.f, self._sliding_friction(now), strict=True)]
        a = solve_held(now.M, total, self.held)
        guards = super().guards(t, start, end)
        for i, dry in enumerate(self.arm.dry):
            if dry:
                needed = row_times(now.M, i, a) - now.f[i]
                terms = absolute(now.f[i]) + absolute(needed + now.f[i])
                spare = minimum(needed - now.lower[i], now.upper[i] - needed)
                # what is let hold at the step's start must not count as let go at its end
                spare = spare + leeway(now.lower[i], now.upper[i], terms)
                guards.append(where(self.held[i], spare, where(self.up[i], end.v[i], -end.v[i])))
        return guards

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
            r.append(row_times(M, i, after.v))
        guess = [where(stuck, 0.0, v) for stuck, v in zip(self.held, after.v, strict=True)]
        laws = dry_laws(self.arm.dry, lower, upper)
        v, impulses = clipped_solve(M, r, laws, guess)
        mean = [(x + old) / 2 for x, old in zip(v, after.v, strict=True)]
        w = worked(after.w, by_joint(laws, impulses, len(v)), mean)
        return after._replace(
            v=[where(turned, x, old) for x, old in zip(v, after.v, strict=True)],
            w=[where(turned, x, old) for x, old in zip(w, after.w, strict=True)],
        )

    def _sliding_friction(self, now: Forces) -> list[Scalar]:
        pairs = zip(self.up, now.lower, now.upper, strict=True)
        return [where(up, lo, hi) if dry else 0.0 for (up, lo, hi), dry in zip(pairs, self.arm.dry, strict=True)]


def at_instant(dry: Sequence[bool], now: Forces, v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
    """Joint accelerations and dry friction at velocities v: joints that move slide on, those at rest are held or set free."""
    moving = _moving(dry, v)
    sliding = [where(x > 0.0, lo, hi) for x, lo, hi in zip(v, now.lower, now.upper, strict=True)]
    lower = [where(m, s, lo) for m, s, lo in zip(moving, sliding, now.lower, strict=True)]
    upper = [where(m, s, hi) for m, s, hi in zip(moving, sliding, now.upper, strict=True)]
    laws = dry_laws(dry, lower, upper, moving)
    a, friction = clipped_solve(now.M, now.f, laws, [0.0] * len(v))
    return a, by_joint(laws, friction, len(v))


def dry_laws(
    dry: Sequence[bool], lower: Sequence[Scalar], upper: Sequence[Scalar], free: Sequence[Any] | None = None
) -> list[Law]:
    """The laws of dry friction, for the joints that have any."""
    free = free or [False] * len(dry)
    return [Law(i, lower[i], upper[i], free=free[i]) for i, sticky in enumerate(dry) if sticky]


def _moving(dry: Sequence[bool], v: Sequence[Scalar]) -> list[Any]:
    """Which joints move; those without dry friction always count as moving."""
    return [either(x > 0.0, x < 0.0) if sticky else True for x, sticky in zip(v, dry, strict=True)]


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

    M, f = equation(arm, q, qd, total)
    return at_instant([sticks(joint) for joint in arm.joints], Forces(M, f, lower, upper, [], []), qd)[0]
