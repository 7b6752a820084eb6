"""Screw joints: closed forms, limits and mirrors, and all of an arm with screws against Pinocchio."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from armsim.dynamics import (
    bias,
    crba,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    gravity_torque,
    kinetic_energy,
    link_poses,
    momenta,
    momenta_and_forces,
    potential_energy,
    rnea,
)
from armsim.model import Arm, Joint, LinkFrame, Motor, Payload
from armsim.spatial import ZERO, Inertia, Matrix, Pose, Symmetric, Vector, rotation_y

G = 9.81
M, J = 3.0, 0.02  # of the link of a single screw, its centre of mass on the axis [kg, kg m²]
PITCHES = [0.005, -0.005, 0.4]  # m a turn
ROUNDING = 1e-14  # a few operations


def lift(pitch: float, armature: float = 0.0) -> Arm:
    """A vertical screw."""
    motor = Motor(rotor_inertia=armature) if armature else None
    link = Inertia.about_com(M, Vector(0.0, 0.0, 0.3), Symmetric(0.1, 0.1, J))
    joint = Joint("S1", "screw", inertia=link, pitch=pitch, motor=motor)
    return Arm("lift", Vector(0.0, 0.0, -G), Pose(), (joint,))


@pytest.mark.parametrize("pitch", PITCHES)
def test_what_holds_a_vertical_screw_is_its_weight_times_pitch_over_two_pi(pitch):
    for q in (0.0, 1.0, -300.0):
        assert gravity_torque(lift(pitch), [q]) == pytest.approx([M * G * pitch / (2 * math.pi)], rel=ROUNDING)


@pytest.mark.parametrize("pitch", PITCHES)
def test_a_turn_of_a_screw_slides_by_its_pitch(pitch):
    start, half, turn = (link_poses(lift(pitch), [q])[0] for q in (0.0, math.pi, 2 * math.pi))
    assert tuple(half.position) == pytest.approx((0.0, 0.0, pitch / 2), rel=ROUNDING, abs=1e-18)
    assert half.rotation.row_x.x == -1.0
    assert tuple(turn.position) == pytest.approx((0.0, 0.0, pitch), rel=ROUNDING, abs=1e-18)
    assert [x for row in turn.rotation for x in row] == pytest.approx(
        [x for row in start.rotation for x in row], abs=1e-15
    )


@pytest.mark.parametrize("armature", [0.0, 0.05])
@pytest.mark.parametrize("pitch", PITCHES)
def test_a_single_screw_moves_as_an_inertia_of_J_plus_mass_times_pitch_over_two_pi_squared(pitch, armature):
    arm, slides = lift(pitch, armature), pitch / (2 * math.pi)
    inertia = J + M * slides**2 + armature
    q, qd, tau = 0.7, -1.3, 0.4
    assert crba(arm, [q]) == [[pytest.approx(inertia, rel=ROUNDING)]]
    expected = (tau - M * G * slides) / inertia
    for algorithm in ("crba", "aba"):
        assert forward_dynamics(arm, [q], [qd], [tau], None, algorithm) == [pytest.approx(expected, rel=1e-13)]
    assert rnea(arm, [q], [qd], [expected]) == [pytest.approx(tau, rel=1e-13)]
    assert kinetic_energy(arm, [q], [qd]) == pytest.approx(inertia * qd**2 / 2, rel=ROUNDING)
    assert potential_energy(arm, [q]) == pytest.approx(M * G * (0.3 + slides * q), rel=ROUNDING)
    assert momenta(arm, [q], [qd]) == [pytest.approx(inertia * qd, rel=ROUNDING)]
    assert momenta_and_forces(arm, [q], [qd])[1] == [pytest.approx(-M * G * slides, rel=ROUNDING)]


@pytest.mark.parametrize("pitch", PITCHES)
def test_a_screw_is_a_slide_whose_motor_is_geared_by_two_pi_over_pitch(pitch):
    # what turns with the screw is the motor's rotor, as the slide sees it
    gear = 2 * math.pi / pitch
    slide = Joint("P1", "prismatic", inertia=Inertia(M), motor=Motor(gear=gear, rotor_inertia=J))
    slide = Arm("slide", Vector(0.0, 0.0, -G), Pose(), (slide,))
    tau = 0.4
    (turning,) = forward_dynamics(lift(pitch), [0.2], [0.3], [tau])
    (sliding,) = forward_dynamics(slide, [0.2], [0.3], [gear * tau])
    assert turning == pytest.approx(gear * sliding, rel=1e-13)


def test_a_mass_that_a_screw_carries_out_along_a_turning_arm_feels_coriolis_and_centrifugal_forces():
    # about z turns R1, along its x axis goes S2 with a point on its axis, at r: bead on a rotating rod
    slides, q, qd, qdd, w, wd = 0.3, 1.7, 0.9, -0.4, 2.0, 0.6
    tilt = rotation_y(math.pi / 2)
    joints = (Joint("R1", "revolute"), Joint("S2", "screw", tilt, inertia=Inertia(M), pitch=2 * math.pi * slides))
    arm = Arm("rod", ZERO, Pose(), joints)
    r, rd, rdd = slides * q, slides * qd, slides * qdd
    about_z, along_x = M * (r * r * wd + 2 * r * rd * w), M * (rdd - r * w * w)
    assert rnea(arm, [0.3, q], [w, qd], [wd, qdd]) == pytest.approx([about_z, slides * along_x], rel=1e-13)
    p, forces = momenta_and_forces(arm, [0.3, q], [w, qd])
    assert p == pytest.approx([M * r * r * w, M * slides * rd], rel=1e-13)
    assert forces == pytest.approx([0.0, M * slides * r * w * w], rel=1e-13, abs=1e-15)


def as_type(arm: Arm, type: str, pitch: float = 0.0) -> Arm:
    """An arm whose screws are of another type, or have another pitch; their offsets 0."""
    joints = [replace(j, type=type, pitch=pitch, offset=0.0) if j.type == "screw" else j for j in arm.joints]
    return replace(arm, links=tuple(joints))


def test_a_screw_of_tiny_pitch_is_a_revolute_joint(arms, motion):
    arm = arms.serial("RSPSR")
    q, qd, qdd = motion(arm)
    revolute = rnea(as_type(arm, "revolute"), q, qd, qdd)
    for pitch in (1e-6, -1e-9):  # what it slides is the difference
        assert rnea(as_type(arm, "screw", pitch), q, qd, qdd) == pytest.approx(revolute, rel=0, abs=100 * abs(pitch))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_screw_of_long_pitch_is_a_prismatic_joint(sign, arms, motion):
    # counted in radians: a metre is 1 / slides of them, and what it turns by is that small
    arm = arms.serial("RSPSR")
    q, qd, qdd = motion(arm)
    prismatic = rnea(as_type(arm, "prismatic"), q, qd, qdd)
    for slides in (sign * 1e4, sign * 1e7):
        unit = [1 / slides if joint.type == "screw" else 1.0 for joint in arm.joints]
        state = [[x * u for x, u in zip(values, unit, strict=True)] for values in (q, qd, qdd)]
        tau = rnea(as_type(arm, "screw", 2 * math.pi * slides), *state)
        found = [x * u for x, u in zip(tau, unit, strict=True)]
        assert found == pytest.approx(prismatic, rel=0, abs=1e3 / abs(slides))
        assert found != pytest.approx(prismatic, rel=0, abs=1e-3 / abs(slides))


def test_a_left_handed_screw_is_the_mirror_image_of_a_right_handed_one(arms, motion):
    # y -> -y takes turns to turns the other way round, and slides to themselves
    flip = Matrix(Vector(1.0, 0.0, 0.0), Vector(0.0, -1.0, 0.0), Vector(0.0, 0.0, 1.0))

    def mirrored(body: Inertia) -> Inertia:
        tensor = body.J
        return Inertia(body.mass, flip @ body.h, replace(tensor, xy=-tensor.xy, yz=-tensor.yz))

    arm = arms.serial("RSRSS")
    joints = [
        replace(
            j,
            tilt=flip @ j.tilt @ flip,
            position=flip @ j.position,
            offset=-j.offset,
            inertia=mirrored(j.inertia),
            frame=Pose(flip @ j.frame.rotation @ flip, flip @ j.frame.position),
            pitch=-j.pitch,
        )
        for j in arm.joints
    ]
    image = replace(
        arm,
        gravity=flip @ arm.gravity,
        base=Pose(flip @ arm.base.rotation @ flip, flip @ arm.base.position),
        links=tuple(joints),
        frames=(LinkFrame("tool", pose=Pose(flip @ arm.tool.pose.rotation @ flip, flip @ arm.tool.pose.position)),),
        payloads=(Payload(mirrored(arm.payloads[0].inertia)),),
    )
    state = motion(arm)
    opposite = [[-x for x in values] for values in state]
    assert rnea(image, *opposite) == pytest.approx([-tau for tau in rnea(arm, *state)], rel=1e-12)
    there, here = frame_pose(image, opposite[0], image.tool).position, frame_pose(arm, state[0], arm.tool).position
    assert tuple(there) == pytest.approx(tuple(flip @ here), rel=1e-12)


# -- Pinocchio


@pytest.fixture(scope="module")
def points(reference):
    return reference("screw_points")


@pytest.fixture(scope="module")
def general(points, arms):
    return arms.of_reference(points.about)


def agrees(found, expected) -> bool:
    """To 1e-12 of the largest number of each point, of sums of some hundred terms."""
    found, expected = np.array(found, dtype=float), np.array(expected, dtype=float)
    found, expected = found.reshape(len(found), -1), expected.reshape(len(found), -1)
    return bool((np.abs(found - expected) <= 1e-12 * np.abs(expected).max(axis=1, keepdims=True)).all())


@pytest.fixture(scope="module")
def states(points):
    """q, qd, qdd and the wrenches from outside, point by point."""

    def vectors(k: int, stem: str) -> list[Vector]:
        return [Vector(*(float(points.columns[f"{stem}{i}{x}"][k]) for x in "xyz")) for i in range(1, 6)]

    q, qd, qdd = (points.block(stem).tolist() for stem in ("q", "qd", "qdd"))
    outside = [list(zip(vectors(k, "n"), vectors(k, "f"), strict=True)) for k in range(points.count)]
    return list(zip(q, qd, qdd, outside, strict=True))


def test_inverse_dynamics_with_screws_is_that_of_pinocchio(general, points, states):
    assert agrees([rnea(general, q, qd, qdd) for q, qd, qdd, _ in states], points.block("tau"))
    assert agrees([rnea(general, *state) for state in states], points.block("tau_out"))
    assert agrees([bias(general, q, qd) for q, qd, *_ in states], points.block("b"))
    assert agrees([gravity_torque(general, q) for q, *_ in states], points.block("g"))


@pytest.mark.parametrize("algorithm", ["crba", "aba"])
def test_forward_dynamics_with_screws_is_that_of_pinocchio(algorithm, general, points, states):
    for outside, stem in ((False, "a"), (True, "a_out")):
        found = [
            forward_dynamics(general, q, qd, [0.0] * 5, w if outside else None, algorithm) for q, qd, _, w in states
        ]
        assert agrees(found, points.block(stem)), stem


def test_mass_matrix_jacobian_pose_and_energies_with_screws_are_those_of_pinocchio(general, points, states):
    columns = points.columns
    triangle = np.stack([columns[f"H{i}{j}"] for i in range(1, 6) for j in range(1, i + 1)], axis=1)
    assert agrees([[x for row in crba(general, q) for x in row] for q, *_ in states], triangle)
    for rows in ("123", "456"):  # of angular and of linear velocity
        jacobian = np.stack([columns[f"J{r}{j}"] for r in rows for j in range(1, 6)], axis=1)
        mine = [np.array(frame_jacobian(general, q, general.tool))[[int(r) - 1 for r in rows]] for q, *_ in states]
        assert agrees(mine, jacobian)
    poses = [frame_pose(general, q, general.tool) for q, *_ in states]
    assert agrees([[*pose.position] for pose in poses], np.stack([columns[f"p{x}"] for x in "xyz"], axis=1))
    rotation = np.stack([columns[f"R{i}{j}"] for i in "123" for j in "123"], axis=1)
    assert agrees([[x for row in pose.rotation for x in row] for pose in poses], rotation)
    assert agrees([kinetic_energy(general, q, qd) for q, qd, *_ in states], columns["T"])
    assert agrees([potential_energy(general, q) for q, *_ in states], columns["V"])
