"""Vectors, rotations, quaternions and rigid-body inertias against numpy."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from armsim.spatial import (
    IDENTITY,
    Inertia,
    JointRotation,
    Matrix,
    Pose,
    Symmetric,
    Vector,
    cross,
    cross_plus,
    point_tensor,
    quaternion,
    roll_pitch_yaw,
    rotation_rpy,
    rotation_x,
    rotation_y,
    rotation_z,
)

ROUNDING = 1e-14  # a few roundings of numbers of order 1 to 10


def v(x: Vector) -> np.ndarray:
    return np.array(list(x))


def m(x: Matrix) -> np.ndarray:
    return np.array([list(row) for row in x])


def s(x: Symmetric) -> np.ndarray:
    return np.array([list(row) for row in x.rows()])


def skew(a: np.ndarray) -> np.ndarray:
    return np.cross(np.eye(3), a)


def random_vector(rng: random.Random) -> Vector:
    return Vector(*(rng.uniform(-2, 2) for _ in range(3)))


def random_rotation(rng: random.Random) -> Matrix:
    return rotation_rpy(*(rng.uniform(-math.pi, math.pi) for _ in range(3)))


def turn_about(axis: np.ndarray, angle: float) -> Matrix:
    """Rodrigues' formula."""
    axis = axis / np.linalg.norm(axis)
    K = skew(axis)
    R = np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
    return Matrix(*(Vector(*row) for row in R.tolist()))


def by_quaternion(w: float, x: float, y: float, z: float) -> np.ndarray:
    """The rotation of a unit quaternion."""
    u = np.array([x, y, z])
    return (w * w - u @ u) * np.eye(3) + 2 * np.outer(u, u) + 2 * w * skew(u)


@pytest.mark.parametrize("seed", range(5))
def test_vector_products_are_those_of_numpy(seed):
    rng = random.Random(seed)
    a, b, c, R = random_vector(rng), random_vector(rng), random_vector(rng), random_rotation(rng)
    assert np.allclose(v(cross(a, b)), np.cross(v(a), v(b)), atol=ROUNDING)
    assert np.allclose(v(cross_plus(a, b, c)), v(c) + np.cross(v(a), v(b)), atol=ROUNDING)
    assert np.isclose(a.dot(b), v(a) @ v(b), atol=ROUNDING)
    assert np.allclose(v(a.plus(1.5, b)), v(a) + 1.5 * v(b), atol=ROUNDING)
    assert np.allclose(v(R @ a), m(R) @ v(a), atol=ROUNDING)
    assert np.allclose(v(R.times_plus(a, b)), m(R) @ v(a) + v(b), atol=ROUNDING)
    assert np.allclose(m(R @ R.T), np.eye(3), atol=ROUNDING)


@pytest.mark.parametrize("turn", [rotation_x, rotation_y, rotation_z])
def test_a_rotation_turns_right_handed_about_its_axis(turn):
    axis = np.eye(3)[[rotation_x, rotation_y, rotation_z].index(turn)]
    assert np.allclose(m(turn(0.7)), m(turn_about(axis, 0.7)), atol=ROUNDING)
    for k in range(-3, 4):
        assert np.array_equal(m(turn(k * math.pi / 2)), np.rint(m(turn_about(axis, k * math.pi / 2))))  # exact


def test_roll_pitch_yaw_are_about_fixed_axes_in_this_order():
    # the point (0, 0, 1): roll by 90° takes it to -y, pitch leaves it, yaw by 90° takes it to +x
    assert np.array_equal(v(rotation_rpy(math.pi / 2, 0.0, math.pi / 2) @ Vector(0.0, 0.0, 1.0)), [1, 0, 0])


@pytest.mark.parametrize("pitch", [-1.57, -0.3, 0.0, 0.9, 1.57])
def test_roll_pitch_yaw_are_those_that_made_the_rotation(pitch):
    for roll, yaw in [(0.1, -3.0), (-2.0, 0.4), (3.1, 3.1)]:
        # near a right angle roll and yaw are known to rounding over cos(pitch), 8e-4 here
        assert roll_pitch_yaw(rotation_rpy(roll, pitch, yaw)) == pytest.approx([roll, pitch, yaw], abs=1e-12)


@pytest.mark.parametrize("pitch", [-math.pi / 2, math.pi / 2])
def test_at_a_right_angle_yaw_is_zero_and_the_rotation_the_same(pitch):
    R = rotation_rpy(0.7, pitch, 0.4)
    roll, found, yaw = roll_pitch_yaw(R)
    assert (found, yaw) == (pytest.approx(pitch, abs=1e-8), 0)
    for row, again in zip(R, rotation_rpy(roll, found, yaw)):
        assert list(again) == pytest.approx(list(row), abs=1e-8)


@pytest.mark.parametrize("seed", range(200))
def test_a_quaternion_gives_its_rotation_back(seed):
    rng = random.Random(seed)
    R = random_rotation(rng)
    q = quaternion(R)
    assert math.isclose(sum(x * x for x in q), 1, abs_tol=ROUNDING)
    assert q[0] >= 0
    assert np.allclose(by_quaternion(*q), m(R), atol=ROUNDING)


@pytest.mark.parametrize("short", [0.0, 1e-16, 1e-9, 1e-4])
@pytest.mark.parametrize("seed", range(20))
def test_a_quaternion_is_accurate_at_and_next_to_half_a_turn(short, seed):
    rng = np.random.default_rng(seed)
    axis = (
        rng.standard_normal(3)
        if seed > 9
        else np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, -1, 1]][seed // 2])
    )
    axis = axis / np.linalg.norm(axis) * (-1) ** seed
    w, *xyz = quaternion(turn_about(axis, math.pi - short))
    assert w >= -1e-15  # of a half turn w is 0 up to rounding
    sign = 1 if np.dot(xyz, axis) > 0 else -1  # at half a turn both signs are right
    if short > 1e-8:
        assert sign == 1
    assert np.allclose(xyz, sign * axis * math.cos(short / 2), atol=ROUNDING)
    assert math.isclose(w, math.sin(short / 2), abs_tol=ROUNDING)


def test_the_quaternion_of_no_turn_is_one():
    assert quaternion(IDENTITY) == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_joint_rotation_is_its_matrix(seed):
    rng = random.Random(seed)
    angle, a = rng.uniform(-3, 3), random_vector(rng)
    R = JointRotation(random_rotation(rng), math.cos(angle), math.sin(angle))
    assert np.allclose(m(R.matrix), m(R.tilt) @ m(rotation_z(angle)), atol=ROUNDING)
    assert np.allclose(v(R @ a), m(R.matrix) @ v(a), atol=ROUNDING)
    assert np.allclose(v(R.T @ a), m(R.matrix).T @ v(a), atol=ROUNDING)


@pytest.mark.parametrize("seed", range(5))
def test_tensors_turn_as_R_A_Rt(seed):
    rng = random.Random(seed)
    A = Symmetric(*(rng.uniform(-2, 2) for _ in range(6)))
    angle = rng.uniform(-3, 3)
    joint = JointRotation(random_rotation(rng), math.cos(angle), math.sin(angle))
    for turned, R in ((joint.turn(A), joint.matrix), (joint.matrix.turn(A), joint.matrix)):
        assert np.allclose(s(turned), m(R) @ s(A) @ m(R).T, atol=ROUNDING)


@pytest.mark.parametrize("seed", range(5))
def test_an_inertia_moves_as_the_sum_of_its_points(seed):
    rng = random.Random(seed)
    points = [(rng.uniform(0.1, 1), random_vector(rng)) for _ in range(4)]
    R, p = random_rotation(rng), random_vector(rng)

    def total(at) -> Inertia:
        body = Inertia()
        for mass, r in points:
            body = body + Inertia(mass, mass * at(r), mass * point_tensor(at(r)))
        return body

    here, there = total(lambda r: r), total(Pose(R, p).point)
    moved = here.moved(R, p)
    assert math.isclose(moved.mass, there.mass)
    assert np.allclose(v(moved.h), v(there.h), atol=5 * ROUNDING)
    assert np.allclose(s(moved.J), s(there.J), atol=5 * ROUNDING)
    com = sum(mass * v(r) for mass, r in points) / sum(mass for mass, _ in points)
    assert np.allclose(v(here.com()), com, atol=ROUNDING)
    about = sum(mass * ((d @ d) * np.eye(3) - np.outer(d, d)) for mass, d in ((w, v(r) - com) for w, r in points))
    assert np.allclose(s(here.tensor_about_com()), about, atol=5 * ROUNDING)
    again = Inertia.about_com(here.mass, here.com(), here.tensor_about_com())
    assert np.allclose(s(again.J), s(here.J), atol=5 * ROUNDING)


def test_a_body_without_mass_has_its_centre_at_the_origin():
    assert list(Inertia().com()) == [0, 0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_a_pose_and_its_inverse_cancel(seed):
    rng = random.Random(seed)
    pose, p = Pose(random_rotation(rng), random_vector(rng)), random_vector(rng)
    there_and_back = pose.inverse @ pose
    assert np.allclose(m(there_and_back.rotation), np.eye(3), atol=ROUNDING)
    assert np.allclose(v(there_and_back.position), 0, atol=ROUNDING)
    assert np.allclose(v((pose @ pose).point(p)), v(pose.point(pose.point(p))), atol=5 * ROUNDING)


@pytest.mark.parametrize("from_lock", [0.0, 1e-13, 1e-11, 1e-8, 1e-5, 0.003, 0.1])
def test_roll_pitch_and_yaw_near_gimbal_lock_give_the_rotation_back(from_lock):
    """To rounding, though roll and yaw by themselves are not determined there: products of rotations have rounding errors."""
    rng = np.random.default_rng(7)
    for roll, yaw, *turn in rng.uniform(-3, 3, (50, 5)):
        other = rotation_rpy(*turn)
        R = other @ (other.T @ rotation_rpy(roll, math.pi / 2 - from_lock, yaw))
        again = rotation_rpy(*roll_pitch_yaw(R))
        assert np.abs(np.array([*map(list, R)]) - np.array([*map(list, again)])).max() < ROUNDING + 1e-12 * (
            from_lock < 1e-12
        )  # yaw is 0 there
