"""A scenario that runs in a page: its steps as JavaScript, and the numbers that are left open for sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from os import PathLike
from typing import Any

import numpy as np

from armsim.errors import UsageError, spelled
from armsim.exporting.interface import Model
from armsim.exporting.scenario import entries_of_scenario
from armsim.figures.drawn_run import columns_over_time
from armsim.figures.panels import Panels
from armsim.loading import Scenario, read_scenario
from armsim.loading.open_numbers import OpenNumbers, open_numbers
from armsim.records import Json, record
from armsim.viewing.arm_data import arm_data
from armsim.viewing.programs import NAME, fields, printed
from armsim.viewing.run_data import forces_of, panel_data

GAINS = ("kp", "ki", "kd")
Sliders = Mapping[str, tuple[float, float] | None]
NONE: Sliders = {}
REACH = 4.0  # sliders of gains go from a share to a multiple of the file's value
LOAD = 1.0  # kg: what stands in the file for a payload that is absent at first


@record
class Slider:
    """A slider for an open number.

    Attributes:
        path: The number's.
        group: Of sliders.
        of: Its name in the group.
        unit: Of the number.
        value: At first.
        low: At its lower end.
        high: At its upper end.
        log: Whether it moves by ratios.
        joint: Whose target it is, by index; None for another number.
    """

    path: str
    group: str
    of: str
    unit: str
    value: float
    low: float
    high: float
    log: bool = False
    joint: int | None = None


def live_data(given: str | PathLike[str], degrees: bool = False, sliders: Sliders = NONE) -> Json:
    """A scenario as a page runs it.

    A force on the tool is added, and a payload where the scenario has none: zeros at first.

    Args:
        given: The scenario.
        degrees: Show angles in degrees.
        sliders: See `armsim.viewing.view.view`.

    Returns:
        arms, duration [s], method, dt [s] of a step, program (a module with begin, step and observe), row (names of its
        numbers), numbers (each a `Slider` with its field in the program), forces and panels (see `forces_of` and `panel_data` in
        `armsim.viewing.run_data`) and degrees.

    Raises:
        FileFaults: The scenario cannot be used; says where and why.
        UsageError: There is no number at a slider's path, it is part of the structure, or its ends are not in order.
    """
    written = read_scenario(given)
    data, numbers = opened(written, sliders)
    paths = [number.path for number in numbers]
    scenario, named, clock, entries = entries_of_scenario(data, ("step", "observe"), paths, "--slider")
    program = printed(Model(NAME, [f"steps of {scenario.name}"], entries, named, clock))
    places = dict(zip(fields([item.name for item in named]), named, strict=True))
    by_path = {item.name: field for field, item in places.items()}
    _, _, observe = entries
    names = [item.name for item in observe.result.items]
    rowless = columns_over_time(scenario.name, {"t_s": [], **{name: [] for name in names}}, written.scenario_data)
    return {
        "arms": [arm_data(rowless.known_arm())],
        "duration": written.scenario_data["duration"],
        "method": scenario.method,
        "dt": clock.at(1),
        "program": program,
        "row": names,
        "numbers": [{**asdict(number), "field": by_path[number.path]} for number in numbers],
        "forces": forces_of(written.scenario_data),
        "panels": [panel_data(panel) for panel in Panels(rowless, "deg" if degrees else "").default()],
        "degrees": degrees,
    }


def opened(written: Scenario, sliders: Sliders = NONE) -> tuple[Json, list[Slider]]:
    """A scenario's data with what can be changed in it, and the sliders of the numbers that are left open."""
    data = deepcopy(dict(written.scenario_data))
    arm, numbers = written.arm, list[Slider]()
    names = [joint.name for joint in arm.joints]
    control: Mapping[str, Any] = data.get("control") or {}
    target = control.get("target")
    if _numeric(target, arm.n):
        assert target is not None
        for i, (joint, value) in enumerate(zip(arm.joints, target, strict=True)):
            span = 1.0 if joint.kind.turns else 0.2
            path, unit, ends = f"control.target[{i}]", joint.kind.length, (value - span, value + span)
            numbers.append(Slider(path, "target", names[i], unit, value, *ends, joint=i))
    for key in GAINS:
        if _numeric(control.get(key), arm.n):
            for i, value in enumerate(control[key]):
                if value > 0:  # zeros decide what there is
                    place = f"control.{key}[{i}]"
                    numbers.append(Slider(place, key, names[i], "", value, value / REACH, value * REACH, log=True))
    data["payload"], load = _payloads(data.get("payload") or data["robot"].get("payload") or {})
    numbers += load
    push = len(data.get("external") or [])
    data["external"] = [*(data.get("external") or []), {"frame": "tool", "force": [1.0, 1.0, 1.0]}]
    for axis in range(3):
        numbers.append(Slider(f"external[{push}].force[{axis}]", "push", "xyz"[axis], "N", 0.0, -50.0, 50.0))
    return data, _with_sliders(data, numbers, sliders)


def _payloads(carried: Any) -> tuple[Any, list[Slider]]:
    """What frames carry, and sliders of what it weighs."""
    if not isinstance(carried, list):
        return _payload(carried)
    items, sliders = [], list[Slider]()
    for i, item in enumerate(carried):
        path, parts = f"payload[{i}]", {key: item[key] for key in ("mass", "center") if key in item}
        if "body" in item:
            body, found = _payload(item["body"], f"{path}.body", item["name"])
            parts = {"body": body}
        else:
            parts, found = _payload(parts, path, item["name"])
        items.append({**item, **parts})
        sliders += found
    return items, sliders


def _payload(carried: Json, path: str = "payload", name: str | None = None) -> tuple[Json, list[Slider]]:
    """A payload, and the slider of what it weighs: mass, or of a solid that is given by it, density."""
    if set(carried) <= {"mass", "center"}:
        mass = float(carried.get("mass", 0.0))
        number = Slider(f"{path}.mass", "payload", name or "mass", "kg", mass, 0.0, max(2.0, 3.0 * mass))
        return {**carried, "mass": mass or LOAD}, [number]
    ((shape, body),) = carried.items()
    key, unit = ("density", "kg/m³") if "density" in body else ("mass", "kg")
    value = float(body[key])
    if not value > 0:  # a solid without mass is none
        return carried, []
    return carried, [Slider(f"{path}.{shape}.{key}", "payload", name or key, unit, value, 0.0, 3.0 * value)]


def _with_sliders(data: Json, numbers: list[Slider], sliders: Sliders) -> list[Slider]:
    """Sliders with those that are asked for besides, or with other ends.

    Raises:
        UsageError: There is no number at a path, or ends are not in order, or none that the files would take.
    """
    found = {number.path: number for number in numbers}
    for path, ends in sliders.items():
        opened = open_numbers(data, [path])
        values = [opened.number(place) for place in opened.places]
        for i, (place, value) in enumerate(zip(opened.places, values, strict=True)):
            tried = [ends] if ends else [(-1.0, 1.0), (0.0, 1.0)] if not value else [_around(value)]
            refused = [_refused(path, opened, values, i, *pair) for pair in tried]
            last = refused[-1]
            if last is not None:
                raise UsageError.of(_where(path), "two ends that the number may have", *last)
            low, high = tried[refused.index(None)]
            name = path if len(values) == 1 else place
            known = found.get(place) or Slider(place, "more", name, opened.unit(place), value, low, high)
            found[place] = replace(known, low=low, high=high, log=ends is None and value > 0)
    return list(found.values())


def _around(value: float) -> tuple[float, float]:
    low, high = sorted((value / REACH, value * REACH))
    return low, high


def _refused(
    path: str, opened: OpenNumbers, values: Sequence[float], i: int, low: float, high: float
) -> tuple[str, str] | None:
    """Why a slider of the i-th number must not go from `low` to `high`, and how to mend it; None if it may."""
    if not low < high:
        return f"{low:g} and {high:g}", f"write the least first, for example {path}=0.5:2"
    ends = np.tile(np.array(values, dtype=float), (2, 1))
    ends[:, i] = low, high
    reasons = opened.refused(ends)
    return (next(iter(reasons.values())), "take ends within these bounds") if reasons else None


def _where(path: str) -> str:
    return spelled(f"--slider {path}", f"sliders {path}")


def _numeric(values: Any, count: int) -> bool:
    return isinstance(values, list) and len(values) == count and all(isinstance(x, (int, float)) for x in values)
