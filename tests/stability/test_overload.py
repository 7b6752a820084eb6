"""Forces that no run follows are refused before it: a mass m under a force F is x = F t² / 2m away."""

from __future__ import annotations

import pytest

import armsim
from armsim.errors import UsageError
from armsim.loading import read_scenario
from armsim.simulation.simulate import advise

MASS, FORCE = 2.0, 1e12
THERE = (2 * 1e6 * MASS / FORCE) ** 0.5  # s, until it is 1e6 m away


def slide(lasting=1.0, method="rodas", force=FORCE, joint=None, **keys):
    """A mass on a rail, pushed from 0.5 s on."""
    link = {"name": "x", "type": "prismatic", "mdh": {}, "bodies": [{"point": {"mass": MASS}}], **(joint or {})}
    push = {"link": "x", "force": [0, 0, force], "from": 0.5, "to": 0.5 + lasting}
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slide", "joints": [link]},
        "duration": 2.0,
        "integrator": {"method": method, **({} if method in ("rodas", "rk54") else {"dt": 1e-3})},
        "external": [push],
        **keys,
    }


def refusal(scenario):
    return advise(read_scenario(scenario))[1].refusal


@pytest.mark.parametrize("method", ["rodas", "rk54"])
def test_a_force_that_takes_a_joint_out_of_all_bounds_is_refused_with_when_it_is_there(method):
    found = refusal(slide(method=method))
    assert (found.where, found.expected) == (
        "external[0]",
        "forces under which a joint stays within 1e6 m, the bound of a run",
    )
    assert found.found == "x is accelerated at 5e+11 m/s², and is there 0.002 s later"
    assert pytest.approx(0.002, rel=1e-12) == THERE
    assert found.mend == "check the unit and the exponent of the force, and the inertia of what it acts on"
    with pytest.raises(UsageError, match="accelerated at"):
        armsim.simulate(slide(method=method))


def test_a_force_that_ends_before_is_not_refused():
    assert refusal(slide(THERE * 1.25)) is not None
    assert refusal(slide(THERE * 0.5)) is None


def test_what_less_accelerates_is_run_however_far_it_goes():
    assert refusal(slide(force=1.9e10)) is None  # 4.75e9 m


@pytest.mark.parametrize(
    "held",
    [
        {"joint": {"friction": {"viscous": 1e7}}},  # 1e12 N / 1e7 N·s/m for 1 s: 1e5 m
        {"joint": {"limits": {"lower": -1, "upper": 1, "stiffness": 1e9, "damping": 0}}},  # 1e3 m
        {"control": {"law": "pd", "output": "torque", "kp": [1e9], "kd": [0], "target": [0]}},
    ],
    ids=["damper", "stop", "feedback"],
)
@pytest.mark.handful(2)
def test_what_its_own_damper_stop_or_feedback_holds_is_run(held):
    assert refusal(slide(**held)) is None


@pytest.mark.parametrize(("torque", "refused"), [("1e12", True), ("1e12*t", True), ("1e9", False)])
def test_a_torque_input_counts_as_an_applied_load_does(torque, refused):
    found = refusal(slide(external=[], inputs={"torque": [torque]}))
    assert (found is not None and found.where == "inputs.torque") == refused


def test_a_drive_that_gives_less_than_is_commanded_is_run():
    motor = {"gear": 10, "limits": {"torque": 1}}
    assert refusal(slide(external=[], inputs={"torque": ["1e12"]}, joint={"motor": motor})) is None


@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
def test_fixed_steps_which_end_soon_anyway_are_not_refused_for_it(method):
    assert refusal(slide(method=method)) is None
