"""`armsim reference` and `armsim simulate` of a fastest motion as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_the_shipped_scenario_tells_its_time_and_which_limit_binds(armsim, tmp_path):
    done = armsim("reference", "arm5_fastest", "--plot", "phase.png")
    assert done.code == 0
    assert "command of R1" in done.out  # `control.limit` is below the voltage of its motor, as in the summary
    assert done.out.splitlines()[0].startswith("arm5_fastest: the reference of arm5 holds from 0.2295")
    told = json.loads(armsim("reference", "arm5_fastest", "--json").out)
    assert {it["joint"] for it in told["binding"]} == {"R1"}
    assert told["binding"][0]["from_s"] == 0.0
    assert told["unstoppable"] == told["exceeded"] == []


def test_a_motor_that_is_too_weak_is_told_with_the_place(armsim):
    done = armsim("reference", "arm5_fastest", "--set", "control.limit=0.6")
    assert done.code == 2
    text = " ".join(done.err.split())
    assert "R2 needs " in text
    assert "times the limit of its command to stand still: " in text


def test_a_run_follows_it_and_stays_within_its_limits(armsim):
    told = json.loads(armsim("simulate", "arm5_fastest", "--json").out)
    assert told["status"] == "complete"
    shares = {joint["name"]: joint["shares"]["command"] for joint in told["joints"]}
    # its margin is 10 %, and the voltage of R1 is its limit up to the last hundredth
    assert 0.899 < shares["R1"]["share"] < 0.9 * (1 + 1e-6)
    assert 0.0 < shares["R1"]["time"] < 0.23
    assert max(it["share"] for it in shares.values()) == shares["R1"]["share"]


@pytest.mark.slow
def test_the_summary_tells_how_near_to_its_limits_the_drives_ran(armsim):
    lines = armsim("simulate", "arm5_fastest").out.splitlines()
    (line,) = (line for line in lines if line.startswith("limits "))
    assert line.startswith("limits   used at most: command 90 % (R1, at 0.")
    assert not any(line.startswith("limits ") for line in armsim("simulate", "arm5_move").out.splitlines())


@pytest.mark.slow  # the arm and the tuning's runs are compiled
def test_gains_along_it_are_tuned_with_the_masses_as_they_are(armsim):
    # masses, and a payload, would make it another motion: neither the test's cases nor margins vary them
    given = ["--set", "duration=0.3", "--open", "control.kp", "--bounds", "50:800", "--minimise", "peak_error"]
    done = armsim("tune", "arm5_fastest", *given, "--trials", "8", "-o", "tuned")
    assert done.code == 0, done.err
    assert "no test on other cases" in done.out
    assert ".mass" not in done.out
    assert "fastest: true" in Path("tuned/tuned.yaml").read_text()
    refused = armsim("tune", "arm5_fastest", *given, "--open", "payload.mass", "--bounds", "0:1", "-o", "other")
    assert refused.code == 2
    assert "as the fastest motion follows from it" in " ".join(refused.err.split())


TRACKED = """
format: armsim/scenario/1
robot: two_link
duration: 0.6
integrator: {method: rk4, dt: 1e-3}
initial: {q: [0.2, 0.5]}
control:
  law: computed_torque
  output: torque
  kp: 100
  kd: 20
  limit: [60, 25]
  reference: {via: [[0.9, -0.7]], fastest: true, margin: 5 %}
plan: {minimise: tracking, to: {q: [0.9, -0.7]}, limit: [60, 25], intervals: 30}
"""


@pytest.mark.slow  # derivatives are compiled
def test_a_plan_that_tracks_it_stays_on_it_and_the_fastest_of_all_paths_takes_no_longer(armsim):
    Path("tracked.yaml").write_text(TRACKED)
    told = json.loads(armsim("plan", "tracked.yaml", "--json").out)
    assert told["status"] == "solved"
    assert told["cost"] < 1e-7  # rad² s: it can be followed within the limits
    end = json.loads(armsim("reference", "tracked.yaml", "--json").out)["end"]
    # a plan for time within the same limits may leave the path, and is somewhat faster
    changes = ["--set", "plan.minimise=time", "--set", "duration=1", "--set", "plan.limit=[57,23.75]"]
    least = json.loads(armsim("plan", "tracked.yaml", *changes, "--json").out)
    assert 0.8 * end < least["time"] < end * (1 + 1e-3)
