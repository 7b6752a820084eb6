"""Masses and inertias with given base parameters that a robot's links can have: a choice, as base parameters do not tell them.

The pseudo-inertia of a link, [[∫ r rᵀ dm, ∫ r dm], [∫ rᵀ dm, m]], is positive semidefinite exactly if a distribution of mass has
it (Wensing, Kim and Slotine 2018, *IEEE Robotics and Automation Letters* 3(1)). Of such links the nearest to the file's that have
the base parameters are found along the central path of a log-determinant barrier (Boyd and Vandenberghe, *Convex Optimization*,
chapter 11), by Newton steps damped as for self-concordant functions.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
from scipy.linalg import null_space

from armsim import document
from armsim.arm.robot import Robot
from armsim.arrays import Array, Mask
from armsim.document.writing import rewritten, said
from armsim.dynamics.regressor import PARAMETERS
from armsim.errors import UsageError
from armsim.files.new_file import output_file
from armsim.identification.unseen import independent, stacked_regressor
from armsim.loading import Given, Overrides, build_robot, load_robot_file
from armsim.records import record
from armsim.spatial import Inertia, Symmetric, Vector

COMPONENTS = PARAMETERS[4:10]
PATH = tuple(10.0**k for k in range(7))  # weights beside the barrier
NEWTON, NEAR = 50, 0.25  # steps at most, and the Newton decrement from which they are whole
CENTRED = 1e-8  # a Newton decrement
ROUNDING = 1e-9  # of one that is not negative
SAME = 1e-12  # of a link's scale: it stays as it is written
LEAST_MASS, LEAST_RADIUS = 1e-3, 0.05  # of the scale of a link: of all mass, and m
NOTHING = 1e-15  # of a moment of inertia, and m of a centre
INSIDE = 1e-3  # least eigenvalue of scaled pseudo-inertias to begin with
ROUND = np.array([1.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 0.0, 0.0, 0.0, 1.0])  # whose pseudo-inertia is 1
RIDGE = 1e-3  # how much it counts to be near the file's, against an interval
SPLIT = (3, 3)  # of a pseudo-inertia: the mass


def _pseudo_inertias() -> Array:
    """What a unit of each of the first ten `PARAMETERS` is in a pseudo-inertia, shape (10, 4, 4)."""
    found = np.zeros((10, 4, 4))
    found[0][SPLIT] = 1.0
    for k in range(3):
        found[1 + k, k, 3] = found[1 + k, 3, k] = 1.0
        found[4 + k, :3, :3] = 0.5 * np.eye(3)
        found[4 + k, k, k] = -0.5
    for k, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        found[7 + k, i, j] = found[7 + k, j, i] = -1.0
    return found


UNITS = _pseudo_inertias()


@record
class ConsistentInertias:
    """A choice of inertial parameters.

    Attributes:
        parameters: Of each link in turn, `PARAMETERS`, payload included, shape (11 k,).
        changed: Names of the links whose parameters are not the file's.
        off: By how much of their intervals the base parameters are off those that were asked for; 0 where links can have these.
    """

    parameters: Array
    changed: tuple[str, ...]
    off: float = 0.0


def base_matrix(robot: Robot) -> Array:
    """The combinations of inertial parameters that joint forces show, shape (r, 11 k), in the order of `PARAMETERS`."""
    return independent(stacked_regressor(robot))[1]


def consistent_inertias(robot: Robot, base: Array | None = None, intervals: Array | None = None) -> ConsistentInertias:
    """Inertial parameters near the file's with given base parameters, such that every link and payload can exist.

    Args:
        robot: The arm.
        base: Values of the rows of `base_matrix`; the file's own unless given.
        intervals: What turns changes of these values into shares of the intervals of what was found, shape (p, r): where no
            masses and inertias have the base parameters, the nearest are taken.

    Raises:
        UsageError: No masses and inertias have these base parameters, and no intervals are given.
    """
    links, rows, own = robot.arm.links, base_matrix(robot), robot.inertial_parameters.reshape(-1, 11)
    carried = own - np.array([_listed(link.inertia, link.armature) for link in links], dtype=float)
    free = np.array([link.motor is not None for link in links])
    spread, total = own[:, 4:7].sum(axis=1) / 2, max(float(own[:, 0].sum()), LEAST_MASS)
    of_spread = total / max(float(spread.sum()), LEAST_MASS)
    usual = np.where(own[:, 0] > 0.0, own[:, 0], spread * of_spread)  # of a link without mass as of all
    mass = np.maximum(usual, LEAST_MASS * total)
    radius = np.sqrt(np.maximum(spread / mass, LEAST_RADIUS**2))
    scale = mass[:, None] * radius[:, None] ** np.array([0, 1, 1, 1, *[2] * 7])
    rows = rows * scale.ravel()
    wanted = rows @ (own / scale).ravel() if base is None else np.asarray(base, float)
    sizes = np.linalg.norm(rows, axis=1)
    rows, wanted = rows / sizes[:, None], wanted / sizes
    start, extra = own / scale, carried / scale
    found = _nearest(rows, wanted, np.column_stack([usual / mass, start[:, 1:]]), extra, free)
    off = 0.0
    if found is None and intervals is not None:
        told = intervals * sizes
        found = _closest(told @ rows, told @ wanted, start, extra, free)
        off = float(np.abs(told @ (rows @ found.ravel() - wanted)).max())
    if found is None:
        expected = "base parameters that some masses and inertias have"
        raise UsageError.of("base parameters", expected, "others", "estimate masses and inertias of the file instead")
    differs = np.abs(found - start).max(axis=1) > SAME
    parameters = np.where(differs[:, None], found * scale, own)
    names = tuple(link.name for link, x in zip(links, differs, strict=True) if x)
    return ConsistentInertias(parameters.ravel(), names, off)


def _nearest(rows: Array, wanted: Array, start: Array, extra: Array, free: Mask) -> Array | None:
    """Scaled parameters that have the base parameters, of links that can exist, near the start; None if there are none.

    Args:
        rows: Base parameters by parameters, shape (r, 11 k).
        wanted: Their values, shape (r,).
        start: Parameters, shape (k, 11).
        extra: The part of them that is payload, likewise.
        free: Which links have a motor, whose armature may change, shape (k,).
    """
    fixed = np.eye(start.size)[10::11][~free]
    rows, wanted = np.concatenate([rows, fixed]), np.concatenate([wanted, start[~free, 10]])
    nearest = start.ravel() + np.linalg.lstsq(rows, wanted - rows @ start.ravel(), rcond=None)[0]
    if np.abs(rows @ nearest - wanted).max() > ROUNDING:
        return None
    begin = _blocks(nearest.reshape(start.shape) - extra, free)
    least = float(np.linalg.eigvalsh(begin).min())
    if least >= -ROUNDING:
        return nearest.reshape(start.shape)
    directions = null_space(rows).T.reshape(-1, *start.shape)
    # with s 1 added to all blocks, s as small as can be
    units = np.concatenate([[np.broadcast_to(np.eye(5), begin.shape)], [_blocks(x, free, 0.0) for x in directions]])
    x = np.zeros(len(units))
    x[0] = 1.0 - least
    for weight in PATH:
        if x[0] < 0.0:
            break
        x = _centred(np.diag([0.0] + [1.0] * (len(x) - 1)), weight * np.eye(len(x))[0], units, begin, x)
    if x[0] >= 0.0:
        return None
    x, offset = x[1:], np.tensordot(directions, nearest.reshape(start.shape) - start, 2)
    for weight in PATH:
        x = _centred(weight * np.eye(len(x)), weight * offset, units[1:], begin, x)
    return nearest.reshape(start.shape) + np.tensordot(x, directions, 1)


def _closest(rows: Array, wanted: Array, start: Array, extra: Array, free: Mask) -> Array:
    """Scaled parameters of links that can exist with the least sum of squares of rows p - wanted; see `_nearest`."""
    least = float(np.linalg.eigvalsh(_blocks(start - extra, free)).min())
    begin = start + max(INSIDE - least, 0.0) * np.where(free[:, None], ROUND, ROUND * (np.arange(11) < 10))
    directions = np.eye(start.size)[np.where(np.tile(np.arange(11) < 10, len(free)) | np.repeat(free, 11))[0]]
    directions = directions.reshape(-1, *start.shape)
    units = np.array([_blocks(x, free, 0.0) for x in directions])
    columns, left = rows @ directions.reshape(len(directions), -1).T, rows @ begin.ravel() - wanted
    Q, b = columns.T @ columns + RIDGE * np.eye(len(units)), columns.T @ left
    b += RIDGE * np.tensordot(directions, begin - start, 2)
    x, weight, blocks = np.zeros(len(units)), 1.0 / (1.0 + float(left @ left)), _blocks(begin - extra, free)
    while weight < PATH[-1]:
        x, weight = _centred(weight * Q, weight * b, units, blocks, x), weight * PATH[1]
    return np.asarray(begin + np.tensordot(x, directions, 1))


def _blocks(parameters: Array, free: Mask, without: float = 1.0) -> Array:
    """Pseudo-inertias, and armatures of links with a motor beside them, shape (k, 5, 5)."""
    found = np.zeros((len(parameters), 5, 5))
    found[:, :4, :4] = np.tensordot(parameters[:, :10], UNITS, 1)
    found[:, 4, 4] = np.where(free, parameters[:, 10], without)
    return found


def _centred(Q: Array, b: Array, units: Array, begin: Array, x: Array) -> Array:
    """The least of ½ xᵀ Q x + bᵀ x - log det (begin + Σ units x), from an x within the barrier."""
    for _ in range(NEWTON):
        relative = np.linalg.inv(begin + np.tensordot(x, units, 1)) @ units
        slope = Q @ x + b - np.einsum("vkii->v", relative)
        curvature = Q + np.einsum("vkij,wkji->vw", relative, relative)
        size = np.sqrt(np.maximum(np.diag(curvature), np.finfo(float).tiny))  # by which the steps' sizes differ
        step = -np.linalg.lstsq(curvature / np.outer(size, size), slope / size, rcond=None)[0] / size
        decrement = math.sqrt(max(float(-slope @ step), 0.0))
        x = x + (step / (1.0 + decrement) if decrement > NEAR else step)
        if decrement < CENTRED:
            break
    return x


def _listed(inertia: Inertia, armature: Any) -> list[Any]:
    J = inertia.J
    return [inertia.mass, *inertia.h, J.xx, J.yy, J.zz, J.xy, J.xz, J.yz, armature]


def with_inertias(robot: document.Robot, arm: Robot, found: ConsistentInertias, folder: str) -> Any:
    """The robot file as plain data, with the chosen inertia as the one body of each link that changes, and its rotor's.

    Args:
        robot: The file, as read.
        arm: Its arm.
        found: The choice, payload included.
        folder: Where it will be, from which it names other files.
    """
    data = said(robot, folder)
    carried = arm.inertial_parameters.reshape(-1, 11)
    for i, link in enumerate(arm.arm.links):
        if link.name not in found.changed:
            continue
        own = np.array(_listed(link.inertia, link.armature), float) + found.parameters.reshape(-1, 11)[i] - carried[i]
        mass, h, J, armature = float(own[0]), Vector(*own[1:4].tolist()), Symmetric(*own[4:10].tolist()), float(own[10])
        back = link.frame.inverse
        body = Inertia(mass, h, J).moved(back.rotation, back.position)
        moments = [getattr(body.J, name.lower()) for name in COMPONENTS]
        least = NOTHING * max(map(abs, moments))
        tensor = {name.lower(): x if abs(x) > least else 0.0 for name, x in zip(COMPONENTS, moments, strict=True)}
        center = [x / mass if abs(x) > NOTHING * mass else 0.0 for x in body.h]
        joint = data["joints"][i]
        joint["bodies"] = [{"inertia": {"mass": mass, "center": center, "about": "origin", **tensor}}]
        if link.motor is not None and not math.isclose(armature, link.armature, rel_tol=SAME):
            joint["motor"]["rotor_inertia"] = max(armature, 0.0) / float(link.motor.gear) ** 2
    return data


def write_consistent(robot: Given, overrides: Overrides | None, path: str) -> tuple[str, ...]:
    """Write a robot file whose links can exist, with the base parameters of another; the names of links that differ.

    Raises:
        FileFaults: The robot cannot be used.
        UsageError: No such links have its base parameters, or the file cannot be written.
    """
    read = load_robot_file(robot, overrides).document
    arm = Robot(build_robot(read), "python")
    found = consistent_inertias(arm)
    text = rewritten(read, with_inertias(read, arm, found, os.path.dirname(os.path.abspath(path))))
    with output_file(path) as file:
        file.write(text.encode())
    return found.changed
