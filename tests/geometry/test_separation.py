"""Distances of solids from each other."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from scipy.optimize import lsq_linear, minimize

from armsim.expr import replay, trace
from armsim.geometry import Box, Cylinder, Obstacle, Plane, Sphere, distance
from armsim.geometry.separation import farthest
from armsim.spatial import Pose, Vector, rotation_rpy


def placed(shape, x=0.0, y=0.0, z=0.0, rpy=(0.0, 0.0, 0.0)):
    return Obstacle("it", shape, Pose(rotation_rpy(*rpy), Vector(x, y, z)))


def box(*size):
    return Box(Vector(*(edge / 2 for edge in size)))


class Draw:
    """Random solids at random places, some of which overlap."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def pose(self, size=1.0):
        turn, shift = ([self.rng.uniform(-s, s) for _ in range(3)] for s in (3.0, size))
        return Pose(rotation_rpy(*turn), Vector(*shift))

    def box(self):
        return Obstacle("box", Box(Vector(*(self.rng.uniform(0.02, 0.4) for _ in range(3)))), self.pose())

    def cylinder(self):
        return Obstacle("can", Cylinder(self.rng.uniform(0.02, 0.3), self.rng.uniform(0.02, 0.5)), self.pose())

    def solid(self):
        return self.rng.choice([self.box, self.cylinder])()


def arrays(pose):
    return np.array([[*row] for row in pose.rotation]), np.array([*pose.position])


def least_of_boxes(a, b):
    """The distance of two boxes as a least-squares problem within bounds."""
    (A, p), (B, r) = arrays(a.pose), arrays(b.pose)
    ends = np.array([*a.shape.half, *b.shape.half])
    found = lsq_linear(np.hstack([A, -B]), r - p, (-ends, ends), method="bvls", tol=1e-15, max_iter=1000)
    return math.sqrt(2 * found.cost)


def sandwich(a, b):
    """Bounds of the distance of two solids: that of two points of theirs, and that of two planes between them."""
    (A, p), (B, r) = arrays(a.pose), arrays(b.pose)
    ends, round_ = [], []
    for first, solid in ((0, a.shape), (3, b.shape)):
        if isinstance(solid, Box):
            ends += [*solid.half]
        else:
            ends += [solid.radius, solid.radius, solid.half_height]
            round_.append((first, solid.radius))

    def apart(x):
        return A @ x[:3] + p - B @ x[3:] - r

    within = [{"type": "ineq", "fun": lambda x, k=k, R=R: 1 - (x[k] ** 2 + x[k + 1] ** 2) / R**2} for k, R in round_]
    found = minimize(
        lambda x: apart(x) @ apart(x),
        np.zeros(6),
        jac=lambda x: np.concatenate([2 * A.T @ apart(x), -2 * B.T @ apart(x)]),
        bounds=[(-end, end) for end in ends],
        constraints=within,
        method="SLSQP",
        options={"ftol": 1e-18, "maxiter": 500},
    )
    d = apart(found.x)
    upper = float(np.linalg.norm(d))
    n = Vector(*(d / max(upper, 1e-300)).tolist())
    return n.dot(farthest((a.shape, a.pose), -n) - farthest((b.shape, b.pose), n)), upper


def test_distances_of_boxes_are_those_of_bounded_least_squares():
    draw, apart = Draw(1), 0
    for _ in range(80):
        a, b = draw.box(), draw.box()
        found = distance(a, b)
        assert found == pytest.approx(least_of_boxes(a, b), abs=1e-12)
        apart += found > 0
    assert 20 < apart < 80


@pytest.mark.slow
def test_distances_of_thousands_of_boxes_are_those_of_bounded_least_squares():
    draw = Draw(11)
    for _ in range(1500):
        a, b = draw.box(), draw.box()
        assert distance(a, b) == pytest.approx(least_of_boxes(a, b), abs=1e-11)


def test_distances_of_cylinders_and_boxes_lie_between_those_of_points_and_of_planes():
    draw, tight = Draw(2), 0
    for _ in range(20):
        a, b = draw.cylinder(), draw.solid()
        found = distance(a, b)
        lower, upper = sandwich(a, b)
        assert found <= upper + 1e-9
        assert found >= lower - 1e-9 or found == 0.0
        tight += 0 < upper - lower < 1e-8
    assert tight > 10  # bounds that mean something


def test_distance_is_symmetric_and_the_same_wherever_both_are_moved_to():
    draw = Draw(3)
    for _ in range(30):
        a, b, moved = draw.solid(), draw.solid(), draw.pose(3.0)
        there = [Obstacle("it", it.shape, moved @ it.pose) for it in (a, b)]
        assert distance(a, b) == pytest.approx(distance(b, a), abs=1e-13)
        assert distance(a, b) == pytest.approx(distance(*there), abs=1e-10)


def test_the_distance_of_simple_pairs():
    can, crate, ball, floor = Cylinder(0.1, 0.5), box(0.2, 0.4, 0.6), Sphere(0.3), Plane()
    lying = (math.pi / 2, 0.0, 0.0)
    for a, b, expected in [
        (placed(crate), placed(crate, x=1.0), 0.8),
        (placed(crate), placed(crate, x=0.5, y=0.8), 0.5),  # edges: 0.3 and 0.4
        (placed(crate), placed(box(0.2, 0.2, 0.2), x=0.6, y=0.6, z=0.8), math.sqrt(0.16 + 0.09 + 0.16)),
        (placed(can), placed(can, z=1.5), 0.5),
        (placed(can), placed(can, x=0.7), 0.5),
        (placed(can, rpy=lying), placed(can, z=1.0), 0.4),
        (placed(can, rpy=lying), placed(can, x=0.8, rpy=(0, 0, 0)), 0.6),
        (placed(crate), placed(can, x=0.5), 0.3),
        (placed(ball), placed(crate, x=1.0), 0.6),
        (placed(ball), placed(can, z=1.0), 0.2),
        (placed(ball), placed(ball, x=0.3, y=0.4), -0.1),
        (placed(ball), placed(can), -0.4),
        (placed(ball, z=1.0), placed(floor), 0.7),
        (placed(floor), placed(can, z=0.3), -0.2),
        (placed(floor), placed(can, z=1.0, rpy=lying), 0.9),
        (placed(floor), placed(box(1, 1, 1), z=2.0, rpy=(math.pi / 4, 0, 0)), 2.0 - math.sqrt(0.5)),
        (placed(Cylinder(0.0, 1.0)), placed(Cylinder(0.0, 1.0), x=0.25, rpy=lying), 0.25),  # rods that cross
        (placed(crate), placed(can), 0.0),
    ]:
        assert distance(a, b) == pytest.approx(expected, abs=1e-12)
        assert distance(b, a) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("gap", [1e-1, 1e-3, 1e-6, 1e-9])
def test_small_distances_keep_their_digits(gap):
    turn = rotation_rpy(0.3, 0.5, -0.2)
    for a, b, way in [
        (box(1, 1, 1), box(1, 1, 1), (1.0 + gap, 0.1, 0.2)),
        (box(1, 1, 1), Cylinder(0.5, 0.2), (1.0 + gap, 0.0, 0.1)),
        (Cylinder(0.5, 0.3), Cylinder(0.5, 0.2), (0.6, 0.2, 0.5 + gap)),
        (box(1, 1, 1), Cylinder(0.0, 0.5), (0.5 + gap, 0.5, 0.5)),
    ]:
        moved = Pose(turn, turn @ Vector(*way))
        assert distance(Obstacle("a", a, Pose(turn)), Obstacle("b", b, moved)) == pytest.approx(
            gap, rel=1e-6, abs=1e-15
        )


def test_solids_that_touch_deeper_and_deeper_have_the_distance_0():
    for x in (0.0, 1e-9, 0.1, 0.5, 0.99, 1.0 - 1e-9):
        assert distance(placed(box(1, 1, 1)), placed(box(1, 1, 1), x=x, rpy=(0.0, 0.0, 0.1))) < 1e-12
        assert distance(placed(Cylinder(0.5, 0.5)), placed(Cylinder(0.5, 0.5), x=x)) < 1e-12


def test_floats_and_graphs_give_the_same_bits():
    draw = Draw(4)
    for _ in range(5):
        a, b = draw.solid(), draw.solid()

        def at(x, a=a, b=b):
            moved = Pose(b.pose.rotation, Vector(x, *[*b.pose.position][1:]))
            return [distance(a, Obstacle("b", b.shape, moved))]

        function = trace(at, ["x"])
        for x in (-1.0, 0.3, 2.0):
            assert replay(function, [x]) == at(x)


def test_distances_are_those_of_mujoco():
    mujoco = pytest.importorskip("mujoco")
    draw = Draw(6)
    for _ in range(60):
        a, b = draw.solid(), draw.rng.choice([draw.solid, lambda: Obstacle("ball", Sphere(0.2), draw.pose())])()
        spec = mujoco.MjSpec()
        for it in (a, b):
            shape, R = it.shape, np.array([[*row] for row in it.pose.rotation])
            quaternion = np.zeros(4)
            mujoco.mju_mat2Quat(quaternion, R.ravel())
            geom = spec.worldbody.add_geom(pos=[*it.pose.position], quat=quaternion)
            if isinstance(shape, Box):
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_BOX, [*shape.half]
            elif isinstance(shape, Sphere):
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_SPHERE, [shape.radius, 0, 0]
            else:
                geom.type, geom.size = mujoco.mjtGeom.mjGEOM_CYLINDER, [shape.radius, shape.half_height, 0]
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        theirs = mujoco.mj_geomDistance(model, data, 0, 1, 10.0, np.zeros(6))
        assert max(distance(a, b), 0.0) == pytest.approx(max(theirs, 0.0), abs=2e-6)  # ccd_tolerance is 1e-6
