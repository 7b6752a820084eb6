"""An arm as a system that integrators advance: its equation of motion at an instant, and what its stops tell of a step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf

from armsim.actuation import mass_matrix
from armsim.dynamics import Law, bias, clipped_solve
from armsim.expr import Scalar, fma, where
from armsim.integrate import Linear, Midstep, Motion, Rates, System, advanced
from armsim.midstep import ArmMidstep, Canonical
from armsim.model import Arm, Joint

WORKS = (
    "motors",
    "friction",
    "stops",
    "external",
)  # who does work on an arm: its quadratures, where they are asked for


Derivatives = Callable[[Scalar, Motion, Sequence[Scalar], Sequence[Scalar]], Linear]
FRICTION = WORKS.index("friction")


@dataclass(slots=True)
class Forces:
    """What acts on an arm at one instant.

    Attributes:
        M: Lower triangle of the mass matrix, rotors included.
        f: All joint forces but dry friction, less the bias [N·m or N].
        lower: Least dry friction [N·m or N].
        upper: Greatest dry friction [N·m or N].
        z: Rates of the further states.
        w: Power of each of `WORKS`, dry friction left out [W]; or nothing.
    """

    M: list[list[Scalar]]
    f: list[Scalar]
    lower: list[Scalar]
    upper: list[Scalar]
    z: list[Scalar]
    w: list[Scalar]


@dataclass(slots=True)
class Damped:
    """What acts on an arm at one instant, that which depends on a joint's own velocity apart.

    Attributes:
        M: Lower triangle of the mass matrix, rotors included.
        f: All joint forces but those of `laws`, less the bias [N·m or N].
        d: Linear damping that is part of f: back-EMF, viscous friction, derivative gains [N·m·s/rad or N·s/m].
        laws: Dry friction, stops, and commands that saturate.
        z: Rates of the further states.
    """

    M: list[list[Scalar]]
    f: list[Scalar]
    d: list[Scalar]
    laws: list[Law]
    z: list[Scalar]

    def implicit_mass(self, h: Scalar) -> list[list[Scalar]]:
        """M + h D, the lower triangle."""
        return [[*row[:i], fma(h, d, row[i])] for i, (row, d) in enumerate(zip(self.M, self.d, strict=True))]


class Mechanics(System):
    """An arm without dry friction.

    Args:
        joints: Its joints.
        forces: What acts at a time and a state.
        damped: The same, with what depends on a joint's own velocity apart.
        undry: The power of each of `WORKS` at a time and a state, dry friction left out [W]; or nothing.
        linear: How the rates change with the state: by time, state, accelerations, and directions of sliding (1, -1 or 0).
        canonical: The arm in positions and momenta.
        rates: The rates of a state.
    """

    def __init__(
        self,
        joints: Sequence[Joint],
        forces: Callable[[Scalar, Motion], Forces],
        damped: Callable[[Scalar, Motion], Damped],
        undry: Callable[[Scalar, Motion], list[Scalar]],
        linear: Derivatives,
        canonical: Canonical,
        rates: Rates,
    ) -> None:
        super().__init__(rates)
        self.joints = joints
        self.forces = forces
        self.damped = damped
        self.undry = undry
        self.derivatives = linear
        self.canonical = canonical

    def powers(self, t: Scalar, y: Motion) -> list[Scalar]:
        """The power of each of `WORKS` [W]; or nothing."""
        return self.undry(t, y)

    def linear(self, t: Scalar, y: Motion, k: Motion) -> Linear:
        """How the rates k at (t, y) change with the state, exactly."""
        return self.derivatives(t, y, k.v, [0.0] * len(y.v))

    def implicit_kick(self, t: Scalar, y: Motion, h: Scalar) -> Motion:
        """Velocities after h seconds with damping and stops taken at the new velocities; positions as they are.

        (M + h D) (v' - v) = h f, with the laws of stops and limited commands as functions of v' - v.
        """
        now = self.damped(t, y)
        laws = [law.times(h).seen_from(y.v[law.joint]) for law in now.laws]
        change, _ = clipped_solve(now.implicit_mass(h), [h * f for f in now.f], laws, [0.0] * len(y.v))
        v = [x + dv for x, dv in zip(y.v, change, strict=True)]
        return Motion(y.q, v, advanced(y.z, h, now.z), advanced(y.w, h, self.undry(t, y._replace(v=v))))

    def midstep(self, t: Scalar, y: Motion, h: Scalar) -> Midstep:
        """The equations of a step from (t, y) in positions and momenta, taken at its middle."""
        return ArmMidstep(self.canonical, t, y, h)

    def guards(self, t: Scalar, start: Motion, end: Motion) -> list[Scalar]:
        """How far every joint with stops still is from the ends of its range, on the side on which it began."""
        guards = []
        for joint, before, after in zip(self.joints, start.q, end.q, strict=True):
            limit = joint.limit
            if limit is None or limit.stiffness is None:
                continue
            if limit.lower != -inf:
                guards.append(where(before < limit.lower, limit.lower - after, after - limit.lower))
            if limit.upper != inf:
                guards.append(where(before > limit.upper, after - limit.upper, limit.upper - after))
        return guards


def equation(arm: Arm, q, qd, tau, external=None) -> tuple[list[list[Scalar]], list[Scalar]]:
    """The equation of motion M qdd = f: the lower triangle of M, rotors included, and f = tau - bias."""
    return mass_matrix(arm, q), [t - b for t, b in zip(tau, bias(arm, q, qd, external), strict=True)]


def row_times(M: Sequence[Sequence[Scalar]], i: int, x: Sequence[Scalar]) -> Scalar:
    """Row i of M x, M given by its lower triangle."""
    total: Scalar = 0.0
    for j, x_j in enumerate(x):
        total = fma(M[i][j] if j <= i else M[j][i], x_j, total)
    return total


def by_joint(laws: Sequence[Law], forces: Sequence[Scalar], n: int) -> list[Scalar]:
    """What laws give to each of n joints."""
    total: list[Scalar] = [0.0] * n
    for law, force in zip(laws, forces, strict=True):
        total[law.joint] = total[law.joint] + force
    return total


def worked(w: Sequence[Scalar], friction: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Powers or works with those of dry friction added; nothing if they are not asked for.

    Args:
        w: One for each of `WORKS`, or none.
        friction: Forces [N·m or N], or impulses [N·m·s or N·s].
        v: Velocities [rad/s or m/s].
    """
    w = list(w)
    if w:
        for f, v_i in zip(friction, v, strict=True):
            w[FRICTION] = fma(f, v_i, w[FRICTION])
    return w
