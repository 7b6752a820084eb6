"""From `control.reference` of a file to a motion, and back to data that read as the same motion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from armsim import document
from armsim.control import Reference
from armsim.document.base import plain
from armsim.document.motion_file import MotionTables
from armsim.document.reference import LIMITS, OSCILLATIONS
from armsim.expr import Scalar, Scalars
from armsim.files.faults import Fault
from armsim.formulas.quantity import Quantity
from armsim.loading.frames import RADIANS, JointUnits
from armsim.loading.signals import build_signal
from armsim.model import Arm
from armsim.references import (
    Chirp,
    Formulas,
    Limits,
    Multisine,
    PiecewisePolynomial,
    PointToPoint,
    Sinusoid,
    cubic,
    cubic_spline,
    fastest_cubic,
    fastest_quintic,
    fastest_s_curve,
    fastest_trapezoid,
    interpolated,
    minimum_jerk,
    quintic,
    spline_within,
    steps,
    through_rows,
    trapezoid,
    within_limits,
    within_times,
)

SCALINGS = {"cubic": cubic, "quintic": quintic, "trapezoid": trapezoid}
FASTEST = {
    "cubic": fastest_cubic,
    "quintic": fastest_quintic,
    "minimum_jerk": fastest_quintic,
    "trapezoid": fastest_trapezoid,
    "jerk_limited": fastest_s_curve,
}
DriveLimit = tuple[str, Sequence[Scalar | None]]  # what commands of the drives are, and the greatest of each joint's
NO_TIME = 1e-9  # relative, of times
NEARLY = 1e-4  # relative, of joint velocities: as messages write them
ORDERS = {"linear": 1, "cubic": 3, "quintic": 5}
ANGLES = (
    "speed",
    "acceleration",
    "jerk",
    "amplitude",
    "offset",
)  # keys with a number per joint, in degrees where angles are


def build_reference(
    reference: document.Reference,
    parameters: Mapping[str, Scalar],
    arm: Arm,
    units: JointUnits,
    initial_q: Scalars,
    limit: DriveLimit,
) -> Reference:
    """The motion of a scenario's `control.reference`.

    Args:
        reference: As the file has it, settled.
        parameters: The scenario's, by name.
        arm: The arm, n joints.
        units: Of the file.
        initial_q: Joint positions at the start [rad or m], n scalars.
        limit: Of the drives' commands.
    """
    if reference.fastest:
        return _fastest(reference, arm, units, initial_q, limit)
    if reference.rows is not None:
        return _recorded(reference.rows)
    if reference.q is not None:
        return Formulas(tuple(build_signal(q, parameters) for q in reference.q), units.si([1.0] * arm.n))
    if reference.of_tool:
        from armsim.loading.tool_reference import build_tool_motion  # which takes numpy

        profile = reference.joined_by
        laws = SCALINGS.get(profile, quintic), FASTEST[profile]
        return build_tool_motion(reference, arm, units, initial_q, *laws)
    x = _in_si(reference, units)
    if x.profile in OSCILLATIONS:
        return _oscillation(x, units.angle, initial_q)
    points = [units.si(point) for point in x.via]
    return _timed(x, points, initial_q) if x.times is not None else _limited(x, points, initial_q)


def _timed(x: document.Reference, points: list[tuple[Scalar, ...]], initial_q: Scalars) -> Reference:
    """Points at given times; the first time decides whether the motion begins there, or at the initial pose at t = 0."""
    times = list(x.times)
    if not document.Reference.times.item.means_absent(times[0]):
        points, times = [tuple(initial_q), *points], [0.0, *times]
    profile = x.joined_by
    if profile in SCALINGS:
        return within_times(points, times, SCALINGS[profile])
    if profile == "spline":
        return cubic_spline(points, times, x.ends or "clamped")
    return minimum_jerk(points, times) if profile == "minimum_jerk" else steps(points, times)


def _limited(x: document.Reference, points: list[tuple[Scalar, ...]], initial_q: Scalars) -> Reference:
    """Points as fast as the joints' limits allow, from the initial pose on."""
    points = [tuple(initial_q), *points]
    begin = 0.0 if x.start is None else x.start
    limits = Limits(x.speed, x.acceleration, x.jerk)
    profile = x.joined_by
    return (
        spline_within(points, begin, limits)
        if profile == "spline"
        else within_limits(points, begin, limits, FASTEST[profile])
    )


def _oscillation(x: document.Reference, angle: float, initial_q: Scalars) -> Reference:
    offset = tuple(initial_q) if x.offset is None else x.offset
    if x.profile == "chirp":
        return Chirp(offset, x.amplitude, x.frequency, x.end_frequency, x.duration, x.sweep or "linear")
    phase = (0.0,) * len(offset) if x.phase is None else tuple(phase * angle for phase in x.phase)
    if x.profile == "sinusoid":
        return Sinusoid(offset, x.amplitude, x.frequency, phase)
    return Multisine(offset, x.amplitude, x.frequencies, phase)


def _fastest(
    reference: document.Reference, arm: Arm, units: JointUnits, initial_q: Scalars, limit: DriveLimit
) -> Reference:
    """The fastest motion along the path that a reference describes; see `build_reference`."""
    from armsim.loading.fastest_reference import FastestReference  # which takes numpy
    from armsim.loading.tool_reference import ToolPath

    x = reference if reference.of_tool else _in_si(reference, units)
    fastest = FastestReference(x, arm, *limit)
    if reference.of_tool:
        return fastest.of_tool(ToolPath(x, arm, units), initial_q)
    if reference.rows is not None:
        points = list(zip(*(column.y for column in reference.rows.q), strict=True))
        return fastest.along(points, True, ORDERS[reference.rows.interpolation])
    points = [tuple(initial_q), *map(units.si, reference.via)]
    return fastest.along(points, reference.profile == "spline", None)


def _in_si(reference: document.Reference, units: JointUnits) -> document.Reference:
    """A reference with its quantities of joints but for points in rad or m."""
    given = {key: reference.entries[key] for key in ANGLES if reference.entries[key] is not None}
    return reference.replaced(**{key: units.si(values) for key, values in given.items()})


def _recorded(rows: MotionTables) -> Reference:
    """The rows of a file: met with their velocities and accelerations, else joined by a spline."""
    q, qd, qdd = ([column.y for column in columns] if columns else None for columns in (rows.q, rows.qd, rows.qdd))
    assert q is not None
    times = rows.q[0].x
    return interpolated(times, q, ORDERS[rows.interpolation]) if qd is None else through_rows(times, q, qd, qdd)


def in_words(reference: document.Reference, motion: Reference) -> str:
    """A reference in a few words.

    Args:
        reference: As the file has it.
        motion: Built from it.
    """
    knots: Scalars = getattr(motion, "knots", [])
    end = f", until {float(knots[-1]):.6g} s" if knots else ""
    if reference.fastest:
        return f"the fastest motion along {reference.frame or 'the tool' if reference.of_tool else 'its'} path{end}"
    if reference.file is not None:
        return f"rows of {reference.file.path}{end}"
    if reference.q is not None:
        return "formulas of the time"
    if reference.of_tool:
        return f"a path of {reference.frame or 'the tool'}{end}"
    if reference.via is None:
        return f"{reference.profile}{end}"
    many = len(reference.via)
    within = " within limits" if reference.times is None else ""
    return f"{reference.joined_by.replace('_', ' ')}, {many} point{'s' if many > 1 else ''}{within}{end}"


def cut_short(reference: document.Reference, motion: Reference, duration: float) -> Iterator[Fault]:
    """A warning of points that a run does not reach.

    Args:
        reference: As the file has it.
        motion: Built from it.
        duration: Of the run [s].
    """
    if not reference.of_tool and not reference.fastest and not isinstance(motion, (PiecewisePolynomial, PointToPoint)):
        return
    end = float(getattr(motion, "knots", [])[-1])
    if end > duration * (1.0 + NO_TIME):
        points = reference.via or [reference.line or reference.arc or ((reference.path or [reference])[-1],)]
        last = (points[-1][0] if reference.times is None else reference.times[-1]).place
        expected = f"an end of the motion within the duration, {duration:g} s"
        mend = f"write `duration: {math.ceil(end)}`, or a faster motion"
        yield Fault(last, "control.reference", expected, f"its end at {end:g} s", mend)


def starts_otherwise(
    reference: document.Reference, motion: Reference, qd: Scalars, units: JointUnits
) -> Iterator[Fault]:
    """A warning of joint velocities at the start that are not those of a fastest motion which begins with a speed.

    Args:
        reference: As the file has it.
        motion: Built from it.
        qd: At the start of the run [rad/s or m/s].
        units: Of the file.
    """
    if not reference.path_speeds or reference.start:
        return
    needed = motion.at(0.0).qd
    if math.dist(qd, needed) > NEARLY * math.hypot(*needed):
        own = ", ".join(f"{x / unit:.5g}" for x, unit in zip(needed, units.si([1.0] * len(qd)), strict=True))
        place, expected = reference.place_of("path_speeds"), "a run that begins with the first of them"
        mend = f"write `initial: {{qd: [{own}]}}`"
        yield Fault(place, "control.reference.path_speeds", expected, "another `initial.qd`", mend)


def resolved_reference(reference: document.Reference, units: JointUnits) -> document.Reference:
    """A reference in full, angles in radians.

    Args:
        reference: As read.
        units: Of its file.
    """
    if reference.rows is not None:
        interpolation = None if reference.rows.qd else reference.rows.interpolation
        file = reference.portable
        own = {key: reference.entries[key] for key in ("fastest", "margin", "path_speeds", "start")}
        own |= {key: units.si(plain(x)) for key in LIMITS if (x := reference.entries[key]) is not None}
        return document.Reference(csv=file.csv, interpolation=interpolation, sha256=file.sha256, **own)
    found = {key: plain(value) for key, value in reference.items() if value is not None and key != "q"}
    if units.degrees:
        found |= {
            key: units.si(found[key]) for key in ANGLES if key in found and not (reference.of_tool and key in LIMITS)
        }
        found |= {"phase": [x * RADIANS for x in found["phase"]]} if "phase" in found else {}
        found |= {"via": [*map(units.si, found["via"])]} if "via" in found else {}
        for move in (found, *found.get("path", ())):
            if "rpy" in move:
                move["rpy"] = [x * RADIANS for x in move["rpy"]]
            if "joints" in move:
                move["joints"] = units.si(move["joints"])
            if "angular_speed" in move:
                move["angular_speed"] *= RADIANS
    if "via" in found:
        found.pop("profile", None)  # it is written last, whether or not the file names it
        if not reference.fastest or reference.profile is not None:
            found |= {"profile": reference.joined_by}
    if reference.q is not None:
        found["q"] = [
            _formula(x, units.degrees and joint.kind.turns) for x, joint in zip(reference.q, units.joints, strict=True)
        ]
    return document.Reference(**found)


def _formula(x: Quantity, degrees: bool) -> Any:
    """A number in radians, or the text of a formula of the time, which is evaluated to the same bits."""
    if not x.varies:
        return x.value * RADIANS if degrees else x.value
    return f"({x.text})*(pi/180)" if degrees else x.text
