"""Operating points of arms of more than a few joints by compiled scans: against those on numbers, unrolled."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from armsim.loading import build_scenario, load_scenario_file
from armsim.plant import make_plant
from armsim.stability import wording
from armsim.stability.operating_points import REST, START, TARGET, OperatingPoints
from armsim.stability.wording import check_step
from tests.dynamics.test_recursion import large

CONTROL = {"law": "pd", "output": "torque", "period": 0.02, "kp": 5.0, "kd": 0.1}


def hanging(count):
    """A planar chain along gravity."""
    body = {"inertia": {"mass": 1.0, "center": [0.1, 0, 0], "about": "com", "xx": 1e-3, "yy": 1e-3, "zz": 1e-3}}
    place = {"a": 0.2, "alpha": 0, "d": 0, "theta": 0}
    joints = [{"name": f"J{i}", "type": "revolute", "mdh": place, "bodies": [body]} for i in range(count)]
    return {"format": "armsim/robot/1", "name": "hanging", "gravity": [9.81, 0, 0], "joints": joints}


@pytest.mark.parametrize(
    ("count", "driven"),
    [(7, True), *(pytest.param(*it, marks=pytest.mark.slow) for it in [(7, False), (17, True), (17, False)])],
)
def test_compiled_points_are_those_on_numbers(count, driven, monkeypatch):
    robot = large(count, "tree") if driven else hanging(count)
    for joint in robot["joints"]:
        joint["friction"] = {"viscous": 0.05}
        joint["limits"] = {"lower": -2.0, "upper": 2.0, "stiffness": 500.0, "damping": 1.0}
    file = {"format": "armsim/scenario/1", "robot": robot, "duration": 0.1, "initial": {"q": [0.01] * count}}
    file["integrator"] = {"method": "rk4", "dt": 0.02}
    scenario = build_scenario(
        load_scenario_file({**file, "control": {**CONTROL, "target": [0.2] * count}} if driven else file, {})
    )
    plant, made = make_plant(scenario), []
    traced = wording.TracedPoints

    def compiled(*given):
        made.append(traced(*given))
        return made[0]

    monkeypatch.setattr(wording, "TracedPoints", compiled)
    advice = check_step(scenario, plant)
    numbers = OperatingPoints(scenario, plant)
    assert repr(wording.advice_at(numbers, np.zeros((1, 0)))) == repr(advice)
    (ours, _), (theirs, _) = (points.at(np.zeros((1, 0))) for points in (made[0], numbers))
    assert ours.where == theirs.where == (START, TARGET if driven else REST)
    assert ours.there.all()
    for name, expected in vars_of(theirs.coefficients).items():
        assert vars_of(ours.coefficients)[name] == pytest.approx(
            expected, abs=1e-12 * np.abs(expected).max(initial=1.0)
        )


def vars_of(coefficients):
    """The arrays of coefficients by name, those of a feedback among them."""
    arrays = {field.name: getattr(coefficients, field.name) for field in dataclasses.fields(coefficients)}
    law = arrays.pop("law")
    arrays.pop("period")
    return arrays if law is None else {**arrays, **law._asdict()}
