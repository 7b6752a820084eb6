"""From settled data to the arm; units are converted here.

A number is compared only with the value that means absent (no dry friction, a lossless gear), and only if it is a constant: an
open number may take any value, so what it belongs to is built.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from armsim.expr import is_number, sqrt
from armsim.loading.settle import settle
from armsim.model import JOINT_TYPES, Arm, BrushDrop, Coulomb, Joint, Limit, Motor, MotorLimits, Thermal, bodies
from armsim.spatial import (
    IDENTITY,
    Inertia,
    Matrix,
    Pose,
    Scalar,
    Symmetric,
    Vector,
    X,
    Y,
    Z,
    rotation_rpy,
    rotation_x,
    rotation_z,
)

RADIANS = math.pi / 180


def build_robot(data: dict[str, Any], open: Mapping[str, Scalar] | None = None, payload: Inertia | None = None) -> Arm:
    """The arm of a robot file.

    Args:
        data: The file's data, as `armsim.loading.load_robot_file` reads it.
        open: Scalars in place of the file's numbers, by path, in the file's unit: `{"joints[0].motor.Kp": kp,
            "parameters.upper": upper}`. Formulas are evaluated on open parameters.
        payload: Of the tool, in place of the robot's.

    Raises:
        UsageError: There is no number at a path of `open`.
    """
    robot = settle(data, open)
    degrees = robot["units"]["angle"] == "deg"
    joints = []
    before = None  # the user's frame of the link before, in that link's frame
    for joint in robot["joints"]:
        placed = FRAMES[robot["convention"]](joint[robot["convention"]], joint["type"], degrees)
        pre, offset, after = placed
        if before is not None:
            pre = before @ pre
        joints.append(build_joint(joint, pre, offset, after, degrees))
        before = after
    if payload is None:
        payload = Inertia() if robot["payload"] is None else build_body(robot["payload"], degrees)
    return Arm(
        name=robot["name"],
        gravity=Vector(*robot["gravity"]),
        base=build_frame(robot["base"], degrees),
        joints=tuple(joints),
        tool=build_frame(robot["tool"], degrees),
        payload=payload,
    )


def build_joint(joint: dict[str, Any], pre: Pose, offset: Scalar, after: Pose | None, degrees: bool) -> Joint:
    """One joint: `pre` is its pose in the link before, `after` the user's frame in its own; None if they are the same."""
    turn = RADIANS if degrees and JOINT_TYPES[joint["type"]].turns else 1.0
    inertia = Inertia()
    for i, body in enumerate(joint["bodies"]):
        inertia = inertia + build_body(body, degrees) if i else build_body(body, degrees)
    if after is not None:
        inertia = inertia.moved(after.rotation, after.position)
    limits, motor = joint["limits"], joint["motor"]
    return Joint(
        name=joint["name"],
        type=joint["type"],
        tilt=pre.rotation,
        position=pre.position,
        offset=offset,
        initial=joint["initial"] * turn,
        inertia=inertia,
        viscous=joint["friction"]["viscous"],
        coulomb=build_coulomb(joint["friction"]["coulomb"]),
        limit=None
        if limits is None
        else Limit(limits["lower"] * turn, limits["upper"] * turn, limits["stiffness"], limits["damping"]),
        motor=None if motor is None else build_motor(motor),
        frame=Pose() if after is None else after,
        pitch=0.0 if joint["pitch"] is None else joint["pitch"],
    )


def build_motor(motor: dict[str, Any]) -> Motor:
    """A motor; its back-EMF constant is its torque constant unless given."""
    brushes = motor["brush_drop"]
    return Motor(
        Kp=motor["Kp"],
        Ke=motor["Kp"] if motor["Ke"] is None else motor["Ke"],
        Ra=motor["Ra"],
        gear=motor["gear"],
        rotor_inertia=motor["rotor_inertia"],
        viscous=motor["viscous"],
        coulomb=build_coulomb(motor["coulomb"]),
        efficiency=None if is_absent("efficiency", motor["efficiency"]) else motor["efficiency"],
        inductance=None if is_absent("inductance", motor["inductance"]) else motor["inductance"],
        brush_drop=None if brushes is None or is_absent("max", brushes["max"]) else BrushDrop(**brushes),
        limits=MotorLimits(**motor["limits"]),
        nominal_current=motor["nominal_current"],
        thermal=None if motor["thermal"] is None else Thermal(**motor["thermal"]),
        model=motor["model"],
    )


def build_coulomb(coulomb: Scalar | dict[str, Scalar]) -> Coulomb | None:
    """Dry friction from one number or two; None where there is none."""
    sides = (coulomb["positive"], coulomb["negative"]) if isinstance(coulomb, dict) else (coulomb, coulomb)
    return None if all(is_absent("coulomb", side) for side in sides) else Coulomb(*sides)


# the value of each key that means absent: structure, like the keys themselves; of `times` the way to the first point
ABSENT = {"coulomb": 0.0, "efficiency": 1.0, "inductance": 0.0, "max": 0.0, "times": 0.0}


def is_absent(key: str, x: Scalar) -> bool:
    """Whether a scalar is the constant that means absent; an open number never is."""
    return is_number(x, ABSENT[key])


def build_frame(frame: dict[str, Any], degrees: bool = False) -> Pose:
    """A pose from xyz and rpy."""
    turn = RADIANS if degrees else 1.0
    return Pose(rotation_rpy(*(angle * turn for angle in frame["rpy"])), Vector(*frame["xyz"]))


def build_body(body: dict[str, Any], degrees: bool = False) -> Inertia:
    """The inertia of a body: {shape: its numbers}, or {mass, center} for a point mass; degrees is the unit of its rpy."""
    if "mass" in body:
        return bodies.point(body["mass"], Vector(*body["center"]))
    ((shape, b),) = body.items()
    center = Vector(*b["center"])
    if shape == "point":
        return bodies.point(b["mass"], center)
    if shape == "rod":
        return bodies.rod(b["axis"], b["length"], b["mass"], center)
    if shape == "inertia":
        return bodies.tabulated(b["mass"], center, build_tensor(b, degrees), b["about"])
    if shape == "box":
        size = Vector(*b["size"])
        return bodies.box(size, _mass(b, bodies.box_volume(size)), center)
    if shape == "sphere":
        return bodies.sphere(b["radius"], _mass(b, bodies.sphere_volume(b["radius"])), center)
    if shape == "cylinder":
        mass = _mass(b, bodies.cylinder_volume(b["height"], b["radius"]))
        return bodies.cylinder(b["axis"], b["height"], b["radius"], mass, center)
    mass = _mass(b, bodies.tube_volume(b["height"], b["outer_radius"], b["inner_radius"]))
    return bodies.tube(b["axis"], b["height"], b["outer_radius"], b["inner_radius"], mass, center)


def build_tensor(body: dict[str, Any], degrees: bool = False) -> Symmetric:
    """The tensor of a body of known inertia, along the axes of its frame: R A Rᵀ, R the orientation of the tensor's own axes."""
    tensor = Symmetric(*(body[component] for component in ("xx", "yy", "zz", "xy", "xz", "yz")))
    if all(is_number(angle, 0.0) for angle in body["rpy"]):
        return tensor
    turn = RADIANS if degrees else 1.0
    return rotation_rpy(*(angle * turn for angle in body["rpy"])).turn(tensor)


def _mass(solid: dict[str, Any], volume: Scalar) -> Scalar:
    return volume * solid["density"] if solid["mass"] is None else solid["mass"]


# of each convention: the pose before the joint variable, the offset of the variable, and the pose beyond it, which is the user's
# frame in the link's (None for the identity): pose in the link before = before @ joint motion @ beyond
Placed = tuple[Pose, Scalar, Pose | None]


def modified_dh(row: dict[str, Any], type: str, degrees: bool) -> Placed:
    """T = Rx(alpha) Tx(a) Rz(theta) Tz(d) (Craig, *Introduction to Robotics*, section 3.4)."""
    a, alpha, d, theta = _row(row, degrees)
    twist = rotation_x(alpha)
    turned, shift, offset = _variable(type, theta, d)
    return Pose(twist if turned is None else twist @ rotation_z(turned), twist @ Vector(a, 0.0, shift)), offset, None


def standard_dh(row: dict[str, Any], type: str, degrees: bool) -> Placed:
    """T = Rz(theta) Tz(d) Tx(a) Rx(alpha): the joint variable comes first, the constant part beyond it."""
    a, alpha, d, theta = _row(row, degrees)
    beyond = Pose(rotation_x(alpha), Vector(a, 0.0, 0.0))
    turned, shift, offset = _variable(type, theta, d)
    return Pose(IDENTITY if turned is None else rotation_z(turned), Vector(0.0, 0.0, shift)), offset, beyond


def _variable(type: str, theta: Scalar, d: Scalar) -> tuple[Scalar | None, Scalar, Scalar]:
    """The constant turn about z (None for none), the constant shift along z, and the offset of the joint variable.

    A screw's variable adds to theta and d, so both are constants and its offset is 0.
    """
    kind = JOINT_TYPES[type]
    if kind.has_pitch:
        return theta, d, 0.0
    return (None, d, theta) if kind.turns else (theta, 0.0, d)


def origin(row: dict[str, Any], type: str, degrees: bool) -> Placed:
    """A frame by xyz and rpy, and an axis in it, onto which z is turned before the joint variable and back beyond it."""
    frame = build_frame(row, degrees)
    turn = turn_z_onto(*row["axis"])
    return Pose(frame.rotation @ turn, frame.position), 0.0, Pose(turn.T)


FRAMES = {"mdh": modified_dh, "dh": standard_dh, "origin": origin}


def _row(row: dict[str, Any], degrees: bool) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    turn = RADIANS if degrees else 1.0
    return row["a"], row["alpha"] * turn, row["d"], row["theta"] * turn


def turn_z_onto(x: float, y: float, z: float) -> Matrix:
    """A rotation that turns the z axis onto a direction.

    The direction is structure, which cannot be left open: the formula depends on it.
    """
    if x == 0 and y == 0:
        return IDENTITY if z > 0 else Matrix(X, -Y, -Z)
    if y == 0 and z == 0:  # cyclic permutation of the axes: z -> x -> y -> z
        return Matrix(Z, X, Y) if x > 0 else Matrix(-Z, X, -Y)
    if x == 0 and z == 0:
        return Matrix(Y, Z, X) if y > 0 else Matrix(Y, -Z, -X)
    length = sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    if z < 0:  # half a turn about x first, or the formula below divides by nearly 0
        return Matrix(X, -Y, -Z) @ turn_z_onto(x, -y, -z)
    c = 1 / (1 + z)
    return Matrix(
        Vector(1 - x * x * c, -x * y * c, x),
        Vector(-x * y * c, 1 - y * y * c, y),
        Vector(-x, -y, z),
    )
