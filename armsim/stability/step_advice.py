"""Advice on a scenario's step: computed once, and cached with the compiled kernels."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from armsim import sources
from armsim.compile import cache
from armsim.errors import Refusal, UsageError, spelled
from armsim.loading import Scenario
from armsim.plant import Plant
from armsim.stability.advice import Advice, is_judged
from armsim.stability.overload import overload


def advice_on(scenario: Scenario, plant: Plant) -> Advice:
    """The advice on a scenario's step, from the cache or computed; empty where it does not apply (`is_judged`).

    Args:
        scenario: What is to be run.
        plant: Its plant.
    """
    refusal = overload(scenario, plant)
    if refusal is not None:
        return Advice(refusal)
    if not is_judged(plant):
        return Advice()
    name = key("advice", scenario)
    try:
        return _known(cache.load_json(name))
    except (LookupError, TypeError, ValueError):
        pass  # there is none, or something else
    from armsim.stability.wording import check_step

    advice = check_step(scenario, plant)
    if name:
        cache.store_json(name, asdict(advice))
    return advice


def _known(found: Any) -> Advice:
    """The advice that is kept in the cache.

    Raises:
        LookupError, TypeError, ValueError: It is none.
    """
    refusal = None if found["refusal"] is None else Refusal(**found["refusal"])
    chattering, braked, loops = (dict(found[name]) for name in ("chattering", "braked", "loops"))
    return Advice(refusal, tuple(found["warnings"]), chattering, tuple(found["takers"]), braked, loops)


def heed(advice: Advice, force: bool) -> Advice:
    """Advice without a refusal: one is raised, or demoted to a warning.

    Args:
        advice: The advice.
        force: Take a refusal for a warning.

    Raises:
        UsageError: The run would blow up.
    """
    if advice.refusal is None:
        return advice
    if not force:
        anyway = spelled("--force-step", "force_step=True")
        how = f"{advice.refusal.mend}\n({anyway} runs it anyway)"
        raise UsageError(str(replace(advice.refusal, mend=how)))
    warnings = (f"the step was forced: expected {advice.refusal.expected}", *advice.warnings)
    return replace(advice, refusal=None, warnings=warnings)


def key(kind: str, scenario: Scenario) -> str:
    """The cache key of what is known about a scenario: its content and armsim's own text; empty if that is not all."""
    return cache.key(kind, sources.digest(sources.LOADED), scenario.content) if scenario.content else ""
