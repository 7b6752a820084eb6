"""The diagnosis of a diverged run."""

from __future__ import annotations

import math

from armsim.integrate.method import Stall
from armsim.records import optional, record
from armsim.simulation.result import Result
from armsim.stability.departure import Remedy, Runaway, StepGrowth, causes


@record(kw_only=True)
class Divergence:
    """The diagnosis of a diverged run.

    Attributes:
        slot: The first number of the state out of bounds, for example "qd_R4".
        landing: The last landing of an adaptive method.
        step: The last step of another.
        time: When that was [s].
        torques_finite: Whether torques were finite up to the end.
        growth: Of the last steps; None where there is none.
        motion: Growth of the motion before; None where there is none.
        stable: What would have been stable where the growth began; None where the step is not the cause.
        stalled: Why a step could not be made; see `armsim.simulation.result.Result`.
    """

    slot: str
    landing: int | None = optional(default=None)
    step: int | None = optional(default=None)
    time: float
    torques_finite: bool
    growth: StepGrowth | None
    motion: Runaway | None
    stable: Remedy | None
    stalled: Stall | None


def divergence_of(run: Result) -> Divergence:
    """The diagnosis of a diverged run."""
    n = run.plant.arm.n
    approach = [state[n : 2 * n] for state in run.approach]
    growth, motion = causes(run.scenario, run.steps, approach, run.latest())
    adaptive = run.scenario.adaptive
    return Divergence(
        slot=run.fastest_to_diverge(),
        landing=run.steps if adaptive else None,
        step=None if adaptive else run.steps,
        time=run.end_time,
        torques_finite=all(map(math.isfinite, [*run.peaks, *run.end])),
        growth=growth,
        motion=motion,
        stable=_stable(run, growth),
        stalled=run.stalled,
    )


def _stable(run: Result, found: StepGrowth | None) -> Remedy | None:
    """The remedy where the growth began; None where the step is not the cause."""
    scenario, plant = run.scenario, run.plant
    if scenario.adaptive or (found is not None and found.per == "sample"):
        return None
    from armsim.stability.remedy import remedy

    clock, known = scenario.clock, run.steps + 1 - len(run.approach)
    since = clock.at(known) if found is None or found.since is None else found.since
    begun = max(0, min(round(since / scenario.dt) - known, len(run.approach) - 1))
    states = [(clock.at(known + k), state) for k, state in enumerate(run.approach)]
    return remedy(plant, scenario.dt, states[begun:]) or remedy(plant, scenario.dt, states[:begun])
