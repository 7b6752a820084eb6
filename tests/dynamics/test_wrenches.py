"""Wrenches of base, joints and sensors: Pinocchio's, closed forms, and the laws of momentum."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from armsim.dynamics import (
    ExternalWrench,
    InternalWrenches,
    frame_jacobian,
    frame_pose,
    joint_wrenches,
    link_velocities,
    link_wrenches,
    own_poses,
    rnea,
)
from armsim.loading import read_robot
from armsim.model import Arm, Joint, LinkFrame, Payload, bodies
from armsim.spatial import IDENTITY, ZERO, Inertia, Matrix, Pose, Vector, X, Y, Z, cross, rotation_rpy

POINTS = json.loads((Path(__file__).parent.parent / "data" / "joint_wrenches.json").read_text())
SMALL = 1e-12  # of the largest component: sums of some hundred products


def components(wrench) -> np.ndarray:
    moment, force = wrench
    return np.array([*moment, *force], dtype=float)


def close(found, expected, scale=0.0) -> bool:
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    return bool(np.abs(found - expected).max() <= SMALL * max(np.abs(expected).max(), scale))


@pytest.mark.parametrize("case", POINTS["cases"], ids=lambda case: case["robot"]["name"])
def test_wrenches_of_base_joints_and_sensors_are_those_of_pinocchio(case):
    arm, _ = read_robot(case["robot"])
    for state in case["states"]:
        external = [(Vector(*six[:3]), Vector(*six[3:])) for six in state["external"]]
        at_frame = {None: external}
        found = InternalWrenches(arm, state["q"], state["qd"], state["qdd"], at_frame.get)
        assert set(state["wrenches"]) == {*arm.joint_names, "tool", "wrist", "base"}
        for name, expected in state["wrenches"].items():
            assert close(components(found.at(name)), expected), name


def test_what_acts_on_a_joint_is_the_wrench_along_its_axis_and_what_its_rotor_takes(arms, motion):
    for kinds in ("RRPRR", "PSRSP", "SSR"):
        arm = arms.serial(kinds, motors=True)
        q, qd, qdd = motion(arm)
        found = InternalWrenches(arm, q, qd, qdd)
        for joint, acts, rate in zip(arm.joints, rnea(arm, q, qd, qdd), qdd, strict=True):
            moment, force = found.at(joint.name)
            along = joint.turns * moment.z + joint.slides * force.z
            scale = np.abs(components(found.at(joint.name))).max()
            assert joint.armature > 0
            assert close(along + joint.armature * rate, acts, scale)


@pytest.mark.parametrize(
    ("axis", "axes"),
    [
        ([0, 0, 1], [X, Y, Z]),
        ([1, 0, 0], [Y, Z, X]),
        ([0, 1, 0], [Z, X, Y]),
        ([-1, 0, 0], [Y, -Z, -X]),
        ([0, -1, 0], [-Z, X, -Y]),
        ([0, 0, -1], [X, -Y, -Z]),
    ],
    ids=str,
)
def test_a_joint_given_by_its_origin_has_the_axes_that_the_page_on_columns_says(axis, axes):
    place = {"xyz": [0.1, 0.2, 0.3], "rpy": [0.4, -0.5, 0.6], "axis": axis}
    joint = {
        "name": "R1",
        "type": "revolute",
        "origin": place,
        "bodies": [{"point": {"mass": 2, "center": [0.3, 0.2, 0.1]}}],
    }
    arm, _ = read_robot({"format": "armsim/robot/1", "name": "arm", "convention": "origin", "joints": [joint]})
    _, force = InternalWrenches(arm, [0.0], [0.0], [0.0]).at("R1")
    up = rotation_rpy(0.4, -0.5, 0.6).T @ Vector(0.0, 0.0, 2 * 9.81)  # in the frame of xyz and rpy
    assert tuple(force) == pytest.approx([up.dot(own) for own in axes], rel=1e-14)


LENGTH, MASS, G = 0.7, 2.5, 9.81
LEVEL = Matrix(X, -Z, Y)  # z along -y of the world, about which a link along x turns downwards


def pendulum() -> Arm:
    """A point on a massless rod along x of its link, at q = 90° below its level axis."""
    joint = Joint("R1", "revolute", LEVEL.T, inertia=bodies.point(MASS, Vector(LENGTH, 0.0, 0.0)))
    return Arm("pendulum", Vector(0.0, 0.0, -G), Pose(), (joint,))


@pytest.mark.parametrize("rate", [0.0, 3.0, -5.0])
def test_a_pendulum_at_its_lowest_point_pulls_with_m_times_g_plus_l_w_squared(rate):
    arm, down = pendulum(), math.pi / 2
    assert tuple(own_poses(arm, [down])[0].point(Vector(LENGTH, 0.0, 0.0))) == pytest.approx((0, 0, -LENGTH))
    found = InternalWrenches(arm, [down], [rate], [0.0])
    tension = MASS * (G + LENGTH * rate**2)
    assert components(found.at("base")) == pytest.approx([0, 0, 0, 0, 0, tension], abs=1e-14)
    assert components(found.at("R1")) == pytest.approx([0, 0, 0, -tension, 0, 0], abs=1e-14)


def masses(arm: Arm, q) -> list[tuple[float, Vector]]:
    """Mass and place of every link with its payloads, in the base."""
    return [
        (inertia.mass, (arm.base.inverse @ pose).point(inertia.com()))
        for inertia, pose in zip(arm.inertias, own_poses(arm, q), strict=True)
    ]


def test_at_rest_the_base_bears_the_weight_and_its_moment(arm, motion):
    q, *_ = motion(arm)
    rest = [0.0] * arm.n
    weights = [(mass * (arm.base.rotation.T @ arm.gravity), place) for mass, place in masses(arm, q)]
    force = -sum((weight for weight, _ in weights), start=ZERO)
    moment = -sum((cross(place, weight) for weight, place in weights), start=ZERO)
    assert close(components(joint_wrenches(arm, q, rest, rest, arm.inertias)[0]), [*moment, *force])


def momentum(arm: Arm, q, qd) -> np.ndarray:
    """Angular momentum about the base's origin, and linear momentum, along the base's axes."""
    total = np.zeros(6)
    for inertia, pose, (w, v) in zip(arm.inertias, own_poses(arm, q), link_velocities(arm, q, qd), strict=True):
        seen = arm.base.inverse @ pose
        linear = v * inertia.mass + cross(w, inertia.h)
        angular = inertia.J @ w + cross(inertia.h, v)
        linear, angular = seen.rotation @ linear, seen.rotation @ angular
        total += [*(angular + cross(seen.position, linear)), *linear]
    return total


def test_momentum_changes_by_what_the_ground_gives_and_by_gravity(arm, motion):
    q, qd, qdd = (np.array(values) for values in motion(arm))

    def at(t: float) -> np.ndarray:
        return momentum(arm, list(q + t * qd + t * t / 2 * qdd), list(qd + t * qdd))

    # fourth order: the error is h⁴/30 times the fifth derivative, up to 3e-9 of the change on these arms
    h = 2e-3
    change = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    weights = [(mass * (arm.base.rotation.T @ arm.gravity), place) for mass, place in masses(arm, q)]
    gravity = np.array(
        [
            *sum((cross(place, weight) for weight, place in weights), start=ZERO),
            *sum((weight for weight, _ in weights), start=ZERO),
        ]
    )
    ground = components(joint_wrenches(arm, list(q), list(qd), list(qdd), arm.inertias)[0])
    assert np.abs(change - ground - gravity).max() <= 1e-8 * np.abs(change).max()


@pytest.mark.parametrize("name", ["tool", "elbow"])
def test_a_sensor_carries_the_mass_of_its_payload_times_acceleration_less_gravity(name, arms, motion, exact_gradient):
    arm = arms.serial("RPSRR")
    center, mass = Vector(0.1, -0.2, 0.3), 1.7
    elbow = LinkFrame("elbow", arm.joint_names[2], Pose(LEVEL, Vector(0.2, 0.1, -0.1)))
    loads = (Payload(bodies.point(mass, center), name), Payload(bodies.point(9.0, center), "other"))
    arm = replace(arm, frames=(arm.tool, elbow, LinkFrame("other", arm.joint_names[1])), payloads=loads)
    frame = arm.frame(name)
    point = LinkFrame("center", frame.link, frame.pose @ Pose(position=center))
    q, qd, qdd = motion(arm)
    change = np.einsum("kij,k->ij", exact_gradient(arm, lambda x: frame_jacobian(arm, x, point), q), qd)
    acceleration = (np.array(frame_jacobian(arm, q, point)) @ qdd + change @ qd)[3:]
    axes = np.array([[*row] for row in frame_pose(arm, q, frame).rotation])
    force = mass * axes.T @ (acceleration - np.array([*arm.gravity]))
    moment = np.cross([*center], force)
    found = components(InternalWrenches(arm, q, qd, qdd).at(name))
    assert np.abs(found - [*moment, *force]).max() <= 1e-11 * np.abs(force).max()  # derivatives cost a digit


def test_a_point_at_the_sensor_has_no_moment_and_nothing_weighs_nothing(arms, motion):
    arm = replace(arms.serial("RPR"), payloads=(Payload(Inertia(2.0)),))
    found = components(InternalWrenches(arm, *motion(arm)).at("tool"))
    assert np.abs(found[:3]).max() <= 1e-15 * np.abs(found[3:]).max()  # the tool is 0.2 m from the link's origin
    bare = replace(arm, payloads=())
    assert InternalWrenches(bare, *motion(arm)).at("tool") == (ZERO, ZERO)


@pytest.mark.parametrize("axes", ["world", "local"])
def test_what_is_applied_at_a_sensor_it_does_not_carry_and_what_is_applied_elsewhere_makes_no_difference(
    axes, arms, motion
):
    arm = arms.serial("RPR")
    q, qd, qdd = motion(arm)
    applied = ExternalWrench(arm.tool, Vector(-4.0, 5.0, 6.0), Vector(1.0, 2.0, 3.0), axes)
    elsewhere = ExternalWrench(arm.frame_at(2, Vector(0.1, 0.2, 0.3)), Vector(7.0, 8.0, 9.0))

    def external(at: str | None):
        return link_wrenches(arm, 0.0, q, [applied] if at == "tool" else [applied, elsewhere])

    less = components(InternalWrenches(arm, q, qd, qdd, external).at("tool"))
    turn = frame_pose(arm, q, arm.tool).rotation.T if axes == "world" else IDENTITY
    given = [*(turn @ applied.moment), *(turn @ applied.force)]
    assert close(less + given, components(InternalWrenches(arm, q, qd, qdd).at("tool")))
