"""One operating point of a scenario: the plant linearised there, by floats or expressions, and the branches of its loads.

`shown` tells without eigenvalues of M x'' + D x' + S x = 0 that a step is stable. An eigenvalue with eigenvector x is a root of
m λ² + d λ + s, m = xᴴ M x and so on (Tisseur and Meerbergen, *The quadratic eigenvalue problem*, SIAM Review 43, 2001, section
3.1), and a factor of the step of a like polynomial. M and D are symmetric, so m and d are real, and |Im s| <= e = xᴴ E x, where
the diagonal E has sums of |S - Sᵀ| / 2 along rows, weighed by what damps the joints. Schur's criterion for both roots then
follows from matrices that are positive definite, for any κ > 0:

    explicit Euler        2 M - h D,        κ (D - h S) - E,  S - 2 κ² M
    semi-implicit Euler   2 M - h D - h² S, κ D - E,          S - 2 κ² M

If they are for h, they are for shorter steps; and the roots λ decay.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import reduce
from typing import Any, NamedTuple

from armsim.actuation import limit_torque
from armsim.actuation.motor import back_emf_damping
from armsim.control import Controller, linear_slots
from armsim.dynamics import ldl
from armsim.expr import Scalar, Scalars, absolute, both, dot, either, sqrt, where
from armsim.loading import Scenario
from armsim.model import Arm
from armsim.plant import Linearization, Linearizer, Plant, with_stop
from armsim.plant.statics import steady_state

START, TARGET, REST, STOP = "at the start", "at the target", "where it hangs", "at a stop"
LADEN = "with what it carries from {:g} s on"
SUPPLY, TOUCH = "at the supply's voltage", "in contact"
# kinds of operating points; from `LATER` on, of `Arm.stages`
AT_START, AT_TARGET, ELSEWHERE, LATER = 0.0, 1.0, 2.0, 3.0

MARGIN = 1.2  # largest stable step over dt, below which a warning is given
MOST = 8  # joints of which it is tried to show a step stable

# of a step: the one of explicit Euler that is as stable, and what it is times h S that D loses in the second matrix and gains in
# the first; rk4 is stable where h λ is in a circle of radius 1.39 about -1.39, explicit Euler in one of radius 1
SHOWN = {"explicit_euler": (1.0, 1.0, 0.0), "rk4": (1 / 1.39, 1.0, 0.0), "semi_implicit_euler": (1.0, 0.0, 1.0)}


class JointBranch(NamedTuple):
    """A branch of a joint's loads that a run may enter, with the stiffness and damping it adds.

    Attributes:
        joint: Index of the joint.
        where: `STOP`, engaged; or `SUPPLY`: the motor at its voltage limit, where it no longer gives the commanded torque and
            back-EMF damps it.
    """

    joint: int
    where: str

    def stiffness(self, arm: Arm) -> tuple[Scalar, Scalar]:
        """Stiffness [N·m/rad] and damping [N·m·s/rad], or per m."""
        joint = arm.joints[self.joint]
        if self.where == SUPPLY:
            assert joint.motor is not None
            return 0.0, back_emf_damping(joint.motor)
        assert joint.limit is not None
        assert joint.limit.stiffness is not None
        return joint.limit.stiffness, joint.limit.damping


class ContactBranch(NamedTuple):
    """Contacts that a run may close at once, and that stick then.

    Attributes:
        contacts: Their names.
        where: `TOUCH`.
    """

    contacts: tuple[str, ...]
    where: str = TOUCH

    @property
    def name(self) -> str:
        """In words."""
        return self.contacts[0] if len(self.contacts) == 1 else "all contacts"


def linearized(scenario: Scenario, linearizer: Linearizer, kind: Scalar, given: Scalars) -> Linearization:
    """The plant at an operating point in a steady state; at the start and the target stops are left out.

    Args:
        scenario: The scenario.
        linearizer: Of its plant, without contacts.
        kind: Of the point.
        given: Joint positions for the kind `ELSEWHERE`, n scalars.
    """
    plant = linearizer.plant
    target, rates, t = list(scenario.initial_q), [0.0] * plant.arm.n, 0.0
    if isinstance(plant.command, Controller):
        target, rates, t = aimed_at(plant, plant.command, scenario.clock.steps * scenario.dt)
    starts, aims = kind <= AT_START, either(kind <= AT_TARGET, kind >= LATER)
    places = zip(scenario.initial_q, target, given, strict=True)
    q = [where(starts, start, where(aims, aim, elsewhere)) for start, aim, elsewhere in places]
    speeds = zip(scenario.initial_qd, rates, strict=True)
    qd = [where(starts, v, where(aims, rate, 0.0)) for v, rate in speeds]
    t = where(starts, 0.0, where(aims, t, 0.0))
    for k, stage in enumerate(plant.arm.stages[1:], 1):
        t = where(both(kind >= LATER + k, kind <= LATER + k), stage, t)
    about = linearizer.at(t, steady_state(plant, t, q, qd))
    for i, joint in enumerate(plant.arm.joints):
        limit = joint.limit
        if limit is not None and limit.stiffness is not None:
            tau = limit_torque(limit, q[i], qd[i])
            pushes = both(aims, either(tau > 0.0, tau < 0.0))
            about = with_stop(about, i, -where(pushes, limit.stiffness, 0.0), -where(pushes, limit.damping, 0.0))
    return about


def is_second_order(plant: Plant) -> bool:
    """Whether `shown` may tell of the feedback of a plant: it is continuous and remembers nothing, nor do the motors."""
    command, arm = plant.command, plant.arm
    if not isinstance(command, Controller) or command.period is not None or arm.mechanism.n > MOST:
        return False
    return plant.method in SHOWN and not (plant.inductive or linear_slots(command.slots(arm.joint_names)))


def shown(about: Linearization, dt: float) -> Scalar:
    """1 where steps of up to `MARGIN` dt [s] are shown to be stable about a point of a plant that `is_second_order`, else 0."""
    assert about.law is not None
    n, M, K = range(about.n), about.M, [*zip(*about.law.K, strict=True)]
    rows = zip(about.Fu, about.Fq, about.Fv, strict=True)
    F = [[-dot(inputs, column, x) for column, x in zip(K, [*q, *v], strict=True)] for inputs, q, v in rows]
    S, D = ([row[first : first + len(n)] for row in F] for first in (0, len(n)))
    part, early, late = SHOWN[about.plant.method]
    h = MARGIN * dt * part
    damped = [D[i][i] > 0.0 for i in n]
    for i in n:
        D[i][i] = where(damped[i], D[i][i], 1.0)
    roots = [sqrt(D[i][i]) for i in n]
    shares = [sum(absolute(S[i][j] - S[j][i]) / (roots[i] * roots[j]) for j in n) / 2 for i in n]  # of E in D
    rate = 1e-6 / h + 1.2 * sqrt(sqrt(sqrt(sum((x * x) * (x * x) * (x * x) * (x * x) for x in shares))))

    def entries(i: int, j: int) -> Scalars:
        s, less = (S[i][j] + S[j][i]) / 2, D[i][i] * shares[i] if i == j else 0.0
        return [
            2 * M[i][j] - h * (D[i][j] + late * h * s),
            rate * (D[i][j] - early * h * s) - less,
            s - 2 * rate * rate * M[i][j],
        ]

    holds: list[Any] = [*damped, *(absolute(D[i][j] - D[j][i]) <= 0.0 for i in n for j in range(i))]
    with suppress(ZeroDivisionError):  # by a pivot that is a number, 0: the matrix is not definite
        for k in range(3):
            holds += [row[-1] > 0.0 for row in ldl([[entries(i, j)[k] for j in range(i + 1)] for i in n])]
        return where(reduce(both, holds), 1.0, 0.0)
    return 0.0


def is_calm(scenario: Scenario, plant: Plant) -> bool:
    """Whether the step is shown to be stable apart from branches.

    Raises:
        ArithmeticError: Nothing is shown, as something is not finite.
    """
    if not is_second_order(plant) or plant.arm.contacts or len(plant.arm.stages) > 1:
        return False
    linearizer, q = Linearizer(plant), scenario.initial_q
    return all(shown(linearized(scenario, linearizer, kind, q), scenario.dt) for kind in (AT_START, AT_TARGET))


def apart(plant: Plant) -> Plant:
    """The plant without contacts."""
    return replace(plant, arm=replace(plant.arm, contacts=())) if plant.arm.contacts else plant


def branches(plant: Plant) -> tuple[JointBranch, ...]:
    """The branches of a plant: its stops, and the motors with a supply that limits a commanded torque."""
    joints, command = plant.arm.mechanism.joints, plant.command
    limits = [joint.limit for joint in joints]
    stops = [JointBranch(i, STOP) for i, x in enumerate(limits) if x is not None and x.stiffness is not None]
    if command is None or command.output != "torque":
        return tuple(stops)
    motors = [joint.electric_motor for joint in joints]
    supplies = [JointBranch(i, SUPPLY) for i, x in enumerate(motors) if x is not None and x.limits.voltage is not None]
    return (*stops, *supplies)


def aimed_at(plant: Plant, command: Controller, duration: float) -> tuple[list[Scalar], list[Scalar], float]:
    """Positions, velocities and time of the end of a controller's reference in a run; a target is there from the start on."""
    desired = command.reference.at(duration)
    return desired.q, desired.qd, duration if plant.follows else 0.0
