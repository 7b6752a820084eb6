"""A state with what follows from it: what rows and measures report of an instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from armsim.actuation import JointTorque, coupling_forces
from armsim.control import Desired
from armsim.dynamics import (
    Algorithm,
    InternalWrenches,
    Touch,
    distances,
    frame_pose,
    frame_velocity,
    kinetic_energy,
    mass_matrix,
    potential_energy,
)
from armsim.expr import Scalar, Scalars, dot
from armsim.model import Arm
from armsim.records import record


@record
class Instant:
    """A state with the derived quantities that rows report.

    Attributes:
        arm: The arm, n joints, rotors behind elastic couplings among them, the last (`Arm.mechanism`).
        q: Joint positions [rad or m].
        qd: Joint velocities [rad/s or m/s].
        qdd: Joint accelerations [rad/s² or m/s²].
        torques: On the joints.
        algorithm: Of forward dynamics; by "crba", kinetic energy reuses its mass matrix.
        internal: What bearings, base and sensors carry.
        desired: What a reference that moves asks for; None without one.
        touches: The contacts, by name.
        windings: Temperatures of the motors' windings that act on their resistances [°C].
    """

    arm: Arm
    q: Scalars
    qd: Scalars
    qdd: Scalars
    torques: Sequence[JointTorque]
    algorithm: Algorithm
    internal: InternalWrenches
    desired: Desired | None = None
    touches: Mapping[str, Touch] = field(default_factory=dict)
    windings: Scalars = ()

    def contact(self, name: str) -> Scalars:
        """Gap [m], normal force [N], magnitudes of friction [N] and slip [m/s], friction force [N]; by a contact's name."""
        touch = self.touches[name]
        return [touch.gap, touch.normal_force, touch.friction.norm, touch.slip.norm, *touch.friction]

    def pose(self, frame: str = "tool") -> Scalars:
        """Position [m] and unit quaternion of a frame in the world, by its name."""
        return frame_pose(self.arm, self.q, self.arm.frame(frame)).coordinates

    def velocity(self, frame: str = "tool") -> Scalars:
        """Velocity of a frame's origin [m/s] and angular velocity [rad/s] along the world's axes, by the frame's name."""
        w, v = frame_velocity(self.arm, self.q, self.qd, self.arm.frame(frame))
        return [*v, *w]

    def distance(self, pair: str) -> Scalars:
        """Least distance of a pair of `Arm.pairs` [m], by its name."""
        return distances(self.arm, self.q, [pair])

    def wrench(self, name: str) -> Scalars:
        """Force [N] and moment [N·m] at the base, a joint or a frame, by its name; see `InternalWrenches`."""
        moment, force = self.internal.at(name)
        return [*force, *moment]

    @cached_property
    def energies(self) -> tuple[Scalar, Scalar]:
        """Kinetic and potential energy [J]."""
        potential = potential_energy(self.arm, self.q)
        if self.algorithm != "crba":
            return kinetic_energy(self.arm, self.q, self.qd), potential
        moved = [dot(row, self.qd) for row in mass_matrix(self.arm, self.q)]
        return dot(moved, self.qd) / 2, potential

    def powered(self, kind: str) -> Scalars:
        """An electrical quantity of every joint that has an electric motor."""
        return [getattr(torque, kind) for torque in self.of_drives(self.torques) if torque.voltage is not None]

    def of_joints(self, values: Sequence[Any]) -> Sequence[Any]:
        """Those of values that are of joints."""
        return values[: len(self.arm.drivers)]

    def of_drives(self, values: Sequence[Any]) -> Sequence[Any]:
        """Those of values that are of what drives act on: rotors in place of their joints."""
        return self.arm.of_drivers(values)

    def of_rotors(self, values: Sequence[Any]) -> Sequence[Any]:
        """Those of values that are of rotors behind elastic couplings."""
        return values[len(self.arm.drivers) :]

    @property
    def couplings(self) -> Scalars:
        """The force of every coupling on its follower [N·m or N]."""
        return coupling_forces(self.internal, self.torques)

    def of_followers(self, values: Scalars) -> Scalars:
        """Those of values for all links that are of followers."""
        return [value for link, value in zip(self.arm.links, values, strict=True) if link.mimic is not None]
