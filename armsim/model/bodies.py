"""Bodies that make up links: homogeneous solids, slender rods, point masses, and tabulated inertias."""

from __future__ import annotations

import math
from typing import Literal

from armsim.spatial import Inertia, Scalar, Symmetric, Vector

Axis = Literal["x", "y", "z"]


def cylinder(axis: Axis, height: Scalar, radius: Scalar, mass: Scalar, center: Vector) -> Inertia:
    """A solid cylinder along an axis of its frame.

    Args:
        axis: The axis it lies along.
        height: [m].
        radius: [m].
        mass: [kg].
        center: Its centre [m].
    """
    along = mass * radius * radius / 2
    across = mass * (3 * radius * radius + height * height) / 12
    return Inertia.about_com(mass, center, _axial(axis, along, across))


def tube(
    axis: Axis, height: Scalar, outer_radius: Scalar, inner_radius: Scalar, mass: Scalar, center: Vector
) -> Inertia:
    """A hollow cylinder, open at both ends, along an axis of its frame.

    Args:
        axis: The axis it lies along.
        height: [m].
        outer_radius: [m].
        inner_radius: [m].
        mass: [kg].
        center: Its centre [m].
    """
    squares = outer_radius * outer_radius + inner_radius * inner_radius
    along = mass * squares / 2
    across = mass * (3 * squares + height * height) / 12
    return Inertia.about_com(mass, center, _axial(axis, along, across))


def box(size: Vector, mass: Scalar, center: Vector) -> Inertia:
    """A solid box with edges `size` [m] along the axes of its frame, mass [kg], centre [m]."""
    x, y, z = size.x * size.x, size.y * size.y, size.z * size.z
    return Inertia.about_com(mass, center, Symmetric(mass * (y + z) / 12, mass * (x + z) / 12, mass * (x + y) / 12))


def sphere(radius: Scalar, mass: Scalar, center: Vector) -> Inertia:
    """A solid sphere of a radius [m], mass [kg], centre [m]."""
    diagonal = 2 * mass * radius * radius / 5
    return Inertia.about_com(mass, center, Symmetric(diagonal, diagonal, diagonal))


def rod(axis: Axis, length: Scalar, mass: Scalar, center: Vector) -> Inertia:
    """A slender rod of a length [m] along an axis of its frame, mass [kg], centre [m]."""
    return Inertia.about_com(mass, center, _axial(axis, 0.0, mass * length * length / 12))


def point(mass: Scalar, center: Vector) -> Inertia:
    """A point mass [kg] at `center` [m]."""
    return Inertia.about_com(mass, center, Symmetric())


def tabulated(mass: Scalar, center: Vector, tensor: Symmetric, about: Literal["com", "origin"]) -> Inertia:
    """A body from a table.

    Args:
        mass: [kg].
        center: Its centre of mass [m].
        tensor: Rotational inertia [kg m²], axes parallel to the frame's, off-diagonal components -∫ x y dm.
        about: Whether the tensor is about the centre of mass or about the frame's origin.
    """
    if about == "com":
        return Inertia.about_com(mass, center, tensor)
    return Inertia(mass, mass * center, tensor)


def cylinder_volume(height: Scalar, radius: Scalar) -> Scalar:
    """Volume of a cylinder [m³]."""
    return math.pi * radius * radius * height


def tube_volume(height: Scalar, outer_radius: Scalar, inner_radius: Scalar) -> Scalar:
    """Volume of the wall of a hollow cylinder [m³]."""
    return math.pi * (outer_radius - inner_radius) * (outer_radius + inner_radius) * height


def box_volume(size: Vector) -> Scalar:
    """Volume of a box [m³]."""
    return size.x * size.y * size.z


def sphere_volume(radius: Scalar) -> Scalar:
    """Volume of a sphere [m³]."""
    return 4 * math.pi * radius * radius * radius / 3


def _axial(axis: Axis, along: Scalar, across: Scalar) -> Symmetric:
    return Symmetric(**{f"{a}{a}": along if a == axis else across for a in "xyz"})
