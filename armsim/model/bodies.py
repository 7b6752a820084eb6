"""Bodies that make up links: simple solids of uniform density, points, and inertias as tabulated."""

from __future__ import annotations

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


def _axial(axis: Axis, along: Scalar, across: Scalar) -> Symmetric:
    return Symmetric(**{f"{a}{a}": along if a == axis else across for a in "xyz"})
