"""Figures of merit in the summary of a run, and what they say went wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from armsim.control import Constant, Controller
from armsim.measures.figures import DISTURBANCE, ENERGY, RESPONSE, TOOL, TRACKING, WINDING, every
from armsim.measures.limits import limits_of
from armsim.measures.settling import SHARE
from armsim.simulation.result import Result

LASTING = 0.01  # of a run: time at a limit that counts as trouble
FOLLOWED = 0.1  # of the reference's travel: the root mean square error of a joint that follows it
DROOPED = 1.1  # times the droop that gravity leaves: a steady error that it explains
INSTANTS = 100  # at which a reference's travel is looked for


def of_run(run: Result) -> dict[str, Any]:
    """The figures of the whole arm: number of moments, time between them ("every") [s], whether its reference moves
    ("follows"), errors of the tool [m], energies [J].
    """
    steps, scenario = run.steps, run.scenario
    apart = every(steps) if scenario.moments == 1 else 1
    moments = -(-steps * scenario.moments // apart) + 1
    known = {name: run.figures[name] for name in (*TOOL, *ENERGY) if name in run.figures}
    follows = any(travels(run))
    return {"moments": moments, "every": scenario.clock.at(apart) / scenario.moments, "follows": follows, **known}


def of_joint(run: Result, i: int) -> dict[str, Any]:
    """The figures of a joint; None where it has none.

    Response: rise_time [s], overshoot, settling_time [s] within 2 % of the way; None without a way to go. Tracking: rms_error,
    peak_error [rad or m], iae, ise, itae. Disturbance: disturbance_peak [rad or m], recovery_time [s]. Effort: rms_torque
    [N·m or N], rms_current [A], of_nominal (its share of the nominal current), winding_temperature, peak_winding_temperature
    [°C], energy_drawn, energy_fed_back [J]. limits: time [s], share of the run and first [s], by kind, "stop" among them.
    """
    joint = run.plant.arm.joints[i]

    def figure(kind: str) -> float | None:
        return run.figures.get(f"{kind}_{joint.name}")

    names = (*RESPONSE, *TRACKING, *DISTURBANCE, "rms_torque", "rms_current", *WINDING, *ENERGY)
    found: dict[str, Any] = {name: figure(name) for name in names}
    if not way(run, i):
        found |= dict.fromkeys(RESPONSE)
    motor = joint.electric_motor
    rated = motor is not None and motor.nominal_current is not None and found["rms_current"] is not None
    found["of_nominal"] = found["rms_current"] / motor.nominal_current if rated and motor is not None else None
    kinds = {kind: f"{kind}_limit" for kind in limits_of(run.plant)[i]} | ({"stop": "stop"} if joint.limit else {})
    end = _end(run)
    found["limits"] = {
        kind: {"time": time, "share": time / end if end else 0.0, "first": figure(f"first_at_{name}")}
        for kind, name in kinds.items()
        if (time := figure(f"time_at_{name}"))
    }
    return found


def way(run: Result, i: int) -> float:
    """From where a joint starts to where its reference ends [rad or m]; 0 without one that does."""
    command = run.plant.command
    if not isinstance(command, Controller) or not command.reference.ends:
        return 0.0
    from armsim.measures.moment import END

    return float(command.reference.at(END).q[i]) - float(run.scenario.initial_q[i])


def travels(run: Result) -> list[float]:
    """How far the reference moves each joint [rad or m]: zeros where it does not move."""
    command, n = run.plant.command, run.plant.arm.n
    if not isinstance(command, Controller) or isinstance(command.reference, Constant):
        return [0.0] * n
    end = _end(run)
    path = [command.reference.at(end * k / INSTANTS).q for k in range(INSTANTS + 1)]
    return [float(max(column) - min(column)) for column in zip(*path, strict=True)]


def problems(run: Result, joints: Sequence[dict[str, Any]], saturated: Sequence[str]) -> list[dict[str, Any]]:
    """What the figures say went wrong, the gravest first.

    Each has a "kind" and a "joint", and numbers: "limit" (which, time [s], share, first [s], at_end), "nominal_current"
    (rms, nominal [A]), "winding" (peak, max [°C]), "not_followed" (rms, travel [rad or m]), "unsettled" (error, band
    [rad or m]).

    Args:
        run: The run.
        joints: Entries of the summary.
        saturated: Joints whose drive is at a limit at the end.
    """
    found: list[dict[str, Any]] = []
    for entry in joints:
        kinds = [(kind, of) for kind, of in entry["limits"].items() if kind != "stop"]
        for kind, of in kinds:
            at_end = entry["name"] in saturated
            if of["share"] >= LASTING or (at_end and len(kinds) == 1):
                found.append({"kind": "limit", "joint": entry["name"], "which": kind, **of, "at_end": at_end})
    pairs = list(zip(joints, run.plant.arm.joints, travels(run), strict=True))
    for entry, joint, _ in pairs:
        motor = joint.motor
        if motor is not None and motor.nominal_current is not None and (entry["of_nominal"] or 0.0) > 1:
            nominal = {"rms": entry["rms_current"], "nominal": float(motor.nominal_current)}
            found.append({"kind": "nominal_current", "joint": joint.name, **nominal})
    for entry, joint, _ in pairs:
        thermal = None if joint.motor is None else joint.motor.thermal
        peak = entry["peak_winding_temperature"]
        if thermal is not None and thermal.max is not None and peak is not None and peak > thermal.max:
            found.append({"kind": "winding", "joint": joint.name, "peak": peak, "max": float(thermal.max)})
    for entry, joint, travel in pairs:
        rms = entry["rms_error"]
        if travel and rms is not None and rms > FOLLOWED * travel:
            found.append({"kind": "not_followed", "joint": joint.name, "rms": rms, "travel": travel})
    for i, (entry, joint, travel) in enumerate(pairs):
        band, error = SHARE * abs(way(run, i)), abs(entry.get("error", 0.0))
        explained = band + DROOPED * abs(entry.get("droop") or 0.0)
        if not travel and entry["settling_time"] == math.inf and error > explained:
            found.append({"kind": "unsettled", "joint": joint.name, "error": error, "band": band})
    return found


def _end(run: Result) -> float:
    return run.scenario.clock.at(run.steps)
