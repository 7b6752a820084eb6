"""Advice on the step, before a run: would it blow up, would a stop chatter, does the method feed energy into a swing?

The closed loop is linearised at the start, at the target, and with every stop engaged, and the method's own step is applied to
that (`armsim.stability.step_modes`). Modes that grow by themselves, such as an arm's that stands upside down, are not the
step's fault. What was found is kept with the compiled kernels, so that a scenario that has been run before starts at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from armsim.errors import Refusal
from armsim.plant import DynaMechsPlant, Plant


@dataclass(frozen=True)
class Advice:
    """What is to be said of a step.

    Attributes:
        refusal: Why the run would blow up, and what to do; None if it would not.
        warnings: What else the user ought to know, one sentence or two each.
        chattering: The joints whose stops would chatter if they were met, each with the largest step that the method takes
            with the stop engaged [s].
        takers: The methods that would take this step with those stops engaged.
    """

    refusal: Refusal | None = None
    warnings: tuple[str, ...] = ()
    chattering: Mapping[str, float] = field(default_factory=dict)
    takers: tuple[str, ...] = ()

    def said(self, method: str, dt: float, met: Collection[str] | None = None) -> list[str]:
        """The warnings.

        Args:
            method: Of the run.
            dt: Of the run [s].
            met: Names of the joints whose stops were met, of which alone it is worth saying that they chatter; None where
                that is not known yet.
        """
        named = [joint for joint in self.chattering if met is None or joint in met]
        if not named:
            return list(self.warnings)
        most = min(self.chattering[joint] for joint in named)
        several = len(named) > 1
        stops = f"the stop{'s' * several} of {listed(named)}"
        would = f"{stops} would chatter if met" if met is None else f"{stops} chatter{'s' * (not several)}"
        up_to = f"is stable up to dt = {short(most)} s" if most else "takes no step"
        found = f"{would}: with {'them' if several else 'it'} engaged {method} {up_to}"
        return [*self.warnings, f"{found}; {listed(self.takers)} would take {dt:g} s"]


def chooses_steps(plant: Plant) -> bool:
    """Whether there is nothing to advise: on methods that choose their own steps, or with rules about steps as motors."""
    return plant.integrator.adaptive is not None or isinstance(plant, DynaMechsPlant)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as a sentence has them: a, b and c."""
    *first, end = names or ["none"]
    return f"{', '.join(first)} {last} {end}" if first else end


def short(seconds: float) -> str:
    """A time rounded down to three digits."""
    from math import floor, log10

    digits = 2 - floor(log10(seconds))
    return f"{floor(seconds * 10**digits) / 10**digits:g}"
