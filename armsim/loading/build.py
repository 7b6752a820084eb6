"""From settled documents to the arm; units are converted here.

A number is compared only with the value that means absent (no dry friction, a lossless gear), and only if it is a constant: an
open number may take any value, so what it belongs to is built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from armsim import document
from armsim.expr import is_number
from armsim.geometry import Obstacle
from armsim.loading.frames import RADIANS, build_frame, place_joint
from armsim.loading.settle import settle
from armsim.loading.world import build_contacts, build_solids, build_world, with_surfaces
from armsim.model import (
    BASE,
    JOINT_TYPES,
    Arm,
    BrushDrop,
    Coulomb,
    Coupling,
    Joint,
    Limit,
    LinkFrame,
    Mimic,
    Motor,
    MotorLimits,
    Payload,
    Spring,
    Stribeck,
    Thermal,
    bodies,
)
from armsim.spatial import Inertia, Pose, Scalar, Symmetric, Vector, rotation_rpy


def build_robot(robot: document.Robot, open: Mapping[str, Scalar] | None = None) -> Arm:
    """The arm of a robot file.

    Args:
        robot: As `armsim.loading.load_robot_file` reads it.
        open: Scalars in place of the file's numbers, by path, in the file's unit: `{"joints[0].motor.Kp": kp,
            "parameters.upper": upper}`. Formulas are evaluated on open parameters.

    Raises:
        UsageError: There is no number at a path of `open`.
    """
    robot = settle(robot, open)
    degrees = robot.degrees
    links: list[Joint] = []
    solids: list[Obstacle] = []
    beyond: dict[str, Pose | None] = {BASE: None}  # the user's frame of each link, in that link's own frame
    before = BASE
    for joint in robot.joints:
        pre, offset, after = place_joint(joint, degrees)
        carrier = beyond[joint.parent or before]
        if carrier is not None:
            pre = carrier @ pre
        links.append(build_joint(joint, pre, offset, after, degrees))
        solids += build_solids(joint.name, joint.bodies, after)
        before, beyond[joint.name] = joint.name, after
    tool = LinkFrame("tool", robot.tool.link or "", build_frame(robot.tool, degrees))
    more = (LinkFrame(name, it.link, build_frame(it, degrees)) for name, it in robot.frames.items())
    frames = (tool, *more)
    arm = Arm(
        name=robot.name,
        gravity=Vector(*robot.gravity),
        base=build_frame(robot.base, degrees),
        links=tuple(links),
        frames=frames,
        payloads=() if robot.payload is None else build_payloads(robot.payload, degrees),
        solids=tuple(solids),
        world=build_world(robot.world, degrees),
    )
    if not robot.contacts:
        return arm
    return with_surfaces(replace(arm, contacts=build_contacts(robot.contacts, arm)), arm.initial)


def build_joint(joint: document.Joint, pre: Pose, offset: Scalar, after: Pose | None, degrees: bool) -> Joint:
    """One joint: `pre` is its pose in the link that carries it, `after` the user's frame in its own, None for the same."""
    turn = RADIANS if degrees and JOINT_TYPES[joint.type].turns else 1.0
    inertia = Inertia()
    for i, body in enumerate(joint.bodies):
        inertia = inertia + build_body(body, degrees) if i else build_body(body, degrees)
    if after is not None:
        inertia = inertia.moved(after.rotation, after.position)
    limits, mimic = joint.limits, joint.mimic
    return Joint(
        name=joint.name,
        type=joint.type,
        tilt=pre.rotation,
        position=pre.position,
        offset=offset,
        initial=0.0 if joint.initial is None else joint.initial * turn,
        inertia=inertia,
        viscous=joint.friction.viscous,
        coulomb=build_dry(joint.friction, turn),
        limit=None
        if limits is None
        else Limit(limits.lower * turn, limits.upper * turn, limits.stiffness, limits.damping),
        spring=None if joint.spring is None else Spring(joint.spring.stiffness, joint.spring.rest * turn),
        motor=None if joint.motor is None else build_motor(joint.motor, turn),
        frame=Pose() if after is None else after,
        pitch=0.0 if joint.pitch is None else joint.pitch,
        parent=joint.parent,
        mimic=None if mimic is None else Mimic(mimic.joint, mimic.ratio, mimic.offset * turn),
    )


def build_motor(motor: document.Motor, turn: Scalar) -> Motor:
    """A motor; its back-EMF constant is its torque constant unless given. `turn` is the unit of its joint's positions."""
    brushes, thermal = motor.brush_drop, motor.thermal
    return Motor(
        Kp=motor.Kp,
        Ke=motor.Kp if motor.Ke is None else motor.Ke,
        Ra=motor.Ra,
        gear=motor.gear,
        rotor_inertia=motor.rotor_inertia,
        viscous=motor.viscous,
        coulomb=build_dry(motor),
        efficiency=None if document.Motor.efficiency.means_absent(motor.efficiency) else motor.efficiency,
        inductance=None if document.Motor.inductance.means_absent(motor.inductance) else motor.inductance,
        brush_drop=None
        if brushes is None or document.BrushDrop.max.means_absent(brushes.max)
        else BrushDrop(brushes.max, brushes.half),
        limits=MotorLimits(**motor.limits.entries),
        nominal_current=motor.nominal_current,
        thermal=None if thermal is None else Thermal(**thermal.entries),
        coupling=None if motor.coupling is None else build_coupling(motor.coupling, turn),
        model=motor.model,
    )


def build_coupling(coupling: document.Coupling, turn: Scalar) -> Coupling:
    """An elastic coupling."""
    rigid = document.Coupling.backlash.means_absent(coupling.backlash)
    return Coupling(coupling.stiffness, coupling.damping, None if rigid else coupling.backlash * turn)


def build_dry(friction: document.Friction | document.Motor, turn: Scalar = 1.0) -> Coulomb | None:
    """Dry friction on one side of the gear; `turn` is the unit of its velocities' angles [rad], 1 for a length."""
    peak = friction.stribeck
    if peak is None:
        return build_coulomb(friction.coulomb)
    sides = _sides(friction.coulomb)
    positive, negative = (static - least for static, least in zip(_sides(friction.static), sides, strict=True))
    return Coulomb(*sides, (Stribeck(positive, negative, peak.velocity * turn, peak.exponent),))


def _sides(dry: Scalar | document.JointCoulomb | document.MotorCoulomb) -> tuple[Scalar, Scalar]:
    one = not isinstance(dry, (document.JointCoulomb, document.MotorCoulomb))
    return (dry, dry) if one else (dry.positive, dry.negative)


def build_coulomb(coulomb: Scalar | document.JointCoulomb | document.MotorCoulomb) -> Coulomb | None:
    """Dry friction from one number or two; None where there is none."""
    sides = _sides(coulomb)
    return None if all(map(document.JointCoulomb.positive.means_absent, sides)) else Coulomb(*sides)


def build_payloads(
    carried: document.Document | Sequence[document.PayloadBody],
    degrees: bool,
    spans: Sequence[Sequence[Scalar | None]] = (),
) -> tuple[Payload, ...]:
    """What frames carry: the body of the tool, or those of a list.

    Args:
        carried: Settled.
        degrees: Whether the file's angles are degrees.
        spans: Of each of a list, when it is picked up and put down [s].
    """
    if isinstance(carried, document.Document):
        return (Payload(build_body(carried, degrees)),)
    return tuple(
        Payload(
            build_body(item.solid, degrees),
            item.frame,
            item.name,
            *span,
        )
        for item, span in zip(carried, spans or [()] * len(carried), strict=True)
    )


def build_body(body: document.Document, degrees: bool = False) -> Inertia:
    """The inertia of a body: `document.Cylinder` and the others; degrees is the unit of its rpy."""
    match body:
        case document.Point():
            return bodies.point(body.mass, Vector(*body.center))
        case document.Rod():
            return bodies.rod(body.axis, body.length, body.mass, Vector(*body.center))
        case document.KnownInertia():
            return bodies.tabulated(body.mass, Vector(*body.center), build_tensor(body, degrees), body.about)
        case document.Box():
            size = Vector(*body.size)
            return bodies.box(size, _mass(body, bodies.box_volume(size)), Vector(*body.center))
        case document.Sphere():
            return bodies.sphere(body.radius, _mass(body, bodies.sphere_volume(body.radius)), Vector(*body.center))
        case document.Cylinder():
            mass = _mass(body, bodies.cylinder_volume(body.height, body.radius))
            return bodies.cylinder(body.axis, body.height, body.radius, mass, Vector(*body.center))
        case document.Tube(outer_radius=outer, inner_radius=inner):
            mass = _mass(body, bodies.tube_volume(body.height, outer, inner))
            return bodies.tube(body.axis, body.height, outer, inner, mass, Vector(*body.center))
    raise TypeError(f"{type(body).__name__} is no body")


def build_tensor(body: document.KnownInertia, degrees: bool = False) -> Symmetric:
    """The tensor of a body of known inertia, along the axes of its frame: R A Rᵀ, R the orientation of the tensor's own axes."""
    tensor = Symmetric(body.xx, body.yy, body.zz, body.xy, body.xz, body.yz)
    if all(is_number(angle, 0.0) for angle in body.rpy):
        return tensor
    turn = RADIANS if degrees else 1.0
    return rotation_rpy(*(angle * turn for angle in body.rpy)).turn(tensor)


def _mass(solid: Any, volume: Scalar) -> Scalar:
    return volume * solid.density if solid.mass is None else solid.mass
