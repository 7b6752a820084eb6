"""An arm as it is drawn, in pictures and on pages alike: its parts, each fixed to a frame, and where the frames are."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from armsim import document
from armsim.arm.robot import Robot
from armsim.arm.solids import PayloadSolid, Solid, link_inertia, solids
from armsim.arrays import Array
from armsim.dynamics import frame_position, own_poses
from armsim.figures.reduction import reduced
from armsim.loading import build_robot
from armsim.loading.visuals import Shape, shapes
from armsim.model import Arm
from armsim.records import record
from armsim.spatial import Pose, Vector

Span = tuple[float | None, float | None]  # from and until when [s]
ALWAYS: Span = (None, None)
MOST_OF_MESH, MOST_OF_MESHES = 2000, 20_000  # triangles of a mesh and of all of an arm, so that pages can be mailed
# of the arm's size: radii of links and rods, of joints and of the base
BONE, THIN, DRUM, PLATE = 0.010, 0.004, 0.026, 0.05
STEEL = 7800.0  # kg/m³, of the balls that stand for masses without a shape
HERE: Array = np.eye(4)
TURNS = {"x": (2, 0, 1), "y": (1, 2, 0), "z": (0, 1, 2)}  # which coordinates of a body along z its x, y and z are


@record
class ArmPart:
    """A body that is drawn.

    Attributes:
        frame: Where it is fixed, see `DrawnArm.frames`; -1 the world.
        joint: Whose colour it has, by its number in `DrawnArm.looks`; None for the base's.
        shape: "cylinder", "tube", "box" or "sphere", its middle at the origin, and about z; "plane", a grid across z; or "mesh".
        sizes: Of the shape, by the keys of robot files [m]; of a mesh its triangles, shape (n, 3, 3), and of how many; of a
            plane its cells along an edge, and the edge of a cell.
        pose: In its frame, 4 by 4.
        drum: Whether it stands for a joint.
        start: From when on it is drawn [s]; None for one that is there from the beginning.
        end: When it is no longer drawn [s]; None for one that stays.
    """

    frame: int
    joint: int | None
    shape: str
    sizes: dict[str, Any]
    pose: Array
    drum: bool = False
    start: float | None = None
    end: float | None = None

    def at(self, t: float | None) -> bool:
        """Whether it is drawn at a time [s]; with None whether it ever is."""
        return t is None or ((self.start is None or t >= self.start) and (self.end is None or t < self.end))


@record
class DrawnArm:
    """An arm of k links with the solids of its file: of each link, and of its payloads with their `ArmPart.start` and `end`.

    The arm itself carries those that are carried for all the time.
    """

    arm: Arm
    links: Sequence[Sequence[Solid]]
    payloads: Sequence[tuple[PayloadSolid, Span]] = ()
    robot: document.Robot | None = None  # with its meshes

    @classmethod
    def of(cls, robot: document.Robot, spans: Sequence[Span] = ()) -> DrawnArm:
        """Of a robot file, as `armsim.loading.load_robot_file` reads it; and when its payloads are picked up and put down [s]."""
        found, arm = solids(robot), build_robot(robot)
        spans = spans or [ALWAYS] * len(found.payloads)
        always = tuple(payload for payload, span in zip(arm.payloads, spans, strict=True) if span == ALWAYS)
        payloads = list(zip(found.payloads, spans, strict=True))
        return cls(replace(arm, payloads=always), [link.solids for link in found.links], payloads, robot)

    @classmethod
    def of_robot(cls, robot: Robot) -> DrawnArm:
        """From a robot that has been read; one that was made of an arm has balls for its links' masses."""
        if robot.document is not None:
            return cls.of(robot.document)
        masses = map(link_inertia, robot.arm.links)
        return cls(
            robot.arm, [[Solid("", "inertia", {}, of.mass, of.com, of.about_com, of.about_origin)] for of in masses]
        )

    @property
    def carriers(self) -> list[int]:
        """The frames that carry the links and the tool, see `frames`."""
        return [link + 1 for link in (*self.arm.parents, self.arm.link_of(self.arm.tool))]

    @cached_property
    def looks(self) -> list[int]:
        """The number of each link's joint in `Arm.names`, by which all figures colour it."""
        return [self.arm.names.index(name) for name in self.arm.link_names]

    @cached_property
    def size(self) -> float:
        """Length of the stretched arm [m]; 1 for one without any."""
        arm = self.arm
        slides = [abs(link.slides * link.initial) for link in arm.links_in_range]
        return float(arm.longest([float(np.linalg.norm(vector(end))) for end in arm.ends], slides)) or 1.0

    @cached_property
    def shapes(self) -> list[list[Shape]]:
        """The meshes of each link; warns of those that cannot be drawn."""
        if self.robot is None:
            return [[]] * len(self.links)
        found, doubts = shapes(self.robot)
        for doubt in doubts:
            warnings.warn(f"{doubt.where}: {doubt.path}: {doubt.found}; {doubt.mend}", stacklevel=2)
        return found

    @cached_property
    def parts(self) -> list[ArmPart]:
        """What is drawn of it: base, links by their meshes or by solids and lines from joint to joint, joints, payload."""
        arm, size = self.arm, self.size
        plate = ArmPart(0, None, "cylinder", {"radius": PLATE * size, "height": BONE * size}, HERE)
        made = [*self._bones(0, None, 1.5 * BONE), plate]
        drum = DRUM * size
        most = min(MOST_OF_MESH, MOST_OF_MESHES // max(1, sum(map(len, self.shapes))))
        every = zip(arm.links, self.looks, self.links, self.shapes, strict=True)
        for k, (link, joint, bodies, meshes) in enumerate(every, 1):
            into = matrix(link.frame)
            for shape in meshes:
                sizes = {"triangles": reduced(shape.triangles, most), "of": len(shape.triangles)}
                made.append(ArmPart(k, joint, "mesh", sizes, into @ matrix(shape.pose)))
            if not meshes:
                for solid in bodies:
                    made += self._solid(k, joint, solid, into)
                made += self._bones(k, joint, BONE)
            turns: tuple[str, dict[str, Any]] = "cylinder", {"radius": drum, "height": 2 * drum}
            slides: tuple[str, dict[str, Any]] = "box", {"size": [1.6 * drum, 1.6 * drum, 2.4 * drum]}
            made.append(ArmPart(k, joint, *(turns if link.kind.turns else slides), HERE, drum=True))
        for solid, (start, end) in self.payloads:
            frame = arm.frame(solid.frame)
            k, into = arm.link_of(frame) + 1, matrix(arm.placement(frame))
            if frame is arm.tool:
                k, into = len(arm.links) + 1, HERE
            made += [replace(part, start=start, end=end) for part in self._solid(k, None, solid, into)]
        return made

    def _solid(self, frame: int, joint: int | None, solid: Solid, into: Array) -> Iterator[ArmPart]:
        """A solid; for a mass without a shape a ball of steel, on a stalk where it stands apart from its link."""
        shape, sizes, place = solid.shape, dict(solid.sizes), np.eye(4)
        place[:3] = np.column_stack([np.eye(3)[list(TURNS[sizes.pop("axis", "z")])], solid.center])
        if shape == "rod":
            shape, sizes = "cylinder", {"radius": THIN * self.size, "height": sizes["length"]}
        elif shape in ("point", "inertia"):
            if not solid.mass > 0:
                return
            shape, sizes = "sphere", {"radius": (3 * solid.mass / (4 * math.pi * STEEL)) ** (1 / 3)}
            yield from self._bone(frame, joint, np.array(solid.center), THIN, into)
        yield ArmPart(frame, joint, shape, sizes, into @ place)

    def _bones(self, frame: int, joint: int | None, share: float) -> Iterator[ArmPart]:
        """A cylinder from a frame to all that it carries."""
        for end, carrier in zip(self.arm.ends, self.carriers, strict=True):
            if carrier == frame:
                yield from self._bone(frame, joint, vector(end), share)

    def _bone(self, frame: int, joint: int | None, end: Array, share: float, into: Array = HERE) -> Iterator[ArmPart]:
        """A cylinder from the origin to a point; none where it is there. Its radius is a share of the arm's size."""
        length = float(np.linalg.norm(end))
        if length < 1e-9:
            return
        pose = facing(end / length, end / 2)
        sizes = {"radius": share * self.size, "height": length}
        yield ArmPart(frame, joint, "cylinder", sizes, into @ pose)

    def frames(self, q: Sequence[float]) -> Array:
        """Frames in the world at joint positions q [rad or m]: base, the links' own, and tool; shape (k + 2, 4, 4)."""
        arm, own = self.arm, own_poses(self.arm, q)
        tool = own[arm.link_of(arm.tool)] @ arm.placement(arm.tool)
        return np.stack([matrix(pose) for pose in (arm.base, *own, tool)])

    def way(self, q: Array) -> Array:
        """The tool's places [m] at rows of joint positions, shape (rows, 3)."""
        return np.array([[*frame_position(self.arm, row, self.arm.tool)] for row in q.tolist()], float)

    def center_of_mass(self, frames: Array) -> tuple[float, Array]:
        """Mass of links and payload [kg], and their centre [m]; the base's origin for an arm without mass."""
        moments = np.array([[*inertia.h, inertia.mass] for inertia in self.arm.inertias], float)
        *moment, mass = np.einsum("fij,fj->i", frames[1:-1], moments)
        return float(mass), np.array(moment) / mass if mass > 0 else frames[0, :3, 3]


def vector(v: Vector) -> Array:
    """A vector of numbers, shape (3,)."""
    return np.array([*v], float)


def unit(v: Array) -> Array:
    """A vector's direction."""
    found: Array = v / np.linalg.norm(v)
    return found


def facing(z: Array, origin: Array) -> Array:
    """A frame at an origin whose z axis is a unit vector, as a 4 by 4 matrix."""
    x, pose = unit(np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])), np.eye(4)
    pose[:3] = np.column_stack([x, np.cross(z, x), z, origin])
    return pose


def matrix(pose: Pose) -> Array:
    """A pose of numbers as a 4 by 4 matrix."""
    return np.array([*([*row, p] for row, p in zip(pose.rotation, pose.position, strict=True)), [0, 0, 0, 1]], float)
