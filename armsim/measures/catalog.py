"""All kinds of measures that have a name of their own, and the aggregates of formulas."""

from __future__ import annotations

from collections.abc import Callable

from armsim.actuation import LIMITS
from armsim.expr import absolute
from armsim.measures.aggregates import (
    Final,
    First,
    Largest,
    Mean,
    Peak,
    RootMeanSquare,
    Smallest,
    TimeIntegral,
    TimeOf,
)
from armsim.measures.contact import CONTACT_TIME, contact_time
from armsim.measures.distance import nearest
from armsim.measures.disturbance import disturbance_peak, recovery_time
from armsim.measures.drive import chatter, peak_torque, rms_rate_of_command, rms_torque
from armsim.measures.effort import PeakWindingTemperature, WindingTemperature, rms_current, temperature
from armsim.measures.energy import energy, exchanged, work_by
from armsim.measures.kind import MeasureKind
from armsim.measures.limits import beyond, first_while, limited, nearest_limit, saturated, share_of, time_while
from armsim.measures.measure import Measure, Quantities
from armsim.measures.overshoot import overshoot
from armsim.measures.pose import pose
from armsim.measures.rise import rise_time
from armsim.measures.settling import settling_time
from armsim.measures.tracking import error, integral, of_errors, of_frame_error
from armsim.records import record


def _of(kind: str) -> str:
    return "the command's `limit`" if kind == "command" else f"the motor's limit of {kind}"


KINDS: dict[str, MeasureKind] = {
    "duration": MeasureKind(
        "the time reached", "s", lambda request: Final((request.name,), ("s",), lambda end: [end.t]), "arm"
    ),
    "pose": MeasureKind(
        "the tool in the world at the end, as in trajectory.csv: `x_m` `y_m` `z_m` `qw` `qx` `qy` `qz`",
        "m, 1",
        pose,
        "frame",
    ),
    "energy": MeasureKind("at the end: `kinetic_energy_J` and `potential_energy_J`", "J", energy, "arm"),
    "error": MeasureKind(
        "final error, target - q; of the arm the largest magnitude among its joints", "rad or m", error
    ),
    "iae": MeasureKind(
        "integral of the absolute error |target - q|; of the arm the sum over its joints",
        "rad·s or m·s",
        integral("{}·s", lambda t, e: absolute(e)),
    ),
    "ise": MeasureKind(
        "integral of the squared error, likewise", "rad²·s or m²·s", integral("{}²·s", lambda t, e: e * e)
    ),
    "itae": MeasureKind(
        "integral of time times absolute error, likewise",
        "rad·s² or m·s²",
        integral("{}·s²", lambda t, e: t * absolute(e)),
    ),
    "rms_error": MeasureKind(
        "root of the mean square of target - q over time; of the arm the largest of its joints'",
        "rad or m",
        of_errors(RootMeanSquare),
    ),
    "peak_error": MeasureKind(
        "largest |target - q|; of the arm the largest of its joints'", "rad or m", of_errors(Peak)
    ),
    "rms_tool_error": MeasureKind(
        "root of the mean square of the distance from the tool to where it would be at the target",
        "m",
        of_frame_error(RootMeanSquare),
        "frame",
    ),
    "peak_tool_error": MeasureKind("largest such distance", "m", of_frame_error(Peak), "frame"),
    "least_distance": MeasureKind(
        "least distance of links from each other and from the world, see docs/collision.md", "m", nearest, "arm"
    ),
    CONTACT_TIME: MeasureKind(
        "time for which a contact is closed: to the instants of touch and lift, of methods that locate events; of the arm one"
        " number per contact",
        "s",
        contact_time,
        "contact",
    ),
    "rise_time": MeasureKind(
        "from when q is first a tenth of its way from start to goal to when it is first nine tenths of it; infinite if it"
        " never is, 0 without a way to go; of the arm the longest of its joints'",
        "s",
        rise_time,
    ),
    "settling_time": MeasureKind(
        "the last time at which |target - q| is above 2 % of |goal - start|, or above a band [rad or m] in brackets:"
        " `settling_time(1e-3)`; infinite where it is at the end; of the arm the latest of its joints'",
        "s",
        settling_time,
        banded=True,
    ),
    "overshoot": MeasureKind(
        "how far q goes beyond the goal, as a share of |goal - start|; 0 if it does not, or if it starts there;"
        " of the arm the largest of its joints'",
        "1",
        overshoot,
    ),
    "time_at_limit": MeasureKind(
        "time for which a limit of the drive acts: of the command, or of voltage, current, torque or speed of the motor;"
        " of the arm, on any joint",
        "s",
        time_while(saturated),
    ),
    "first_at_limit": MeasureKind("when one first acts; infinite if none does", "s", first_while(saturated)),
    **{
        f"{word}_at_{kind}_limit": MeasureKind(f"the same of {_of(kind)} alone", "s", make(limited(kind)))
        for kind in LIMITS
        for word, make in (("time", time_while), ("first", first_while))
    },
    **{
        f"share_of_{kind}_limit": MeasureKind(
            f"largest share of {_of(kind)} that is used; of the arm the largest of its joints'", "1", share_of(kind)
        )
        for kind in LIMITS
    },
    **{f"nearest_{kind}_limit": MeasureKind("when that is", "s", nearest_limit(kind)) for kind in LIMITS},
    "time_at_stop": MeasureKind(
        "time outside the joint's range, whether or not it has stops; of the arm, of any joint", "s", time_while(beyond)
    ),
    "first_at_stop": MeasureKind("when the joint is first outside; infinite if it never is", "s", first_while(beyond)),
    "disturbance_peak": MeasureKind(
        "largest deviation of target - q from what it was when an external force began, over all of them; of the arm the"
        " largest of its joints'",
        "rad or m",
        disturbance_peak,
    ),
    "recovery_time": MeasureKind(
        "from the beginning of the last external force to the last time at which that deviation is above 5 % of its peak, or"
        " above a band [rad or m] in brackets: `recovery_time(1e-3)`; infinite where it is at the end; of the arm of any joint",
        "s",
        recovery_time,
        banded=True,
    ),
    "peak_torque": MeasureKind(
        "largest magnitude of `tau_motor`; of the arm one number per joint", "N·m or N", peak_torque
    ),
    "rms_torque": MeasureKind("root of its mean square over time, likewise", "N·m or N", rms_torque),
    "rms_rate_of_command": MeasureKind(
        "root of the mean square of the rate of the drive's command; sampled, of the jumps between samples over the period;"
        " of the arm one number per joint",
        "V/s, A/s, N·m/s or N/s",
        rms_rate_of_command,
    ),
    "chatter": MeasureKind(
        "total variation of the drive's command over the time: how far it goes in a second, up and down alike; likewise",
        "V/s, A/s, N·m/s or N/s",
        chatter,
    ),
    "rms_current": MeasureKind(
        "root of the mean square of `current`, which heats the motor; of the arm one number per electric motor",
        "A",
        rms_current,
    ),
    "winding_temperature": MeasureKind(
        "temperature of the motor's winding at the end, by its `thermal`; of the arm one number per motor that has it",
        "°C",
        temperature(WindingTemperature),
    ),
    "peak_winding_temperature": MeasureKind("highest temperature, likewise", "°C", temperature(PeakWindingTemperature)),
    "work_motors": MeasureKind("work of motors and ideal drives on the arm", "J", work_by("motors"), "arm"),
    "work_friction": MeasureKind("work of friction of all kinds, not positive", "J", work_by("friction"), "arm"),
    "work_stops": MeasureKind("work of the joints' stops", "J", work_by("stops"), "arm"),
    "work_external": MeasureKind("work of external forces", "J", work_by("external"), "arm"),
    "energy_drawn": MeasureKind(
        "electrical energy that the motor draws: integral of the positive part of `power`; of the arm that of the sum of all"
        " motors' `power`, as one motor may feed another",
        "J",
        exchanged(1.0),
    ),
    "energy_fed_back": MeasureKind(
        "electrical energy that it regenerates: of the negative part, as a positive number; of the arm likewise",
        "J",
        exchanged(-1.0),
    ),
}


@record
class AggregateKind:
    """A function of how a formula varies over time.

    Attributes:
        doc: What it is, for docs/measures.md.
        make: Makes it, of names, units and quantities.
        unit: Its unit, of the formula's.
    """

    doc: str
    make: Callable[[tuple[str, ...], tuple[str, ...], Quantities], Measure]
    unit: Callable[[str], str] = lambda unit: unit


AGGREGATES: dict[str, AggregateKind] = {
    "max": AggregateKind("largest value", Largest),
    "min": AggregateKind("smallest value", Smallest),
    "peak": AggregateKind("largest magnitude, max(abs(f))", Peak),
    "time_of_max": AggregateKind(
        "time at which the largest value is first met",
        lambda names, units, of: TimeOf(names, units, Largest(names, units, of)),
        lambda unit: "s",
    ),
    "time_of_min": AggregateKind(
        "time at which the smallest value is first met",
        lambda names, units, of: TimeOf(names, units, Smallest(names, units, of)),
        lambda unit: "s",
    ),
    "integral": AggregateKind("integral over time", TimeIntegral, lambda unit: unit and f"{unit}·s"),
    "mean": AggregateKind("integral(f) / duration", Mean),
    "rms": AggregateKind("root of the mean square, sqrt(integral(f**2) / duration)", RootMeanSquare),
    "first": AggregateKind("value at the start", First),
    "final": AggregateKind("value at the end", Final),
}
