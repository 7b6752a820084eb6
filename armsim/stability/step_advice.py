"""Advice on a scenario's step: computed once, and cached with the compiled kernels."""

from __future__ import annotations

from dataclasses import replace

from armsim import sources
from armsim.compile import cache
from armsim.errors import UsageError, spelled
from armsim.loading import Scenario
from armsim.plant import Plant
from armsim.records import Mismatch, as_plain, from_plain
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
        known: Advice = from_plain(Advice, cache.load_json(name))
        return known
    except Mismatch:
        pass  # there is none, or something else
    from armsim.stability.wording import check_step

    advice = check_step(scenario, plant)
    if name:
        cache.store_json(name, as_plain(advice))
    return advice


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
