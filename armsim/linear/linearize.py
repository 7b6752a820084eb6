"""The linear model of a scenario about one of its states."""

from __future__ import annotations

from dataclasses import replace

from armsim.arm.integration import check_creep, real_number
from armsim.clock import NEVER
from armsim.compile import evaluated
from armsim.control import Controller
from armsim.document.timing import WHOLE
from armsim.errors import Diverged, UsageError
from armsim.linear.model import LinearModel, linear_model
from armsim.loading import Given, Overrides, Scenario, scenario_of
from armsim.plant import Plant, make_plant
from armsim.plant import linearize as linearize_plant
from armsim.plant.statics import steady_state
from armsim.simulation.engine import NativeEngine
from armsim.simulation.loop_plan import LoopPlan
from armsim.simulation.runner import Job, Runner
from armsim.simulation.simulate import simulate
from armsim.stability.method_choice import with_method
from armsim.stability.operating_point import aimed_at


def linearize(
    scenario: Given | Scenario,
    at: float = 0.0,
    target: bool = False,
    overrides: Overrides | None = None,
    force_step: bool = False,
    creep: float | None = None,
) -> LinearModel:
    """The linear equations of a scenario about one of its states, with exact coefficients.

    Args:
        scenario: A scenario file, the name of a shipped one, its content, or what `armsim.loading.read_scenario` returned.
        at: Time [s] up to which the scenario is simulated first: a whole multiple of dt, and any time with an adaptive method.
        target: Linearise about rest at the target of the feedback instead, under the command that it gives there.
        overrides: Values in place of the file's, by path: {"control.kp[0]": 80}.
        force_step: Simulate even with a step that is refused; see `armsim.simulate`.
        creep: Smooths dry friction in the equations: a velocity well below which it counts as viscous [rad/s or m/s].

    Raises:
        FileFaults: The scenario or its robot cannot be run; says where and why.
        UsageError: There is no such state, its motors have no linear equations, or its step is refused.
        Diverged: The simulation diverges before that time.
    """
    scenario = scenario_of(scenario, overrides)
    scenario, at = with_method(scenario), real_number("at", at)
    creep = check_creep(creep)
    if target:
        return _about_target(scenario, at, creep)
    steps, rest = _steps(scenario, at)
    plant = make_plant(scenario)
    if steps == 0:
        state = plant.initial_state(scenario.initial_q, scenario.initial_qd)
    else:
        run = simulate(
            replace(scenario, clock=replace(scenario.clock, steps=steps, log_every=steps)), force_step=force_step
        )
        if run.status == "interrupted":
            raise KeyboardInterrupt
        if run.status == "diverged":
            raise _diverges(scenario, at)
        x = run.plant.parts(run.state)
        state = replace(x, works=None, ahead=None, contacts=run.plant.relaxed(x), clearance=None).flat()
    t = scenario.clock.at(steps)
    if rest > 0.0:
        t, state = at, _land(scenario, plant, state, steps, rest)
    elif scenario.clock.samples_at(steps):
        state = plant.sample(t, state)
    about = linearize_plant(replace(plant, creep=creep), t, state, evaluated)
    return linear_model(about, scenario, "the start" if t == 0.0 else f"t = {t:g} s")


def _land(scenario: Scenario, plant: Plant, state: list[float], steps: int, rest: float) -> list[float]:
    """The state a fraction of a step later, `rest` [s], by an adaptive method, which can land anywhere."""
    plan = LoopPlan(plant, rest, rows=False)
    runner = Runner(NativeEngine(plan), Job(plan, replace(scenario.clock, log_every=NEVER), state, first=steps))
    for _ in runner.until(steps + 1):
        pass
    if not runner.lanes.alive:
        raise _diverges(scenario, scenario.clock.at(steps) + rest)
    return runner.state


def _diverges(scenario: Scenario, at: float) -> Diverged:
    smaller = "integrator.rtol" if scenario.adaptive else "integrator.dt"
    mend = f"take a smaller {smaller}, or an earlier time"
    return Diverged.of("at", "a time that the simulation reaches", f"{at:g} s; it diverges before", mend)


def _about_target(scenario: Scenario, at: float, creep: float | None) -> LinearModel:
    command = scenario.command
    if not isinstance(command, Controller):
        raise UsageError.of(
            "target",
            "a scenario with `control`, whose target it is",
            "none",
            "leave target out, or add a `control` block",
        )
    if at:
        raise UsageError.of("target", "the target or a time", f"both, and the time {at:g} s", "leave one out")
    plant = make_plant(scenario)
    target, rates, t = aimed_at(plant, command, scenario.clock.steps * scenario.dt)
    state = steady_state(plant, t, target, rates)
    return linear_model(linearize_plant(replace(plant, creep=creep), t, state, evaluated), scenario, "the target")


def _steps(scenario: Scenario, at: float) -> tuple[int, float]:
    """The number of whole steps up to a time [s], and the remainder [s]: 0 unless the method is adaptive."""
    longest = scenario.clock.end
    if not 0 <= at <= longest:
        raise UsageError.of(
            "at",
            f"a time from 0 to {longest:g} s, the scenario's duration",
            f"{at:g} s",
            "take an earlier time, or a longer duration",
        )
    steps = round(at / scenario.dt)
    if abs(at / scenario.dt - steps) > WHOLE * max(steps, 1):
        if scenario.adaptive:
            before = int(at / scenario.dt)
            return before, at - scenario.clock.at(before)
        near = sorted({scenario.clock.at(k) for k in (int(at / scenario.dt), int(at / scenario.dt) + 1)})
        raise UsageError.of(
            "at", f"a whole multiple of dt, {scenario.dt:g} s", f"{at!r} s", f"take {' or '.join(map(repr, near))}"
        )
    return steps, 0.0
