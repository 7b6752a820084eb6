"""Every number of a file may be left open, and gives the bits of the number written in."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pytest

from armsim.compile.single import SingleKernel
from armsim.document.base import numbers
from armsim.dynamics import fastest_algorithm
from armsim.expr import Expr, replay, trace
from armsim.loading import build_scenario, load_scenario_file
from armsim.plant import make_plant
from armsim.stability.method_choice import with_method

STEPS = {"arm5_hold": 2, "puma560_hold": 1}  # sticking joints take long to trace


def leaves(document, path: str = "") -> Iterator[tuple[str, float]]:
    """Paths and values of the numbers that are not structure."""
    for place, number in numbers(document, path):
        if not number.kind.structure and not number.kind.means_absent(number.value):
            yield place, number.value


def every_leaf(name: str) -> dict[str, float]:
    """All numbers of a scenario and its robot, by path."""
    file = load_scenario_file(name)
    return dict(leaves(file.document)) | dict(leaves(file.robot.document, "robot"))


def course(name: str, opened):
    """Rows and states of two steps from a moving start; the scenario's numbers may be open."""
    scenario = build_scenario(load_scenario_file(name), opened)
    plant = make_plant(scenario)
    q = [x + 0.1 * (i + 1) for i, x in enumerate(scenario.initial_q)]
    qd = [x + 0.3 - 0.2 * i for i, x in enumerate(scenario.initial_qd)]
    state, rows = plant.initial_state(q, qd), []
    for k in range(STEPS[name]):
        t = k * scenario.dt
        if plant.sampled:
            state = plant.sample(t, state)
        rows += plant.observe(t, state)
        state = plant.step(t, state, scenario.dt)
    return [*rows, *state]


def compiled(function, value: float) -> list[float]:
    """What machine code makes of one number."""
    given, results = (ctypes.c_double * 1)(value), (ctypes.c_double * len(function.outputs))()
    SingleKernel(function).call(ctypes.addressof(given), ctypes.addressof(results))
    return list(results)


@pytest.mark.parametrize("name", ["arm5_hold", "puma560_hold"])
@pytest.mark.parametrize("part", range(4))  # so that two processes can share the work
@pytest.mark.slow
def test_each_number_left_open_gives_the_bits_of_the_number_written_in(name, part):
    expected = course(name, None)
    found = list(every_leaf(name).items())
    assert len(found) > 150
    felt = 0
    for i, (path, value) in enumerate(found[part::4]):
        function = trace(lambda x, path=path: course(name, {path: x}), ["x"], "course")
        assert replay(function, [value]) == expected, path
        if i % 4 == 0:  # machine code has the bits of any graph on floats: some of these suffice
            assert compiled(function, value) == expected, path
        felt += any(isinstance(out, Expr) for out in function.outputs)
    assert felt > len(found[part::4]) / 2  # most numbers matter


@pytest.mark.parametrize("name", ["arm5_hold", "puma560_hold"])
def test_armsim_picks_the_same_method_and_algorithm_whichever_number_is_open(name):
    file = load_scenario_file(name, {"integrator": {}})
    written = with_method(build_scenario(file))
    for path, value in every_leaf(name).items():
        if value == 0.0:
            continue  # zero is structure: what is zero cannot damp

        def check(x, path=path):
            opened = with_method(build_scenario(file, {path: x}))
            assert (opened.method, opened.picked) == (written.method, written.picked), path
            assert make_plant(opened).algorithm == make_plant(written).algorithm
            return [x]

        trace(check, ["x"])


def test_a_function_may_be_traced_within_another():
    # the flops of an arm whose masses are open in the function around
    counts = []

    def outer(mass):
        scenario = build_scenario(load_scenario_file("arm5_hold"), {"robot.joints[R2].bodies[0].cylinder.mass": mass})
        arm = scenario.arm
        inner = trace(lambda *q: [arm.inertias[1].mass * q[0]], [f"q{i}" for i in range(arm.n)])
        counts.append(inner.flops())
        assert fastest_algorithm(arm) == "crba"
        return replay(inner, [2.0, 0.0, 0.0, 0.0, 0.0, *inner.graph.captured])

    function = trace(outer, ["mass"])
    assert counts[0] > 0
    assert replay(function, [3.0]) == [2.0 * course_mass(3.0)]


def course_mass(mass: float) -> float:
    """The mass of arm5's second link with its first cylinder of that mass."""
    return (
        build_scenario(load_scenario_file("arm5_hold"), {"robot.joints[R2].bodies[0].cylinder.mass": mass})
        .arm.inertias[1]
        .mass
    )
