"""What a robot file amounts to: its numbers and what follows from them, in SI units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, fields, replace

from armsim import document
from armsim.actuation import drive_torques, motor_demands
from armsim.actuation import motor as dc
from armsim.arm.overload import AboveNominal, above_nominal
from armsim.arm.reach import reach
from armsim.arm.solids import BodyInertia, LinkInertia, PayloadInertia, link_inertia, summed
from armsim.dynamics import (
    Contact,
    contacts_of,
    effective_mass,
    frame_pose,
    frame_position,
    mass_matrix,
    two_mass_systems,
)
from armsim.files.faults import Doubt
from armsim.loading import Given, Overrides, build_robot, load_robot_file
from armsim.loading.plausible import doubts
from armsim.model import Arm, Coulomb, Joint, Mimic, Motor, Payload, Spring
from armsim.model.angles import POSITION
from armsim.plant import slipping
from armsim.records import OMIT, Json, optional, record
from armsim.spatial import Frame, Inertia, in_degrees

OFFSET = {"degrees": lambda mimic: replace(mimic, offset=in_degrees(mimic.offset))}  # of the joint that mimics another


@record
class MotorFacts(Motor):
    """A motor and what it is at its joint.

    Attributes:
        armature: Its rotor's inertia at the joint [kg m² or kg].
        torque_per_volt: At the joint, at stall [N·m/V or N/V]; None for a drive of which only the torque is known.
    """

    armature: float = 0.0
    torque_per_volt: float | None = None


@record
class JointFacts:
    """A joint and its motor; absent values, and ends at infinity, are None.

    Attributes:
        name: As in the robot file.
        type: Of `armsim.model.JOINT_TYPES`.
        pitch: Of a screw [m].
        initial: Initial position [rad or m].
        lower: Least position [rad or m].
        upper: Greatest position [rad or m].
        stiffness: Of its stops [N·m/rad or N/m].
        stop_damping: Of its stops [N·m·s/rad or N·s/m].
        viscous: Viscous friction [N·m·s/rad or N·s/m].
        coulomb: Dry friction.
        motor: Its motor.
        spring: Its spring: `stiffness` [N·m/rad or N/m] and `rest` [rad or m].
        parent: Name of the joint whose link carries it, or "base", if the file says so; else None, for the one before.
        mimic: The joint that decides its position: `joint`, `ratio` and `offset` [rad or m]; None for a joint of its own.
    """

    name: str
    type: str
    pitch: float | None
    initial: float = field(metadata=POSITION)
    lower: float | None = field(metadata=POSITION)
    upper: float | None = field(metadata=POSITION)
    stiffness: float | None
    stop_damping: float | None
    viscous: float
    coulomb: Coulomb | None
    motor: MotorFacts | None
    spring: Spring | None = optional(default=None)
    parent: str | None = optional(default=None)
    mimic: Mimic | None = field(default=None, metadata=OMIT | OFFSET)


@record
class FrameFacts:
    """A frame that is fixed in a link.

    Attributes:
        name: Of the frame.
        link: Name of the joint that moves the link.
        position: Of its origin, in the link's frame [m].
    """

    name: str
    link: str
    position: list[float]


@record
class ContactFacts:
    """A contact at a pose.

    Attributes:
        name: Of the contact.
        gap: Distance from the obstacle, negative by the penetration [m].
        mass: Effective mass of the arm there, along the normal [kg].
        frequency: At which it bounces on the stiffness, undamped [Hz].
        damping_ratio: Of that, by the damping in proportion to the rate.
    """

    name: str
    gap: float
    mass: float
    frequency: float
    damping_ratio: float


@record
class CouplingFacts:
    """An elastic coupling between a motor and its joint at a pose, the other joints free to move.

    Attributes:
        name: Of the joint.
        stiffness: [N·m/rad or N/m].
        backlash: [rad or m]; None for none.
        inertia: Of all that moves with the joint, felt there [kg·m² or kg].
        ratio: Of that to the rotor's inertia at the joint.
        antiresonance: At which the joint swings on a rotor that is held [Hz], undamped.
        resonance: At which rotor and joint swing against each other [Hz], undamped.
    """

    name: str
    stiffness: float
    backlash: float | None = field(metadata=POSITION)
    inertia: float
    ratio: float
    antiresonance: float
    resonance: float


@record
class PoseFacts:
    """Statics, mass matrix and tool of an arm of n joints at a pose.

    Attributes:
        q: Joint positions [rad or m].
        torque: That holds it [N·m or N].
        voltage: For that [V]; None without a motor.
        current: For that [A]; likewise.
        mass_matrix: n rows of n, rotors included.
        tool: The tool in the world.
        outside: Joints outside their range.
        slipping: Joints that dry friction alone does not hold; None for an arm without.
        above_nominal: Motors that take more than their nominal current.
    """

    q: list[float] = field(metadata=POSITION)
    torque: list[float]
    voltage: list[float | None]
    current: list[float | None]
    mass_matrix: list[list[float]]
    tool: Frame
    outside: list[str]
    slipping: list[str] | None
    above_nominal: list[AboveNominal]


@record
class RobotOverview:
    """A robot's joints, links and motors, and its statics at a pose.

    Attributes:
        kind: "robot".
        file: None for plain data.
        robot: Its name.
        gravity: [m/s²].
        mass: Of links and payloads [kg], when they are heaviest.
        reach: Of the tool from the first joint that moves it [m]; None without end.
        joints: In the order of the file, those that mimic others too.
        links: In the user's frames.
        frames: All but the tool.
        payload: In the tool's frame, summed; None for none.
        pose: At the initial pose, of a scenario's robot the scenario's, with what it carries at the start.
        doubts: What `armsim check` warns of; None for a scenario's robot, whose doubts are the scenario's.
        payloads: What frames carry, at any time; None for nothing, or what only `payload` says.
        contacts: Those with the world, at that pose.
        couplings: Elastic ones of motors, at that pose.
        about: What the file says about the robot: its rated payload [kg], and whether its inertias are published or estimated.
    """

    kind: str = field(default="robot", init=False)
    file: str | None
    robot: str
    gravity: list[float]
    mass: float
    reach: float | None
    joints: list[JointFacts]
    links: list[LinkInertia]
    frames: list[FrameFacts]
    payload: BodyInertia | None
    pose: PoseFacts
    doubts: list[Doubt] | None = optional(default=None)
    payloads: list[PayloadInertia] | None = optional(default=None)
    contacts: list[ContactFacts] | None = optional(default=None)
    couplings: list[CouplingFacts] | None = optional(default=None)
    about: Json | None = optional(default=None)

    @property
    def free(self) -> list[JointFacts]:
        """The joints that mimic none, in the order of all that is joint by joint."""
        return [joint for joint in self.joints if joint.mimic is None]


def robot_overview(
    given: Given,
    overrides: Overrides | None = None,
) -> RobotOverview:
    """The overview of a robot at its initial pose.

    Args:
        given: A file, the name of a shipped robot, or a file's content as plain data.
        overrides: Values in place of the file's, by path.
    """
    file = load_robot_file(given, overrides)
    arm = build_robot(file.document)
    found = [warning.doubt for warning in doubts(arm, file.document)]
    facts = arm_overview(arm, file.sources[0].path if file.sources else None, arm.initial, found)
    return replace(facts, about=document.plain(file.document.about))


def arm_overview(arm: Arm, file: str | None, q: Sequence[float], doubts: list[Doubt] | None = None) -> RobotOverview:
    """The overview of an arm.

    Args:
        arm: The arm, n joints.
        file: That it is from.
        q: Joint positions of the pose [rad or m], n of them.
        doubts: About its file.
    """
    far, heaviest = reach(arm), arm.heaviest
    carried = heaviest.carried_by(arm.tool)
    return RobotOverview(
        file=file,
        robot=arm.name,
        gravity=list(arm.gravity),
        mass=heaviest.mass,
        reach=far if math.isfinite(far) else None,
        joints=[_joint(*links) for links in zip(arm.links, arm.links_in_range, strict=True)],
        links=[LinkInertia(name=link.name, **vars(link_inertia(link))) for link in arm.links],
        frames=[FrameFacts(frame.name, frame.link, [*frame.pose.position]) for frame in arm.frames[1:]],
        payload=None if carried == Inertia() else summed(carried),
        pose=_at_pose(arm.at(0.0), q),
        doubts=doubts,
        payloads=[
            PayloadInertia(of.name, **vars(summed(of.inertia)), frame=of.frame)
            for of in arm.payloads
            if arm.payloads != (Payload(carried),)
        ]
        or None,
        contacts=[_contact(arm.at(0.0), q, contact) for contact in contacts_of(arm)] or None,
        couplings=_couplings(arm.at(0.0), q) or None,
    )


def _couplings(arm: Arm, q: Sequence[float]) -> list[CouplingFacts]:
    couplings = {joint.name: joint.coupling for joint in arm.joints}
    found: list[CouplingFacts] = []
    for of in two_mass_systems(arm, q):
        coupling = couplings[of.joint]
        backlash = None if coupling is None else coupling.backlash
        facts = (of.stiffness, backlash, of.inertia, of.ratio, of.antiresonance, of.resonance)
        found.append(CouplingFacts(of.joint, *facts))
    return found


def _contact(arm: Arm, q: Sequence[float], contact: Contact) -> ContactFacts:
    gap, normal = contact.gap(frame_position(arm, q, contact.at))
    mass, surface = effective_mass(arm, q, contact.at, normal), contact.surface
    pace = math.sqrt(surface.stiffness / mass)
    damping = 0.0 if surface.hunt_crossley else surface.damping
    return ContactFacts(contact.name, gap, mass, pace / (2 * math.pi), damping / (2 * mass * pace) if pace else 0.0)


def _at_pose(arm: Arm, q: Sequence[float]) -> PoseFacts:
    """Statics, mass matrix and tool at joint positions [rad or m]."""
    zeros = [0.0] * arm.n
    torque = drive_torques(arm, q, zeros, zeros)
    voltage, current = motor_demands(arm, zeros, torque)
    return PoseFacts(
        q=list(q),
        torque=torque,
        voltage=voltage,
        current=current,
        mass_matrix=mass_matrix(arm, q),
        tool=frame_pose(arm, q, arm.tool).frame(),
        outside=[
            joint.name for joint, x in zip(arm.joints, q, strict=True) if joint.limit and not joint.limit.holds(x)
        ],
        slipping=slipping(arm, q),
        above_nominal=above_nominal(arm, current),
    )


def _joint(joint: Joint, within: Joint) -> JointFacts:
    stop, motor = joint.limit, None
    lower, upper = within.bounds
    if joint.motor is not None:
        own = {of.name: getattr(joint.motor, of.name) for of in fields(joint.motor)}
        gain = None if joint.motor.Kp is None else dc.voltage_gain(joint.motor)
        motor = MotorFacts(**own, armature=joint.armature, torque_per_volt=gain)
    return JointFacts(
        name=joint.name,
        type=joint.type,
        pitch=joint.pitch if joint.kind.has_pitch else None,
        initial=within.initial,
        lower=lower,
        upper=upper,
        stiffness=None if stop is None else stop.stiffness,
        stop_damping=None if stop is None or stop.stiffness is None else stop.damping,
        viscous=joint.viscous,
        coulomb=joint.coulomb,
        motor=motor,
        spring=joint.spring,
        parent=joint.parent,
        mimic=joint.mimic,
    )
