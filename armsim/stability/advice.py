"""Advice on the step, before a run: does it destabilise the closed loop, make a stop chatter, or amplify an oscillation?

The closed loop is linearised at the start, at the target, and with every stop engaged, and the method's own step is applied to
that (`armsim.stability.step_modes`). Modes that are unstable in continuous time, such as those of an inverted pendulum, are not
the step's fault. The advice is cached with the compiled kernels, so that a scenario that has been run before starts at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from armsim.errors import Refusal
from armsim.plant import DynaMechsPlant, Plant


@dataclass(frozen=True)
class Advice:
    """Advice on a step.

    Attributes:
        refusal: Why the run would blow up, and how to mend it; None if it would not.
        warnings: Further warnings, one or two sentences each.
        chattering: Joints whose stops would chatter if they were met, each with the largest stable step with the stop
            engaged [s]; 0 if there is none.
        takers: Methods that are stable at this step with those stops engaged.
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
            met: Joints whose stops were met: only these are warned of; None before the run, where all are.
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
    """Whether advice does not apply: the method is adaptive, or the plant emulates DynaMechs, whose motor fixes the step."""
    return plant.integrator.adaptive is not None or isinstance(plant, DynaMechsPlant)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names joined for a sentence: a, b and c."""
    *first, end = names or ["none"]
    return f"{', '.join(first)} {last} {end}" if first else end


def short(seconds: float) -> str:
    """A time [s] rounded down to three significant digits."""
    from math import floor, log10

    digits = 2 - floor(log10(seconds))
    return f"{floor(seconds * 10**digits) / 10**digits:g}"
