"""What couplings give the joints that mimic others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from armsim.actuation.friction import dry_bounds
from armsim.actuation.joint_torque import JointTorque, unpowered
from armsim.dynamics import InternalWrenches
from armsim.dynamics.kinematics import along
from armsim.expr import Scalars, absolute, where
from armsim.model import Joint
from armsim.spatial import Scalar


def coupling_forces(motion: InternalWrenches, torques: Sequence[JointTorque]) -> Scalars:
    """The force of each coupling on its follower [N·m or N], one for each of `Arm.followers`.

    It is what the follower's motion takes beyond its own motor, friction, stops and spring; its leader feels it, times the
    negative ratio. Dry friction is known as a sum over the joints that move as one: it is shared in proportion to the bounds
    that each has, which of sliding joints is exact, and of joints at rest a choice.

    Args:
        motion: The motion of the arm, n joints.
        torques: On the joints, followers' parts included, n of them.
    """
    arm, found = motion.arm, []
    for follower in arm.followers:
        mimic, leader = follower.mimic, arm.leader(follower)
        assert mimic is not None
        ratio, at_leader = mimic.ratio, torques[leader]
        motor = 0.0 if follower.motor is None else at_leader.motor / ratio
        own = unpowered(follower, mimic.position(motion.q[leader]), ratio * motion.qd[leader])
        dry = at_leader.dry * _share(arm.joints[leader], at_leader, motion.qd[leader], follower, motor) / ratio
        own = replace(own, motor=motor, dry=dry)
        taken = along(follower, *motion.at(follower.name)) + follower.armature * (ratio * motion.qdd[leader])
        found.append(own.drive_for(taken) - motor)
    return found


def _share(leader: Joint, torque: JointTorque, qd: Scalar, follower: Joint, motor: Scalar) -> Scalar:
    """The part of the dry friction on joints that move as one that is on a follower."""
    mimic = follower.mimic
    assert mimic is not None
    forward, backward = mimic.sides(*dry_bounds(follower, motor, mimic.ratio * qd))
    lower, upper = dry_bounds(leader, torque.motor, qd)
    negative = torque.dry < 0.0
    whole = where(negative, -lower, upper)
    own = absolute(mimic.ratio) * absolute(where(negative, forward, backward))
    return where(whole > 0.0, own / where(whole > 0.0, whole, 1.0), 0.0)
