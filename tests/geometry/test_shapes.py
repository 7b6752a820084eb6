"""Signed distances of points from shapes, and normals."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from armsim.expr import jacobian, replay, trace
from armsim.geometry import Box, Cylinder, HeightField, Obstacle, Plane, Sphere
from armsim.spatial import ZERO, Pose, Vector, rotation_rpy

PLACED = Pose(rotation_rpy(0.3, -0.7, 1.1), Vector(0.2, -0.5, 0.4))
CORNER = HeightField.of([-2.0, -0.5, 2.0], [-2.0, 0.3, 2.0], [0.1, 0.5, 0.2, -0.3, 0.4, 0.0, 0.2, 0.1, -0.2])
SOLIDS = {
    "plane": Plane(Vector(0.6, 0.0, 0.8), Vector(0.1, 0.2, 0.3)),
    "sphere": Sphere(0.7),
    "box": Box(Vector(0.3, 0.5, 0.8)),
    "cylinder": Cylinder(0.4, 0.6),
}


def arrays(pair):
    return pair[0], np.array([*pair[1]])


def with_slopes(shape, point):
    """Gap, normal and the derivatives of both by the point, by the chain rule through the graph."""
    function = trace(lambda x, y, z: [(gap := shape.gap(Vector(x, y, z)))[0], *gap[1]], ["x", "y", "z"])
    values = np.array(replay(jacobian(function), list(point)))
    return values[0], values[1:4], values[4:7], values[7:].reshape(3, 3)


def points(seed, count):
    rng = random.Random(seed)
    return [Vector(*(rng.uniform(-1.5, 1.5) for _ in range(3))) for _ in range(count)]


@pytest.mark.parametrize("name", SOLIDS)
@pytest.mark.handful(2)
def test_the_gradient_of_the_gap_is_the_normal_and_of_length_1(name):
    shape = Obstacle(name, SOLIDS[name], PLACED)
    for point in points(1, 100):
        gap, normal, slope, turning = with_slopes(shape, point)
        assert np.allclose(slope, normal, atol=1e-14, rtol=0)
        assert math.isclose(np.linalg.norm(normal), 1.0, abs_tol=1e-14)
        assert np.allclose(normal @ turning, 0.0, atol=1e-13)  # of a unit vector
        assert gap == shape.gap(point)[0]  # floats and graphs give the same bits


@pytest.mark.parametrize("name", SOLIDS)
def test_a_point_moved_by_its_gap_against_the_normal_is_on_the_surface(name):
    shape = Obstacle(name, SOLIDS[name], PLACED)
    for point in points(2, 100):
        gap, normal = shape.gap(point)
        assert abs(shape.gap(point + normal * -gap)[0]) < 1e-14


def on_surface(name, count=40_000):
    """Points on the surface of a solid."""
    rng = np.random.default_rng(5)
    u = rng.uniform(-1, 1, (count, 3))
    if name == "sphere":
        return 0.7 * u / np.linalg.norm(u, axis=1)[:, None]
    if name == "box":
        face = rng.integers(0, 3, count)
        u[np.arange(count), face] = np.sign(u[np.arange(count), face])
        return u * [0.3, 0.5, 0.8]
    angle, radius = math.pi * u[:, 0], 0.4 * np.sqrt(np.abs(u[:, 1]))
    side = rng.uniform(0, 1, count) < 0.5
    radius, height = np.where(side, 0.4, radius), 0.6 * np.where(side, u[:, 2], np.sign(u[:, 2]))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)


@pytest.mark.parametrize("name", ["sphere", "box", "cylinder"])
def test_the_gap_is_the_distance_of_the_nearest_point_of_the_surface(name):
    surface = on_surface(name)
    for point in points(3, 30):
        gap, _ = SOLIDS[name].gap(point)
        nearest = np.linalg.norm(surface - [*point], axis=1).min()
        assert abs(gap) - 1e-14 <= nearest <= abs(gap) + 0.02  # samples are about 0.01 apart


def test_gaps_of_simple_points():
    assert arrays(Plane().gap(Vector(3.0, 4.0, -2.0))) == (-2.0, pytest.approx([0, 0, 1]))
    assert arrays(Sphere(2.0).gap(Vector(0.0, 3.0, 4.0))) == (3.0, pytest.approx([0, 0.6, 0.8]))
    box, cylinder = SOLIDS["box"], SOLIDS["cylinder"]
    assert arrays(box.gap(Vector(0.0, 0.0, -1.0))) == (pytest.approx(0.2), pytest.approx([0, 0, -1]))
    assert arrays(box.gap(Vector(-0.6, 0.9, 0.0))) == (pytest.approx(0.5), pytest.approx([-0.6, 0.8, 0]))
    assert arrays(box.gap(Vector(0.2, 0.0, 0.0))) == (pytest.approx(-0.1), pytest.approx([1, 0, 0]))
    assert arrays(cylinder.gap(Vector(0.0, -0.7, 1.0))) == (pytest.approx(0.5), pytest.approx([0, -0.6, 0.8]))
    assert arrays(cylinder.gap(Vector(0.0, 0.0, 0.5))) == (pytest.approx(-0.1), pytest.approx([0, 0, 1]))


@pytest.mark.parametrize("name", SOLIDS)
def test_derivatives_are_finite_in_centres_on_axes_edges_corners_and_faces(name):
    ends = {"box": (0.3, 0.5, 0.8), "cylinder": (0.4, 0.0, 0.6), "sphere": (0.7, 0.0, 0.0), "plane": (0.1, 0.2, 0.3)}[
        name
    ]
    for mask in np.ndindex(3, 3, 3):
        point = [(k - 1) * end for k, end in zip(mask, ends, strict=True)]
        gap, normal, slope, turning = with_slopes(SOLIDS[name], Vector(*point))
        assert np.isfinite([gap, *normal, *slope, *turning.ravel()]).all()
        assert math.isclose(np.linalg.norm(normal), 1.0)


@pytest.mark.parametrize("name", SOLIDS)
def test_the_gap_is_continuous_everywhere_as_no_distance_changes_faster_than_the_place(name):
    shape = SOLIDS[name]
    for point, way in zip(points(7, 200), points(8, 200), strict=True):
        rough = Vector(*(round(x * 10) / 10 for x in point))  # on edges, axes and faces often
        length = math.hypot(*way)
        for step in (1e-3, 1e-9):
            other = rough + way * step
            assert abs(shape.gap(rough)[0] - shape.gap(other)[0]) <= step * length * (1 + 1e-12) + 1e-15


def test_terrain_is_bilinear_and_level_beyond_its_edge():
    heights = {
        (-2.0, -2.0): 0.1,
        (-0.5, 0.3): 0.4,
        (2.0, 2.0): -0.2,
        (-1.25, -2.0): 0.3,
        (5.0, 0.3): 0.0,
        (-9, -9): 0.1,
    }
    for (x, y), z in heights.items():
        assert abs(CORNER.gap(Vector(x, y, z))[0]) < 1e-15
    middle = (0.5 + 0.2 + 0.4 + 0.0) / 4
    assert abs(CORNER.gap(Vector(0.75, -0.85, middle))[0]) < 1e-15
    assert arrays(CORNER.gap(Vector(9.0, 9.0, 1.0)))[1] == pytest.approx([0, 0, 1])


def test_terrain_that_is_an_inclined_plane_has_the_gaps_of_the_plane():
    slope = (0.75, 0.0)
    x, y = [-3.0, -1.0, 0.5, 3.0], [-3.0, 0.0, 3.0]
    field = HeightField.of(x, y, [slope[0] * a + 0.1 for _ in y for a in x])
    plane = Plane(Vector(-0.6, 0.0, 0.8), Vector(0.0, 0.0, 0.1))
    for point in points(9, 50):
        got, expected = arrays(field.gap(point)), arrays(plane.gap(point))
        assert got[0] == pytest.approx(expected[0], abs=1e-15)
        assert np.allclose(got[1], expected[1], atol=1e-15)


def test_the_gap_of_terrain_rises_along_its_normal_on_the_surface():
    for point in points(10, 100):
        height = point.z - CORNER.gap(point)[0] / CORNER.gap(point)[1].z
        gap, normal, slope, _ = with_slopes(CORNER, Vector(point.x, point.y, height))
        assert abs(gap) < 1e-15
        assert np.allclose(slope, normal, atol=1e-14)


def test_an_obstacle_turns_and_shifts_its_shape():
    shape = SOLIDS["box"]
    for point in points(11, 20):
        gap, normal = shape.gap(point)
        there, turned = Obstacle("crate", shape, PLACED).gap(PLACED.point(point))
        assert there == pytest.approx(gap, abs=1e-15)
        assert [*turned] == pytest.approx([*(PLACED.rotation @ normal)], abs=1e-15)
    assert Obstacle("ball", Sphere(1.0)).gap(ZERO)[0] == -1.0
