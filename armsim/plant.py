"""The plant: an arm with its drives, its command and its integrator, as pure functions of time and state.

State is a flat list of scalars with named slots: joint positions, joint velocities, controller integrals, and, where the
command is sampled, the commands held since the last sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from armsim.actuation import JointTorque, armature, driven, unpowered
from armsim.control import Feedback, OpenLoop
from armsim.dynamics import (
    ExternalWrench,
    forward_dynamics,
    kinetic_energy,
    link_wrenches,
    own_poses,
    potential_energy,
)
from armsim.dynamics.forward import Algorithm
from armsim.expr import Scalar, shared
from armsim.integrate import METHODS, Motion
from armsim.model import Arm
from armsim.spatial import Pose, quaternion

Quantity = Literal[
    "q", "qd", "qdd", "pose", "tau", "motor", "friction", "limit", "voltage", "current", "power", "energy"
]


@dataclass(frozen=True)
class Column:
    """One number of a row that `Plant.observe` gives.

    Attributes:
        quantity: What it is.
        of: The joint's name; for a pose "x", "y", "z", "qw", "qx", "qy", "qz", for an energy "kinetic" or "potential".
        joint: The joint's index, None for pose and energies.
    """

    quantity: Quantity
    of: str
    joint: int | None = None


@dataclass(frozen=True)
class Plant:
    """What is simulated.

    Attributes:
        arm: The arm, n joints.
        command: What drives it: a feedback law, signals of time, or None for motors with open terminals.
        external: Forces and moments from outside.
        method: Name of the integrator, of `armsim.integrate.METHODS`.
        algorithm: Of `armsim.dynamics.forward_dynamics`.
    """

    arm: Arm
    command: Feedback | OpenLoop | None
    external: Sequence[ExternalWrench] = ()
    method: str = "semi_implicit_euler"
    algorithm: Algorithm = "crba"
    _evaluations: dict = field(default_factory=dict, repr=False, compare=False)

    @property
    def sampled(self) -> bool:
        """Whether the command is held between samples."""
        return self.command is not None and self.command.period is not None

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the state's entries, in order."""
        names = [joint.name for joint in self.arm.joints]
        slots = [f"{kind}_{name}" for kind in ("q", "qd") for name in names]
        if self.command is not None:
            slots += [f"integral_{name}" for name in names[: self.command.integrals]]
        if self.sampled:
            slots += [f"held_{name}" for name in names]
        return tuple(slots)

    def initial_state(self, q: Sequence[Scalar], qd: Sequence[Scalar]) -> list[Scalar]:
        """The state at joint positions q and velocities qd, all else zero; the first sample is still to be taken."""
        return [*q, *qd, *[0.0] * (len(self.slots) - 2 * self.arm.n)]

    def sample(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """The state after a sampled command has been computed anew at time t [s]; the joints have not moved."""
        q, qd, integrals, _ = self._parts(state)
        command = self.command
        if command is None or command.period is None:
            raise ValueError("nothing is sampled")
        held = command.command(t, q, qd, integrals)
        rates = command.integral_rates(q, integrals)
        integrals = [x + command.period * rate for x, rate in zip(integrals, rates, strict=True)]
        return [*q, *qd, *integrals, *held]

    def step(self, t: Scalar, state: Sequence[Scalar], dt: Scalar) -> list[Scalar]:
        """The state one step later: command, torque, accelerate, integrate.

        Args:
            t: Time [s].
            state: See `slots`.
            dt: Length of the step [s].
        """
        q, qd, integrals, held = self._parts(state)

        def rates(at: Scalar, y: Motion) -> Motion:
            qdd = self._accelerations(at, y.q, y.v, y.z, held)
            return Motion(y.v, qdd, [] if self.sampled else self._integral_rates(y.q, y.z))

        continuous = [] if self.sampled else integrals
        after = METHODS[self.method](rates, t, Motion(q, qd, continuous), dt)
        return [*after.q, *after.v, *(integrals if self.sampled else after.z), *held]

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """What the numbers of a row are, in order."""
        joints = [(i, joint) for i, joint in enumerate(self.arm.joints)]
        powered = [(i, joint) for i, joint in joints if joint.motor is not None]
        columns = [Column(kind, joint.name, i) for kind in ("q", "qd", "qdd") for i, joint in joints]
        columns += [Column("pose", part) for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
        columns += [
            Column(kind, joint.name, i) for kind in ("tau", "motor", "friction", "limit") for i, joint in joints
        ]
        columns += [Column(kind, joint.name, i) for kind in ("voltage", "current", "power") for i, joint in powered]
        return tuple(columns + [Column("energy", "kinetic"), Column("energy", "potential")])

    def observe(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """The row of `columns` at time t [s]: the state, and the accelerations and torques that act from then on."""
        q, qd, integrals, held = self._parts(state)
        qdd = self._accelerations(t, q, qd, [] if self.sampled else integrals, held)
        torques = self.torques(t, q, qd, integrals, held)
        poses = own_poses(self.arm, q)
        tool = poses[-1] @ self.arm.tool_in_link
        powered = [torque for torque in torques if torque.voltage is not None]
        rotors = sum((armature(joint) * v * v for joint, v in zip(self.arm.joints, qd, strict=True)), start=0.0)
        return [
            *(*q, *qd, *qdd),
            *(*tool.position, *quaternion(tool.rotation)),
            *(getattr(torque, kind) for kind in ("total", "motor", "friction", "limit") for torque in torques),
            *(getattr(torque, kind) for kind in ("voltage", "current", "power") for torque in powered),
            kinetic_energy(self.arm, q, qd) + rotors / 2,
            potential_energy(self.arm, q),
        ]

    def torques(self, t: Scalar, q, qd, integrals, held) -> list[JointTorque]:
        """What acts on every joint."""
        if self.command is None:
            return [unpowered(joint, *motion) for joint, *motion in zip(self.arm.joints, q, qd, strict=True)]
        u = held if self.sampled else self.command.command(t, q, qd, integrals)
        return [
            driven(joint, self.command.output, u_i, q_i, qd_i)
            for joint, u_i, q_i, qd_i in zip(self.arm.joints, u, q, qd, strict=True)
        ]

    def peaks(self, t: Scalar, state: Sequence[Scalar]) -> list[Scalar]:
        """What a run keeps the largest magnitude of: the motor torque of every joint."""
        return [torque.motor for torque in self.torques(t, *self._parts(state))]

    def _parts(self, state: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar], list[Scalar], list[Scalar]]:
        """Joint positions, joint velocities, controller integrals, held commands."""
        n = self.arm.n
        rest = list(state[2 * n :])
        integrals = self.command.integrals if self.command is not None else 0
        return list(state[:n]), list(state[n : 2 * n]), rest[:integrals], rest[integrals:]

    def _integral_rates(self, q, integrals) -> list[Scalar]:
        return [] if self.command is None else self.command.integral_rates(q, integrals)

    def _accelerations(self, t: Scalar, q, qd, integrals, held) -> list[Scalar]:
        """Joint accelerations; traced once however many stages the integrator has."""
        sizes = (len(q), len(qd), len(integrals))

        def body(at, *x):
            a, b, c = sizes[0], sizes[0] + sizes[1], sum(sizes)
            return self._accelerate(at, x[:a], x[a:b], x[b:c], x[c:])

        evaluate = self._evaluations.setdefault(sizes, shared(body, "accelerations"))
        return evaluate(t, *q, *qd, *integrals, *held)

    def _accelerate(self, t: Scalar, q, qd, integrals, held) -> list[Scalar]:
        tau = [torque.total for torque in self.torques(t, q, qd, integrals, held)]
        rotors = [armature(joint) for joint in self.arm.joints]
        poses: list[Pose] = own_poses(self.arm, q) if self.external else []
        outside = link_wrenches(self.arm, t, poses, self.external)
        return forward_dynamics(self.arm, q, qd, tau, rotors, outside, self.algorithm)
