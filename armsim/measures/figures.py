"""Figures of merit: the measures of every run's summary, gathered at some of its moments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from armsim.actuation import limit_kinds
from armsim.control import Controller
from armsim.expr import Scalar, Scalars, chosen
from armsim.measures.catalog import KINDS
from armsim.measures.kind import Request
from armsim.measures.measure import Measure
from armsim.measures.moment import Moment
from armsim.plant import Plant
from armsim.records import mutable_record, record

PREFIX = "figure "  # of names, to tell them from measures that are asked for
RESPONSE = ("rise_time", "overshoot", "settling_time")
TRACKING = ("rms_error", "peak_error", "iae", "ise", "itae")
TOOL = ("rms_tool_error", "peak_tool_error")
DISTURBANCE = ("disturbance_peak", "recovery_time")
ENERGY = ("energy_drawn", "energy_fed_back")
WINDING = ("winding_temperature", "peak_winding_temperature")
OF_JOINT = {  # all that a joint may have, with headings; the share of the nominal current is no measure
    **{"rise_time": "rise", "overshoot": "overshoot", "settling_time": "settles in"},
    **{"rms_error": "rms error", "peak_error": "peak error", "iae": "IAE", "ise": "ISE", "itae": "ITAE"},
    **{"disturbance_peak": "pushed by", "recovery_time": "back in"},
    **{"rms_torque": "rms torque", "rms_current": "rms current", "of_nominal": "of nominal"},
    **{"winding_temperature": "winding", "peak_winding_temperature": "hottest"},
    **{"energy_drawn": "drawn", "energy_fed_back": "fed back"},
}
MOMENTS = 500  # at which they are gathered, at least, where there are as many steps


@mutable_record
class Gathered:
    """Accumulators of figures, which serve runs from any start.

    Attributes:
        last: Time of the moment before [s].
        start: Joint positions at the start of the run [rad or m].
        parts: Those of the measures.
    """

    last: Scalar
    start: Scalars
    parts: list[Any]


@record
class Figures(Measure):
    """Measures at some of the moments, whatever the time between them.

    Attributes:
        parts: The measures.
        n: Number of joints.
    """

    parts: tuple[Measure, ...]
    n: int

    def begin(self) -> Gathered:
        return Gathered(0.0, [0.0] * self.n, [part.begin() for part in self.parts])

    def update(self, kept: Gathered, now: Moment) -> Gathered:
        start = chosen(now.t > 0.0, kept.start, list(now.q))
        now = now.after(kept.last, start)
        return Gathered(now.t, start, [part.update(x, now) for part, x in zip(self.parts, kept.parts, strict=True)])

    def result(self, kept: Gathered, end: Moment) -> Scalars:
        end = end.after(kept.last, kept.start)
        return [x for part, inner in zip(self.parts, kept.parts, strict=True) for x in part.result(inner, end)]


def figures_of(plant: Plant) -> Figures:
    """The figures of merit of a plant's runs: those that its command, external forces and motors give it.

    Their names are those of their measures behind `PREFIX`.
    """
    parts = []
    for kind, joint in _asked(plant):
        name = kind if joint is None else f"{kind}_{plant.arm.joints[joint].name}"
        parts.append(KINDS[kind].make(Request(name, plant, joint)))
    names = tuple(f"{PREFIX}{name}" for part in parts for name in part.names)
    return Figures(names, tuple(unit for part in parts for unit in part.units), tuple(parts), plant.arm.n)


def limits_of(plant: Plant) -> list[tuple[str, ...]]:
    """The kinds of limits that every joint's drive has under the plant's command."""
    command = plant.command
    if command is None:
        return [() for _ in plant.arm.joints]
    bounds = command.limit if isinstance(command, Controller) else (None,) * plant.arm.n
    return [
        (*(() if bound is None else ("command",)), *limit_kinds(joint))
        for joint, bound in zip(plant.arm.joints, bounds, strict=True)
    ]


def every(steps: int) -> int:
    """Steps between the moments at which figures are gathered."""
    return max(1, steps // MOMENTS)


def _asked(plant: Plant) -> Iterator[tuple[str, int | None]]:
    """Kinds of measures, and the joints that they are asked of; None for the whole arm."""
    joints, limits = plant.arm.joints, limits_of(plant)
    command = plant.command
    feedback = isinstance(command, Controller)
    ends = isinstance(command, Controller) and command.reference.ends
    fastest = isinstance(command, Controller) and bool(getattr(command.reference, "stages", ()))  # at limits all along
    if feedback:
        yield from ((kind, None) for kind in TOOL)
    if any(joint.electric_motor is not None for joint in joints):
        yield from ((kind, None) for kind in ENERGY)
    for i, joint in enumerate(joints):
        kinds = [*(RESPONSE if ends else ()), *(TRACKING if feedback else ())]
        kinds += DISTURBANCE if feedback and plant.external else ()
        motor = joint.electric_motor
        kinds += ["rms_torque"] if joint.motor is not None or plant.command is not None else []
        kinds += ["rms_current", *ENERGY] if motor is not None else []
        kinds += WINDING if motor is not None and motor.thermal is not None else ()
        kinds += [f"{word}_at_{kind}_limit" for kind in limits[i] for word in ("time", "first")]
        kinds += [f"{word}_{kind}_limit" for kind in limits[i] for word in ("share_of", "nearest")] if fastest else []
        kinds += ["time_at_stop", "first_at_stop"] if joint.limit is not None else []
        yield from ((kind, i) for kind in kinds)
