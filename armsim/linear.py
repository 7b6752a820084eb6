"""A plant's small motions about a state: linear differential equations with exact coefficients.

The joint forces that are left over at given accelerations, F(q, qd, i, u, qdd), vanish for the true ones; so M dqdd = F_q dq +
F_v dqd + F_i di + F_u du with M = -F_qdd, rotors included. The derivatives come from the expression graph, those of inverse
dynamics at the true accelerations among them; the mass matrix's factorisation is not differentiated.

What switches stays as it is at the state: a stop that is met stays met, a command at its limit stays there, a joint that dry
friction holds is welded, one that slides slides on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from armsim.actuation import sticks
from armsim.control import Feedback, OpenLoop
from armsim.dynamechs import DynaMechsPlant
from armsim.dynamics import solve_held, tool_pose
from armsim.errors import UsageError
from armsim.expr import Function, Scalar, jacobian, replay, trace
from armsim.plant import Plant

Rows = list[list[float]]  # a matrix by rows


@dataclass(frozen=True)
class Law:
    """A feedback law about a state: u = K x + Kz z, dz/dt = Z x + Zz z, all deviations from the state.

    x are positions, velocities and currents, z the controller's integrals.

    Attributes:
        K: Commands by x, m rows.
        Kz: Commands by z, m rows.
        Z: Rates of z by x.
        Zz: Rates of z by z.
    """

    K: Rows
    Kz: Rows
    Z: Rows
    Zz: Rows


@dataclass(frozen=True)
class Linearization:
    """A plant about one state.

    x are the positions q and velocities qd of n joints and the k armature currents i that are states; u are m commands. The
    rows of a held joint are zero, and so is the column of its velocity.

    Attributes:
        plant: Of which.
        t: Time [s].
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        qdd: Joint accelerations [rad/s² or m/s²]; not zero where the state is no equilibrium.
        u: Commands [V, N·m or N]; torques from outside, zero, where the plant has no command.
        currents: Armature currents [A].
        held: Which joints dry friction holds.
        M: Mass matrix, rotors included, n rows.
        Fq: Joint forces by positions [N·m/rad], n rows; minus the stiffness.
        Fv: Joint forces by velocities [N·m·s/rad], n rows; minus the damping.
        Fi: Joint forces by currents, n rows of k.
        Fu: Joint forces by commands, n rows of m.
        I: Rates of the currents by x and u, k rows of 2 n + k + m.
        tool: Position of the tool by q, 3 rows of n.
        law: What the controller adds; None without feedback. Under sampled control it acts on samples.
    """

    plant: Plant
    t: float
    q: list[float]
    qd: list[float]
    qdd: list[float]
    u: list[float]
    currents: list[float]
    held: tuple[bool, ...]
    M: Rows
    Fq: Rows
    Fv: Rows
    Fi: Rows
    Fu: Rows
    I: Rows  # noqa: E741  the field's letter for a current
    tool: Rows
    law: Law | None

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.q)

    @cached_property
    def _accelerations(self) -> Rows:
        """Joint accelerations by x and u, n rows of 2 n + k + m."""
        blocks = (self.Fq, self.Fv, self.Fi, self.Fu)
        F = [[x for block in blocks for x in block[i]] for i in range(self.n)]
        lower = [row[: i + 1] for i, row in enumerate(self.M)]
        columns = [solve_held(lower, list(column), self.held) for column in zip(*F, strict=True)]
        for i, stuck in enumerate(self.held):
            if stuck:
                columns[self.n + i] = [0.0] * self.n
        return transposed(columns, self.n)

    @cached_property
    def _rates(self) -> Rows:
        """Rates of x by x and u."""
        n, width = self.n, 2 * self.n + len(self.currents) + len(self.u)
        positions = [[0.0] * width for _ in range(n)]
        for i, row in enumerate(positions):
            row[n + i] = 0.0 if self.held[i] else 1.0
        welded = [n + i for i in range(n) if self.held[i]]
        currents = [[0.0 if j in welded else x for j, x in enumerate(row)] for row in self.I]
        return [*positions, *self._accelerations, *currents]

    @property
    def A(self) -> Rows:
        """Rates of x by x: the arm with its drives, without feedback."""
        return [row[: len(self._rates)] for row in self._rates]

    @property
    def B(self) -> Rows:
        """Rates of x by u."""
        return [row[len(self._rates) :] for row in self._rates]

    @property
    def C(self) -> Rows:
        """Outputs by x: joint positions, joint velocities, x, y, z of the tool."""
        n, size = self.n, len(self._rates)
        joints = [[1.0 if i == j else 0.0 for j in range(size)] for i in range(2 * n)]
        return joints + [[*row, *[0.0] * (size - n)] for row in self.tool]

    @property
    def D(self) -> Rows:
        """Outputs by u: none follows a command at once."""
        return [[0.0] * len(self.u) for _ in range(2 * self.n + 3)]

    @property
    def closed(self) -> Rows:
        """Rates of x and the controller's integrals under continuous feedback; without feedback, A.

        Raises:
            ValueError: The feedback is sampled; then there is no such matrix.
        """
        if self.law is None:
            return self.A
        if self.plant.sampled:
            raise ValueError("a sampled feedback does not act continuously")
        law = self.law
        top = [
            [*(a + x for a, x in zip(row, times(b, law.K), strict=True)), *times(b, law.Kz)]
            for row, b in zip(self.A, self.B, strict=True)
        ]
        return top + [[*x, *z] for x, z in zip(law.Z, law.Zz, strict=True)]

    @property
    def states(self) -> list[str]:
        """Names of x, as the plant's slots."""
        joints = self.plant.arm.joints
        names = [f"{kind}_{joint.name}" for kind in ("q", "qd") for joint in joints]
        return names + [f"current_{joints[i].name}" for i in self.plant.inductive]

    @property
    def integrals(self) -> list[str]:
        """Names of the controller's integrals."""
        names = [joint.name for joint in self.plant.arm.joints]
        return [f"integral_{name}" for name in names[: 0 if self.law is None else len(self.law.Z)]]

    @property
    def inputs(self) -> list[str]:
        """Names of u."""
        output = "torque" if self.plant.command is None else self.plant.command.output
        return [f"{output}_{joint.name}" for joint in self.plant.arm.joints]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        joints = self.plant.arm.joints
        return [f"{kind}_{joint.name}" for kind in ("q", "qd") for joint in joints] + ["x", "y", "z"]


class Linearizer:
    """Linearises one plant at as many states as are asked for.

    Args:
        plant: The plant; its numbers are floats.

    Raises:
        UsageError: Its motors are emulated by rules about steps, which have no derivatives.
    """

    def __init__(self, plant: Plant) -> None:
        if isinstance(plant, DynaMechsPlant):
            raise UsageError.of(
                "motor.model",
                "motors of armsim's own",
                "dynamechs: rules about steps, which no linear equations describe",
                "leave out `model: dynamechs` in the robot file",
            )
        self.plant = plant
        command = None
        if plant.command is not None:
            command = OpenLoop(plant.command.output, (_nothing,) * plant.arm.n, period=1.0)
        self._driven = replace(plant, command=command, method="explicit_euler", audit=False)

    def at(self, t: float, state: Sequence[float]) -> Linearization:
        """The plant about a state at time t [s]; for the state see `Plant.slots`."""
        plant, n, k = self.plant, self.plant.arm.n, len(self.plant.inductive)
        q, qd, integrals, held_commands, currents = (
            [x for slot, x in zip(plant.slots, state, strict=True) if slot.startswith(f"{kind}_")]
            for kind in ("q", "qd", "integral", "held", "current")
        )
        if plant.command is None:
            u: list[float] = []
        elif plant.sampled:
            u = held_commands
        else:
            u = plant.command.command(t, q, qd, integrals)
        _, qdd, _ = plant.motion(t, state)
        dry = [sticks(joint) for joint in plant.arm.joints]
        held = [d and v == 0.0 and a == 0.0 for d, v, a in zip(dry, qd, qdd, strict=True)]
        sliding = [_sign(v) or _sign(a) if d else 0.0 for d, v, a in zip(dry, qd, qdd, strict=True)]

        found = replay(self._equations, [t, *sliding, *q, *qd, *u, *currents, *qdd])
        width = 3 * n + len(u) + k
        rows = [found[n + k + i * width : n + k + (i + 1) * width] for i in range(n + k)]
        sizes = [n, n, len(u), k, n]
        Fq, Fv, Fu, Fi, Fa = (list(block) for block in zip(*(_cut(row, sizes) for row in rows[:n]), strict=True))
        currents_by = [_cut(row, sizes) for row in rows[n:]]
        return Linearization(
            plant=plant,
            t=t,
            q=q,
            qd=qd,
            qdd=qdd,
            u=u or [0.0] * n,
            currents=currents,
            held=tuple(held),
            M=[[-x for x in row] for row in Fa],
            Fq=Fq,
            Fv=Fv,
            Fi=Fi,
            Fu=Fu if u else [[float(i == j) for j in range(n)] for i in range(n)],
            I=[[*by_q, *by_v, *by_i, *by_u] for by_q, by_v, by_u, by_i, _ in currents_by],
            tool=replay_rows(self._tool, q, 3),
            law=self._law_at(t, q, qd, integrals, k),
        )

    @cached_property
    def _equations(self) -> Function:
        """The forces left over and the rates of currents, with derivatives by q, qd, u, currents, qdd."""
        plant, n = self._driven, self.plant.arm.n
        size = len(plant.slots)

        def body(*x: Scalar) -> list[Scalar]:
            t, sliding, state, qdd = x[0], x[1 : n + 1], x[n + 1 : n + 1 + size], x[n + 1 + size :]
            return [*plant.imbalance(t, state, qdd, sliding), *plant.current_rates(t, state)]

        fixed = ["t", *(f"sliding{i}" for i in range(n))]
        names = [*fixed, *plant.slots, *(f"qdd{i}" for i in range(n))]
        return jacobian(trace(body, names, "equations"), range(len(fixed), len(names)))

    @cached_property
    def _tool(self) -> Function:
        arm = self.plant.arm
        return jacobian(trace(lambda *q: tool_pose(arm, q).position, [f"q{i}" for i in range(arm.n)], "tool"))

    def _law_at(
        self, t: float, q: Sequence[float], qd: Sequence[float], integrals: Sequence[float], currents: int
    ) -> Law | None:
        """The feedback about a state."""
        n, command = self.plant.arm.n, self.plant.command
        if not isinstance(command, Feedback):
            return None
        z = command.integrals
        rows = replay_rows(self._feedback, [t, *q, *qd, *integrals], n + z)
        x = [[*row[: 2 * n], *[0.0] * currents] for row in rows]
        by_z = [row[2 * n :] for row in rows]
        return Law(K=x[:n], Kz=by_z[:n], Z=x[n:], Zz=by_z[n:])

    @cached_property
    def _feedback(self) -> Function:
        """Commands and rates of the integrals, with derivatives by q, qd and integrals."""
        command, n = self.plant.command, self.plant.arm.n
        assert isinstance(command, Feedback)

        def body(t: Scalar, *x: Scalar) -> list[Scalar]:
            q, qd, integrals = x[:n], x[n : 2 * n], x[2 * n :]
            return [*command.command(t, q, qd, integrals), *command.integral_rates(q, integrals)]

        names = ["t", *(f"x{i}" for i in range(2 * n + command.integrals))]
        return jacobian(trace(body, names, "feedback"), range(1, len(names)))


def linearize(plant: Plant, t: float, state: Sequence[float]) -> Linearization:
    """A plant about a state.

    Args:
        plant: The plant; its numbers are floats.
        t: Time [s].
        state: See `Plant.slots`.

    Raises:
        UsageError: Its motors are emulated by rules about steps.
    """
    return Linearizer(plant).at(t, state)


def with_stop(about: Linearization, i: int, stiffness: float, damping: float) -> Linearization:
    """The same small motions with a stop of joint i engaged, of stiffness [N·m/rad] and damping [N·m·s/rad]."""
    Fq, Fv = ([list(row) for row in block] for block in (about.Fq, about.Fv))
    Fq[i][i] -= stiffness
    Fv[i][i] -= damping
    return replace(about, Fq=Fq, Fv=Fv)


def replay_rows(function: Function, x: Sequence[float], m: int) -> Rows:
    """The derivatives that a `jacobian` of m values gives at numbers, by rows."""
    found = replay(function, x)
    width = len(found) // m - 1
    return [found[m + i * width : m + (i + 1) * width] for i in range(m)]


def times(row: Sequence[float], matrix: Rows) -> list[float]:
    """A row times a matrix."""
    return [sum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*matrix, strict=True)]


def transposed(columns: Rows, height: int) -> Rows:
    """The rows of a matrix given by its columns."""
    return [[column[i] for column in columns] for i in range(height)]


def _cut(row: Sequence[float], sizes: Sequence[int]) -> list[list[float]]:
    parts, start = [], 0
    for size in sizes:
        parts.append(list(row[start : start + size]))
        start += size
    return parts


def _sign(x: float) -> float:
    return float((x > 0.0) - (x < 0.0))


def _nothing(t: Scalar) -> Scalar:
    raise AssertionError("a linearised plant is driven from outside")
