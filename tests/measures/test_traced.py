"""Measures traced: on floats, on replayed graphs and in machine code they give the same bits, whatever is left open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armsim.control import Constant
from armsim.expr import divided, flatten, leaves, replay, trace, unflatten
from armsim.expr.replay import OPERATIONS
from armsim.measures import Moment, measures_of
from armsim.measures.catalog import AGGREGATES, KINDS

IEEE = {**OPERATIONS, "div": divided}
PUSH = {"force": [0, 0, -50], "from": 0.005, "to": 0.01}
WARM = {"robot.joints[1].motor.thermal": {"resistance": 1, "time_constant": 10, "max": 155}}
RUNS = {
    "arm5_hold_pi": {"integrator.dt": 5e-4, "log.every": 5e-4, "control.limit": 8}
    | {"duration": 0.02, "external": [{"link": "R2", **PUSH}], **WARM},
    "puma560_hold": {"integrator": {"method": "semi_implicit_euler", "dt": 1e-3}, "log.every": 1e-3}
    | {"duration": 0.02, "external": [{"link": "J2", **PUSH}]},
}


def names_for(plant):
    joint = plant.arm.joints[1].name
    return [
        *(name for name in KINDS if name not in _absent(plant)),
        *(f"{name}_{joint}" for name, kind in KINDS.items() if kind.of == "either" and name not in _absent(plant)),
        *(f"{name}(tau_{joint}*q_{joint} + t)" for name in AGGREGATES),
        *(f"{name}(1/(qd_{joint} - t) + x*kinetic_energy)" for name in AGGREGATES),
        "settling_time(0.01)",
        "iae + 0.1*overshoot - sqrt(rms(tau_friction_" + joint + "))/duration",
        "work_motors/error",
    ]


def _absent(plant):
    kinds = ("energy_drawn", "energy_fed_back", "rms_current", "winding_temperature", "peak_winding_temperature")
    absent = () if any(joint.electric_motor for joint in plant.arm.joints) else kinds
    absent = absent if plant.arm.solids else (*absent, "least_distance")
    return absent if plant.arm.contacts else (*absent, "contact_time")


def opened(plant, target):
    return replace(plant, command=replace(plant.command, reference=Constant(tuple(target))))


@pytest.fixture(scope="module", params=RUNS)
def run(request, moments):
    """A run's moments, its measures, and their accumulators before each moment and at the end."""
    plant, seen = moments(request.param, RUNS[request.param])
    measures = measures_of(names_for(plant), plant)
    kept = [[measure.begin() for measure in measures]]
    for now in seen:
        kept.append([measure.update(x, now) for measure, x in zip(measures, kept[-1], strict=True)])
    return plant, seen, measures, kept


def arguments(plant, now, kept):
    return [now.t, *now._state, *now.start, *plant.command.target, *leaves(kept)]


def traced(plant, dt, kept, body):
    """A function of time, state, start, target and accumulators."""
    sizes = [1, len(plant.slots), plant.arm.n, plant.arm.n]
    structure = flatten(kept)[1]

    def apart(*x):
        (t,), state, start, target = (x[sum(sizes[:i]) : sum(sizes[: i + 1])] for i in range(4))
        now = Moment(opened(plant, target), t, state, dt, start)
        return body(unflatten(structure, x[sum(sizes) :]), now)

    return trace(apart, [f"x{i}" for i in range(sum(sizes) + len(leaves(kept)))], "measures")


def bits(values):
    """Doubles without signs of zero, which folding loses, and with one NaN."""
    return [float(x) + 0.0 if x == x else "nan" for x in values]


@pytest.mark.slow
def test_updates_have_the_bits_of_floats_on_graphs_and_in_machine_code(run, evaluate):
    plant, seen, measures, kept = run
    function = traced(
        plant,
        seen[0].dt,
        kept[0],
        lambda before, now: leaves([m.update(x, now) for m, x in zip(measures, before, strict=True)]),
    )
    columns = [arguments(plant, now, before) for now, before in zip(seen, kept, strict=False)]
    expected = [bits(leaves(after)) for after in kept[1:]]
    for k in (0, 1, len(seen) - 1):
        assert bits(replay(function, columns[k], IEEE)) == expected[k]
    found = evaluate(function, np.array(columns).T)
    assert [bits(column) for column in found.T] == expected


@pytest.mark.handful(1)
def test_results_have_the_bits_of_floats_on_graphs_and_in_machine_code(run, evaluate):
    plant, seen, measures, kept = run

    def body(last, end):
        return [x for m, before in zip(measures, last, strict=True) for x in m.result(before, end)]

    function = traced(plant, seen[0].dt, kept[-1], body)
    expected = bits(body(kept[-1], seen[-1]))
    column = arguments(plant, seen[-1], kept[-1])
    assert bits(replay(function, column, IEEE)) == expected
    assert bits(evaluate(function, np.array([column]).T)[:, 0]) == expected


def test_what_a_measure_does_not_ask_is_not_computed(run):
    plant, seen, _, _ = run
    (measure,) = measures_of(["iae"], plant)
    function = traced(plant, seen[0].dt, measure.begin(), lambda kept, now: leaves(measure.update(kept, now)))
    # per joint an error, its magnitude and its sum; then the trapezoid
    assert function.flops() <= 2 * plant.arm.n + 3
    (pose,) = measures_of(["pose"], plant)
    assert traced(plant, seen[0].dt, pose.begin(), lambda kept, now: leaves(pose.update(kept, now))).outputs == ()
