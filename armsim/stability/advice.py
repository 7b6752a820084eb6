"""Advice on the step, before a run: does it destabilise the closed loop, make a stop chatter, or amplify an oscillation?

The closed loop is linearised at the start, at the target, and on every branch that the run may enter, a stop engaged or a
supply at its limit, and the method's own step is applied to that (`armsim.stability.step_modes`). Feedback that is unstable by
itself, or by its sampling, is told of whatever the method. Modes that are unstable in continuous time, such as those of an
inverted pendulum, are not the step's fault. The advice is cached with the compiled kernels, so that a scenario that has been
run before starts at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from armsim.control import Controller
from armsim.errors import Refusal
from armsim.notebook import counted
from armsim.plant import Plant
from armsim.records import record


@record
class Advice:
    """Advice on a step.

    Attributes:
        refusal: Why the run would blow up, and how to mend it; None if it would not.
        warnings: Further warnings, one or two sentences each.
        chattering: Joints whose stops would chatter if they were met, each with the largest stable step with the stop
            engaged [s]; 0 if there is none.
        takers: Methods that are stable at this step with those stops engaged, and under that back-EMF.
        braked: Joints whose back-EMF the step would not take if the supply's voltage limited their torque, likewise.
        loops: Of the warnings those of a closed loop that is unstable whatever the step, each with the joint that moves most in
            the motion that grows. A run in which it comes to rest at its target contradicts them.
        touching: Contacts with which the step is unstable once they close, or all of them at once, each with the largest stable
            step [s].
        partial: Whether nobody has looked at stops and supplies; apart from them there is nothing to say.
    """

    refusal: Refusal | None = None
    warnings: tuple[str, ...] = ()
    chattering: Mapping[str, float] = field(default_factory=dict)
    takers: tuple[str, ...] = ()
    braked: Mapping[str, float] = field(default_factory=dict)
    loops: Mapping[str, str] = field(default_factory=dict)
    touching: Mapping[str, float] = field(default_factory=dict)
    partial: bool = False

    def __repr__(self) -> str:
        verdict = "no refusal" if self.refusal is None else "refused"
        return f"Advice({', '.join([verdict, counted(len(self.warnings), 'warning'), *self._doubted])})"

    @property
    def _doubted(self) -> list[str]:
        found = {"would chatter": self.chattering, "braked": self.braked}
        return [f"{what}: {listed(list(joints))}" for what, joints in found.items() if joints]

    def said(
        self,
        method: str,
        dt: float,
        met: Collection[str] | None = None,
        limited: Collection[str] | None = None,
        settled: Collection[str] = (),
    ) -> list[str]:
        """The warnings.

        Args:
            method: Of the run.
            dt: Of the run [s].
            met: Joints whose stops were met: only these are warned of; None before the run, where all are.
            limited: Joints whose supply's voltage limited them, likewise.
            settled: Joints that came to rest at their targets: of these loops none is unstable.
        """
        warnings = [warning for warning in self.warnings if self.loops.get(warning) not in settled]
        return [
            *warnings,
            *self._of_stops(method, dt, met),
            *self._of_supplies(method, dt, limited),
            *self._of_contacts(method, dt),
        ]

    def _of_contacts(self, method: str, dt: float) -> list[str]:
        if not self.touching:
            return []
        return [self._words(f"with {listed([*self.touching], 'or')} closed {method}", [*self.touching.values()], dt)]

    def _of_supplies(self, method: str, dt: float, limited: Collection[str] | None) -> list[str]:
        named = [joint for joint in self.braked if limited is None or joint in limited]
        if not named:
            return []
        acts = "would damp" if limited is None else "damps"
        found = f"at the voltage limit of the supply, back-EMF {acts} {listed(named)}: there {method}"
        return [self._words(found, [self.braked[joint] for joint in named], dt)]

    def _of_stops(self, method: str, dt: float, met: Collection[str] | None) -> list[str]:
        named = [joint for joint in self.chattering if met is None or joint in met]
        if not named:
            return []
        several = len(named) > 1
        stops = f"the stop{'s' * several} of {listed(named)}"
        would = f"{stops} would chatter if met" if met is None else f"{stops} chatter{'s' * (not several)}"
        found = f"{would}: with {'them' if several else 'it'} engaged {method}"
        return [self._words(found, [self.chattering[joint] for joint in named], dt)]

    def _words(self, found: str, stable: Sequence[float], dt: float) -> str:
        """Up to which of some steps [s] a method is stable, and who would take this one."""
        most = min(stable)
        up_to = f"is stable up to dt = {short(most)} s" if most else "takes no step"
        return f"{found} {up_to}; {listed(self.takers)} would take {dt:g} s"


def is_judged(plant: Plant) -> bool:
    """Whether advice applies: to fixed steps, and to the feedback of any method; not where the step is part of the plant."""
    return plant.step_rule is None and (plant.integrator.adaptive is None or isinstance(plant.command, Controller))


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names joined for a sentence: a, b and c."""
    *first, end = names or ["none"]
    return f"{', '.join(first)} {last} {end}" if first else end


def short(seconds: float) -> str:
    """A time [s] rounded down to three significant digits."""
    from math import floor, log10

    digits = 2 - floor(log10(seconds))
    return f"{floor(seconds * 10**digits) / 10**digits:g}"
