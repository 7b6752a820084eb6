"""Switches of traced functions: fixed, they leave a smooth branch; their margins tell where it ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armsim.expr import Switches, absolute, both, clip, fma, maximum, minimum, replay, shared, trace, where

NUMBERS = st.floats(-5.0, 5.0, allow_subnormal=False)


def pushed(x, limit):
    """A command within limits, less what a one-sided spring gives."""
    command = clip(3.0 * x, -limit, limit)
    return [command - maximum(x - 1.0, 0.0), absolute(x + 0.5), where(both(x > 2.0, command > 0.0), 1.0, x)]


@pytest.fixture(params=["numbers", "expressions"])
def at(request):
    """`sides`, `within` and `margins` of a function, at numbers: replayed from a graph where the parameter says so."""

    def evaluate(switches, method, *args):
        if request.param == "numbers":
            return getattr(switches, method)(*args)
        flat = [x for arg in args for x in (arg if isinstance(arg, list) else [arg])]

        def body(*x):
            given = iter(x)
            return getattr(switches, method)(
                *([next(given) for _ in arg] if isinstance(arg, list) else next(given) for arg in args)
            )

        return replay(trace(body, [f"x{i}" for i in range(len(flat))]), flat)

    return evaluate


@given(x=NUMBERS, y=NUMBERS)
def test_on_the_branch_of_its_own_sides_a_function_has_its_own_value(x, y):
    switches = Switches(pushed, (0,))
    limit = 1.0 + abs(y)
    assert switches.within(switches.sides(x, limit), x, limit) == pushed(x, limit)
    assert all(margin >= 0.0 for margin in switches.margins(switches.sides(x, limit), x, limit))


@pytest.mark.parametrize(("x", "beyond"), [(0.5, 1.4), (-0.2, -0.9), (0.9, 1.3)])
def test_a_branch_goes_on_smoothly_where_a_switch_would_turn(at, x, beyond):
    switches = Switches(pushed, (0,))
    sides = at(switches, "sides", x, 3.0)
    there, end = (at(switches, "within", sides, z, 3.0) for z in (x, beyond))
    middle = at(switches, "within", sides, (x + beyond) / 2, 3.0)
    assert middle == pytest.approx([(a + b) / 2 for a, b in zip(there, end, strict=True)])  # its branches are straight
    assert end != pytest.approx(pushed(beyond, 3.0))
    assert min(at(switches, "margins", sides, beyond, 3.0)) < -0.05


def test_a_margin_is_the_distance_to_where_its_switch_turns(at):
    switches = Switches(lambda x, y: [minimum(2.0 * x, y)], (0,))
    sides = at(switches, "sides", 1.0, 5.0)
    assert at(switches, "margins", sides, 2.0, 5.0) == [pytest.approx(1.0)]
    assert at(switches, "margins", sides, 4.0, 5.0) == [pytest.approx(-3.0)]
    assert at(switches, "spares", sides, 4.0, 5.0) == [-3.0]


def test_a_switch_of_a_branch_that_is_not_taken_does_not_matter(at):
    for body in (
        lambda x, y: [where(x < 0.0, maximum(y, 0.0), x)],
        lambda x, y: [where(x > 0.0, x, maximum(y, 0.0))],
    ):
        switches = Switches(body, (0, 1))
        for y in (3.0, -3.0):
            assert min(at(switches, "margins", at(switches, "sides", 1.0, 3.0), 1.0, y)) == 1.0
            assert (min(at(switches, "margins", at(switches, "sides", -1.0, 3.0), -1.0, y)) < 0.0) is (y < 0.0)


def test_what_does_not_move_is_no_switch(at):
    switches = Switches(lambda x, y: [where(y < 0.0, x, 2.0 * x)], (0,))
    assert at(switches, "sides", 1.0, -1.0) == []
    assert at(switches, "within", [], 1.0, -1.0) == [1.0]


def test_rounding_turns_no_switch(at):
    switches = Switches(lambda x, y: [minimum(x + y, 1.0)], (0, 1))
    x = y = 0.5
    sides = at(switches, "sides", x, y)
    for off in (-2e-16, 2e-16):
        assert at(switches, "margins", sides, x + off, y)[0] > 0.0


def test_calls_and_captured_values_are_seen_through():
    def body(x, y):
        limited = shared(lambda z: [minimum(fma(z, y, 1.0), 2.0)], "limited")
        switches = Switches(lambda z: limited(z), (0,))
        sides = switches.sides(x)
        return [*sides, *switches.within(sides, 10.0 * x), *switches.margins(sides, 10.0 * x)]

    side, value, margin = replay(trace(body, ["x", "y"]), [0.1, 3.0])
    assert (side, value) == (1.0, pytest.approx(4.0))
    assert margin == pytest.approx(-2.0)
