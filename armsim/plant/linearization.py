"""Linearisation of a plant about an operating point: linear differential equations with exact coefficients.

The residual of the equation of motion, F(q, qd, i, u, qdd), vanishes for the true accelerations; so M dqdd = F_q dq + F_v dqd +
F_i di + F_u du with M = -F_qdd, armature included. The derivatives come from the expression graph, those of inverse dynamics at
the true accelerations among them; the mass matrix's factorisation is not differentiated.

Modes are those of the operating point: a stop in contact stays in contact, a saturated command saturated, a joint that sticks
is locked, one that slips slips on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from armsim.control import Controller, Memory, linear_slots
from armsim.dynamics import frame_jacobian, held_solver, is_large
from armsim.errors import UsageError
from armsim.expr import (
    FEW,
    Scalar,
    Scalars,
    both,
    differentiable,
    flatten,
    leaves,
    replay,
    unflatten,
    unrolled_up_to,
    where,
    with_jacobian,
)
from armsim.expr.derivative import Evaluate
from armsim.integrate import Motion
from armsim.plant.driven import held
from armsim.plant.plant import Plant
from armsim.plant.state import Acting, Further, Held, State
from armsim.records import record

Rows = list[list[float]]  # a matrix by rows


@record
class LinearFeedback:
    """A linearised controller: u = K x + Kz z, dz/dt = Z x + Zz z, all deviations from the operating point.

    x are positions, velocities and currents, z what the controller remembers. Of sampled control x and z are those at a sample,
    u is held from it on, and Z x + Zz z is z at the next sample; positions are not quantised.

    Attributes:
        K: Commands by x, m rows.
        Kz: Commands by z, m rows.
        Z: Rates of z, or z at the next sample, by x.
        Zz: The same by z.
    """

    K: Rows
    Kz: Rows
    Z: Rows
    Zz: Rows


@record
class Linearization:
    """A plant linearised about an operating point.

    x are the positions q and velocities qd of n joints, rotors behind elastic couplings among them, and the k armature
    currents i that are states; u are m commands. The
    rows of a held joint are zero, and so is the column of its velocity.

    Attributes:
        plant: The plant.
        t: Time [s].
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        qdd: Joint accelerations [rad/s² or m/s²]; not zero off equilibrium.
        u: Commands [V, N·m or N]; external joint torques, zero, where the plant has no command.
        currents: Armature currents [A].
        held: Which joints stick.
        M: Mass matrix, armature included, n rows.
        Fq: Joint forces by positions [N·m/rad], n rows; minus the stiffness.
        Fv: Joint forces by velocities [N·m·s/rad], n rows; minus the damping.
        Fi: Joint forces by currents, n rows of k.
        Fu: Joint forces by commands, n rows of m.
        I: Rates of the currents by x and u, k rows of 2 n + k + m.
        tool: Position of the tool by q, 3 rows of n.
        law: The feedback; None for a plant without. Under sampled control it acts on samples.
    """

    plant: Plant
    t: float
    q: Scalars
    qd: Scalars
    qdd: Scalars
    u: Scalars
    currents: list[float]
    held: tuple[bool, ...]
    M: Rows
    Fq: Rows
    Fv: Rows
    Fi: Rows
    Fu: Rows
    I: Rows  # noqa: E741  the field's letter for a current
    tool: Rows
    law: LinearFeedback | None

    def __repr__(self) -> str:
        return f"Linearization({self.plant.arm.name} at t = {self.t:g} s)"

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
        columns = [*map(held_solver(lower, self.held), zip(*F, strict=True))]
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
        """Rates of x by x: the open-loop arm with its drives."""
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
        """Outputs by u: zero, there is no feedthrough."""
        return [[0.0] * len(self.u) for _ in range(2 * self.n + 3)]

    @property
    def states(self) -> list[str]:
        """Names of x, as the plant's slots."""
        names = [f"{kind}_{name}" for kind in ("q", "qd") for name in self.plant.arm.mechanism.joint_names]
        return names + [f"current_{self.plant.arm.joint_names[i]}" for i in self.plant.inductive]

    @property
    def remembered(self) -> list[str]:
        """Names of z."""
        command = self.plant.command
        if self.law is None or command is None:
            return []
        return linear_slots(command.slots([joint.name for joint in self.plant.arm.joints]))

    @property
    def inputs(self) -> list[str]:
        """Names of u."""
        output = "torque" if self.plant.command is None else self.plant.command.output
        return [f"{output}_{joint.name}" for joint in self.plant.arm.joints]

    @property
    def outputs(self) -> list[str]:
        """Names of the outputs."""
        return [f"{kind}_{name}" for kind in ("q", "qd") for name in self.plant.arm.mechanism.joint_names] + [
            "x",
            "y",
            "z",
        ]


class Linearizer:
    """Linearises one plant, about any number of operating points.

    Args:
        plant: The plant. Where a number of it or of the state is an expression, so are those of the linearisation.
        evaluate: Evaluates the equations of large arms and their derivatives on numbers.

    Raises:
        UsageError: It is a rule about steps, which has no derivatives.
    """

    def __init__(self, plant: Plant, evaluate: Evaluate = replay) -> None:
        if plant.step_rule is not None:
            raise UsageError(str(plant.step_rule.no_derivatives))
        self.plant = plant
        output = None if plant.command is None else plant.command.output
        self._driven = replace(held(plant, output), method="explicit_euler", audit=False)
        evaluate = evaluate if is_large(plant.arm.mechanism) else replay
        self._equations = with_jacobian(self._residual, (0, 1, 2, 3), "equations", evaluate)
        self._feedback = with_jacobian(self._commanded, (0, 1, 2, 3), "feedback", evaluate)

    def at(self, t: float, state: Scalars) -> Linearization:
        """The plant linearised about a state at time t [s]; for the state see `Plant.slots`."""
        plant, n, mechanism = self.plant, self.plant.arm.n, self.plant.arm.mechanism
        x = plant.parts(state)
        u: Scalars = []
        if plant.command is not None:
            u = (
                x.held
                if plant.sampled
                else plant.command.command(t, plant.loads.measured(x.q, x.qd, x.currents), x.control)
            )
        _, qdd, _ = plant.motion(t, state)
        moving = list(zip(plant.loads.dry, x.qd, qdd, strict=True))
        stuck = [both(_is_zero(v), _is_zero(a)) if dry else False for dry, v, a in moving]
        sliding = [where(_is_zero(v), _sign(a), _sign(v)) if dry else 0.0 for dry, v, a in moving]

        y = Motion(x.q, x.qd, Further(Memory(), [], x.contacts, x.windings), None)
        _, (forces, rates) = self._equations(y, u, x.currents, [-a for a in qdd], t, sliding)
        by_y, Fu, Fi, M = ([row[i] for row in forces] for i in range(4))
        return Linearization(
            plant=plant,
            t=t,
            q=x.q,
            qd=x.qd,
            qdd=qdd,
            u=u or [0.0] * n,
            currents=x.currents,
            held=tuple(stuck),
            M=M,
            Fq=[by.q for by in by_y],
            Fv=[by.v for by in by_y],
            Fi=Fi,
            Fu=Fu if u else [[float(i == j) for j in range(n)] for i in range(len(x.q))],
            I=[[*by.q, *by.v, *by_i, *by_u] for by, by_u, by_i, _ in rates],
            tool=[[*row] for row in frame_jacobian(mechanism, x.q, mechanism.tool)[3:]],
            law=self.law_at(t, x),
        )

    def _residual(
        self,
        y: Motion,
        u: Scalars,
        currents: Scalars,
        decelerations: Scalars,
        t: Scalar,
        sliding: Scalars,
    ) -> tuple[Scalars, Scalars]:
        """The residual of the equation of motion, whose derivative by `decelerations` is M, and the rates of the currents."""
        plant, fixed = self._driven, Held(t, u, currents)
        torques = plant.loads.torques(t, y, fixed)
        lower, upper = plant.loads.dry_bounds(torques, y.v)
        acting = Acting(torques, lower, upper, [(0.0, 0.0)] * len(y.q), y.z)
        left = plant.equations.imbalance(y, fixed, acting, [-a for a in decelerations], sliding)
        return left, plant.loads.current_rates(y, fixed, torques)

    def law_at(self, t: float, x: State) -> LinearFeedback | None:
        """The controller linearised about a state by its parts; None without one."""
        if not isinstance(self.plant.command, Controller):
            return None
        control, command = x.control, self.plant.command
        if control.encoded is not None and command.encoder is not None and command.period is not None:
            q = self.plant.loads.measured(x.q, x.qd, x.currents).q
            encoded = command.encoder.steady(q, control.encoded.velocities, command.period)
            control = replace(control, encoded=encoded)
        remembered, self._structure = flatten(_linear(control))
        _, (commands, rates) = self._feedback(x.q, x.qd, x.currents, remembered, t)
        K, Z = ([[*by_q, *by_v, *by_i] for by_q, by_v, by_i, _ in rows] for rows in (commands, rates))
        return LinearFeedback(K=K, Kz=[by_z for *_, by_z in commands], Z=Z, Zz=[by_z for *_, by_z in rates])

    def _commanded(
        self, q: Scalars, qd: Scalars, currents: Scalars, remembered: Scalars, t: Scalar
    ) -> tuple[Scalars, Scalars]:
        """Commands; and the rates of what is remembered, or of sampled control what is remembered after the sample."""
        command, seen = self.plant.command, self.plant.loads.measured(q, qd, currents)
        assert isinstance(command, Controller)
        command = command.ideal
        memory: Memory = unflatten(self._structure, remembered)
        memory = replace(memory, kept=replace(memory.kept, plan=command.law.begin().plan))
        if command.period is None:
            return command.command(t, seen, memory), leaves(command.rates(t, seen, memory))
        if memory.encoded is not None:
            memory = replace(memory, encoded=replace(memory.encoded, samples=1.0))
        with differentiable():
            commands, after = command.sample(t, seen, memory)
        return commands, leaves(_linear(after))


def _linear(memory: Memory) -> Memory:
    """The same without what linear equations do not have; see `linear_slots`."""
    encoded = None if memory.encoded is None else replace(memory.encoded, samples=None)
    return replace(memory, kept=replace(memory.kept, plan=[]), encoded=encoded)


def linearize(plant: Plant, t: float, state: Sequence[float], evaluate: Evaluate = replay) -> Linearization:
    """A plant linearised about a state.

    Args:
        plant: The plant; its numbers are floats.
        t: Time [s].
        state: See `Plant.slots`.
        evaluate: See `Linearizer`.

    Raises:
        UsageError: It is a rule about steps, which has no derivatives.
    """
    with unrolled_up_to(FEW):
        return Linearizer(plant, evaluate).at(t, state)


def with_stop(about: Linearization, i: int, stiffness: Scalar, damping: Scalar) -> Linearization:
    """The same linearisation with a stop of joint i in contact, of stiffness [N·m/rad] and damping [N·m·s/rad]."""
    Fq, Fv = ([list(row) for row in block] for block in (about.Fq, about.Fv))
    Fq[i][i] -= stiffness
    Fv[i][i] -= damping
    return replace(about, Fq=Fq, Fv=Fv)


def transposed(columns: Sequence[Scalars], height: int) -> Rows:
    """The rows of a matrix given by its columns."""
    return [[column[i] for column in columns] for i in range(height)]


def _is_zero(x: Scalar) -> Any:
    return both(x <= 0.0, x >= 0.0)


def _sign(x: Scalar) -> Scalar:
    return where(x > 0.0, 1.0, where(x < 0.0, -1.0, 0.0))
