"""What the figures of merit of a run say went wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Literal, get_args

from armsim.control import OperationalSpace
from armsim.measures.settling import SHARE
from armsim.model.angles import POSITION
from armsim.records import PARTS, record
from armsim.simulation.joint_summary import JointSummary
from armsim.simulation.merit import TimeAtLimit, travels, way
from armsim.simulation.result import Result

LASTING = 0.01  # of a run: time at a limit that counts as trouble
ROUNDING = 1e-12  # rad or m: a reference that travels less is held
FOLLOWED = 0.1  # of the reference's travel: the root mean square error of a joint that follows it
DROOPED = 1.1  # times the droop that gravity leaves: a steady error that it explains


@record
class LongAtLimit:
    """A drive that is at a limit for long.

    Attributes:
        joint: Its joint.
        which: The kind of limit.
        at: How long.
        at_end: Whether it is at the end.
    """

    kind: Literal["limit"]
    joint: str
    which: str
    at: TimeAtLimit = field(metadata=PARTS)
    at_end: bool


@record
class OverNominalCurrent:
    """A motor that takes more than its nominal current.

    Attributes:
        joint: Its joint.
        rms: Its current, root mean square [A].
        nominal: The nominal current [A].
    """

    kind: Literal["nominal_current"]
    joint: str
    rms: float
    nominal: float


@record
class HotWinding:
    """A winding that becomes too warm.

    Attributes:
        joint: Of its motor.
        peak: Its highest temperature [°C].
        max: The highest that it may have [°C].
    """

    kind: Literal["winding"]
    joint: str
    peak: float
    max: float


@record
class NotFollowed:
    """A joint that does not follow its reference.

    Attributes:
        joint: Its name.
        rms: Its error, root mean square [rad or m].
        travel: Of the reference [rad or m].
    """

    kind: Literal["not_followed"]
    joint: str
    rms: float = field(metadata=POSITION)
    travel: float = field(metadata=POSITION)


@record
class Unsettled:
    """A joint that has not settled.

    Attributes:
        joint: Its name.
        error: At the end [rad or m].
        band: In which it would have settled [rad or m].
    """

    kind: Literal["unsettled"]
    joint: str
    error: float = field(metadata=POSITION)
    band: float = field(metadata=POSITION)


Problem = LongAtLimit | OverNominalCurrent | HotWinding | NotFollowed | Unsettled
GRAVITY = get_args(Problem)  # the gravest kind first


def problems(run: Result, joints: Sequence[JointSummary], saturated: Sequence[str]) -> list[Problem]:
    """What the figures say went wrong, the gravest first.

    Args:
        run: The run.
        joints: Its joints.
        saturated: Joints whose drive is at a limit at the end.
    """
    found: list[Problem] = []
    of_joints = not isinstance(getattr(run.plant.command, "law", None), OperationalSpace)  # else the tool follows
    for i, (entry, joint, travel) in enumerate(zip(joints, run.plant.arm.joints, travels(run), strict=True)):
        figures, motor = entry.figures, joint.motor
        if figures is None:
            continue
        limits = {kind: at for kind, at in figures.limits.items() if kind != "stop"}
        for kind, at in limits.items():
            at_end = joint.name in saturated
            if at.share >= LASTING or (at_end and len(limits) == 1):
                found.append(LongAtLimit("limit", joint.name, kind, at, at_end))
        rms, nominal = figures.rms_current, None if motor is None else motor.nominal_current
        if nominal is not None and rms is not None and (figures.of_nominal or 0.0) > 1:
            found.append(OverNominalCurrent("nominal_current", joint.name, rms, float(nominal)))
        thermal, peak = None if motor is None else motor.thermal, figures.peak_winding_temperature
        if thermal is not None and thermal.max is not None and peak is not None and peak > thermal.max:
            found.append(HotWinding("winding", joint.name, peak, float(thermal.max)))
        off = figures.rms_error
        if travel > ROUNDING and off is not None and off > FOLLOWED * travel and of_joints:
            found.append(NotFollowed("not_followed", joint.name, off, travel))
        band, error = SHARE * abs(way(run, i)), abs(entry.error or 0.0)
        explained = band + DROOPED * abs(entry.droop or 0.0)
        if not travel and figures.settling_time == math.inf and error > explained:
            found.append(Unsettled("unsettled", joint.name, error, band))
    return sorted(found, key=lambda problem: GRAVITY.index(type(problem)))
