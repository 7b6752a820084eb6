"""Advice on a scenario's step: computed once, and cached with the compiled kernels.

Before it, forces that no run follows: under them a joint is beyond all bounds before an adaptive method has counted its turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from armsim import sources
from armsim.actuation import JointTorque
from armsim.compile import cache
from armsim.control import OpenLoop
from armsim.dynamics import crba, joint_forces, link_wrenches, solve_ldl
from armsim.errors import Refusal, UsageError, spelled
from armsim.formulas.formula import FormulaError
from armsim.loading import Scenario
from armsim.plant import Plant, make_plant
from armsim.records import Mismatch, as_plain, from_plain, record
from armsim.stability.advice import Advice, is_judged
from armsim.stability.operating_point import is_calm

WILD = 1e10  # rad/s² or m/s²: a joint that is less accelerated is followed, however far it gets
FAR = 1e6  # rad or m: bound of a position in a run


def advice_on(scenario: Scenario, whole: bool = True) -> Advice:
    """The advice on a scenario's step, from the cache or computed; empty where it does not apply (`is_judged`).

    Args:
        scenario: The scenario.
        whole: Whether stops and supplies matter, or it may be partial.
    """
    plant = make_plant(scenario)
    refusal = overload(scenario, plant)
    if refusal is not None:
        return Advice(refusal)
    if not is_judged(plant):
        return Advice()
    name = key("advice", scenario)
    try:
        known: Advice = from_plain(Advice, cache.load_json(name))
        if not (whole and known.partial):
            return known
    except Mismatch:
        pass  # there is none, or something else
    advice = Advice(partial=True)
    if whole or not _is_calm(scenario, plant):
        from armsim.stability.wording import check_step

        advice = check_step(scenario, plant)
    if name:
        cache.store_json(name, as_plain(advice))
    return advice


def _is_calm(scenario: Scenario, plant: Plant) -> bool:
    with suppress(ArithmeticError, FormulaError):
        return is_calm(scenario, plant)
    return False


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


@record
class Push:
    """Generalised forces at the start of a run.

    Attributes:
        path: Key of the scenario that gives them.
        force: [N·m or N], n of them.
        lasting: How long they act [s].
    """

    path: str
    force: Sequence[float]
    lasting: float


def overload(scenario: Scenario, plant: Plant) -> Refusal | None:
    """Why an adaptive method would count turns in vain; None where the forces of a scenario are such as it can follow.

    Applied loads and torque inputs count that would take a joint beyond `FAR`, from rest at the start, if nothing but what
    damps and holds the joint itself opposed them. Such a run takes millions of steps before it leaves its bounds.

    Args:
        scenario: What is to be run.
        plant: Its plant.
    """
    if plant.integrator.adaptive is None:
        return None
    q, arm = list(scenario.initial_q), plant.arm
    for push in _pushes(scenario, plant):
        found = solve_ldl(crba(arm, q), push.force)
        for i, (joint, a) in enumerate(zip(arm.joints, found, strict=True)):
            time = (2 * FAR / abs(a)) ** 0.5 if abs(a) > WILD else push.lasting
            if time < push.lasting and _opposed(plant, q, i, push) > FAR:
                unit = joint.kind.length
                return Refusal(
                    push.path,
                    f"forces under which a joint stays within 1e6 {unit}, the bound of a run",
                    f"{joint.name} is accelerated at {abs(a):.2g} {unit}/s², and is there {time:.2g} s later",
                    "check the unit and the exponent of the force, and the inertia of what it acts on",
                )
    return None


def _pushes(scenario: Scenario, plant: Plant) -> list[Push]:
    arm, q, duration = plant.arm, list(scenario.initial_q), scenario.clock.steps * scenario.dt
    still, found = [0.0] * arm.n, []
    for k, wrench in enumerate(plant.external):
        begin = 0.0 if wrench.start is None else float(wrench.start)
        end = duration if wrench.end is None else min(duration, float(wrench.end))
        applied = link_wrenches(arm, begin, q, [wrench], begin, still) or ()
        found.append(Push(f"external[{k}]", joint_forces(arm, q, applied), end - begin))
    if isinstance(plant.command, OpenLoop) and plant.command.output == "torque":
        for t in (0.0, duration / 2):
            with suppress(ArithmeticError, FormulaError):  # a formula may have no value there
                motors = [torque.motor for torque in arm.mechanism.of_drivers(_torques(plant, t, q, still))]
                found.append(Push("inputs.torque", motors, duration - t))
    return found


def _torques(plant: Plant, t: float, q: Sequence[float], qd: Sequence[float]) -> list[JointTorque]:
    """The loads on every joint at a time [s], after a sample."""
    x = plant.parts(plant.sample(t, plant.initial_state(q, qd)))
    return plant.loads.torques(t, plant.motion_of(x), plant.held(t, x))


def _opposed(plant: Plant, q: Sequence[float], i: int, push: Push) -> float:
    """How far a force takes a joint at most against its own damping and stiffness [rad or m]."""

    def total(at: float, v: float) -> float:
        positions, velocities = ([x if j == i else y for j, y in enumerate(like)] for x, like in ((at, q), (v, still)))
        torques = _torques(plant, 0.0, positions, velocities)
        return sum(torques[at].total for at in {i, plant.arm.mechanism.drivers[i]})

    still, limit = [0.0] * plant.arm.n, plant.arm.joints[i].limit
    try:
        damping, stiffness = total(q[i], 0.0) - total(q[i], 1.0), total(q[i], 0.0) - total(q[i] + 1.0, 0.0)
    except (ArithmeticError, FormulaError):
        return 0.0
    if limit is not None and limit.stiffness is not None:
        stiffness = max(stiffness, limit.stiffness)
    force = abs(push.force[i])
    return min(force * push.lasting / max(damping, 1e-30), force / max(stiffness, 1e-30))
