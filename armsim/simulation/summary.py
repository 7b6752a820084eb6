"""The summary of a run, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from armsim.actuation import motor as dc
from armsim.actuation import sticks
from armsim.control import Controller
from armsim.loading import Scenario
from armsim.plant.statics import steady_droop
from armsim.simulation.ending import ending, settled
from armsim.simulation.energy_balance import audit
from armsim.simulation.merit import of_joint, of_run, problems
from armsim.simulation.result import Result
from armsim.stability.departure import causes


def summarize(run: Result) -> dict[str, Any]:
    """The summary in SI units: the `--json` of `armsim simulate`, and that of run.yaml.

    Per joint: final position; whether it is exactly at rest (None without dry friction); under feedback the target, the final
    error (target - q) and, under pd, the steady-state error under gravity (droop); the largest motor torque and current over
    all steps. Then the tool, the energies and their balance, and the joints that left their range. `advice` has the warnings on
    the step, of chattering stops only those that were met; `would_chatter` has all of these, with the largest stable step with
    the stop engaged [s]. `step_error` estimates the error by the step, see `armsim.simulation.step_error`, or
    `no_step_error` says why there is none. `ending` tells of limits and errors that grow, see `armsim.simulation.ending`.
    `measures` has what was asked for. Joints have their figures of merit, `figures` those of the arm, `problems` what they say
    went wrong; see `armsim.simulation.merit`. Of a diverged run, `diverged` has its diagnosis.
    """
    plant, scenario = run.plant, run.scenario
    summary: dict[str, Any] = {
        "scenario": scenario.name,
        "robot": plant.arm.name,
        "status": run.status,
        "method": plant.method,
        **({"picked": scenario.picked} if scenario.picked else {}),
        "algorithm": plant.algorithm,
        "dt": scenario.dt,
        **stepped(scenario, run.steps, run.steps_chosen, scenario.land_every),
        **({"moments": run.steps * scenario.moments} if scenario.adaptive else {}),
        "duration": end_time(run),
        "rows": run.count,
        "engine": run.engine,
    }
    summary["seconds"] = dict(run.seconds)
    summary["steps_per_second"] = pace(summary)
    outside = _outside(run)
    met = [joint["joint"] for joint in outside if joint["stop"]]
    limited = [name for name, voltage in run.totals.voltages.items() if voltage.reached]
    summary["advice"] = run.advice.said(plant.method, scenario.dt, met, limited, settled(run))
    summary["would_chatter"] = dict(run.advice.chattering)
    if run.step_error is not None:
        summary["step_error"] = {**vars(run.step_error), "note": run.step_error.note(scenario)}
    elif run.unestimated:
        summary["no_step_error"] = run.unestimated
    last = _named(run, run.end)
    first = _named(run, run.totals.first) if run.count else last
    if all(map(math.isfinite, run.end)):
        summary["joints"] = joint_summaries(run)
        summary["tool"] = {"position": [last["pose", part] for part in "xyz"]}
        summary["tool"]["quaternion"] = [last["pose", part] for part in ("qw", "qx", "qy", "qz")]
        summary["energy"] = {
            when: {kind: row["energy", kind] for kind in ("kinetic", "potential")}
            for when, row in (("start", first), ("end", last))
        }
        summary["audit"] = audit(run)
        summary["outside_limits"] = outside
        if run.status != "diverged":
            summary["ending"] = ending(run)
        if run.figures:
            summary["joints"] = [entry | of_joint(run, i) for i, entry in enumerate(summary["joints"])]
            summary["figures"] = of_run(run)
            summary["problems"] = problems(run, summary["joints"], summary["ending"]["saturated"])
    if run.units:
        summary["measures"] = {name: {"value": run.measures[name], "unit": unit} for name, unit in run.units.items()}
    if run.status == "diverged":
        summary["diverged"] = divergence_of(run)
    return summary


def pace(summary: Mapping[str, Any]) -> float:
    """The steps that the loop carried out, or tried, in a second."""
    loop: float = summary["seconds"].get("loop_s", 0.0)
    tried = summary["steps"] + summary.get("adaptive", {}).get("refused", 0)
    return tried / loop if loop > 0 else math.inf


def divergence_of(run: Result) -> dict[str, Any]:
    """The diagnosis of a diverged run, with its causes; see `armsim.stability.departure.causes`."""
    n = run.plant.arm.n
    approach = [state[n : 2 * n] for state in run.approach]
    found = causes(run.scenario, run.steps, approach, run.latest())
    return {
        "slot": run.fastest_to_diverge(),
        "landing" if run.scenario.adaptive else "step": run.steps,
        "time": end_time(run),
        "torques_finite": all(map(math.isfinite, [*run.peaks, *run.end])),
        **found,
        "stable": _stable(run, found.get("growth")),
        "stalled": run.stalled,
    }


def _stable(run: Result, found: dict[str, Any] | None) -> dict[str, Any] | None:
    """The result of `armsim.stability.remedy` where the growth began; None where the step is not the cause."""
    scenario, plant = run.scenario, run.plant
    if scenario.adaptive or (found is not None and found["per"] == "sample"):
        return None
    from armsim.stability.remedy import remedy

    clock, known = scenario.clock, run.steps + 1 - len(run.approach)
    since = clock.at(known) if found is None or found["since"] is None else found["since"]
    begun = max(0, min(round(since / scenario.dt) - known, len(run.approach) - 1))
    states = [(clock.at(known + k), state) for k, state in enumerate(run.approach)]
    return remedy(plant, scenario.dt, states[begun:]) or remedy(plant, scenario.dt, states[:begun])


def stepped(scenario: Scenario, steps: int, counts: tuple[int, int] | None, land_every: int = 1) -> dict[str, Any]:
    """The numbers of steps in a summary: "steps"; of an adaptive method also "landings" and "adaptive".

    `curbed`: the landings, not the tolerance, limit the steps, though samples and forces would do with fewer.

    Args:
        scenario: What was run.
        steps: Number of steps; of an adaptive method, of multiples of dt.
        counts: Numbers of steps that an adaptive method accepted and rejected; None for others.
        land_every: Multiples of dt between its landings.
    """
    if counts is None:
        return {"steps": steps}
    taken, refused = counts
    landings = steps // land_every
    curbed = land_every < scenario.jump_every and taken <= 1.02 * landings
    adaptive = {"refused": refused, **vars(scenario.tolerance), "curbed": curbed}
    return {"steps": taken, "landings": landings, "adaptive": adaptive}


def _named(run: Result, row: list[float]) -> dict[tuple[str, str], float]:
    """A row as a mapping from (quantity, joint or part)."""
    return {(c.quantity, c.of): value for c, value in zip(run.plant.columns, row, strict=True)}


def joint_summaries(run: Result) -> list[dict[str, Any]]:
    """The entries of the joints; see `summarize`."""
    plant, last = run.plant, _named(run, run.end)
    command = plant.command
    feedback = command if isinstance(command, Controller) else None
    end = run.scenario.clock.at(run.steps)
    droop = steady_droop(plant, end)
    target = None if feedback is None else feedback.reference.at(end).q
    joints = []
    for i, joint in enumerate(plant.arm.joints):
        entry: dict[str, Any] = {"name": joint.name, "type": joint.type, "q": last["q", joint.name]}
        if target is not None:
            entry["target"] = target[i]
            entry["error"] = target[i] - entry["q"]
        entry["at_rest"] = last["qd", joint.name] == 0.0 if sticks(joint) else None
        if droop is not None:
            entry["droop"] = droop[i]
        entry["peak_torque"] = run.peaks[i]
        motor = joint.electric_motor
        entry["peak_current"] = None if motor is None else abs(dc.current_for(motor, run.peaks[i]))
        joints.append(entry)
    return joints


def _outside(run: Result) -> list[dict[str, Any]]:
    """The joints outside their range in a row or at the end: since when [s], by how much at most, whether they have a stop."""
    found = []
    for joint in run.plant.arm.joints:
        limit = joint.limit
        if limit is None:
            continue
        rows = run.totals.ranges[joint.name]
        end = run.end[rows.column]
        most = max(rows.beyond, limit.lower - end, end - limit.upper)
        if most > 0:
            since = end_time(run)
            if rows.outside is not None:
                since = run.scenario.clock.at(rows.outside * run.scenario.clock.log_every)
            found.append({"joint": joint.name, "since": since, "most": most, "stop": limit.stiffness is not None})
    return found


def end_time(run: Result) -> float:
    """The time reached [s]."""
    return run.scenario.clock.at(run.steps)
