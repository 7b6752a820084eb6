"""Plausibility of an arm's numbers: warnings of probable mistakes.

Published parameter sets of real arms contain oddities (a link of mass zero, a tensor that violates the triangle inequality), so
these are no faults.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from armsim import document
from armsim.document.bodies import payload_bodies
from armsim.document.scenario import ADAPTIVE, AUTO
from armsim.dynamics import crba, pivots, two_mass_systems
from armsim.files.faults import Fault, join
from armsim.files.nodes import Place
from armsim.formulas.quantity import Quantity
from armsim.loading.build import build_body, build_tensor
from armsim.loading.motor_ratings import ratings_doubts
from armsim.loading.principal import principal_moments
from armsim.loading.scenario import Scenario
from armsim.loading.settle import settle
from armsim.loading.units import angle_doubts, mass_of, other_units, too_heavy
from armsim.model import Arm
from armsim.spatial import point_tensor

FAR = 2.0  # times the arm's length: a centre of mass or radius of gyration beyond is a slip of units
NEAR = 1.0  # m: never a slip, however short the arm; its last link's length is not known where no tool is given
LARGEST_PITCH = 0.5  # m: of ball screws up to 0.1, and more in millimetres
ROUNDING = 1e-3  # of the largest entry: tensors are published to three digits or so, and thin bodies lie on the bound
TRANSFER = 0.75  # of the largest moment: a tensor with more of mass × distance² in it was probably about the origin
SHORTEST_STEP = 1e-6  # s
SAMPLES = 10  # of a resonance, at least
PEAKLESS = math.sqrt(0.5)  # damping ratio from which on the amplitude has no peak
NO_TIME = 1e-9  # of the duration: rounding of times that are sums of steps


def doubts(
    arm: Arm,
    robot: document.Robot,
    path: str = "",
    payload: document.Document | None = None,
    payload_degrees: bool = False,
) -> list[Fault]:
    """Warnings: numbers that are valid, but improbable for a real arm.

    Args:
        arm: The arm, on numbers.
        robot: What it was built from.
        path: Of the robot, within another file.
        payload: A scenario's payload, in place of the robot's.
        payload_degrees: Whether the scenario's angles are degrees.
    """
    length = _length(arm)
    degrees = robot.degrees
    found: list[Fault] = []
    for i, joint in enumerate(robot.joints):
        where, link = join(path, f"joints[{i}]"), f"link {joint.name}"
        if not sum(float(build_body(settle(body)).mass) for body in joint.bodies) > 0:
            place = mass_of(joint.bodies[0]).place if joint.bodies else (joint.initial or joint).place
            mend = "give it a body with a mass, unless the source counts its mass with other links"
            found.append(Fault(place, where, "a link with a mass", f"{link} has mass 0", mend))
        for k, body in enumerate(joint.bodies):
            found += _of_body(body, f"{where}.bodies[{k}]", link, length, degrees)
        found += too_heavy({f"{where}.bodies[{k}]": body for k, body in enumerate(joint.bodies)}, link, length)
        found += _of_pitch(joint.pitch, where)
        found += [] if joint.motor is None else ratings_doubts(joint.motor, f"{where}.motor")
    own = payload is None
    degrees = degrees if own else payload_degrees
    for where, _, body in payload_bodies(robot.payload, join(path, "payload")) if own else payload_bodies(payload):
        found += _of_body(body, where, "the payload", length, degrees)
        found += too_heavy({where: body}, "the payload", length)
    return [*found, *_of_stops(arm, robot, path), *other_units(arm, robot, length, path)]


def too_short(scenario: document.Scenario, duration: float) -> list[Fault]:
    """Warnings: CSV columns whose times do not cover the run, where their first or last value is held.

    The last row counts for as long as the one before it did: samples of a run need no row at its very end.

    Args:
        scenario: The scenario.
        duration: Its duration [s].
    """
    found: list[Fault] = []
    if scenario.inputs is None:
        return found
    for i, signal in enumerate(scenario.inputs.signals):
        if isinstance(signal, document.CsvSignal):
            times = signal.table.x
            covered = times[-1] + (times[-1] - times[-2] if len(times) > 1 else 0.0)
            late, early = times[0] > 0, covered < duration * (1 - NO_TIME)
            if not late and not early:
                continue
            stretched = " and ".join(
                [f"its first value stands before {times[0]:g} s"] * late
                + [f"its last value stands from {times[-1]:g} s on"] * early
            )
            mend = " and ".join(["add a row for 0 s"] * late + [f"add a row for {duration:g} s"] * early)
            found.append(
                Fault(
                    signal.value_node("csv").place,
                    f"inputs.{scenario.inputs.output}[{i}].csv",
                    f"times that cover the scenario's duration, 0 to {duration:g} s",
                    f"column `{signal.column}` of {signal.file_name} from {times[0]:g} to {times[-1]:g} s; {stretched}",
                    mend + (", or shorten `duration`" if early else ""),
                )
            )
    return found


def one_row(scenario: document.Scenario, duration: float) -> Iterator[Fault]:
    """A warning of a log with no row but the first.

    Args:
        scenario: The scenario.
        duration: Its duration [s].
    """
    every = scenario.log.every
    if every is not None and every.value > duration:
        yield Fault(
            every.place,
            "log.every",
            f"a time between rows of {duration:g} s at most, the duration",
            f"{every.of('s')}: only the first row is written",
            f"write for example `every: {duration / 1000:g}`, or leave it out",
        )


def picked_up_late(scenario: document.Scenario, duration: float) -> Iterator[Fault]:
    """Warnings of payloads that a run does not carry: they are picked up at its end, or would be after it.

    Args:
        scenario: The scenario.
        duration: Its duration [s].
    """
    for i, item in enumerate(scenario.payload if isinstance(scenario.payload, tuple) else ()):
        start = item.entries["from"]
        if start is not None and start.value >= duration * (1 - NO_TIME):
            yield Fault(
                start.place,
                f"payload[{i}].from",
                f"a time before the end of the run, {duration:g} s",
                f"{start.of('s')}: the run does not carry `{item.name}`",
                "pick it up earlier, or make `duration` longer",
            )


def chattering(scenario: Scenario) -> Iterator[Fault]:
    """Warnings of an adaptive method on terrain: a point that comes to rest in a crease chatters across it."""
    method, arm = scenario.file.document.integrator.method, scenario.arm
    if method in (AUTO, *ADAPTIVE) and any(it.obstacle in arm.terrain for it in arm.contacts):
        expected = (
            "a fixed step on terrain: a point at rest in a crease chatters, by adaptive methods in steps below 1e-6 s"
        )
        mend = "write for example `integrator: {method: rk4, dt: 1e-4}`, if one may come to rest there"
        yield Fault(Place(scenario.name), "integrator.method", expected, method, mend)


def sampled_seldom(scenario: Scenario) -> Iterator[Fault]:
    """Warnings of a sampling period that is long for the resonance of a joint with its rotor behind an elastic coupling.

    A command that is held lags by half the period, 18 degrees at a tenth of the resonance's and 90 at half of it, beyond which
    samples cannot tell the swing from a slow motion. A resonance that the coupling damps to no peak does not count.

    Args:
        scenario: The scenario.
    """
    control, period = scenario.file.document.control, getattr(scenario.command, "period", None)
    if period is None or control is None or control.period is None:
        return
    for of in two_mass_systems(scenario.arm.at(0.0), scenario.initial_q):
        if of.damping_ratio < PEAKLESS and period * of.resonance * SAMPLES > 1.0 + NO_TIME:
            aliased = ", which samples cannot see" * (period * of.resonance > 0.5)
            yield Fault(
                control.period.place,
                "control.period",
                f"at most {1.0 / (SAMPLES * of.resonance):.3g} s, a tenth of a swing of {of.joint} against its rotor",
                f"{period:g} s, while they swing at {of.resonance:.3g} Hz{aliased} (inertia ratio {of.ratio:.3g})",
                "sample more often, or keep the loop much slower than that resonance",
            )


def _of_pitch(pitch: Quantity | None, path: str) -> Iterator[Fault]:
    """A pitch that is not in metres."""
    if pitch is not None and abs(pitch.value) > LARGEST_PITCH:
        yield Fault(
            pitch.place,
            f"{path}.pitch",
            f"a pitch of {LARGEST_PITCH:g} m a turn at most",
            f"{pitch.value:.6g} m",
            f"lengths are in metres: divided by 1000 it would be `pitch: {pitch.value / 1e3:.6g}`",
        )


def _of_body(body: document.Document, path: str, owner: str, length: float, degrees: bool) -> Iterator[Fault]:
    """Faults of one body: lengths that are not metres, and unphysical tensors.

    A body of mass 0 has no centre of mass; its tensor says only what the joint feels.
    """
    path = join(path, body.tag) if body.tag else path
    place = body.entries["center"][0].place
    inertia = build_body(settle(body), degrees)
    known = isinstance(body, document.KnownInertia)
    if not inertia.mass > 0:
        return
    bound = max(FAR * length, NEAR)
    near = f"at most {bound:.3g} m, for an arm {length:.3g} m long"
    com = inertia.com()
    distance = math.hypot(*com)
    if distance > bound:
        divisor = 1e3 if distance / 1e3 <= bound else 1e6
        center = ", ".join(f"{x / divisor:.6g}" for x in com)
        yield Fault(
            place,
            f"{path}.center",
            f"a centre of mass {near}, from the origin of its frame",
            f"{distance:.6g} m, for {owner}",
            f"lengths are in metres; divided by {divisor:.0f} they would be `center: [{center}]`",
        )
        return
    moments = principal_moments(inertia.tensor_about_com())
    gyration = math.sqrt(max(moments[2], 0.0) / inertia.mass)
    if gyration > bound:
        unit = "inertias are in kg·m²: multiply g·cm² by 1e-7" if known else "lengths are in metres: divide"
        yield Fault(
            place,
            path,
            f"a radius of gyration of {near}",
            f"{gyration:.6g} m, for {owner}",
            f"{unit}{', kg·mm² by 1e-6' if known else ' millimetres by 1000'}",
        )
        return
    if not isinstance(body, document.KnownInertia):
        return
    yield from (fault for i, x in enumerate(body.rpy) for fault in angle_doubts(x, f"{path}.rpy[{i}]", degrees))
    tensor = build_tensor(settle(body), degrees)
    rounding = ROUNDING * max(abs(x) for row in tensor.rows() for x in row)
    place = body.xx.place
    yield from _of_tensor(moments, rounding, body.about, place, path, owner)
    shifted = principal_moments(tensor - inertia.mass * point_tensor(com))
    heavy = inertia.mass * distance * distance > TRANSFER * moments[2]
    if body.about == "com" and heavy and _physical(shifted, 0.0) and shifted[0] >= 0:
        yield Fault(
            place,
            path,
            "an inertia about the centre of mass, as `about: com` says",
            f"one that looks as if it were about the frame's origin, for {owner}: most of it is mass × distance²",
            "write `about: origin` if the source gives it about the link's frame",
        )


def _of_tensor(
    moments: tuple[float, float, float], rounding: float, about: str, place: Place, path: str, owner: str
) -> Iterator[Fault]:
    """Faults of principal moments about the centre of mass, smallest first."""
    least, middle, most = moments
    shown = ", ".join(f"{m:.6g}" for m in moments)
    mend = "check the tensor's components and their order against the source"
    if about == "origin":
        mend = "check the tensor against the source; if it is about the centre of mass, write `about: com`"
    if least < -rounding:
        found = f"principal moments {shown} kg·m² about the centre of mass, for {owner}"
        yield Fault(place, path, "moments of inertia that are not negative", found, mend)
    elif not _physical(moments, rounding):
        found = f"principal moments {shown} kg·m², for {owner}: the largest is {most - least - middle:.6g} more"
        yield Fault(place, path, "no moment larger than the sum of the other two (no body has such)", found, mend)


def _physical(moments: tuple[float, float, float], rounding: float) -> bool:
    """Whether principal moments, smallest first, are not negative and satisfy the triangle inequality."""
    least, middle, most = moments
    return least >= -rounding and most - least - middle <= rounding


def _of_stops(arm: Arm, robot: document.Robot, path: str) -> Iterator[Fault]:
    """Stops so stiff that an explicit method would need steps below a microsecond."""
    felt = dict(pivots(crba(arm, [float(q) for q in arm.initial])))
    for i, joint in enumerate(arm.joints):
        limit, inertia = joint.limit, felt[i]
        if limit is None or limit.stiffness is None or not inertia > 0:
            continue
        fastest = max(math.sqrt(limit.stiffness / inertia), limit.damping / inertia)  # 1/s
        if fastest * SHORTEST_STEP > 2:
            at, limits = next((k, one.limits) for k, one in robot.coupling(robot.free[i]) if one.limits is not None)
            yield Fault(
                limits.stiffness.place,
                join(path, f"joints[{at}].limits"),
                f"a stop that a step of {SHORTEST_STEP:g} s can follow",
                f"stiffness {limit.stiffness:g}, damping {limit.damping:g} on an inertia of {inertia:.3g}: "
                f"steps below {2 / fastest:.2g} s",
                "soften the stop: a stop need not be as stiff as steel to hold an arm",
            )


def _length(arm: Arm) -> float:
    """The length of the stretched arm: from joint to joint and to the tool, with the travel of sliding joints [m]."""
    slides = []
    for link in arm.links_in_range:
        ends = [x for x in link.bounds if x is not None] or [0.0]
        furthest = max(abs(link.offset + q) for q in (link.initial, *ends))
        slides.append(abs(link.slides) * furthest)
    return arm.longest([math.hypot(*end) for end in arm.ends], slides)
