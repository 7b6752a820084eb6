"""Advice on the step, before a run: would it blow up, would a stop chatter, does the method feed energy into a swing?

The closed loop is linearised at the start, at the target, and with every stop engaged, and the method's own step is applied to
that (`armsim.run.stability`). Modes that grow by themselves, such as an arm's that stands upside down, are not the step's fault.
What was found is kept with the compiled kernels, so that a scenario that has been run before starts at once.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from threading import Thread
from typing import TYPE_CHECKING

import armsim
from armsim.compile import cache
from armsim.control import Feedback
from armsim.dynamechs import DynaMechsPlant
from armsim.errors import UsageError
from armsim.integrate import METHODS
from armsim.plant import Plant

if TYPE_CHECKING:
    from armsim.linear import Linearization
    from armsim.spec import Scenario

MARGIN = 1.2  # the largest stable step over dt, below which a warning is given
BLOWN_UP = 3.0  # ln of the growth over a run from which it is refused
NOTICED = 0.01  # ln of the growth over a run from which a warning is given


@dataclass(frozen=True)
class Advice:
    """What is to be said of a step.

    Attributes:
        refusal: Why the run would blow up, and what to do; None if it would not.
        warnings: What else the user ought to know, one sentence or two each.
    """

    refusal: str | None = None
    warnings: tuple[str, ...] = ()


class Advising:
    """Advice on a scenario's step, that takes the time it needs where it is not known yet.

    Args:
        scenario: What is to be run.
        plant: Its plant.
    """

    def __init__(self, scenario: Scenario, plant: Plant) -> None:
        self._scenario, self._plant = scenario, plant
        self._key = cache.key("advice 1", armsim.__version__, json.dumps(scenario.scenario_data, sort_keys=True))
        self._known = Advice() if self._is_idle() else self._kept()
        if self._known is None:  # importing takes a while, and the compiler leaves a processor free for it
            Thread(target=import_module, args=("numpy",), daemon=True).start()

    def _is_idle(self) -> bool:
        """Whether there is nothing to advise: on methods that choose their own steps, or with rules about steps as motors."""
        return self._plant.integrator.adaptive is not None or isinstance(self._plant, DynaMechsPlant)

    def _kept(self) -> Advice | None:
        known = cache.load(self._key)
        if known is None:
            return None
        found = json.loads(known)
        return Advice(found["refusal"], tuple(found["warnings"]))

    def advice(self) -> Advice:
        """The advice."""
        if self._known is None:
            self._known = _worked_out(self._scenario, self._plant)
            cache.store(self._key, json.dumps(asdict(self._known)).encode())
        return self._known

    def heeded(self, force: bool) -> Advice:
        """The advice, of which a refusal is raised.

        Args:
            force: Take a refusal for a warning.

        Raises:
            UsageError: The run would blow up.
        """
        advice = self.advice()
        if advice.refusal is None:
            return advice
        if not force:
            raise UsageError(f"{advice.refusal}\n            (--force-step, or force_step=True, runs it anyway)")
        expected = advice.refusal.split("\n")[1].split(":", 1)[1].strip()
        return Advice(None, (f"the step was forced: expected {expected}", *advice.warnings))


def _worked_out(scenario: Scenario, plant: Plant) -> Advice:
    import numpy as np

    from armsim.run.stability import LinearPlant, amplified, largest_stable_step

    dt, method, names = scenario.dt, plant.method, [joint.name for joint in plant.arm.joints]
    duration = scenario.steps * dt
    refusals: list[tuple[float, str]] = []
    warnings: list[str] = []
    chattering: list[tuple[float, str]] = []
    growth, swing = 0.0, 0.0
    takers = [name for name in METHODS if name != method]  # methods that would take this step
    for about, where, stop in _points(scenario, plant):
        linear = LinearPlant(about)
        modes = np.linalg.eigvals(linear.matrix()).astype(complex)
        now = amplified(linear, modes, method, dt)
        if stop is None and now.growth > growth:
            growth, swing = now.growth, now.undamped / (2 * math.pi)
        if now.stable and amplified(linear, modes, method, MARGIN * dt).stable:
            continue
        if not now.stable:
            takers = [
                name
                for name in takers
                if METHODS[name].adaptive is not None or amplified(linear, modes, name, dt).stable
            ]
        most = largest_stable_step(linear, modes, method, MARGIN * dt)
        joint = names[now.joint]
        gain = math.log(max(now.decaying, 1e-300)) / dt * duration
        if stop is not None:
            chattering += [] if now.stable else [(most, names[stop])]
        elif now.stable:
            warnings.append(
                f"dt = {dt:g} s is close to the largest stable step of {method} {where}, {_short(most)} s (a motion of {joint})"
            )
        elif gain > BLOWN_UP:
            refusals.append((most, f"{where}, where a motion of {joint} that decays by itself would grow"))
        elif gain > NOTICED:
            warnings.append(
                f"{method} makes a motion of {joint} grow {where} that decays by itself, by a factor of "
                f"{math.exp(gain):.3g} over the run; below dt = {_short(most)} s it would not"
            )
    if chattering and not refusals:
        most, _ = min(chattering)
        stops = [name for _, name in chattering]
        several = len(stops) > 1
        warnings.append(
            f"the stop{'s' * several} of {listed(stops)} would chatter if met: with {'them' if several else 'it'} engaged "
            f"{method} is stable up to dt = {_short(most)} s; {listed(takers)} would take {dt:g} s"
        )
    if growth * duration > NOTICED:
        others = [name for name in METHODS if METHODS[name].conserves]
        warnings.append(
            f"{method} makes an undamped swing of {swing:.3g} Hz grow, by {growth:.2g} of itself a second; "
            f"{listed(others)} do not"
        )
    refusal = None
    if refusals:
        most, why = min(refusals)
        refusal = (
            f"integrator.dt\n  expected: at most {_short(most)} s with {method}: it is unstable above that {why}\n"
            f"  found:    {dt:g} s\n  mend:     set `integrator.dt={_suited(dt, most):g}`, or a method that takes this step: "
            f"{listed(takers, 'or')}"
        )
    return Advice(refusal, tuple(warnings))


def _points(scenario: Scenario, plant: Plant) -> Iterator[tuple[Linearization, str, int | None]]:
    """The linearised plant where it is looked at: what to call the place, and the joint whose stop is engaged."""
    from armsim.linear import Linearizer
    from armsim.run.stability import with_stop

    linearizer = Linearizer(plant)
    free = (False,) * plant.arm.n  # joints that friction holds may be set free later

    def about(q, qd) -> Linearization:
        state = plant.initial_state(list(q), list(qd))
        return replace(linearizer.at(0.0, plant.sample(0.0, state) if plant.sampled else state), held=free)

    start = about(scenario.initial_q, scenario.initial_qd)
    yield start, "at the start", None
    command = plant.command
    if isinstance(command, Feedback) and tuple(command.target) != tuple(scenario.initial_q):
        yield about(command.target, [0.0] * plant.arm.n), "at the target", None
    for i, joint in enumerate(plant.arm.joints):
        limit = joint.limit
        if limit is not None and limit.stiffness is not None:
            yield with_stop(start, i, limit.stiffness, limit.damping), "at a stop", i


def _short(seconds: float) -> str:
    """A time rounded down to three digits."""
    digits = 2 - math.floor(math.log10(seconds))
    return f"{math.floor(seconds * 10**digits) / 10**digits:g}"


def _suited(dt: float, most: float) -> float:
    """A whole part of dt with some room below the largest step: a half, a fourth, a fifth, a tenth and so on."""
    parts = 1.0
    while True:
        for share in (1, 2, 4, 5):
            if dt / (parts * share) * MARGIN <= most:
                return dt / (parts * share)
        parts *= 10


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as a sentence has them: a, b and c."""
    *first, end = names or ["none"]
    return f"{', '.join(first)} {last} {end}" if first else end
