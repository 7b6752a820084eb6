"""Families of variants: the advice on their steps, against the advice on each variant alone."""

from __future__ import annotations

import numpy as np
import pytest

from armsim.batches.variants import Variants
from armsim.loading import build_scenario, load_scenario_file
from armsim.loading.open_numbers import open_numbers
from armsim.plant import make_plant
from armsim.stability.advice import Advice
from armsim.stability.operating_points import OperatingPoints
from armsim.stability.wording import check_step

COULOMB, KD = "robot.joints[0].friction.coulomb", "control.kd[0]"


def hardly_growing(coulomb) -> dict:
    """A slide of 1 kg whose controller damps so much that explicit Euler's step is a little too long."""
    joint = {
        "name": "slide",
        "type": "prismatic",
        "mdh": {},
        "bodies": [{"point": {"mass": 1}}],
        "friction": {"coulomb": coulomb},
    }
    return {
        "format": "armsim/scenario/1",
        "robot": {"format": "armsim/robot/1", "name": "slide", "gravity": [0, 0, 0], "joints": [joint]},
        "duration": 42.5,
        "integrator": {"method": "explicit_euler", "dt": 0.0425},
        "initial": {"q": [0.1]},
        "control": {"law": "pd", "output": "torque", "kp": [10], "kd": [50]},
    }


def refusals(scenario: dict, values: dict[str, list[float]]) -> tuple[list[bool], list[bool]]:
    """Of each variant whether its family refuses it, and whether its advice is that of the variant alone."""
    opened = open_numbers(scenario, values)
    matrix = opened.matrix(values)
    refused, same = np.zeros(len(matrix), dtype=bool), np.zeros(len(matrix), dtype=bool)
    for written, members in opened.groups(matrix):
        adviser = Variants(opened, written, matrix[members[0]].tolist()).adviser
        refused[members] = adviser.refuses(matrix[members])
        same[members] = [adviser.one(matrix[run]) == alone(scenario, opened.places, matrix[run]) for run in members]
    return refused.tolist(), same.tolist()


def alone(scenario: dict, places: tuple[str, ...], row: np.ndarray) -> Advice:
    built = build_scenario(load_scenario_file(scenario, dict(zip(places, row.tolist(), strict=True))))
    return check_step(built, make_plant(built))


def test_a_number_that_means_absent_is_judged_as_written_in():
    values = {COULOMB: [0.1, 0.0, 0.1, 0.0, 0.2, 0.0], KD: [50.0, 50.0, 0.0, 20.0, 49.0, 49.0]}
    refused, same = refusals(hardly_growing(0.1), values)
    assert refused[:2] == [False, True]  # friction may stop what hardly grows
    assert all(same)


def test_two_numbers_that_mean_absent_only_together_are_judged_as_written_in():
    sides = {f"{COULOMB}.positive": [0.1, 0.0, 0.0], f"{COULOMB}.negative": [0.1, 0.1, 0.0]}
    refused, same = refusals(hardly_growing({"positive": 0.1, "negative": 0.1}), sides)
    assert refused == [False, False, True]
    assert all(same)


@pytest.mark.parametrize("path", [KD, "robot.joints[0].bodies[0].point.mass", "initial.q[0]"])
@pytest.mark.handful(1)
def test_a_family_known_in_the_cache_is_advised_without_tracing(path, monkeypatch):
    values = {path: [1.0, 47.0, 51.0]}
    opened = open_numbers(hardly_growing(0.0), values)
    matrix = opened.matrix(values)
    first = Variants(opened, {}, matrix[0].tolist()).adviser
    refused, speaks = first.verdicts(matrix)
    advice = [first.one(row) for row in matrix]

    def refuse(*args, **kwargs):
        raise AssertionError("traced")

    monkeypatch.setattr("armsim.stability.operating_points.trace", refuse)
    again = Variants(opened, {}, matrix[0].tolist()).adviser
    assert again.refuses(matrix).tolist() == refused.tolist()
    assert np.array_equal(again.verdicts(matrix), (refused, speaks))
    assert [again.one(row) for row in matrix] == advice


def test_families_that_differ_in_what_is_not_open_share_no_operating_points():
    found = []
    for mass, law in ((1.0, {}), (1.2, {}), (1.0, {"period": 0.0425}), (1.0, {"law": "pid", "ki": [0.1]})):
        scenario = hardly_growing(0.0)
        scenario["control"] |= law
        scenario["robot"]["joints"][0]["bodies"] = [{"point": {"mass": mass}}]
        opened = open_numbers(scenario, {KD: [48.0]})
        adviser = Variants(opened, {}, [48.0]).adviser
        advice = alone(scenario, opened.places, np.array([48.0]))
        assert adviser.one(np.array([48.0])) == advice
        assert adviser.refuses([[48.0]]).tolist() == [advice.refusal is not None]
        found.append(advice.refusal is not None)
    assert found[:2] == [True, False]  # explicit Euler takes steps up to 2 m / kd


@pytest.mark.slow
def test_the_target_of_a_motion_is_that_at_the_end_of_each_run():
    for duration in (1.0, 2.5):
        opened = open_numbers("arm5_move", ["control.kp[0]"], {"duration": duration})
        values = [opened.number(place) for place in opened.places]
        variants = Variants(opened, {}, values)
        found, _ = variants.adviser.points.at(np.array([values]))
        alone, _ = OperatingPoints(variants.scenario, make_plant(variants.scenario)).at(np.zeros((1, 0)))
        np.testing.assert_allclose(found.coefficients.M, alone.coefficients.M, rtol=1e-9, atol=1e-12)
