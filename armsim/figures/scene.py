"""An arm as flat facets on a picture: its solids, joints and frames, seen from far away (orthographic projection)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.dynamics import link_poses, own_poses
from armsim.figures.drawn_run import DrawnArm
from armsim.figures.mesh import NOTHING, box, cylinder, solid_mesh, tube_between
from armsim.figures.style import BLACK, GREY, View, look, tick
from armsim.model import Arm
from armsim.spatial import Pose

Array = NDArray[np.float64]
BONE, THIN, DRUM, PLATE = (
    0.010,
    0.004,
    0.026,
    0.05,
)  # of the arm's size: radii of links and rods, of joints, of the base
AXIS = 0.12  # of the arm's size: length of a joint's axis
LIGHT = np.array([-0.35, 0.55, 0.76])  # towards the light, along right, up and towards the eye
PAINT, SHADE = (
    0.60,
    0.45,
)  # share of a joint's colour in its link's, and how much darker what faces away from the light is


@dataclass(frozen=True)
class Camera:
    """A view from far away.

    Attributes:
        right: Unit vector to the right of the picture.
        up: Unit vector upwards on it.
        toward: Unit vector to the eye.
    """

    right: Array
    up: Array
    toward: Array

    def flat(self, points: Array) -> Array:
        """Points on the picture [m], shape (..., 2)."""
        found: Array = points @ np.stack([self.right, self.up], axis=1)
        return found


def camera(arm: Arm, view: View = "auto") -> Camera:
    """A view of an arm; upwards is against gravity, or along z without it.

    "auto" looks along the joints' axes where all are parallel, as of a planar arm, else it is "iso", from above and the side.
    """
    gravity = _vector(arm.gravity)
    up = -gravity / np.linalg.norm(gravity) if np.any(gravity) else np.array([0.0, 0.0, 1.0])
    right = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    right = _unit(right - up * (right @ up))
    back = np.cross(right, up)  # towards the eye that sees the side
    if view == "auto":
        axes = [_matrix(pose)[:, 2] for pose in own_poses(arm, [float(q) for q in arm.initial])]
        if arm.n > 1 and all(abs(axis @ axes[0]) > 1 - 1e-9 for axis in axes):
            return _along(axes[0] if axes[0] @ (back + 0.01 * up) > 0 else -axes[0], right, up)
        view = "iso"
    if view == "side":
        return Camera(right, up, back)
    if view == "front":
        return Camera(-back, up, right)
    if view == "top":
        return Camera(right, -back, up)
    turn, tilt = math.radians(35.0), math.radians(25.0)
    across = math.cos(turn) * right - math.sin(turn) * back
    level = np.cross(across, up)
    toward = math.cos(tilt) * level + math.sin(tilt) * up
    return Camera(across, np.cross(toward, across), toward)


def _along(toward: Array, right: Array, up: Array) -> Camera:
    """The view along an axis, as upright as it may be."""
    upright = up if abs(up @ toward) < 0.9 else np.cross(toward, right)
    across = _unit(np.cross(upright, toward))
    return Camera(across, np.cross(toward, across), toward)


class Scene:
    """The facets of an arm, each fixed to a link or to the base.

    Args:
        drawn: The arm and its solids.

    Attributes:
        arm: The arm.
        size: Length of the stretched arm [m]; 1 for one without any.
    """

    def __init__(self, drawn: DrawnArm) -> None:
        self.arm = arm = drawn.arm
        start = [float(q) for q in arm.initial]
        lengths = [float(np.linalg.norm(_vector(joint.position))) for joint in arm.joints[1:]]
        lengths.append(float(np.linalg.norm(_vector(arm.tool_in_link.position))))
        lengths += [abs(float(joint.slides) * q) for joint, q in zip(arm.joints, start, strict=True)]
        first = float(np.linalg.norm(_vector(arm.joints[0].position)))
        self.size = sum(lengths) + first or 1.0
        plate = cylinder(PLATE * self.size, BONE * self.size)
        meshes: list[tuple[int, int, Array]] = [
            (0, -1, self._bone(_vector(arm.joints[0].position), 1.5)),
            (0, -1, plate),
        ]
        for i, (joint, link) in enumerate(zip(arm.joints, drawn.solids["links"], strict=True)):
            into = _matrix(joint.frame)
            for solid in link["solids"]:
                made = solid_mesh(solid, THIN * self.size)
                if solid["shape"] in ("point", "inertia") and len(
                    made
                ):  # on a stalk, where it stands apart from its link
                    made = np.concatenate(
                        [made, tube_between(np.zeros(3), np.array(solid["center"]), THIN * self.size)]
                    )
                meshes.append((i + 1, i, made @ into.T + _vector(joint.frame.position)))
            end = arm.joints[i + 1].position if i + 1 < arm.n else arm.tool_in_link.position
            meshes.append((i + 1, i, self._bone(_vector(end))))
            drum = DRUM * self.size
            own = cylinder(drum, 2 * drum) if joint.kind.turns else box(1.6 * drum, 1.6 * drum, 2.4 * drum)
            meshes.append((i + 1, i, own))
        if drawn.solids["payload"] is not None:
            carried = solid_mesh(drawn.solids["payload"], THIN * self.size)
            meshes.append((arm.n, -1, carried @ _matrix(arm.tool_in_link).T + _vector(arm.tool_in_link.position)))
        self._facets = np.concatenate([mesh for _, _, mesh in meshes])
        self._frame = np.repeat([frame for frame, _, _ in meshes], [len(mesh) for _, _, mesh in meshes])
        colors = [np.array(to_rgb(look(i).color if i >= 0 else GREY)) for _, i, _ in meshes]
        self._color = np.repeat(colors, [len(mesh) for _, _, mesh in meshes], axis=0)
        self._color = 1.0 - PAINT * (1.0 - self._color)

    def _bone(self, end: Array, broad: float = 1.0) -> Array:
        return tube_between(np.zeros(3), end, broad * BONE * self.size) if np.any(end) else NOTHING

    @cached_property
    def base(self) -> tuple[Array, Array]:
        """Rotation and origin [m] of the base."""
        return _matrix(self.arm.base), _vector(self.arm.base.position)

    def poses(self, q: Sequence[float]) -> tuple[Array, Array]:
        """Rotations, shape (n + 1, 3, 3), and origins [m], shape (n + 1, 3), of the base and the links' own frames."""
        found = [self.arm.base, *own_poses(self.arm, q)]
        return np.stack([_matrix(pose) for pose in found]), np.stack([_vector(pose.position) for pose in found])

    def tool(self, q: Sequence[float]) -> Array:
        """Where the tool is [m], shape (3,)."""
        return _vector(own_poses(self.arm, q)[-1].point(self.arm.tool_in_link.position))

    def frames(self, q: Sequence[float]) -> list[tuple[Array, Array]]:
        """Rotations and origins [m] of the links' frames by the user's convention."""
        return [(_matrix(pose), _vector(pose.position)) for pose in link_poses(self.arm, q)]

    def lengths(self, q: Sequence[float]) -> list[float]:
        """Distances from the base over the joints to the tool [m], n + 1 of them."""
        _, p = self.poses(q)
        return [float(x) for x in np.linalg.norm(np.diff([*p, self.tool(q)], axis=0), axis=1)]

    def center_of_mass(self, q: Sequence[float]) -> tuple[float, Array]:
        """Mass of links and payload [kg], and their centre [m]; the base's origin for an arm without mass."""
        R, p = self.poses(q)
        masses = np.array([float(inertia.mass) for inertia in self.arm.inertias])
        moments = np.array([_vector(inertia.h) for inertia in self.arm.inertias])
        mass = float(masses.sum())
        moment = np.einsum("fij,fj->i", R[1:], moments) + masses @ p[1:]
        return mass, moment / mass if mass > 0 else p[0]

    def axes(self, q: Sequence[float]) -> Array:
        """The axes of the joints as lines from end to end [m], shape (n, 2, 3)."""
        R, p = self.poses(q)
        half = AXIS / 2 * self.size * R[1:, :, 2]
        return np.stack([p[1:] - half, p[1:] + half], axis=1)

    def painted(self, q: Sequence[float], seen: Camera) -> tuple[Array, Array]:
        """The facets that face the eye, the farthest first: corners on the picture, shape (m, 4, 2), and colours, (m, 3)."""
        R, p = self.poses(q)
        world = np.einsum("fij,fkj->fki", R[self._frame], self._facets) + p[self._frame][:, None]
        normal = np.cross(world[:, 2] - world[:, 0], world[:, 3] - world[:, 1])
        length = np.linalg.norm(normal, axis=1)
        towards = normal @ seen.toward
        shown = towards > 1e-9 * length
        order = np.argsort((world[shown].mean(axis=1)) @ seen.toward, kind="stable")
        normal = (normal[shown] / length[shown, None])[order]
        lit = np.clip(normal @ (np.stack([seen.right, seen.up, seen.toward], axis=1) @ LIGHT), 0.0, 1.0)
        colors = self._color[shown][order] * (1.0 - SHADE * (1.0 - lit[:, None]))
        return seen.flat(world[shown][order]), np.clip(colors, 0.0, 1.0)

    def extent(self, poses: Sequence[Sequence[float]], seen: Camera) -> tuple[Array, Array]:
        """The least and the greatest corner of the arm on pictures of some poses [m], shape (2,) each."""
        corners = [self.painted(q, seen)[0].reshape(-1, 2) for q in poses]
        corners += [seen.flat(self.axes(q)).reshape(-1, 2) for q in poses]
        every = np.concatenate(corners)
        return every.min(axis=0), every.max(axis=0)


def scale_bar(axis: Any, size: float) -> None:
    """A length in the lower left corner of a panel, a round number of about a fifth of the arm."""
    power = 10.0 ** math.floor(math.log10(size / 5))
    length = max(x * power for x in (1.0, 2.0, 5.0) if x * power <= size / 5 * (1 + 1e-9))
    left, right = axis.get_xlim()
    low, high = axis.get_ylim()
    x, y = left + 0.03 * (right - left), low + 0.02 * (high - low)
    axis.plot([x, x + length], [y, y], color=BLACK, linewidth=2.0, solid_capstyle="butt")
    axis.text(x, y + 0.012 * (high - low), f"{tick(length)} m", ha="left", va="bottom", fontsize=8)


def _vector(v) -> Array:
    return np.array([float(x) for x in v])


def _matrix(pose: Pose) -> Array:
    return np.array([[float(x) for x in row] for row in pose.rotation])


def _unit(v: Array) -> Array:
    found: Array = v / np.linalg.norm(v)
    return found


def shades(color: str) -> Array:
    """The colours that a joint's colour comes out in, from dark to light, and towards white, shape (m, 3) from 0 to 1."""
    painted = 1.0 - PAINT * (1.0 - np.array(to_rgb(color)))
    lit = painted * (1.0 - SHADE * np.linspace(1.0, 0.0, 7))[:, None]
    return np.concatenate([lit, 1.0 - np.array([0.6, 0.3])[:, None] * (1.0 - painted)])


def to_rgb(color: str) -> tuple[float, ...]:
    """A colour #rrggbb as numbers from 0 to 1."""
    return tuple(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
