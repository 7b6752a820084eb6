"""Names of measures: what they stand for, and what is said of those that stand for nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

import armsim
from armsim.control import Constant
from armsim.loading import scenario_of
from armsim.measures import measures_of
from armsim.measures.catalog import AGGREGATES, KINDS
from armsim.plant import make_plant

PUSHED = {"external": [{"link": "R2", "force": [0, 0, -5], "from": 0.01}]}
WARM = {"robot.joints[1].motor.thermal": {"resistance": 1, "time_constant": 10}}
PER_JOINT = (
    "peak_torque",
    "rms_torque",
    "rms_rate_of_command",
    "chatter",
    "rms_current",
    "winding_temperature",
    "peak_winding_temperature",
)


@pytest.fixture(scope="module")
def plant():
    return make_plant(scenario_of("arm5_hold_pi", PUSHED | WARM))


def units(names, plant):
    return [measure.units for measure in measures_of(names, plant)]


def test_every_kind_and_every_aggregate_is_a_measure_with_a_unit_for_each_number(plant):
    joint = plant.arm.joints[1].name
    names = [
        *(name for name, kind in KINDS.items() if kind.of != "contact"),
        *(f"{name}_{joint}" for name, kind in KINDS.items() if kind.of == "either"),
        *(f"{name}(q_{joint})" for name in AGGREGATES),
    ]
    for name, measure in zip(names, measures_of(names, plant), strict=True):
        assert len(measure.units) == len(measure.names)
        assert measure.names == (name,) or name in ("pose", "energy", *PER_JOINT)


def test_the_result_has_the_name_as_it_was_written(plant):
    names = ["settling_time( 1e-3 )", " iae", "max( q_R1 )+1", "peak_torque_R2"]
    assert [measure.names for measure in measures_of(names, plant)] == [(name,) for name in names]


def test_peak_torques_are_named_after_their_joints_even_if_there_is_one(arms, plant):
    for kinds, names in [("R", ("peak_torque_R1",)), ("RP", ("peak_torque_R1", "peak_torque_P2"))]:
        (measure,) = measures_of(["peak_torque"], replace(plant, arm=arms.serial(kinds), command=None))
        assert measure.names == names


def test_units_are_of_the_joints_and_of_the_column(plant, arms):
    assert units(["max(q_R1)", "max(q_R1_deg)", "mean(tau_R1)", "integral(power_R2)", "time_of_max(q_R1)"], plant) == [
        ("rad",), ("deg",), ("N·m",), ("W·s",), ("s",)
    ]  # fmt: skip
    assert units(["max(2*q_R1)", "iae + 1", "iae", "ise", "itae", "error"], plant) == [
        ("",), ("",), ("rad·s",), ("rad²·s",), ("rad·s²",), ("rad",)
    ]  # fmt: skip
    two = replace(plant.command, reference=Constant((0.0, 0.0)), limit=(None, None))
    sliding = replace(plant, arm=arms.serial("PP"), command=two)
    assert units(["iae", "error_P1", "peak_torque", "max(q_P1)"], sliding) == [("m·s",), ("m",), ("N", "N"), ("m",)]
    mixed = replace(plant, arm=arms.serial("RP"), command=two)
    assert units(["iae", "iae_R1", "iae_P2"], mixed) == [("",), ("rad·s",), ("m·s",)]


def test_names_of_joints_may_have_signs_in_them(arms, given, gathered):
    from armsim.plant import Plant

    arm = arms.serial("RRR")
    names = ("left-arm", "left", "a.b")
    arm = replace(arm, links=tuple(replace(j, name=name) for j, name in zip(arm.joints, names, strict=True)))
    moments = given(Plant(arm, None), 1.0, 4, lambda t: t, lambda t: 5 * t, lambda t: 2 * t)
    asked = ["max(q_left-arm)", "max(q_left-arm_rad - 1)", "max(q_left -q_a.b)", "max(q_left- 1)-1"]
    assert [*gathered(asked, moments).values()] == [1, 0, 3, 3]
    assert gathered(["time_at_limit_left-arm", "1 - time_at_stop_a.b"], moments) == {
        "time_at_limit_left-arm": 0,
        "1 - time_at_stop_a.b": 1,
    }


@pytest.mark.parametrize(
    "name",
    [
        "settling",
        "iae_R9",
        "energy_R1",
        "q_R1",
        "2*t",
        "integral",
        "max(tau_R7)",
        "max(zzzzzzz)",
        "max(iae)",
        "max(integral(q_R1))",
        "pose + 1",
        "peak_torque + 1",
        "integral(t, 2)",
        "iae +",
        "iae/(2 - 2)",
        "max(q_R1/(1 - 1))",
        "settling_time(q_R1)",
        "zzzzzzz",
    ],
)
def test_a_name_that_is_none_is_refused_with_what_was_meant(plant, name, told):
    with pytest.raises(armsim.UsageError) as caught:
        measures_of(["iae", name], plant)
    told(caught.value)


def test_a_band_that_nothing_can_settle_in_is_refused(plant):
    for band in ("0", "-1e-3", "1/3 - 1"):
        with pytest.raises(armsim.UsageError, match="a band above 0 rad or m"):
            measures_of([f"settling_time_R2({band})"], plant)
