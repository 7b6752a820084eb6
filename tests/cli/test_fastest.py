"""`armsim reference` and `armsim simulate` of a fastest motion as a user meets them."""

from __future__ import annotations

import json


def test_the_shipped_scenario_tells_its_time_and_which_limit_binds(armsim, tmp_path):
    done = armsim("reference", "arm5_fastest", "--plot", "phase.png")
    assert done.code == 0
    assert "voltage of R1" in done.out
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
    assert "times the limit of its voltage to stand still: " in text


def test_a_run_follows_it_and_stays_within_its_limits(armsim):
    told = json.loads(armsim("simulate", "arm5_fastest", "--json").out)
    assert told["status"] == "complete"
    shares = {joint["name"]: joint["shares"]["command"] for joint in told["joints"]}
    # its margin is 10 %, and the voltage of R1 is its limit up to the last hundredth
    assert 0.899 < shares["R1"]["share"] < 0.9 * (1 + 1e-6)
    assert 0.0 < shares["R1"]["time"] < 0.23
    assert max(it["share"] for it in shares.values()) == shares["R1"]["share"]


def test_the_summary_tells_how_near_to_its_limits_the_drives_ran(armsim):
    lines = armsim("simulate", "arm5_fastest").out.splitlines()
    (line,) = (line for line in lines if line.startswith("limits "))
    assert line.startswith("limits   used at most: command 90 % (R1, at 0.")
    assert not any(line.startswith("limits ") for line in armsim("simulate", "arm5_move").out.splitlines())
