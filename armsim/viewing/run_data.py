"""The rows of a run as a page has them: poses of the arm, and curves, thinned so that no extreme is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from armsim.arrays import Array
from armsim.figures.drawn_run import DrawnRun
from armsim.figures.envelope import Points, Sum, curves_of, extremes
from armsim.figures.joint_motion import followed, positions, sampled, time_span
from armsim.figures.panels import Panel, Panels
from armsim.figures.style import look
from armsim.loading import read_scenario
from armsim.model import Arm
from armsim.records import Json
from armsim.viewing.arrays import Arrays

CONTACT_FORCES = ("normal_force", "frictionx", "frictiony", "frictionz")
MOST_POSES = 8192  # rows of joint positions, about


def run_data(run: DrawnRun, arm: Arm, arrays: Arrays, degrees: bool = False) -> Json:
    """A run as plain data.

    Args:
        run: The run.
        arm: Of it, n joints.
        arrays: Take its numbers; other numbers below are theirs.
        degrees: Whether curves of angles are in degrees.

    Returns:
        name, title, status, times [s], q (shape (m, n), rad or m), reference (q that is followed, shape (m, n), or (1, n) for a
        constant target; None without), forces (see `forces_of`), contacts (see `contact_forces`) and panels (see `panel_data`).

    Raises:
        UsageError: It has no rows, or lacks positions.
        FileFaults: A table is damaged.
    """
    joints, panels = positions(run, arm, "view"), Panels(run, "deg" if degrees else "").default()
    curves = curves_of(run, [*joints, *(c.value for panel in panels for c in (*panel.curves, *panel.references))])
    times = moments([curves[joint] for joint in joints], MOST_POSES)
    times = np.union1d(times, time_span(run))
    reference = followed(run, arm, times)
    made = []
    for panel in panels:
        shown = panel_data(panel)
        for part, own in (("curves", panel.curves), ("references", panel.references)):
            for data, curve in zip(shown[part], own, strict=True):
                data |= _points(curves.get(curve.value), arrays)
        made.append(shown)
    return {
        "name": run.name,
        "title": run.title,
        "status": run.status,
        "times": arrays.add(times, "f8"),
        "q": arrays.add(sampled(run, joints, times)),
        "reference": None if reference is None else arrays.add(reference),
        "forces": forces_of(run.data),
        "contacts": contact_forces(run, arm, times, arrays),
        "panels": made,
    }


def panel_data(panel: Panel) -> Json:
    """A panel as plain data: what `Panel` and its curves have, and label, joints, least, and the colour of each curve."""
    data = asdict(panel) | {key: getattr(panel, key) for key in ("label", "joints", "least")}
    for curve in (*data["curves"], *data["references"]):
        curve["color"] = look(curve["look"]).color
    return data


def _points(points: Points | None, arrays: Arrays) -> dict[str, int]:
    """Times and values of a curve; none of a constant."""
    return {} if points is None else {"t": arrays.add(points[0]), "y": arrays.add(points[1])}


def contact_forces(run: DrawnRun, arm: Arm, times: Array, arrays: Arrays) -> int | None:
    """Of each contact normal force and friction force along the world's axes [N] at some times; None without."""
    headings = [f"{part}_{contact.name}_N" for contact in arm.contacts for part in CONTACT_FORCES]
    if not headings or not {*headings}.issubset(run.headings):
        return None
    return arrays.add(sampled(run, [Sum(((heading, 1.0),)) for heading in headings], times))


def forces_of(scenario: Mapping[str, Any]) -> list[Json]:
    """The constant external forces of a scenario's data: link (its number), point in its frame [m], force [N], whether along
    axes of world or link, start and end [s] or None."""
    if not scenario.get("external"):
        return []
    read = read_scenario(dict(scenario))
    return [
        {
            "link": read.arm.link_of(wrench.at),
            "point": [float(x) for x in wrench.at.pose.position],
            "force": [float(x) for x in (wrench.force if along_world else wrench.at.pose.rotation @ wrench.force)],
            "frame": "world" if along_world else "link",
            "start": wrench.start,
            "end": wrench.end,
        }
        for wrench in read.external
        for along_world in [wrench.axes == "world"]
        if not wrench.follows
    ]


def moments(curves: Sequence[Points], most: int) -> Array:
    """The times of curves [s], or of many those at which one is least or greatest, about `most` at most."""
    times = np.unique(np.concatenate([t for t, _ in curves]))
    if len(times) <= most:
        return times
    group = -(-2 * sum(len(t) for t, _ in curves) // most)
    return np.unique(np.concatenate([extremes(np.stack(curve, axis=-1)[:, None], group)[:, 0, 0] for curve in curves]))
