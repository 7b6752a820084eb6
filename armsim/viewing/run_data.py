"""The rows of a run as a page has them: poses of the arm, and curves, thinned so that no extreme is lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armsim.errors import UsageError
from armsim.figures.animation import joint_sums, sampled
from armsim.figures.drawn_run import DrawnArm, DrawnRun
from armsim.figures.envelope import Sum, curves_of, sums_of
from armsim.figures.panels import Curve, Panel, Panels
from armsim.figures.style import look
from armsim.loading import read_scenario
from armsim.model import Arm
from armsim.plant.columns import spellings
from armsim.viewing.arrays import Arrays

Array = NDArray[np.float64]
MOST_POSES = 8192  # rows of joint positions, about


def arm_of(run: DrawnRun) -> DrawnArm:
    """The arm of a run, with the scenario's payload.

    Raises:
        UsageError: Nobody knows it.
    """
    found = run.drawn_arm()
    if found is None:
        mend = "name the folder that the run was written to"
        raise UsageError.of(run.name, "a run with its robot, in run.yaml", "no run.yaml", mend)
    return found


def run_data(run: DrawnRun, arm: Arm, arrays: Arrays, degrees: bool = False) -> dict[str, Any]:
    """A run as plain data.

    Args:
        run: The run.
        arm: Of it, n joints.
        arrays: Take its numbers; other numbers below are theirs.
        degrees: Whether curves of angles are in degrees.

    Returns:
        name, title, status, times [s], q (shape (m, n), rad or m), reference (q that is followed, shape (m, n), or (1, n) for a
        constant target; None without), forces (see `forces_of`) and panels (see `panel_data`).

    Raises:
        UsageError: It has no rows, or lacks positions.
        FileFaults: A table is damaged.
    """
    positions = joint_sums(run, arm, "q")
    if positions is None:
        mend = "view a run of armsim, whose trajectory has every joint"
        expected = f"columns of positions such as {spellings('q', arm.joints[0])[0][0]}"
        raise UsageError.of(run.name, expected, "none", mend)
    table = next(t for t in run.tables if all(heading in t.headings for s in positions for heading, _ in s.terms))
    rows = thinned(sums_of(table, positions), MOST_POSES)
    if not len(rows):
        raise UsageError.of(run.name, "a run with rows", "none", "run it for longer")
    times = rows[:, 0]
    followed, target = joint_sums(run, arm, "q_ref"), run.control("target", arm.n)
    if followed is not None:
        reference: Any = sampled(run, followed, times)
    else:
        reference = None if target is None else [target]
    panels = Panels(run, degrees).default()
    curves = curves_of(run, [c.value for panel in panels for c in (*panel.curves, *panel.references)])
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
        "q": arrays.add(rows[:, 1:]),
        "reference": None if reference is None else arrays.add(reference),
        "forces": forces_of(run.scenario),
        "panels": made,
    }


def panel_data(panel: Panel) -> dict[str, Any]:
    """A panel as plain data.

    Returns:
        kind, label, unit, joints (whether its curves are joints'), least (height), limits (pairs of a joint's number and the
        bound), and curves and references, each with of, look, color, terms (headings with factors) and constant.
    """
    return {
        "kind": panel.kind,
        "label": panel.label,
        "unit": panel.unit,
        "joints": panel.joints,
        "least": panel.least,
        "limits": [list(limit) for limit in panel.limits],
        "curves": [_curve(curve) for curve in panel.curves],
        "references": [_curve(curve) for curve in panel.references],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    value: Sum = curve.value
    named = {"of": curve.of, "look": curve.look, "color": look(curve.look).color}
    return {**named, "terms": [list(term) for term in value.terms], "constant": value.constant}


def _points(points: tuple[Array, Array] | None, arrays: Arrays) -> dict[str, int]:
    """Times and values of a curve; none of a constant."""
    return {} if points is None else {"t": arrays.add(points[0]), "y": arrays.add(points[1])}


def forces_of(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The external forces of a scenario's data: link (its number), point in its frame [m], force [N], frame, start and end [s]
    or None."""
    if not scenario.get("external"):
        return []
    return [
        {
            "link": wrench.link,
            "point": [float(x) for x in wrench.point],
            "force": [float(x) for x in wrench.force],
            "frame": wrench.frame,
            "start": wrench.start,
            "end": wrench.end,
        }
        for wrench in read_scenario(dict(scenario)).external
    ]


def thinned(blocks: Iterable[Array], most: int) -> Array:
    """About `most` rows at most of all, among them the first, the last, and those in which a column is least or greatest.

    Args:
        blocks: Rows, the time first; those that lack a number are left out.
        most: At least twice the number of columns.
    """
    kept: list[Array] = []
    waiting = 0
    for block in blocks:
        rows = block[np.isfinite(block).all(axis=1)]
        kept.append(rows)
        waiting += len(rows)
        if waiting > 8 * most:
            kept = [_extreme(kept, most)]
            waiting = len(kept[0])
    return _extreme(kept, most) if kept else np.empty((0, 1))


def _extreme(blocks: Sequence[Array], most: int) -> Array:
    rows = np.concatenate(blocks)
    count, width = len(rows), rows.shape[1] - 1
    if count <= most:
        return rows
    group = -(-2 * width * count // most)
    starts = np.arange(0, count, group)
    places = [part + starts[k] for k, start in enumerate(starts) for part in _ends(rows[start : start + group, 1:])]
    return rows[np.unique([0, *np.concatenate(places), count - 1])]


def _ends(values: Array) -> tuple[Array, Array]:
    """Places of the least and the greatest value of each column."""
    return values.argmin(axis=0), values.argmax(axis=0)
