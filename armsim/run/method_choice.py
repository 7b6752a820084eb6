"""Which method integrates a scenario that leaves it to armsim: what its small motions ask for.

The choice is kept with the compiled kernels, as is the advice on its step.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from armsim.compile import cache
from armsim.dynamechs import emulates
from armsim.errors import UsageError
from armsim.run.advice import keep, key
from armsim.run.modes import seconds
from armsim.run.plants import make_plant
from armsim.spec import Scenario
from armsim.spec.scenario import AUTO

if TYPE_CHECKING:
    from armsim.run.places import Place

STIFF = 10.0  # decays of the fastest mode between landings, above which explicit methods take needlessly many steps
LONGEST = 0.1  # s between landings: longer ones count as this, for explicit methods take many steps then anyway
MANY = 100.0  # swings, over which a method has to keep the energy


@dataclass(frozen=True)
class Choice:
    """A method, and why it was picked.

    Attributes:
        method: Name, of `armsim.integrate.METHODS`.
        why: In words that follow "picked because".
    """

    method: str
    why: str


def with_method(scenario: Scenario) -> Scenario:
    """The scenario with its method picked, and the reason in `picked`, where it leaves it open; else as it is.

    Raises:
        UsageError: No method suits it.
    """
    if scenario.method != AUTO:
        return scenario
    if emulates(scenario.arm):
        choice = _for_dynamechs(scenario)
    else:
        name = key("choice", scenario)
        known = cache.load(name)
        choice = Choice(**json.loads(known)) if known is not None else _chosen(scenario)
        if known is None:
            cache.store(name, json.dumps(vars(choice)).encode())
    return replace(scenario, method=choice.method, picked=choice.why)


def _for_dynamechs(scenario: Scenario) -> Choice:
    if not _has_step(scenario):
        raise UsageError.of(
            "integrator.dt",
            "the step that DynaMechs took",
            "nothing",
            "write for example `integrator: {method: explicit_euler, dt: 5e-4}`",
        )
    return Choice("explicit_euler", "DynaMechs' motor comes with it")


def _has_step(scenario: Scenario) -> bool:
    return scenario.file.data["integrator"]["dt"] is not None


def _chosen(scenario: Scenario) -> Choice:
    """The choice; and where that is a method of fixed steps, the advice on it, for both look at the same small motions."""
    from armsim.run.judgement import Judgement
    from armsim.run.places import places

    at = places(scenario, make_plant(replace(scenario, method="rk4")))
    if not _has_step(scenario):
        return _adaptive(scenario.dt, at)
    choice = _fixed(scenario.dt, at)
    if choice.method not in ("rk54", "rodas"):
        picked = replace(scenario, method=choice.method, picked=choice.why)
        keep(picked, Judgement(choice.method, scenario.dt, at, scenario.arm).advice())
    return choice


def _adaptive(landing: float, at: list[Place]) -> Choice:
    """A method that chooses its steps, to land at times so far apart [s]."""
    fastest = max((place.plant.fastest_decay for place in at if place.stop is None), default=0.0)
    if not fastest:
        return Choice("rk54", "it chooses its steps, and nothing decays by itself")
    decay = f"the fastest mode decays in {seconds(1 / fastest)}, and it lands every {seconds(landing)}"
    return Choice("rodas" if fastest * min(landing, LONGEST) > STIFF else "rk54", decay)


def _fixed(dt: float, at: list[Place]) -> Choice:
    """A method for a step that is given [s]."""
    from armsim.run.judgement import MARGIN
    from armsim.run.places import REST

    def stable(method: str, step: float) -> bool:
        return all(place.takes(method, step) and place.holds(method, step) for place in at)

    def limit(method: str) -> str:
        most, stop = min(((place.longest(method), place.stop or "") for place in at), default=(math.inf, ""))
        engaged = f" (with the stop of {stop} engaged)" if stop else ""
        return f"up to {seconds(most)}{engaged}" if math.isfinite(most) else "at any step"

    resting = next((place for place in at if place.where == REST), None)
    if resting is not None and resting.swings > MANY and stable("implicit_midpoint", dt):
        return Choice(
            "implicit_midpoint",
            f"nothing damps the arm, and it keeps the energy over {resting.swings:.0f} swings and more",
        )
    if stable("rk4", MARGIN * dt):
        return Choice("rk4", f"it is stable {limit('rk4')}, and the most precise at a given step")
    for method in ("velocity_implicit", "implicit_midpoint"):
        if stable(method, dt):
            return Choice(method, f"it is stable {limit(method).partition(' (')[0]}, and rk4 only {limit('rk4')}")
    return Choice("rodas", f"no method of fixed steps is stable at {seconds(dt)}, and it chooses its own in between")
