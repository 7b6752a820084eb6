"""Solids against the integrals over their volumes."""

import itertools

import numpy as np
import pytest

from armsim.loading import read_robot
from armsim.model import bodies
from armsim.spatial import Symmetric, Vector

CENTER = np.array([0.3, -0.2, 0.5])
COMPONENTS = ("xx", "yy", "zz", "xy", "xz", "yz")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)  # exact for polynomials up to degree 23


def on(lower, upper):
    """Nodes and weights of Gauss quadrature on an interval."""
    return (lower + upper) / 2 + NODES * (upper - lower) / 2, WEIGHTS * (upper - lower) / 2


def around():
    """Nodes and weights of a full turn: the trapezoid rule is exact for low harmonics."""
    return np.arange(12) * np.pi / 6, np.full(12, np.pi / 6)


def axial_points(axis, height, inner, outer):
    """Points and volumes of a hollow cylinder along an axis."""
    points, volumes = [], []
    for (r, wr), (phi, wp), (z, wz) in itertools.product(
        zip(*on(inner, outer), strict=True), zip(*around(), strict=True), zip(*on(-height / 2, height / 2), strict=True)
    ):
        points.append(np.roll([r * np.cos(phi), r * np.sin(phi), z], "zxy".index(axis)))
        volumes.append(wr * wp * wz * r)
    return np.array(points), np.array(volumes)


def box_points(x, y, z):
    axes = [list(zip(*on(-edge / 2, edge / 2), strict=True)) for edge in (x, y, z)]
    product = list(itertools.product(*axes))
    return np.array([[p[0] for p in item] for item in product]), np.array(
        [np.prod([p[1] for p in item]) for item in product]
    )


def sphere_points(radius):
    points, volumes = [], []
    for (r, wr), (phi, wp), (u, wu) in itertools.product(
        zip(*on(0, radius), strict=True), zip(*around(), strict=True), zip(*on(-1, 1), strict=True)
    ):
        s = np.sqrt(1 - u * u)
        points.append([r * s * np.cos(phi), r * s * np.sin(phi), r * u])
        volumes.append(wr * wp * wu * r * r)
    return np.array(points), np.array(volumes)


def integrated(points, volumes, mass):
    """Mass, first moment and tensor about the origin of a body with its centre at CENTER."""
    points = points + CENTER
    m = volumes * mass / volumes.sum()
    tensor = np.eye(3) * np.einsum("i,ij,ij", m, points, points) - np.einsum("i,ij,ik->jk", m, points, points)
    return m.sum(), m @ points, tensor


SOLIDS = {
    **{f"cylinder {a}": ({"cylinder": {"axis": a, "height": 0.7, "radius": 0.2}}, axial_points(a, 0.7, 0, 0.2))
       for a in "xyz"},
    **{f"tube {a}": ({"tube": {"axis": a, "height": 0.7, "outer_radius": 0.2, "inner_radius": 0.15}},
                     axial_points(a, 0.7, 0.15, 0.2)) for a in "xyz"},
    "box": ({"box": {"size": [0.2, 0.5, 0.9]}}, box_points(0.2, 0.5, 0.9)),
    "sphere": ({"sphere": {"radius": 0.4}}, sphere_points(0.4)),
}  # fmt: skip


def built(body):
    """The inertia of a body as a file gives it."""
    joint = {"name": "R1", "type": "revolute", "mdh": {}, "bodies": [body]}
    arm, _ = read_robot({"format": "armsim/robot/1", "name": "x", "joints": [joint]})
    return arm.joints[0].inertia


def check(inertia, mass, h, tensor):
    assert inertia.mass == pytest.approx(mass, rel=1e-14)
    assert list(inertia.h) == pytest.approx(list(h), abs=1e-14)
    rows = [list(row) for row in inertia.J.rows()]
    assert np.array(rows) == pytest.approx(tensor, abs=1e-14)  # some hundred rounded sums below 1


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_has_the_inertia_of_its_volume(name):
    body, (points, volumes) = SOLIDS[name]
    ((shape, data),) = body.items()
    check(built({shape: {**data, "mass": 2.5, "center": list(CENTER)}}), *integrated(points, volumes, 2.5))


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solids_density_fills_its_volume(name):
    body, (points, volumes) = SOLIDS[name]
    ((shape, data),) = body.items()
    check(
        built({shape: {**data, "density": 7.8, "center": list(CENTER)}}),
        *integrated(points, volumes, 7.8 * volumes.sum()),
    )


@pytest.mark.parametrize("axis", "xyz")
def test_a_rod_is_a_cylinder_without_thickness(axis):
    rod = bodies.rod(axis, 0.7, 2.0, Vector(*CENTER))
    thin = bodies.cylinder(axis, 0.7, 0.0, 2.0, Vector(*CENTER))
    assert [getattr(rod.J, c) for c in COMPONENTS] == [getattr(thin.J, c) for c in COMPONENTS]


def test_a_solid_tube_is_a_cylinder():
    tube = bodies.tube("y", 0.7, 0.2, 0.0, 2.0, Vector(*CENTER))
    assert tube == bodies.cylinder("y", 0.7, 0.2, 2.0, Vector(*CENTER))


def test_a_tensor_about_the_origin_and_one_about_the_centre_of_mass_differ_by_the_parallel_axes():
    center = Vector(*CENTER)
    about_com = bodies.tabulated(2.0, center, Symmetric(1, 2, 3, 0.1, 0.2, 0.3), "com")
    about_origin = bodies.tabulated(2.0, center, about_com.J, "origin")
    assert about_origin == about_com
    assert Symmetric(1, 2, 3, 0.1, 0.2, 0.3) + bodies.point(2.0, center).J == about_com.J
