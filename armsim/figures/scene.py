"""An arm as flat facets on a picture, seen from far away (orthographic projection)."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.dynamics import own_poses
from armsim.figures.drawn_arm import HERE, ArmPart, DrawnArm, unit, vector
from armsim.figures.drawn_world import WORLD, world_parts
from armsim.figures.mesh import divided, mesh
from armsim.figures.style import BLACK, GREY, VERMILION, View, look, tick
from armsim.model import Arm
from armsim.records import record
from armsim.spatial import Z

NEAR = 1.2  # of the arm's size: how much of the world must be seen
AXIS = 0.12  # of the arm's size: length of a joint's axis
LIGHT = np.array([-0.35, 0.55, 0.76])  # towards the light, along right, up and towards the eye
PAINT = 0.60  # share of a joint's colour in its link's
SHADE = 0.45  # how much darker is what faces away from the light


@record
class Camera:
    """A view from far away.

    Attributes:
        axes: Unit vectors to the right of the picture, upwards on it, and to the eye, shape (3, 3).
    """

    axes: Array

    def flat(self, points: Array) -> Array:
        """Points on the picture [m], shape (..., 2)."""
        found: Array = points @ self.axes[:2].T
        return found


def camera(arm: Arm, view: View = "auto") -> Camera:
    """A view of an arm; upwards is against gravity, or along z without it.

    "auto" looks along the joints' axes where all are parallel, as of a planar arm, else it is "iso", from above and the side.
    """
    gravity = vector(arm.gravity)
    up = unit(-gravity) if gravity.any() else np.array([0.0, 0.0, 1.0])
    right = np.eye(3)[0 if abs(up[0]) < 0.9 else 1]
    right = unit(right - up * (right @ up))
    back = np.cross(right, up)  # towards the eye that sees the side
    turn, tilt = math.radians(35.0), math.radians(25.0)
    level = math.cos(turn) * back + math.sin(turn) * right
    eyes = {"side": back, "front": right, "top": up, "iso": math.cos(tilt) * level + math.sin(tilt) * up}
    axes = np.array([vector(pose.rotation @ Z) for pose in own_poses(arm, arm.initial)])
    if view == "auto" and arm.n > 1 and (np.abs(axes @ axes[0]) > 1 - 1e-9).all():
        toward = axes[0] if axes[0] @ (back + 0.01 * up) > 0 else -axes[0]
    else:
        toward = eyes["iso" if view == "auto" else view]
    upright = up if abs(up @ toward) < 0.9 else np.cross(toward, right)
    across = unit(np.cross(upright, toward))
    return Camera(np.stack([across, np.cross(toward, across), toward]))


@record
class Scene:
    """An arm that is seen from somewhere, with its world or without; `frames` below are those of `DrawnArm.frames`."""

    drawn: DrawnArm
    seen: Camera
    surrounded: bool = True

    @cached_property
    def _world(self) -> list[ArmPart]:
        return world_parts(self.drawn) if self.surrounded else []

    @cached_property
    def planes(self) -> list[Array]:
        """The cells of the world's planes on the picture [m], each of shape (4, 2)."""
        return [cell for part in self._world if part.shape == "plane" for cell in self.seen.flat(mesh(part))]

    @cached_property
    def _parts(self) -> list[ArmPart]:
        """What is sorted by depth."""
        return self.drawn.parts + [part for part in self._world if part.shape != "plane"]

    @cached_property
    def _meshes(self) -> list[Array]:
        """The facets of each part; boxes of the world in pieces, so that arms on them are sorted right."""
        return [
            divided(mesh(part)) if (part.frame, part.shape) == (WORLD, "box") else mesh(part) for part in self._parts
        ]

    @property
    def _counts(self) -> list[int]:
        return [len(facets) for facets in self._meshes]

    @cached_property
    def _facets(self) -> tuple[Array, Any, Array]:
        """Corners in their frames, shape (m, 4, 3), numbers of the frames, and colours, shape (m, 3)."""
        parts = self._parts
        meshes = self._meshes
        colors = [painted(GREY if part.joint is None else look(part.joint).color) for part in parts]
        counts = self._counts
        frames = np.repeat([part.frame for part in parts], counts)
        return np.concatenate(meshes), frames, np.repeat(colors, counts, axis=0)

    def axes(self, frames: Array) -> Array:
        """The axes of the joints as lines from end to end on the picture [m], shape (k, 2, 2)."""
        half = AXIS / 2 * self.drawn.size * frames[1:-1, :3, 2]
        p = frames[1:-1, :3, 3]
        return self.seen.flat(np.stack([p - half, p + half], axis=1))

    def painted(self, frames: Array, t: float | None = None) -> tuple[Array, Array]:
        """The facets that face the eye, the farthest first: corners on the picture, shape (m, 4, 2), and colours, (m, 3).

        Of the parts that are drawn at time t [s]; see `ArmPart.at`.
        """
        world, toward, (_, _, colors) = self._placed(frames), self.seen.axes[2], self._facets
        normal = np.cross(world[:, 2] - world[:, 0], world[:, 3] - world[:, 1])
        length = np.linalg.norm(normal, axis=1)
        there = np.repeat([part.at(t) for part in self._parts], self._counts)
        shown = np.flatnonzero((normal @ toward > 1e-9 * length) & there)
        shown = shown[np.argsort(world[shown].mean(axis=1) @ toward, kind="stable")]
        lit = np.clip(normal[shown] @ (LIGHT @ self.seen.axes) / length[shown], 0.0, 1.0)
        return self.seen.flat(world[shown]), np.clip(colors[shown] * (1.0 - SHADE * (1.0 - lit[:, None])), 0.0, 1.0)

    def points(self, frames: Array) -> Array:
        """All corners and ends of axes on the picture [m], shape (m, 2); of the world those near the arm's base."""
        corners, (_, fixed, _) = self._placed(frames), self._facets
        near = np.linalg.norm(corners - frames[0, :3, 3], axis=2) < NEAR * self.drawn.size
        shown = near | (fixed != WORLD)[:, None]
        return np.concatenate([self.seen.flat(corners[shown]), self.axes(frames).reshape(-1, 2)])

    def _placed(self, frames: Array) -> Array:
        """The corners of all facets in the world [m], shape (m, 4, 3)."""
        facets, fixed, _ = self._facets
        T = np.stack([*frames, HERE])[fixed]
        return np.einsum("fij,fkj->fki", T[:, :3, :3], facets) + T[:, None, :3, 3]


class ArmArtists:
    """An arm in a panel of matplotlib: its solids, the axes of its joints, and its tool.

    Args:
        axis: The panel.
        scene: The arm.
        color: Of the tool.
        alpha: How opaque it is; None for all.
    """

    def __init__(self, axis: Any, scene: Scene, color: str = VERMILION, alpha: float | None = None) -> None:
        from matplotlib.collections import LineCollection, PolyCollection

        axis.set_aspect("equal")
        axis.set_axis_off()
        self.scene = scene
        if scene.planes:  # at the back, where they are for eyes on the side that is free
            planes = PolyCollection(scene.planes, facecolors=GREY, edgecolors=GREY, alpha=0.15, zorder=0)
            axis.add_collection(planes, autolim=False)
        self.solids = axis.add_collection(PolyCollection([], linewidths=0.6, zorder=3, alpha=alpha), autolim=False)
        lines = LineCollection([], colors=BLACK, linewidths=0.8, linestyles="-.", zorder=4, alpha=alpha)
        self.axes = axis.add_collection(lines, autolim=False)
        cross = {"marker": "+", "markersize": 10, "markeredgewidth": 1.8, "linestyle": "", "color": color}
        self.tool = axis.plot([], [], zorder=6, **cross)[0]

    def pose(self, frames: Array, t: float | None = None) -> None:
        """Put it where its frames are, at time t [s]."""
        corners, colors = self.scene.painted(frames, t)
        self.solids.set(verts=corners, facecolors=colors, edgecolors=colors)
        self.axes.set_segments(self.scene.axes(frames))
        self.tool.set_data(self.scene.seen.flat(frames[-1:, :3, 3]).T)


def scale_bar(axis: Any, size: float) -> None:
    """A length in the lower left corner of a panel, a round number of about a fifth of the arm."""
    power = 10.0 ** math.floor(math.log10(size / 5))
    length = max(x * power for x in (1.0, 2.0, 5.0) if x * power <= size / 5 * (1 + 1e-9))
    left, right = axis.get_xlim()
    low, high = axis.get_ylim()
    x, y = left + 0.03 * (right - left), low + 0.02 * (high - low)
    axis.plot([x, x + length], [y, y], color=BLACK, linewidth=2.0, solid_capstyle="butt")
    axis.text(x, y + 0.012 * (high - low), f"{tick(length)} m", ha="left", va="bottom", fontsize=8)


def painted(color: str) -> Array:
    """The colour of a part in full light, from 0 to 1."""
    return 1.0 - PAINT * (1.0 - np.array(to_rgb(color)))


def shades(color: str) -> Array:
    """The colours that a joint's colour comes out in, from dark to light, and towards white, shape (m, 3) from 0 to 1."""
    lit = painted(color) * (1.0 - SHADE * np.linspace(1.0, 0.0, 7))[:, None]
    return np.concatenate([lit, 1.0 - np.array([0.6, 0.3])[:, None] * (1.0 - painted(color))])


def to_rgb(color: str) -> tuple[float, ...]:
    """A colour #rrggbb as numbers from 0 to 1."""
    return tuple(int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
