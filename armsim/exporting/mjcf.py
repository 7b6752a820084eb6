"""MJCF: a robot as MuJoCo reads it."""

from __future__ import annotations

import re
from dataclasses import replace
from math import inf

from armsim import document
from armsim.actuation.motor import viscous
from armsim.escaping import in_html
from armsim.exporting.links import Shape, ends, laid_out, links_of, lost, mean, surroundings, text
from armsim.loading.principal import principal_moments
from armsim.model import BASE, Arm, Joint, Motor
from armsim.spatial import Inertia, Pose, Symmetric, Vector

LEAST = 2e-14  # kg or kg m²: MuJoCo takes no moving body of less
ROUNDING = 1e-14  # of the largest moment
NO_WORD = re.compile(  # keys of a joint; of friction by directions MuJoCo has the mean
    r"limits\.[sd]|friction\.(coulomb\.|st)|motor\.(coulomb\.|efficiency|inductance|brush_drop|limits\.speed|nominal|thermal)"
)
OTHERWISE = [
    "soft in MuJoCo, they give way: limits, dry friction, couplings, screws",
    "inertias that no body can have are replaced by others, with the same equations of motion; meshes are left out",
]


def mjcf(arm: Arm, robot: document.Robot, dt: float) -> tuple[str, list[str]]:
    """The MJCF of an arm; a motor is an actuator that takes its voltage, or its torque where only that is known.

    Args:
        arm: The arm.
        robot: What its file says.
        dt: MuJoCo's step [s].

    Returns:
        The text, and what it lacks, a line each.
    """
    links = links_of(realizable(arm), robot)
    inside = [""] * (len(links) + 1)  # what each link carries; the base is the last, where -1 finds it
    home = [""] * len(inside)  # initial positions of its joints, likewise
    initial = dict(zip(arm.link_names, arm.positions(arm.initial), strict=True))
    motors = couplings = ""
    for i, link in reversed(list(enumerate(links))):
        joint, on, slide = link.joint, link.parent, ""
        place, geoms = _placed(link.origin), "".join(map(_geom, link.shapes))
        if joint is None:
            inside[on] = f'<site name="{link.name}" {place}/>{inside[on]}'
            continue
        if joint.mimic is not None:
            couplings = _coupling(joint.name, joint.mimic.joint, joint.mimic.offset, joint.mimic.ratio) + couplings
        if joint.kind.has_pitch:
            other = f"{joint.name} slides"  # no joint of armsim has a space in its name
            slide = f'<joint name="{other}" type="slide" axis="{text(*link.axis)}"/>'
            couplings = _coupling(other, joint.name, 0.0, joint.slides) + couplings
        q = initial[joint.name]
        home[on] = f"{text(q, *([joint.slides * q] if slide else []))} {home[i]}{home[on]}"
        motors = _actuator(joint) + motors
        inner = f"{_joint(joint, link.axis)}{slide}{_inertial(link.inertia)}{geoms}{inside[i]}"
        inside[on] = f'<body name="{joint.name}_link" {place}>{inner}</body>{inside[on]}'
    xml = f"""<mujoco model="{in_html(arm.name)}"><compiler angle="radian"/>
        <option gravity="{text(*arm.gravity)}" integrator="implicitfast" timestep="{text(dt)}"/>
        <default><geom contype="0" conaffinity="0"/></default>
        <worldbody><body name="{BASE}" {_placed(arm.base)}>{inside[-1]}</body></worldbody>
        <actuator>{motors}</actuator><equality>{couplings}</equality>
        <keyframe><key name="home" qpos="{home[-1].strip()}"/></keyframe></mujoco>"""
    return laid_out(xml), [*OTHERWISE, "lost:", *([*surroundings(robot), *lost(robot, NO_WORD)] or ["nothing"])]


def _placed(pose: Pose) -> str:
    at = pose.frame()
    return f'pos="{text(*at.position)}" quat="{text(*at.quaternion)}"'


def _joint(joint: Joint, axis: Vector) -> str:
    """A joint; friction of its motor counts as its own."""
    motor, spring = joint.motor or Motor(), joint.spring
    dry = mean(joint.coulomb) + abs(motor.gear) * mean(motor.coulomb)
    more = "" if joint.bounds == (None, None) else f' range="{text(*ends(joint))}"'
    if spring is not None:
        more += f' stiffness="{text(spring.stiffness)}" springref="{text(spring.rest)}"'
    return (
        f'<joint name="{joint.name}" type="{"hinge" if joint.kind.turns else "slide"}" axis="{text(*axis)}"{more}'
        f' damping="{text(joint.viscous + viscous(motor))}" frictionloss="{text(dry)}" armature="{text(joint.armature)}"/>'
    )


def _coupling(follower: str, leader: str, offset: float, ratio: float) -> str:
    return f'<joint joint1="{follower}" joint2="{leader}" polycoef="{text(offset, ratio, 0, 0, 0)}"/>'


def _inertial(inertia: Inertia) -> str:
    J = inertia.tensor_about_com()
    tensor, mass = text(J.xx, J.yy, J.zz, J.xy, J.xz, J.yz), text(max(inertia.mass, LEAST))
    return f'<inertial mass="{mass}" pos="{text(*inertia.com())}" fullinertia="{tensor}"/>'


def _geom(shape: Shape) -> str:
    """A solid, by half of what is not a radius."""
    name, sizes, pose = shape
    size = sizes.get("size") or [2 * sizes["radius"], sizes.get("length", 0.0)]
    return f'<geom type="{name}" size="{text(*(x / 2 for x in size))}" {_placed(pose)}/>'


def _actuator(joint: Joint) -> str:
    """A motor on its own side of the gear: Kp / Ra (V - Ke w) of one with electrical constants, others as they are told."""
    motor, gain, more = joint.motor, 1.0, ""
    if motor is None:
        return ""
    limits, most = motor.limits, motor.limits.torque or inf
    if motor.Kp is not None and motor.Ra is not None:
        gain = motor.Kp / motor.Ra
        more = f' biastype="affine" biasprm="{text(0, 0, -gain * motor.Ke)}"'
        most = min(most, motor.Kp * (limits.current or inf))
    for key, x in (("ctrlrange", limits.voltage or inf), ("forcerange", most)):
        more += f' {key}="{text(-x, x)}"' if x < inf else ""
    return f'<general name="{joint.name}" joint="{joint.name}" gear="{text(motor.gear)}" gainprm="{text(gain)}"{more}/>'


def realizable(arm: Arm) -> Arm:
    """The arm with inertias, payloads included, that a body can have, where that is possible; MuJoCo takes no others.

    What a massless rod along a joint's axis would have does not notice that the joint turns, nor does any rotational inertia
    that slides: with that taken from the link before, the equations of motion are the same (see `Arm.regrouped`).
    """
    found = [*arm.inertias, Inertia()]  # that of the base is the last, where -1 finds it
    for i, joint in reversed(list(enumerate(arm.links))):
        least, middle, most = principal_moments(found[i].tensor_about_com())
        lack = most - least - middle
        if least >= LEAST and lack < -ROUNDING * most:
            continue
        lack, floor = max(lack, 0.0), max(LEAST, 5 * ROUNDING * most)  # the least of a rod or a plate
        rod = Symmetric(lack, lack, 0.0 if joint.kind.turns else lack)
        found[i] += Inertia(J=rod + Symmetric(floor, floor, floor))
        found[arm.parents[i]] -= Inertia(J=joint.tilt.turn(rod))
    links = (replace(link, inertia=inertia) for link, inertia in zip(arm.links, found, strict=False))
    return replace(arm, links=tuple(links), payloads=())
