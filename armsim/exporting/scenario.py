"""What is exported of a scenario: its start, its steps with the samples of its controller, and rows of its results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from armsim.errors import UsageError, spelled
from armsim.exporting.interface import SLOPES, Argument, Clock, Entry, Named, slopes
from armsim.expr import Function, Scalar, Scalars, differentiable, jacobian, trace, when
from armsim.loading import Scenario, load_scenario_file, read_scenario
from armsim.loading.open_numbers import OpenNumbers, open_numbers
from armsim.loading.open_paths import lacking
from armsim.plant import Plant, make_plant
from armsim.plant.column_kinds import KINDS
from armsim.plant.columns import spoken
from armsim.recording.state_vector import RATES, slot_of
from armsim.recording.step_functions import by_arguments
from armsim.simulation.tangent_plan import check_differentiable
from armsim.stability.method_choice import with_method


def entries_of_scenario(
    scenario: Any, what: Sequence[str], open: Sequence[str], option: str = "--open"
) -> tuple[Scenario, tuple[Named, ...], Clock, list[Entry]]:
    """The functions that are exported of a scenario.

    Args:
        scenario: A file, the name of a shipped scenario, or a file's content.
        what: Names of functions, step, observe and `SLOPES`, which takes the step too.
        open: Paths of numbers that are left open.
        option: That names them on the command line.

    Returns:
        The scenario, the open numbers, the clock, and the functions; `begin`, the state at the start, is always the first.

    Raises:
        FileFaults: The scenario cannot be used; says where and why.
        UsageError: There is no number at a path, or it is part of the structure; or the step has no derivatives.
    """
    if open:
        _refuse_absent(scenario, open, option)
    opened = open_numbers(scenario, open) if open else None
    written = read_scenario(scenario) if opened is None else opened.scenario(_values(opened, option))
    chosen = with_method(written)
    numbers = () if opened is None else tuple(map(_number(opened), opened.places))
    clock = chosen.clock

    def made(values: Scalars) -> tuple[Scenario, Plant]:
        own = chosen if opened is None else replace(opened.scenario(values), method=chosen.method)
        # open numbers may move arm or world between steps, so that a gap that was seen tells nothing
        return own, replace(make_plant(own), ahead=chosen.land_every > 1, skips=not open)

    plant = made([item.value for item in numbers])[1]
    return chosen, numbers, clock, _entries(chosen, plant, made, what, numbers)


def _entries(
    scenario: Scenario,
    plant: Plant,
    made: Callable[[Scalars], tuple[Scenario, Plant]],
    what: Sequence[str],
    numbers: tuple[Named, ...],
) -> list[Entry]:
    n = len(plant.slots)
    states = tuple(Named(slot, slot_unit(plant, slot)) for slot in plant.slots)
    more = (Argument("numbers", "the open numbers", numbers, "numbers"),) if numbers else ()
    about = f"number of the step, from 0; it begins at k times {scenario.dt!r} s"
    clock = Argument(
        "k",
        about,
        (Named("t", "s"), Named("due")),
        "clock",
    )
    state = Argument("state", "the state", states)

    def sampled(of: Plant, t: Scalar, due: Scalar, x: Scalars) -> Scalars:
        """The state after the sample that may be due: a loop that is done at once where none is."""
        if not of.sampled:
            return list(x)
        (after,) = when(due > 0.5, lambda now: [of.sample(t, now)], list(x))
        return list(after)

    def begin(*values: Scalar) -> Scalars:
        own, of = made(values)
        return of.initial_state(own.initial_q, own.initial_qd, own.landing)

    def step(t: Scalar, due: Scalar, *x: Scalar) -> Scalars:
        of = made(x[n:])[1]
        return of.step(t, sampled(of, t, due, x[:n]), scenario.dt)

    def observe(t: Scalar, due: Scalar, *x: Scalar) -> Scalars:
        of = made(x[n:])[1]
        return [*of.observe(t, sampled(of, t, due, x[:n]))]

    opened = [item.name for item in numbers]
    names = ["t", "due", *plant.slots, *opened]
    found = [Entry("begin", "The state at the start.", trace(begin, opened, "begin"), more, state)]
    if "step" in what or SLOPES in what:
        sample = (
            "after the sample of the controller that may be due" if plant.sampled else "the controller is continuous"
        )
        sample = f", {sample}" if plant.command is not None else ""
        words = f"One step of {scenario.dt!r} s by {scenario.method}{sample}."
        after = Argument("next", "the state a step later", states)
        found.append(Entry("step", words, trace(step, names, "step"), (clock, state, *more), after))
        if SLOPES in what:
            found.append(slopes(found[-1], _differentiated(step, plant, names), states))
    if "observe" in what:
        words = "What trajectory.csv and torque.csv have of step k."
        row = Argument("row", "the row", tuple(Named(heading.text) for heading in plant.layout.headings()))
        found.append(Entry("observe", words, trace(observe, names, "observe"), (clock, state, *more), row))
    return found


def _differentiated(step: Callable[..., Scalars], plant: Plant, names: Sequence[str]) -> Function:
    """The step with its derivatives by the state and by the open numbers, both after the clock; of the names of all."""
    check_differentiable(plant)
    with differentiable():
        traced = trace(step, names, "step")
    n, clock = len(plant.slots), 2
    found = jacobian(traced, range(clock, len(names)))
    parts = by_arguments(found.outputs[n:], [n, len(names) - clock - n])
    return Function(SLOPES, found.graph, [*found.outputs[:n], *parts])


def slot_unit(plant: Plant, slot: str) -> str:
    """The unit of a state; empty for a pure number or a unit of no name."""
    kind, joint = slot_of(plant, slot)
    if joint is None:
        return "s" if kind == "step_length" else ""
    of = plant.arm.joints[joint].kind
    if kind == "integral":
        return f"{of.length}·s"
    if kind in ("held", "plan"):
        return "V" if getattr(plant.command, "output", "") == "voltage" else of.force
    like = KINDS.get(RATES.get(kind, kind))
    return "" if like is None else spoken(like.unit(of))


def _values(opened: OpenNumbers, option: str) -> list[float]:
    """The file's values of open numbers.

    Raises:
        UsageError: One of them means that something is absent.
    """
    import numpy as np

    values = [opened.number(place) for place in opened.places]
    ((written, _),) = opened.groups(np.array([values]))
    if written:
        path, value = next(iter(written.items()))
        mend = "write a number other than this one into the file, or do not leave it open"
        raise UsageError.of(
            _where(option, path), "a number of something that is there", f"{value!r}, which means none", mend
        )
    return values


def _refuse_absent(scenario: Any, open: Sequence[str], option: str) -> None:
    """Refuse paths of numbers that the file lacks, as their values there are the defaults.

    Raises:
        UsageError: There is one.
    """
    file = load_scenario_file(scenario)
    for path in open:
        key = lacking(file.whole, path)
        if key:
            raise UsageError.of(
                _where(option, path),
                "a number that the file has",
                f"no {key}",
                "write it into the file, as the default",
            )


def _where(option: str, path: str) -> str:
    return spelled(f"{option} {path}", f"{option.removeprefix('--')} {path}")


def _number(opened: OpenNumbers) -> Callable[[str], Named]:
    return lambda place: Named(place, opened.unit(place), opened.number(place))
