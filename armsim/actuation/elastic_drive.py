"""What motors behind elastic couplings have to do for a motion of the joints: differential flatness.

The motion of the joints decides the torques of the couplings, these the twists, and both the motion of the rotors, whose own
equations give the torques of the motors (the model is that of Spong 1987, *J. Dyn. Sys., Meas., Control* 109(4)).
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from armsim.actuation.drive import against_dry_friction, drive_torques
from armsim.actuation.joint_torque import unpowered
from armsim.expr import Scalar, Scalars, is_number, with_jacobian
from armsim.model import Arm

Row = Scalars


def coupling_torques(arm: Arm, elastic: Container[str], *motion: Row) -> tuple[Scalars, Scalars, Scalars]:
    """The torques of couplings for a motion [N·m or N], n scalars, and their first and second derivatives by time.

    Of joints that are not among `elastic` those of their drives, as of `drive_torques`.

    Args:
        arm: The arm, n joints.
        elastic: Names of the joints whose couplings count as elastic.
        *motion: Joint positions [rad or m], and their derivatives up to the fourth, the snap [rad/s⁴ or m/s⁴], n scalars each.
    """
    n = arm.n
    bare = without_rotors(arm, elastic)

    def torques(s: Scalar, *motion: Row) -> Scalars:
        """At the Taylor polynomial of the motion, s seconds later."""
        rates = list(zip(*motion, strict=True))
        moved = [[_taylor(own[order:], s) for own in rates] for order in range(3)]
        return drive_torques(bare, *moved)

    def rate(s: Scalar, *motion: Row) -> Scalars:
        values, slopes = with_jacobian(torques, (0,), "coupling_torques")(s, *motion)
        return [*values, *(by_s for (by_s,) in slopes)]

    found, slopes = with_jacobian(rate, (0,), "coupling_rates")(0.0, *motion)
    return found[:n], found[n:], [by_s for (by_s,) in slopes[n:]]


def _taylor(derivatives: Row, s: Scalar) -> Scalar:
    """A Taylor polynomial, by the derivatives at 0."""
    value: Scalar = 0.0
    for k in range(len(derivatives), 0, -1):
        value = derivatives[k - 1] + (s / k) * value
    return value


def rotor_torques(arm: Arm, elastic: Container[str], q: Row, qd: Row, qdd: Row, tau: Row) -> Scalars:
    """The torques of motors for motions of their rotors, as joints feel them [N·m or N], n scalars.

    Args:
        arm: The arm, n joints.
        elastic: As of `coupling_torques`.
        q: Rotor positions over the gear [rad or m], n scalars.
        qd: Their rates [rad/s or m/s], n scalars.
        qdd: The rates of these [rad/s² or m/s²], n scalars.
        tau: Torques of the couplings [N·m or N], n scalars; of other joints what is returned.
    """
    found = []
    for joint, x, v, a, passed in zip(arm.joints, q, qd, qdd, tau, strict=True):
        if joint.name in elastic:
            rotor = joint.rotor
            needed = replace(unpowered(rotor, x, v), coupling=-passed).drive_for(rotor.armature * a)
            passed = against_dry_friction(rotor, needed, v)
        found.append(passed)
    return found


def rigid_reasons(arm: Arm, instant: bool = False) -> dict[str, str]:
    """The joints whose motion does not decide that of the rotor behind their coupling, each with the reason.

    Args:
        arm: The arm.
        instant: Whether the motion is known at an instant only, without what came before.
    """
    found = {}
    for joint in arm.joints:
        if joint.coupling is None:
            continue
        if joint.coupling.backlash is not None:
            found[joint.name] = "has backlash, within which the rotor is free"
        elif joint.coulomb is not None:
            found[joint.name] = "has dry friction of its own, which jumps where it turns round"
        elif instant and not is_number(joint.coupling.damping, 0.0):
            found[joint.name] = "has a damped coupling, which twists by what went before"
    return found


def elastic_joints(arm: Arm, instant: bool = False) -> list[str]:
    """Names of the joints with couplings whose motion decides that of the rotor."""
    rigid = rigid_reasons(arm, instant)
    return [joint.name for joint in arm.joints if joint.coupling is not None and joint.name not in rigid]


def rotor_positions(arm: Arm, q: Row, qd: Row, qdd: Row) -> list[Scalar | None]:
    """The positions of rotors behind elastic couplings over their gears [rad or m], on numbers, n of them; None for all others.

    At rest the rotor stands where its coupling holds the joint, on a flank of the backlash. In motion None of `rigid_reasons`.

    Args:
        arm: The arm, n joints.
        q: Joint positions [rad or m], n of them.
        qd: Joint velocities [rad/s or m/s], n of them.
        qdd: Joint accelerations [rad/s² or m/s²], n of them.
    """
    moves = any([*qd, *qdd])
    known = elastic_joints(arm, instant=True) if moves else [x.name for x in arm.joints if x.coupling is not None]
    tau = drive_torques(without_rotors(arm, known), q, qd, qdd) if known else q
    joints = zip(arm.joints, q, tau, strict=True)
    return [x + of.coupling.twist(t) if of.coupling and of.name in known else None for of, x, t in joints]


def without_rotors(arm: Arm, elastic: Container[str]) -> Arm:
    """The arm with nothing before the couplings of these joints."""
    return arm.map_links(lambda link: replace(link, motor=None) if link.name in elastic else link)
