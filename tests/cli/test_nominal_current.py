"""Loads against a motor's nominal current and thermal model, as commands judge them."""

from __future__ import annotations

import json
import math

import pytest

# a point mass of 2 kg at 0.5 m, level at q = 0: 9.81 N·m, over gear 50 and 0.05 N·m/A 3.924 A, 30.8 W in 2 ohm
ARM = """format: armsim/robot/1
name: lever
gravity: [0, -9.81, 0]
joints:
  - name: J1
    type: revolute
    mdh: {}
    bodies: [{point: {mass: 2, center: [0.5, 0, 0]}}]
    motor: {Kp: 0.05, Ra: 2, gear: 50, nominal_current: 3, thermal: {resistance: 4 K/W, time_constant: 30 s, max: 130 °C}}
"""
AMPERES = 2 * 9.81 * 0.5 / 50 / 0.05


@pytest.fixture
def lever(empty_folder):
    """The lever; with other ratings on request."""

    def write(old: str = "", new: str = "") -> str:
        (empty_folder / "lever.yaml").write_text(ARM.replace(old, new, 1))
        return "lever.yaml"

    return write


def flat(text: str) -> str:
    return text.replace("\n  ", " ")


@pytest.mark.parametrize("command", ["inverse", "info"])
def test_a_pose_that_asks_for_more_than_the_nominal_current_is_told(armsim, lever, command):
    told = "! J1 takes 3.924 A for this pose, 131 % of its nominal 3 A: its winding does not stand that for long"
    assert told in flat(armsim(command, lever()).out)
    assert "nominal 4 A" not in armsim(command, lever("nominal_current: 3", "nominal_current: 4")).out


def test_a_moving_instant_is_not_judged_by_what_lasts(armsim, lever):
    assert "nominal" not in armsim("inverse", lever(), "--qdd", "20").out
    assert json.loads(armsim("inverse", lever(), "--json").out)["above_nominal"] == [
        {"joint": "J1", "current": pytest.approx(AMPERES, rel=1e-14), "nominal": 3.0}
    ]


def test_a_motion_is_judged_by_its_root_mean_square_current(armsim, lever, empty_folder):
    # at rest, first level and then hanging, where it takes nothing: i² falls along the line between the two rows
    (empty_folder / "motion.csv").write_text(
        f"t_s,q_J1_rad,qd_J1_rad_s,qdd_J1_rad_s2\n0,0,0,0\n2,{-math.pi / 2!r},0,0\n"
    )
    named = lever("nominal_current: 3", "nominal_current: 2.5")
    out = flat(armsim("inverse", named, "--trajectory", "motion.csv", "-o", "torques.csv").out)
    rms = AMPERES / math.sqrt(2)
    assert (
        f"! J1 takes {rms:.5g} A for this motion (root mean square), {100 * rms / 2.5:.3g} % of its nominal 2.5 A"
        in out
    )
    again = armsim("inverse", lever(), "--trajectory", "motion.csv", "-o", "torques.csv", "--force", "--json").out
    assert json.loads(again)["above_nominal"] == []


def test_motor_says_how_warm_holding_makes_the_winding(armsim, lever):
    warm = 25 + 4 * 2 * AMPERES**2
    out = flat(armsim("motor", lever(), "--joint", "J1", "--voltage", "24").out)
    assert "of nominal     131 % of current" in out
    assert f"winding        {warm:.4g} °C, if it holds for long" in out
    assert "! holding takes 131 % of the nominal current of J1: its winding does not stand that long" in out
    assert f"! holding heats the winding of J1 to {warm:.4g} °C, beyond its 130 °C" in out
    holding = json.loads(armsim("motor", lever(), "--voltage", "24", "--json").out)["motors"][0]["holding"]
    assert holding["of_nominal"] == pytest.approx(AMPERES / 3, rel=1e-14)
    assert (holding["winding"], holding["winding_max"]) == (pytest.approx(warm, rel=1e-14), 130)
    ratings = ARM[ARM.index(", nominal_current") : ARM.rindex("}")]
    bare = armsim("motor", lever(ratings), "--voltage", "24")
    assert "nominal" not in bare.out
    assert "of nominal" in armsim("motor", lever(), "--voltage", "24").out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("gear: 50", "gear: 50, limits: {current: 2}", "at most the limit of current, 2 A, which flows for a while"),
        ("gear: 50", "gear: 50, limits: {voltage: 5}", "at most the stall current, 2.5 A at 5 V"),
        ("max: 130 °C", "max: 90", "3 A, at which it comes to 97 °C"),
        ("max: 130 °C", "max: 20", "more than the ambient's 25 °C"),
    ],
)
def test_ratings_that_contradict_each_other_are_doubted(armsim, lever, old, new, told):
    done = armsim("check", lever(old, new))
    assert told in done.out
    assert done.out.count("expected:") == 1


def test_sound_ratings_are_not_doubted(armsim, lever):
    assert armsim("check", lever()).out == "lever.yaml: a sound robot\n"


@pytest.mark.parametrize(
    ("key", "mend"),
    [
        ("rated_current", "did you mean `nominal_current`?"),
        ("continuous_current", "did you mean `nominal_current`?"),
        ("rated_torque", "give `nominal_current`: the nominal torque over `Kp`"),
        ("rth", "write `thermal: {resistance: 6.2, time_constant: 25}`, in K/W and s"),
    ],
)
def test_a_data_sheets_words_for_ratings_are_known(armsim, lever, key, mend):
    assert f"mend:     {mend}" in armsim("check", lever("nominal_current", key)).out


def test_a_temperature_is_no_difference_of_temperatures(armsim, lever):
    done = armsim("check", lever("max: 130 °C", "max: 400 K"))
    assert "`K` measures something else" in done.out + done.err
